/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ports of --port. A kind of port has a row in a table of port.c: its driver, and checks of
 * what it needs. Checks of one kind, or of a few alike, are one file.
 */
#ifndef DOCTOR_PORT_H
#define DOCTOR_PORT_H

#include "port_spec.h"
#include "privilege.h"
#include "report.h"
#include "single.h"

/* Parses the values of --port. Returns 0, and the caller frees *ports; or -errno with one line in
 * errbuf. */
int doctor_ports_parse(
	struct doctor_port **ports, char *const *specs, unsigned n, char *errbuf, size_t errlen);

/* Checks the needs of each port, and reports them. */
void doctor_ports(struct doctor_report *r, const struct haul_plan *plan,
	const struct doctor_port *ports, unsigned n);

/* Without a name of the thing in question (subject->iface, or a part of subject->port) a check says
 * nothing. */
doctor_check_fn port_tap_name;
doctor_check_fn port_tap_capabilities;
doctor_check_fn port_packet_capabilities;
doctor_check_fn port_packet_mtu;
doctor_check_fn port_packet_offloads;
doctor_check_fn port_xdp_capabilities;
doctor_check_fn port_xdp_mode;
doctor_check_fn port_socket;
doctor_check_fn port_vhost_net; /* of the vdev net_virtio_user, as are the next two */
doctor_check_fn port_vhost_net_tun;
doctor_check_fn port_vhost_net_capabilities;
doctor_check_fn port_pcap_rx;
doctor_check_fn port_pcap_tx;
doctor_check_fn port_pcap_capabilities;
doctor_check_fn port_pci_device;
doctor_check_fn port_pci_binding;
doctor_check_fn port_pci_iommu;
doctor_check_fn port_pci_vfio;
doctor_check_fn port_pci_memory;
doctor_check_fn port_pci_node;
doctor_check_fn port_pci_pmd; /* of the opened NIC, as are the next three */
doctor_check_fn port_pci_queues;
doctor_check_fn port_pci_rings;
doctor_check_fn port_pci_interrupts;
doctor_check_fn port_pci_irqs;
doctor_check_fn port_pci_command;

/* For checks of capabilities: fills the finding for a port that needs those of list[n]. */
void port_say_capabilities(const struct doctor_subject *subject, struct doctor_finding *finding,
	const enum privilege *list, unsigned n);

#endif
