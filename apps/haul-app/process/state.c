/* SPDX-License-Identifier: BSD-3-Clause */
/* The program, and what it asks of its state and sets there. */
#include "process/state.h"

struct hauli_app hauli_app_state;

bool hauli_app_takes_commands(const struct hauli_app *a)
{
	return a->pub.program->takes_commands && a->pub.program->takes_commands();
}

bool hauli_app_pollers_have_ended(const struct hauli_app *a)
{
	return a->ended_at != 0 || a->paused;
}

bool haul_app_is_paused(const struct haul_app *app)
{
	return hauli_app_state.paused;
}

const struct haul_io_opts *haul_app_io_opts(const struct haul_app *app)
{
	return &hauli_app_state.io_opts;
}

void haul_app_set_period(struct haul_app *app, uint64_t ns)
{
	hauli_app_state.period = ns;
}

void haul_app_plain_reports(struct haul_app *app)
{
	hauli_app_state.plain = true;
}
