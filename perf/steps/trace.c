/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define WORST (sizeof(((struct trace *)0)->worst_us) / sizeof(double))

static const char *const names[CAUSES] = {
	[CAUSE_SWITCHED] = "another thread ran",
	[CAUSE_FAULT] = "page faults",
	[CAUSE_STOLEN] = "the host or an interrupt",
	[CAUSE_REST] = "none of these",
};

static uint64_t cpu_ns(void)
{
	struct timespec at;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
	return (uint64_t)at.tv_sec * UINT64_C(1000000000) + (uint64_t)at.tv_nsec;
}

/* The time for which the thread was ready to run and did not, by the kernel's schedstat. */
static uint64_t delay_ns(void)
{
	unsigned long long ran, waited = 0;
	char text[96] = "";
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) > 0)
		(void)sscanf(text, "%llu %llu", &ran, &waited);
	close(fd);
	return waited;
}

static void note(struct trace *t)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	t->switches = (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
	t->faults = (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
	t->cpu_ns = cpu_ns();
	t->ticks = hauli_ticks();
}

void trace_begin(struct trace *t)
{
	*t = (struct trace){.delay_ns = delay_ns()};
	note(t);
}

static void keep_worst(struct trace *t, double us, uint64_t work)
{
	unsigned least = 0;

	for (unsigned i = 1; i < WORST; i++)
		if (t->worst_us[i] < t->worst_us[least])
			least = i;
	if (us <= t->worst_us[least])
		return;
	t->worst_us[least] = us;
	t->worst_work[least] = work;
}

double trace_step(struct trace *t, uint64_t work)
{
	const struct trace before = *t;
	double us = (double)hauli_ns_from_ticks(hauli_ticks() - before.ticks) / 1000;
	enum cause cause = CAUSE_REST;

	note(t);
	t->steps++;
	if (t->switches != before.switches)
		cause = CAUSE_SWITCHED;
	else if (t->faults != before.faults)
		cause = CAUSE_FAULT;
	else if ((double)(t->cpu_ns - before.cpu_ns) / 1000 < us * 3 / 4)
		cause = CAUSE_STOLEN;
	t->over_5[cause] += us > TRACE_LONG_US;
	t->over_20[cause] += us > TRACE_VERY_LONG_US;
	if (us > t->longest_us[cause])
		t->longest_us[cause] = us;
	if (cause == CAUSE_SWITCHED) {
		uint64_t now = delay_ns();

		t->run_delay_ns += now - t->delay_ns;
		t->delay_ns = now;
		note(t);
	}
	if (cause == CAUSE_REST)
		keep_worst(t, us, work);
	return us;
}

static int by_time(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x < *y) - (*x > *y);
}

void trace_print(const struct trace *t, const char *name, const char *work)
{
	struct {
		double us;
		uint64_t work;
	} worst[WORST];

	printf("\n%s: %lu steps\n  %-26s %9s %9s %12s\n", name, t->steps, "", "> 5 us", "> 20 us",
		"longest, us");
	for (unsigned i = 0; i < CAUSES; i++)
		printf("  %-26s %9lu %9lu %12.1f\n", names[i], t->over_5[i], t->over_20[i],
			t->longest_us[i]);
	printf("  waits for a CPU: %.1f ms; the longest of the last row, and %s:",
		(double)t->run_delay_ns / 1e6, work);
	for (unsigned i = 0; i < WORST; i++) {
		worst[i].us = t->worst_us[i];
		worst[i].work = t->worst_work[i];
	}
	qsort(worst, WORST, sizeof(worst[0]), by_time);
	for (unsigned i = 0; i < WORST / 2; i++)
		printf(" %.1f/%lu", worst[i].us, worst[i].work);
	printf("\n");
}
