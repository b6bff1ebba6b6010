/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts that go with a figure: the CPUs used, the machine, the build. */
#ifndef PERF_MACHINE_H
#define PERF_MACHINE_H

#include <stdbool.h>
#include <stdio.h>

/* NULL, or the reason why this build's figures mean nothing (not optimised, a sanitizer, debug
 * checks: then only the times do, so not if timed is false). */
const char *perf_build_refusal(bool timed);

/* Chooses the CPUs: first is --cpu's, or -1 for the last usable one. 0, or -1 with a line on
 * stderr. */
int perf_machine_init(int first);

/* Pins the process to the first n chosen CPUs. False if there are fewer. */
bool perf_pin(unsigned cpus);

/* Writes the facts as members of a JSON object, without braces. */
void perf_machine_json(FILE *out);
/* The same as a line for people. */
void perf_machine_print(FILE *out);

#endif
