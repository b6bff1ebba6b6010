/* SPDX-License-Identifier: BSD-3-Clause */
/* Conditions of a request: has the client this version, or does it mean another (RFC 9110, 13)? */
#ifndef HTTP_CONDITION_H
#define HTTP_CONDITION_H

#include "head.h"

/* What identifies a version of a file. */
struct http_version {
	struct http_str etag; /* with its quotes; not weak */
	int64_t modified; /* seconds since 1970 */
};

/* Returns 200 if the request is to be answered, 304 if the client has this version, or 412 if the
 * client means another one. For GET and HEAD. now: seconds since 1970. */
int http_condition(const struct http_head *h, const struct http_version *version, int64_t now);

/* The value of Range, if it is for this version; else empty. */
struct http_str http_range_wanted(
	const struct http_head *h, const struct http_version *version, int64_t now);

#endif
