/* SPDX-License-Identifier: BSD-3-Clause */
/* The newest message as lines of a canvas. */
#ifndef HAULI_APP_SCREEN_NOTICE_H
#define HAULI_APP_SCREEN_NOTICE_H

#include "screen/canvas.h"
#include "screen/messages.h"

#define HAULI_APP_NOTICE 4 /* lines at most */

/* Draws its first lines, at most so many, and says how much is not shown. An empty line if there is
 * no message. Returns the number of lines. */
unsigned hauli_app_notice_draw(
	struct hauli_app_canvas *c, const struct hauli_app_message *message, unsigned most);

#endif
