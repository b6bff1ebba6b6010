/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with sick handlers: the last byte of a packet says what its handler does. Those of
 * letters in upper case are what docs/guide/diagnose.md shows.
 */
#include <errno.h>

#include <haul-app/app.h>
#include <haul/haul.h>

static struct haul_mutex mutex;
static struct haul_chan *chan; /* nobody sends there */

/* Exported, so that call stacks have their names. */
#define SITE __attribute__((noinline, visibility("default"))) void
SITE sick_parks(void);
SITE sick_sleeps(void);
SITE sick_locks(void);
SITE sick_receives(void);
SITE sick_yields(void);
SITE sick_deep(unsigned depth, unsigned *unwound);
SITE sick_computes(uint64_t ns);
SITE sick_holds(void);
SITE sick_leaks(void);

SITE sick_parks(void)
{
	while (haul_park(HAUL_FOREVER) != -ECANCELED)
		;
}

SITE sick_sleeps(void)
{
	while (haul_sleep(3600 * HAUL_S) != -ECANCELED)
		;
}

/* The first one keeps the mutex. */
SITE sick_locks(void)
{
	if (haul_mutex_lock_by(&mutex, HAUL_FOREVER) != 0)
		return;
	haul_park(HAUL_FOREVER);
	haul_mutex_unlock(&mutex);
}

SITE sick_receives(void)
{
	char value;

	while (haul_chan_recv(chan, &value, HAUL_FOREVER) != -ECANCELED)
		;
}

SITE sick_yields(void)
{
	while (!haul_cancelled())
		haul_yield();
}

/* Another call stack with each depth. What follows the call keeps it from becoming a loop. */
SITE sick_deep(unsigned depth, unsigned *unwound)
{
	if (depth > 0)
		sick_deep(depth - 1, unwound);
	else
		while (haul_park(HAUL_FOREVER) != -ECANCELED)
			;
	++*unwound;
}

SITE sick_computes(uint64_t ns)
{
	for (uint64_t until = haul_in(ns); haul_now() < until;)
		;
}

SITE sick_holds(void)
{
	if (haul_mutex_lock_by(&mutex, HAUL_FOREVER) != 0)
		return;
	haul_sleep(700 * HAUL_MS); /* with the lock */
	haul_mutex_unlock(&mutex);
}

static void *session(void *arg)
{
	sick_receives();
	return NULL;
}

SITE sick_leaks(void)
{
	haul_spawn(NULL, session, NULL, &(struct haul_coro_opts){.name = "session"});
}

static void on_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	char kind = *rte_pktmbuf_mtod_offset(pkt, const char *, pkt->pkt_len - 1);
	unsigned unwound = 0;

	switch (kind) {
	case 'p':
		sick_parks();
		break;
	case 's':
		sick_sleeps();
		break;
	case 'l':
		sick_locks();
		break;
	case 'r':
		sick_receives();
		break;
	case 'y':
		sick_yields();
		break;
	case '0' ... '9':
		sick_deep((unsigned)(kind - '0'), &unwound);
		break;
	case 'H':
		sick_computes(400 * HAUL_MS);
		break;
	case 'Q':
		sick_computes(900 * HAUL_US);
		break;
	case 'K':
		sick_holds();
		break;
	case 'L':
		sick_leaks();
		break;
	case 'W': /* well, and quick */
		haul_sleep(2 * HAUL_MS); /* at any moment */
		break;
	default: /* this one is well */
		break;
	}
	haul_drop(rx, &pkt, 1, HAUL_DROP_CONSUMED);
}

static int opened(struct haul_app *app)
{
	return haul_chan_create(&chan, 1, 1) == 0 ? HAUL_APP_DONE : HAUL_APP_FAILED;
}

static void closed(struct haul_app *app)
{
	if (chan)
		haul_chan_destroy(chan);
}

int main(int argc, char **argv)
{
	static const struct haul_app_program program = {.name = "sick"};
	static const struct haul_app_hooks hooks = {
		.on_packet = on_packet, .opened = opened, .closed = closed};

	return haul_app_main(&program, &hooks, argc, argv);
}
