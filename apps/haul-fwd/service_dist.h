/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributions of service times. */
#ifndef FWD_SERVICE_DIST_H
#define FWD_SERVICE_DIST_H

#include <stdint.h>

enum fwd_service_kind {
	FWD_SERVICE_CONSTANT,
	FWD_SERVICE_EXP,
	FWD_SERVICE_BIMODAL,
};

struct fwd_service_dist {
	enum fwd_service_kind kind;
	uint64_t mean_ns;
	double share; /* bimodal: of packets with a long time, 0 to 1 */
	double factor; /* bimodal: a long time as a multiple of a short one */
};

/* Parses "1us", "2.5us,exp", "1us,bimodal", "1us,bimodal:5:10". Returns NULL, or what is wrong. */
const char *fwd_service_parse(struct fwd_service_dist *dist, const char *text);

/* A time in ns from the distribution. random: uniform over all its values. */
double fwd_service_draw(const struct fwd_service_dist *dist, uint64_t random);

#endif
