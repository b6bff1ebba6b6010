/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-dns under libFuzzer: files of hosts and lists of prefixes. What they say can be asked
 * for. */
#include "support/dns_text.h"
#include "../../apps/haul-dns/acl.h"
#include "../../apps/haul-dns/hosts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct dns_secret secret = {{1, 2}};

static void hosts(const char *file, size_t n)
{
	static const char questions[][40] = {"\1a\0\0\1\0\1", "\1b\0\0\xff\0\1",
		"\1"
		"1\1"
		"0\1"
		"0\2"
		"10\7in-addr\4arpa\0\0\x0c\0\1"};
	struct dns_reply_opts opts = {
		.max = DNS_MESSAGE_MAX, .is_stream = true, .ede = DNS_EDE_NONE};
	static uint8_t out[1 << 16];
	static char text[1 << 20];
	struct dns_hosts *h;
	unsigned wrong;

	if (dns_hosts_parse(&h, file, n, &secret, &wrong) < 0) {
		DNS_TEXT_CHECK(wrong > 0);
		return;
	}
	for (int i = 0; i < 3; i++) {
		uint8_t msg[64] = {0, 1, 0, 0, 0, 1};
		size_t length = i < 2 ? 7 : 27, bytes;
		struct dns_query q;

		memcpy(msg + DNS_HEADER, questions[i], length);
		DNS_TEXT_CHECK(dns_query_parse(&q, msg, DNS_HEADER + length, &secret) == 0);
		bytes = dns_hosts_write(h, out, msg, &q, &opts);
		if (bytes > 0)
			bed_text(out, bytes, text);
	}
	dns_hosts_free(h);
}

static void acl(const char *list, size_t n)
{
	static const struct haul_addr client = {4, {10, 0, 0, 1}};
	struct dns_acl *made;
	size_t wrong;

	if (dns_acl_parse(&made, list, n, &wrong) < 0) {
		DNS_TEXT_CHECK(wrong < n);
		return;
	}
	dns_acl_allows(made, &client);
	dns_acl_free(made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* In memory of its own size, for the sanitizer. */
	char *text = size > 1 ? malloc(size - 1) : NULL;

	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	if (data[0] & 1)
		hosts(text, size - 1);
	else
		acl(text, size - 1);
	free(text);
	return 0;
}
