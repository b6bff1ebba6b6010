/* SPDX-License-Identifier: BSD-3-Clause */
#include "control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "console.h"

#define CLIENTS_MAX 16
#define SEND_BUFFER (4 << 20) /* bytes: a client that has so many unread is left */

static struct {
	int fd; /* -1: does not listen */
	struct sockaddr_un addr;
	struct client {
		int fd;
		struct fwd_console console;
	} * clients[CLIENTS_MAX];
} s = {.fd = -1};

static void drop(struct haul_app *app, struct client **slot)
{
	struct client *client = *slot;

	*slot = NULL;
	if (app)
		haul_app_watch(app, client->fd, NULL, NULL);
	fwd_console_fini(&client->console);
	close(client->fd);
	free(client);
}

static void read_client(struct haul_app *app, int fd, void *arg)
{
	struct client **slot = arg;
	char text[4096];
	ssize_t n = recv(fd, text, sizeof(text), MSG_DONTWAIT);

	if (n > 0)
		fwd_console_take(&(*slot)->console, text, (size_t)n);
	if ((n <= 0 && errno != EAGAIN && errno != EINTR) || n == 0 || (*slot)->console.gone)
		drop(app, slot);
}

static void accept_client(struct haul_app *app, int fd, void *arg)
{
	static const char full[] = "too many clients\n";
	int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	const int size = SEND_BUFFER;
	struct client **slot = NULL;

	if (client < 0)
		return;
	for (unsigned i = 0; i < CLIENTS_MAX && !slot; i++)
		if (!s.clients[i])
			slot = &s.clients[i];
	if (!slot) {
		(void)!write(client, full, sizeof(full) - 1);
		close(client);
		return;
	}
	*slot = calloc(1, sizeof(**slot));
	if (!*slot)
		abort();
	(*slot)->fd = client;
	setsockopt(client, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	fwd_console_init(&(*slot)->console, app, client, false);
	haul_app_watch(app, client, read_client, slot);
}

static int listen_at(const char *path)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err = fd < 0 ? errno : 0;

	/* Linux: the mode of what bind() makes. */
	if (!err && fchmod(fd, 0600) != 0)
		err = errno;
	if (!err && bind(fd, (const struct sockaddr *)&s.addr, sizeof(s.addr)) != 0)
		err = errno;
	if (!err && listen(fd, CLIENTS_MAX) != 0) {
		err = errno;
		unlink(path);
	}
	if (err && fd >= 0)
		close(fd);
	return err ? -err : fd;
}

/* Removes the socket of a crashed program. Returns why there can be none, or NULL. */
static const char *obstacle(const char *path)
{
	struct stat st;

	if (!path[0] || strlen(path) >= sizeof(s.addr.sun_path))
		return "give a path of 1 to 107 characters";
	if (lstat(path, &st) != 0)
		return NULL; /* bind() tells what is wrong with the directory */
	if (!S_ISSOCK(st.st_mode))
		return "it exists and is no socket; choose another path";
	if (st.st_uid != geteuid())
		return "it belongs to another user; choose another path";
	if (haul_port_socket_look(path) != -ECONNREFUSED)
		return "another program listens there; choose another path";
	return unlink(path) == 0 ? NULL : "it exists and cannot be removed; choose another path";
}

int fwd_control_open(struct haul_app *app, const char *path)
{
	const char *why = obstacle(path);

	if (why)
		return haul_app_wrong(app->program, "--control %s: %s", path, why);
	s.addr.sun_family = AF_UNIX;
	strcpy(s.addr.sun_path, path);
	s.fd = listen_at(path);
	if (s.fd >= 0) {
		haul_app_watch(app, s.fd, accept_client, NULL);
		return HAUL_APP_DONE;
	}
	return haul_app_wrong(
		app->program, "--control %s: cannot listen there: %s", path, strerror(-s.fd));
}

void fwd_control_close(void)
{
	for (unsigned i = 0; i < CLIENTS_MAX; i++)
		if (s.clients[i])
			drop(NULL, &s.clients[i]);
	if (s.fd < 0)
		return;
	close(s.fd);
	unlink(s.addr.sun_path);
	s.fd = -1;
}
