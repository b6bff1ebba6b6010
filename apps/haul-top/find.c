/* SPDX-License-Identifier: BSD-3-Clause */
#include "find.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <haul/base.h>

#include "text.h"

#define NAME "/dpdk_telemetry.v2"
#define SOCKETS "/dpdk/*" NAME "*"

/* A socket can be found in two ways: /var/run is /run. */
static bool is_known(const struct top_find *f, const struct stat *st)
{
	struct stat other;

	for (unsigned i = 0; i < f->n; i++)
		if (stat(f->clients[i].addr.sun_path, &other) == 0 && other.st_dev == st->st_dev &&
			other.st_ino == st->st_ino)
			return true;
	return false;
}

static void add(struct top_find *f, const char *path, uint64_t patience)
{
	struct stat st;

	if (f->n == TOP_FIND_MAX || stat(path, &st) != 0 || !S_ISSOCK(st.st_mode) ||
		is_known(f, &st))
		return;
	top_client_open(&f->clients[f->n], path, patience);
	f->n++;
}

static void add_all(struct top_find *f, const char *base, uint64_t patience)
{
	char pattern[512];
	glob_t found;

	if (!base || snprintf(pattern, sizeof(pattern), "%s" SOCKETS, base) >= (int)sizeof(pattern))
		return;
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			add(f, found.gl_pathv[i], patience);
	globfree(&found);
}

/* Sockets in other places, as the kernel has them: those of this network namespace. */
static void add_others(struct top_find *f, uint64_t patience)
{
	FILE *file = fopen("/proc/net/unix", "re");
	char line[512];

	while (file && fgets(line, sizeof(line), file)) {
		char *path = strchr(line, '/');

		line[strcspn(line, "\n")] = '\0';
		if (path && strstr(path, NAME))
			add(f, path, patience);
	}
	if (file)
		fclose(file);
}

/* Where EAL and haul-app put sockets: for services, for root, for users, and without any of these
 * places; then all others. */
void top_find_begin(struct top_find *f, uint64_t patience)
{
	f->n = f->nb = 0;
	f->clients = calloc(TOP_FIND_MAX, sizeof(f->clients[0]));
	if (!f->clients)
		abort();
	add_all(f, getenv("RUNTIME_DIRECTORY"), patience);
	add_all(f, getenv("XDG_RUNTIME_DIR"), patience);
	add_all(f, "/var/run", patience);
	add_all(f, "/var/run/*", patience);
	add_all(f, "/var/run/user/*", patience);
	add_all(f, "/tmp", patience);
	add_others(f, patience);
}

/* Program names of others go to the screen, too. */
static void copy(char *to, size_t len, const char *from)
{
	snprintf(to, len, "%s", from ? from : "");
	top_text_clean(to);
}

/* The name of a process. */
static void name_of(struct top_program *p)
{
	char path[64], name[sizeof(p->name)] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%lld/comm", (long long)p->pid);
	file = fopen(path, "re");
	if (file && fgets(name, sizeof(name), file))
		name[strcspn(name, "\n")] = '\0';
	if (file)
		fclose(file);
	copy(p->name, sizeof(p->name), name[0] ? name : "?");
}

static void prefix_of(struct top_program *p)
{
	const char *end = strrchr(p->path, '/'), *begin = end;

	while (begin && begin > p->path && begin[-1] != '/')
		begin--;
	if (begin)
		snprintf(p->prefix, sizeof(p->prefix), "%.*s", (int)(end - begin), begin);
}

static struct top_program *add_program(struct top_find *f, const struct top_client *c)
{
	struct top_program *p = &f->programs[f->nb++];

	*p = (struct top_program){.pid = json_integer_value(json_object_get(c->about, "pid"))};
	snprintf(p->path, sizeof(p->path), "%s", c->addr.sun_path);
	prefix_of(p);
	return p;
}

static void take(struct top_find *f, struct top_client *c)
{
	json_t *info = top_client_take(c);
	const char *name = json_string_value(json_object_get(info, "program"));
	const char *error = json_string_value(json_object_get(info, "error"));
	struct top_program *p =
		info ? add_program(f, c) : NULL; /* else a DPDK program without haul */

	if (!p)
		return;
	if (name)
		copy(p->name, sizeof(p->name), name);
	else
		name_of(p);
	copy(p->why, sizeof(p->why), error);
	p->uptime_ns = (uint64_t)json_integer_value(json_object_get(info, "uptime_ns"));
	json_decref(info);
}

/* True: it has said all, or will not. */
static bool step(struct top_find *f, struct top_client *c)
{
	if (c->fd < 0)
		return true;
	top_client_step(c);
	if (c->state == TOP_IDLE)
		top_client_ask(c, "/haul/info");
	if (c->state == TOP_ANSWERED)
		take(f, c);
	else if (c->state == TOP_FAILED && !c->gone)
		copy(add_program(f, c)->why, sizeof(c->why), c->why);
	else if (c->state != TOP_FAILED)
		return false;
	top_client_close(c);
	return true;
}

static int by_pid(const void *x, const void *y)
{
	const struct top_program *a = x, *b = y;

	return a->pid != b->pid ? (a->pid > b->pid) - (a->pid < b->pid) : strcmp(a->path, b->path);
}

bool top_find_step(struct top_find *f)
{
	bool all = true;

	for (unsigned i = 0; i < f->n; i++)
		all = step(f, &f->clients[i]) && all;
	if (all)
		qsort(f->programs, f->nb, sizeof(f->programs[0]), by_pid);
	return all;
}

uint64_t top_find_events(const struct top_find *f, struct pollfd *fds, unsigned *n)
{
	uint64_t least = HAUL_FOREVER;

	*n = 0;
	for (unsigned i = 0; i < f->n; i++) {
		uint64_t ns = HAUL_FOREVER;

		if (f->clients[i].fd >= 0)
			ns = top_client_events(&f->clients[i], &fds[(*n)++]);
		least = ns < least ? ns : least;
	}
	return least;
}

void top_find_end(struct top_find *f)
{
	for (unsigned i = 0; i < f->n; i++)
		top_client_close(&f->clients[i]);
	free(f->clients);
	f->clients = NULL;
	f->n = 0;
}

bool top_choice_has(const struct top_choice *choice, const struct top_program *p)
{
	return (!choice->pid || (uint64_t)p->pid == choice->pid) &&
		(!choice->path || strcmp(choice->path, p->path) == 0) &&
		(!choice->name || strcmp(choice->name, p->name) == 0 ||
			strcmp(choice->name, p->prefix) == 0);
}

static void say_several(
	const struct top_find *f, const struct top_choice *choice, char *why, size_t len)
{
	size_t n = (size_t)snprintf(why, len, "several programs run: choose by --pid:");

	for (unsigned i = 0; i < f->nb && n < len; i++)
		if (!f->programs[i].why[0] && top_choice_has(choice, &f->programs[i]))
			n += (size_t)snprintf(why + n, len - n, " %lld (%s)",
				(long long)f->programs[i].pid, f->programs[i].name);
}

static void say_none(
	const struct top_find *f, const struct top_choice *choice, char *why, size_t len)
{
	for (unsigned i = 0; i < f->nb; i++)
		if (top_choice_has(choice, &f->programs[i])) {
			snprintf(why, len, "%s", f->programs[i].why);
			return;
		}
	if (choice->pid)
		snprintf(why, len, "no program of haul has the pid %llu, or it is another user's",
			(unsigned long long)choice->pid);
	else if (choice->name)
		snprintf(why, len, "no program %.60s runs, or it is another user's", choice->name);
	else
		snprintf(why, len, "no program of haul runs, or it is another user's");
}

const struct top_program *top_find_choose(
	const struct top_find *f, const struct top_choice *choice, char *why, size_t len)
{
	const struct top_program *found = NULL;

	for (unsigned i = 0; i < f->nb; i++) {
		const struct top_program *p = &f->programs[i];

		if (p->why[0] || !top_choice_has(choice, p))
			continue;
		if (found) {
			say_several(f, choice, why, len);
			return NULL;
		}
		found = p;
	}
	if (!found)
		say_none(f, choice, why, len);
	return found;
}
