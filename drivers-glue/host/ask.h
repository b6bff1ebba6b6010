/* SPDX-License-Identifier: BSD-3-Clause */
/* What a host says by itself: questions about neighbours, and announcements of its addresses. */
#ifndef HAULI_HOST_ASK_H
#define HAULI_HOST_ASK_H

#include "host/state.h"

/* The coroutine of a host; arg: the host. Ends when it is cancelled. */
void *hauli_host_ask(void *arg);

#endif
