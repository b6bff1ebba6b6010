/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of dpdk-testpmd and of EAL under their names there. */
#ifndef FWD_TESTPMD_NAMES_H
#define FWD_TESTPMD_NAMES_H

#include <stdbool.h>

#include <haul-app/options.h>

extern const struct haul_app_alias fwd_testpmd_names[];

/* True: haul-fwd has nothing in its place, so a command line with it cannot do the same. */
bool fwd_testpmd_is_missing(const struct haul_app_alias *alias);

#endif
