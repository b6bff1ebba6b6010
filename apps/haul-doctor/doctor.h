/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks and findings. A check is a function in a table, which examines this machine or an
 * interface and produces one finding. Checks change nothing permanently.
 */
#ifndef DOCTOR_H
#define DOCTOR_H

#include <haul/topo.h>

enum doctor_status {
	DOCTOR_NONE, /* not applicable; nothing is printed */
	DOCTOR_OK,
	DOCTOR_NOTE, /* works but could be better, or matters only for some port specs */
	DOCTOR_PROBLEM, /* haul cannot run, or not on this interface */
	DOCTOR_STATUSES,
};

struct doctor_finding {
	enum doctor_status status;
	char says[384]; /* one line, without newline */
	char todo[384]; /* the remedy, if possible as a command to copy; "": none needed */
};

struct doctor_port;

/* The object of a check. */
struct doctor_subject {
	const struct haul_plan *plan;
	const char *iface; /* an interface; NULL: the machine */
	const struct doctor_port *port; /* a port of --port (port_spec.h); NULL: none */
	bool named; /* named by --iface or --port: its faults are problems, not notes */
};

struct doctor_check {
	const char *name; /* in the text and in --json */
	void (*fn)(const struct doctor_subject *subject, struct doctor_finding *finding);
};

/* Tables of checks, each terminated by a name of NULL. */
extern const struct doctor_check doctor_cpu_checks[];
extern const struct doctor_check doctor_memory_checks[];
extern const struct doctor_check doctor_privilege_checks[];
extern const struct doctor_check doctor_dpdk_checks[];
extern const struct doctor_check doctor_iface_checks[];

/* The status of a fault: a problem if the user named the subject, else a note. */
enum doctor_status doctor_fault(const struct doctor_subject *subject);

/* Fill a finding: doctor_say() its status and text, doctor_todo() the remedy; doctor_todo_root() a
 * command as remedy that only root may run. */
__attribute__((format(printf, 3, 4))) void doctor_say(
	struct doctor_finding *finding, enum doctor_status status, const char *format, ...);
__attribute__((format(printf, 2, 3))) void doctor_todo(
	struct doctor_finding *finding, const char *format, ...);
__attribute__((format(printf, 2, 3))) void doctor_todo_root(
	struct doctor_finding *finding, const char *format, ...);

/* "sudo " if this user needs it before a command for root, else "". */
const char *doctor_sudo(void);

#endif
