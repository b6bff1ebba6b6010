/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated threads of a simulation, and its clock. All but hauli_sim_is_on(): on a simulated
 * thread. */
#ifndef HAULI_SIM_WORLD_H
#define HAULI_SIM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <haul-sim/sim.h>

#include "base/clock.h"
#include "sim/heap.h"

struct hauli_sim_thread;
struct hauli_sim_marks;

/* Also elsewhere: true on a simulated thread. */
bool hauli_sim_is_on(void);

uint64_t hauli_sim_now(void);

#define HAULI_SIM_EPOCH UINT64_C(1767225600) /* s: CLOCK_REALTIME begins with 2026 */

/* Without memory of its own a simulation would be another one than with it: it ends. */
void hauli_sim_need(bool has_memory);

static inline void *hauli_sim_needed(void *memory)
{
	hauli_sim_need(memory);
	return memory;
}
/* CLOCK_REALTIME is that far from where it would be; reads: somebody reads it. */
int64_t hauli_sim_clock_step(bool reads);

/* A thread that is ready; NULL: no memory. */
struct hauli_sim_thread *hauli_sim_start(void *(*fn)(void *), void *arg);
/* Waits for its end, and frees it. */
void *hauli_sim_join(struct hauli_sim_thread *t);
struct hauli_sim_thread *hauli_sim_self(void);
void hauli_sim_detach(struct hauli_sim_thread *t);
/* The handler of a signal runs on this simulated thread, now, or when the signal is no longer
 * blocked. sig: below 64. False: no such thread. Also on the
 * thread of haul_sim_run(). */
bool hauli_sim_signal(unsigned id, int sig);
unsigned hauli_sim_id(const struct hauli_sim_thread *t);
/* True: a thread of the caller's host that has not ended. */
bool hauli_sim_is_here(const struct hauli_sim_thread *t);
/* NULL: that of haul_sim_run(), the real thread's. */
void *hauli_sim_stack(const struct hauli_sim_thread *t, size_t *size);
void hauli_sim_name(struct hauli_sim_thread *t, const char *name);
/* "thread 3 haul-1 of server", the current one. In signal handlers, too. */
void hauli_sim_self_name(char *buf, size_t len);
/* From the next run on, its marks. NULL: none. */
void hauli_sim_mark(struct hauli_sim_marks *marks);
/* Simulated time since the beginning of the run. */
uint64_t hauli_sim_passed(void);
/* What is known of the run so far. */
void hauli_sim_result(struct haul_sim_result *result);
uint64_t hauli_sim_seed(void);
/* What threads wait for, one line each. */
void hauli_sim_list(FILE *out);

/* The simulation ends; its threads do not go on. */
__attribute__((noreturn)) void hauli_sim_finish(enum haul_sim_end end);

/* Waits until somebody wakes the address, or until a time (HAULI_NEVER). False: the time came. */
#define hauli_sim_wait(addr, until) hauli_sim_wait_in(addr, until, __func__)
bool hauli_sim_wait_in(const void *addr, uint64_t until, const char *in);
/* Makes up to n threads ready that wait for the address, those that wait longest first. */
void hauli_sim_wake(const void *addr, unsigned n);

/* Others may go on. */
void hauli_sim_yield(void);

/* Calls t->fire at a time; a time that has passed: with the next switch. Until then the timer can
 * be cancelled. */
void hauli_sim_at(struct hauli_sim_timer *t, uint64_t at);
void hauli_sim_cancel(struct hauli_sim_timer *t);

/*
 * The host to which a thread belongs, as those that it starts: 0, the test itself, or a number that
 * hauli_sim_host_new() has given. What a thread does may concern threads of its host that rest
 * (sim/steps.h), and what one of host 0 does, all.
 */
unsigned hauli_sim_host(void);
/* The name stays. */
unsigned hauli_sim_host_new(const char *name);
/* A host that was killed is forgotten: its number may be that of a new one. */
void hauli_sim_host_forget(unsigned host);
/* Of the test itself: "". */
const char *hauli_sim_host_name(unsigned host);
/* A thread of another host than the caller's; NULL: no memory. */
struct hauli_sim_thread *hauli_sim_start_on(unsigned host, void *(*fn)(void *), void *arg);
/* Something came to a host: those that rest look for it. */
void hauli_sim_rouse(unsigned host);
/* The threads of a host never go on. False: one of them holds a mutex, which others may want. Not
 * by a thread of that host. */
bool hauli_sim_kill(unsigned host);
/* A signal for the process that a host is: a thread that waits for signals takes it. */
void hauli_sim_host_signal(unsigned host, int sig);
/* Mutexes that the thread holds: 1 or -1 more. */
void hauli_sim_holds(int more);

uint64_t hauli_sim_random(void);

#endif
