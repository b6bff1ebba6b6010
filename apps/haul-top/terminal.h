/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The terminal, by ncurses: a page of lines that replaces another one by what differs, keys, and
 * the way back, however this program ends. One terminal, main thread.
 */
#ifndef TOP_TERMINAL_H
#define TOP_TERMINAL_H

#include <curses.h>
#include <stdbool.h>

#include "page.h"

/* True: stdin and stdout are one that can show pages. Else *why has what is missing. */
bool top_terminal_is_there(const char **why);

/* Takes the terminal. False: ncurses does not know it. */
bool top_terminal_begin(bool colours);
/* Gives it back as it was. */
void top_terminal_end(void);

/* A descriptor that is readable once a signal has come. */
int top_terminal_signals(void);
/* Takes over a new size; stops this program at SIGTSTP, with the terminal as it was. True: a signal
 * has come that ends the program. */
bool top_terminal_take_signals(void);

void top_terminal_size(unsigned *columns, unsigned *rows);

/* False: the terminal has not taken what it was sent yet, and the page is not shown. */
bool top_terminal_show(const struct top_page *p);

/* The next key, of ncurses' numbers; ERR: there is none. */
int top_terminal_key(void);

#endif
