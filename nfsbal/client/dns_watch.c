#include "nfsbal/client/dns_watch.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfsbal/client/loop.h"

enum { STACK = 256 << 10 };

/* One question. It belongs to both sides until the thread has its answer or the watch has gone, whichever is later. */
struct question {
    pthread_mutex_t lock;
    bool answered, abandoned;
    int ends[2]; /* a byte comes when it is answered */
    char *text;
    struct server_names names;
};

struct dns_watch {
    struct loop *loop;
    char *text;
    int64_t interval;
    dns_watch_answer *answer;
    void *context;
    struct loop_timer timer;
    struct loop_io io;
    struct question *question; /* NULL: none is out */
};

static void question_free(struct question *q)
{
    if (!q)
        return;
    close(q->ends[0]);
    close(q->ends[1]);
    server_names_free(&q->names);
    pthread_mutex_destroy(&q->lock);
    free(q->text);
    free(q);
}

static void *ask(void *context)
{
    struct question *q = context;
    char problem[200];
    bool abandoned;

    (void)server_names_resolve(q->text, &q->names, problem, sizeof problem);
    pthread_mutex_lock(&q->lock);
    q->answered = true;
    abandoned = q->abandoned;
    if (!abandoned)
        (void)!write(q->ends[1], "", 1);
    pthread_mutex_unlock(&q->lock);
    if (abandoned)
        question_free(q);
    return NULL;
}

static struct question *question_new(const char *text)
{
    struct question *q = calloc(1, sizeof *q);

    if (!q)
        return NULL;
    q->text = strdup(text);
    if (!q->text || pipe(q->ends) != 0) {
        free(q->text);
        free(q);
        return NULL;
    }
    pthread_mutex_init(&q->lock, NULL);
    return q;
}

/* Signals are the loop's. */
static bool start_thread(struct question *q)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_t thread;
    bool ok;

    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    ok = pthread_create(&thread, &attributes, ask, q) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return ok;
}

static void due(void *context);

static void answered(void *context, unsigned events)
{
    struct dns_watch *w = context;
    struct question *q = w->question;

    (void)events;
    loop_io_stop(&w->io);
    pthread_mutex_lock(&q->lock); /* the thread has let go of it afterwards */
    pthread_mutex_unlock(&q->lock);
    w->question = NULL;
    loop_timer_start(w->loop, &w->timer, w->interval, due, w);
    if (q->names.n > 0)
        w->answer(w->context, &q->names);
    question_free(q);
}

static void due(void *context)
{
    struct dns_watch *w = context;
    struct question *q = question_new(w->text);

    if (!q || !start_thread(q)) {
        question_free(q);
        loop_timer_start(w->loop, &w->timer, w->interval, due, w);
        return;
    }
    w->question = q;
    loop_io_start(w->loop, &w->io, q->ends[0], LOOP_READ, answered, w);
}

struct dns_watch *dns_watch_new(struct loop *l, const char *text, int64_t interval, dns_watch_answer *answer,
                                void *context)
{
    struct dns_watch *w = calloc(1, sizeof *w);

    if (!w || !(w->text = strdup(text))) {
        free(w);
        return NULL;
    }
    w->loop = l;
    w->interval = interval;
    w->answer = answer;
    w->context = context;
    loop_timer_start(l, &w->timer, interval, due, w);
    return w;
}

void dns_watch_free(struct dns_watch *w)
{
    if (!w)
        return;
    loop_timer_stop(&w->timer);
    loop_io_stop(&w->io);
    if (w->question) {
        bool mine;

        pthread_mutex_lock(&w->question->lock);
        mine = w->question->answered;
        w->question->abandoned = true;
        pthread_mutex_unlock(&w->question->lock);
        if (mine)
            question_free(w->question);
    }
    free(w->text);
    free(w);
}
