/* SPDX-License-Identifier: BSD-3-Clause */
#include "console.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmdline.h>
#include <cmdline_parse.h>
#include <cmdline_rdline.h>

#include "../testpmd_args.h"
#include "wrong.h"

/* The console whose command runs. */
static struct fwd_console *current;
static bool succeeded;

void fwd_console_print(struct fwd_console *c, const char *text, size_t n)
{
	while (n > 0 && !c->gone) {
		ssize_t written = write(c->out, text, n);

		if (written < 0) {
			/* Interrupted: the program ends. A client that does not read is left. */
			c->gone = true;
			return;
		}
		text += written;
		n -= (size_t)written;
	}
}

/* The output of what runs between the two appears as one piece, with the lines that functions of
 * haul print as errors. */
struct output {
	FILE *file;
	char *text;
	size_t size;
};

static void begin_output(struct output *o)
{
	o->file = open_memstream(&o->text, &o->size);
	if (!o->file)
		abort();
	haul_app_say_to(o->file);
}

static void end_output(struct output *o)
{
	haul_app_say_to(NULL);
	fclose(o->file);
	fflush(stdout);
	fwd_console_print(current, o->text, o->size);
	free(o->text);
}

static void run_command(void *words, struct cmdline *cl, void *data)
{
	const struct fwd_command *command = data;
	struct fwd_call call = {.app = current->app, .words = words};
	struct output o;

	begin_output(&o);
	call.out = o.file;
	succeeded = command->run(&call);
	end_output(&o);
	if (!haul_app_is_ending(call.app))
		return;
	cmdline_set_prompt(cl, "");
	cmdline_quit(cl); /* the rest of what was typed is not run */
}

static void run_wrong(void *words, struct cmdline *cl, void *data)
{
	struct output o;

	succeeded = false;
	begin_output(&o);
	fwd_wrong_print(o.file);
	end_output(&o);
}

static const char *prompt(void)
{
	return fwd_testpmd_is_meant() ? "testpmd> " : "haul-fwd> ";
}

void fwd_console_init(struct fwd_console *c, struct haul_app *app, int out, bool edits)
{
	static cmdline_parse_ctx_t *context;

	if (!context)
		context = fwd_commands_context(run_command, run_wrong);
	*c = (struct fwd_console){.app = app, .out = out};
	c->cl = cmdline_new(context, prompt(), -1, edits ? out : -1);
	if (!c->cl)
		abort();
	if (!edits)
		fwd_console_print_prompt(c);
}

void fwd_console_fini(struct fwd_console *c)
{
	cmdline_free(c->cl);
	c->cl = NULL;
}

bool fwd_console_type(struct fwd_console *c, const char *text, size_t n)
{
	current = c;
	return cmdline_in(c->cl, text, (int)n) >= 0;
}

bool fwd_console_run(struct fwd_console *c, const char *line)
{
	static const char ambiguous[] = "Ambiguous command\n";
	char text[sizeof(c->line) + 2];

	snprintf(text, sizeof(text), "%s\n", line);
	current = c;
	succeeded = true;
	if (cmdline_parse(c->cl, text) >= 0)
		return succeeded;
	fwd_console_print(c, ambiguous, sizeof(ambiguous) - 1);
	return false;
}

void fwd_console_print_prompt(struct fwd_console *c)
{
	if (!haul_app_is_ending(c->app))
		fwd_console_print(c, prompt(), strlen(prompt()));
}

static void end_line(struct fwd_console *c)
{
	static const char long_line[] = "Bad arguments: the line is too long\n";

	c->line[c->len] = '\0';
	if (c->too_long)
		fwd_console_print(c, long_line, sizeof(long_line) - 1);
	else
		fwd_console_run(c, c->line);
	c->len = 0;
	c->too_long = false;
	fwd_console_print_prompt(c);
}

void fwd_console_take(struct fwd_console *c, const char *text, size_t n)
{
	for (size_t i = 0; i < n && !c->gone && !haul_app_is_ending(c->app); i++) {
		if (text[i] == '\n')
			end_line(c);
		else if (text[i] == '\r' || text[i] == '\0')
			continue;
		else if (c->len + 1 < sizeof(c->line))
			c->line[c->len++] = text[i];
		else
			c->too_long = true;
	}
}
