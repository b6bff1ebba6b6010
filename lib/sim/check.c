/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/check.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul-sim/sim.h>

#include "base/assert.h"
#include "sim/world.h"

#define CHECKS 256

static struct {
	struct {
		const char *(*fn)(void *arg);
		void *arg;
	} checks[CHECKS];
	unsigned n;
	char text[HAULI_SIM_TEXT];
	bool checks_now;
	jmp_buf failed; /* haul_sim_fail() in a check */
} c;

bool hauli_sim_has_checks;

void hauli_sim_checks_begin(void)
{
	hauli_sim_has_checks = false;
	c.n = 0;
	c.text[0] = '\0';
}

static bool hold(void)
{
	for (unsigned i = 0; i < c.n; i++) {
		const char *wrong = c.checks[i].fn(c.checks[i].arg);

		if (!wrong)
			continue;
		snprintf(c.text, sizeof(c.text), "%s", wrong);
		return false;
	}
	return true;
}

bool hauli_sim_check(void)
{
	bool held;

	c.checks_now = true;
	held = setjmp(c.failed) == 0 && hold();
	c.checks_now = false;
	return held;
}

const char *hauli_sim_failure(void)
{
	return c.text;
}

int haul_sim_always(const char *(*fn)(void *arg), void *arg)
{
	HAUL_MISUSE_IF(!fn, "the function is NULL");
	if (c.n == CHECKS)
		return -ENOSPC;
	c.checks[c.n].fn = fn;
	c.checks[c.n++].arg = arg;
	hauli_sim_has_checks = true;
	return 0;
}

void haul_sim_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(c.text, sizeof(c.text), format, args);
	va_end(args);
	if (c.checks_now)
		longjmp(c.failed, 1);
	if (!hauli_sim_is_on()) {
		fprintf(stderr, "haul_sim_fail() outside of a simulation: %s\n", c.text);
		abort();
	}
	hauli_sim_finish(HAUL_SIM_FAILED);
}
