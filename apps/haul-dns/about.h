/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions about this server, in class CH: who it is (RFC 4892), and whether it serves. */
#ifndef DNS_ABOUT_H
#define DNS_ABOUT_H

#include "answer.h"

enum { DNS_TEXT_MAX = 255 }; /* bytes of a string in a TXT record */

/* True for letters, digits, '-', '_' and '.': what any client prints as it is. */
bool dns_about_is_id(const char *text);

/*
 * Answers TXT queries of class CH in out, which may be the query's memory: id.server with id (not
 * NULL), health.server with state, and the code NOERROR if the server serves, else SERVFAIL.
 * Returns the length, or 0 for other names.
 */
size_t dns_about_write(uint8_t *out, const uint8_t *msg, const struct dns_query *q, const char *id,
	bool serves, const char *state, const struct dns_reply_opts *opts);

#endif
