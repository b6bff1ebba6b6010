/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of ports and their needs. */
#include "port.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dpdk.h"

static const struct doctor_check tap_checks[] = {
	{"tun", doctor_tun},
	{"capabilities", port_tap_capabilities},
	{"name", port_tap_name},
	{NULL, NULL},
};
static const struct doctor_check afpacket_checks[] = {
	{"af-packet", doctor_packet_socket},
	{"capabilities", port_packet_capabilities},
	{"link", doctor_link},
	{"mtu", port_packet_mtu},
	{"offloads", port_packet_offloads},
	{NULL, NULL},
};
/* The checks of the interface follow. */
static const struct doctor_check afxdp_checks[] = {
	{"af-xdp", doctor_af_xdp},
	{"capabilities", port_xdp_capabilities},
	{"memlock", doctor_memlock},
	{"mode", port_xdp_mode},
	{NULL, NULL},
};
static const struct doctor_check socket_checks[] = {
	{"socket", port_socket},
	{NULL, NULL},
};
static const struct doctor_check virtio_user_checks[] = {
	{"vhost-net", port_vhost_net},
	{"tun", port_vhost_net_tun},
	{"capabilities", port_vhost_net_capabilities},
	{NULL, NULL},
};
static const struct doctor_check pcap_checks[] = {
	{"rx", port_pcap_rx},
	{"tx", port_pcap_tx},
	{"capabilities", port_pcap_capabilities},
	{"link", doctor_link},
	{NULL, NULL},
};
static const struct doctor_check pci_checks[] = {
	{"device", port_pci_device},
	{"binding", port_pci_binding},
	{"iommu", port_pci_iommu},
	{"vfio", port_pci_vfio},
	{"memory", port_pci_memory},
	{"node", port_pci_node},
	{"pmd", port_pci_pmd},
	{"queues", port_pci_queues},
	{"rings", port_pci_rings},
	{"interrupts", port_pci_interrupts},
	{"irqs", port_pci_irqs},
	{"command", port_pci_command},
	{NULL, NULL},
};
static const struct doctor_check no_checks[] = {{NULL, NULL}};

static const struct kind {
	const char *name;
	const char *plugin; /* of DPDK, without which there is no such port; "": it needs none */
	const struct doctor_check *checks;
	const struct doctor_check *iface_checks; /* if the spec names an interface; or NULL */
} kinds[] = {
	{"tap", "net_tap", tap_checks},
	{"afxdp", "net_af_xdp", afxdp_checks, doctor_iface_checks},
	{"afpacket", "net_af_packet", afpacket_checks},
	{"memif", "net_memif", socket_checks},
	{"vhost", "net_vhost", socket_checks},
	{"virtio-user", "net_virtio", socket_checks},
	{"pcap", "net_pcap", pcap_checks},
	{"ring", "net_ring", no_checks},
	{"null", "net_null", no_checks},
	{"empty", "", no_checks},
	{"pci", "bus_pci", pci_checks},
};

static const struct kind *find(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

/* The kind for a vdev of DPDK that works on an interface, "net_tap0,iface=t0", or a virtio device;
 * NULL: another. */
static const struct kind *find_vdev(const struct doctor_port *port)
{
	static const struct kind virtio_user = {
		"virtio-user", "net_virtio", virtio_user_checks, NULL};
	size_t len = strlen(port->kind);

	if (strncmp(port->kind, "net_virtio_user", strlen("net_virtio_user")) == 0)
		return &virtio_user;
	while (len > 0 && isdigit((unsigned char)port->kind[len - 1]))
		len--;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i].plugin) == len &&
			memcmp(kinds[i].plugin, port->kind, len) == 0 &&
			(kinds[i].checks == tap_checks || kinds[i].checks == afxdp_checks ||
				kinds[i].checks == afpacket_checks))
			return &kinds[i];
	return NULL;
}

/* The plugin of a vdev whose kind is not known has the vdev's name without the number, mostly. */
static void plugin_of(char *plugin, size_t size, const struct doctor_port *port)
{
	const struct kind *kind = find(port->kind);
	size_t len = strlen(port->kind);

	while (!kind && len > 0 && isdigit((unsigned char)port->kind[len - 1]))
		len--;
	snprintf(plugin, size, "%.*s", kind ? (int)strlen(kind->plugin) : (int)len,
		kind ? kind->plugin : port->kind);
	if (strcmp(plugin, "net_virtio_user") == 0)
		snprintf(plugin, size, "net_virtio");
}

static void driver(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	const struct kind *kind = find(subject->port->kind);
	char plugin[PORT_SPEC_SIZE];

	plugin_of(plugin, sizeof(plugin), subject->port);
	if (kind && !kind->plugin[0]) {
		doctor_say(finding, DOCTOR_OK, "none: the port gets a device later");
		return;
	}
	if (doctor_has_plugin(plugin)) {
		doctor_say(finding, DOCTOR_OK, "%s%s", plugin,
			kind && kind->checks == no_checks ? ", which needs nothing else" : "");
		return;
	}
	doctor_say_no_plugin(finding, kind ? DOCTOR_PROBLEM : DOCTOR_NOTE, plugin);
	if (kind)
		doctor_todo_plugin(finding, plugin);
	else
		doctor_todo(finding, "its driver may be in another; see the drivers of this DPDK");
}

/* Checks the argument names of a vdev: its driver compares them with its own. */
static void arguments(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	const struct doctor_port *port = subject->port;
	char plugin[PORT_SPEC_SIZE], key[PORT_SPEC_SIZE];

	if (find(port->kind))
		return;
	plugin_of(plugin, sizeof(plugin), port);
	for (const char *part = port->parts; part < port->end; part += strlen(part) + 1) {
		snprintf(key, sizeof(key), "%.*s", (int)strcspn(part, "="), part);
		if (doctor_plugin_takes(plugin, key))
			continue;
		doctor_say(finding, DOCTOR_PROBLEM, "%s takes no %s=", plugin, key);
		doctor_todo(finding, "see the driver's page in the documentation of this DPDK");
		return;
	}
}

static const struct doctor_check driver_checks[] = {
	{"driver", driver},
	{"arguments", arguments},
	{NULL, NULL},
};

static const char *iface_of(const struct doctor_port *port, const struct kind *kind)
{
	const char *named = port_spec_get(port, "iface");
	bool by_name = kind->checks == tap_checks || kind->checks == afxdp_checks ||
		kind->checks == afpacket_checks || kind->checks == pcap_checks;

	if (!by_name)
		return NULL;
	if (!named && port_spec_main(port)[0])
		named = port_spec_main(port);
	return named;
}

static void check_port(
	struct doctor_report *r, const struct haul_plan *plan, const struct doctor_port *port)
{
	struct doctor_subject subject = {.plan = plan, .port = port, .named = true};
	const struct kind *kind = find(port->kind);
	char title[PORT_SPEC_SIZE + 8];

	snprintf(title, sizeof(title), "Port %s", port->text);
	doctor_report_checks(r, title, driver_checks, &subject);
	if (!kind)
		kind = find_vdev(port);
	if (!kind)
		return;
	subject.iface = iface_of(port, kind);
	doctor_report_checks(r, NULL, kind->checks, &subject);
	if (kind->iface_checks && subject.iface)
		doctor_report_checks(r, NULL, kind->iface_checks, &subject);
}

int doctor_ports_parse(
	struct doctor_port **ports, char *const *specs, unsigned n, char *errbuf, size_t errlen)
{
	int err = 0;

	*ports = calloc(n ? n : 1, sizeof(**ports));
	if (!*ports) {
		snprintf(errbuf, errlen, "no memory");
		return -ENOMEM;
	}
	for (unsigned i = 0; i < n && err == 0; i++)
		err = port_spec_parse(&(*ports)[i], specs[i], errbuf, errlen);
	if (err == 0)
		return 0;
	free(*ports);
	*ports = NULL;
	return err;
}

void doctor_ports(struct doctor_report *r, const struct haul_plan *plan,
	const struct doctor_port *ports, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		check_port(r, plan, &ports[i]);
}

static void append(char *list, size_t size, const char *separator, const char *item)
{
	size_t len = strlen(list);

	snprintf(list + len, size - len, "%s%s", len ? separator : "", item);
}

void port_say_capabilities(const struct doctor_subject *subject, struct doctor_finding *finding,
	const enum privilege *list, unsigned n)
{
	char missing[128] = "", all[128] = "", docker[128] = "";

	for (unsigned i = 0; i < n; i++) {
		const char *name = privilege_name(list[i]);

		append(all, sizeof(all), ", ", name);
		if (privilege_has_here(list[i]))
			continue;
		append(missing, sizeof(missing), ", ", name);
		append(docker, sizeof(docker), ",", name + strlen("CAP_"));
	}
	if (!missing[0]) {
		doctor_say(finding, DOCTOR_OK, "%s", all);
		return;
	}
	doctor_say(finding, DOCTOR_PROBLEM, "%s missing for this network namespace", missing);
	if (geteuid() == 0)
		doctor_todo(finding, "start the container with --cap-add=%s", docker);
	else
		doctor_todo(finding, "sudo haul-fwd ...");
}
