/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line, and the files that it names. */
#ifndef DNS_OPTIONS_H
#define DNS_OPTIONS_H

#include <haul-app/app.h>
#include <haul-dpdk/host.h>

#include "serve.h"

struct dns_options {
	/* Texts of the command line. */
	struct haul_app_texts addresses, routes, upstreams;
	const char *allow, *acl_file, *hosts_file, *upstreams_file, *tcp, *id;
	uint64_t udp_port, udp_max, connections;
	uint64_t cache_mb, entries;
	uint64_t stale, patience, timeout, stop_time; /* ns */
	uint64_t rate, error_rate, slip;
};

extern struct dns_options dns_options;
extern const struct haul_app_option dns_option_table[];

/* Reads what a reload replaces: access, hosts, servers. Returns HAUL_APP_DONE, and the caller frees
 * *config; or an exit code after a line on stderr. service: for its secrets, and what is known of
 * servers so far. Main thread. */
int dns_config_read(const struct haul_app *app, struct haul_host *host,
	const struct dns_service *service, struct dns_config **config);
void dns_config_free(struct dns_config *config); /* NULL is allowed */

/* Gives the host the addresses of the command line; those of the kernel, once ports are open; and
 * routes after all of them. Return an exit code. */
int dns_host_add_given(struct haul_app *app, struct haul_host *host);
int dns_host_add_kernel(struct haul_app *app, struct haul_host *host);

#endif
