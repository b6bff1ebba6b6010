/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands about the addresses whose frames a port's device passes, in testpmd's words. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <haul-dpdk/port_config.h>

#include <rte_ether.h>

#include "../forward.h"
#include "address.h"
#include "command.h"

#define WORD(i) (call->words[i].text)
#define LIST_MOST 128

/* What commands have given to each port: a PMD cannot be asked, and takes groups as a list. */
struct list {
	struct rte_ether_addr macs[LIST_MOST];
	uint16_t n;
};
static struct list others[HAUL_APP_PORTS_MAX], groups[HAUL_APP_PORTS_MAX];

void fwd_addresses_begin(unsigned port)
{
	others[port].n = groups[port].n = 0;
}

static unsigned find(const struct list *l, const struct rte_ether_addr *mac)
{
	unsigned i = 0;

	while (i < l->n && !rte_is_same_ether_addr(&l->macs[i], mac))
		i++;
	return i;
}

static bool is_full(const struct fwd_call *call, const struct list *l)
{
	if (l->n < LIST_MOST)
		return false;
	fprintf(call->out, "At most %u addresses\n", LIST_MOST);
	return true;
}

static bool read_mac(const struct fwd_call *call, const char *word, struct rte_ether_addr *mac)
{
	if (rte_ether_unformat_addr(word, mac) == 0)
		return true;
	fprintf(call->out, "Invalid MAC address %s: give six bytes, such as 02:00:00:00:00:01\n",
		word);
	return false;
}

/* "mac_addr add P MAC" */
static bool change_mac(const struct fwd_call *call, unsigned i)
{
	bool add = strcmp(WORD(1), "add") == 0;
	struct list *l = &others[i];
	struct rte_ether_addr mac;
	char errbuf[512];
	unsigned at;
	int err;

	if (!read_mac(call, WORD(3), &mac) || (add && is_full(call, l)))
		return false;
	err = haul_port_change_mac(call->app->ports[i], &mac, add, errbuf, sizeof(errbuf));
	if (err) {
		fprintf(call->out, "mac_addr_cmd error: (%s) ", strerror(-err));
		return fwd_result(call, err, errbuf);
	}
	at = find(l, &mac);
	if (add && at == l->n)
		l->macs[l->n++] = mac;
	else if (!add && at < l->n)
		l->macs[at] = l->macs[--l->n];
	return true;
}

static bool add_or_remove_mac(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), change_mac);
}

static bool set_one_mac(const struct fwd_call *call, unsigned i)
{
	struct rte_ether_addr mac;
	char errbuf[512];
	int err;

	if (!read_mac(call, WORD(3), &mac))
		return false;
	err = haul_port_set_mac(call->app->ports[i], &mac, errbuf, sizeof(errbuf));
	if (err)
		fprintf(call->out, "mac_addr_cmd error: (%s) ", strerror(-err));
	else
		fwd_mac_changed(call->app, i);
	return fwd_result(call, err, errbuf);
}

static bool set_mac(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), set_one_mac);
}

/* Gives the PMD the list of the port. */
static bool apply_groups(const struct fwd_call *call, unsigned i)
{
	char errbuf[512];
	int err = haul_port_set_groups(
		call->app->ports[i], groups[i].macs, groups[i].n, errbuf, sizeof(errbuf));

	if (err)
		fprintf(call->out,
			"rte_eth_dev_set_mc_addr_list(port=%u, nb=%u) failed. diag=%d: ", i,
			groups[i].n, err);
	return fwd_result(call, err, errbuf);
}

static bool add_group(const struct fwd_call *call, unsigned i, const struct rte_ether_addr *mac)
{
	if (find(&groups[i], mac) < groups[i].n) {
		fprintf(call->out, "multicast address already filtered by port\n");
		return false;
	}
	if (is_full(call, &groups[i]))
		return false;
	groups[i].macs[groups[i].n++] = *mac;
	if (apply_groups(call, i))
		return true;
	groups[i].n--;
	return false;
}

static bool remove_group(const struct fwd_call *call, unsigned i, const struct rte_ether_addr *mac)
{
	unsigned g = find(&groups[i], mac);

	if (g == groups[i].n) {
		fprintf(call->out, "multicast address not filtered by port %u\n", i);
		return false;
	}
	groups[i].macs[g] = groups[i].macs[--groups[i].n];
	if (apply_groups(call, i))
		return true;
	groups[i].macs[groups[i].n++] = groups[i].macs[g];
	groups[i].macs[g] = *mac;
	return false;
}

/* "mcast_addr add P MAC" */
static bool change_group(const struct fwd_call *call, unsigned i)
{
	struct rte_ether_addr mac;

	if (!read_mac(call, WORD(3), &mac))
		return false;
	if (!rte_is_multicast_ether_addr(&mac)) {
		fprintf(call->out, "Invalid multicast_addr %s\n", WORD(3));
		return false;
	}
	return strcmp(WORD(1), "add") == 0 ? add_group(call, i, &mac) : remove_group(call, i, &mac);
}

static bool add_or_remove_group(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), change_group);
}

static bool flush_one(const struct fwd_call *call, unsigned i)
{
	uint16_t n = groups[i].n;

	groups[i].n = 0;
	if (n == 0 || apply_groups(call, i))
		return true;
	groups[i].n = n;
	return false;
}

static bool flush_groups(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), flush_one);
}

static void print(const struct fwd_call *call, const struct rte_ether_addr *mac)
{
	char text[RTE_ETHER_ADDR_FMT_SIZE];

	rte_ether_format_addr(text, sizeof(text), mac);
	fprintf(call->out, "  %s\n", text);
}

/* "show port P macs" */
static bool show_one(const struct fwd_call *call, unsigned i)
{
	bool own = strcmp(WORD(3), "macs") == 0;
	const struct list *l = own ? &others[i] : &groups[i];
	const struct rte_ether_addr mac = haul_port_mac(call->app->ports[i]);

	fprintf(call->out, "Number of %s address added: %u\n", own ? "MAC" : "Multicast MAC",
		l->n + own);
	if (own)
		print(call, &mac);
	for (unsigned m = 0; m < l->n; m++)
		print(call, &l->macs[m]);
	return true;
}

static bool show(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), show_one);
}

const struct fwd_command fwd_commands_address[] = {
	{"mac_addr add|remove PORT MAC", add_or_remove_mac,
		"Pass frames for a further MAC address, or not."},
	{"mac_addr set PORT MAC", set_mac, "Give a port another MAC address."},
	{"mcast_addr add|remove PORT MAC", add_or_remove_group, "Pass frames for a group, or not."},
	{"mcast_addr flush PORT", flush_groups, "Pass no group's frames any more."},
	{"show port PORT macs|mcast_macs", show,
		"List the MAC addresses of a port, or its groups."},
	{0},
};
