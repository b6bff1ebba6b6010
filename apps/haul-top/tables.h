/* SPDX-License-Identifier: BSD-3-Clause */
/* The views of a program that are one table. */
#ifndef TOP_TABLES_H
#define TOP_TABLES_H

#include "sample.h"
#include "table.h"

enum top_view {
	TOP_OVERVIEW,
	TOP_CARRIERS,
	TOP_PORTS,
	TOP_QUEUES,
	TOP_DROPS,
	TOP_COROUTINES,
	TOP_WAITS,
	TOP_LATENCY,
	TOP_COUNTERS,
	TOP_HELP,
	TOP_VIEWS
};

#define TOP_VIEW_NAMES "overview|carriers|ports|queues|drops|coroutines|waits|latency|counts"

/* Of each view, the key that shows it, and its name, with the key in it. */
struct top_view_name {
	const char *name;
	char key;
};
extern const struct top_view_name top_view_names[TOP_VIEWS];

/* True if rows of the view can be picked: keys do something with what a row is about. */
bool top_view_is_picked_from(enum top_view view);

/* The columns of the view's table; NULL: it is not one table. */
const struct top_column *top_view_columns(enum top_view view);
/* The column by which a view is sorted at first; -1: as telemetry has it. */
int top_view_first(enum top_view view);

/* Fills the table of a view that has one. The caller frees it. */
void top_view_fill(struct top_table *t, enum top_view view, const struct top_pair *pair);

/* What a view says that has no rows. */
const char *top_view_none(enum top_view view, const struct top_pair *pair);

#endif
