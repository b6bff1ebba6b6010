/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timeline: what the carriers have done in the last moments. haul_runtime_opts.trace_events
 * switches it on; then each carrier keeps its last events in a ring of memory, which costs a few ns
 * an event, and these functions write the rings to a file, after the fact. The program haul-trace
 * makes a trace of such a file that Perfetto opens (docs/guide/timeline.md).
 */
#ifndef HAUL_TRACE_H
#define HAUL_TRACE_H

#include <haul/base.h>
#include <haul/trace_inline.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Writes the rings of all runtimes of the process to a descriptor, in the form of
 * haul/trace_file.h. The carriers go on meanwhile. Any thread; also a signal handler. Returns 0;
 * -ENOENT (no runtime keeps a timeline); the error of write(2), with part of the file written.
 */
HAUL_API int haul_trace_write(int fd);

/* When a file is written. A struct of zeros but for path: by haul_trace_trigger() only. */
struct haul_trace_opts {
	const char *path; /* of the file; copied. An older file is replaced */
	int sig; /* a signal for which it is written, such as SIGUSR2; 0: none */
	bool on_crash; /* when a thread faults or aborts, while a runtime runs */
	bool on_drop; /* when haul drops a packet */
	uint64_t slice_ns; /* after a slice of a coroutine that was longer; 0: no limit */
	uint64_t gap_ns; /* after a longer time without a turn of a poller; 0: no limit */
};

/*
 * From now on files are written when opts says so, by a thread that this call starts; the rings go
 * to opts.path, once a second at most. A file is written under another name, and renamed when it is
 * whole: it replaces an older one. What is there and is no file, such as a device, is written to. A
 * signal is taken as haul_dump_on_signal() does, which has the same errors. A second call replaces
 * the options of the first, but for signals: each one that was taken writes a file. Any thread.
 * Returns 0, or:
 *	-EINVAL		path is NULL, empty or longer than 4,000 bytes; sig is no signal to take
 *	-EAGAIN		no thread
 *	-ENOMEM		no memory
 */
HAUL_API int haul_trace_to(const struct haul_trace_opts *opts);

/* Writes the file of haul_trace_to() now, after one that is being written, and returns when it is
 * there. Any thread; other coroutines of the carrier wait meanwhile. Returns 0; -ENOENT (no runtime
 * keeps a timeline, or haul_trace_to() was not called in this process); an error of open(2),
 * write(2) or rename(2). */
HAUL_API int haul_trace_save(void);

/* Asks for a file, as haul_trace_to() has said; without that, and for a second after a file was
 * asked for, does nothing. Any thread. Does not suspend. */
HAUL_API void haul_trace_trigger(void);

/*
 * A program's own spans, events and counters. name: a string literal. On a carrier that keeps no
 * timeline, and on other threads, they do nothing; while no runtime keeps one, they are a load and
 * a test.
 *
 * HAUL_TRACE_SPAN: a span of the calling coroutine, from here to the end of the block. The
 *     coroutine may wait in it. Spans nest.
 * HAUL_TRACE_MARK: an event of the calling coroutine.
 * HAUL_TRACE_COUNT: a counter has this value now, an int64_t.
 */
#define HAUL_TRACE_SPAN(name)                                            \
	const char *HAUL_NAME_(haul_span_, __LINE__)                     \
		__attribute__((cleanup(haul_trace_span_end_), unused)) = \
			haul_trace_span_begin_("" name)

#define HAUL_TRACE_MARK(name)                      \
	do {                                       \
		if (haul_is_traced_())             \
			haul_trace_mark_("" name); \
	} while (0)

#define HAUL_TRACE_COUNT(name, value)                      \
	do {                                               \
		if (haul_is_traced_())                     \
			haul_trace_count_("" name, value); \
	} while (0)

#ifdef __cplusplus
}
#endif

#endif
