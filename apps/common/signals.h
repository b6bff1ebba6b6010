/* SPDX-License-Identifier: BSD-3-Clause */
/* SIGINT and SIGTERM as events that the main thread waits for. */
#ifndef APP_SIGNALS_H
#define APP_SIGNALS_H

#include <haul/base.h>

/* Before any other thread is made: they inherit it. SIGPIPE and SIGXFSZ (ulimit -f) become errors
 * of write(). */
void app_signals_block(void);

/* Sleeps until one of the two comes or haul_now() reaches deadline. The signal, or 0. */
int app_signals_wait(uint64_t deadline);

#endif
