/* SPDX-License-Identifier: BSD-3-Clause */
/* A capture file of a link, in the form of libpcap with nanoseconds. */
#ifndef HAULI_SIMNET_PCAP_H
#define HAULI_SIMNET_PCAP_H

#include <stddef.h>
#include <stdint.h>

struct hauli_sim_pcap;

/* Each frame is in the file when the call returns. NULL, with errno. */
struct hauli_sim_pcap *hauli_sim_pcap_open(const char *path);
void hauli_sim_pcap_write(struct hauli_sim_pcap *p, uint64_t ns, const void *frame, uint32_t len);

#endif
