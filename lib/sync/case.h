/* SPDX-License-Identifier: BSD-3-Clause */
/* A case of haul_select(): what each kind of object does for it. The objects have a
 * struct hauli_case_kind for each call that can be a case; select.c knows no object. */
#ifndef HAULI_SYNC_CASE_H
#define HAULI_SYNC_CASE_H

#include "sync/waitq.h"

struct hauli_case;

struct hauli_case_kind {
	/*
	 * Under the lock: does what the case asks for if that needs no wait, and writes err. False:
	 * it needs one, and nothing was done. *value: the object's, to be changed. *other: NULL, or
	 * a waiter that the caller serves after the unlock.
	 */
	bool (*try)(struct hauli_case *cs, uint64_t *value, struct hauli_sync_waiter **other);
	/* Under the lock: the list in which the case waits. */
	struct hauli_wait_list *(*list)(struct hauli_waitq *q);
	/* As for hauli_waitq_wait(). */
	void (*leave)(struct hauli_waitq *q, struct hauli_sync_waiter *w);
	/* Without the lock: the caller was served, and serves the rest of its list. NULL: there
	 * never is a rest. */
	void (*serve_rest)(struct hauli_waitq *q);
	/*
	 * Of a case whose object is the kernel's (lib/fd), or the NIC's (sends of flows); NULL for
	 * the others. Without the lock: makes its system call; true: the case is done, with err.
	 * Called before the select looks at the others, and after the case was served, since what
	 * the kernel had may be gone by then: the select then begins again.
	 */
	bool (*attempt)(struct hauli_case *cs);
	/* At home on c: has the kernel tell when the system call can go on, before the case enters
	 * its list, which is that of `q` then. 0 or an error, with which the case is done. */
	int (*begins)(struct hauli_case *cs, struct haul_carrier *c);
	/* The same, after the case has left its list without being done. */
	void (*ends)(struct hauli_case *cs, struct haul_carrier *c);
};

struct hauli_case {
	int err; /* of the case that was done. Written by the caller of haul_select() */
	const struct hauli_case_kind *kind; /* NULL: the case is never done */
	struct hauli_waitq *q; /* the object's; NULL, of a case with `attempt`: until it begins */
	/* Its coroutine is not NULL while haul_select() runs. */
	struct hauli_sync_waiter waiter;
	/* of a case with `attempt` */
	union {
		struct { /* lib/fd/ready.c */
			uint64_t closes;
			int fd;
			uint32_t len;
		};
		void *own[2]; /* others */
	};
} __attribute__((may_alias)); /* lies in the public struct */

_Static_assert(sizeof(struct hauli_case) == sizeof(struct haul_case) &&
		offsetof(struct hauli_case, err) == offsetof(struct haul_case, err),
	"what haul/sync.h reserves");

/* A case of this kind. */
static inline struct haul_case hauli_case(
	const struct hauli_case_kind *kind, void *object, void *value)
{
	union {
		struct hauli_case in;
		struct haul_case out;
	} cs = {.in = {.kind = kind, .q = object, .waiter = {.value = value}}};

	return cs.out;
}

#endif
