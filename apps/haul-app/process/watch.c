/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/watch.h"

#include <errno.h>
#include <poll.h>
#include <stdio_ext.h>
#include <stdlib.h>

#include "process/readers.h"
#include "process/signals.h"

struct watcher {
	void (*ready)(struct haul_app *app, int fd, void *arg);
	void *arg;
};

static struct {
	/* [nb]; fds[i] belongs to watchers[i]. The first is that of the signals. */
	struct pollfd *fds;
	struct watcher *watchers;
	nfds_t nb;
	bool calls; /* a function is being called */
	bool changed; /* since the last poll: its results belong to other files */
} w;

static void append(int fd, struct watcher watcher)
{
	w.fds = realloc(w.fds, (w.nb + 1) * sizeof(w.fds[0]));
	w.watchers = realloc(w.watchers, (w.nb + 1) * sizeof(w.watchers[0]));
	if (!w.fds || !w.watchers)
		abort();
	w.fds[w.nb] = (struct pollfd){.fd = fd, .events = POLLIN};
	w.watchers[w.nb++] = watcher;
	w.changed = true;
}

static void init(void)
{
	if (w.nb == 0)
		append(hauli_app_signals_fd(), (struct watcher){NULL, NULL});
}

static void erase(nfds_t i)
{
	w.nb--;
	for (; i < w.nb; i++) {
		w.fds[i] = w.fds[i + 1];
		w.watchers[i] = w.watchers[i + 1];
	}
	w.changed = true;
}

int haul_app_watch(struct haul_app *app, int fd,
	void (*ready)(struct haul_app *app, int fd, void *arg), void *arg)
{
	const struct watcher watcher = {ready, arg};
	nfds_t i;

	if (fd < 0)
		return -EBADF;
	init();
	for (i = 1; i < w.nb && w.fds[i].fd != fd; i++)
		;
	if (!ready && i == w.nb)
		return -ENOENT;
	if (!ready)
		erase(i);
	else if (i < w.nb)
		w.watchers[i] = watcher;
	else
		append(fd, watcher);
	return 0;
}

void haul_app_end(struct haul_app *app)
{
	hauli_app_state.ends = true;
}

bool haul_app_is_ending(const struct haul_app *app)
{
	return hauli_app_state.ends || hauli_app_signals_came();
}

/* Discards data that an interrupted write left in the buffer: it would block the next flush, which
 * happens while output of drivers is captured. ferror() still reports the loss at the end. */
void hauli_app_watch_end_writing(void)
{
	if (fflush(stdout) != 0)
		__fpurge(stdout);
	hauli_app_signals_phase(HAULI_APP_PHASE_WORKS, "running", "");
}

void hauli_app_watch_phase(void)
{
	/* Functions mostly write, to a terminal or a pipe that may be full. */
	if (w.calls)
		hauli_app_signals_phase(HAULI_APP_PHASE_WRITES, "answering", "");
	else
		hauli_app_signals_phase(HAULI_APP_PHASE_WORKS, "running", "");
}

/* Calls the functions of the files that are ready, up to one that changes the list: the next poll
 * reports the others again. */
static void call_ready(struct hauli_app *a)
{
	nfds_t i;

	w.calls = true;
	hauli_app_watch_phase();
	for (i = 1; i < w.nb && !w.changed && !a->ends; i++) {
		int fd = w.fds[i].fd;

		if (w.fds[i].revents & POLLNVAL) {
			haul_app_say(a->pub.program,
				"file %d was closed, but not taken from haul_app_watch()", fd);
			erase(i);
		} else if (w.fds[i].revents) {
			w.watchers[i].ready(&a->pub, fd, w.watchers[i].arg);
		}
	}
	w.calls = false;
	hauli_app_watch_end_writing();
}

bool hauli_app_watch_wait(struct hauli_app *a, uint64_t deadline)
{
	uint64_t now, left;
	struct timespec most;
	int n, err = 0;

	init();
	do {
		now = haul_now();
		left = deadline > now ? deadline - now : 0;
		most = (struct timespec){(time_t)(left / HAUL_S), (long)(left % HAUL_S)};
		w.changed = false;
		if (a->ends) {
			n = 0;
			break;
		}
		hauli_readers_admit();
		n = ppoll(w.fds, w.nb, &most, NULL);
		err = errno;
		hauli_readers_bar();
	} while (n < 0 && err == EINTR);
	if (n > 0 && !hauli_app_signals_came())
		call_ready(a);
	return !a->ends && !hauli_app_signals_came();
}

void hauli_app_watch_fini(void)
{
	free(w.fds);
	free(w.watchers);
	w.fds = NULL;
	w.watchers = NULL;
	w.nb = 0;
}
