/* SPDX-License-Identifier: BSD-3-Clause */
/* What is shown of a program. */
#ifndef TOP_VIEWS_H
#define TOP_VIEWS_H

#include "tables.h"

/* Adds the view to the page. rows: how many of the page can be seen at once; for the overview,
 * which has the first rows of the tables that matter most. */
void top_view_show(enum top_view view, const struct top_pair *pair, const struct top_order *order,
	struct top_page *p, unsigned rows);

/* Adds two lines about the program and all of its packets. */
void top_view_summary(const struct top_pair *pair, struct top_page *p);

#endif
