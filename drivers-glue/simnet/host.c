/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts: threads that are started together, and may be gone together. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul-sim/net.h>

#include "base/assert.h"
#include "port/kind.h"
#include "port/ports.h"
#include "sim/fault.h"
#include "sim/hosts.h"
#include "sim/real.h"
#include "sim/steps.h"
#include "sim/world.h"
#include "simnet/device.h"
#include "simnet/pool.h"

struct host {
	const char *name;
	unsigned number; /* of the simulation's; while it runs */
	int (*main)(void *arg);
	void *arg;
	int result;
	bool runs, was_killed, may_die;
	struct hauli_sim_timer again; /* the start after a fault has killed it */
};

static struct host **hosts;
static unsigned nb_hosts;

static struct host *find(const char *name)
{
	for (unsigned i = nb_hosts; i-- > 0;)
		if (strcmp(hosts[i]->name, name) == 0)
			return hosts[i];
	return NULL;
}

static struct host *add(const char *name)
{
	struct host *h = hauli_sim_needed(calloc(1, sizeof(*h)));

	hosts = hauli_sim_needed(realloc(hosts, (nb_hosts + 1) * sizeof(hosts[0])));
	h->name = hauli_sim_needed(strdup(name));
	hosts[nb_hosts++] = h;
	return h;
}

#define AWAY_MOST (10 * HAUL_S) /* a host that a fault has killed */

static void *body(void *arg)
{
	struct host *h = arg;

	h->result = h->main(h->arg);
	h->runs = false;
	hauli_sim_wake(h, UINT32_MAX);
	return NULL;
}

static void start_thread(unsigned host, void *(*fn)(void *), void *arg)
{
	struct hauli_sim_thread *t = hauli_sim_start_on(host, fn, arg);

	hauli_sim_need(t);
	hauli_sim_detach(t);
}

static void start(struct host *h)
{
	h->number = hauli_sim_host_new(h->name);
	h->runs = true;
	h->was_killed = false;
	start_thread(h->number, body, h);
}

void haul_sim_host(const char *name, int (*main)(void *arg), void *arg)
{
	struct host *h;

	HAUL_MISUSE_IF(!name || !main, "the name or the function is NULL");
	HAUL_MISUSE_IF(!hauli_sim_is_on(), "called outside of a simulation");
	h = find(name);
	HAUL_MISUSE_IF(h && h->runs, "there is a host '%s', which runs", name);
	if (!h)
		h = add(name);
	hauli_sim_cancel(&h->again);
	h->main = main;
	h->arg = arg;
	start(h);
}

int haul_sim_wait(const char *name)
{
	struct host *h = find(name);

	HAUL_MISUSE_IF(!h, "there is no host '%s'", name);
	while (h->runs || h->again.place)
		(void)hauli_sim_wait(h, HAULI_NEVER);
	return h->was_killed ? -1 : h->result;
}

/* What the threads of a host have left. */
static void clear_away(unsigned host)
{
	struct haul_port *port = hauli_ports_open(), *next;

	for (; port; port = next) {
		next = port->next;
		if (hauli_sim_memory_has(host, port))
			hauli_ports_remove(port);
	}
	hauli_simnet_detach_host(host);
	hauli_simnet_free_host(host);
	hauli_sim_forget_runtimes(host);
	hauli_sim_memory_free(host);
	hauli_sim_host_forget(host);
}

void haul_sim_kill(const char *name)
{
	struct host *h = find(name);

	HAUL_MISUSE_IF(!h, "there is no host '%s'", name);
	HAUL_MISUSE_IF(h->number == hauli_sim_host(), "a host cannot kill itself");
	while (h->runs && !hauli_sim_kill(h->number))
		hauli_sim_yield();
	if (!h->runs)
		return;
	h->runs = false;
	h->was_killed = true;
	clear_away(h->number);
	hauli_sim_wake(h, UINT32_MAX);
}

static void start_again(struct hauli_sim_timer *timer)
{
	start((struct host *)((char *)timer - offsetof(struct host, again)));
}

void haul_sim_signal(const char *name, int sig)
{
	struct host *h = find(name);

	HAUL_MISUSE_IF(!h || !h->runs, "there is no host '%s' that runs", name);
	HAUL_MISUSE_IF(sig < 1 || sig > 63, "%d is no signal", sig);
	hauli_sim_host_signal(h->number, sig);
}

/* Each second of a host is an opportunity. */
static void *kill_some(void *unused)
{
	hauli_sim_background();
	for (;;) {
		(void)hauli_sim_wait(NULL, hauli_sim_now() + HAUL_S);
		for (unsigned i = 0; i < nb_hosts; i++) {
			struct host *h = hosts[i];

			if (!h->may_die || !h->runs ||
				!hauli_sim_strikes_at(HAULI_SIM_KILL, h->name, NULL))
				continue;
			haul_sim_kill(h->name);
			h->again.fire = start_again;
			hauli_sim_at(&h->again,
				hauli_sim_now() +
					hauli_sim_fault_draw_log(HAULI_SIM_KILL, AWAY_MOST));
		}
	}
	return NULL;
}

void haul_sim_may_die(const char *name)
{
	static bool begun;
	struct host *h = find(name);

	HAUL_MISUSE_IF(!h, "there is no host '%s'", name);
	h->may_die = true;
	if (begun)
		return;
	begun = true;
	start_thread(hauli_sim_host_new(""), kill_some, NULL);
}

/* stdout and stderr are those of all hosts: a program that ends flushes them. */
HAULI_SIM_REPLACED int fclose(FILE *file)
{
	if ((file == stdout || file == stderr) && hauli_sim_is_on() && hauli_sim_host() > 0)
		return fflush(file);
	return HAULI_SIM_REAL(fclose)(file);
}

const char *haul_sim_host_name(void)
{
	return hauli_sim_is_on() ? hauli_sim_host_name(hauli_sim_host()) : "";
}
