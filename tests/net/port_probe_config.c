/* SPDX-License-Identifier: BSD-3-Clause */
#include "port_probe_config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul-dpdk/port.h>
#include <haul-dpdk/port_config.h>
#include <haul-dpdk/port_info.h>

#include "../../apps/haul-fwd/prompt/show_port.h"
#include "../../apps/haul-fwd/rss.h"

static char err[512];

static void answer(int rc)
{
	if (rc < 0)
		printf("error %d %s\n", -rc, err);
	else
		printf("ok\n");
}

/* Prints several lines as one, with \1 in the place of line feeds. */
static void show(struct haul_port *port, const char *what)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (strcmp(what, "info") == 0)
		fwd_show_port_info(port, 7, out);
	else if (strcmp(what, "xstats") == 0)
		fwd_show_port_xstats(port, 7, out);
	else if (strcmp(what, "stats") == 0)
		fwd_show_port_stats(port, 7, out);
	else if (strcmp(what, "rss") == 0)
		fwd_show_port_rss(port, 7, true, out);
	else if (strcmp(what, "fc") == 0)
		fwd_show_port_flow_control(port, 7, out);
	else
		fwd_show_port_offloads(port, 7, what[0] == 'r', strcmp(what + 3, "used") == 0, out);
	fclose(out);
	for (size_t i = 0; i < size; i++)
		if (text[i] == '\n')
			text[i] = '\1';
	printf("ok %s\n", text);
	free(text);
}

static void set_rss(struct haul_port *port, const char *name, const char *hex)
{
	uint8_t key[HAUL_RSS_KEY_MAX];
	uint8_t n = (uint8_t)(strlen(hex) / 2);
	uint64_t functions;

	for (unsigned i = 0; i < n; i++)
		sscanf(hex + 2 * i, "%2hhx", &key[i]);
	if (!fwd_rss_functions(name, &functions))
		printf("error 0 no such name\n");
	else
		answer(haul_port_set_rss(port, functions, key, n, err, sizeof(err)));
}

static void get_fc(struct haul_port *port)
{
	struct rte_eth_fc_conf conf;

	answer(haul_port_get_flow_control(port, &conf, err, sizeof(err)));
}

/* These, and no others. */
static void set_offloads(struct haul_port *port, uint64_t rx, uint64_t tx)
{
	int ret = haul_port_change_offloads(port, ~rx, ~tx, false, err, sizeof(err));

	answer(ret ? ret : haul_port_change_offloads(port, rx, tx, true, err, sizeof(err)));
}

bool probe_config(struct haul_port *port, const char *verb, const char *args)
{
	char word[32] = "", hex[2 * HAUL_RSS_KEY_MAX + 1] = "";
	uint64_t rx = 0, tx = 0;
	unsigned n = 0, p;

	if (strcmp(verb, "stop") == 0) {
		answer(haul_port_stop(port, err, sizeof(err)));
	} else if (strcmp(verb, "mtu") == 0) {
		sscanf(args, "%u %u", &p, &n);
		answer(haul_port_set_mtu(port, n, err, sizeof(err)));
	} else if (strcmp(verb, "promisc") == 0) {
		sscanf(args, "%u %u", &p, &n);
		answer(haul_port_set_promiscuous(port, n, err, sizeof(err)));
	} else if (strcmp(verb, "allmulti") == 0) {
		sscanf(args, "%u %u", &p, &n);
		answer(haul_port_set_allmulticast(port, n, err, sizeof(err)));
	} else if (strcmp(verb, "link") == 0) {
		sscanf(args, "%u %u", &p, &n);
		answer(haul_port_set_link(port, n, err, sizeof(err)));
	} else if (strcmp(verb, "vlan") == 0) {
		sscanf(args, "%u %u", &p, &n);
		answer(haul_port_pass_vlan(port, (uint16_t)n, true, err, sizeof(err)));
	} else if (strcmp(verb, "offloads") == 0) {
		sscanf(args, "%u %" SCNx64 " %" SCNx64, &p, &rx, &tx);
		set_offloads(port, rx, tx);
	} else if (strcmp(verb, "rss") == 0) {
		sscanf(args, "%u %31s %128s", &p, word, hex);
		set_rss(port, word, hex);
	} else if (strcmp(verb, "fc") == 0) {
		get_fc(port);
	} else if (strcmp(verb, "reset") == 0) {
		haul_port_reset_stats(port);
		answer(0);
	} else if (strcmp(verb, "show") == 0) {
		sscanf(args, "%u %31s", &p, word);
		show(port, word);
	} else {
		return false;
	}
	return true;
}
