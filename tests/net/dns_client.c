/* SPDX-License-Identifier: BSD-3-Clause */
#include "dns_client.h"

#include <stdlib.h>
#include <string.h>

struct dns_service dns_client_service;

static struct dns_service *const service = &dns_client_service;
static struct hauli_u64_shared waiting[DNS_NET_CARRIERS], waiting_of[DNS_NETWORKS];

static const char hosts[] = "192.0.2.99 local.example\n";

static struct dns_config *make_config(
	unsigned servers, const char *acl, struct dns_upstreams *previous)
{
	struct dns_config *config = calloc(1, sizeof(*config));
	unsigned wrong_line;
	size_t wrong;

	if (!config)
		abort();
	config->upstreams = dns_net_upstreams(servers, 86400, previous);
	if (!config->upstreams || dns_acl_parse(&config->acl, acl, strlen(acl), &wrong) ||
		dns_hosts_parse(
			&config->hosts, hosts, sizeof(hosts) - 1, &service->hash, &wrong_line))
		abort();
	return config;
}

static void free_config(struct dns_config *config)
{
	dns_acl_free(config->acl);
	dns_hosts_free(config->hosts);
	dns_upstreams_release(config->upstreams);
	free(config);
}

void dns_client_begin(unsigned servers, const char *acl)
{
	const struct dns_shared_opts cache = {
		.cache = {1 << 20, 4096}, .shards = 4, .flights_max = 4096, .waiters_max = 1000};

	memset(waiting, 0, sizeof(waiting));
	memset(waiting_of, 0, sizeof(waiting_of));
	*service = (struct dns_service){.hash = {{5, 6}},
		.cookies = {{7, 8}},
		.patience = 1800 * HAUL_MS,
		.deadline = 4 * HAUL_S,
		.udp_max = 1232,
		.waiting_max = 1000,
		.waiting = waiting,
		.waiting_of = waiting_of};
	if (dns_shared_create(&service->cache, &cache))
		abort();
	hauli_ptr_published_set(&service->config, make_config(servers, acl, NULL));
}

void dns_client_reload(unsigned servers, const char *acl)
{
	struct dns_config *before = hauli_ptr_published_get(&service->config);

	hauli_ptr_published_set(&service->config, make_config(servers, acl, before->upstreams));
	haul_sleep(1); /* the clock goes on when all carriers' handlers have suspended */
	free_config(before);
}

void dns_client_end(void)
{
	for (unsigned i = 0; i < DNS_NET_CARRIERS; i++)
		FAIL_UNLESS(hauli_u64_shared_get(&waiting[i]) == 0);
	for (unsigned i = 0; i < DNS_NETWORKS; i++)
		FAIL_UNLESS(hauli_u64_shared_get(&waiting_of[i]) == 0);
	dns_shared_free(service->cache);
	free_config(hauli_ptr_published_get(&service->config));
}

void dns_client_init(struct dns_client_visit *c, const char *name, unsigned type, int cookie)
{
	static const uint8_t head[DNS_HEADER] = {0x12, 0x34, DNS_RD >> 8, 0, 0, 1};
	uint8_t *p = c->msg + DNS_HEADER;

	memset(&c->v, 0, sizeof(c->v));
	memcpy(c->msg, head, sizeof(head));
	p += dns_name_parse(name, strlen(name), p);
	dns_put16(p, type);
	dns_put16(p + 2, DNS_IN);
	p += 4;
	if (cookie >= 0) {
		static const uint8_t opt[DNS_OPT] = {0, 0, DNS_OPT_TYPE, 0x10, 0};

		memcpy(p, opt, sizeof(opt));
		p += sizeof(opt);
		c->msg[11] = 1;
	}
	if (cookie > 0) {
		dns_put16(p - 2, 4 + (unsigned)cookie);
		dns_put16(p, DNS_OPTION_COOKIE);
		dns_put16(p + 2, (unsigned)cookie);
		memset(p + 4, 0x77, (size_t)cookie);
		p += 4 + cookie;
	}
	c->v.msg = c->msg;
	c->v.n = (size_t)(p - c->msg);
	c->v.room = sizeof(c->msg);
	haul_addr_parse(&c->v.client, "10.1.1.1");
}

void dns_client_serve(struct dns_client_visit *c)
{
	c->began = haul_now();
	c->served = dns_serve(service, &c->v);
	c->ended = haul_now();
	dns_serve_rest(service, &c->v);
}
