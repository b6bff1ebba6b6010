/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a switch must keep and pass on, as functions that need no library: the same ones are run by
 * coro_switch.c for this CPU and by coro_switch_bare.c for another one under an emulator.
 */
#ifndef HAUL_TESTS_CORO_SWITCH_CASES_H
#define HAUL_TESTS_CORO_SWITCH_CASES_H

#define SWITCH_CASES 7

/* Runs case i. NULL, or what is wrong. */
const char *switch_case_run(unsigned i, const char **name);

#endif
