/* SPDX-License-Identifier: BSD-3-Clause */
#include "reply.h"

#include <errno.h>
#include <haul/base.h>

/* The one OPT of a message. Returns 0, or -EBADMSG of the whole message. */
static int read_edns(struct dns_edns *e, const uint8_t *msg, size_t n, size_t at)
{
	unsigned records = 0;
	struct dns_record r;
	struct dns_walk w;
	int rc;

	*e = (struct dns_edns){.size = DNS_UDP_PLAIN};
	dns_walk_begin(&w, msg, n, at);
	while ((rc = dns_walk_next(&w, &r)) > 0) {
		if (++records > DNS_REPLY_RECORDS_MAX)
			return -EBADMSG;
		if (r.type != DNS_OPT_TYPE)
			continue;
		if (r.section != DNS_ADDITIONALS || e->is_there || dns_edns_read(e, msg, &r) < 0)
			return -EBADMSG;
	}
	return rc;
}

/* RFC 7873, 5.3. */
static bool is_cookie_ours(const struct dns_ask *a, const struct dns_edns *e)
{
	const uint8_t *sent = a->msg + a->n - a->nb_cookie;

	return a->nb_cookie == 0 || e->nb_cookie == 0 ||
		memcmp(e->cookie, sent, DNS_COOKIE_CLIENT) == 0;
}

/* Some servers that do not know EDNS send back a header only. */
static bool is_bare_error(const struct dns_ask *a, const uint8_t *msg, size_t n)
{
	unsigned rcode = dns_get16(msg + 2) & DNS_RCODE;

	return a->has_edns && n == DNS_HEADER && dns_get32(msg + 4) == 0 &&
		dns_get32(msg + 8) == 0 && (rcode == DNS_FORMERR || rcode == DNS_NOTIMP);
}

static enum dns_reply judge_code(const struct dns_ask *a, unsigned flags, unsigned rcode)
{
	switch (rcode) {
	case DNS_NOERROR:
	case DNS_NXDOMAIN:
	case DNS_YXDOMAIN:
		return flags & DNS_TC ? DNS_REPLY_TRUNCATED : DNS_REPLY_GOOD;
	case DNS_FORMERR:
	case DNS_NOTIMP:
	case DNS_BADVERS:
		return a->has_edns ? DNS_REPLY_NO_EDNS : DNS_REPLY_FAILED;
	case DNS_BADCOOKIE:
		return a->nb_cookie > 0 ? DNS_REPLY_BAD_COOKIE : DNS_REPLY_FAILED;
	default:
		return DNS_REPLY_FAILED;
	}
}

enum dns_reply dns_reply_judge(const struct dns_ask *a, const uint8_t *msg, size_t n,
	bool expects_cookie, struct dns_reply_info *info)
{
	unsigned flags;

	if (n < DNS_HEADER || n > DNS_MESSAGE_MAX || memcmp(msg, a->msg, 2) != 0)
		return DNS_REPLY_OTHER;
	flags = dns_get16(msg + 2);
	if ((flags & (DNS_QR | DNS_OPCODE)) != DNS_QR)
		return DNS_REPLY_OTHER;
	info->rcode = flags & DNS_RCODE;
	info->edns = (struct dns_edns){.size = DNS_UDP_PLAIN};
	/* It has neither question nor cookie, so it must not end more than the use of EDNS. */
	if (is_bare_error(a, msg, n))
		return expects_cookie ? DNS_REPLY_NO_COOKIE : DNS_REPLY_NO_EDNS;
	if (dns_get16(msg + 4) != 1 || n < DNS_HEADER + (size_t)a->question ||
		memcmp(msg + DNS_HEADER, a->msg + DNS_HEADER, a->question) != 0)
		return DNS_REPLY_OTHER;
	if (read_edns(&info->edns, msg, n, DNS_HEADER + (size_t)a->question) < 0) {
		/* The end may be missing. */
		if (flags & DNS_TC)
			return expects_cookie ? DNS_REPLY_NO_COOKIE : DNS_REPLY_TRUNCATED;
		return DNS_REPLY_OTHER;
	}
	if (!is_cookie_ours(a, &info->edns))
		return DNS_REPLY_OTHER;
	if (expects_cookie && info->edns.nb_cookie == 0)
		return DNS_REPLY_NO_COOKIE;
	info->rcode |= (uint16_t)(info->edns.rcode << 4);
	return judge_code(a, flags, info->rcode);
}

struct dns_answer *dns_failure_make(const struct dns_answer *previous, uint64_t now)
{
	unsigned failures = previous && previous->rcode == DNS_SERVFAIL ? previous->failures : 0;
	uint32_t ttl = failures < 6 ? (uint32_t)DNS_FAILURE_MIN << failures : DNS_FAILURE_MAX;
	struct dns_answer *a = dns_answer_empty(DNS_SERVFAIL, ttl, now);

	if (a) {
		a->failures = (uint16_t)(failures < 100 ? failures + 1 : failures);
		/* It is remembered for as long again, for its number. */
		a->dead_at = a->expires + ttl * HAUL_S;
	}
	return a;
}
