/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals that programs wait for: each host has its own, and handlers do not run. And the masks of
 * threads, for signals that a thread sends to another: of these the handlers run. */
#include <errno.h>
#include <signal.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "sim/real.h"
#include "sim/state.h"
#include "sim/world.h"

#define SIGNALS 64

static const char key[4096]; /* what is waited for, by host */

static const void *key_of(unsigned host)
{
	return &key[host % sizeof(key)];
}

void hauli_sim_host_signal(unsigned host, int sig)
{
	hauli_world.hosts.all[host].signals |= UINT64_C(1) << sig;
	hauli_sim_wake(key_of(host), UINT32_MAX);
}

/* 0: none of them has come. */
static int take(const sigset_t *set)
{
	uint64_t *signals = &hauli_world.hosts.all[hauli_sim_host()].signals;

	for (int sig = 1; *signals && sig < SIGNALS; sig++) {
		if (!(*signals >> sig & 1) || !sigismember(set, sig))
			continue;
		*signals &= ~(UINT64_C(1) << sig);
		return sig;
	}
	return 0;
}

static int wait_for(const sigset_t *set, siginfo_t *info, uint64_t until)
{
	int sig;

	while ((sig = take(set)) == 0) {
		if (until <= hauli_sim_now() || !hauli_sim_wait(key_of(hauli_sim_host()), until)) {
			errno = EAGAIN;
			return -1;
		}
	}
	if (info)
		*info = (siginfo_t){.si_signo = sig, .si_code = SI_USER};
	return sig;
}

/* Of SIG_SETMASK and the others. */
static uint64_t bits_of(const sigset_t *set)
{
	uint64_t bits = 0;

	for (int sig = 1; sig < SIGNALS; sig++)
		if (sigismember(set, sig))
			bits |= UINT64_C(1) << sig;
	return bits;
}

static void fill(sigset_t *set, uint64_t bits)
{
	sigemptyset(set);
	for (int sig = 1; sig < SIGNALS; sig++)
		if (bits >> sig & 1)
			sigaddset(set, sig);
}

/* The real thread is all simulated ones, so its mask is none's. */
HAULI_SIM_REPLACED int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	struct hauli_sim_thread *me;
	uint64_t bits;

	if (!hauli_sim_is_on())
		return HAULI_SIM_REAL(pthread_sigmask)(how, set, old);
	me = hauli_sim_self();
	bits = set ? bits_of(set) : 0;
	if (old)
		fill(old, me->blocked);
	if (!set)
		return 0;
	if (how == SIG_BLOCK)
		me->blocked |= bits;
	else if (how == SIG_UNBLOCK)
		me->blocked &= ~bits;
	else if (how == SIG_SETMASK)
		me->blocked = bits;
	else
		return EINVAL;
	while ((bits = me->pending & ~me->blocked)) {
		me->pending &= ~(bits & -bits);
		(void)hauli_sim_signal(me->id, __builtin_ctzll(bits));
	}
	return 0;
}

HAULI_SIM_REPLACED int sigtimedwait(
	const sigset_t *set, siginfo_t *info, const struct timespec *limit)
{
	uint64_t until = HAULI_NEVER;

	if (!hauli_sim_is_on())
		return HAULI_SIM_REAL(sigtimedwait)(set, info, limit);
	if (limit)
		until = hauli_sim_now() + (uint64_t)limit->tv_sec * HAUL_S +
			(uint64_t)limit->tv_nsec;
	return wait_for(set, info, until);
}

HAULI_SIM_REPLACED int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	return hauli_sim_is_on() ? wait_for(set, info, HAULI_NEVER)
				 : HAULI_SIM_REAL(sigwaitinfo)(set, info);
}

/* To the process, which each host is on its own; others are not simulated. */
HAULI_SIM_REPLACED int kill(pid_t pid, int sig)
{
	if (!hauli_sim_is_on() || pid != getpid() || sig <= 0 || sig >= SIGNALS || sig == SIGKILL)
		return HAULI_SIM_REAL(kill)(pid, sig);
	hauli_sim_host_signal(hauli_sim_host(), sig);
	return 0;
}
