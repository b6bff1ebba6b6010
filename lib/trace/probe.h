/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes for bpftrace, perf and gdb beside the events of a timeline: a one-byte nop each, and a
 * note in the library that says where it is and where its arguments are. Without
 * systemtap-sdt-dev: nothing. */
#ifndef HAULI_TRACE_PROBE_H
#define HAULI_TRACE_PROBE_H

#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>

#define HAULI_PROBE2(name, a, b) DTRACE_PROBE2(haul, name, a, b)
#define HAULI_PROBE3(name, a, b, c) DTRACE_PROBE3(haul, name, a, b, c)
#define HAULI_PROBE4(name, a, b, c, d) DTRACE_PROBE4(haul, name, a, b, c, d)
#else
#define HAULI_PROBE2(name, a, b) ((void)(a), (void)(b))
#define HAULI_PROBE3(name, a, b, c) ((void)(a), (void)(b), (void)(c))
#define HAULI_PROBE4(name, a, b, c, d) ((void)(a), (void)(b), (void)(c), (void)(d))
#endif

#endif
