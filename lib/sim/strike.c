/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/strike.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "sim/thread.h"
#include "sim/world.h"

/* As much as there is room for, in whole characters of UTF-8. */
static void copy(char *to, size_t len, const char *text)
{
	size_t n = strlen(text);

	if (n >= len) {
		n = len - 1;
		while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--;
	}
	memcpy(to, text, n);
	to[n] = '\0';
}

void hauli_sim_strike_note(struct hauli_sim_strike *s, enum hauli_sim_fault kind, uint64_t number,
	const struct hauli_sim_target *target)
{
	const struct hauli_sim_thread *t = hauli_sim_self();

	*s = (struct hauli_sim_strike){.kind = kind, .number = number, .ns = hauli_sim_passed()};
	if (target->from)
		copy(s->from, sizeof(s->from), target->from);
	if (target->to)
		copy(s->to, sizeof(s->to), target->to);
	if (target->function)
		copy(s->function, sizeof(s->function), target->function);
	if (target->from || !t || t->id == 0)
		return;
	s->thread = t->id;
	memcpy(s->thread_name, t->name, sizeof(s->thread_name));
	copy(s->host, sizeof(s->host), hauli_sim_host_name(t->host));
}

static __attribute__((format(printf, 3, 4))) void append(
	char *buf, size_t len, const char *format, ...)
{
	size_t n = strlen(buf);
	va_list args;

	va_start(args, format);
	vsnprintf(buf + n, len - n, format, args);
	va_end(args);
}

void hauli_sim_strike_text(const struct hauli_sim_strike *s, char *buf, size_t len)
{
	buf[0] = '\0';
	if (s->function[0])
		append(buf, len, "%s, ", s->function);
	if (s->to[0])
		append(buf, len, "%s > %s", s->from, s->to);
	else if (s->from[0])
		append(buf, len, "%s", s->from);
	else if (s->thread == 0)
		append(buf, len, "an invariant");
	else
		append(buf, len, "thread %u%s%s%s%s", s->thread, s->thread_name[0] ? " " : "",
			s->thread_name, s->host[0] ? " of " : "", s->host);
}

void hauli_sim_json_text(const char *text, FILE *out)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		if ((unsigned char)*text < ' ')
			fprintf(out, "\\u%04x", *text);
		else
			fputc(*text, out);
	}
	fputc('"', out);
}

static void put(const char *name, const char *text, FILE *out)
{
	if (!text[0])
		return;
	fprintf(out, ", \"%s\": ", name);
	hauli_sim_json_text(text, out);
}

void hauli_sim_strike_json(const struct hauli_sim_strike *s, FILE *out)
{
	fprintf(out, "{\"fault\": \"%s\", \"number\": %" PRIu64 ", \"ns\": %" PRIu64,
		hauli_sim_fault_name(s->kind), s->number, s->ns);
	put(s->kind == HAULI_SIM_SYSCALL ? "call" : "sometimes", s->function, out);
	if (s->to[0]) {
		put("from", s->from, out);
		put("to", s->to, out);
	} else {
		put(s->kind == HAULI_SIM_KILL ? "host" : "node", s->from, out);
	}
	if (s->thread > 0)
		fprintf(out, ", \"thread\": %u", s->thread);
	put("thread_name", s->thread_name, out);
	put("host", s->host, out);
	fputc('}', out);
}
