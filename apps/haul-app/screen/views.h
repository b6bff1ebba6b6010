/* SPDX-License-Identifier: BSD-3-Clause */
/* What a screen shows: a view draws figures as lines. */
#ifndef HAULI_APP_SCREEN_VIEWS_H
#define HAULI_APP_SCREEN_VIEWS_H

#include "process/state.h"
#include "report/sample.h"
#include "screen/canvas.h"

struct hauli_app_figures {
	const struct hauli_app *a;
	const struct hauli_app_sample
		*period; /* counted in the last period; NULL: none has ended */
	double seconds; /* of it */
	const struct hauli_app_sample *total; /* since the start, or since the last reset */
	const char *text; /* lines of the program's report() */
};

struct hauli_app_view {
	char digit, letter; /* the keys that show it */
	const char *name;
	void (*draw)(struct hauli_app_canvas *c, const struct hauli_app_figures *f);
};

/* The i-th view; NULL: there are no more. */
const struct hauli_app_view *hauli_app_view(unsigned i);

#endif
