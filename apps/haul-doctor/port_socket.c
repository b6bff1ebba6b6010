/* SPDX-License-Identifier: BSD-3-Clause */
/* memif:, vhost: and virtio-user: ports, which meet their other end at a Unix socket. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <haul-dpdk/port.h>

#include "port.h"

#define VHOST_NET "/dev/vhost-net"
#define PATH_MOST (sizeof(((struct sockaddr_un *)0)->sun_path) - 1)

static void say_listens(const char *path, struct doctor_finding *finding)
{
	int err = haul_port_socket_look(path);

	if (err == 0) {
		doctor_say(finding, DOCTOR_OK, "a program listens on %s", path);
	} else if (err == -ENOENT || err == -ECONNREFUSED) {
		doctor_say(finding, DOCTOR_PROBLEM, "no program listens on %s", path);
		doctor_todo(finding, "start the other side first");
	} else {
		doctor_say(finding, DOCTOR_PROBLEM, "%s cannot be connected to: %s", path,
			strerror(-err));
		doctor_todo(finding, "%s",
			err == -EACCES ? "run as the user of the other side, or let it make the "
					 "socket with mode=0660"
				       : "choose another path");
	}
}

static void say_can_listen(const char *path, struct doctor_finding *finding)
{
	char copy[PORT_SPEC_SIZE];
	struct stat st;
	const char *dir;

	snprintf(copy, sizeof(copy), "%s", path);
	dir = dirname(copy);
	if (access(dir, W_OK | X_OK) < 0) {
		int err = errno;

		doctor_say(finding, DOCTOR_PROBLEM, "no socket can be made in %s: %s", dir,
			strerror(err));
		if (err == ENOENT)
			doctor_todo(finding, "mkdir -p %s", dir);
		else
			doctor_todo(finding, "choose another directory");
	} else if (lstat(path, &st) < 0) {
		doctor_say(finding, DOCTOR_OK, "%s can be made", path);
	} else if (!S_ISSOCK(st.st_mode)) {
		doctor_say(finding, DOCTOR_PROBLEM, "%s exists and is no socket", path);
		doctor_todo(finding, "choose another path");
	} else if (haul_port_socket_look(path) == -ECONNREFUSED) {
		doctor_say(finding, DOCTOR_OK, "%s is left by a program that has ended", path);
	} else {
		doctor_say(finding, DOCTOR_PROBLEM, "another program listens on %s", path);
		doctor_todo(finding, "choose another path");
	}
}

static bool is_yes(const char *value)
{
	return value && strcmp(value, "1") == 0;
}

static bool is_kernel_vhost(const char *path)
{
	return path && strcmp(path, VHOST_NET) == 0;
}

void port_vhost_net(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	const char *path = port_spec_get(subject->port, "path");
	int fd;

	if (!path)
		return;
	if (!is_kernel_vhost(path)) {
		say_listens(path, finding);
		return;
	}
	fd = open(VHOST_NET, O_RDWR | O_CLOEXEC);
	if (fd >= 0) {
		close(fd);
		doctor_say(finding, DOCTOR_OK, VHOST_NET " can be opened");
		return;
	}
	doctor_say(finding, DOCTOR_PROBLEM, VHOST_NET ": %s", strerror(errno));
	if (access(VHOST_NET, F_OK) < 0)
		doctor_todo_root(finding, "modprobe vhost_net, or use tap:");
	else
		doctor_todo(finding, "sudo haul-fwd ..., or use tap:");
}

void port_vhost_net_tun(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	if (is_kernel_vhost(port_spec_get(subject->port, "path")))
		doctor_tun(subject, finding);
}

void port_vhost_net_capabilities(
	const struct doctor_subject *subject, struct doctor_finding *finding)
{
	if (is_kernel_vhost(port_spec_get(subject->port, "path")))
		port_tap_capabilities(subject, finding);
}

void port_socket(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	const struct doctor_port *port = subject->port;
	const char *path = port_spec_get(port, "socket");
	const char *role = port_spec_get(port, "role");
	bool connects = strcmp(port->kind, "virtio-user") == 0 ||
		is_yes(port_spec_get(port, "client")) || (role && strcmp(role, "client") == 0);

	if (!port->whole)
		return;
	if (strcmp(port->kind, "memif") != 0) {
		path = port_spec_main(port);
	} else if (!role || !path || path[0] != '/' || (!connects && strcmp(role, "server") != 0)) {
		doctor_say(finding, DOCTOR_PROBLEM, "role= and socket=/PATH are needed");
		doctor_todo(finding, "memif:role=server|client,socket=/PATH");
		return;
	}
	if (strlen(path) > PATH_MOST) {
		doctor_say(finding, DOCTOR_PROBLEM, "the path has more than %zu characters",
			PATH_MOST);
		doctor_todo(finding, "choose a shorter path");
	} else if (connects && is_kernel_vhost(path)) {
		doctor_say(finding, DOCTOR_PROBLEM, "%s is no socket", path);
		doctor_todo(finding, "use net_virtio_user0,path=" VHOST_NET ", or tap:");
	} else if (!connects) {
		say_can_listen(path, finding);
	} else if (is_yes(port_spec_get(port, "client"))) {
		/* vhost connects when it can. */
		doctor_say(finding, DOCTOR_OK,
			haul_port_socket_look(path) == 0 ? "a program listens on %s"
							 : "waits for a program on %s",
			path);
	} else {
		say_listens(path, finding);
	}
}
