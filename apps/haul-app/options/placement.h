/* SPDX-License-Identifier: BSD-3-Clause */
/* --carriers, --near and --smt: on which CPUs the carriers run. */
#ifndef HAULI_APP_OPTIONS_PLACEMENT_H
#define HAULI_APP_OPTIONS_PLACEMENT_H

#include <haul-app/options.h>

const struct haul_app_option *hauli_placement_options(void);

#endif
