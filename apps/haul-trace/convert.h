/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes tracks of rings. */
#ifndef TRACE_CONVERT_H
#define TRACE_CONVERT_H

#include "out.h"
#include "raw.h"

struct trace_sums {
	uint64_t events, lost, packets;
};

/* False: no memory, or a write has failed. */
bool trace_convert(const struct trace_raw *raw, FILE *to, struct trace_sums *sums);

#endif
