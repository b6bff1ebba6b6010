/* SPDX-License-Identifier: BSD-3-Clause */
#include "samples.h"

#include <inttypes.h>
#include <stdlib.h>

struct samples *samples_new(uint64_t room)
{
	struct samples *s;

	if (room == 0)
		return NULL;
	s = calloc(1, sizeof(*s) + room * sizeof(s->rows[0]));
	if (!s)
		abort();
	s->room = room;
	return s;
}

void samples_print(const struct samples *s, uint64_t start, FILE *out)
{
	for (uint64_t i = 0; i < s->n && i < s->room; i++)
		fprintf(out, "%" PRId64 ",%" PRIu64 "\n", (int64_t)(s->rows[i].intended - start),
			s->rows[i].age);
}
