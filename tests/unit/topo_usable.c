/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that may use only a part of the machine, or may not bind its threads. */
#include <dirent.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/suite.h"
#include "topo/pin.h"
#include "unit/topo.h"

/* check does not count assertions in a child: a failed one ends the child with status 1. */
#define HOLDS(cond)                                                                           \
	do {                                                                                  \
		if (!(cond)) {                                                                \
			fprintf(stderr, "# not so: %s (%s:%d)\n", #cond, __FILE__, __LINE__); \
			_exit(1);                                                             \
		}                                                                             \
	} while (0)

static void in_child(void (*body)(void))
{
	int status = -1;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		body();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child: status %x", status);
}

/* The highest and the lowest CPU that this process may use. */
static int last_cpu(void)
{
	cpu_set_t mask;
	int last = -1;

	HOLDS(sched_getaffinity(0, sizeof(mask), &mask) == 0);
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &mask))
			last = i;
	}
	return last;
}

static int first_cpu(void)
{
	cpu_set_t mask;
	int first = 0;

	HOLDS(sched_getaffinity(0, sizeof(mask), &mask) == 0);
	while (!CPU_ISSET(first, &mask))
		first++;
	return first;
}

static void pin(int cpu)
{
	cpu_set_t mask;

	CPU_ZERO(&mask);
	CPU_SET(cpu, &mask);
	HOLDS(sched_setaffinity(0, sizeof(mask), &mask) == 0);
}

/* Every thread of the process: a sanitizer may have its own. */
static void pin_process(int cpu)
{
	cpu_set_t mask;
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;

	CPU_ZERO(&mask);
	CPU_SET(cpu, &mask);
	HOLDS(tasks);
	while ((entry = readdir(tasks)) != NULL) {
		if (entry->d_name[0] != '.')
			HOLDS(sched_setaffinity(atoi(entry->d_name), sizeof(mask), &mask) == 0);
	}
	closedir(tasks);
}

static struct haul_plan *plan_or_exit(struct haul_plan_opts opts)
{
	struct haul_plan *plan = NULL;
	char why[256] = "";

	if (haul_plan_create(&plan, &opts, why, sizeof(why)) < 0) {
		fprintf(stderr, "# %s\n", why);
		_exit(1);
	}
	return plan;
}

static void one_cpu(void)
{
	int cpu = last_cpu();
	struct haul_plan *plan;

	pin_process(cpu);
	plan = plan_or_exit((struct haul_plan_opts){0});
	HOLDS(plan->carriers == 1 && plan->places[0].cpu == cpu);
	haul_plan_destroy(plan);

	plan = plan_or_exit((struct haul_plan_opts){.carriers = 3});
	HOLDS(plan->places[0].cpu == cpu);
	HOLDS(plan->places[1].cpu == -1 && plan->places[2].cpu == -1);
	HOLDS(plan->clusters == 1 && strstr(plan->notice, "only 1 CPU:"));
	haul_plan_destroy(plan);
}

START_TEST(mask_of_one_cpu)
{
	in_child(one_cpu);
}
END_TEST

static void excluded(void)
{
	char list[16], why[256] = "", needle[32];
	struct haul_plan *plan = NULL;
	int last = last_cpu(), first = first_cpu();

	if (first == last) {
		fprintf(stderr, "# one CPU only: there is none to exclude\n");
		return;
	}
	pin_process(last);
	snprintf(list, sizeof(list), "%d", first);
	snprintf(needle, sizeof(needle), "CPU %d is not usable", first);
	HOLDS(haul_plan_create(&plan, &(struct haul_plan_opts){.cpus = list}, why, sizeof(why)) ==
		-EINVAL);
	HOLDS(strstr(why, needle));
	snprintf(needle, sizeof(needle), "leave %d", last);
	HOLDS(strstr(why, needle));
}

START_TEST(list_outside_of_the_mask)
{
	in_child(excluded);
}
END_TEST

/* Mounts a private /sys/devices/system/cpu/isolated that lists cpu. False where that is not
 * allowed. */
static bool isolate(int cpu)
{
	char path[] = "/tmp/haul-isolated-XXXXXX", list[16];
	int fd = mkstemp(path), len = snprintf(list, sizeof(list), "%d\n", cpu);
	bool ok = fd >= 0 && write(fd, list, (size_t)len) == len && unshare(CLONE_NEWNS) == 0 &&
		mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
		mount(path, "/sys/devices/system/cpu/isolated", NULL, MS_BIND, NULL) == 0;

	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	return ok;
}

static void isolated(void)
{
	int last = last_cpu(), first = first_cpu();
	struct haul_plan *plan;
	char list[16];

	if (first == last || !isolate(first)) {
		fprintf(stderr, "# one CPU only, or no private mounts: nothing can be isolated\n");
		return;
	}
	pin_process(last);
	plan = plan_or_exit((struct haul_plan_opts){0});
	HOLDS(plan->carriers == 1 && plan->places[0].cpu == last);
	haul_plan_destroy(plan);

	snprintf(list, sizeof(list), "%d", first);
	plan = plan_or_exit((struct haul_plan_opts){.cpus = list});
	HOLDS(plan->carriers == 1 && plan->places[0].cpu == first && !plan->notice[0]);
	HOLDS(hauli_place_enter(&plan->places[0], 0) == 0);
	haul_plan_destroy(plan);
}

/* isolcpus takes CPUs out of every mask; only an explicit list uses them. */
START_TEST(isolated_only_by_number)
{
	in_child(isolated);
}
END_TEST

static void *plan_in_a_pinned_thread(void *arg)
{
	struct haul_plan **plan = arg;

	pin(last_cpu());
	*plan = plan_or_exit((struct haul_plan_opts){0});
	return NULL;
}

static void pinned_thread(void)
{
	struct haul_plan *all = plan_or_exit((struct haul_plan_opts){0}), *plan = NULL;
	pthread_t thread;

	HOLDS(pthread_create(&thread, NULL, plan_in_a_pinned_thread, &plan) == 0);
	HOLDS(pthread_join(thread, NULL) == 0);
	HOLDS(plan->carriers == all->carriers);
	haul_plan_destroy(plan);
	haul_plan_destroy(all);
}

/* The mask of a thread that has pinned itself does not limit the process. */
START_TEST(plan_made_by_a_pinned_thread)
{
	in_child(pinned_thread);
}
END_TEST

static void plan_keeps_the_mask(void)
{
	cpu_set_t before, after;
	struct haul_plan *plan;

	HOLDS(sched_getaffinity(0, sizeof(before), &before) == 0);
	plan = plan_or_exit((struct haul_plan_opts){0});
	HOLDS(sched_getaffinity(0, sizeof(after), &after) == 0);
	HOLDS(CPU_EQUAL(&before, &after));
	haul_plan_destroy(plan);
}

START_TEST(planning_pins_nothing)
{
	in_child(plan_keeps_the_mask);
}
END_TEST

/* As in some containers: the kernel refuses sched_setaffinity() with EPERM. */
static void refuse_binding(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setaffinity, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = 4, .filter = code};

	HOLDS(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	HOLDS(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void check_all_float(const struct haul_plan *plan, unsigned carriers)
{
	HOLDS(plan->carriers == carriers && plan->clusters == 1);
	for (unsigned i = 0; i < plan->carriers; i++)
		HOLDS(plan->places[i].cpu == -1 && plan->places[i].cluster == 0);
	HOLDS(strstr(plan->notice, "may not bind") && !strchr(plan->notice, '\n'));
}

static void refused_binding(void)
{
	struct haul_plan *plan, *bound = plan_or_exit((struct haul_plan_opts){0});
	struct haul_place place = {.cpu = first_cpu()};
	char list[16];

	snprintf(list, sizeof(list), "%d", first_cpu());
	refuse_binding();
	plan = plan_or_exit((struct haul_plan_opts){0});
	check_all_float(plan, bound->carriers);
	HOLDS(hauli_place_enter(&plan->places[0], 0) == 0);
	haul_plan_destroy(plan);

	plan = plan_or_exit((struct haul_plan_opts){.carriers = 5});
	check_all_float(plan, 5);
	haul_plan_destroy(plan);

	plan = plan_or_exit((struct haul_plan_opts){.cpus = list});
	check_all_float(plan, 1);
	haul_plan_destroy(plan);
	haul_plan_destroy(bound);

	HOLDS(hauli_place_enter(&place, 0) == -EPERM);
}

START_TEST(binding_refused)
{
	in_child(refused_binding);
}
END_TEST

/* A described machine is planned as if binding were possible. */
static void refused_elsewhere(void)
{
	struct haul_plan *plan;

	refuse_binding();
	plan = plan_or_exit((struct haul_plan_opts){.machine = "l3:2 core:2 pu:1"});
	HOLDS(plan->clusters == 2 && plan->places[3].cpu == 3 && plan->notice[0] == '\0');
	haul_plan_destroy(plan);
}

START_TEST(binding_refused_but_machine_described)
{
	in_child(refused_elsewhere);
}
END_TEST

SUITE_MAIN("topo_usable", {mask_of_one_cpu, 1}, {list_outside_of_the_mask, 1},
	{isolated_only_by_number, 1}, {plan_made_by_a_pinned_thread, 1}, {planning_pins_nothing, 1},
	{binding_refused, 1}, {binding_refused_but_machine_described, 1})
