/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports in place, on a terminal. Main thread. */
#ifndef HAULI_APP_SCREEN_SCREEN_H
#define HAULI_APP_SCREEN_SCREEN_H

#include "process/state.h"

/* Decides, from --screen and the terminal, whether there will be a screen. To be called before
 * other threads are created. Returns an exit code. */
int hauli_app_screen_choose(struct hauli_app *a);

/* Shows the screen, if there is to be one. */
void hauli_app_screen_begin(struct hauli_app *a);

bool hauli_app_screen_is_on(void);

/* Shows the figures of the period that ends now. */
void hauli_app_screen_period(struct hauli_app *a);

/* Returns to the normal screen, and prints the messages of the time between. May be called without
 * hauli_app_screen_begin(). */
void hauli_app_screen_end(struct hauli_app *a);

#endif
