/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The promises of a switch, as functions that need no library: coro_switch.c runs them
 * on this CPU, coro_switch_bare.c on another one under an emulator.
 */
#ifndef HAUL_TESTS_CORO_SWITCH_CASES_H
#define HAUL_TESTS_CORO_SWITCH_CASES_H

#define SWITCH_CASES 8

/* Runs case i. NULL if it is right, else the error. */
const char *switch_case_run(unsigned i, const char **name);

#endif
