/* SPDX-License-Identifier: BSD-3-Clause */
#include "testpmd_getopt.h"

#include <stdlib.h>
#include <string.h>

/* The long options of dpdk-testpmd of DPDK 22.11 and 26.07: they decide what an abbreviation is. */
static const char *const names[] = {
	"auto-start",
	"bitrate-stats",
	"burst",
	"cmdline-file",
	"cmdline-file-noecho",
	"coremask",
	"disable-crc-strip",
	"disable-device-start",
	"disable-flow-flush",
	"disable-link-check",
	"disable-rss",
	"display-xstats",
	"enable-drop-en",
	"enable-hw-qinq-strip",
	"enable-hw-vlan",
	"enable-hw-vlan-extend",
	"enable-hw-vlan-filter",
	"enable-hw-vlan-strip",
	"enable-lro",
	"enable-rss",
	"enable-rx-cksum",
	"enable-rx-timestamp",
	"enable-scatter",
	"eth-link-speed",
	"eth-peer",
	"eth-peers-configfile",
	"flow-isolate-all",
	"flowgen-clones",
	"flowgen-flows",
	"forward-mode",
	"geneve-parsed-port",
	"hairpin-map",
	"hairpin-mode",
	"hairpinq",
	"help",
	"hot-plug",
	"interactive",
	"latencystats",
	"mask-event",
	"max-lro-pkt-size",
	"max-pkt-len",
	"mbcache",
	"mbuf-size",
	"mlockall",
	"mp-alloc",
	"mp-anon",
	"multi-rx-mempool",
	"nb-cores",
	"nb-ports",
	"no-flush-rx",
	"no-iova-contig",
	"no-lsc-interrupt",
	"no-mlockall",
	"no-numa",
	"no-rmv-interrupt",
	"noisy-forward-mode",
	"noisy-lkup-memory",
	"noisy-lkup-num-reads",
	"noisy-lkup-num-reads-writes",
	"noisy-lkup-num-writes",
	"noisy-tx-sw-buffer-flushtime",
	"noisy-tx-sw-buffer-size",
	"num-procs",
	"numa",
	"port-numa-config",
	"port-topology",
	"portlist",
	"portmask",
	"print-event",
	"proc-id",
	"record-burst-stats",
	"record-core-cycles",
	"ring-numa-config",
	"rss-ip",
	"rss-level-inner",
	"rss-level-outer",
	"rss-udp",
	"rx-mq-mode",
	"rx-offloads",
	"rxd",
	"rxfreet",
	"rxhdrs",
	"rxht",
	"rxoffs",
	"rxpkts",
	"rxpt",
	"rxq",
	"rxq-share",
	"rxwt",
	"socket-num",
	"stats-period",
	"total-num-mbufs",
	"tx-first",
	"tx-ip",
	"tx-offloads",
	"tx-udp",
	"txd",
	"txfreet",
	"txht",
	"txonly-flows",
	"txonly-multi-flow",
	"txonly-nb-flows",
	"txpkts",
	"txpt",
	"txq",
	"txrst",
	"txwt",
	"vxlan-gpe-port",
};
#define NB_NAMES (sizeof(names) / sizeof(names[0]))

struct list {
	char **items;
	size_t n;
};

/* word: from malloc() */
static void add(struct list *to, char *word)
{
	to->items = realloc(to->items, (to->n + 2) * sizeof(to->items[0]));
	if (!to->items || !word)
		abort();
	to->items[to->n++] = word;
	to->items[to->n] = NULL;
}

/* The option that is called so, or the only one that begins so; NULL: none. */
static const char *full_name(const char *text, size_t len)
{
	const char *found = NULL;

	for (size_t i = 0; i < NB_NAMES; i++) {
		if (strncmp(names[i], text, len) != 0)
			continue;
		if (found || names[i][len] == '\0')
			return names[i][len] == '\0' ? names[i] : NULL;
		found = names[i];
	}
	return found;
}

/* "--stats=2" as "--stats-period=2" */
static char *expand(const char *word)
{
	const size_t len = strcspn(word + 2, "=");
	const char *name = full_name(word + 2, len);
	char *text;

	if (!name || len == 0)
		return strdup(word);
	text = malloc(strlen(word) + strlen(name) + 1);
	if (!text)
		abort();
	strcpy(text, "--");
	strcat(text, name);
	strcat(text, word + 2 + len);
	return text;
}

/* "-ia" as "-i", "-a" */
static void split(struct list *to, const char *letters)
{
	for (; *letters; letters++) {
		char option[3] = {'-', *letters, '\0'};

		add(to, strdup(option));
	}
}

char **fwd_testpmd_getopt(char **argv)
{
	static struct list to; /* in use as long as the program runs */

	for (; *argv; argv++) {
		const char *word = *argv;

		if (word[0] == '-' && word[1] == '-')
			add(&to, expand(word));
		else if (word[0] == '-' && strspn(word + 1, "aih") == strlen(word + 1))
			split(&to, word + 1);
		else
			add(&to, strdup(word));
	}
	return to.items ? to.items : argv;
}
