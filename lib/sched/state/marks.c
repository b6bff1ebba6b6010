/* SPDX-License-Identifier: BSD-3-Clause */
/* When a coroutine ends, its stack is measured and wiped. The stacks of live coroutines are
 * measured when the marks are printed; these numbers may be a little too low. */
#include "sched/state/marks.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/race.h"
#include "coro/used.h"

#define FUNCTIONS_MAX 512

struct mark {
	haul_fn *fn;
	char name[32]; /* a copy of its first coroutine's, which the program may free */
	bool has_others; /* coroutines with other names */
	size_t used, of; /* bytes; the size of that stack */
	uint64_t ended; /* coroutines */
};

struct hauli_marks {
	pthread_mutex_t lock; /* for all below */
	unsigned n;
	struct mark of[FUNCTIONS_MAX];
};

int hauli_marks_create(struct hauli_marks **marks)
{
	struct hauli_marks *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	pthread_mutex_init(&m->lock, NULL);
	*marks = m;
	return 0;
}

void hauli_marks_destroy(struct hauli_marks *m)
{
	if (!m)
		return;
	pthread_mutex_destroy(&m->lock);
	free(m);
}

/* The mark of fn; NULL: there are too many functions. The caller holds the lock. */
static struct mark *find(struct hauli_marks *m, haul_fn *fn, const char *name)
{
	struct mark *mark;

	for (unsigned i = 0; i < m->n; i++)
		if (m->of[i].fn == fn)
			return &m->of[i];
	if (m->n == FUNCTIONS_MAX)
		return NULL;
	mark = &m->of[m->n++];
	mark->fn = fn;
	snprintf(mark->name, sizeof(mark->name), "%s", name);
	return mark;
}

static void note(
	struct hauli_marks *m, haul_fn *fn, const char *name, unsigned cls, size_t used, bool ended)
{
	struct mark *mark;

	pthread_mutex_lock(&m->lock);
	mark = find(m, fn, name);
	if (mark) {
		mark->ended += ended;
		mark->has_others |= strncmp(mark->name, name, sizeof(mark->name) - 1) != 0;
		if (used > mark->used) {
			mark->used = used;
			mark->of = hauli_stack_usable(cls);
		}
	}
	pthread_mutex_unlock(&m->lock);
}

void hauli_marks_check(struct hauli_marks *m, const struct haul_coro *co)
{
	struct hauli_stack *stack = co->co.stack;

	hauli_stack_check(stack, co->co.name);
	if (!(stack->checks & HAULI_STACK_MARKED))
		return;
	note(m, co->fn, co->co.name, stack->cls, hauli_stack_used(stack), true);
	hauli_stack_wipe(stack);
}

/* The memory of co may become another coroutine meanwhile; then the result does not count. */
HAULI_MAY_RACE static void note_live(void *object, void *arg)
{
	const struct haul_coro *co = object;
	struct hauli_stack *stack = co->co.stack;
	haul_fn *fn = co->fn;
	size_t used;

	HAULI_RACES(co);
	if (!hauli_coro_home(co) || !stack || !hauli_state_lives(hauli_coro_state(co)))
		return;
	used = hauli_stack_used(stack);
	if (co->co.stack == stack && co->fn == fn)
		note(arg, fn, co->co.name, stack->cls, used, false);
}

static void print_function(haul_fn *fn, FILE *out)
{
	const char *module;
	Dl_info at;

	if (!dladdr((void *)fn, &at) || !at.dli_fname) {
		fprintf(out, "%p", (void *)fn);
		return;
	}
	module = strrchr(at.dli_fname, '/');
	if (at.dli_sname && at.dli_saddr == (void *)fn)
		fprintf(out, "%s", at.dli_sname);
	else
		fprintf(out, "%s+0x%zx", module ? module + 1 : at.dli_fname,
			(size_t)((char *)fn - (char *)at.dli_fbase));
}

void hauli_marks_print(struct hauli_marks *m, struct hauli_slab *coros, FILE *out)
{
	if (!m)
		return;
	hauli_slab_for_each(coros, note_live, m);
	pthread_mutex_lock(&m->lock);
	for (unsigned i = 0; i < m->n; i++) {
		const struct mark *mark = &m->of[i];

		fprintf(out, "  ");
		print_function(mark->fn, out);
		fprintf(out, " (%s%s): used at most %zu of %zu bytes of stack, %" PRIu64 " ended\n",
			mark->name, mark->has_others ? ", ..." : "", mark->used, mark->of,
			mark->ended);
	}
	pthread_mutex_unlock(&m->lock);
}
