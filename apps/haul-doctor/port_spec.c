/* SPDX-License-Identifier: BSD-3-Clause */
#include "port_spec.h"

#include <stdio.h>
#include <string.h>

#include <haul-dpdk/port.h>

static bool is_kind(const char *text, size_t len)
{
	const char *name, *waits_on;

	for (unsigned i = 0; (name = haul_port_kind(i, &waits_on)) != NULL; i++)
		if (strlen(name) == len && memcmp(name, text, len) == 0)
			return true;
	return false;
}

/* Writes the spec without the values of secret=. */
static void show(struct doctor_port *port, const char *text)
{
	size_t len = 0;

	while (*text && len + 1 < sizeof(port->text)) {
		size_t word = strcspn(text, ",:");
		bool secret = strncmp(text, "secret=", strlen("secret=")) == 0;

		len += (size_t)snprintf(port->text + len, sizeof(port->text) - len, "%.*s",
			secret ? (int)sizeof("secret=***") - 1 : (int)word,
			secret ? "secret=***" : text);
		text += word;
		if (*text && len + 1 < sizeof(port->text))
			port->text[len++] = *text++;
	}
}

int port_spec_parse(struct doctor_port *port, const char *text, char *errbuf, size_t errlen)
{
	size_t kind = strcspn(text, ":,");
	int err = 0;

	memset(port, 0, sizeof(*port));
	port->whole = text[kind] != '\0' && text[kind + 1] != '\0';
	if (port->whole || !is_kind(text, kind))
		err = haul_port_spec_check(text, errbuf, errlen);
	if (err < 0)
		return err;
	show(port, text);
	memcpy(port->kind, text, kind);
	if (port->whole)
		strcpy(port->parts, text + kind + 1);
	port->end = port->parts + strlen(port->parts);
	for (char *comma = port->parts; (comma = strchr(comma, ',')) != NULL;)
		*comma++ = '\0';
	return 0;
}

const char *port_spec_main(const struct doctor_port *port)
{
	return strchr(port->parts, '=') ? "" : port->parts;
}

const char *port_spec_get(const struct doctor_port *port, const char *key)
{
	size_t len = strlen(key);

	for (const char *part = port->parts; part < port->end; part += strlen(part) + 1)
		if (strncmp(part, key, len) == 0 && part[len] == '=')
			return part + len + 1;
	return NULL;
}
