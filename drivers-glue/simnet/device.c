/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A frame becomes a packet of the receiving port's pool when it arrives, and takes the queue of its
 * flow, as with a NIC. What is sent is copied out of its buffers, so hosts share no memory.
 */
#include "simnet/device.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <haul/net.h>

#include "sim/fault.h"
#include "sim/world.h"
#include "simnet/ethdev.h"
#include "simnet/link.h"

struct rte_eth_fp_ops hauli_simnet_fp_ops[HAULI_SIMNET_FIRST + HAULI_SIMNET_MOST];

static struct hauli_simnet_dev *devs[HAULI_SIMNET_MOST];
static unsigned nb_devs; /* places that were ever taken */

struct hauli_simnet_dev *hauli_simnet_dev(uint16_t id)
{
	unsigned i = id - HAULI_SIMNET_FIRST;

	return id >= HAULI_SIMNET_FIRST && i < nb_devs ? devs[i] : NULL;
}

struct hauli_simnet_dev *hauli_simnet_dev_of(const char *name)
{
	for (unsigned i = nb_devs; i-- > 0;) /* the last one is asked for */
		if (devs[i] && strcmp(devs[i]->name, name) == 0)
			return devs[i];
	return NULL;
}

static void signal_fd(const struct hauli_simnet_rxq *q)
{
	uint64_t one = 1;

	if (q->fd >= 0)
		(void)!write(q->fd, &one, sizeof(one));
}

static uint16_t receive(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct hauli_simnet_rxq *q = queue;
	uint64_t value;
	uint16_t got = 0;

	if (q->n == 0)
		return 0;
	for (; got < n && q->n > 0; q->n--) {
		pkts[got++] = q->pkts[q->first];
		q->first = q->first + 1 < q->size ? q->first + 1 : 0;
	}
	if (q->n == 0 && q->fd >= 0)
		(void)!read(q->fd, &value, sizeof(value));
	return got;
}

static void has_room(struct hauli_sim_timer *timer)
{
	const struct hauli_simnet_dev *d = (const struct hauli_simnet_dev *)((char *)timer -
		offsetof(struct hauli_simnet_dev, room));

	hauli_sim_rouse(d->host);
}

/* A poller rests with packets that the device has not taken. It looks again when there is room. */
static void tell_of_room(struct hauli_simnet_dev *d)
{
	if (d->room.place || !d->node->out)
		return;
	d->room.fire = has_room;
	hauli_sim_at(&d->room, hauli_simlink_room_at(d->node->out));
}

static uint16_t transmit(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct hauli_simnet_dev *d = queue;
	uint16_t sent = 0;

	while (sent < n && d->node->out && hauli_simlink_has_room(d->node->out, d->tx_ring)) {
		struct rte_mbuf *m = pkts[sent++];
		struct hauli_frame *frame = hauli_frame_new(m->pkt_len);

		if (frame) {
			const void *bytes = rte_pktmbuf_read(m, 0, m->pkt_len, frame->data);

			if (bytes != frame->data)
				memcpy(frame->data, bytes, m->pkt_len);
			frame->from = d->node;
			hauli_simlink_send(d->node->out, frame);
			hauli_frame_put(frame);
		}
		d->stats.opackets++;
		d->stats.obytes += m->pkt_len;
		rte_pktmbuf_free(m);
	}
	if (sent < n)
		tell_of_room(d);
	return sent;
}

/* NULL: no buffer. */
static struct rte_mbuf *packet_of(
	const struct hauli_simnet_dev *d, const struct hauli_frame *frame, struct rte_mempool *pool)
{
	struct rte_mbuf *head = NULL, *last = NULL;

	if (hauli_sim_strikes_at(HAULI_SIM_NO_MBUF, d->node->name, NULL))
		return NULL;
	for (uint32_t at = 0; at < frame->len;) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
		uint32_t n;

		if (!m) {
			rte_pktmbuf_free(head);
			return NULL;
		}
		n = RTE_MIN(frame->len - at, (uint32_t)rte_pktmbuf_tailroom(m));
		memcpy(rte_pktmbuf_append(m, (uint16_t)n), frame->data + at, n);
		at += n;
		if (!head) {
			head = last = m;
			continue;
		}
		last->next = m;
		last = m;
		head->nb_segs++;
		head->pkt_len += n;
	}
	return head;
}

static bool takes(const struct hauli_simnet_dev *d, const struct hauli_frame *frame)
{
	const struct rte_ether_addr *to = (const struct rte_ether_addr *)frame->data;

	return d->promiscuous || rte_is_multicast_ether_addr(to) ||
		rte_is_same_ether_addr(to, &d->mac);
}

enum hauli_drop hauli_simnet_arrive(struct hauli_simnet_dev *d, const struct hauli_frame *frame)
{
	struct hauli_simnet_rxq *q;
	struct rte_mbuf *m;

	if (!d->started)
		return HAULI_DROP_STOPPED;
	if (frame->len > (uint32_t)d->mtu + RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN) {
		d->stats.ierrors++;
		return HAULI_DROP_LONG;
	}
	if (!takes(d, frame))
		return HAULI_DROP_FILTERED;
	m = packet_of(d, frame, d->rxqs[0].pool);
	if (!m) {
		d->stats.rx_nombuf++;
		return HAULI_DROP_NO_MBUF;
	}
	m->port = d->id;
	q = &d->rxqs[d->nb_rx > 1 ? (uint64_t)haul_net_flow(m) * d->nb_rx >> 32 : 0];
	if (q->n == q->size) {
		rte_pktmbuf_free(m);
		d->stats.imissed++;
		return HAULI_DROP_RX_FULL;
	}
	d->stats.ipackets++;
	d->stats.ibytes += frame->len;
	q->pkts[(q->first + q->n) % q->size] = m;
	if (q->n++ == 0)
		signal_fd(q);
	hauli_sim_rouse(d->host);
	return HAULI_DROP_NONE;
}

static void free_queues(struct hauli_simnet_dev *d)
{
	for (unsigned i = 0; i < d->nb_rx && d->rxqs; i++) {
		if (d->rxqs[i].fd >= 0)
			close(d->rxqs[i].fd);
		free(d->rxqs[i].pkts);
	}
	free(d->rxqs);
	free(d->rx_data);
	free(d->tx_data);
	free(d->none);
	d->rxqs = NULL;
	d->rx_data = d->tx_data = d->none = NULL;
	d->nb_rx = d->nb_tx = 0;
}

int hauli_simnet_configure(struct hauli_simnet_dev *d, uint16_t nb_rx, uint16_t nb_tx)
{
	struct rte_eth_fp_ops *ops = &hauli_simnet_fp_ops[d->id];

	free_queues(d);
	d->rxqs = calloc(nb_rx, sizeof(d->rxqs[0]));
	d->rx_data = calloc(nb_rx, sizeof(void *));
	d->tx_data = calloc(nb_tx, sizeof(void *));
	d->none = calloc(RTE_MAX(nb_rx, nb_tx), sizeof(void *));
	if (!d->rxqs || !d->rx_data || !d->tx_data || !d->none)
		return -ENOMEM;
	d->nb_rx = nb_rx;
	d->nb_tx = nb_tx;
	for (unsigned i = 0; i < nb_rx; i++) {
		d->rxqs[i] = (struct hauli_simnet_rxq){.dev = d, .fd = -1};
		d->rx_data[i] = &d->rxqs[i];
	}
	for (unsigned i = 0; i < nb_tx; i++)
		d->tx_data[i] = d;
	*ops = (struct rte_eth_fp_ops){
		.rx_pkt_burst = receive,
		.tx_pkt_burst = transmit,
		.rxq = {.data = d->rx_data, .clbk = d->none},
		.txq = {.data = d->tx_data, .clbk = d->none},
	};
	return 0;
}

int hauli_simnet_set_up_rxq(
	struct hauli_simnet_dev *d, uint16_t q, uint16_t ring, struct rte_mempool *pool)
{
	struct rte_mbuf **pkts = realloc(d->rxqs[q].pkts, ring * sizeof(pkts[0]));

	if (!pkts)
		return -ENOMEM;
	d->rxqs[q].pkts = pkts;
	d->rxqs[q].size = ring;
	d->rxqs[q].pool = pool;
	return 0;
}

int hauli_simnet_fd(struct hauli_simnet_dev *d, uint16_t q)
{
	if (d->rxqs[q].fd < 0)
		d->rxqs[q].fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return d->rxqs[q].fd;
}

void hauli_simnet_stop(struct hauli_simnet_dev *d)
{
	struct rte_mbuf *m;

	d->started = false;
	for (unsigned i = 0; i < d->nb_rx; i++)
		while (receive(&d->rxqs[i], &m, 1) == 1)
			rte_pktmbuf_free(m);
}

int hauli_simnet_attach(const char *name, const char *args)
{
	const char *at = args + strspn(args, ",");
	struct hauli_simnet_dev *d;
	struct hauli_node *node;
	unsigned i = 0;

	if (!hauli_sim_is_on())
		return -EPERM;
	node = hauli_net_node(at);
	if (!node)
		return -ENOMEM;
	if (node->dev)
		return -EBUSY;
	if (node->is_switch)
		return -EINVAL;
	while (i < nb_devs && devs[i])
		i++;
	if (i == HAULI_SIMNET_MOST)
		return -ENOSPC;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	snprintf(d->name, sizeof(d->name), "%s", name);
	d->id = (uint16_t)(HAULI_SIMNET_FIRST + i);
	d->mtu = RTE_ETHER_MTU;
	d->node = node;
	d->host = hauli_sim_host();
	memcpy(d->mac.addr_bytes, node->mac, sizeof(node->mac));
	node->dev = d;
	devs[i] = d;
	nb_devs = RTE_MAX(nb_devs, i + 1);
	return 0;
}

void hauli_simnet_detach(struct hauli_simnet_dev *d)
{
	hauli_sim_cancel(&d->room);
	hauli_simnet_stop(d);
	free_queues(d);
	d->node->dev = NULL;
	devs[d->id - HAULI_SIMNET_FIRST] = NULL;
	free(d);
}

void hauli_simnet_detach_host(unsigned host)
{
	for (unsigned i = 0; i < nb_devs; i++)
		if (devs[i] && devs[i]->host == host)
			hauli_simnet_detach(devs[i]);
}
