/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/runs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/forks.h"
#include "conc/word.h"
#include "sim/real.h"

#define OUTCOME "HAUL_SIM_OUTCOME" /* its descriptor, in the environment */
#define GRACE_S 10 /* for a run that does not end itself at its limit */

static struct hauli_u32_published signalled; /* by a handler */

static sigset_t before; /* signals that were blocked */

static void interrupt(int sig)
{
	hauli_u32_published_set(&signalled, (uint32_t)sig);
}

bool hauli_sim_interrupted(void)
{
	return hauli_u32_published_get(&signalled) != 0;
}

static struct hauli_sim_outcome *map(int file)
{
	void *out = mmap(NULL, sizeof(struct hauli_sim_outcome), PROT_READ | PROT_WRITE, MAP_SHARED,
		file, 0);

	return out != MAP_FAILED ? out : NULL;
}

static int init_slot(struct hauli_sim_slot *s)
{
	s->shared = memfd_create("outcome", MFD_CLOEXEC);
	if (s->shared < 0 || ftruncate(s->shared, sizeof(*s->out)) != 0)
		return -errno;
	s->out = map(s->shared);
	s->output = memfd_create("output", MFD_CLOEXEC);
	return !s->out || s->output < 0 ? -errno : 0;
}

int hauli_sim_runs_init(struct hauli_sim_runs *runs, unsigned n)
{
	const struct sigaction sa = {.sa_handler = interrupt};
	sigset_t child;
	int rc = 0;

	runs->busy = 0;
	runs->n = n;
	runs->slots = calloc(n, sizeof(runs->slots[0]));
	if (!runs->slots)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++)
		runs->slots[i].output = runs->slots[i].shared = -1;
	for (unsigned i = 0; i < n && rc == 0; i++)
		rc = init_slot(&runs->slots[i]);
	if (rc) {
		hauli_sim_runs_fini(runs);
		return rc;
	}
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &before);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	return 0;
}

void hauli_sim_runs_fini(struct hauli_sim_runs *runs)
{
	hauli_sim_runs_kill(runs);
	for (unsigned i = 0; i < runs->n; i++) {
		if (runs->slots[i].output >= 0)
			close(runs->slots[i].output);
		if (runs->slots[i].shared >= 0)
			close(runs->slots[i].shared);
		if (runs->slots[i].out)
			munmap(runs->slots[i].out, sizeof(*runs->slots[i].out));
	}
	free(runs->slots);
	runs->slots = NULL;
	runs->n = 0;
}

struct hauli_sim_slot *hauli_sim_runs_free(struct hauli_sim_runs *runs)
{
	for (unsigned i = 0; i < runs->n; i++)
		if (runs->slots[i].pid == 0)
			return &runs->slots[i];
	return NULL;
}

/* The program itself, with --seed. */
static __attribute__((noreturn)) void start_anew(const struct hauli_sim_slot *s)
{
	const struct hauli_sim_spec *spec = &s->spec;
	char seed[32], steps[32], limit[32], file[32];
	const char *const argv[] = {spec->anew, "--test", spec->test->name, "--seed", seed,
		"--steps", steps, "--limit", limit, spec->faults ? "--faults" : NULL, spec->faults,
		NULL};

	snprintf(seed, sizeof(seed), "%" PRIu64, spec->seed);
	snprintf(steps, sizeof(steps), "%u", spec->steps);
	snprintf(limit, sizeof(limit), "%u", spec->real_s);
	snprintf(file, sizeof(file), "%d", s->shared);
	setenv(OUTCOME, file, 1);
	fcntl(s->shared, F_SETFD, 0);
	execv("/proc/self/exe", (char *const *)(uintptr_t)argv);
	perror("/proc/self/exe");
	_exit(1);
}

struct hauli_sim_outcome *hauli_sim_runs_adopt(void)
{
	const char *file = getenv(OUTCOME);
	struct hauli_sim_outcome *out = NULL;

	if (file) {
		out = map(atoi(file));
		close(atoi(file));
		unsetenv(OUTCOME);
	}
	return out;
}

/* In a child, which has mapped what it needs: its test may take any number of descriptors. */
static void close_slots(const struct hauli_sim_runs *runs)
{
	for (unsigned i = 0; i < runs->n; i++) {
		close(runs->slots[i].shared);
		close(runs->slots[i].output);
	}
}

static __attribute__((noreturn)) void child(
	const struct hauli_sim_runs *runs, const struct hauli_sim_slot *s, pid_t parent)
{
	const struct rlimit none = {0, 0};

	/* Nothing of haul's was started before: this is as in a process that starts anew. */
	hauli_forks = 0;
	/* The parent decides what comes of an interrupt; and none outlives it. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN); /* it may come to the whole group */
	sigprocmask(SIG_SETMASK, &before, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	setrlimit(RLIMIT_CORE, &none);
	dup2(s->output, STDOUT_FILENO);
	dup2(s->output, STDERR_FILENO);
	if (s->spec.anew)
		start_anew(s);
	close_slots(runs);
	hauli_sim_run_here(&s->spec, s->out, true);
	fflush(NULL);
	_exit(0);
}

int hauli_sim_runs_begin(struct hauli_sim_runs *runs, struct hauli_sim_slot *s,
	const struct hauli_sim_spec *spec, const struct hauli_sim_marks *marks)
{
	pid_t parent = getpid(), pid;

	s->spec = *spec;
	memset(s->out, 0, sizeof(*s->out));
	if (marks)
		s->out->marks = *marks;
	if (ftruncate(s->output, 0) != 0 || lseek(s->output, 0, SEEK_SET) != 0)
		return -errno;
	s->began = hauli_sim_real_ns();
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		child(runs, s, parent);
	if (pid < 0)
		return -errno;
	s->pid = pid;
	runs->busy++;
	return 0;
}

/* A run that has not said how it ended. */
static void note_status(struct hauli_sim_slot *s, int status)
{
	if (s->out->how != HAULI_SIM_UNKNOWN)
		return;
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) {
		s->out->how = HAULI_SIM_SIGNAL;
		s->out->number = WTERMSIG(status);
		strcpy(s->out->text, "a thread that is not known");
	} else if (WIFSIGNALED(status)) {
		s->out->number = SIGKILL;
	} else {
		s->out->how = HAULI_SIM_EXIT;
		s->out->number = WEXITSTATUS(status);
		strcpy(s->out->text, "a thread that is not known");
	}
}

static bool has_ended(struct hauli_sim_slot *s)
{
	uint64_t limit = (s->spec.real_s + GRACE_S) * HAUL_S;
	int status;

	if (waitpid(s->pid, &status, WNOHANG) == s->pid) {
		note_status(s, status);
		return true;
	}
	if (s->spec.real_s > 0 && hauli_sim_real_ns() - s->began > limit)
		kill(s->pid, SIGKILL);
	return false;
}

struct hauli_sim_slot *hauli_sim_runs_wait(struct hauli_sim_runs *runs, unsigned ms)
{
	const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (bool waited = false;; waited = true) {
		for (unsigned i = 0; i < runs->n; i++) {
			struct hauli_sim_slot *s = &runs->slots[i];

			if (s->pid == 0 || !has_ended(s))
				continue;
			s->pid = 0;
			runs->busy--;
			return s;
		}
		if (waited)
			return NULL;
		(void)sigtimedwait(&child, NULL, &t);
	}
}

void hauli_sim_runs_kill(struct hauli_sim_runs *runs)
{
	for (unsigned i = 0; i < runs->n; i++) {
		if (runs->slots[i].pid == 0)
			continue;
		kill(runs->slots[i].pid, SIGKILL);
		waitpid(runs->slots[i].pid, NULL, 0);
		runs->slots[i].pid = 0;
	}
	runs->busy = 0;
}

bool hauli_sim_runs_one(struct hauli_sim_runs *runs, struct hauli_sim_slot *slot,
	const struct hauli_sim_spec *spec, const struct hauli_sim_marks *marks)
{
	if (hauli_sim_runs_begin(runs, slot, spec, marks) != 0)
		return false;
	while (!hauli_sim_interrupted())
		if (hauli_sim_runs_wait(runs, 200) == slot)
			return true;
	return false;
}

void hauli_sim_slot_print(const struct hauli_sim_slot *slot, unsigned lines)
{
	off_t size = lseek(slot->output, 0, SEEK_END);
	char *text, *at, *end;

	if (size <= 0)
		return;
	text = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, slot->output, 0);
	if (text == MAP_FAILED)
		return;
	end = text + size;
	at = end;
	while (at > text && (at == end || at[-1] != '\n' || --lines > 0))
		at--;
	fwrite(at, 1, (size_t)(end - at), stderr);
	if (end[-1] != '\n')
		fputs("\n", stderr);
	munmap(text, (size_t)size);
}
