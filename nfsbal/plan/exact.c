/* Columns: a count per class and option, and t, the load of the fullest resource, last. Rows: the units of each class; each movable
 * resource, its load at most t; the changes; and for each pair of options that exclude each other, that only one is in use.
 *
 * Loads are divided by a typical one, so that the solver's tolerances mean parts of it. For the bound alone, classes that differ in
 * weight only are one, as the continuous problem can't tell them apart: it has then few columns however many datastores there are.
 */
#include "nfsbal/plan/exact.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <coin/Cbc_C_Interface.h>

struct group { /* columns of one class, or of several under the bound */
    const struct plan_class *class_;
    double amount;   /* units, or units times weight */
    double scale[2]; /* of a unit's load, by direction */
    int first;       /* column */
};

struct program {
    const struct plan_problem *p;
    const struct plan_exact *how;
    struct group *groups;
    size_t n_groups;
    int *row_of;    /* per resource, or -1 */
    double typical; /* load */
    int columns, rows;
    /* by column */
    int *start, *index;
    double *value;
    size_t n_values, values_size;
    double *lower, *upper, *row_lower, *row_upper, *objective;
    size_t rows_size;
};

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static bool bound_only(const struct program *m) { return m->how->nodes == 0; }

/* Two classes of one shape: equal options, and weights in one ratio. */
static bool alike(const struct plan_class *a, const struct plan_class *b)
{
    if (a->n_options != b->n_options || a->today != b->today ||
        fabs(a->weight[0] * b->weight[1] - a->weight[1] * b->weight[0]) > 0)
        return false;
    for (size_t o = 0; o < a->n_options; o++)
        if (a->options[o].vector != b->options[o].vector || a->options[o].usable != b->options[o].usable)
            return false;
    return true;
}

static void make_groups(struct program *m)
{
    const struct plan_problem *p = m->p;
    bool merge = bound_only(m) && m->how->max_changes == SIZE_MAX;
    m->groups = must(calloc(p->n_classes + 1, sizeof *m->groups));
    for (size_t k = 0; k < p->n_classes; k++) {
        const struct plan_class *c = &p->classes[k];
        double unit = merge ? fmax(c->weight[0], c->weight[1]) : 1;
        size_t g = merge ? 0 : m->n_groups;
        while (g < m->n_groups && !alike(m->groups[g].class_, c))
            g++;
        if (g == m->n_groups) {
            m->groups[m->n_groups++] = (struct group){.class_ = c, .first = m->columns};
            for (int d = 0; d < 2; d++)
                m->groups[g].scale[d] = unit > 0 ? c->weight[d] / unit : 0;
            m->columns += (int)c->n_options;
        }
        m->groups[g].amount += (double)c->n * unit;
    }
    m->columns++; /* t */
}

/* What each resource has when every class is spread evenly over its options: the largest is typical. */
static void find_typical(struct program *m)
{
    const struct plan_problem *p = m->p;
    double *loads = must(calloc(p->n_resources + 1, sizeof *loads));
    for (size_t g = 0; g < m->n_groups; g++) {
        const struct group *own = &m->groups[g];
        for (size_t o = 0; o < own->class_->n_options; o++)
            for (size_t i = 0; i < own->class_->options[o].vector->n; i++) {
                const struct plan_use *u = &own->class_->options[o].vector->uses[i];
                loads[u->resource] += own->amount / (double)own->class_->n_options * u->load *
                                      own->scale[p->resources[u->resource].direction];
            }
    }
    for (size_t r = 0; r < p->n_resources; r++)
        m->typical = fmax(m->typical, loads[r]);
    if (!(m->typical > 0))
        m->typical = 1;
    free(loads);
}

static int new_row(struct program *m, double lower, double upper)
{
    if ((size_t)m->rows == m->rows_size) {
        m->rows_size = m->rows_size ? 2 * m->rows_size : 256;
        m->row_lower = must(realloc(m->row_lower, m->rows_size * sizeof *m->row_lower));
        m->row_upper = must(realloc(m->row_upper, m->rows_size * sizeof *m->row_upper));
    }
    m->row_lower[m->rows] = lower;
    m->row_upper[m->rows] = upper;
    return m->rows++;
}

static void put(struct program *m, int row, double value)
{
    if (m->n_values == m->values_size) {
        m->values_size = m->values_size ? 2 * m->values_size : 4096;
        m->index = must(realloc(m->index, m->values_size * sizeof *m->index));
        m->value = must(realloc(m->value, m->values_size * sizeof *m->value));
    }
    m->index[m->n_values] = row;
    m->value[m->n_values++] = value;
}

/* For class i with option s in use, at most none of class j is on an option that meets it: x_s / n_i + x_t / n_j <= 1 when one of
 * them is a single unit. Returns the first row; rows are numbered clash by clash, pair by pair. */
static int clash_rows(struct program *m)
{
    const struct plan_problem *p = m->p;
    int first = m->rows;
    for (size_t i = 0; i < p->n_clashes; i++) {
        const struct plan_clash *x = &p->clashes[i];
        size_t n = p->classes[x->i].n_options * p->classes[x->j].n_options;
        if (m->how->dropped && m->how->dropped[i])
            continue;
        for (size_t k = 0; k < n; k++)
            if (x->table[k])
                new_row(m, -DBL_MAX, 1);
    }
    return first;
}

static void put_clashes(struct program *m, int row, size_t class_, size_t option)
{
    const struct plan_problem *p = m->p;
    for (size_t i = 0; i < p->n_clashes; i++) {
        const struct plan_clash *x = &p->clashes[i];
        size_t na = p->classes[x->i].n_options, nb = p->classes[x->j].n_options;
        if (m->how->dropped && m->how->dropped[i])
            continue;
        for (size_t k = 0; k < na * nb; k++) {
            if (!x->table[k])
                continue;
            if ((x->i == (int)class_ && k / nb == option) || (x->j == (int)class_ && k % nb == option))
                put(m, row, 1.0 / (double)p->classes[class_].n);
            row++;
        }
    }
}

static void make_columns(struct program *m)
{
    const struct plan_problem *p = m->p;
    int changes = m->how->max_changes != SIZE_MAX ? new_row(m, -DBL_MAX, (double)m->how->max_changes) : -1;
    int first_group = m->rows, clashes, column = 0;
    for (size_t g = 0; g < m->n_groups; g++)
        new_row(m, m->groups[g].amount, m->groups[g].amount);
    clashes = clash_rows(m);
    m->start = must(calloc((size_t)m->columns + 1, sizeof *m->start));
    m->lower = must(calloc((size_t)m->columns + 1, sizeof *m->lower));
    m->upper = must(calloc((size_t)m->columns + 1, sizeof *m->upper));
    m->objective = must(calloc((size_t)m->columns + 1, sizeof *m->objective));
    for (size_t g = 0; g < m->n_groups; g++) {
        const struct group *own = &m->groups[g];
        const struct plan_class *c = own->class_;
        for (size_t o = 0; o < c->n_options; o++, column++) {
            m->start[column] = (int)m->n_values;
            m->upper[column] = c->options[o].usable ? own->amount : 0;
            put(m, first_group + (int)g, 1);
            if (changes >= 0 && c->today >= 0 && (int)o != c->today)
                put(m, changes, 1);
            for (size_t i = 0; i < c->options[o].vector->n; i++) {
                const struct plan_use *u = &c->options[o].vector->uses[i];
                double load = u->load * own->scale[p->resources[u->resource].direction] / m->typical;
                if (m->row_of[u->resource] >= 0 && load > 0)
                    put(m, m->row_of[u->resource], load);
            }
            if (!bound_only(m))
                put_clashes(m, clashes, (size_t)(c - p->classes), o);
        }
    }
    m->start[column] = (int)m->n_values;
    m->upper[column] = DBL_MAX;
    m->objective[column] = 1;
    for (size_t r = 0; r < p->n_resources; r++)
        if (m->row_of[r] >= 0)
            put(m, m->row_of[r], -1);
    m->start[column + 1] = (int)m->n_values;
}

static void make_program(struct program *m)
{
    const struct plan_problem *p = m->p;
    make_groups(m);
    find_typical(m);
    m->row_of = must(calloc(p->n_resources + 1, sizeof *m->row_of));
    for (size_t r = 0; r < p->n_resources; r++)
        m->row_of[r] = p->resources[r].movable ? new_row(m, -DBL_MAX, 0) : -1;
    make_columns(m);
}

static void free_program(struct program *m)
{
    free(m->groups);
    free(m->row_of);
    free(m->start);
    free(m->index);
    free(m->value);
    free(m->lower);
    free(m->upper);
    free(m->row_lower);
    free(m->row_upper);
    free(m->objective);
}

static void take_layout(const struct program *m, const double *solution, struct plan_layout *out)
{
    struct plan_layout *l = plan_layout_copy(out);
    if (!l)
        abort();
    for (size_t g = 0; g < m->n_groups; g++) {
        const struct group *own = &m->groups[g];
        for (size_t o = 0; o < own->class_->n_options; o++)
            l->counts[own->class_->first + o] = (int)lrint(solution[own->first + (int)o]);
    }
    plan_layout_set(out, l);
    plan_layout_free(l);
}

enum plan_exact_end plan_exact(const struct plan_problem *p, const struct plan_exact *how, struct plan_layout *out,
                               bool *found, double *bound)
{
    struct program m = {.p = p, .how = how};
    enum plan_exact_end end = PLAN_EXACT_BOUND;
    char nodes[32];
    *found = false;
    *bound = 0;
    make_program(&m);
    Cbc_Model *model = Cbc_newModel();
    Cbc_setParameter(model, "logLevel", "0");
    Cbc_setLogLevel(model, 0); /* of the linear solver beneath: the parameter does not reach it */
    Cbc_loadProblem(model, m.columns, m.rows, m.start, m.index, m.value, m.lower, m.upper, m.objective, m.row_lower,
                    m.row_upper);
    if (!bound_only(&m)) {
        for (int column = 0; column + 1 < m.columns; column++)
            Cbc_setInteger(model, column);
        snprintf(nodes, sizeof nodes, "%ld", how->nodes);
        Cbc_setParameter(model, "maxNodes", nodes);
    }
    Cbc_solve(model);
    if (Cbc_isProvenInfeasible(model)) {
        end = PLAN_EXACT_INFEASIBLE;
    } else {
        const double *solution = Cbc_getColSolution(model);
        double best = Cbc_getBestPossibleObjValue(model), value = Cbc_getObjValue(model);
        bool optimal = Cbc_isProvenOptimal(model);
        *found = !bound_only(&m) && solution && value < 1e30;
        *bound = (optimal ? value : fmax(0, fmin(best, value))) * m.typical;
        if (optimal && !bound_only(&m))
            end = PLAN_EXACT_OPTIMAL;
        if (*found && out)
            take_layout(&m, solution, out);
    }
    Cbc_deleteModel(model);
    free_program(&m);
    return end;
}
