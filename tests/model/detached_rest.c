/* SPDX-License-Identifier: BSD-3-Clause */
/* As detached.c, with a bound of one message a call, so the owner and the thief, which steals once,
 * leave the rest. */
#define HAULI_MAIL_MOST 1
#include "sched/mail/mail.c"
#define REST 1
#include "detached.c"
