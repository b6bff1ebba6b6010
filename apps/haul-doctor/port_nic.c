/* SPDX-License-Identifier: BSD-3-Clause */
/* pci: ports: what haul would use of the NIC, as its PMD tells, and where it is in the machine. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "nic.h"
#include "pci.h"
#include "port.h"

#define IRQS "/proc/irq"
#define WIRE_BITS ((64 + 20) * 8) /* shortest frame with its gap */
#define SHORT_FILL_US 100 /* a ring of which lasts no longer than a few wake-ups */

/* PMDs that turn on receive interrupts, after which none comes: QEMU's NICs show it. */
static const char *const deaf[] = {"net_e1000_em"};

/* The NIC is asked once. NULL: it cannot be asked, for what other checks say. */
static const struct nic *nic_of(const struct doctor_subject *subject)
{
	static const struct doctor_port *asked;
	static struct nic nic;

	if (!port_pci_is_ready(subject))
		return NULL;
	if (asked != subject->port)
		nic_ask(&nic, subject->plan, subject->port->text);
	asked = subject->port;
	return &nic;
}

/* The same if it could be opened. */
static const struct nic *opened(const struct doctor_subject *subject)
{
	const struct nic *nic = nic_of(subject);

	return nic && !nic->error[0] ? nic : NULL;
}

void port_pci_pmd(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	const struct nic *nic = nic_of(subject);
	char speed[32] = "";

	if (!nic)
		return;
	if (nic->error[0]) {
		doctor_say(finding, DOCTOR_PROBLEM, "%s", nic->error);
		doctor_todo(finding, "with all of EAL's messages: haul-fwd --verbose --port %s",
			subject->port->text);
		return;
	}
	if (nic->speed)
		snprintf(speed, sizeof(speed), ", %u Mbit/s", nic->speed);
	doctor_say(finding, nic->link ? DOCTOR_OK : DOCTOR_NOTE, "%s, link %s%s", nic->pmd,
		nic->link ? "up" : "down", speed);
	if (!nic->link)
		doctor_todo(finding, "plug in the cable, or set the other end up");
}

/* Nobody spreads packets over its queues. */
static bool is_unspread(const struct nic *nic)
{
	return nic->queues > 1 && !nic->rss;
}

void port_pci_queues(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	const struct nic *nic = opened(subject);
	unsigned carriers = subject->plan->carriers;

	if (!nic)
		return;
	if (nic->queues < carriers) {
		doctor_say(finding, DOCTOR_NOTE,
			"%u%s for %u carriers: those without one get packets by software, if "
			"handlers are coroutines",
			nic->queues, nic->rss || nic->queues > 1 ? "" : ", without RSS", carriers);
		if (strcmp(nic->pmd, "net_virtio") == 0)
			doctor_todo(finding,
				"start the virtual machine with queues=%u of its netdev, and "
				"mq=on,rss=on,vectors=%u of its NIC",
				carriers, 2 * carriers + 2);
		else
			doctor_todo(finding, "--carriers %u, or --spread all", nic->queues);
		return;
	}
	if (is_unspread(nic)) {
		doctor_say(finding, DOCTOR_NOTE,
			"%u of %u, one for each carrier, but without RSS: the other end chooses",
			nic->queues, nic->queues_most);
		doctor_todo(finding, "--rxq 1 --spread all");
		return;
	}
	doctor_say(finding, DOCTOR_OK, "%u of %u, one for each carrier%s", nic->queues,
		nic->queues_most, nic->queues > 1 ? ", by RSS" : "");
}

static bool is_deaf(const struct nic *nic)
{
	for (size_t i = 0; i < sizeof(deaf) / sizeof(deaf[0]); i++)
		if (strcmp(nic->pmd, deaf[i]) == 0)
			return true;
	return false;
}

static bool wakes(const struct nic *nic)
{
	return nic->waits && !is_deaf(nic);
}

void port_pci_interrupts(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	const struct nic *nic = opened(subject);

	if (!nic)
		return;
	if (wakes(nic)) {
		doctor_say(finding, DOCTOR_OK,
			"each queue has its own, which wakes a poller that waits");
		return;
	}
	doctor_say(finding, DOCTOR_NOTE, "%s",
		nic->waits ? "its PMD turns them on, but none comes: block and adaptive would not "
			     "wake"
			   : "none of its PMD: block and adaptive are refused");
	doctor_todo(finding, "--poller sleep, or spin");
}

/* The time in which the shortest frames fill the receive ring, in us. */
static uint64_t fill_us(const struct nic *nic)
{
	return nic->speed ? (uint64_t)nic->rx_ring * WIRE_BITS / nic->speed : SHORT_FILL_US;
}

/* The receive ring to ask for; 0: the default will do. */
static unsigned better_ring(const struct nic *nic)
{
	if (nic->rx_ring == 0 || fill_us(nic) >= SHORT_FILL_US || nic->rx_ring >= nic->rx_ring_most)
		return 0;
	return nic->rx_ring_most < 4096 ? nic->rx_ring_most : 4096;
}

void port_pci_rings(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	const struct nic *nic = opened(subject);

	if (!nic)
		return;
	if (nic->rx_ring == 0) {
		doctor_say(finding, DOCTOR_OK, "receive rings of at most %u", nic->rx_ring_most);
		return;
	}
	if (better_ring(nic) == 0) {
		doctor_say(finding, DOCTOR_OK, "receive rings of %u, of at most %u", nic->rx_ring,
			nic->rx_ring_most);
		return;
	}
	doctor_say(finding, DOCTOR_NOTE,
		"receive rings of %u are full after %u us of the shortest frames: one that sleeps "
		"or waits for longer loses some",
		nic->rx_ring, (unsigned)fill_us(nic));
	doctor_todo(finding, "--rxd %u", better_ring(nic));
}

void port_pci_node(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	char address[PORT_PCI_ADDRESS];
	unsigned far = 0;
	int64_t node;

	if (!port_pci_address(subject, address))
		return;
	node = kernel_number(PORT_PCI_DEVICES "/%s/numa_node", address);
	for (unsigned i = 0; i < subject->plan->carriers; i++)
		far += subject->plan->places[i].node >= 0 && subject->plan->places[i].node != node;
	if (node < 0) {
		doctor_say(finding, DOCTOR_OK, "the kernel tells no NUMA node");
	} else if (far == 0) {
		doctor_say(finding, DOCTOR_OK, "NUMA node %d, as all carriers", (int)node);
	} else {
		doctor_say(finding, DOCTOR_NOTE,
			"NUMA node %d; %u of %u carriers are on others: their packets cross over",
			(int)node, far, subject->plan->carriers);
		doctor_todo(finding, "--near %s --carriers %u", address,
			subject->plan->carriers - far ? subject->plan->carriers - far : 1);
	}
}

/* The CPUs of no carrier, as a list: "0,3". */
static void other_cpus(const struct haul_plan *plan, char *list, size_t size)
{
	size_t len = 0;

	list[0] = '\0';
	for (unsigned cpu = 0; cpu < plan->cpus && len < size; cpu++) {
		bool taken = false;

		for (unsigned i = 0; i < plan->carriers; i++)
			taken |= plan->places[i].cpu == (int)cpu;
		if (!taken)
			len += (size_t)snprintf(
				list + len, size - len, "%s%u", len ? "," : "", cpu);
	}
}

static bool is_for_carrier(const char *cpus, const struct haul_plan *plan)
{
	for (unsigned i = 0; i < plan->carriers; i++)
		if (plan->places[i].cpu >= 0 && kernel_in_list(cpus, plan->places[i].cpu))
			return true;
	return false;
}

/* Interrupts of any device that the kernel may serve on a carrier's CPU. */
static unsigned count_irqs(const struct haul_plan *plan)
{
	const struct dirent *entry;
	DIR *dir = opendir(IRQS);
	unsigned n = 0;
	char cpus[256];

	while (dir && (entry = readdir(dir)))
		n += entry->d_name[0] != '.' &&
			kernel_line(cpus, sizeof(cpus), IRQS "/%s/effective_affinity_list",
				entry->d_name) &&
			is_for_carrier(cpus, plan);
	if (dir)
		closedir(dir);
	return n;
}

void port_pci_irqs(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	char address[PORT_PCI_ADDRESS], others[256];
	unsigned n = count_irqs(subject->plan);

	if (!port_pci_address(subject, address))
		return;
	if (n == 0) {
		doctor_say(finding, DOCTOR_OK, "the carriers' CPUs serve none");
		return;
	}
	other_cpus(subject->plan, others, sizeof(others));
	doctor_say(finding, DOCTOR_NOTE,
		"the carriers' CPUs serve %u of the machine's interrupts, which delays packets", n);
	if (others[0])
		doctor_todo_root(finding,
			"sh -c 'for i in " IRQS "/*/smp_affinity_list; do echo %s > $i; done' "
			"2>/dev/null; %ssystemctl stop irqbalance",
			others, doctor_sudo());
	else
		doctor_todo(finding, "leave a CPU to the kernel: --carriers %u",
			subject->plan->carriers > 1 ? subject->plan->carriers - 1 : 1);
}

/* The command with all that other checks found. */
void port_pci_command(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	const struct nic *nic = opened(subject);
	char ring[32] = "";
	bool few, one;

	if (!nic)
		return;
	few = nic->queues < subject->plan->carriers;
	one = is_unspread(nic);
	if (better_ring(nic))
		snprintf(ring, sizeof(ring), " --rxd %u", better_ring(nic));
	doctor_say(finding, DOCTOR_OK, "haul uses %u carrier%s, %s, and a poller that %s",
		subject->plan->carriers, subject->plan->carriers == 1 ? "" : "s",
		few || one ? "of which some get packets by software" : "a queue each",
		wakes(nic) ? "spins while packets come, and else waits for interrupts" : "spins");
	doctor_todo(finding, "haul-fwd --port %s --carriers %u%s%s --poller %s",
		subject->port->text, subject->plan->carriers,
		one           ? " --rxq 1 --spread all"
			: few ? " --spread all"
			      : "",
		ring, wakes(nic) ? "adaptive" : "spin");
}
