/* SPDX-License-Identifier: BSD-3-Clause */
/* Shields, and values that children inherit. */
#include <haul/scope.h>

#include "sched/state/self.h"
#include "sched/wait/extent.h"
#include "sched/wait/suspend.h"

#define STATIC_ASSERT_FITS(type)                                         \
	_Static_assert(sizeof(struct hauli_extent) <= sizeof(type) &&    \
			_Alignof(struct hauli_extent) <= _Alignof(type), \
		"what haul/scope.h reserves")

STATIC_ASSERT_FITS(struct haul_shield);
STATIC_ASSERT_FITS(struct haul_with);

static void begin(void *at, struct hauli_extent f, bool shields, const char *call)
{
	struct haul_carrier *c = hauli_here();
	struct haul_coro *me = c->current;

	hauli_may_suspend(me, call);
	hauli_go_on_at_home(c, me);
	*(struct hauli_extent *)at = f;
	hauli_extent_enter(me, at, shields);
}

static void end(void *at, const char *call)
{
	struct haul_carrier *c = hauli_here();
	struct haul_coro *me = c->current;

	hauli_may_suspend(me, call);
	hauli_go_on_at_home(c, me);
	hauli_extent_leave(me, at, call);
}

void haul_shield_begin(struct haul_shield *s, uint64_t deadline)
{
	HAUL_MISUSE_IF(!s || deadline == HAUL_FOREVER,
		"a shield needs a deadline: else a stop may wait for the coroutine forever");
	begin(s, (struct hauli_extent){.deadline = deadline}, true, __func__);
}

void haul_shield_end(struct haul_shield *s)
{
	end(s, __func__);
}

void haul_with_begin(struct haul_with *w, const void *key, void *value)
{
	HAUL_MISUSE_IF(!w || !key, "the key is NULL");
	begin(w, (struct hauli_extent){.deadline = HAUL_FOREVER, .key = key, .value = value}, false,
		__func__);
}

void haul_with_end(struct haul_with *w)
{
	end(w, __func__);
}

void *haul_value(const void *key)
{
	struct haul_coro *me = haul_self();
	struct hauli_extent *f = me ? hauli_extent_of(me) : NULL;

	HAUL_MISUSE_IF(!key, "the key is NULL");
	while (f && f->key != key)
		f = f->outer;
	return f ? f->value : NULL;
}
