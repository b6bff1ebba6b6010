/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HAULI_APP_TELEMETRY_FIGURES_H
#define HAULI_APP_TELEMETRY_FIGURES_H

#include "telemetry/answer.h"

/* Commands about carriers, ports and the program. Ended by one without fn. */
extern const struct hauli_telemetry_command hauli_commands_of_ports[];

/* Main thread, once a second: for answers about how busy carriers were lately. */
void hauli_figures_remember(const struct hauli_app *a);

/* How a carrier has spent its time, up to a second ago. False: not known yet, or no more. Any
 * thread; waits for nobody. */
bool hauli_figures_share(unsigned carrier, struct haul_io_share *share);

/* Frees what answers remember. When no reader comes any more. */
void hauli_figures_forget(void);

#endif
