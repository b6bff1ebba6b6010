/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors of a runtime, of the work and data of its carriers, of pollers, plans and prints. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "errors_bed.h"
#include "sched/state/carrier.h"
#include "sched/state/runtime.h"
#include "support/faults.h"

static void *polls(void *arg)
{
	while (haul_maybe_yield(false))
		;
	return arg;
}

static int returns_0(void *arg)
{
	return 0;
}

static int fails(void *arg)
{
	return -ENOTTY;
}

/* haul_start(), of a second runtime. */

static int try_start(const struct haul_runtime_opts *opts)
{
	struct haul_runtime *more;
	int err = TRY(errors_start(&more, opts));

	if (!err)
		runtime_stop(more);
	return err;
}

static int start_plain(void)
{
	return try_start(&(struct haul_runtime_opts){0});
}

static int start_all(void)
{
	return try_start(&(struct haul_runtime_opts){.stack_marks = true,
		.steal = HAUL_STEALING ? HAUL_STEAL_GLOBAL : HAUL_STEAL_OFF,
		.watchdog_ns = HAUL_S});
}

static int start_default(void)
{
	struct haul_runtime *more;
	int err = TRY(haul_start(&more, NULL, NULL, 0));

	if (!err)
		runtime_stop(more);
	return err;
}

static int start_beside_virtual(void)
{
	return try_start(&(struct haul_runtime_opts){.virtual_time = true});
}

static int start_virtual(void)
{
	errors_end();
	return start_beside_virtual();
}

static int start_wrong(void)
{
	return try_start(&(struct haul_runtime_opts){.searchers = 33});
}

static int refuses(
	void *ctx, unsigned i, const struct haul_place *place, int (*fn)(void *), void *arg)
{
	return -ENOTTY;
}

static void joins(void *ctx, unsigned i)
{
}

static int start_by_launcher(void)
{
	const struct haul_launcher launcher = {.launch = refuses, .join = joins};

	return try_start(&(struct haul_runtime_opts){.launcher = &launcher});
}

/* The number of this call among the others is not known while carriers begin. */
static int start_without_membarrier(void)
{
	struct haul_runtime *more;

	faults_arm((struct faults){.nth = 1, .only = "membarrier"});
	return promises_disarm(
		errors_start(&more, &(struct haul_runtime_opts){.steal = HAUL_STEAL_GLOBAL}));
}

static int start_65(void)
{
	struct haul_runtime *more[64];
	unsigned n = 0;
	int err = 0;

	promises_arm();
	while (n < 64 && !err) {
		err = errors_start(&more[n], &(struct haul_runtime_opts){0});
		n += !err;
	}
	promises_disarm(err);
	while (n > 0)
		runtime_stop(more[--n]);
	return err;
}

/* Of the runtime */

static int stop_again(void)
{
	struct haul_runtime *more;

	if (errors_start(&more, &(struct haul_runtime_opts){0}) != 0)
		return -ENOMEM;
	runtime_stop(more);
	return TRY(haul_stop(more, HAUL_FOREVER));
}

static int stop_it(void)
{
	return TRY(haul_stop(rt, HAUL_FOREVER));
}

static int stop_held(void)
{
	int err;

	hauli_runtime_hold(rt);
	err = stop_it();
	hauli_runtime_let_go(rt);
	return err;
}

static struct haul_mutex mutex;
static atomic_bool mutex_is_held;

static void *keeps_mutex(void *other)
{
	haul_mutex_lock(&mutex);
	mutex_is_held = true;
	errors_parks(NULL);
	haul_mutex_unlock(&mutex);
	return NULL;
}

static void *needs_mutex(void *arg)
{
	haul_mutex_lock(&mutex);
	haul_mutex_unlock(&mutex);
	return NULL;
}

/* A cancel does not end the wait for a mutex, and that of another runtime is held. */
static int stop_late(void)
{
	struct haul_runtime *other;
	struct haul_coro *holder;
	int err;

	ck_assert_int_eq(errors_start(&other, &(struct haul_runtime_opts){0}), 0);
	mutex_is_held = false;
	ck_assert_int_eq(
		haul_spawn_on(haul_carrier(other, 0), &holder, keeps_mutex, NULL, NULL), 0);
	WAIT_UNTIL(mutex_is_held);
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), NULL, needs_mutex, NULL, NULL), 0);
	err = TRY(haul_stop(rt, 0));
	haul_cancel(holder);
	haul_join(holder, NULL, HAUL_FOREVER);
	runtime_stop(other);
	return err;
}

static int dump_on_next_signal(void)
{
	static int i;

	return TRY(haul_dump_on_signal(SIGRTMIN + i++ % 20));
}

static int dump_on_fault(void)
{
	return TRY(haul_dump_on_signal(SIGSEGV));
}

/* Work and data of carriers, pollers. */

static int each(void)
{
	return TRY(haul_on_each(rt, returns_0, NULL));
}

static int each_fails(void)
{
	return TRY(haul_on_each(rt, fails, NULL));
}

static int each_late(void)
{
	return errors_at_stop(each);
}

static struct haul_local locals[HAUL_LOCALS_MAX + 1];

static int set_local(void)
{
	return TRY(haul_local_set(&locals[0], rt));
}

static int set_all_locals(void)
{
	for (unsigned i = 0; i < HAUL_LOCALS_MAX; i++)
		haul_local_set(&locals[i], NULL);
	return TRY(haul_local_set(&locals[HAUL_LOCALS_MAX], rt));
}

static int poll_with(haul_fn *fn, size_t stack)
{
	struct haul_coro *poller;
	int err = TRY(haul_poller_register(haul_carrier(rt, 1), &poller, fn, NULL,
		&(struct haul_poller_opts){.stack_size = stack}));

	if (!err) {
		haul_cancel(poller);
		haul_join(poller, NULL, HAUL_FOREVER);
	}
	return err;
}

static int rest(void)
{
	errors_end();
	ck_assert_int_eq(errors_start(&rt, &(struct haul_runtime_opts){0}), 0);
	return TRY(haul_carrier_set_stealing(haul_carrier(rt, 0), false));
}

static int poller(void)
{
	return poll_with(polls, 0);
}

static int poller_large(void)
{
	return poll_with(polls, HAUL_STACK_MAX + 1);
}

static int poller_late(void)
{
	return errors_at_stop(poller);
}

static int poller_again(void)
{
	struct haul_coro *one;
	int err;

	ck_assert_int_eq(haul_poller_register(haul_carrier(rt, 1), &one, polls, NULL, NULL), 0);
	err = poller();
	haul_cancel(one);
	haul_join(one, NULL, HAUL_FOREVER);
	return err;
}

static int poller_virtual(void)
{
	errors_end();
	ck_assert_int_eq(errors_start(&rt, &(struct haul_runtime_opts){.virtual_time = true}), 0);
	return poller();
}

/* Plans and prints. */

static int try_plan(const struct haul_plan_opts *opts)
{
	struct haul_plan *p;
	int err = TRY(haul_plan_create(&p, opts, LINE));

	if (!err)
		haul_plan_destroy(p);
	return err;
}

static int plan_machine(void)
{
	return try_plan(&(struct haul_plan_opts){.machine = "pack:2 core:2 pu:2", .smt = true});
}

static int plan_here(void)
{
	return try_plan(NULL);
}

static int plan_cpus(void)
{
	return try_plan(&(struct haul_plan_opts){.cpus = "0"});
}

static int plan_wrong(void)
{
	return try_plan(&(struct haul_plan_opts){.carriers = HAUL_CARRIERS_MAX + 1});
}

static int plan_no_nic(void)
{
	return try_plan(&(struct haul_plan_opts){.near_nic = "nosuch0"});
}

static FILE *full(void)
{
	FILE *f = fopen("/dev/full", "w");

	ck_assert_ptr_nonnull(f);
	setvbuf(f, NULL, _IONBF, 0);
	return f;
}

static int print_plan(void)
{
	FILE *f = full();
	int err = TRY(haul_plan_print(plan, f));

	fclose(f);
	return err;
}

static int write_hist(void)
{
	static struct haul_hist h;
	FILE *f = full();
	int err;

	haul_hist_add(&h, 1000, 1);
	err = TRY(haul_hist_write_hgrm(&h, 1, f));
	fclose(f);
	return err;
}

static const struct call calls[] = {
	{"haul_start", "a plan", start_plain, 0},
	{"haul_start", "all options", start_all, 0},
	{"haul_start", "defaults", start_default, 0},
	{"haul_start", "virtual time", start_virtual, 0},
	{"haul_start", "virtual time beside others", start_beside_virtual, -EBUSY},
	{"haul_start", "many searchers", start_wrong, -EINVAL},
	{"haul_start", "on a carrier", start_plain, -EPERM, ON_CARRIER},
	{"haul_start", "a launcher", start_by_launcher, -ENOTTY, .own = true},
	{"haul_start", "no membarrier", start_without_membarrier, -ENOTSUP, .faults = NO_FAULTS},
	{"haul_start", "64 others", start_65, -ENOSPC, .faults = NO_FAULTS},
	{"haul_stop", "on a carrier", stop_it, -EDEADLK, ON_CARRIER},
	{"haul_stop", "again", stop_again, -EINVAL},
	{"haul_stop", "held", stop_held, -EBUSY},
	{"haul_stop", "a wait for a mutex", stop_late, -ETIMEDOUT},
	{"haul_stop", "in a child", stop_it, -EPERM, IN_CHILD},
	{"haul_dump_on_signal", "a new one", dump_on_next_signal, 0, .stays = true},
	{"haul_dump_on_signal", "SIGSEGV", dump_on_fault, -EINVAL},
	{"haul_on_each", "a function", each, 0, .faults = SINGLE_FAULTS},
	{"haul_on_each", "by a coroutine", each, 0, ON_CARRIER, SINGLE_FAULTS},
	{"haul_on_each", "a function that fails", each_fails, -ENOTTY, .faults = SINGLE_FAULTS,
		.own = true},
	{"haul_on_each", "at the stop", each_late, -ECANCELED},
	{"haul_on_each", "in a child", each, -EPERM, IN_CHILD},
	{"haul_local_set", "one", set_local, 0, ON_CARRIER},
	{"haul_local_set", "on a thread", set_local, -EPERM},
	{"haul_local_set", "all", set_all_locals, -ENOSPC, ON_CARRIER},
	{"haul_carrier_set_stealing", "without stealing", rest, -ENOTSUP},
	{"haul_poller_register", "one", poller, 0},
	{"haul_poller_register", "a second one", poller_again, -EBUSY},
	{"haul_poller_register", "a large stack", poller_large, -EINVAL},
	{"haul_poller_register", "virtual time", poller_virtual, -ENOTSUP},
	{"haul_poller_register", "at the stop", poller_late, -ECANCELED},
	{"haul_poller_register", "in a child", poller, -EPERM, IN_CHILD},
	{"haul_plan_create", "a machine", plan_machine, 0},
	{"haul_plan_create", "this machine", plan_here, 0},
	{"haul_plan_create", "CPU 0", plan_cpus, 0},
	{"haul_plan_create", "too many carriers", plan_wrong, -EINVAL},
	{"haul_plan_create", "no such NIC", plan_no_nic, -EINVAL},
	{"haul_plan_print", "a full disk", print_plan, -EIO},
	{"haul_hist_write_hgrm", "a full disk", write_hist, -EIO},
};

/* In a child, whose first start it is. Exits with 0 if a fault was due, with 1 if not. */
static void first_start(unsigned nth)
{
	struct haul_runtime *first = NULL;
	const char *fault;
	unsigned due;
	int err;

	faults_arm((struct faults){nth, false});
	err = haul_start(&first, NULL, NULL, 0);
	due = faults_disarm(&fault);
	if (err && haul_start(&first, NULL, NULL, 0) != 0)
		_exit(2);
	if (haul_stop(first, HAUL_FOREVER) != 0)
		_exit(3);
	_exit(due == 0);
}

/* Some calls are made once in a process, by its first start. */
START_TEST(the_first_start_can_be_repeated)
{
	int status;

	for (unsigned nth = 1;; nth++) {
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		if (pid == 0)
			first_start(nth);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		if (status != 0)
			break;
	}
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 1, "status %x", (unsigned)status);
}
END_TEST

static const char *const headers[] = {"runtime.h", "carrier.h", "driver.h", "topo.h", "hist.h"};

int main(void)
{
	const struct promises table = {
		.headers = headers,
		.nb_headers = sizeof(headers) / sizeof(headers[0]),
		.calls = calls,
		.nb_calls = sizeof(calls) / sizeof(calls[0]),
	};

	return errors_main(table, the_first_start_can_be_repeated);
}
