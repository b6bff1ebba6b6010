/* SPDX-License-Identifier: BSD-3-Clause */
#define ALLOW_EXPERIMENTAL_API /* rte_eth_dev_conf_get(), in DPDK 22.11 */
#include "port/reta.h"

#include <errno.h>
#include <string.h>

#include "port/apply.h"
#include "port/check.h"

#define GROUPS_MAX 64 /* 4,096 entries: no device has more */

static bool uses_rss(uint16_t port_id)
{
	struct rte_eth_conf conf;

	return rte_eth_dev_conf_get(port_id, &conf) == 0 &&
		conf.rxmode.mq_mode & RTE_ETH_MQ_RX_RSS_FLAG;
}

unsigned hauli_reta_size(const struct haul_port *port, char *errbuf, size_t errlen)
{
	struct rte_eth_dev_info info;
	uint16_t id;

	if (hauli_check_attached(port, errbuf, errlen) < 0)
		return 0;
	id = port->vdevs[0].port_id;
	if (port->nb_vdevs > 1 || rte_eth_dev_info_get(id, &info) < 0 || info.reta_size == 0 ||
		info.reta_size > GROUPS_MAX * RTE_ETH_RETA_GROUP_SIZE)
		(void)hauli_spec_fail(
			&port->spec, 0, errbuf, errlen, "its device has no redirection table");
	else if (!uses_rss(id))
		(void)hauli_spec_fail(&port->spec, 0, errbuf, errlen,
			"its device has a redirection table, but RSS is off");
	else
		return info.reta_size;
	return 0;
}

static int query(uint16_t port_id, const struct hauli_change *change)
{
	return rte_eth_dev_rss_reta_query(port_id, change->reta, change->number);
}

int hauli_reta_read(
	const struct haul_port *port, uint16_t *queues, unsigned n, char *errbuf, size_t errlen)
{
	struct rte_eth_rss_reta_entry64 groups[GROUPS_MAX];
	const struct hauli_change change = {
		"redirection table", query, .reta = groups, .number = (uint16_t)n};
	int err;

	memset(groups, 0, sizeof(groups));
	for (unsigned i = 0; i < n; i++)
		groups[i / RTE_ETH_RETA_GROUP_SIZE].mask |= UINT64_C(1)
			<< i % RTE_ETH_RETA_GROUP_SIZE;
	err = hauli_port_apply((struct haul_port *)(uintptr_t)port, &change, errbuf, errlen);
	for (unsigned i = 0; i < n && !err; i++)
		queues[i] = groups[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE];
	return err;
}

static int update(uint16_t port_id, const struct hauli_change *change)
{
	return rte_eth_dev_rss_reta_update(port_id, change->reta, change->number);
}

int hauli_reta_set(struct haul_port *port, unsigned entry, unsigned queue, unsigned n, char *errbuf,
	size_t errlen)
{
	struct rte_eth_rss_reta_entry64 groups[GROUPS_MAX];
	const struct hauli_change change = {
		"redirection table", update, .reta = groups, .number = (uint16_t)n};
	unsigned place = entry % RTE_ETH_RETA_GROUP_SIZE;

	memset(groups, 0, sizeof(groups));
	groups[entry / RTE_ETH_RETA_GROUP_SIZE].mask = UINT64_C(1) << place;
	groups[entry / RTE_ETH_RETA_GROUP_SIZE].reta[place] = (uint16_t)queue;
	return hauli_port_apply(port, &change, errbuf, errlen);
}
