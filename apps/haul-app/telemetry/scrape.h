/* SPDX-License-Identifier: BSD-3-Clause */
/* The server of --metrics. */
#ifndef HAULI_APP_TELEMETRY_SCRAPE_H
#define HAULI_APP_TELEMETRY_SCRAPE_H

#include <haul/base.h>

/* Serves GET /metrics at where: "PORT", "ADDRESS:PORT" or "[IPv6]:PORT". Main thread. Returns 0 or,
 * with a line in errbuf, -EINVAL (not such a text) or -errno. */
int hauli_scrape_begin(const char *where, char *errbuf, size_t errlen);

/* Main thread, while readers are barred. Nothing if there is none. */
void hauli_scrape_end(void);

#endif
