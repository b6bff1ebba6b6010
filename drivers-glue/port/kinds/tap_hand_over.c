/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue of a TAP is an open file, which another process may have, too: packets wait in it until
 * somebody reads them. The PMD of the one that takes the port opens files of its own, of an
 * interface of the same name in a network namespace of its own, as one more queue of the true
 * interface would get packets. Then each of its descriptors becomes one of the other's queues; its
 * sockets, by which it sets the interface's flags, become sockets of the true namespace. The PMD of
 * the one that hands over sets the interface down when it is closed: its sockets become such of an
 * empty namespace before.
 *
 * While nobody polls, packets wait in the interface's queue, so a new interface gets a longer one.
 * It is not changed later: the kernel drops packets while it changes that.
 */
#include "port/kinds/tap_hand_over.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/kcmp.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "linux/iface.h"
#include "linux/sockets.h"

#define BACKLOG 8192u /* packets: 80 ms at 100,000 a second */

enum { DOMAINS = 2, SOCKETS = 8 };
static const int domains[DOMAINS] = {
	AF_INET, AF_NETLINK}; /* of the PMD's sockets, by its version */

struct tap {
	struct hauli_sockets before[DOMAINS], made[DOMAINS];
	int blank[SOCKETS]; /* to become those that the PMD has made, in this order */
	unsigned nb_blank;
	bool is_new; /* the interface is made here, and may be handed over */
};

int hauli_tap_taken_begin(struct haul_port *port)
{
	const struct haul_port_offer *o = port->opts.offer;
	struct tap *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	port->own = t;
	t->is_new = port->opts.hand_over && !o && hauli_iface_index(port->spec.main) == 0;
	for (unsigned i = 0; i < DOMAINS; i++)
		hauli_sockets_list(&t->before[i], domains[i]);
	if (o)
		hauli_vdev_args(&port->vdevs[0], ",mac=%02x:%02x:%02x:%02x:%02x:%02x", o->mac[0],
			o->mac[1], o->mac[2], o->mac[3], o->mac[4], o->mac[5]);
	return 0;
}

void hauli_tap_taken_ready(struct haul_port *port)
{
	struct tap *t = port->own;

	for (unsigned i = 0; t && i < DOMAINS; i++) {
		hauli_sockets_list(&t->made[i], domains[i]);
		hauli_sockets_subtract(&t->made[i], &t->before[i]);
	}
	if (t && t->is_new && hauli_iface_backlog(port->iface) < BACKLOG)
		(void)hauli_iface_set_backlog(port->iface, BACKLOG);
}

static void close_blanks(struct tap *t)
{
	while (t->nb_blank > 0)
		close(t->blank[--t->nb_blank]);
}

void hauli_tap_taken_end(struct haul_port *port)
{
	struct tap *t = port->own;

	if (!t)
		return;
	close_blanks(t);
	for (unsigned i = 0; i < DOMAINS; i++) {
		hauli_sockets_free(&t->before[i]);
		hauli_sockets_free(&t->made[i]);
	}
	free(t);
	port->own = NULL;
}

/* A socket like fd, of the namespace of this thread. Returns -errno. */
static int socket_like(int fd)
{
	const struct sockaddr_nl any = {.nl_family = AF_NETLINK};
	int values[3], names[] = {SO_DOMAIN, SO_TYPE, SO_PROTOCOL}, made;

	for (int i = 0; i < 3; i++) {
		socklen_t len = sizeof(values[i]);

		if (getsockopt(fd, SOL_SOCKET, names[i], &values[i], &len) < 0)
			return -errno;
	}
	made = socket(values[0], values[1] | SOCK_CLOEXEC, values[2]);
	if (made < 0)
		return -errno;
	if (values[0] == AF_NETLINK)
		(void)bind(made, (const struct sockaddr *)&any, sizeof(any));
	return made;
}

static int make_blanks(struct haul_port *port, char *errbuf, size_t errlen)
{
	struct tap *t = port->own;

	for (unsigned i = 0; i < DOMAINS; i++) {
		for (unsigned k = 0; k < t->made[i].n; k++) {
			int fd = t->nb_blank < SOCKETS ? socket_like(t->made[i].fds[k]) : -EMFILE;

			if (fd < 0)
				return hauli_spec_fail(&port->spec, fd, errbuf, errlen,
					"no socket: %s", strerror(-fd));
			t->blank[t->nb_blank++] = fd;
		}
	}
	return 0;
}

/* The PMD's sockets become those. 0 or -errno. */
static int use_blanks(struct haul_port *port)
{
	struct tap *t = port->own;
	unsigned n = 0;
	int err = 0;

	for (unsigned i = 0; t && i < DOMAINS; i++)
		for (unsigned k = 0; k < t->made[i].n && err == 0 && n < t->nb_blank; k++)
			err = dup3(t->blank[n++], t->made[i].fds[k], O_CLOEXEC) < 0 ? -errno : 0;
	if (t)
		close_blanks(t);
	return err;
}

static void keep(struct haul_port *port)
{
	if (port->own)
		close_blanks(port->own);
}

static int offer(struct haul_port *port, struct haul_port_offer *offer, char *errbuf, size_t errlen)
{
	struct tap *t = port->own;
	int err;

	if (!t || port->queues > HAUL_OFFER_FDS)
		return hauli_spec_fail(&port->spec, -E2BIG, errbuf, errlen,
			"a raw vdev, or more than %d queues: it cannot be handed over",
			HAUL_OFFER_FDS);
	err = hauli_port_apart(port, make_blanks, errbuf, errlen);
	for (unsigned q = 0; q < port->queues && err == 0; q++) {
		int copy = fcntl(hauli_tap_fd(port, q), F_DUPFD_CLOEXEC, 0);

		if (copy < 0)
			err = hauli_spec_fail(&port->spec, -errno, errbuf, errlen,
				"no descriptor for queue %u: %s", q, strerror(errno));
		else
			offer->fds[offer->nb_fds++] = copy;
	}
	if (err == 0)
		return 0;
	while (offer->nb_fds > 0)
		close(offer->fds[--offer->nb_fds]);
	close_blanks(t);
	return err;
}

static void leave(struct haul_port *port)
{
	(void)use_blanks(port);
}

/* The PMD sends to a copy of the descriptor from which it receives. */
static bool is_copy(int fd, int of)
{
	pid_t self = getpid();

	return fd != of && syscall(SYS_kcmp, self, self, KCMP_FILE, fd, of) == 0;
}

/* fd, and its copies, become file. 0 or -errno. */
static int replace(int fd, int file)
{
	DIR *dir = opendir("/proc/self/fd");
	int sig = fcntl(fd, F_GETSIG), err = dir ? 0 : -errno;
	const struct dirent *entry;

	while (err == 0 && (entry = readdir(dir)) != NULL) {
		int other = atoi(entry->d_name);

		if (entry->d_name[0] != '.' && is_copy(other, fd) &&
			dup3(file, other, O_CLOEXEC) < 0)
			err = -errno;
	}
	if (dir)
		closedir(dir);
	/* The poller sets the owner: adopt(). O_ASYNC is the file's, and set. */
	if (err == 0 && (dup3(file, fd, O_CLOEXEC) < 0 || fcntl(fd, F_SETSIG, sig) < 0))
		err = -errno;
	return err;
}

/* Each is a queue of an interface of this name. */
static int check(const struct haul_port *port, const struct haul_port_offer *offer, char *errbuf,
	size_t errlen)
{
	bool ok = offer->nb_fds == offer->queues && offer->queues <= HAUL_OFFER_FDS;

	for (unsigned q = 0; ok && q < offer->nb_fds; q++) {
		struct ifreq r = {0};

		ok = ioctl(offer->fds[q], TUNGETIFF, &r) == 0 &&
			strncmp(r.ifr_name, port->spec.main, IFNAMSIZ) == 0 &&
			(r.ifr_flags & IFF_TAP) && (r.ifr_flags & IFF_MULTI_QUEUE);
	}
	return ok ? 0
		  : hauli_spec_fail(&port->spec, -EBADF, errbuf, errlen,
			    "what it is to be taken over by are no queues of it");
}

/* The other one's PMD has set it down, if it has ended before it knew that we take it. */
static void set_up(const struct haul_port *port)
{
	if (!(hauli_iface_flags(port->iface) & IFF_UP))
		(void)rte_eth_dev_set_link_up(port->vdevs[0].port_id);
}

static int take(struct haul_port *port, char *errbuf, size_t errlen)
{
	const struct haul_port_offer *o = port->opts.offer;
	int err = o->nb_fds == port->queues ? 0 : -EBADF;

	for (unsigned q = 0; q < port->queues && err == 0; q++)
		err = replace(hauli_tap_fd(port, q), o->fds[q]);
	if (err < 0)
		return hauli_spec_fail(&port->spec, err, errbuf, errlen,
			"its queues cannot be taken over: %s", strerror(-err));
	err = make_blanks(port, errbuf, errlen);
	if (err == 0)
		err = use_blanks(port);
	if (err == 0)
		set_up(port);
	return err;
}

const struct hauli_hand_over hauli_tap_hand_over = {
	.offer = offer,
	.keep = keep,
	.leave = leave,
	.check = check,
	.take = take,
	.makes_iface = true,
};
