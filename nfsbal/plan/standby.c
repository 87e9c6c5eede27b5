#include "nfsbal/plan/standby.h"

#include <string.h>

bool standby_serves(const struct topo *t, const struct topo_mount *m, size_t vip)
{
    const struct topo_export *e = &t->exports[t->datastores[m->datastore].export_];
    const struct topo_vip *v = &t->vips[vip];

    return m->vip >= 0 && (int)vip != m->vip && v->node == e->node && v->svm == e->svm && v->up &&
           (e->owner < 0 || e->owner == v->home) && !strchr(v->text, ':') == !strchr(t->vips[m->vip].text, ':');
}
