/* SPDX-License-Identifier: BSD-3-Clause */
#include "reply.h"

void http_reply_begin(struct http_out *o, const struct http_head *h, unsigned status, int64_t now)
{
	http_out_status(o, status);
	http_out_date(o, "Date", now);
	/* All that is served can be read, and nothing else (RFC 9110, 15.5.6). */
	if (status == 405)
		http_out_text(o, "Allow", "GET, HEAD");
	if (!h || !h->keep_alive)
		http_out_text(o, "Connection", "close");
	else if (h->minor == 0)
		http_out_text(o, "Connection", "keep-alive");
}

int http_reply_text(struct http_out *o, const struct http_head *h, unsigned status, int64_t now)
{
	const char *reason = http_reason(status);
	int rc;

	http_reply_begin(o, h, status, now);
	http_out_text(o, "Content-Type", "text/plain; charset=utf-8");
	http_out_number(o, "Content-Length", 3 + 1 + strlen(reason) + 1);
	rc = http_out_end(o);
	if (rc < 0 || (h && h->method == HTTP_HEAD))
		return rc;
	http_out_put_number(o, status);
	http_out_put(o, HTTP_STR(" "));
	http_out_put(o, (struct http_str){reason, strlen(reason)});
	http_out_put(o, HTTP_STR("\n"));
	return o->error ? o->error : (int)o->n;
}
