/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/socket_path.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <haul-dpdk/port.h>

static int check_length(
	const struct hauli_spec *spec, const char *path, char *errbuf, size_t errlen)
{
	const size_t most = sizeof(((struct sockaddr_un *)0)->sun_path) - 1;

	if (strlen(path) <= most)
		return 0;
	return hauli_spec_fail(spec, -ENAMETOOLONG, errbuf, errlen,
		"the socket path has more than %zu characters; choose a shorter one", most);
}

int hauli_socket_path_free(
	const struct hauli_spec *spec, const char *path, char *errbuf, size_t errlen)
{
	char copy[HAULI_SPEC_SIZE];
	struct stat st;
	const char *dir;
	int err = check_length(spec, path, errbuf, errlen);

	if (err < 0)
		return err;
	snprintf(copy, sizeof(copy), "%s", path);
	dir = dirname(copy);
	if (access(dir, W_OK | X_OK) < 0)
		return hauli_spec_fail(spec, -errno, errbuf, errlen,
			"no socket can be made in %s (%s); choose another directory", dir,
			strerror(errno));
	if (lstat(path, &st) < 0)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return hauli_spec_fail(spec, -EEXIST, errbuf, errlen,
			"%s exists and is no socket; choose another path", path);
	if (st.st_uid != geteuid())
		return hauli_spec_fail(spec, -EEXIST, errbuf, errlen,
			"%s belongs to another user; choose another path", path);
	err = haul_port_socket_look(path);
	if (err == 0)
		return hauli_spec_fail(spec, -EADDRINUSE, errbuf, errlen,
			"another program listens on %s; choose another path", path);
	if (err != -ECONNREFUSED || unlink(path) < 0)
		return hauli_spec_fail(spec, -EADDRINUSE, errbuf, errlen,
			"%s exists and cannot be removed (%s); choose another path", path,
			strerror(err != -ECONNREFUSED ? -err : errno));
	return 0;
}

int hauli_socket_path_taken(
	const struct hauli_spec *spec, const char *path, char *errbuf, size_t errlen)
{
	int err = check_length(spec, path, errbuf, errlen);

	if (err < 0)
		return err;
	err = haul_port_socket_look(path);
	if (err == -ENOENT || err == -ECONNREFUSED)
		return hauli_spec_fail(spec, err, errbuf, errlen,
			"nobody listens on %s; start the other side first", path);
	if (err < 0)
		return hauli_spec_fail(spec, err, errbuf, errlen, "%s cannot be connected to: %s",
			path, strerror(-err));
	return 0;
}

int hauli_socket_path_connecting(const struct hauli_spec *spec, char *errbuf, size_t errlen)
{
	if (!hauli_spec_get(spec, "mode"))
		return 0;
	return hauli_spec_fail(
		spec, -EINVAL, errbuf, errlen, "mode= is for the side that makes the socket");
}
