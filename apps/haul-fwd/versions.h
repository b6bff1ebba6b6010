/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table that carriers read while the main thread changes it: of two versions it writes the one
 * that nobody reads, and shows that.
 *
 * The other version is the one before. A reader takes the table anew in each call and keeps it over
 * no suspension, so it has left that version when its carrier begins another coroutine. This is
 * what each haul_io_attach_port() that attaches a port waits for, on all carriers: a table changes
 * once after each such call, or while no pollers run.
 */
#ifndef FWD_VERSIONS_H
#define FWD_VERSIONS_H

#include <string.h>

#include "conc/word.h"

struct fwd_versions {
	struct hauli_ptr_published now;
	void *both[2]; /* the next three are the main thread's */
	size_t size;
	unsigned shown;
};

/* Of tables with size bytes each; a is the first version. No pollers run. */
static inline void fwd_versions_init(struct fwd_versions *v, void *a, void *b, size_t size)
{
	*v = (struct fwd_versions){.both = {a, b}, .size = size};
	hauli_ptr_published_set(&v->now, a);
}

/* Any thread. */
static inline void *fwd_versions_get(const struct fwd_versions *v)
{
	return hauli_ptr_published_get(&v->now);
}

/* A copy of the table, to be changed. Main thread. */
static inline void *fwd_versions_copy(const struct fwd_versions *v)
{
	return memcpy(v->both[!v->shown], v->both[v->shown], v->size);
}

/* Shows that copy. */
static inline void fwd_versions_show(struct fwd_versions *v)
{
	v->shown = !v->shown;
	hauli_ptr_published_set(&v->now, v->both[v->shown]);
}

#endif
