/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No lost wakeups. A socket or TAP is level-triggered: a packet that is still in its queue ends the
 * wait, whenever it came. An interrupt is an edge: the NIC signals it once, and only while armed.
 * The poller stores "armed" and loads the ring, the NIC stores a packet and loads "armed":
 *
 *	poller                          NIC or peer
 *	  arm                             store a packet
 *	  hauli_io_wait_armed(): barrier  barrier (the device's)
 *	  poll                            armed?
 *
 * At least one side sees the other's store. PMDs differ in whether arming ends with a barrier
 * (virtio's does, vhost's does not), so there is one here. Broken variants: tests/model/arming.pml.
 *
 * Eventfds are edge-triggered and never read: each write is an event, also one before the wait.
 *
 * For each packet, the kernel calls whoever waits at a socket, on the sender's CPU: an epoll set
 * too, whatever events it asks for. With AF_XDP on veth this took a fifth of the rate. So a socket
 * or TAP is in the set only while its packets end waits. One that enters the set reports what it
 * has.
 */
#include "io/wait.h"

#include <errno.h>
#include <limits.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_atomic.h>
#include <rte_ethdev.h>

#include <haul/driver.h>

#include "port/wait_fd.h"

#define EVENTS 16

static bool is_interrupt(const struct hauli_io_wait_source *s)
{
	return s->port->kind->wait_on == HAULI_PORT_WAIT_ON_INTERRUPT;
}

int hauli_io_wait_open(struct hauli_io_wait *w)
{
	struct epoll_event wake = {.events = EPOLLIN | EPOLLET};
	int err = 0;

	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	w->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (w->epoll < 0 || w->wake < 0 || epoll_ctl(w->epoll, EPOLL_CTL_ADD, w->wake, &wake) < 0)
		err = -errno;
	if (err < 0)
		hauli_io_wait_close(w);
	return err;
}

void hauli_io_wait_close(struct hauli_io_wait *w)
{
	if (w->epoll >= 0)
		close(w->epoll);
	if (w->wake >= 0)
		close(w->wake);
	w->epoll = w->wake = -1;
}

bool hauli_io_wait_cover_fds(struct hauli_io_wait *w)
{
	struct epoll_event ev = {.events = EPOLLIN};
	int fd = haul_poller_fd();

	if (fd == w->fds)
		return true;
	if (epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &ev) < 0)
		return false;
	w->fds = fd;
	return true;
}

void hauli_io_wait_wake(struct hauli_io_wait *w)
{
	/* The write fails if the eventfd's counter is full, which is an event too. */
	(void)eventfd_write(w->wake, 1);
}

/* Runs on a thread of the PMD: the peer came, went, or began to use a queue. Wakes the poller,
 * which polls and arms again. */
static int changed(uint16_t port_id, enum rte_eth_event_type event, void *arg, void *ret)
{
	hauli_io_wait_wake(arg);
	return 0;
}

static const enum rte_eth_event_type changes[] = {
	RTE_ETH_EVENT_INTR_LSC, RTE_ETH_EVENT_QUEUE_STATE};

static void watch_changes(struct hauli_io_wait *w, uint16_t port_id, bool on)
{
	for (unsigned i = 0; i < RTE_DIM(changes); i++) {
		if (on)
			(void)rte_eth_dev_callback_register(port_id, changes[i], changed, w);
		else
			while (rte_eth_dev_callback_unregister(port_id, changes[i], changed, w) ==
				-EAGAIN)
				sched_yield(); /* while it is being called */
	}
}

void hauli_io_wait_add(struct hauli_io_wait *w, struct hauli_io_wait_source *s)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.ptr = s};

	s->fd = s->port->waitable ? hauli_port_wait_fd(s->port, s->queue) : -1;
	s->listens = s->armed = s->ready = s->lost = false;
	if (s->fd < 0 || !is_interrupt(s))
		return;
	watch_changes(w, haul_port_queue(s->port, s->queue).port_id, true);
	s->lost = epoll_ctl(w->epoll, EPOLL_CTL_ADD, s->fd, &ev) < 0;
}

void hauli_io_wait_remove(struct hauli_io_wait *w, struct hauli_io_wait_source *s)
{
	if (s->fd < 0)
		return;
	if (is_interrupt(s))
		watch_changes(w, haul_port_queue(s->port, s->queue).port_id, false);
	if (is_interrupt(s) || s->listens)
		(void)epoll_ctl(w->epoll, EPOLL_CTL_DEL, s->fd, NULL);
	s->fd = -1;
}

void hauli_io_wait_arm(struct hauli_io_wait *w, struct hauli_io_wait_source *s, bool listen)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = s};
	int op = listen ? EPOLL_CTL_ADD : EPOLL_CTL_DEL;
	struct haul_queue id;

	if (s->fd < 0 || s->lost)
		return;
	if (is_interrupt(s)) {
		id = haul_port_queue(s->port, s->queue);
		s->armed = listen && rte_eth_dev_rx_intr_enable(id.port_id, id.queue_id) == 0;
	} else if (s->listens != listen && epoll_ctl(w->epoll, op, s->fd, &ev) < 0) {
		s->lost = true;
	}
	s->listens = listen && !s->lost;
}

void hauli_io_wait_armed(void)
{
	rte_smp_mb();
}

void hauli_io_wait_disarm(struct hauli_io_wait_source *s)
{
	struct haul_queue id;

	if (!s->armed)
		return;
	id = haul_port_queue(s->port, s->queue);
	(void)rte_eth_dev_rx_intr_disable(id.port_id, id.queue_id);
	s->armed = false;
}

/* The interface is gone or down: the kernel would report it again at once, for ever. */
static unsigned take_out(struct hauli_io_wait *w, struct hauli_io_wait_source *s)
{
	(void)epoll_ctl(w->epoll, EPOLL_CTL_DEL, s->fd, NULL);
	s->listens = false;
	s->lost = true;
	return HAULI_IO_WAIT_END_LOST;
}

static int wait_events(const struct hauli_io_wait *w, struct epoll_event *events, uint64_t until)
{
	uint64_t now = haul_now();
	uint64_t left = until > now ? until - now : 0;
	struct timespec ts = {.tv_sec = (time_t)(left / HAUL_S), .tv_nsec = (long)(left % HAUL_S)};
	int n = epoll_pwait2(w->epoll, events, EVENTS, until == HAUL_FOREVER ? NULL : &ts, NULL);

	if (n >= 0 || errno != ENOSYS)
		return n;
	/* Before Linux 5.11, and under valgrind: in milliseconds, so waits end late. */
	left = (left + HAUL_MS - 1) / HAUL_MS;
	return epoll_wait(w->epoll, events, EVENTS,
		until == HAUL_FOREVER    ? -1
			: left > INT_MAX ? INT_MAX
					 : (int)left);
}

unsigned hauli_io_wait(struct hauli_io_wait *w, uint64_t until)
{
	struct epoll_event events[EVENTS];
	unsigned end = 0;
	int n = wait_events(w, events, until);

	/* TAP's signal. */
	if (n < 0)
		return HAULI_IO_WAIT_END_WOKEN;
	for (int i = 0; i < n; i++) {
		struct hauli_io_wait_source *s = events[i].data.ptr;

		if (!s) {
			end |= HAULI_IO_WAIT_END_WOKEN;
		} else if (events[i].events & (EPOLLERR | EPOLLHUP)) {
			end |= take_out(w, s);
		} else {
			s->ready = true;
			end |= HAULI_IO_WAIT_END_READY;
		}
	}
	return end;
}
