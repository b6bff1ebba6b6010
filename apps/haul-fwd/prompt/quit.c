/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of the program in testpmd's words, which scripts wait for. */
#include "quit.h"

#include "../prompt.h"
#include "statistics.h"
#include "verbose.h"

static bool begun;
static bool closes[HAUL_APP_PORTS_MAX]; /* ports that had a device */

void fwd_quit_totals(struct haul_app *app, FILE *out)
{
	const struct fwd_call call = {.app = app, .out = out};

	begun = true;
	fwd_verbose_print();
	if (!haul_app_is_paused(app)) {
		fprintf(out, "Telling cores to stop...\nWaiting for lcores to finish...\n");
		fwd_statistics_print(&call);
		fprintf(out, "\nDone.\n");
	}
	for (unsigned i = 0; i < app->nb_ports; i++) {
		closes[i] = haul_io_is_attached(app->io, i);
		if (closes[i])
			fprintf(out, "\nStopping port %u...\nStopping ports...\nDone\n", i);
	}
}

void fwd_quit_print_closed(bool with_bye)
{
	for (unsigned i = 0; i < HAUL_APP_PORTS_MAX; i++)
		if (closes[i])
			printf("\nShutting down port %u...\nClosing ports...\nPort %u is closed\n"
			       "Done\n",
				i, i);
	if (begun || with_bye)
		printf("\nBye...\n");
}
