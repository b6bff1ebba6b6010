/* SPDX-License-Identifier: BSD-3-Clause */
#include "eal/log.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_log.h>

#include "base/assert.h"
#include "base/simulated.h"

/* The held messages; under lock, because PMDs have threads that log too. */
static struct {
	pthread_mutex_t lock;
	bool verbose;
	bool held;
	unsigned others; /* that hold it, too: in simulations */
	FILE *stream;
	FILE *before; /* DPDK's earlier log stream */
	int out, err; /* copies of stdout and stderr while they are held, else -1 */
	int printed; /* the file with their output meanwhile */
	char error[HAULI_LOG_LINE]; /* the first one of each, or "" */
	char warning[HAULI_LOG_LINE];
} log_state = {.lock = PTHREAD_MUTEX_INITIALIZER, .out = -1, .err = -1, .printed = -1};

void hauli_log_verbose(bool verbose)
{
	log_state.verbose = verbose;
}

static void keep_first(char kept[HAULI_LOG_LINE], const char *text, size_t size)
{
	const char *end = memchr(text, '\n', size);
	size_t len = end ? (size_t)(end - text) : size;

	if (kept[0] != '\0' || len == 0)
		return;
	if (len >= HAULI_LOG_LINE)
		len = HAULI_LOG_LINE - 1;
	memcpy(kept, text, len);
	kept[len] = '\0';
}

/* One message, for the stream has no buffer. */
static ssize_t take(void *cookie, const char *text, size_t size)
{
	const int level = rte_log_cur_msg_loglevel();
	int err = log_state.err >= 0 ? log_state.err : STDERR_FILENO;

	pthread_mutex_lock(&log_state.lock);
	if (level <= (int)RTE_LOG_ERR)
		keep_first(log_state.error, text, size);
	else if (level <= (int)RTE_LOG_WARNING)
		keep_first(log_state.warning, text, size);
	pthread_mutex_unlock(&log_state.lock);
	/* After a message of these levels DPDK ends the program, and the user would never see it.
	 * The level between them, alert, is that of a failed start since DPDK 24.11. */
	if (log_state.verbose || level == (int)RTE_LOG_CRIT || level == (int)RTE_LOG_EMERG)
		size = write(err, text, size) < 0 ? 0 : size;
	return (ssize_t)size;
}

void hauli_log_hold(void)
{
	static const cookie_io_functions_t functions = {.write = take};

	if (HAULI_SIM && log_state.held) { /* another host of the process opens a port */
		log_state.others++;
		return;
	}
	HAUL_BUG_ON(log_state.held);
	log_state.held = true;
	log_state.error[0] = '\0';
	log_state.warning[0] = '\0';
	log_state.before = rte_log_get_stream();
	log_state.stream = fopencookie(NULL, "w", functions);
	/* Without memory for a stream DPDK's log goes to the user, which is acceptable. */
	if (!log_state.stream)
		return;
	setvbuf(log_state.stream, NULL, _IONBF, 0);
	rte_openlog_stream(log_state.stream);
}

void hauli_log_hold_all(void)
{
	hauli_log_hold();
	if (HAULI_SIM) /* where other hosts print */
		return;
	fflush(stdout);
	fflush(stderr);
	log_state.printed = memfd_create("haul-printed", MFD_CLOEXEC);
	if (log_state.printed < 0)
		return;
	log_state.out = dup(STDOUT_FILENO);
	log_state.err = dup(STDERR_FILENO);
	if (log_state.out >= 0)
		dup2(log_state.printed, STDOUT_FILENO);
	if (log_state.err >= 0)
		dup2(log_state.printed, STDERR_FILENO);
}

static void put_back(int *copy, FILE *file, int fd)
{
	fflush(file);
	if (*copy < 0)
		return;
	dup2(*copy, fd);
	close(*copy);
	*copy = -1;
}

/* What was printed. getopt prints what is wrong, and the message that EAL logs after it says
 * less. */
static void find_printed(char *text)
{
	char *line, *rest = text;

	while ((line = strsep(&rest, "\n")) != NULL) {
		if (!strstr(line, ": unrecognized option") && !strstr(line, ": invalid option") &&
			!strstr(line, " requires an argument"))
			continue;
		log_state.error[0] = '\0';
		keep_first(log_state.error, line, strlen(line));
		return;
	}
}

static void read_printed(void)
{
	char text[4096];
	ssize_t n = pread(log_state.printed, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	if (log_state.verbose)
		fputs(text, stderr);
	find_printed(text);
	close(log_state.printed);
	log_state.printed = -1;
}

void hauli_log_release(char line[HAULI_LOG_LINE])
{
	HAUL_BUG_ON(!log_state.held);
	if (HAULI_SIM && log_state.others > 0) {
		log_state.others--;
		line[0] = '\0';
		return;
	}
	put_back(&log_state.out, stdout, STDOUT_FILENO);
	put_back(&log_state.err, stderr, STDERR_FILENO);
	if (log_state.stream) {
		rte_openlog_stream(log_state.before);
		fclose(log_state.stream);
		log_state.stream = NULL;
	}
	if (log_state.printed >= 0)
		read_printed();
	snprintf(line, HAULI_LOG_LINE, "%s",
		log_state.error[0] ? log_state.error : log_state.warning);
	log_state.held = false;
}
