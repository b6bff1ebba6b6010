/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors of calls against what their headers promise. A test has a table of calls; each is made
 * without a fault, and with the first, the second, ... of its calls for memory, threads and
 * descriptors failing (faults.h), once that one alone and once with all later ones, until none is
 * left to fail. Each error must be one that the header names, with a line where there is an errbuf.
 * A call that failed leaves no descriptor, thread or mapping behind, and works when it is repeated.
 * At the end each error that a header names was seen, or the test says why not.
 */
#ifndef HAUL_TESTS_PROMISES_H
#define HAUL_TESTS_PROMISES_H

#include <stdbool.h>

#define PROMISED_MAX 16

/* What the comment of a function names: made by tests/header/errors.py. */
struct promise {
	const char *function, *header;
	bool open; /* and others */
	int errors[PROMISED_MAX]; /* 0 ends them */
};

enum where {
	ON_THREAD, /* that is no carrier */
	ON_CARRIER, /* in a coroutine of carrier 0 */
	IN_CHILD, /* of fork(), whose exit status is the error */
};

enum faults_of {
	ALL_FAULTS,
	SINGLE_FAULTS, /* it waits for coroutines, which begin when there is memory */
	NO_FAULTS,
};

struct call {
	const char *function;
	const char *what; /* is special */
	int (*make)(void); /* makes it by TRY(), undoes it, and returns its result */
	int result; /* without a fault */
	enum where where;
	enum faults_of faults;
	bool own; /* result is an error of the test's own, which the header leaves open */
	bool stays; /* a thread or memory of a call that succeeds stays */
};

/* An error that the header names and that the test does not see. */
struct unseen {
	const char *function;
	int error; /* 0: all of the function */
	const char *why;
};

struct promises {
	const struct promise *promises;
	unsigned nb_promises;
	const char *const *headers; /* those whose errors are all to be seen */
	unsigned nb_headers;
	const struct call *calls;
	unsigned nb_calls;
	const struct unseen *unseen;
	unsigned nb_unseen;
	void (*begin)(void); /* before each call, and behind it; or NULL */
	void (*end)(void);
	int (*on_carrier)(int (*make)(void));
};

/* For calls: their line. */
extern char promises_line[256];
#define LINE promises_line, sizeof(promises_line)

void promises_arm(void);
int promises_disarm(int err);

/* The call itself, with the fault that is due. */
#define TRY(call) (promises_arm(), promises_disarm(call))

/* Makes call i of the table. Fails by check's macros. */
void promises_check(const struct promises *p, unsigned i);

/* After all of them. */
void promises_check_all_seen(const struct promises *p);

#endif
