/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Port specs: "KIND:MAIN,KEY=VALUE,...", where MAIN (a name, an interface, a path) is the kind's
 * main argument, or a raw vdev of DPDK's, "net_xxx0,KEY=VALUE,...".
 */
#ifndef HAULI_PORT_SPEC_H
#define HAULI_PORT_SPEC_H

#include <stdbool.h>
#include <stddef.h>

#define HAULI_SPEC_SIZE 512
#define HAULI_SPEC_KEYS 16

enum hauli_value {
	HAULI_VALUE_TEXT,
	HAULI_VALUE_NUMBER, /* min..max */
	HAULI_VALUE_FLAG, /* 0 or 1 */
	HAULI_VALUE_MAC,
};

/* An option that a kind of port takes. */
struct hauli_key {
	const char *name;
	enum hauli_value type;
	unsigned long min, max;
	const char *vdev; /* the PMD's name for it; NULL: the same; "": not passed on */
	unsigned long step; /* numbers are multiples of it; 0: any */
};

/* The kind of MAIN. */
enum hauli_main {
	HAULI_MAIN_NONE,
	HAULI_MAIN_OPTIONAL,
	HAULI_MAIN_NEEDED,
	HAULI_MAIN_INTERFACE, /* needed, and can be the name of a network interface */
};

struct hauli_kind;

struct hauli_spec {
	const struct hauli_kind *kind;
	const char *main; /* "" if there is none */
	unsigned nb;
	struct {
		const struct hauli_key *key; /* NULL: not in the kind's list */
		const char *name;
		const char *value;
	} keys[HAULI_SPEC_KEYS];
	char text[HAULI_SPEC_SIZE]; /* as given, without secrets: for messages */
	char parts[HAULI_SPEC_SIZE]; /* memory of the strings; the whole of a raw vdev */
};

/* The value of a key, NULL if the user did not give it. */
const char *hauli_spec_get(const struct hauli_spec *spec, const char *name);
unsigned long hauli_spec_number(
	const struct hauli_spec *spec, const char *name, unsigned long otherwise);

/* Appends ",KEY=VALUE" for each given key that the PMD has. */
void hauli_spec_pass_on(const struct hauli_spec *spec, char *args, size_t size);

/* Writes "SPEC: ..." to errbuf and returns err, for the caller to return. */
__attribute__((format(printf, 5, 6))) int hauli_spec_fail(const struct hauli_spec *spec, int err,
	char *errbuf, size_t errlen, const char *format, ...);

#endif
