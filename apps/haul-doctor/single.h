/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of the machine and of interfaces that are also made for some kinds of ports. */
#ifndef DOCTOR_SINGLE_H
#define DOCTOR_SINGLE_H

#include "doctor.h"

typedef void doctor_check_fn(const struct doctor_subject *subject, struct doctor_finding *finding);

doctor_check_fn doctor_tun; /* /dev/net/tun */
doctor_check_fn doctor_packet_socket;
doctor_check_fn doctor_af_xdp; /* sockets and programs */
doctor_check_fn doctor_memlock;
doctor_check_fn doctor_link; /* of subject->iface */

#endif
