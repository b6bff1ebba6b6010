/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/state/no_suspend.h"

#include <haul/carrier.h>

#include "sched/state/exceptions.h"
#include "sched/state/self.h"
#include "sched/wait/suspend.h"

_Static_assert(sizeof(struct hauli_no_suspend) <= sizeof(struct haul_no_suspend) &&
		_Alignof(struct hauli_no_suspend) <= _Alignof(struct haul_no_suspend),
	"what haul/carrier.h reserves");

void haul_no_suspend_begin(struct haul_no_suspend *block, const char *where)
{
	struct hauli_no_suspend *s = (struct hauli_no_suspend *)block;
	struct haul_carrier *c = hauli_here();
	struct haul_coro *me = c->current;

	if (c == &hauli_nowhere)
		return;
	c = hauli_real_carrier(c);
	*s = (struct hauli_no_suspend){
		.outer = c->wait.no_suspend,
		.where = where,
		.exceptions = c->exceptions,
		.careful = c->careful,
		.handles = hauli_u8_shared_get(&me->flags) & HAULI_FLAG_HANDLES,
	};
	c->wait.no_suspend = s;
	c->exceptions = &hauli_exceptions_always;
	c->careful = true;
	hauli_u8_shared_set_bits(&me->flags, HAULI_FLAG_HANDLES);
	hauli_counter_add(&c->counts.no_suspends, 1);
}

void haul_no_suspend_end(struct haul_no_suspend *block)
{
	struct hauli_no_suspend *s = (struct hauli_no_suspend *)block;
	struct haul_carrier *c = hauli_here();

	if (c == &hauli_nowhere)
		return;
	HAUL_MISUSE_IF(c->wait.no_suspend != s, "the block ends before one inside it");
	c->wait.no_suspend = s->outer;
	c->exceptions = s->exceptions;
	c->careful = s->careful;
	if (!s->handles)
		hauli_u8_shared_clear_bits(&c->current->flags, HAULI_FLAG_HANDLES);
}
