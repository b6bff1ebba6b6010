/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/wait/thread_joins.h"

#include "conc/word.h"

static struct hauli_ticket begun, ended;

void hauli_thread_joins_begin(void)
{
	hauli_ticket_take(&begun);
}

void hauli_thread_joins_end(void)
{
	hauli_ticket_take(&ended);
}

unsigned hauli_thread_joins(void)
{
	return hauli_ticket_get(&begun) - hauli_ticket_get(&ended);
}
