/* SPDX-License-Identifier: BSD-3-Clause */
#include "client.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <haul/base.h>

#include "text.h"

#define ANSWER 65536 /* bytes; DPDK's and haul's have at most 16 KB */
#define AGAIN_NS (20 * HAUL_MS) /* between two tries to connect while others wait, too */

__attribute__((format(printf, 2, 3))) static void fail(
	struct top_client *c, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(c->why, sizeof(c->why), format, ap);
	va_end(ap);
	top_text_clean(c->why);
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->state = TOP_FAILED;
}

static void connect_there(struct top_client *c)
{
	if (connect(c->fd, (const struct sockaddr *)&c->addr, sizeof(c->addr)) == 0) {
		c->state = TOP_GREETS;
		return;
	}
	if (errno == EAGAIN || errno == EINTR)
		return; /* its queue of clients is full */
	c->gone = errno == ENOENT || errno == ENOTDIR || errno == ECONNREFUSED;
	fail(c, "%s: %s", c->addr.sun_path, c->gone ? "nobody listens there" : strerror(errno));
}

void top_client_open(struct top_client *c, const char *path, uint64_t patience)
{
	*c = (struct top_client){
		.fd = -1, .patience = patience, .until = haul_in(patience), .state = TOP_CONNECTS};
	if (!path[0] || strlen(path) >= sizeof(c->addr.sun_path)) {
		fail(c, "%.60s: not the path of a socket", path);
		return;
	}
	c->addr.sun_family = AF_UNIX;
	memcpy(c->addr.sun_path, path, strlen(path) + 1);
	c->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fd < 0)
		fail(c, "%s: %s", path, strerror(errno));
	else
		connect_there(c);
}

void top_client_close(struct top_client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	json_decref(c->about);
	json_decref(c->answer);
	*c = (struct top_client){.fd = -1, .state = TOP_FAILED};
}

void top_client_ask(struct top_client *c, const char *command)
{
	snprintf(c->command, sizeof(c->command), "%s", command);
	if (send(c->fd, c->command, strlen(c->command), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		fail(c, "%s: the connection is lost: %s", c->addr.sun_path, strerror(errno));
		return;
	}
	c->until = haul_in(c->patience);
	c->state = TOP_ASKED;
}

json_t *top_client_take(struct top_client *c)
{
	json_t *answer = c->answer;

	c->answer = NULL;
	c->state = TOP_IDLE;
	return answer;
}

static const char *what(const struct top_client *c)
{
	return c->state == TOP_GREETS ? "its first words" : c->command;
}

/* False: the answer has not this form, or is not the one to this command. */
static bool take_values(struct top_client *c, json_t *tree)
{
	size_t n = strcspn(c->command, ",");
	char name[sizeof(c->command)];
	json_t *values;

	snprintf(name, sizeof(name), "%.*s", (int)n, c->command);
	values = json_object_get(tree, name);
	if (!values || (!json_is_object(values) && !json_is_null(values)))
		return false;
	c->answer = json_is_null(values) ? NULL : json_incref(values);
	c->state = TOP_ANSWERED;
	return true;
}

static bool take_about(struct top_client *c, json_t *tree)
{
	if (!json_is_integer(json_object_get(tree, "pid")))
		return false;
	c->about = json_incref(tree);
	c->state = TOP_IDLE;
	return true;
}

static void read_tree(struct top_client *c, const char *text, size_t n)
{
	json_error_t error;
	json_t *tree = json_loadb(text, n, 0, &error);
	bool taken = false;

	if (!tree) {
		fail(c, "%s: %s: %s", c->addr.sun_path, what(c),
			json_error_code(&error) == json_error_premature_end_of_input
				? "the answer is cut short"
				: "the answer is not JSON");
		return;
	}
	taken = c->state == TOP_GREETS ? take_about(c, tree) : take_values(c, tree);
	json_decref(tree);
	if (!taken)
		fail(c, "%s: %s: not an answer of telemetry", c->addr.sun_path, what(c));
}

static void receive(struct top_client *c)
{
	char text[ANSWER];
	struct iovec part = {text, sizeof(text)};
	struct msghdr msg = {.msg_iov = &part, .msg_iovlen = 1};
	ssize_t n = recvmsg(c->fd, &msg, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0)
		fail(c, "%s: the connection is lost: %s", c->addr.sun_path, strerror(errno));
	else if (n == 0)
		fail(c, "%s: the program has closed the connection", c->addr.sun_path);
	else if (msg.msg_flags & MSG_TRUNC)
		fail(c, "%s: %s: an answer of more than 64 KB", c->addr.sun_path, what(c));
	else if (c->state == TOP_IDLE)
		fail(c, "%s: an answer without a question", c->addr.sun_path);
	else
		read_tree(c, text, (size_t)n);
}

static bool waits(const struct top_client *c)
{
	return c->state == TOP_CONNECTS || c->state == TOP_GREETS || c->state == TOP_ASKED;
}

void top_client_step(struct top_client *c)
{
	char patience[16];

	if (c->state == TOP_CONNECTS)
		connect_there(c);
	if (c->state == TOP_GREETS || c->state == TOP_ASKED || c->state == TOP_IDLE)
		receive(c);
	if (waits(c) && haul_now() >= c->until) {
		top_text_time(patience, sizeof(patience), c->patience);
		fail(c, "%s: no answer for %s", c->addr.sun_path, patience);
	}
}

uint64_t top_client_events(const struct top_client *c, struct pollfd *fd)
{
	const uint64_t now = haul_now();
	uint64_t left = c->until > now ? c->until - now : 0;

	*fd = (struct pollfd){c->state == TOP_CONNECTS ? -1 : c->fd, POLLIN, 0};
	if (!waits(c))
		return HAUL_FOREVER;
	return c->state == TOP_CONNECTS && left > AGAIN_NS ? AGAIN_NS : left;
}
