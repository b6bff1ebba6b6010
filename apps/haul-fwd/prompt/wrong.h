/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with a line that is no command. */
#ifndef FWD_PROMPT_WRONG_H
#define FWD_PROMPT_WRONG_H

#include <stdbool.h>
#include <stdio.h>

#include <cmdline_parse.h>

/*
 * Makes the form that matches each line that none of `forms` matches, for the end of a context: so
 * librte_cmdline calls run() in place of its own message, which names no word. `forms` and the
 * result last until the end of the process.
 */
cmdline_parse_inst_t *fwd_wrong_instance(cmdline_parse_inst_t *const *forms,
	void (*run)(void *words, struct cmdline *cl, void *data));

/* Called by run(): prints the line of testpmd, with the word that is wrong. */
void fwd_wrong_print(FILE *out);

#endif
