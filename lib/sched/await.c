/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/await.h"

#include <errno.h>

#include <haul/coro.h>

int hauli_await(struct hauli_wait_list *list, struct hauli_waiter *w)
{
	/* A permit may come from any haul_unpark(): only w->served tells that w was served. */
	while (!w->served) {
		int err = haul_park(HAUL_FOREVER);

		if (err && !w->served) {
			hauli_wait_list_leave(list, w);
			return err;
		}
	}
	return 0;
}

void hauli_await_serve(struct hauli_wait_list *list)
{
	struct hauli_waiter *w = list->first;

	hauli_wait_list_leave(list, w);
	w->served = true;
	haul_unpark(w->coro);
}
