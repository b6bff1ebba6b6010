/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated threads of a simulation, and its clock. All but one function: on a simulated
 * thread. */
#ifndef HAULI_SIM_WORLD_H
#define HAULI_SIM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

struct hauli_sim_thread;

/* Also elsewhere: true on a simulated thread. */
bool hauli_sim_is_on(void);

uint64_t hauli_sim_now(void);

/* A thread that is ready; NULL: no memory. */
struct hauli_sim_thread *hauli_sim_start(void *(*fn)(void *), void *arg);
/* Waits for its end, and frees it. */
void *hauli_sim_join(struct hauli_sim_thread *t);
struct hauli_sim_thread *hauli_sim_self(void);
void hauli_sim_detach(struct hauli_sim_thread *t);

/* Waits until somebody wakes the address, or until a time (HAULI_NEVER). False: the time came. */
bool hauli_sim_wait(const void *addr, uint64_t until);
/* Makes up to n threads ready that wait for the address, those that wait longest first. */
void hauli_sim_wake(const void *addr, unsigned n);

/* Others may go on. */
void hauli_sim_yield(void);

uint64_t hauli_sim_random(void);

#endif
