/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program that has the ports says to the one that takes them. Main thread. */
#ifndef HAULI_APP_PROCESS_HAND_OVER_MESSAGE_H
#define HAULI_APP_PROCESS_HAND_OVER_MESSAGE_H

#include <haul-dpdk/hand_over.h>

#include "process/listeners.h"
#include "process/state.h"

#define HAULI_HELLO_FDS 250 /* of a message: SCM_MAX_FD is 253 */
#define HAULI_HELLO_SPEC 512
#define HAULI_HELLO_LINE 256

struct hauli_hello {
	char magic[24]; /* with the version of this record */
	char error[HAULI_HELLO_LINE]; /* in place of all below */
	uint64_t watchdog_ns; /* within which systemd wants a sign of life; 0: it wants none */
	uint32_t nb_listeners;
	char listeners[HAULI_LISTENERS][HAULI_LISTENER_TEXT];
	uint32_t nb_ports;
	struct {
		char spec[HAULI_HELLO_SPEC];
		struct haul_port_offer offer;
	} ports[HAUL_APP_PORTS_MAX];
};

/* Descriptors: of all ports, one after the other; then of the listeners. False: not sent. */
bool hauli_hello_send(int to, struct hauli_hello *hello, const int *fds, unsigned nb_fds);

/*
 * Puts the descriptors where the ports have theirs, and those of the listeners into fds. Returns 0;
 * -ECONNRESET: the other one has ended; -EPROTO: it is no such message. Without descriptors then.
 */
int hauli_hello_receive(int from, struct hauli_hello *hello, int fds[HAULI_LISTENERS]);

#endif
