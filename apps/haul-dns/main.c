/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A caching, forwarding DNS server: a coroutine for each query, straight down. What it knows it
 * answers; for the rest it asks a server over the same ports, and waits.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <haul-app/app.h>
#include <haul-app/listener.h>
#include <haul-dpdk/flow.h>
#include <haul-dpdk/port_info.h>
#include <haul/haul.h>
#include <rte_byteorder.h>
#include <rte_udp.h>

#include "about.h"
#include "options.h"
#include "random.h"
#include "serve.h"
#include "stats.h"
#include "tcp_serve.h"

static struct haul_host *host;
static struct dns_service service;
static struct haul_event host_is_started;
static struct dns_tcp *tcp; /* NULL: none */
static uint16_t *mtus; /* of ports; 0: not known */
static uint64_t ends_at; /* 0: the program is not to end yet */

static struct dns_config *config_now(void)
{
	return hauli_ptr_published_get(&service.config);
}

/* Sends the answer, which is in the packet already. */
static void reply(struct haul_rx *rx, struct haul_pkt *pkt, const struct dns_visit *v)
{
	if (haul_udp_set_payload(pkt, v->msg, v->reply.n) < 0)
		haul_drop(rx, &pkt->mbuf, 1, HAUL_DROP_TX_REFUSED);
	else
		haul_send_or_drop(rx, rx->reply, pkt->mbuf);
}

/* Bytes that an answer may have: it leaves in the packet that brought the query, and in no
 * fragments. */
static size_t room_of(const struct haul_rx *rx, const struct haul_pkt *pkt)
{
	size_t room = pkt->payload_len + rte_pktmbuf_tailroom(pkt->mbuf);
	size_t headers = (size_t)(pkt->payload - (const uint8_t *)pkt->l3);
	size_t mtu = mtus[rx->port];

	if (mtu < headers + DNS_UDP_PLAIN) /* not known, or of no use to anybody */
		return room;
	return RTE_MIN(room, mtu - headers);
}

/* A datagram for our port. */
static void serve(struct haul_rx *rx, struct haul_pkt *pkt)
{
	struct dns_visit v; /* a few hundred bytes, of which the first few count yet */

	v.client = haul_pkt_dst(pkt); /* it has been turned round */
	v.is_stream = false;
	v.msg = pkt->payload;
	v.n = pkt->payload_len;
	v.room = room_of(rx, pkt);
	v.carrier = rx->carrier;
	if (pkt->mbuf->nb_segs > 1 || v.room < DNS_UDP_PLAIN) {
		haul_drop(rx, &pkt->mbuf, 1, HAUL_DROP_UNSUPPORTED);
		return;
	}
	switch (dns_serve(&service, &v)) {
	case DNS_SERVED:
		reply(rx, pkt, &v);
		break;
	case DNS_NO_QUERY:
		haul_drop(rx, &pkt->mbuf, 1, HAUL_DROP_OWN + DNS_DROP_NO_QUERY);
		break;
	case DNS_LIMITED:
		haul_drop(rx, &pkt->mbuf, 1, HAUL_DROP_OWN + DNS_DROP_LIMITED);
		break;
	default:
		haul_drop(rx, &pkt->mbuf, 1, HAUL_DROP_STOPPING);
	}
	dns_serve_rest(&service, &v);
}

/* The body of a packet's coroutine. */
static void handle(struct haul_rx *rx, struct rte_mbuf *mbuf)
{
	struct haul_net_if nif;
	enum haul_verdict verdict;
	struct haul_pkt pkt;

	/* Pollers run before the host does; a port that is taken over has packets by then. */
	if (!haul_event_is_set(&host_is_started))
		(void)haul_event_wait(&host_is_started, HAUL_FOREVER);
	if (haul_host_takes(host, rx, mbuf)) /* ARP, neighbour discovery, ping; servers' replies */
		return;
	verdict = haul_net_parse(&pkt, mbuf);
	if (verdict == HAUL_NET_OK)
		verdict = haul_host_for_us(host, rx, &pkt, &nif);
	if (verdict == HAUL_NET_OK && pkt.proto == HAUL_PROTO_UDP &&
		pkt.udp->dst_port != rte_cpu_to_be_16((uint16_t)dns_options.udp_port))
		verdict = HAUL_NET_NOT_FOR_US;
	if (verdict == HAUL_NET_OK)
		verdict = haul_udp_reply(&nif, &pkt);
	if (verdict == HAUL_NET_OK)
		serve(rx, &pkt);
	else
		haul_drop_verdict(rx, mbuf, verdict);
}

/* A query by TCP, in a coroutine of its connection. */
static size_t serve_tcp(void *arg, const struct haul_addr *client, uint16_t port,
	const uint8_t *query, size_t len, uint8_t *answer, size_t room)
{
	struct dns_visit v = {.client = *client,
		.is_stream = true,
		.msg = answer,
		.n = len,
		.room = room,
		.carrier = haul_carrier_id(haul_carrier_self())};
	enum dns_served served;

	memcpy(answer, query, len);
	served = dns_serve(&service, &v);
	dns_serve_rest_later(&service, &v);
	return served == DNS_SERVED ? v.reply.n : 0;
}

static int no_memory(const struct haul_app *app)
{
	haul_app_say(app->program, "not enough memory");
	return HAUL_APP_FAILED;
}

static int create_cache(struct haul_app *app)
{
	unsigned carriers = haul_carriers(app->rt);
	unsigned held = app->pool->size / 2 / carriers / app->nb_ports; /* max_in_flight */
	struct dns_shared_opts cache = {
		.cache = {.bytes_max = dns_options.cache_mb << 20,
			.entries_max =
				(unsigned)(dns_options.entries ? dns_options.entries
							       : dns_options.cache_mb * 2000)},
	};

	cache.shards = dns_shared_shards(&cache.cache, carriers);
	/* Some buffers stay free for queries whose answers are known. */
	service.waiting_max = held - held / 4;
	cache.flights_max = 64 + 2 * carriers * service.waiting_max;
	cache.waiters_max = service.waiting_max;
	service.waiting = calloc(carriers, sizeof(service.waiting[0]));
	service.waiting_of = calloc(DNS_NETWORKS, sizeof(service.waiting_of[0]));
	if (service.waiting && service.waiting_of && dns_shared_create(&service.cache, &cache) == 0)
		return HAUL_APP_DONE;
	return no_memory(app);
}

static int limit_rate(const struct haul_app *app)
{
	struct dns_rrl_opts opts = {0};

	if (dns_options.rate == 0)
		return HAUL_APP_DONE;
	opts.rate = (uint32_t)dns_options.rate;
	opts.error_rate = opts.nxdomain_rate =
		(uint32_t)(dns_options.error_rate ? dns_options.error_rate : dns_options.rate);
	opts.slip = (uint32_t)dns_options.slip;
	return dns_rrl_create(&service.rrl, &opts, &service.hash) < 0 ? no_memory(app)
								      : HAUL_APP_DONE;
}

/* The options are parsed. */
static int prepare(struct haul_app *app, struct haul_io_opts *io)
{
	const struct haul_host_opts opts = {.nb_ports = app->nb_ports};
	struct dns_random random = {0};
	struct dns_config *config;
	char line[256];
	int rc;

	dns_random_take(&random, &service.hash, sizeof(service.hash));
	dns_random_take(&random, &service.cookies, sizeof(service.cookies));
	service.patience = dns_options.patience;
	service.deadline = dns_options.timeout;
	service.udp_max = (unsigned)dns_options.udp_max;
	service.id = dns_options.id;
	if (service.id && !dns_about_is_id(service.id))
		return haul_app_wrong(app->program,
			"--id %s: give 1 to %u letters, digits, '-', '_' and '.'", service.id,
			(unsigned)DNS_TEXT_MAX);
	if (haul_host_create(&host, &opts, line, sizeof(line)) < 0) {
		haul_app_say(app->program, "%s", line);
		return HAUL_APP_FAILED;
	}
	rc = dns_host_add_given(app, host);
	if (rc == HAUL_APP_DONE)
		rc = dns_config_read(app, host, &service, &config);
	if (rc == HAUL_APP_DONE) {
		hauli_ptr_published_set(&service.config, config);
		dns_stats_watch(config->upstreams);
	}
	return rc;
}

static int look_at_ports(const struct haul_app *app)
{
	mtus = calloc(app->nb_ports, sizeof(mtus[0]));
	if (!mtus)
		return no_memory(app);
	for (unsigned i = 0; i < app->nb_ports; i++) {
		struct haul_port_info info;

		mtus[i] = haul_port_get_info(app->ports[i], &info) == 0 ? info.mtu : 0;
	}
	return HAUL_APP_DONE;
}

/* Ports are open, carriers run. */
static int create(struct haul_app *app)
{
	int rc = create_cache(app);

	if (rc == HAUL_APP_DONE)
		rc = look_at_ports(app);
	if (rc == HAUL_APP_DONE)
		rc = limit_rate(app);
	return rc == HAUL_APP_DONE ? dns_host_add_kernel(app, host) : rc;
}

/* Carriers with a poller: the others have no queue by which a server could be asked. */
static unsigned polling(const struct haul_app *app)
{
	unsigned n = 0;

	while (haul_io_txq(app->io, 0, n))
		n++;
	return n;
}

/* A server, and whether a question could leave. */
struct way {
	struct dns_upstream_stats server;
	int err;
};

struct ways {
	struct way ways[DNS_UPSTREAMS_MAX];
	unsigned n;
};

/* A coroutine with a poller. */
static void *find_ways(void *arg)
{
	struct ways *w = arg;
	const struct dns_upstreams *u = config_now()->upstreams;

	while (dns_upstreams_get_stats(u, w->n, &w->ways[w->n].server)) {
		struct way *way = &w->ways[w->n++];
		struct haul_flow *flow;

		way->err = haul_flow_open(
			&flow, host, &way->server.addr.addr, way->server.addr.port, NULL);
		if (way->err == 0)
			haul_flow_close(flow);
	}
	return NULL;
}

static const char *problem_of(int err)
{
	switch (err) {
	case -ENETUNREACH:
		return "no route; use --route, for example --route 0.0.0.0/0=10.0.0.254";
	case -EADDRNOTAVAIL:
		return "no address of that version on its port; use --address";
	case -EINVAL:
		return "it is an address of haul-dns itself, or of a group";
	default:
		return NULL; /* of the moment */
	}
}

/* Tells of servers that can never be asked. */
static void note_ways(struct haul_app *app)
{
	struct ways *w = calloc(1, sizeof(*w));
	struct haul_coro *co;

	if (w && haul_spawn_on(haul_carrier(app->rt, 0), &co, find_ways, w, NULL) == 0)
		haul_join(co, NULL, HAUL_FOREVER);
	for (unsigned i = 0; w && i < w->n; i++) {
		const char *problem = problem_of(w->ways[i].err);
		char text[DNS_ENDPOINT_TEXT];

		if (problem)
			haul_app_say(app->program, "note: the server %s cannot be asked: %s",
				dns_endpoint_text(&w->ways[i].server.addr, text), problem);
	}
	free(w);
}

static int start_tcp(struct haul_app *app)
{
	struct dns_tcp_opts opts = {.connections_max = (uint32_t)dns_options.connections,
		.carriers = polling(app),
		.stop_ns = 1 /* what waits for servers has had --stop-time */};
	char line[512], why[512];
	int fd = haul_app_listener_get("--tcp", dns_options.tcp, why, sizeof(why)), rc = 0;

	if (fd < 0 && fd != -ENOENT) {
		rc = fd;
		snprintf(line, sizeof(line), "%s: %.400s", dns_options.tcp, why);
	} else {
		opts.socket = fd < 0 ? 0 : fd;
		rc = dns_tcp_start(
			&tcp, app->rt, dns_options.tcp, &opts, serve_tcp, NULL, line, sizeof(line));
	}
	if (rc < 0) {
		haul_app_say(app->program, "--tcp %s", line);
		return HAUL_APP_FAILED;
	}
	if (fd == -ENOENT)
		haul_app_listener_offer("--tcp", dns_options.tcp, dns_tcp_socket(tcp));
	return HAUL_APP_DONE;
}

/* Pollers run. */
static int start(struct haul_app *app)
{
	char line[256];

	if (haul_host_start(host, app->io, line, sizeof(line))) {
		haul_app_say(app->program, "%s", line);
		return HAUL_APP_FAILED;
	}
	(void)haul_flow_reserve(host, (uint16_t)dns_options.udp_port); /* there are no flows yet */
	haul_event_set(&host_is_started);
	if (dns_options.tcp && start_tcp(app) != HAUL_APP_DONE)
		return HAUL_APP_FAILED;
	note_ways(app);
	haul_app_say(app->program, "ready: port %u", (unsigned)dns_options.udp_port);
	return HAUL_APP_DONE;
}

static int pass(void *arg)
{
	return 0;
}

/* SIGHUP. Queries that wait for servers of the old list keep that. */
static void reload(struct haul_app *app)
{
	struct dns_config *old = config_now(), *next;

	if (dns_config_read(app, host, &service, &next) != HAUL_APP_DONE) {
		haul_app_say(app->program, "not reloaded: everything stays as it is");
		return;
	}
	dns_stats_watch(next->upstreams);
	hauli_ptr_published_set(&service.config, next);
	/* When each carrier has run this, no handler uses the old one. */
	if (haul_on_each(app->rt, pass, NULL) == 0)
		dns_config_free(old);
	note_ways(app);
	haul_app_say(app->program, "reloaded");
}

static bool somebody_waits(const struct haul_app *app)
{
	for (unsigned i = 0; i < haul_carriers(app->rt); i++)
		if (hauli_u64_shared_get(&service.waiting[i]) > 0)
			return true;
	return false;
}

static void stop(void)
{
	hauli_u64_shared_set(&service.is_ending, 1);
	dns_tcp_stop(tcp);
	tcp = NULL;
	haul_host_stop(host);
}

/* Queries that wait for servers get some time, and no longer. */
static bool may_end(struct haul_app *app)
{
	if (ends_at == 0)
		ends_at = haul_in(dns_options.stop_time);
	if (somebody_waits(app) && haul_now() < ends_at)
		return false;
	stop();
	return true;
}

/* Also after a failure, when may_end() is not called. */
static void carrier_ends(struct haul_app *app, unsigned carrier)
{
	if (carrier == 0)
		stop();
}

static void report(struct haul_app *app, FILE *out, bool final)
{
	dns_stats_print(app, service.cache, config_now()->upstreams, out);
}

static void report_json(struct haul_app *app, struct haul_app_json *object)
{
	dns_stats_json(app, service.cache, config_now()->upstreams, object);
}

static void end(struct haul_app *app)
{
	dns_stats_watch(NULL);
	dns_config_free(config_now());
	dns_shared_free(service.cache);
	dns_rrl_free(service.rrl);
	free(service.waiting);
	free(service.waiting_of);
	free(mtus);
	if (host)
		haul_host_free(host);
}

static const char examples[] =
	"  haul-dns --port tap:dns0 --address 10.9.9.2/24 --upstream 10.9.9.1 &\n"
	"  until ip address add 10.9.9.1/24 dev dns0 2>/dev/null; do sleep 0.1; done\n"
	"  dig @10.9.9.2 example.org       # asks a server at 10.9.9.1\n";

int main(int argc, char **argv)
{
	static const struct haul_app_program program = {
		.name = "haul-dns",
		.purpose = "Answers DNS queries from a cache, and asks other servers for the rest.",
		.examples = examples,
		.options = {dns_option_table},
	};
	static const struct haul_coro_opts query = {.name = "query"};
	static const struct haul_app_hooks hooks = {
		.on_packet = handle,
		.coro = &query,
		.drop_names = {"no_query", "limited"},
		.counters = dns_counters,
		.parsed = prepare,
		.opened = create,
		.started = start,
		.reload = reload,
		.may_end = may_end,
		.report = report,
		.json = report_json,
		.carrier_ends = carrier_ends,
		.closed = end,
	};

	return haul_app_main(&program, &hooks, argc, argv);
}
