/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/listeners.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <systemd/sd-daemon.h>

#define SYSTEMD "systemd"

struct listener {
	char text[HAULI_LISTENER_TEXT]; /* the option and its value */
	int fd;
};

static struct listener offered[HAULI_LISTENERS], taken[HAULI_LISTENERS];
static unsigned nb_offered, nb_taken;
static unsigned used; /* a bit for each of the first descriptors of systemd's: an option has it */

static void describe(char text[HAULI_LISTENER_TEXT], const char *option, const char *value)
{
	snprintf(text, HAULI_LISTENER_TEXT, "%s %s", option, value);
}

bool haul_app_listener_is_systemd(const char *value)
{
	size_t n = strlen(SYSTEMD);

	return strncmp(value, SYSTEMD, n) == 0 && (value[n] == '\0' || value[n] == ':');
}

/* The only one of this name (NULL: of any), or -errno with a line. */
static int choose(char *const *names, int n, const char *name, char *errbuf, size_t errlen)
{
	char all[256] = "";
	int found = -1, matches = 0;

	for (int i = 0; i < n; i++) {
		size_t used_up = strlen(all);

		snprintf(all + used_up, sizeof(all) - used_up, "%s%s", i ? ", " : "", names[i]);
		if (name && strcmp(names[i], name) != 0)
			continue;
		found = i;
		matches++;
	}
	if (matches == 1)
		return found;
	if (n <= 0)
		snprintf(errbuf, errlen,
			"systemd has passed no socket; start it by a .socket unit, or by "
			"systemd-socket-activate");
	else if (matches == 0)
		snprintf(errbuf, errlen, "systemd has passed no socket of this name; there is: %s",
			all);
	else
		snprintf(errbuf, errlen,
			"systemd has passed %d such sockets; give systemd:NAME, and each one a "
			"name (FileDescriptorName=); there are: %s",
			matches, all);
	return -EINVAL;
}

static int prepare(int i, const char *name, char *errbuf, size_t errlen)
{
	int fd = SD_LISTEN_FDS_START + i, flags = fcntl(fd, F_GETFL);
	bool is_used = i < 32 && (used & 1u << i);

	if (is_used || sd_is_socket_inet(fd, AF_UNSPEC, SOCK_STREAM, 1, 0) <= 0) {
		snprintf(errbuf, errlen, "the socket %s of systemd's %s", name,
			is_used ? "is another option's"
				: "does not listen for TCP connections; its unit needs "
				  "ListenStream= and Accept=no");
		return -EINVAL;
	}
	if (fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	used |= i < 32 ? 1u << i : 0;
	return fd;
}

static int get_from_systemd(const char *value, char *errbuf, size_t errlen)
{
	const char *colon = strchr(value, ':');
	char **names = NULL;
	int n = sd_listen_fds_with_names(0, &names);
	int rc = choose(names, n, colon ? colon + 1 : NULL, errbuf, errlen);

	if (rc >= 0)
		rc = prepare(rc, names[rc], errbuf, errlen);
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return rc;
}

static int get_taken(const char *option, const char *value)
{
	char text[HAULI_LISTENER_TEXT];

	describe(text, option, value);
	for (unsigned i = 0; i < nb_taken; i++) {
		int fd = taken[i].fd;

		if (fd < 0 || strcmp(taken[i].text, text) != 0)
			continue;
		taken[i].fd = -1;
		return fd;
	}
	return -ENOENT;
}

int haul_app_listener_get(const char *option, const char *value, char *errbuf, size_t errlen)
{
	int fd = get_taken(option, value);

	if (fd == -ENOENT && haul_app_listener_is_systemd(value))
		fd = get_from_systemd(value, errbuf, errlen);
	if (fd >= 0)
		haul_app_listener_offer(option, value, fd);
	return fd;
}

void haul_app_listener_offer(const char *option, const char *value, int fd)
{
	if (nb_offered == HAULI_LISTENERS)
		return;
	describe(offered[nb_offered].text, option, value);
	offered[nb_offered++].fd = fd;
}

unsigned hauli_listeners_offered(
	char texts[HAULI_LISTENERS][HAULI_LISTENER_TEXT], int fds[HAULI_LISTENERS])
{
	for (unsigned i = 0; i < nb_offered; i++) {
		memcpy(texts[i], offered[i].text, HAULI_LISTENER_TEXT);
		fds[i] = offered[i].fd;
	}
	return nb_offered;
}

void hauli_listeners_taken(char texts[HAULI_LISTENERS][HAULI_LISTENER_TEXT],
	const int fds[HAULI_LISTENERS], unsigned n)
{
	for (nb_taken = 0; nb_taken < n; nb_taken++) {
		memcpy(taken[nb_taken].text, texts[nb_taken], HAULI_LISTENER_TEXT);
		taken[nb_taken].fd = fds[nb_taken];
	}
}

void hauli_listeners_end(void)
{
	while (nb_taken > 0) {
		int fd = taken[--nb_taken].fd;

		if (fd >= 0)
			close(fd);
	}
	nb_offered = 0;
}
