/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A frame costs an event, at the time at which it arrives; a link on which nothing happens costs
 * nothing. The queue is a list of times: how many frames wait follows from the clock.
 *
 * Losses in rows follow the model of Gilbert (1960), with states of which one loses everything: the
 * mean length of a row is `burst`, and the share of frames that are lost is `loss`.
 */
#include "simnet/link.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <haul/base.h>
#include <haul/trace_file.h>

#include "base/assert.h"
#include "sim/fault.h"
#include "sim/world.h"
#include "simnet/arrows.h"
#include "simnet/order.h"
#include "simnet/pcap.h"
#include "simnet/switch.h"
#include "simnet/weather.h"

#define QUEUE 1000
#define BURST_MOST 15 /* more frames that a fault loses in a row */
#define DELAY_MOST (2 * HAUL_S) /* by a fault */
#define AROUND 24 /* bytes of a frame on the wire besides its own: preamble, checksum, gap */

/* On its way. */
struct flight {
	struct hauli_sim_timer timer; /* first */
	struct hauli_simlink *link;
	struct hauli_frame *frame;
	uint32_t arrow;
};

static struct hauli_simlink *links; /* all directions */

static struct {
	void (*fn)(const struct haul_sim_frame *frame, void *arg);
	void *arg;
} watcher;

void haul_sim_watch(void (*fn)(const struct haul_sim_frame *frame, void *arg), void *arg)
{
	watcher.fn = fn;
	watcher.arg = arg;
}

static void tell(enum haul_sim_fate fate, enum hauli_drop why, const struct hauli_simlink *l,
	const struct hauli_frame *frame)
{
	struct haul_sim_frame f = {
		.fate = fate,
		.why = hauli_drop_names[why],
		.from = fate == HAUL_SIM_ARRIVED ? frame->from->name : l->from->name,
		.to = l->to->name,
		.at = hauli_sim_now(),
		.data = frame->data,
		.len = frame->len,
	};

	if (watcher.fn)
		watcher.fn(&f, watcher.arg);
}

static struct hauli_simlink *new_link(struct hauli_node *from, struct hauli_node *to)
{
	struct hauli_simlink *l = hauli_sim_needed(calloc(1, sizeof(*l)));

	*l = (struct hauli_simlink){.from = from, .to = to, .next = links, .nature.queue = QUEUE};
	hauli_random_init(&l->random, hauli_sim_random());
	links = l;
	if (from->is_switch)
		hauli_switch_add(from->sw, l);
	else
		from->out = l;
	return l;
}

struct hauli_simlink *hauli_simlink_find(const struct hauli_node *from, const struct hauli_node *to)
{
	struct hauli_simlink *l = links;

	if (from->out)
		return from->out->to == to ? from->out : NULL;
	if (to->out)
		return to->out->to == from ? to->out->back : NULL;
	while (l && (l->from != from || l->to != to))
		l = l->next;
	return l;
}

struct hauli_simlink *hauli_simlink_between(struct hauli_node *from, struct hauli_node *to)
{
	struct hauli_simlink *l = hauli_simlink_find(from, to);

	if (l)
		return l;
	if (from->out || to->out || from == to)
		return NULL;
	l = new_link(from, to);
	l->back = new_link(to, from);
	l->back->back = l;
	return l;
}

static bool strikes(struct hauli_simlink *l, double probability)
{
	return probability > 0 &&
		(double)(hauli_random_next(&l->random) >> 11) * 0x1p-53 < probability;
}

static uint64_t up_to(struct hauli_simlink *l, uint64_t most)
{
	return most ? hauli_random_next(&l->random) % (most + 1) : 0;
}

static uint64_t exponential(struct hauli_simlink *l, uint64_t mean)
{
	double u = (double)((hauli_random_next(&l->random) >> 11) + 1) * 0x1p-53;

	return (uint64_t)(-log(u) * (double)mean);
}

static bool is_hit(const struct hauli_simlink *l, enum hauli_sim_fault kind)
{
	return hauli_sim_strikes_at(kind, l->from->name, l->to->name);
}

static bool is_lost(struct hauli_simlink *l)
{
	const struct hauli_simlink_nature *n = &l->nature;

	if (is_hit(l, HAULI_SIM_BURST_LOSS))
		l->to_lose = 1 + (unsigned)hauli_sim_fault_draw(HAULI_SIM_BURST_LOSS, BURST_MOST);
	if (l->to_lose > 0) {
		l->to_lose--;
		return true;
	}
	if (is_hit(l, HAULI_SIM_LOSS))
		return true;

	if (n->burst <= 1 || n->loss >= 1)
		return strikes(l, n->loss);
	if (l->loses)
		l->loses = !strikes(l, 1 / n->burst);
	else
		l->loses = strikes(l, n->loss / (n->burst * (1 - n->loss)));
	return l->loses;
}

void hauli_simlinks_calm(void)
{
	for (struct hauli_simlink *l = links; l; l = l->next)
		l->to_lose = 0;
}

static void forget_gone(struct hauli_simlink *l)
{
	uint64_t now = hauli_sim_now();

	while (l->queued > 0 && l->leaves[l->first] <= now) {
		l->first = l->first + 1 < l->room ? l->first + 1 : 0;
		l->queued--;
	}
}

bool hauli_simlink_has_room(struct hauli_simlink *l, unsigned ring)
{
	if (!l->nature.rate)
		return true;
	forget_gone(l);
	return l->queued < ring || l->queued >= l->nature.queue; /* then it is dropped */
}

uint64_t hauli_simlink_room_at(const struct hauli_simlink *l)
{
	return l->leaves[l->first];
}

/* When a frame has left the queue, which it enters; 0: the queue is full. */
static uint64_t queue(struct hauli_simlink *l, uint32_t len)
{
	uint64_t now = hauli_sim_now();

	if (!l->nature.rate)
		return now;
	forget_gone(l);
	if (l->queued >= l->nature.queue)
		return 0;
	if (l->queued == l->room) {
		uint64_t *more = hauli_sim_needed(calloc(2 * l->room + 16, sizeof(more[0])));

		for (unsigned i = 0; i < l->queued; i++)
			more[i] = l->leaves[(l->first + i) % l->room];
		free(l->leaves);
		l->leaves = more;
		l->first = 0;
		l->room = 2 * l->room + 16;
	}
	if (l->free_at < now)
		l->free_at = now;
	l->free_at += (uint64_t)(len + AROUND) * 8 * HAUL_S / l->nature.rate;
	l->leaves[(l->first + l->queued++) % l->room] = l->free_at;
	return l->free_at;
}

static void lose(struct hauli_simlink *l, const struct hauli_frame *frame, enum hauli_drop why)
{
	l->stats.lost++;
	tell(HAUL_SIM_LOST, why, l, frame);
}

/* Before it is on its way. */
static void lose_here(struct hauli_simlink *l, const struct hauli_frame *frame, enum hauli_drop why)
{
	uint32_t arrow = hauli_arrow_begins(l, frame, HAUL_TRACE_SENT);

	hauli_arrow_is_lost(l->from, frame, arrow, why);
	lose(l, frame, why);
}

static void arrive(struct hauli_sim_timer *timer)
{
	struct flight *flight = (struct flight *)timer;
	struct hauli_simlink *l = flight->link;
	struct hauli_frame *frame = flight->frame;
	uint32_t arrow = flight->arrow;
	enum hauli_drop why = HAULI_DROP_DOWN;

	free(flight);
	l->stats.in_flight--;
	if (l->to->is_switch && !l->is_down) /* it is sent on at once */
		hauli_arrow_arrives(l, frame, arrow);
	if (!l->is_down)
		why = hauli_net_arrive(l->to, l, frame);
	if (why != HAULI_DROP_NONE) {
		hauli_arrow_is_lost(l->to, frame, arrow, why);
		lose(l, frame, why);
	} else {
		l->stats.arrived++;
		if (!l->to->is_switch) {
			hauli_arrow_arrives(l, frame, arrow);
			tell(HAUL_SIM_ARRIVED, why, l, frame);
		}
	}
	hauli_frame_put(frame);
}

static void fly(
	struct hauli_simlink *l, struct hauli_frame *frame, enum haul_trace_frame fate, uint64_t at)
{
	struct flight *flight = hauli_sim_needed(calloc(1, sizeof(*flight)));

	flight->timer.fire = arrive;
	flight->link = l;
	flight->frame = hauli_frame_get(frame);
	flight->arrow = hauli_arrow_begins(l, frame, fate);
	l->stats.in_flight++;
	hauli_sim_at(&flight->timer, at);
}

static struct hauli_frame *flipped(struct hauli_simlink *l, const struct hauli_frame *frame)
{
	struct hauli_frame *copy = hauli_sim_needed(hauli_frame_new(frame->len));
	uint32_t bit = frame->len ? hauli_random_below(&l->random, frame->len * 8) : 0;

	memcpy(copy->data, frame->data, frame->len);
	copy->from = frame->from;
	if (frame->len)
		copy->data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	hauli_order_spare(frame);
	hauli_order_spare(copy);
	return copy;
}

/* At what time a frame arrives that has left the queue. */
static uint64_t arrival(struct hauli_simlink *l, const struct hauli_frame *frame, uint64_t left)
{
	const struct hauli_simlink_nature *n = &l->nature;
	uint64_t at = left + n->delay + up_to(l, n->jitter);

	if (n->tail)
		at += exponential(l, n->tail);
	if (is_hit(l, HAULI_SIM_DELAY))
		at += hauli_sim_fault_draw_log(HAULI_SIM_DELAY, DELAY_MOST);
	if (at < l->clogged_until)
		at = l->clogged_until;
	if (is_hit(l, HAULI_SIM_REORDER)) {
		hauli_order_spare(frame);
		return at + hauli_sim_fault_draw_log(HAULI_SIM_REORDER, 100 * HAUL_MS);
	}
	if (strikes(l, n->reorder)) {
		hauli_order_spare(frame);
		return at + 1 + up_to(l, 2 * (n->delay + n->jitter + n->tail) + 100 * HAUL_US);
	}
	if (at < l->last_at)
		at = l->last_at;
	l->last_at = at;
	return at;
}

void hauli_simlink_send(struct hauli_simlink *l, struct hauli_frame *frame)
{
	const struct hauli_simlink_nature *n = &l->nature;
	uint64_t left;

	l->stats.sent++;
	tell(HAUL_SIM_SENT, HAULI_DROP_NONE, l, frame);
	hauli_order_look(l, frame);
	hauli_weather(l, frame->from);
	if (l->pcap)
		hauli_sim_pcap_write(l->pcap, hauli_sim_now(), frame->data, frame->len);
	if (l->is_down) {
		lose_here(l, frame, HAULI_DROP_DOWN);
		return;
	}
	if (n->mtu && frame->len > n->mtu) {
		lose_here(l, frame, HAULI_DROP_MTU);
		return;
	}
	left = queue(l, frame->len);
	if (!left) {
		lose_here(l, frame, HAULI_DROP_QUEUE);
		return;
	}
	if (is_lost(l)) {
		lose_here(l, frame, HAULI_DROP_LOSS);
		return;
	}
	frame = is_hit(l, HAULI_SIM_FLIP) || strikes(l, n->flip) ? flipped(l, frame)
								 : hauli_frame_get(frame);
	fly(l, frame, HAUL_TRACE_SENT, arrival(l, frame, left));
	if (is_hit(l, HAULI_SIM_DUPLICATE) || strikes(l, n->duplicate)) {
		l->stats.duplicated++;
		fly(l, frame, HAUL_TRACE_DUPLICATED, arrival(l, frame, left));
	}
	hauli_frame_put(frame);
}

void hauli_simlink_clog(struct hauli_simlink *l, uint64_t ns)
{
	l->clogged_until = hauli_sim_now() + ns;
}

void hauli_simlink_set_up(struct hauli_simlink *l, bool up)
{
	l->is_down = l->back->is_down = !up;
}

bool hauli_simlink_is_up(const struct hauli_simlink *l)
{
	return !l->is_down;
}

uint32_t hauli_simlink_mbps(const struct hauli_simlink *l)
{
	return l->nature.rate ? (uint32_t)(l->nature.rate / 1000000) : 100000;
}

void haul_sim_link_get_stats(const char *from, const char *to, struct haul_sim_link_stats *stats)
{
	struct hauli_simlink *l;

	HAUL_MISUSE_IF(!from || !to || !stats, "NULL is given");
	l = hauli_simlink_find(hauli_net_node(from), hauli_net_node(to));
	HAUL_MISUSE_IF(!l, "there is no link between %s and %s", from, to);
	*stats = l->stats;
}

static void add(struct haul_sim_link_stats *sum, const struct haul_sim_link_stats *s)
{
	sum->sent += s->sent;
	sum->duplicated += s->duplicated;
	sum->arrived += s->arrived;
	sum->lost += s->lost;
	sum->in_flight += s->in_flight;
}

void haul_sim_net_get_stats(struct haul_sim_link_stats *stats)
{
	*stats = (struct haul_sim_link_stats){0};
	for (struct hauli_simlink *l = links; l; l = l->next)
		add(stats, &l->stats);
}
