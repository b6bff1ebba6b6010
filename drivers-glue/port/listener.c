/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "port/socket_path.h"

#define NAME "s" /* in the directory made for it */
#define MODE_DEFAULT 0600

struct hauli_listener {
	unsigned users;
	mode_t mode;
	bool published;
	dev_t dev; /* identity of the socket, once it is published */
	ino_t ino;
	/* The directory in which the PMD makes the socket. Removed when the socket has moved, and
	 * kept open until the end: the PMD unlinks a name in it, which no longer exists. */
	int dir;
	char made_in[HAULI_SPEC_SIZE + 16];
	char made_at[32];
	char path[HAULI_SPEC_SIZE];
};

static int parse_mode(
	struct hauli_listener *l, const struct hauli_spec *spec, char *errbuf, size_t errlen)
{
	const char *text = hauli_spec_get(spec, "mode");
	unsigned long mode;
	char *end;

	l->mode = MODE_DEFAULT;
	if (!text)
		return 0;
	mode = strtoul(text, &end, 8);
	if (text[0] < '0' || text[0] > '7' || *end || mode > 0777)
		return hauli_spec_fail(spec, -EINVAL, errbuf, errlen,
			"mode=%s is no mode like 0660, for those who may connect", text);
	l->mode = (mode_t)mode;
	return 0;
}

/* In the same directory, so that the socket can be moved, and gets the directory's group. */
static int make_dir(
	struct hauli_listener *l, const struct hauli_spec *spec, char *errbuf, size_t errlen)
{
	char copy[HAULI_SPEC_SIZE];

	snprintf(copy, sizeof(copy), "%s", l->path);
	snprintf(l->made_in, sizeof(l->made_in), "%s/.haul-XXXXXX", dirname(copy));
	if (!mkdtemp(l->made_in)) {
		l->made_in[0] = '\0';
		return hauli_spec_fail(spec, -errno, errbuf, errlen,
			"no directory can be made beside %s: %s", l->path, strerror(errno));
	}
	l->dir = open(l->made_in, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (l->dir < 0)
		return hauli_spec_fail(spec, -errno, errbuf, errlen, "%s cannot be opened: %s",
			l->made_in, strerror(errno));
	snprintf(l->made_at, sizeof(l->made_at), "/proc/self/fd/%d/" NAME, l->dir);
	return 0;
}

int hauli_listener_create(struct hauli_listener **out, const struct hauli_spec *spec,
	const char *path, char *errbuf, size_t errlen)
{
	struct hauli_listener *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return hauli_spec_fail(spec, -ENOMEM, errbuf, errlen, "no memory");
	l->users = 1;
	l->dir = -1;
	snprintf(l->path, sizeof(l->path), "%s", path);
	err = parse_mode(l, spec, errbuf, errlen);
	if (err == 0)
		err = hauli_socket_path_free(spec, path, errbuf, errlen);
	if (err == 0)
		err = make_dir(l, spec, errbuf, errlen);
	if (err == 0)
		*out = l;
	else
		hauli_listener_destroy(l);
	return err;
}

struct hauli_listener *hauli_listener_share(struct hauli_listener *l)
{
	l->users++;
	return l;
}

const char *hauli_listener_made_at(const struct hauli_listener *l)
{
	return l->made_at;
}

int hauli_listener_publish(
	struct hauli_listener *l, const struct hauli_spec *spec, char *errbuf, size_t errlen)
{
	struct stat st;

	if (l->published)
		return 0;
	if (fchmodat(l->dir, NAME, l->mode, 0) < 0 || fstatat(l->dir, NAME, &st, 0) < 0 ||
		renameat2(l->dir, NAME, AT_FDCWD, l->path, RENAME_NOREPLACE) < 0)
		return hauli_spec_fail(spec, -errno, errbuf, errlen,
			"no socket can be put at %s: %s; choose another path", l->path,
			strerror(errno));
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	l->published = true;
	(void)rmdir(l->made_in);
	return 0;
}

void hauli_listener_withdraw(struct hauli_listener *l)
{
	struct stat st;

	if (l->users == 1 && l->published && lstat(l->path, &st) == 0 && st.st_dev == l->dev &&
		st.st_ino == l->ino)
		(void)unlink(l->path);
}

void hauli_listener_destroy(struct hauli_listener *l)
{
	if (!l || --l->users > 0)
		return;
	if (!l->published && l->made_in[0]) {
		if (l->dir >= 0)
			(void)unlinkat(l->dir, NAME, 0);
		(void)rmdir(l->made_in);
	}
	if (l->dir >= 0)
		close(l->dir);
	free(l);
}
