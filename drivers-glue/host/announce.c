/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/announce.h"

static unsigned find(const struct haul_host *host, const struct hauli_own *own)
{
	unsigned i = 0;

	while (i < host->nb_announcements && !hauli_ip_equal(host->announcements[i].ip, own->ip))
		i++;
	return i;
}

struct hauli_announcement *hauli_host_announce(
	struct haul_host *host, const struct hauli_own *own, unsigned times)
{
	struct hauli_announcement *a = host->announcements;
	unsigned i = find(host, own);

	if (times == 0 || i == host->opts.addresses_max)
		return NULL;
	if (i == host->nb_announcements)
		host->nb_announcements++;
	a[i] = (struct hauli_announcement){
		.ip = own->ip, .port = own->port, .left = times, .at = haul_now()};
	return &a[i];
}

void hauli_host_announce_no_more(struct haul_host *host, const struct hauli_own *own)
{
	unsigned i = find(host, own);

	if (i < host->nb_announcements)
		host->announcements[i] = host->announcements[--host->nb_announcements];
}
