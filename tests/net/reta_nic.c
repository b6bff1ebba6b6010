/* SPDX-License-Identifier: BSD-3-Clause */
#include "reta_nic.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_ring.h>

#include <haul-dpdk/port_info.h>

struct reta_nic_is reta_nic;

static struct {
	pthread_mutex_t lock;
	bool on;
	uint16_t port_id;
	struct rte_ring *rings[RETA_QUEUES_MAX];
	unsigned queues[RETA_ENTRIES];
	unsigned changes;
} n = {.lock = PTHREAD_MUTEX_INITIALIZER};

void reta_nic_begin(const struct haul_port *port)
{
	unsigned queues = haul_port_queues(port);
	struct haul_port_info info;
	char name[128];

	ck_assert_uint_le(queues, RETA_QUEUES_MAX);
	ck_assert_int_eq(haul_port_get_info(port, &info), 0);
	memset(n.rings, 0, sizeof(n.rings));
	for (unsigned q = 0; q < queues; q++) {
		snprintf(name, sizeof(name), "ETH_RXTX%u_%s", q, info.device);
		n.rings[q] = rte_ring_lookup(name);
		ck_assert_ptr_nonnull(n.rings[q]);
	}
	for (unsigned i = 0; i < RETA_ENTRIES; i++)
		n.queues[i] = i % queues;
	reta_nic = (struct reta_nic_is){0};
	n.changes = 0;
	n.port_id = haul_port_queue(port, 0).port_id;
	n.on = true;
}

void reta_nic_end(void)
{
	n.on = false;
}

unsigned reta_nic_changes(void)
{
	return n.changes;
}

unsigned reta_nic_queue(unsigned entry)
{
	unsigned queue;

	pthread_mutex_lock(&n.lock);
	queue = n.queues[entry];
	pthread_mutex_unlock(&n.lock);
	return queue;
}

void reta_nic_set(unsigned entry, unsigned queue)
{
	pthread_mutex_lock(&n.lock);
	n.queues[entry] = queue;
	pthread_mutex_unlock(&n.lock);
}

bool reta_nic_give(struct rte_mbuf *pkt, unsigned entry)
{
	bool done;

	pthread_mutex_lock(&n.lock);
	done = rte_ring_enqueue(n.rings[n.queues[entry]], pkt) == 0;
	pthread_mutex_unlock(&n.lock);
	return done;
}

static bool is_ours(uint16_t port_id)
{
	return n.on && port_id == n.port_id;
}

int __real_rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info);
int __wrap_rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info);
int __real_rte_eth_dev_conf_get(uint16_t port_id, struct rte_eth_conf *conf);
int __wrap_rte_eth_dev_conf_get(uint16_t port_id, struct rte_eth_conf *conf);
int __real_rte_eth_dev_rss_reta_query(
	uint16_t port_id, struct rte_eth_rss_reta_entry64 *groups, uint16_t size);
int __wrap_rte_eth_dev_rss_reta_query(
	uint16_t port_id, struct rte_eth_rss_reta_entry64 *groups, uint16_t size);
int __real_rte_eth_dev_rss_reta_update(
	uint16_t port_id, struct rte_eth_rss_reta_entry64 *groups, uint16_t size);
int __wrap_rte_eth_dev_rss_reta_update(
	uint16_t port_id, struct rte_eth_rss_reta_entry64 *groups, uint16_t size);

int __wrap_rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info)
{
	int err = __real_rte_eth_dev_info_get(port_id, info);

	if (is_ours(port_id) && !reta_nic.has_none)
		info->reta_size = RETA_ENTRIES;
	return err;
}

int __wrap_rte_eth_dev_conf_get(uint16_t port_id, struct rte_eth_conf *conf)
{
	int err = __real_rte_eth_dev_conf_get(port_id, conf);

	if (is_ours(port_id) && !reta_nic.rss_is_off)
		conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	return err;
}

int __wrap_rte_eth_dev_rss_reta_query(
	uint16_t port_id, struct rte_eth_rss_reta_entry64 *groups, uint16_t size)
{
	if (!is_ours(port_id))
		return __real_rte_eth_dev_rss_reta_query(port_id, groups, size);
	for (unsigned i = 0; i < RETA_ENTRIES; i++)
		if (groups[i / 64].mask >> i % 64 & 1)
			groups[i / 64].reta[i % 64] = (uint16_t)reta_nic_queue(i);
	return size == RETA_ENTRIES ? 0 : -EINVAL;
}

int __wrap_rte_eth_dev_rss_reta_update(
	uint16_t port_id, struct rte_eth_rss_reta_entry64 *groups, uint16_t size)
{
	if (!is_ours(port_id))
		return __real_rte_eth_dev_rss_reta_update(port_id, groups, size);
	if (reta_nic.error || size != RETA_ENTRIES)
		return reta_nic.error ? reta_nic.error : -EINVAL;
	n.changes++;
	for (unsigned i = 0; i < RETA_ENTRIES; i++) {
		if (!(groups[i / 64].mask >> i % 64 & 1))
			continue;
		if (reta_nic.in_change)
			reta_nic.in_change(i, groups[i / 64].reta[i % 64]);
		reta_nic_set(i, groups[i / 64].reta[i % 64]);
	}
	return 0;
}
