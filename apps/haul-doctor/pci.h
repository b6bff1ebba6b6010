/* SPDX-License-Identifier: BSD-3-Clause */
/* PCI devices, as the kernel sees them. */
#ifndef DOCTOR_PCI_H
#define DOCTOR_PCI_H

#include "doctor.h"

#define PORT_PCI_DEVICES "/sys/bus/pci/devices"
#define PORT_PCI_ADDRESS 32 /* bytes, with the terminating NUL */

/* Stores the address of the port's device, "0000:03:00.0". False if there is no such device. */
bool port_pci_address(const struct doctor_subject *subject, char *address);

/* True if a driver that DPDK can use has the device, and no other program. */
bool port_pci_is_ready(const struct doctor_subject *subject);

#endif
