/* SPDX-License-Identifier: BSD-3-Clause */
/* One search, for report.c. */
#ifndef HAUL_TESTS_MODEL_SEARCH_H
#define HAUL_TESTS_MODEL_SEARCH_H

#include "explorer.h"

struct search {
	bool complete;
	const char *violation; /* or NULL */
	uint64_t states, runs;
	unsigned longest; /* the most steps of a run */
};

struct search search_model(const struct model *model, enum memory_kind kind);

/* Prints the steps to the last violation. */
void search_print_trace(void);

#endif
