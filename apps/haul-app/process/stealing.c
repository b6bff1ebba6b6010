/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>

#include "process/state.h"

int haul_app_set_stealing(struct haul_app *app, bool steals, char *errbuf, size_t errlen)
{
	for (unsigned i = 0; i < app->plan->carriers; i++) {
		if (app->io && !haul_io_is_used(app->io, i)) /* as haul_io_use() says */
			continue;
		if (haul_carrier_set_stealing(haul_carrier(app->rt, i), steals) != 0) {
			snprintf(errbuf, errlen,
				"carriers do not steal: start the program with --steal cluster or "
				"global");
			return -ENOTSUP;
		}
	}
	hauli_app_state.no_thefts = !steals;
	return 0;
}
