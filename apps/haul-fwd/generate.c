/* SPDX-License-Identifier: BSD-3-Clause */
/* The generator: sends what is due. */
#include "generate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "modes/modes.h"

#define START_IN (50 * HAUL_MS) /* from the call on: time for all carriers to learn of the start */
#define STOP_IN (20 * HAUL_MS)
#define END_PERIOD (10 * HAUL_MS) /* between checks whether everything was sent */
#define PAST_RUNS_MAX 16
#define LOST_AFTER HAUL_S /* after this time a closed loop no longer waits for its packets */

struct generate generate;

const struct haul_app_counter generate_counters[] = {
	[GENERATE_SENT] = {.name = "sent"},
	[GENERATE_RECEIVED] = {.name = "received"},
	[GENERATE_REORDERED] = {.name = "reordered"},
	[GENERATE_DUPLICATED] = {.name = "duplicated"},
	[GENERATE_FOREIGN] = {.name = "foreign"},
	[GENERATE_UNSTAMPED] = {.name = "unstamped"},
	{0},
};

static bool replays_own_times(void)
{
	return generate.options.replay.n > 0 && generate.options.speed > 0;
}

static bool is_replayed_to_the_end(const struct generate_stream *s)
{
	return generate.options.replay.n > 0 && generate.options.loops > 0 &&
		s->loop >= generate.options.loops;
}

static uint64_t time_of_frame(const struct generate_stream *s)
{
	const struct replay *r = &generate.options.replay;

	return (uint64_t)(((double)s->loop * (double)r->length_ns +
				  (double)r->frames[s->frame].at) /
		generate.options.speed);
}

/* The time of the next packet, and ARRIVALS_END without one. Moves the arrival process. */
static uint64_t next_due(struct generate_stream *s, uint64_t start)
{
	uint64_t at;

	if (is_replayed_to_the_end(s))
		return ARRIVALS_END;
	if (replays_own_times())
		return start + time_of_frame(s);
	at = arrivals_next(&s->arrivals);
	return at == ARRIVALS_END ? ARRIVALS_END : start + at;
}

/* True if packets have times of their own: else they are due when they are sent. */
static bool has_times(void)
{
	return !generate.options.plan.as_fast_as_possible && generate.options.closed_loop == 0;
}

/* Call when the packet that was due is sent: finds the next one. */
static void advance(struct generate_stream *s, uint64_t start)
{
	if (generate.options.replay.n > 0 && ++s->frame == generate.options.replay.n) {
		s->frame = 0;
		s->loop++;
	}
	if (has_times())
		s->due = next_due(s, start);
	else if (is_replayed_to_the_end(s))
		s->due = ARRIVALS_END;
}

/* The carriers that send on a port are the first ones with a queue: as many as there are flows, or
 * one if a file is replayed, in its order. Returns their number; *before: those before this one. */
static unsigned senders(unsigned port, unsigned carrier, unsigned *before)
{
	unsigned most = generate.options.replay.n > 0 ? 1 : generate.options.flows;
	unsigned n = 0;
	unsigned c;

	*before = 0;
	for (c = 0; c < generate.app->plan->carriers; c++) {
		if (!haul_io_txq(generate.app->io, port, c))
			continue;
		*before += c < carrier;
		n++;
	}
	return n < most ? n : most;
}

/* Divides the arrivals among all streams, and the flows of a port among its senders. */
static void begin_stream(struct generate_stream *s, const struct haul_rx *rx, uint64_t start)
{
	const struct generate_options *o = &generate.options;
	unsigned of_port, mine, p, ignored, stream = 0, all = 0;

	s->begun = true;
	s->due = ARRIVALS_END;
	for (p = 0; p < generate.app->nb_ports; p++) {
		if (p == rx->port)
			stream = all;
		all += senders(p, 0, &ignored);
	}
	of_port = senders(rx->port, rx->carrier, &mine);
	if (mine >= of_port)
		return;
	stream += mine;
	s->due = start;
	s->turn.from = (uint32_t)((uint64_t)o->flows * mine / of_port);
	s->turn.to = (uint32_t)((uint64_t)o->flows * (mine + 1) / of_port);
	s->turn.flow = s->turn.from;
	arrivals_init(&s->arrivals, &o->plan, stream, all);
	arrivals_random_init(&s->random, o->plan.seed + stream + 1);
	if (has_times())
		s->due = next_due(s, start);
}

/* Writes n packets with the same times. */
static void fill_stamped(struct generate_stream *s, const struct haul_rx *rx,
	struct rte_mbuf **pkts, uint16_t n, uint64_t due, uint64_t now)
{
	const struct generate_options *o = &generate.options;
	const struct packet_shape *shape =
		(struct packet_shape *)fwd_versions_get(&generate.shapes) + rx->port;
	const struct stamp stamp = {
		.intended = due,
		.late = now - due,
		.flow = (uint16_t)(rx->port * o->flows),
		.run = generate.run,
	};
	uint64_t random;
	uint16_t i;

	if (o->sizes.n == 1) {
		packet_fill(shape, pkts, n, o->sizes.list[0], &s->turn, &stamp);
		return;
	}
	for (i = 0; i < n; i++) {
		random = o->sizes.n == 0 ? arrivals_random_next(&s->random) : 0;
		packet_fill(shape, pkts + i, 1, sizes_pick(&o->sizes, s->sent + i, random),
			&s->turn, &stamp);
	}
}

static void fill_replayed(const struct generate_stream *s, struct rte_mbuf *pkt)
{
	const struct replay_frame *f = &generate.options.replay.frames[s->frame];

	memcpy(rte_pktmbuf_mtod(pkt, void *), f->bytes, f->len);
	pkt->data_len = f->len;
	pkt->pkt_len = f->len;
}

static void record_lateness(struct generate_stream *s, uint64_t due, uint64_t now)
{
	uint64_t since = due;

	if (s->blocked_at > due) {
		s->blocked++;
		since = s->blocked_at;
	}
	haul_hist_add(&s->late, now - since, 1);
}

/* Writes the packet that is due into pkt. */
static void produce(struct generate_stream *s, const struct haul_rx *rx, struct rte_mbuf *pkt,
	uint64_t start, uint64_t now)
{
	if (has_times())
		record_lateness(s, s->due, now);
	else
		s->due = now;
	if (generate.options.replay.n > 0)
		fill_replayed(s, pkt);
	else
		fill_stamped(s, rx, &pkt, 1, s->due, now);
	s->sent++;
	advance(s, start);
}

/* The number of packets that a closed loop may send now. */
static uint16_t room_of(struct generate_carrier *c, uint16_t n, uint64_t now)
{
	uint64_t most = generate.options.closed_loop;

	if (c->out >= most && now - c->last_at >= LOST_AFTER)
		c->out = 0;
	if (c->out >= most)
		return 0;
	return most - c->out < n ? (uint16_t)(most - c->out) : n;
}

/* Sends up to n packets that are due by a time, with one buffer for each. */
static uint16_t send_due(struct generate_stream *s, struct generate_carrier *c,
	const struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n, uint64_t now)
{
	uint64_t by = c->stop != 0 && c->stop < now ? c->stop : now;
	uint16_t i;

	for (i = 0; i < n && s->due <= by; i++) {
		pkts[i] = rte_pktmbuf_alloc(generate.pool);
		if (!pkts[i]) {
			s->no_buffer++;
			break;
		}
		produce(s, rx, pkts[i], c->start, now);
	}
	return i;
}

/* The same while n packets are due: takes all buffers, and writes all frames, at once. */
static uint16_t send_burst(struct generate_stream *s, struct generate_carrier *c,
	const struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n, uint64_t now)
{
	uint16_t i;

	if (rte_pktmbuf_alloc_bulk(generate.pool, pkts, n) != 0) {
		s->no_buffer++;
		return 0;
	}
	if (generate.options.replay.n == 0) {
		s->due = now;
		fill_stamped(s, rx, pkts, n, now, now);
		s->sent += n;
		return n;
	}
	for (i = 0; i < n && s->due <= now; i++)
		produce(s, rx, pkts[i], c->start, now);
	if (i < n)
		rte_pktmbuf_free_bulk(pkts + i, n - i); /* the end of a replay */
	return i;
}

static uint16_t generate_source(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	struct generate_carrier *c = &generate.carriers[rx->carrier];
	struct generate_stream *s = generate_stream_of(rx->carrier, rx->port);
	uint64_t now;
	uint16_t sent;

	if (c->start == 0)
		return 0;
	now = stamp_clock();
	if (!s->begun)
		begin_stream(s, rx, c->start);
	if (n == 0)
		s->blocked_at = now;
	/* After the stop only packets are sent that were due before. */
	if (now < s->due || (c->stop != 0 && now > c->stop && !has_times()))
		return 0;
	if (generate.options.closed_loop > 0)
		n = room_of(c, n, now);
	if (generate.options.plan.as_fast_as_possible)
		sent = send_burst(s, c, rx, pkts, n, now);
	else
		sent = send_due(s, c, rx, pkts, n, now);
	if (sent > 0)
		haul_app_count(GENERATE_SENT, sent);
	c->out += sent;
	c->last_at = sent > 0 ? now : c->last_at;
	return sent;
}

uint64_t generate_backlog(const struct generate_stream *s, uint64_t by, uint64_t limit)
{
	struct generate_stream ahead = *s;
	uint64_t n = 0;

	if (!s->begun || !has_times())
		return 0;
	while (n < limit && ahead.due != ARRIVALS_END && ahead.due <= by) {
		n++;
		advance(&ahead, generate.start);
	}
	return n;
}

/* Start and end. */

int generate_parsed(struct haul_app *app, const struct haul_app_program *program, uint64_t flows)
{
	int rc = generate_options_parse(&generate.next, program, app->nb_ports, flows);

	generate.sends = generate_options_send(&generate.next);
	return rc;
}

/* False: no source is needed. A program that only receives may then wait for packets. */
static bool generate_sends(void)
{
	return generate.sends;
}

static void *allocate(size_t n, size_t size)
{
	void *p = aligned_alloc(64, RTE_ALIGN_CEIL(n * size, 64));

	if (!p)
		abort();
	memset(p, 0, n * size);
	return p;
}

/* Tells generators apart, also those of other containers, which may have the same process id: 1 to
 * 255. 0: none, in a program that only receives. */
static uint8_t choose_run(void)
{
	struct arrivals_random r;

	if (generate.run > 0) {
		generate.past_runs += generate.past_runs < PAST_RUNS_MAX;
		return generate.run % GENERATE_RUNS + 1;
	}
	arrivals_random_init(&r, (uint64_t)getpid() ^ stamp_clock());
	return (uint8_t)(1 + arrivals_random_next(&r) % GENERATE_RUNS);
}

/* What generate_begin() has allocated. */
static void free_carriers(void)
{
	for (unsigned i = 0; i < generate.nb_carriers; i++) {
		free(generate.carriers[i].own);
		free(generate.carriers[i].foreign);
		free(generate.carriers[i].samples);
	}
	free(generate.carriers);
	free(generate.streams);
	generate.carriers = NULL;
	generate.streams = NULL;
	generate.nb_carriers = 0;
}

static int generate_begin(struct fwd *fwd)
{
	const struct generate_options *o = &generate.options;
	unsigned carriers = fwd->app->plan->carriers;
	unsigned i;

	if (generate.next.closed_loop > 0 && carriers > 1) {
		haul_app_say(fwd->app->program,
			"--closed-loop counts packets of one carrier: give --carriers 1");
		return HAUL_APP_USAGE;
	}
	free_carriers(); /* of a run that the prompt has stopped */
	generate.options = generate.next;
	generate.app = fwd->app;
	generate.start = generate.stop = 0;
	generate.pool = fwd->pool;
	generate.run = generate_options_send(o) ? choose_run() : 0;
	fwd_versions_init(
		&generate.shapes, generate.both[0], generate.both[1], sizeof(generate.both[0]));
	for (i = 0; i < fwd->app->nb_ports; i++)
		packet_shape_init(&generate.both[0][i], &o->frame,
			&fwd_ports(fwd)[i].shape.headers.eth.src_addr,
			&fwd_ports(fwd)[i].shape.headers.eth.dst_addr,
			o->sizes.n > 0 ? o->sizes.list[0] : o->sizes.from);
	generate.carriers = allocate(carriers, sizeof(*generate.carriers));
	generate.streams =
		allocate((size_t)carriers * fwd->app->nb_ports, sizeof(*generate.streams));
	generate.nb_carriers = carriers;
	for (i = 0; i < carriers; i++) {
		struct generate_carrier *c = &generate.carriers[i];

		/* The kernel maps pages when they are written: flows without packets take none. */
		c->own = calloc((size_t)o->flows * fwd->app->nb_ports, sizeof(*c->own));
		c->foreign = calloc(RECEIVER_FLOWS_MAX, sizeof(*c->foreign));
		c->samples = samples_new(o->samples);
		if (!c->own || !c->foreign)
			abort();
	}
	return HAUL_APP_DONE;
}

static int begin_carrier(struct haul_app *app, unsigned carrier, void *arg)
{
	generate.carriers[carrier].start = generate.start;
	return HAUL_APP_DONE;
}

static int stop_carrier(struct haul_app *app, unsigned carrier, void *arg)
{
	generate.carriers[carrier].stop = generate.stop;
	return HAUL_APP_DONE;
}

struct look {
	uint64_t by;
	bool unsent; /* packets due by then */
};

static int look_for_unsent(struct haul_app *app, unsigned carrier, void *arg)
{
	struct look *look = arg;
	unsigned p;

	for (p = 0; p < app->nb_ports; p++) {
		const struct generate_stream *s = generate_stream_of(carrier, p);

		if (haul_io_txq(app->io, p, carrier) && (!s->begun || s->due <= look->by))
			look->unsent = true;
	}
	return HAUL_APP_DONE;
}

/* True if packets due by a time are not sent yet. */
static bool has_unsent(struct haul_app *app, uint64_t by)
{
	struct look look = {.by = by};

	return haul_app_on_carriers(app, look_for_unsent, &look) != HAUL_APP_DONE || look.unsent;
}

static void end_if_all_is_sent(struct haul_app *app, int fd, void *arg)
{
	uint64_t times;

	if (read(fd, &times, sizeof(times)) != sizeof(times))
		return;
	if (!has_unsent(app, ARRIVALS_END - 1))
		haul_app_end(app);
}

/* Calls end_if_all_is_sent() from time to time. */
static int watch_for_end(struct haul_app *app)
{
	const struct timespec period = {.tv_nsec = END_PERIOD};
	const struct itimerspec times = {.it_interval = period, .it_value = period};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd < 0 || timerfd_settime(fd, 0, &times, NULL) != 0 ||
		haul_app_watch(app, fd, end_if_all_is_sent, NULL) != 0) {
		haul_app_say(app->program, "no timer for the end of the generator");
		return HAUL_APP_FAILED;
	}
	generate.timer = fd;
	return HAUL_APP_DONE;
}

static bool ends_by_itself(const struct generate_options *o)
{
	const struct arrivals_plan *plan = &o->plan;

	if (o->replay.n > 0 && o->loops > 0)
		return true;
	return !o->plan.as_fast_as_possible && o->closed_loop == 0 && plan->nb_phases > 0 &&
		isfinite(plan->phases[plan->nb_phases - 1].seconds);
}

int generate_started(struct haul_app *app)
{
	int rc = HAUL_APP_DONE;

	generate.start = stamp_clock() + START_IN;
	generate.missing = haul_app_counted(app, GENERATE_SENT, HAUL_ALL) -
		haul_app_counted(app, GENERATE_RECEIVED, HAUL_ALL);
	if (!generate.stays && ends_by_itself(&generate.options) && generate.timer == 0)
		rc = watch_for_end(app);
	return rc == HAUL_APP_DONE ? haul_app_on_carriers(app, begin_carrier, NULL) : rc;
}

bool generate_may_end(struct haul_app *app)
{
	uint64_t now = stamp_clock();

	if (!generate_options_send(&generate.options))
		return true;
	if (generate.stop == 0) {
		generate.stop = now + STOP_IN;
		return haul_app_on_carriers(app, stop_carrier, NULL) != HAUL_APP_DONE;
	}
	if (now < generate.stop)
		return false;
	if (now - generate.stop >= generate.options.drain)
		return true;
	if (has_times() && has_unsent(app, generate.stop))
		return false;
	return generate.options.replay.n > 0 ||
		haul_app_counted(app, GENERATE_RECEIVED, HAUL_ALL) + generate.missing >=
		haul_app_counted(app, GENERATE_SENT, HAUL_ALL);
}

void generate_drain(struct haul_app *app)
{
	const struct timespec tick = {.tv_nsec = HAUL_MS};

	while (!generate_may_end(app))
		nanosleep(&tick, NULL);
}

void generate_closed(void)
{
	if (generate.timer > 0)
		close(generate.timer);
	free_carriers();
	replay_free(&generate.next.replay);
}

static void generate_attached(struct fwd *fwd, unsigned port)
{
	struct packet_shape *copy = fwd_versions_copy(&generate.shapes);
	struct rte_ether_hdr *eth = (struct rte_ether_hdr *)copy[port].headers;

	eth->src_addr = fwd_ports(fwd)[port].mac;
	fwd_versions_show(&generate.shapes);
}

const struct fwd_mode_ops fwd_mode_generate = {
	.burst = generate_burst,
	.packet = NULL,
	.source = generate_source,
	.sends = generate_sends,
	.reads = true,
	.begin = generate_begin,
	.attached = generate_attached,
};
