/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening and closing a capture. */
#ifndef HAULI_CAPTURE_CAPTURE_H
#define HAULI_CAPTURE_CAPTURE_H

#include "capture/state.h"

/* haul_capture_close(), for a capture without hooks on queues. */
int hauli_capture_finish(struct haul_capture *c, uint64_t timeout_ns, struct haul_capture_stats *st,
	char *errbuf, size_t errlen);

#endif
