/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands about RSS: what is hashed, the key, the redirection table. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <haul-dpdk/port_config.h>
#include <haul-dpdk/port_info.h>

#include "../rss.h"
#include "command.h"

#define WORD(i) (call->words[i].text)

static bool read_functions(const struct fwd_call *call, const char *name, uint64_t *functions)
{
	if (fwd_rss_functions(name, functions))
		return true;
	fprintf(call->out, "Unknown RSS type %s: give ip, tcp, udp, sctp, all or none\n", name);
	return false;
}

static bool apply(const struct fwd_call *call, unsigned port, uint64_t functions,
	const uint8_t *key, uint8_t length)
{
	char errbuf[512];
	int err = haul_port_set_rss(
		call->app->ports[port], functions, key, length, errbuf, sizeof(errbuf));

	if (err)
		fprintf(call->out,
			"Configuration of RSS hash at ethernet port %u failed with error (%d): "
			"%s.\n",
			port, -err, strerror(-err));
	return fwd_result(call, err, errbuf);
}

/* "port config P rss NAME" */
static bool set_one(const struct fwd_call *call, unsigned i)
{
	struct haul_port_info info;
	uint64_t functions, had;

	if (!read_functions(call, WORD(4), &functions))
		return false;
	had = haul_port_get_info(call->app->ports[i], &info) == 0 ? info.dev.flow_type_rss_offloads
								  : functions;
	if ((functions & had) != functions)
		fprintf(call->out,
			"Port %u modified RSS hash function based on hardware "
			"support,requested:%#" PRIx64 " configured:%#" PRIx64 "\n",
			i, functions, functions & had);
	return apply(call, i, functions, NULL, 0);
}

static bool set(const struct fwd_call *call)
{
	uint64_t functions;

	if (!fwd_each_port(call, WORD(2), set_one))
		return false;
	if (fwd_rss_functions(WORD(4), &functions))
		fprintf(call->out, "rss_hf %#" PRIx64 "\n", functions);
	return true;
}

/* The bytes of a key in hexadecimal; 0: it is none. */
static uint8_t read_key(const char *text, uint8_t *key)
{
	size_t n = strlen(text) / 2;

	if (n == 0 || n > HAUL_RSS_KEY_MAX || strlen(text) % 2 ||
		text[strspn(text, "0123456789abcdefABCDEF")])
		return 0;
	for (size_t i = 0; i < n; i++) {
		char byte[3] = {text[2 * i], text[2 * i + 1]};

		key[i] = (uint8_t)strtoul(byte, NULL, 16);
	}
	return (uint8_t)n;
}

/* "port config P rss-hash-key NAME HEX" */
static bool set_key_one(const struct fwd_call *call, unsigned i)
{
	uint8_t key[HAUL_RSS_KEY_MAX], length = read_key(WORD(5), key);
	struct haul_port_info info;
	uint64_t functions;

	if (!read_functions(call, WORD(4), &functions))
		return false;
	if (length == 0 || haul_port_get_info(call->app->ports[i], &info) != 0) {
		fprintf(call->out, "%s\n",
			length ? "The port has no device"
			       : "Invalid key: give an even number of hexadecimal digits, up to "
				 "128");
		return false;
	}
	if (info.dev.hash_key_size != length) {
		if (info.dev.hash_key_size == 0)
			fprintf(call->out, "dev_info did not provide a valid hash key size\n");
		else
			fprintf(call->out,
				"key length: %d invalid - key must be a string of %d hexa-decimal "
				"numbers\n",
				2 * length, 2 * info.dev.hash_key_size);
		return false;
	}
	return apply(call, i, functions, key, length);
}

static bool set_key(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), set_key_one);
}

/* Gives entry I to queue Q, by way of the carrier that has the queue of that number. */
static bool set_entry(const struct fwd_call *call, unsigned port, unsigned entry, unsigned queue)
{
	char errbuf[512];

	return fwd_result(call,
		haul_io_move_bucket(
			call->app->io, port, entry, queue, FWD_PATIENCE, errbuf, sizeof(errbuf)),
		errbuf);
}

/* "port config P rss reta (I,Q),(I,Q)" */
static bool set_table_one(const struct fwd_call *call, unsigned i)
{
	const char *at = WORD(5);
	struct haul_port_info info;
	unsigned entry, queue;
	int n;

	if (haul_port_get_info(call->app->ports[i], &info) != 0 || info.dev.reta_size == 0) {
		fprintf(call->out, "Redirection table size is 0 which is invalid for RSS\n");
		return false;
	}
	fprintf(call->out, "The reta size of port %u is %u\n", i, info.dev.reta_size);
	for (; sscanf(at, "(%u,%u)%n", &entry, &queue, &n) == 2; at += *at == ',') {
		at += n;
		if (entry >= info.dev.reta_size || queue >= haul_port_queues(call->app->ports[i])) {
			fprintf(call->out, "Invalid entry (%u,%u)\n", entry, queue);
			return false;
		}
		if (!set_entry(call, i, entry, queue))
			return false;
	}
	if (*at)
		fprintf(call->out, "Invalid entry %s: give (ENTRY,QUEUE),...\n", at);
	return !*at;
}

static bool set_table(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), set_table_one);
}

const struct fwd_command fwd_commands_rss[] = {
	{"port config PORT rss NAME", set,
		"Set what RSS hashes: ip, udp, none, ...; some PMDs need stop first."},
	{"port config PORT rss-hash-key NAME KEY", set_key, "The same, with a key in hexadecimal."},
	{"port config PORT rss reta ENTRIES", set_table,
		"Give entries of the redirection table to queues: (ENTRY,QUEUE),..."},
	{0},
};
