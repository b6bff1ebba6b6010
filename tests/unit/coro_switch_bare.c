/* SPDX-License-Identifier: BSD-3-Clause */
/* The cases of the switch, with TAP output, for a CPU for which libcheck is not installed. */
#include <stdio.h>

#include "coro_switch_cases.h"

int main(void)
{
	int failed = 0;

	printf("1..%d\n", SWITCH_CASES);
	for (unsigned i = 0; i < SWITCH_CASES; i++) {
		const char *name;
		const char *wrong = switch_case_run(i, &name);

		printf("%sok %u - %s%s%s\n", wrong ? "not " : "", i + 1, name, wrong ? ": " : "",
			wrong ? wrong : "");
		failed |= !!wrong;
	}
	return failed;
}
