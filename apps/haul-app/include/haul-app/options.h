/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command lines. A program describes its options in tables; parsing, errors of one line, --help and
 * --version follow from these.
 *
 * 	static uint64_t delay;
 * 	static const struct haul_app_option options[] = {
 * 		{"--delay", "TIME", HAUL_APP_TIME, &delay, .max = 60 * HAUL_S, .zero = "none",
 * 			.help = "sleep before each reply"},
 * 		{0},
 * 	};
 * 	static const struct haul_app_program program = {
 * 		.name = "my-echo", .purpose = "Answers pings.", .options = {options}};
 *
 * The default of an option is the value of its variable before parsing; --help shows it.
 *
 * A packet program passes its struct haul_app_program to haul_app_main() (haul-app/app.h), any
 * other program to haul_app_command(). All functions here are for the main thread, unless their
 * comments say otherwise.
 */
#ifndef HAUL_APP_OPTIONS_H
#define HAUL_APP_OPTIONS_H

#include <stdio.h>

#include <haul/base.h>
#include <haul/topo.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Exit codes. */
enum haul_app_exit {
	HAUL_APP_DONE = 0,
	HAUL_APP_FAILED = 1, /* while running */
	HAUL_APP_USAGE = 2, /* wrong arguments */
	HAUL_APP_CANCELLED = 3, /* with --strict: handlers had to be cancelled at the end */
};

/* What the value of an option is, and what haul_app_option.to points to. */
enum haul_app_kind {
	HAUL_APP_FLAG, /* bool: true if given */
	HAUL_APP_NUMBER, /* uint64_t, min to max; max 0: no limit */
	HAUL_APP_TIME, /* uint64_t in ns, the same: "5us", "5ms", "1.5s", "2min", "1h"; "2": 2 s */
	HAUL_APP_TEXT, /* const char * */
	HAUL_APP_TEXTS, /* struct haul_app_texts: may be repeated */
	HAUL_APP_CHOICE, /* unsigned: index, from 0, into value "first|second|..." */
	HAUL_APP_REST, /* struct haul_app_texts: all arguments after the option */
};

/* Texts of the command line. The library owns items, and frees them at the end. */
struct haul_app_texts {
	char **items;
	unsigned n;
};

struct haul_app_option {
	/* "--port", or "-p, --port" with a letter; in no other table. NULL ends a table. */
	const char *name;
	const char *value; /* name of its value in --help; HAUL_APP_CHOICE: the choices */
	enum haul_app_kind kind;
	void *to;
	uint64_t min, max;
	const char *zero; /* how --help shows a default of 0, NULL or "" */
	const char *help; /* lines of about 60 characters, separated by \n */
	/* Both or none. What the option needs to have an effect, for --help and the error:
	 * "--delay"; and a function that is called after parsing: false: the option is refused. */
	const char *needs;
	bool (*has_effect)(void);
};

/* A name of another program's option, for users who type it from habit; --help does not show it. */
struct haul_app_alias {
	const char *name; /* "--stats-period"; NULL ends a table */
	const char *option; /* the same option here: "--period"; NULL: there is none */
	const char *hint; /* without one: what to do instead, in a few words */
};

/* What an option of the library needs in a program to have an effect; as in haul_app_option. */
struct haul_app_need {
	const char *option; /* "--period"; NULL ends a table */
	const char *needs;
	bool (*has_effect)(void);
};

struct haul_app_program {
	const char *name;
	const char *version; /* for --version; NULL: haul's */
	const char *purpose; /* one or a few lines, for --help */
	const char *examples; /* lines, for --help; may be NULL */
	/* Tables of options, ended by NULL. haul_app_main() adds those of all packet programs. */
	const struct haul_app_option *options[12];
	const struct haul_app_alias *aliases; /* may be NULL */
	/* True: adds --carriers, --near and --smt, for haul_app_plan(). haul_app_main() does so for
	 * all its programs. */
	bool places_carriers;
	/* True: --help explains port specs. It does so for all programs of haul_app_main(). */
	bool explains_ports;
	const struct haul_app_need *needs; /* may be NULL */
	/* For haul_app_main(): true if users can capture (haul_app_capture_start()) and change
	 * pollers while the program runs, so that --capture-... have an effect without --capture,
	 * and --packet-rate with --poller spin. Called after parsing. NULL: they never can. */
	bool (*takes_commands)(void);
	/* True: an option that has no effect is noted on stderr, not refused. NULL: false. */
	bool (*tolerates)(void);
};

/* Sets the carriers as --carriers does ("2", "0,2-3"), for a program with an option of its own for
 * that, which errors name: in haul_app_hooks.parsed(). False: --carriers is given. Both texts must
 * stay valid. */
HAUL_API bool haul_app_place(const char *option, const char *carriers);

/*
 * Runs a program that handles no packets: parses the command line, calls body(), and checks that
 * all output was written. Returns the exit code of the process.
 */
HAUL_API int haul_app_command(
	const struct haul_app_program *program, int (*body)(void), int argc, char **argv);

/*
 * Makes the placement plan that --carriers, --near and --smt describe. machine: the machine to plan
 * for (haul_plan_opts.machine), or NULL. Returns HAUL_APP_DONE, and the caller frees *plan by
 * haul_plan_destroy(); or an exit code after one line on stderr.
 */
HAUL_API int haul_app_plan(
	const struct haul_app_program *program, struct haul_plan **plan, const char *machine);

/*
 * Prints "NAME: ..." as one line on stderr. Control characters are printed as \x1b; the middle of a
 * very long line is left out. Any thread; in coroutines it needs 12 KiB of stack.
 */
HAUL_API void haul_app_say(const struct haul_app_program *program, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Like haul_app_say(), with a hint to --help; returns HAUL_APP_USAGE. For errors in arguments that
 * the program finds itself. */
HAUL_API int haul_app_wrong(const struct haul_app_program *program, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Lines of the two functions above go to out, if the main thread of haul_app_main() prints them: to
 * the user who gave a command. NULL: to stderr again. Main thread. */
HAUL_API void haul_app_say_to(FILE *out);

/* Choice i, from 0, of "first|second|...", copied to buf. Returns buf. Any thread. */
HAUL_API const char *haul_app_choice(char *buf, size_t len, const char *choices, unsigned i);

#ifdef __cplusplus
}
#endif

#endif
