/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands of haul_sim_net(). */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul-sim/net.h>

#include "base/assert.h"
#include "simnet/link.h"
#include "simnet/pcap.h"

#define WORDS 64

struct command {
	const char *text;
	char *words[WORDS];
	unsigned n;
};

static __attribute__((format(printf, 2, 3), noreturn)) void wrong(
	const struct command *c, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "haul_sim_net: '%s': ", c->text);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}

/* A number with one of the units; the last one has no name. */
struct unit {
	const char *name;
	double times;
};

static double number(const struct command *c, const char *text, const struct unit *units)
{
	char *end;
	double value = strtod(text, &end);

	for (; end != text && value >= 0; units++) {
		if (strcmp(end, units->name) == 0)
			return value * units->times;
		if (!units->name[0])
			break;
	}
	wrong(c, "'%s' is no value", text);
}

static uint64_t time_of(const struct command *c, const char *text)
{
	static const struct unit units[] = {
		{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1e9}};

	if (strcmp(text, "0") != 0 && text[strspn(text, "0123456789.")] == '\0')
		wrong(c, "'%s' has no unit: ns, us, ms, s", text);
	return (uint64_t)number(c, text, units);
}

static double share_of(const struct command *c, const char *text)
{
	static const struct unit units[] = {{"%", 0.01}, {"", 1}};
	double share = number(c, text, units);

	if (share > 1)
		wrong(c, "'%s' is more than 1 or 100%%", text);
	return share;
}

static double count_of(const struct command *c, const char *text)
{
	static const struct unit units[] = {{"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"", 1}};

	return number(c, text, units);
}

static void set_key(
	const struct command *c, struct hauli_simlink *l, const char *key, const char *v)
{
	struct hauli_simlink_nature *n = &l->nature;

	if (strcmp(key, "rate") == 0)
		n->rate = (uint64_t)count_of(c, v);
	else if (strcmp(key, "queue") == 0)
		n->queue = (uint64_t)count_of(c, v) ? (uint64_t)count_of(c, v) : 1000;
	else if (strcmp(key, "mtu") == 0)
		n->mtu = (uint64_t)count_of(c, v);
	else if (strcmp(key, "delay") == 0)
		n->delay = time_of(c, v);
	else if (strcmp(key, "jitter") == 0)
		n->jitter = time_of(c, v);
	else if (strcmp(key, "tail") == 0)
		n->tail = time_of(c, v);
	else if (strcmp(key, "burst") == 0)
		n->burst = count_of(c, v);
	else if (strcmp(key, "loss") == 0)
		n->loss = share_of(c, v);
	else if (strcmp(key, "duplicate") == 0)
		n->duplicate = share_of(c, v);
	else if (strcmp(key, "reorder") == 0)
		n->reorder = share_of(c, v);
	else if (strcmp(key, "flip") == 0)
		n->flip = share_of(c, v);
	else
		wrong(c, "a link has no '%s'", key);
}

static struct hauli_node *node_of(const struct command *c, const char *name)
{
	struct hauli_node *node = hauli_net_node(name);

	if (!node)
		wrong(c, "'%s' is no name of a node: 1 to %d characters", name,
			HAULI_NODE_NAME - 1);
	return node;
}

/* Two nodes from word 1 on, in one direction or both. */
struct pair {
	struct hauli_node *a, *b;
	bool one_way;
	unsigned next; /* word after them */
};

static struct pair pair_of(const struct command *c)
{
	struct pair p = {.next = 3};

	p.one_way = c->n > 2 && strcmp(c->words[2], ">") == 0;
	if (c->n < 3u + p.one_way)
		wrong(c, "it needs two nodes");
	p.a = node_of(c, c->words[1]);
	p.b = node_of(c, c->words[2 + p.one_way]);
	p.next += p.one_way;
	return p;
}

static struct hauli_simlink *link_of(const struct command *c, const struct pair *p)
{
	struct hauli_simlink *l = hauli_simlink_find(p->a, p->b);

	if (!l)
		wrong(c, "there is no link between %s and %s", p->a->name, p->b->name);
	return l;
}

static void end_at(const struct command *c, unsigned n)
{
	if (c->n != n)
		wrong(c, c->n < n ? "there is a word missing" : "'%s' is too much",
			c->n > n ? c->words[n] : "");
}

static void make_link(const struct command *c)
{
	struct pair p = pair_of(c);
	struct hauli_simlink *l = hauli_simlink_between(p.a, p.b);

	if (!l)
		wrong(c, "a node that is no switch has one link");
	for (unsigned i = p.next; i < c->n; i++) {
		char *equals = strchr(c->words[i], '=');

		if (!equals)
			wrong(c, "'%s' is no KEY=VALUE", c->words[i]);
		*equals = '\0';
		set_key(c, l, c->words[i], equals + 1);
		if (!p.one_way)
			set_key(c, l->back, c->words[i], equals + 1);
	}
}

static void make_switch(const struct command *c)
{
	struct hauli_node *node;

	end_at(c, 2);
	node = node_of(c, c->words[1]);
	if (node->dev || node->out)
		wrong(c, "it has a port or a link already");
	hauli_net_make_switch(node);
}

static void set_cut(const struct command *c, bool cut)
{
	struct pair p;

	if (c->n == 1 && !cut) {
		hauli_net_heal();
		return;
	}
	p = pair_of(c);
	end_at(c, p.next);
	hauli_net_cut(p.a, p.b, cut);
	if (!p.one_way)
		hauli_net_cut(p.b, p.a, cut);
}

static void cut(const struct command *c)
{
	set_cut(c, true);
}

static void heal(const struct command *c)
{
	set_cut(c, false);
}

static void set_clog(const struct command *c)
{
	struct pair p = pair_of(c);
	struct hauli_simlink *l = link_of(c, &p);

	end_at(c, p.next + 1);
	hauli_simlink_clog(l, time_of(c, c->words[p.next]));
	if (!p.one_way)
		hauli_simlink_clog(l->back, time_of(c, c->words[p.next]));
}

static void set_up(const struct command *c, bool up)
{
	struct pair p = pair_of(c);

	end_at(c, p.next);
	hauli_simlink_set_up(link_of(c, &p), up);
}

static void down(const struct command *c)
{
	set_up(c, false);
}

static void up(const struct command *c)
{
	set_up(c, true);
}

static void pcap(const struct command *c)
{
	struct pair p = pair_of(c);
	struct hauli_simlink *l = link_of(c, &p);

	end_at(c, p.next + 1);
	l->pcap = hauli_sim_pcap_open(c->words[p.next]);
	if (!l->pcap)
		wrong(c, "%s: %s", c->words[p.next], strerror(errno));
	if (!p.one_way)
		l->back->pcap = l->pcap;
}

static void run(const struct command *c)
{
	static const struct {
		const char *name;
		void (*fn)(const struct command *c);
	} commands[] = {{"switch", make_switch}, {"link", make_link}, {"cut", cut}, {"heal", heal},
		{"clog", set_clog}, {"down", down}, {"up", up}, {"pcap", pcap}};

	for (unsigned i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i].name, c->words[0]) == 0) {
			commands[i].fn(c);
			return;
		}
	}
	wrong(c, "there are switch, link, cut, heal, clog, down, up, pcap");
}

static void run_line(const char *line)
{
	struct command c = {.text = line};
	char *copy = strdup(line), *at = copy, *word;

	if (!copy)
		abort();
	while ((word = strsep(&at, " \t")) != NULL) {
		if (!word[0])
			continue;
		if (c.n == WORDS)
			wrong(&c, "it has too many words");
		c.words[c.n++] = word;
	}
	if (c.n > 0)
		run(&c);
	free(copy);
}

void haul_sim_net(const char *commands, ...)
{
	char *text, *at, *line;
	va_list args;
	int n;

	HAUL_MISUSE_IF(!commands, "the commands are NULL");
	va_start(args, commands);
	n = vasprintf(&text, commands, args);
	va_end(args);
	if (n < 0)
		abort();
	at = text;
	while ((line = strsep(&at, ";\n")) != NULL)
		run_line(line + strspn(line, " \t"));
	free(text);
}
