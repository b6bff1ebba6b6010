/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/promises.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/faults.h"

#define CALLS_MAX 400
#define FAULTS_MAX 2000 /* of a call, which then has no end */
#define LEAKS 3 /* of the same call in a row */

char promises_line[256];

static struct faults due; /* at the next TRY() */
static unsigned failed; /* at the last one */
static const char *fault; /* the name of the call that failed */

static struct {
	const char *function;
	int error;
} seen[CALLS_MAX];
static unsigned nb_seen;

void promises_arm(void)
{
	promises_line[0] = '\0';
	faults_arm(due);
}

int promises_disarm(int err)
{
	failed = faults_disarm(&fault);
	return err;
}

static const struct promise *promise_of(const struct promises *p, const char *function)
{
	for (unsigned i = 0; i < p->nb_promises; i++)
		if (strcmp(p->promises[i].function, function) == 0)
			return &p->promises[i];
	ck_abort_msg("no header declares %s() as a function with errors", function);
}

static bool names(const struct promise *p, int error)
{
	for (unsigned i = 0; i < PROMISED_MAX && p->errors[i]; i++)
		if (p->errors[i] == error)
			return true;
	return false;
}

static bool was_seen(const char *function, int error)
{
	for (unsigned i = 0; i < nb_seen; i++)
		if (strcmp(seen[i].function, function) == 0 && seen[i].error == error)
			return true;
	return false;
}

static void note(const char *function, int error)
{
	if (was_seen(function, error))
		return;
	ck_assert_uint_lt(nb_seen, CALLS_MAX);
	seen[nb_seen].function = function;
	seen[nb_seen++].error = error;
}

static unsigned entries(const char *folder)
{
	DIR *d = opendir(folder);
	unsigned n = 0;

	ck_assert_ptr_nonnull(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

struct held {
	unsigned fds, threads;
	size_t mapped;
};

static struct held held(void)
{
	return (struct held){entries("/proc/self/fd"), entries("/proc/self/task"), faults_mapped()};
}

/* A joined thread may be in the list for a moment. */
static struct held held_without_threads(struct held before)
{
	struct held now = held();

	while (now.threads > before.threads) {
		sched_yield();
		now = held();
	}
	return now;
}

static int in_child(const struct call *c)
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(-c->make());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(
		WIFEXITED(status), "%s(), %s: status %x", c->function, c->what, (unsigned)status);
	return -WEXITSTATUS(status);
}

static int make_there(const struct promises *p, const struct call *c)
{
	if (c->where == IN_CHILD)
		return in_child(c);
	return c->where == ON_CARRIER ? p->on_carrier(c->make) : c->make();
}

static void check_line(const struct call *c, int err)
{
	const char *end = strchr(promises_line, '\n');

	ck_assert_msg(!end || end[1] == '\0', "%s(), %s, %s: more than one line: %s", c->function,
		c->what, strerrorname_np(-err), promises_line);
}

static int make_once(const struct promises *p, const struct call *c)
{
	const struct promise *promise = promise_of(p, c->function);
	int err;

	if (p->begin)
		p->begin();
	err = make_there(p, c);
	if (err < 0 && !(c->own && err == c->result)) {
		ck_assert_msg(names(promise, -err) || promise->open,
			"%s(), %s, fault %u (%s): haul/%s does not name -%s", c->function, c->what,
			due.nth, failed ? fault : "none", promise->header, strerrorname_np(-err));
		note(c->function, -err);
		check_line(c, err);
	}
	if (p->end)
		p->end();
	return err;
}

/* Makes the call with the fault that is due. A carrier that begins late, or DPDK, may map memory
 * meanwhile, once: a call that leaks does so again. */
static int make(const struct promises *p, const struct call *c)
{
	struct held before, now;
	int err;

	for (unsigned turn = 0; turn < LEAKS; turn++) {
		before = held();
		err = make_once(p, c);
		if (err >= 0 && c->stays)
			return err;
		now = held_without_threads(before);
		if (now.fds <= before.fds && now.mapped <= before.mapped)
			return err;
	}
	ck_abort_msg("%s(), %s, fault %u (%s) leaks: %u descriptors were %u, %zu bytes mapped %zu",
		c->function, c->what, due.nth, fault, now.fds, before.fds, now.mapped,
		before.mapped);
}

static void expect(const struct promises *p, const struct call *c, const char *when)
{
	int err;

	due = (struct faults){0};
	err = make(p, c);
	ck_assert_msg(err == c->result, "%s(), %s, %s: %d (%s), not %d: %s", c->function, c->what,
		when, err, err < 0 ? strerrorname_np(-err) : "", c->result, promises_line);
}

static void check_faults(const struct promises *p, const struct call *c, bool lasts)
{
	for (unsigned nth = 1; nth < FAULTS_MAX; nth++) {
		int err;

		due = (struct faults){nth, lasts};
		err = make(p, c);
		if (failed == 0)
			return;
		if (err < 0)
			expect(p, c, "repeated");
	}
	ck_abort_msg("%s(), %s: no end of faults", c->function, c->what);
}

void promises_check(const struct promises *p, unsigned i)
{
	const struct call *c = &p->calls[i];

	expect(p, c, "first");
	if (c->faults != NO_FAULTS && c->where != IN_CHILD)
		check_faults(p, c, false);
	if (c->faults == ALL_FAULTS && c->where != IN_CHILD)
		check_faults(p, c, true);
}

static bool is_of(const struct promises *p, const char *header)
{
	for (unsigned i = 0; i < p->nb_headers; i++)
		if (strcmp(p->headers[i], header) == 0)
			return true;
	return false;
}

static bool is_excused(const struct promises *p, const char *function, int error)
{
	for (unsigned i = 0; i < p->nb_unseen; i++)
		if (strcmp(p->unseen[i].function, function) == 0 &&
			(p->unseen[i].error == 0 || p->unseen[i].error == error))
			return true;
	return false;
}

void promises_check_all_seen(const struct promises *p)
{
	unsigned missing = 0;

	for (unsigned i = 0; i < p->nb_promises; i++) {
		const struct promise *one = &p->promises[i];

		if (!is_of(p, one->header))
			continue;
		for (unsigned e = 0; e < PROMISED_MAX && one->errors[e]; e++) {
			bool was = was_seen(one->function, one->errors[e]);
			bool excused = is_excused(p, one->function, one->errors[e]);

			if (!was && !excused)
				printf("# haul/%s: -%s of %s() was not seen\n", one->header,
					strerrorname_np(one->errors[e]), one->function);
			missing += !was && !excused;
		}
	}
	ck_assert_uint_eq(missing, 0);
}
