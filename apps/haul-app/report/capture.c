/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/capture.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <haul/version.h>
#include <pcap/pcap.h>

#include "options/value.h"
#include "process/say.h"

#define FLUSH_TIMEOUT HAUL_S /* for the reader of a pipe, at the end */
#define MIB (1u << 20)

/* One per process, as is hauli_app_state. */
static struct {
	/* Values of the options. */
	const char *file;
	const char *filter;
	const char *ports;
	const char *rotate;
	uint64_t snaplen;
	uint64_t files;
	uint64_t buffer; /* MiB */
	unsigned direction; /* enum haul_capture_directions */

	struct haul_capture_opts opts;
	bool captures[HAUL_APP_PORTS_MAX];
	struct bpf_program program; /* of the filter */
	char version[128]; /* of this program */

	struct haul_capture *capture; /* NULL: none now */
	char *name; /* its file */
	bool said; /* a line has said that the file cannot be written */
	bool lost; /* some file is incomplete */
	bool any; /* there was a capture */
	struct haul_capture_stats ended; /* sums of the captures that have ended */
} s = {.buffer = 8};

static bool captures(void)
{
	return s.file || hauli_app_takes_commands(&hauli_app_state);
}

static bool rotates(void)
{
	return s.rotate;
}

#define CAPTURES .needs = "--capture FILE", .has_effect = captures
static const struct haul_app_option options[] = {
	{"--capture", "FILE", HAUL_APP_TEXT, &s.file, .zero = "none",
		.help = "write received and sent frames to FILE (pcapng, for Wireshark and "
			"tcpdump); a FIFO, or - for stdout"},
	{"--capture-filter", "EXPRESSION", HAUL_APP_TEXT, &s.filter, .zero = "all frames",
		.help = "only those frames, in the language of tcpdump: see pcap-filter(7)",
		CAPTURES},
	{"--capture-ports", "N,...", HAUL_APP_TEXT, &s.ports, .zero = "all",
		.help = "only frames of these ports, 0 for the first --port", CAPTURES},
	{"--capture-direction", "both|rx|tx", HAUL_APP_CHOICE, &s.direction,
		.help = "only received (rx) or sent (tx) frames", CAPTURES},
	{"--capture-snaplen", "N", HAUL_APP_NUMBER, &s.snaplen, 1, 65528, "whole frames",
		"bytes of each frame to keep", CAPTURES},
	{"--capture-rotate", "SIZE|TIME", HAUL_APP_TEXT, &s.rotate, .zero = "one file",
		.help = "begin a new file FILE_NUMBER_DATE.pcapng at this size (100M, 1G) or age "
			"(60s, 10min)",
		CAPTURES},
	{"--capture-files", "N", HAUL_APP_NUMBER, &s.files, 1, 100000, "all",
		"keep the last N files", .needs = "--capture-rotate SIZE, such as 100M",
		.has_effect = rotates},
	{"--capture-buffer", "MIB", HAUL_APP_NUMBER, &s.buffer, 1, 1024, NULL,
		"memory of each carrier for frames that are not written yet", CAPTURES},
	{NULL},
};

const struct haul_app_option *hauli_capture_options(void)
{
	return options;
}

static bool match(void *arg, const uint8_t *frame, uint32_t len)
{
	return bpf_filter(arg, frame, len, len) != 0;
}

static int compile(const struct hauli_app *a)
{
	pcap_t *ethernet;
	int rc = HAUL_APP_DONE;

	if (!s.filter)
		return HAUL_APP_DONE;
	ethernet = pcap_open_dead(DLT_EN10MB, 65535);
	if (!ethernet)
		return hauli_app_fail(a, -ENOMEM, "no memory for the filter of --capture-filter");
	if (pcap_compile(ethernet, &s.program, s.filter, 1, PCAP_NETMASK_UNKNOWN) != 0)
		rc = haul_app_wrong(
			a->pub.program, "--capture-filter %s: %s", s.filter, pcap_geterr(ethernet));
	pcap_close(ethernet);
	return rc;
}

static bool parse_size(uint64_t *bytes, const char *text)
{
	static const struct {
		const char *unit;
		uint64_t bytes;
	} units[] = {{"k", 1000}, {"M", 1000000}, {"G", 1000000000}};
	char *end;
	double n = strtod(text, &end);

	for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].unit) == 0 && n > 0 && n < 1e9) {
			*bytes = (uint64_t)(n * (double)units[i].bytes);
			return isdigit((unsigned char)text[0]);
		}
	}
	return false;
}

static int choose_rotation(const struct hauli_app *a)
{
	size_t len = s.rotate ? strlen(s.rotate) : 0;

	if (!s.rotate || parse_size(&s.opts.rotate_bytes, s.rotate))
		return HAUL_APP_DONE;
	if (len > 0 && !isdigit((unsigned char)s.rotate[len - 1]) &&
		hauli_time_parse(&s.opts.rotate_ns, s.rotate) && s.opts.rotate_ns > 0)
		return HAUL_APP_DONE;
	return haul_app_wrong(a->pub.program,
		"--capture-rotate %s: give a size, such as 100M or 1G, or a time, such as 60s or "
		"10min",
		s.rotate);
}

static int choose_ports(const struct hauli_app *a)
{
	const char *at = s.ports;
	char *end;

	while (at) {
		unsigned long port = strtoul(at, &end, 10);

		if (!isdigit((unsigned char)*at) || (*end && *end != ',') ||
			port >= a->pub.nb_ports)
			return haul_app_wrong(a->pub.program,
				"--capture-ports %s: give numbers from 0 to %u, such as 0,2",
				s.ports, a->pub.nb_ports - 1);
		s.captures[port] = true;
		at = *end ? end + 1 : NULL;
	}
	if (s.ports)
		s.opts.captures = s.captures;
	return HAUL_APP_DONE;
}

static int check_stdout(struct hauli_app *a)
{
	if (!s.file || strcmp(s.file, "-") != 0)
		return HAUL_APP_DONE;
	if (a->json)
		return haul_app_wrong(a->pub.program,
			"--capture - and --json both write to stdout; give --capture a file");
	if (s.rotate)
		return haul_app_wrong(a->pub.program,
			"--capture-rotate cannot rotate stdout; give --capture a file");
	if (isatty(STDOUT_FILENO))
		return haul_app_wrong(a->pub.program,
			"--capture -: stdout is a terminal; redirect it, for example to "
			"\"tcpdump -r -\"");
	a->out = stderr;
	return HAUL_APP_DONE;
}

static void fill_opts(const struct hauli_app *a)
{
	const struct haul_app_program *program = a->pub.program;
	uint64_t buffer = MIB;

	while (buffer < s.buffer * MIB)
		buffer *= 2;
	snprintf(s.version, sizeof(s.version), "%s %s (haul %s)", program->name,
		program->version ? program->version : haul_version(), haul_version());
	s.opts.directions = (enum haul_capture_directions)s.direction;
	s.opts.snaplen = (uint32_t)s.snaplen;
	s.opts.files = (unsigned)s.files;
	s.opts.ring_bytes = (uint32_t)buffer;
	s.opts.program = s.version;
	if (s.filter) {
		s.opts.match = match;
		s.opts.match_arg = s.program.bf_insns;
		s.opts.match_text = s.filter;
	}
}

static int choose(const struct hauli_app *a)
{
	int (*const steps[])(const struct hauli_app *) = {compile, choose_rotation, choose_ports};
	int rc = HAUL_APP_DONE;

	pcap_freecode(&s.program);
	memset(s.captures, 0, sizeof(s.captures));
	s.opts = (struct haul_capture_opts){0};
	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]) && rc == HAUL_APP_DONE; i++)
		rc = steps[i](a);
	if (rc == HAUL_APP_DONE)
		fill_opts(a);
	return rc;
}

int hauli_app_capture_check(struct hauli_app *a)
{
	int rc = check_stdout(a);

	if (rc == HAUL_APP_DONE && s.file && !s.file[0])
		rc = haul_app_wrong(a->pub.program, "--capture: give the name of a file");
	return rc == HAUL_APP_DONE ? choose(a) : rc;
}

static int open_file(struct hauli_app *a, const char *file, char *errbuf, size_t errlen)
{
	char *name = strdup(file);
	int err = name ? 0 : -ENOMEM;

	s.opts.ports = a->ports;
	s.opts.nb_ports = a->nb_ports;
	s.opts.carriers = haul_carriers(a->pub.rt);
	s.opts.file = name;
	if (!err)
		err = haul_capture_open(&s.capture, &s.opts, errbuf, errlen);
	else
		snprintf(errbuf, errlen, "no memory for the name of a capture file");
	if (err) {
		free(name);
		return err;
	}
	s.name = name;
	s.said = false;
	s.any = true;
	a->io_opts.capture = s.capture;
	return 0;
}

static int close_file(
	struct hauli_app *a, struct haul_capture_stats *st, char *errbuf, size_t errlen)
{
	int err = haul_capture_close(s.capture, FLUSH_TIMEOUT, st, errbuf, errlen);

	if (err == -EBUSY)
		return err;
	s.capture = NULL;
	a->io_opts.capture = NULL;
	free(s.name);
	s.name = NULL;
	s.lost |= err != 0;
	s.ended.captured += st->captured;
	s.ended.dropped += st->dropped;
	s.ended.bytes += st->bytes;
	s.ended.files += st->files;
	return err;
}

int hauli_app_capture_begin(struct hauli_app *a)
{
	char errbuf[512];
	int err;

	if (!s.file)
		return HAUL_APP_DONE;
	err = open_file(a, s.file, errbuf, sizeof(errbuf));
	return err ? hauli_app_fail(a, err, errbuf) : HAUL_APP_DONE;
}

bool hauli_app_capture_look(struct hauli_app *a)
{
	const char *fault = s.capture ? haul_capture_fault(s.capture) : "";

	if (!fault[0] || s.said)
		return true;
	s.said = true;
	s.lost = true;
	haul_app_say(a->pub.program, "the capture ends: %s", fault);
	return strcmp(s.name, "-") != 0;
}

int hauli_app_capture_end(struct hauli_app *a, int rc)
{
	struct haul_capture_stats st;
	char errbuf[512] = "";
	int err = 0;

	if (s.capture)
		err = close_file(a, &st, errbuf, sizeof(errbuf));
	if (err && !s.said)
		haul_app_say(a->pub.program, "the capture is incomplete: %s", errbuf);
	return s.lost && rc == HAUL_APP_DONE ? HAUL_APP_FAILED : rc;
}

void hauli_app_capture_free(void)
{
	pcap_freecode(&s.program);
}

int haul_app_capture_start(struct haul_app *app, const char *file, char *errbuf, size_t errlen)
{
	struct hauli_app *a = &hauli_app_state;
	struct haul_capture_stats st;
	char closed[512];
	int err;

	if (s.capture) {
		snprintf(errbuf, errlen, "%s is being captured to; stop that first", s.name);
		return -EBUSY;
	}
	if (strcmp(file, "-") == 0) {
		snprintf(errbuf, errlen, "-: only --capture writes to stdout; give a file");
		return -EINVAL;
	}
	/* haul_app_set_option() may have changed an option. */
	if (choose(a) != HAUL_APP_DONE) {
		snprintf(errbuf, errlen, "an option --capture-... is wrong");
		return -EINVAL;
	}
	err = open_file(a, file, errbuf, errlen);
	if (!err && app->io)
		err = haul_capture_start(s.capture, app->io, errbuf, errlen);
	if (err && s.capture)
		close_file(a, &st, closed, sizeof(closed));
	return err;
}

int haul_app_capture_stop(
	struct haul_app *app, struct haul_capture_stats *st, char *errbuf, size_t errlen)
{
	int err;

	*st = (struct haul_capture_stats){0};
	if (!s.capture) {
		snprintf(errbuf, errlen, "nothing is being captured");
		return -ENOENT;
	}
	err = haul_capture_stop(s.capture, errbuf, errlen);
	return err ? err : close_file(&hauli_app_state, st, errbuf, errlen);
}

static struct haul_capture_stats sums(void)
{
	struct haul_capture_stats st = {0};

	if (s.capture)
		haul_capture_get_stats(s.capture, HAUL_ALL, &st);
	st.captured += s.ended.captured;
	st.dropped += s.ended.dropped;
	st.bytes += s.ended.bytes;
	st.files += s.ended.files;
	return st;
}

void hauli_app_capture_report(const struct hauli_app *a, FILE *out)
{
	struct haul_capture_stats st = sums();

	if (s.any)
		fprintf(out,
			"  capture  %" PRIu64 " frames  dropped %" PRIu64 "  %" PRIu64
			" bytes in %" PRIu64 " file%s\n",
			st.captured, st.dropped, st.bytes, st.files, st.files == 1 ? "" : "s");
}

void hauli_app_capture_json(const struct hauli_app *a, struct haul_app_json *object)
{
	struct haul_capture_stats st = sums();
	struct haul_app_json *to;

	if (!s.any)
		return;
	to = haul_app_json_object(object, "capture");
	haul_app_json_number(to, "captured", (int64_t)st.captured);
	haul_app_json_number(to, "dropped", (int64_t)st.dropped);
	haul_app_json_number(to, "bytes", (int64_t)st.bytes);
	haul_app_json_number(to, "files", (int64_t)st.files);
}
