/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulation: programs with haul run on one thread, in virtual time, and a seed decides who
 * runs.
 *
 * A program that is compiled and linked for simulation (meson.build) calls haul_sim_run(). What
 * it calls there is a *simulation*: the threads that it starts (pthread_create(), and with it
 * the carriers of each runtime) are simulated. One of them runs at a time; at each atomic access
 * of haul's the seed may have another one go on, as the kernel might. Time passes only while all
 * wait: then the clock goes to the first time at which one wakes. So an hour in which nothing
 * happens takes no time, and the same seed gives the same run, on each machine.
 *
 * In a simulation these functions of the C library are simulated, for programs as for haul:
 * threads, mutexes, condition variables and semaphores of POSIX, futex(2), sched_yield(),
 * sleeps, clocks, the time-outs of poll(2) and epoll_wait(2), getrandom(). A program that wants
 * the same run from the same seed reads no other clock (no time stamp counter), takes no random
 * number from elsewhere, decides nothing by an address (the order of pointers, a hash of them),
 * and does not wait for threads that are not simulated, for the network, or for other processes.
 * Variables that are local to a thread (_Thread_local, keys of POSIX) are shared by all
 * simulated threads.
 */
#ifndef HAULI_SIM_SIM_H
#define HAULI_SIM_SIM_H

#include <stdint.h>

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 0 in each field but the seed: the default. */
struct haul_sim_opts {
	uint64_t seed;
	unsigned
		steps; /* between two switches to another thread that is ready, on average; 0: 64 */
	/*
	 * Faults that may come: "all", or some of those that the option --list of haul_sim_main()
	 * shows, such as "loss,delay". The seed draws which of them come in this run, and how
	 * often. "loss:7,loss:9-12": only these of the strikes of that kind. NULL: none.
	 */
	const char *faults;
	uint64_t limit_ns; /* end of a simulation that does not end; 0: ten years */
};

enum haul_sim_end {
	HAUL_SIM_RETURNED, /* the function has returned */
	HAUL_SIM_STUCK, /* all threads wait, and none with a time limit */
	HAUL_SIM_LIMIT, /* limit_ns */
	HAUL_SIM_FAILED, /* haul_sim_fail(), or an invariant that does not hold */
};

struct haul_sim_result {
	enum haul_sim_end end;
	int value; /* returned by the function */
	uint64_t hash; /* of all that the seed decided, and of haul_sim_note() */
	uint64_t ns; /* simulated */
	uint64_t switches; /* between threads */
	unsigned threads; /* that were started, with the first one */
	unsigned left; /* of them have not ended: they are gone, with what they have not freed */
};

/*
 * Runs fn(arg) and the threads that it starts, until it returns. On a thread that is not simulated;
 * a process has one simulation at a time. After another end than HAUL_SIM_RETURNED, and if threads
 * are left, what haul and the C library know may be of any kind: then the process should end, so
 * whoever runs many seeds gives each a process. 0, or -EBUSY: one runs, -ENOMEM, -EINVAL: faults.
 */
HAUL_API int haul_sim_run(const struct haul_sim_opts *opts, int (*fn)(void *arg), void *arg,
	struct haul_sim_result *result);

/* Adds a fact about the run to its hash, so that runs that differ in it differ in their hashes. */
HAUL_API void haul_sim_note(uint64_t fact);

/* Ends the simulation as failed, for this reason: one line of at most 1,000 bytes. Simulated
 * threads, and invariants. Does not return. */
HAUL_API void haul_sim_fail(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

/*
 * An invariant: each time when all threads wait and the clock goes on, and at the end, fn(arg)
 * returns NULL if all is as it should be, or says what is wrong: the simulation ends as failed. fn
 * does not wait. Simulated threads. 0, or -ENOSPC: there are 256.
 */
HAUL_API int haul_sim_always(const char *(*fn)(void *arg), void *arg);

/* No faults from now on, as if the environment had recovered: then all that was promised has to
 * happen within a time. start: as before. Simulated threads. */
HAUL_API void haul_sim_faults_stop(void);
HAUL_API void haul_sim_faults_start(void);

#ifdef __cplusplus
}
#endif

#endif
