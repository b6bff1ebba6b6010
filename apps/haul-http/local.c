/* SPDX-License-Identifier: BSD-3-Clause */
#include "local.h"

#include <sys/socket.h>

/* What has come already can still be received; after that it is as if the client had ended. */
static void receive_no_more(struct http_conn *c)
{
	shutdown(c->io.fd, SHUT_RD);
}

void http_local_enter(struct http_local *p, struct http_conn *c)
{
	c->awaits_request = false;
	c->is_fresh = true;
	p->nb_fresh++;
	c->next = p->first;
	c->link = &p->first;
	if (c->next)
		c->next->link = &c->next;
	p->first = c;
	http_count(&p->counts.connections, 1);
}

void http_local_leave(struct http_local *p, struct http_conn *c)
{
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	http_local_heard(p, c);
	http_count(&p->counts.closed, 1);
}

void http_local_heard(struct http_local *p, struct http_conn *c)
{
	p->nb_fresh -= c->is_fresh;
	c->is_fresh = false;
}

void http_local_await(struct http_local *p, struct http_conn *c)
{
	c->awaits_request = true;
	if (p->ends && (!c->is_fresh || p->ends_fresh))
		receive_no_more(c);
}

void http_local_end(struct http_local *p, bool fresh_too)
{
	p->ends = true;
	p->ends_fresh = fresh_too;
	for (struct http_conn *c = p->first; c; c = c->next)
		if (c->awaits_request && c->io.from == c->io.to && (!c->is_fresh || fresh_too))
			receive_no_more(c);
}

void http_local_count_rest(struct http_local *p)
{
	for (struct http_conn *c = p->first; c; c = c->next)
		http_count(&p->counts.limits[HTTP_LIMIT_STOP], 1);
}
