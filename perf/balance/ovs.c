/* SPDX-License-Identifier: BSD-3-Clause */
#include "ovs.h"

#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <haul-dpdk/io.h>

static struct {
	struct haul_app *app;
	struct haul_balance b;
	struct haul_balance_queue queues[QUEUES_MAX];
	struct haul_balance_move moves[QUEUES_MAX];
	struct haul_balance_carrier carriers[CARRIERS_MAX];
	uint64_t packets[QUEUES_MAX]; /* at the last look */
	struct haul_io_share shares[CARRIERS_MAX];
	bool is_spread;
	unsigned nb_queues;
	uint64_t nb_moves;
	int timer;
} o;

static bool read_queue(unsigned i, struct haul_balance_queue *q, uint64_t *packets)
{
	struct haul_bucket_stats bucket;
	struct haul_queue_stats queue;

	if (o.is_spread) {
		if (!haul_io_get_bucket_stats(o.app->io, 0, i, &bucket))
			return false;
		q->carrier = bucket.carrier;
		*packets = bucket.rx_packets;
		return true;
	}
	if (i >= haul_port_queues(o.app->ports[0]) ||
		!haul_io_get_queue_stats(o.app->io, 0, i, &queue))
		return false;
	q->carrier = queue.carrier;
	*packets = queue.rx_packets;
	return true;
}

static void look(void)
{
	for (unsigned i = 0; i < o.nb_queues; i++) {
		uint64_t packets = 0;

		(void)read_queue(i, &o.queues[i], &packets);
		o.queues[i].packets = packets - o.packets[i];
		o.packets[i] = packets;
	}
	for (unsigned c = 0; c < o.app->plan->carriers; c++) {
		struct haul_io_share *was = &o.shares[c], now;
		uint64_t work, all;

		haul_io_get_share(o.app->io, c, &now);
		work = now.work_ns - was->work_ns;
		all = work + now.empty_ns - was->empty_ns + now.asleep_ns - was->asleep_ns;
		o.carriers[c].work = all ? (double)work / (double)all : 0;
		*was = now;
	}
}

static void step(struct haul_app *app, int fd, void *arg)
{
	uint64_t ticks;
	char why[256];
	unsigned n;

	if (read(fd, &ticks, sizeof(ticks)) != (ssize_t)sizeof(ticks))
		return;
	look();
	n = rule_step(OVS, &o.b, haul_now(), o.queues, o.nb_queues, o.carriers, app->plan->carriers,
		o.moves);
	for (unsigned i = 0; i < n; i++)
		if ((o.is_spread ? haul_io_move_bucket : haul_io_move_queue)(
			    app->io, 0, o.moves[i].queue, o.moves[i].to, HAUL_S, why, sizeof(why)))
			haul_app_say(app->program, "%s", why);
		else
			o.nb_moves++;
}

int ovs_begin(struct haul_app *app)
{
	const struct itimerspec period = {{OVS_PERIOD / HAUL_S, 0}, {OVS_PERIOD / HAUL_S, 0}};
	struct haul_balance_queue q;
	uint64_t packets;

	o.app = app;
	o.is_spread = haul_port_queues(app->ports[0]) < app->plan->carriers;
	while (o.nb_queues < QUEUES_MAX && read_queue(o.nb_queues, &q, &packets))
		o.nb_queues++;
	o.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (o.timer >= 0 && timerfd_settime(o.timer, 0, &period, NULL) == 0 &&
		haul_app_watch(app, o.timer, step, NULL) == 0)
		return HAUL_APP_DONE;
	haul_app_say(app->program, "no timer: %m");
	return HAUL_APP_FAILED;
}

void ovs_end(void)
{
	if (o.timer > 0)
		close(o.timer);
}

uint64_t ovs_moves(void)
{
	return o.nb_moves;
}
