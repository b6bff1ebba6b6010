/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness/side.h"

#include <errno.h>
#include <fenv.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Operations of the warm-up before a single run; independent of n, so that the difference of two
 * single runs is operations only. */
#define WARM_UP 1000

static struct perf_once *current;

void perf_extra(const char *name, double value)
{
	struct perf_extra *e = current->extras;

	while (e < current->extras + current->nb_extras && strcmp(e->name, name) != 0)
		e++;
	if (e == current->extras + PERF_EXTRAS_MAX)
		return;
	if (e == current->extras + current->nb_extras)
		current->nb_extras++;
	snprintf(e->name, sizeof(e->name), "%s", name);
	e->value = value;
}

int perf_absent(uint64_t param)
{
	return -ENOENT;
}

bool perf_side_is_outside(const struct perf_case *c, const struct perf_side *s)
{
	return c->isolated || s->program;
}

const char *perf_side_program(const struct perf_case *c, const struct perf_side *s)
{
	static char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[len > 0 ? len : 0] = '\0';
	if (s->program) {
		char *slash = strrchr(path, '/');
		size_t dir = slash ? (size_t)(slash - path) + 1 : 0;

		snprintf(path + dir, sizeof(path) - dir, "%s", s->program);
	}
	return path;
}

/* Parses "ns=123 n=1000 name=value...": 0, or -1 for other text. */
static int parse_once(char *line, struct perf_once *once)
{
	char *save = NULL;

	for (char *word = strtok_r(line, " \n", &save); word; word = strtok_r(NULL, " \n", &save)) {
		char *equals = strchr(word, '=');

		if (!equals)
			return -1;
		*equals = '\0';
		if (strcmp(word, "ns") == 0)
			once->ns = strtoull(equals + 1, NULL, 10);
		else if (strcmp(word, "n") == 0)
			once->n = strtoull(equals + 1, NULL, 10);
		else
			perf_extra(word, strtod(equals + 1, NULL));
	}
	return once->n > 0 ? 0 : -1;
}

static int run_outside(
	const struct perf_case *c, const struct perf_side *s, uint64_t n, struct perf_once *once)
{
	const char *program = perf_side_program(c, s);
	char number[24], line[1024] = "";
	int out[2], status;
	FILE *in;
	pid_t child;

	snprintf(number, sizeof(number), "%" PRIu64, n);
	if (pipe(out) < 0)
		return -1;
	child = fork();
	if (child == 0) {
		dup2(out[1], STDOUT_FILENO);
		close(out[0]);
		close(out[1]);
		execl(program, program, "--once", c->name, s->name, number, (char *)NULL);
		fprintf(stderr, "%s: %s\n", program, strerror(errno));
		_exit(127);
	}
	close(out[1]);
	in = child > 0 ? fdopen(out[0], "r") : NULL;
	if (!in || !fgets(line, sizeof(line), in))
		line[0] = '\0';
	if (in)
		fclose(in);
	else
		close(out[0]);
	if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0 ||
		parse_once(line, once) < 0) {
		fprintf(stderr, "%s: %s --once %s %s %s failed\n", c->name, program, c->name,
			s->name, number);
		return -1;
	}
	return 0;
}

int perf_side_set_up(const struct perf_side *s, uint64_t param)
{
	feclearexcept(FE_ALL_EXCEPT);
	return s->setup ? s->setup(param) : 0;
}

int perf_side_run(
	const struct perf_case *c, const struct perf_side *s, uint64_t n, struct perf_once *once)
{
	current = once;
	if (perf_side_is_outside(c, s))
		return run_outside(c, s, n, once);
	once->n = n;
	feclearexcept(FE_ALL_EXCEPT);
	once->ns = s->run(n);
	return 0;
}

int perf_side_once(const struct perf_case *c, const struct perf_side *s, uint64_t n)
{
	uint64_t unit = c->unit ? c->unit : 1;
	struct perf_once once = {.n = n};
	int err;

	if (s->program) {
		fprintf(stderr, "%s: side %s is %s: run that\n", c->name, s->name, s->program);
		return 2;
	}
	current = &once;
	err = perf_side_set_up(s, c->param);
	if (err) {
		fprintf(stderr, "%s: %s: %s\n", c->name, s->name, strerror(-err));
		return 1;
	}
	if (!c->isolated)
		s->run(unit > WARM_UP ? unit : WARM_UP / unit * unit);
	once.ns = s->run(n);
	if (s->teardown)
		s->teardown();
	printf("ns=%" PRIu64 " n=%" PRIu64, once.ns, once.n);
	for (unsigned i = 0; i < once.nb_extras; i++)
		printf(" %s=%.9g", once.extras[i].name, once.extras[i].value);
	putchar('\n');
	return 0;
}
