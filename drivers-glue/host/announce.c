/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/announce.h"

struct hauli_announcement *hauli_host_announce(
	struct haul_host *host, const struct hauli_own *own, unsigned times)
{
	struct hauli_announcement *a = host->announcements;
	unsigned i = 0;

	while (i < host->nb_announcements && !hauli_ip_equal(a[i].ip, own->ip))
		i++;
	if (times == 0 || i == host->opts.addresses_max)
		return NULL;
	if (i == host->nb_announcements)
		host->nb_announcements++;
	a[i] = (struct hauli_announcement){
		.ip = own->ip, .port = own->port, .left = times, .at = haul_now()};
	return &a[i];
}
