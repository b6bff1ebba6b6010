/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "process/balance.h"
#include "process/state.h"

/* Reads "2" or "2-5" at *at, and moves it behind that. False: there is none, or it is not below
 * most. */
static bool read_range(const char **at, unsigned most, unsigned long *first, unsigned long *last)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	*first = *last = strtoul(*at, &end, 10);
	if (end[0] == '-' && isdigit((unsigned char)end[1]))
		*last = strtoul(end + 1, &end, 10);
	*at = end;
	return *first <= *last && *last < most;
}

/* Sets chosen[i] for each that the list names. False: it is wrong. */
static bool parse(const char *list, unsigned most, bool *chosen)
{
	unsigned long first, last;

	while (read_range(&list, most, &first, &last)) {
		for (; first <= last; first++)
			chosen[first] = true;
		if (*list == '\0')
			return true;
		if (*list++ != ',')
			return false;
	}
	return false;
}

int haul_app_use(
	struct haul_app *app, const char *list, uint64_t timeout_ns, char *errbuf, size_t errlen)
{
	const unsigned all = app->plan->carriers;
	unsigned carriers[HAUL_CARRIERS_MAX], n = 0;
	bool chosen[HAUL_CARRIERS_MAX] = {false};

	if (!parse(list, all, chosen)) {
		snprintf(errbuf, errlen,
			"no such carriers: give numbers from 0 to %u, such as 0,2 or 0-2", all - 1);
		return -EINVAL;
	}
	if (hauli_app_state.balance == HAULI_BALANCE_ALL ||
		hauli_app_state.balance == HAULI_BALANCE_FEW) {
		snprintf(errbuf, errlen,
			"--balance chooses the carriers: start the program with --balance off");
		return -EBUSY;
	}
	for (unsigned c = 0; c < all; c++)
		if (chosen[c])
			carriers[n++] = c;
	return haul_io_use(app->io, carriers, n, timeout_ns, errbuf, errlen);
}
