/* SPDX-License-Identifier: BSD-3-Clause */
#include "eal/restart.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK "HAUL_RESTARTED" /* the process's number, which its children do not have */
#define SELF "/proc/self/exe"

bool hauli_restart_was(void)
{
	const char *mark = getenv(MARK);

	return mark && atoi(mark) == getpid();
}

/* Calls fn for each open descriptor except the walk's own. 0 or -errno. */
static int walk_open(int (*fn)(int fd, void *arg), void *arg)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	int err = 0;

	if (!dir)
		return -errno;
	while (err == 0 && (entry = readdir(dir)) != NULL) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] != '.' && fd != dirfd(dir))
			err = fn(fd, arg);
	}
	closedir(dir);
	return err;
}

static int note(int fd, void *arg)
{
	struct hauli_restart *r = arg;
	size_t n = (size_t)fd + 1;
	bool *open;

	if (n > r->n) {
		open = realloc(r->open, n * sizeof(*open));
		if (!open)
			return -ENOMEM;
		memset(open + r->n, 0, (n - r->n) * sizeof(*open));
		r->open = open;
		r->n = n;
	}
	r->open[fd] = true;
	return 0;
}

int hauli_restart_init(struct hauli_restart *r)
{
	*r = (struct hauli_restart){0};
	return walk_open(note, r);
}

void hauli_restart_fini(struct hauli_restart *r)
{
	free(r->open);
	*r = (struct hauli_restart){0};
}

static int close_if_new(int fd, void *arg)
{
	const struct hauli_restart *r = arg;

	if ((size_t)fd >= r->n || !r->open[fd])
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	return 0;
}

/* Reads a file of unknown size. NULL without memory or file. */
static char *read_all(const char *path, size_t *len)
{
	FILE *in = fopen(path, "re");
	char *text = NULL;
	FILE *out = in ? open_memstream(&text, len) : NULL;
	int c;

	while (out && (c = getc(in)) != EOF)
		putc(c, out);
	if (out)
		fclose(out);
	if (in)
		fclose(in);
	return text;
}

/* The kernel's copy of the command line: the program may have reordered its argv. */
static char **split_words(char *text, size_t len)
{
	char **words = calloc(len + 1, sizeof(*words));
	size_t n = 0;

	for (size_t at = 0; words && at < len; at += strlen(text + at) + 1)
		words[n++] = text + at;
	return words;
}

/* By the program's path: exec() of /proc/self/exe itself would name the process "exe". */
static void execute(char **argv)
{
	char path[PATH_MAX];
	ssize_t n = readlink(SELF, path, sizeof(path) - 1);

	if (n > 0) {
		path[n] = '\0';
		execv(path, argv);
	}
	execv(SELF, argv);
}

int hauli_restart(struct hauli_restart *r)
{
	size_t len = 0;
	char *text = read_all("/proc/self/cmdline", &len);
	char **argv = text ? split_words(text, len) : NULL;
	char mark[16];
	int err = -ENOMEM;

	snprintf(mark, sizeof(mark), "%d", (int)getpid());
	if (argv && argv[0] && setenv(MARK, mark, 1) == 0 && walk_open(close_if_new, r) == 0) {
		execute(argv);
		err = -errno;
		unsetenv(MARK);
	}
	free(argv);
	free(text);
	return err;
}
