/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A finding is what one check says of this machine or of one interface; a check is one
 * function in a table. Nothing that a check does lasts.
 */
#ifndef DOCTOR_H
#define DOCTOR_H

#include <haul/topo.h>

enum doctor_status {
	DOCTOR_NONE, /* the check has nothing to say here */
	DOCTOR_OK,
	DOCTOR_NOTE, /* works, could be better, or only some port specs need it */
	DOCTOR_PROBLEM, /* haul cannot do without it */
	DOCTOR_STATUSES,
};

struct doctor_finding {
	enum doctor_status status;
	char says[384]; /* a line, without its end */
	char todo[384]; /* what to do: a command to copy, where there is one; "" when nothing */
};

/* What a check looks at. */
struct doctor_subject {
	const struct haul_plan *plan;
	const char *iface; /* NULL: the machine */
	bool named; /* the user has asked for this interface, so its faults are problems */
};

struct doctor_check {
	const char *name; /* as it is printed, and in --json */
	void (*fn)(const struct doctor_subject *subject, struct doctor_finding *finding);
};

/* Tables, each ended by a name of NULL. */
extern const struct doctor_check doctor_cpu_checks[];
extern const struct doctor_check doctor_memory_checks[];
extern const struct doctor_check doctor_privilege_checks[];
extern const struct doctor_check doctor_dpdk_checks[];
extern const struct doctor_check doctor_iface_checks[];

/* What a check says, and what to do; the second of them for what only root can do. */
__attribute__((format(printf, 3, 4))) void doctor_say(
	struct doctor_finding *finding, enum doctor_status status, const char *format, ...);
__attribute__((format(printf, 2, 3))) void doctor_todo(
	struct doctor_finding *finding, const char *format, ...);
__attribute__((format(printf, 2, 3))) void doctor_todo_root(
	struct doctor_finding *finding, const char *format, ...);

/* "sudo " where this user needs it before such a command, else "". */
const char *doctor_sudo(void);

#endif
