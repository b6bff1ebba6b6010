/* SPDX-License-Identifier: BSD-3-Clause */
/* For the models of haul_select(): as sync_home.h, with two cases instead of one wait. */
#include <string.h>

#include "sync/select.h"

#include "sync_home.h"

struct selecting {
	struct hauli_case cases[2];
	struct hauli_select select;
};

static void selecting_init(struct selecting *s, struct haul_case one, struct haul_case other)
{
	memcpy(&s->cases[0], &one, sizeof(one));
	memcpy(&s->cases[1], &other, sizeof(other));
}

/* The coroutine has ended, and its stack is freed. */
static void selecting_end(struct selecting *s)
{
	home_end();
	model_free(s, sizeof(*s));
}
