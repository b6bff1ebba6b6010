/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each second in which a link has traffic is an opportunity of faults that concern the link, and
 * each in which the network has, one of those of the network; so a network in which nothing happens
 * costs nothing. What a fault has made ends by a timer, or when faults stop.
 */
#include "simnet/weather.h"

#include <stdlib.h>

#include <haul/base.h>

#include "sim/fault.h"
#include "sim/world.h"

#define LONGEST (10 * HAUL_S)

struct trouble {
	struct hauli_sim_timer timer; /* first */
	struct trouble *next;
	struct hauli_simlink *down; /* or a cut: */
	const struct hauli_node *from, *to;
};

static struct trouble *troubles;
static uint64_t second; /* the last one in which the network had traffic */

static void end(struct hauli_sim_timer *timer)
{
	struct trouble *t = (struct trouble *)timer, **at = &troubles;

	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	if (t->down)
		hauli_simlink_set_up(t->down, true);
	else
		hauli_net_cut(t->from, t->to, false);
	free(t);
}

static void end_all(void)
{
	while (troubles) {
		hauli_sim_cancel(&troubles->timer);
		end(&troubles->timer);
	}
	hauli_simlinks_calm();
}

static void begin(const struct trouble *what, uint64_t ns)
{
	struct trouble *t = hauli_sim_needed(malloc(sizeof(*t)));

	*t = *what;
	t->timer = (struct hauli_sim_timer){.fire = end};
	t->next = troubles;
	troubles = t;
	hauli_sim_at(&t->timer, hauli_sim_now() + ns);
}

void hauli_weather(struct hauli_simlink *l, const struct hauli_node *from)
{
	uint64_t now = hauli_sim_now() / HAUL_S;
	const struct hauli_node *to = l->to;

	hauli_sim_faults_stopped = end_all;
	if (!to->is_switch && now != second) {
		second = now;
		if (hauli_sim_strikes_at(HAULI_SIM_PARTITION, from->name, to->name) &&
			!hauli_net_is_cut(from, to)) {
			hauli_net_cut(from, to, true);
			begin(&(struct trouble){.from = from, .to = to},
				hauli_sim_fault_draw_log(HAULI_SIM_PARTITION, LONGEST));
		}
	}
	if (now == l->second)
		return;
	l->second = now;
	if (hauli_sim_strikes_at(HAULI_SIM_CLOG, l->from->name, to->name))
		hauli_simlink_clog(l, hauli_sim_fault_draw_log(HAULI_SIM_CLOG, LONGEST));
	if (hauli_sim_strikes_at(HAULI_SIM_LINK_DOWN, l->from->name, to->name) &&
		hauli_simlink_is_up(l)) {
		hauli_simlink_set_up(l, false);
		begin(&(struct trouble){.down = l},
			hauli_sim_fault_draw_log(HAULI_SIM_LINK_DOWN, LONGEST));
	}
}
