/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telemetry: any program of haul-app answers commands "/haul/..." while it runs, and those of its
 * own, with the client of DPDK. Programs with EAL answer on the socket of DPDK's
 * telemetry; other programs have a socket with the same protocol. docs/guide/telemetry.md
 */
#ifndef HAUL_APP_TELEMETRY_H
#define HAUL_APP_TELEMETRY_H

#include <haul-app/json.h>
#include <haul-app/options.h>
#include <haul/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Adds values to an answer. params: what the client has sent behind the command and a comma, or "".
 * Called on a thread of telemetry, one call at a time, while the main thread waits or prints a
 * report: so it may read what the main thread reads in hooks, and what carriers count. It must not
 * block, nor call functions that are for the main thread.
 */
typedef void haul_app_telemetry_fn(struct haul_app_json *answer, const char *params, void *arg);

/*
 * Adds a command, such as "/my_program/cache", from now on. Letters, digits, '_' and '/', up to 50
 * of them; help: up to 60 characters, "Takes no parameters" or "Parameters: ..." at its end. Both
 * must stay valid until the end of the process, and arg until the program ends. In an answer arrays
 * become objects, real numbers texts, and texts ASCII of at most 120 characters; what is longer
 * than 16 KB is an error for the client. Main thread, before or while the program runs. Returns 0,
 * or -EINVAL (not such a text), -EEXIST, -ENOSPC (there are 64).
 */
HAUL_API int haul_app_telemetry(
	const char *command, const char *help, haul_app_telemetry_fn *fn, void *arg);

/*
 * For programs of haul_app_command(): from begin() to end() commands and metrics about coroutines
 * are about rt, and there is a socket: dpdk/haul-PID/dpdk_telemetry.v2 below RUNTIME_DIRECTORY,
 * /var/run or XDG_RUNTIME_DIR, as DPDK's. Only the user that runs the program can connect. Call
 * end() before haul_stop(); it waits for the answers under way. Main thread, both. begin() returns
 * 0, or -errno if there is no socket, with a line in errbuf; the program can run without.
 */
HAUL_API int haul_app_telemetry_begin(const struct haul_app_program *program,
	struct haul_runtime *rt, char *errbuf, size_t errlen);
HAUL_API void haul_app_telemetry_end(void);

/*
 * Between these two: serves the figures by HTTP, at /metrics, in the text formats of Prometheus and
 * OpenMetrics, as --metrics of packet programs does. where: a port of 127.0.0.1, or an address and
 * a port, such as "[::1]:9100". By a thread of its own. Main thread. Returns 0, -EINVAL (not such a
 * text), -errno of the socket, or an error of haul_start(), with a line in errbuf.
 */
HAUL_API int haul_app_metrics_begin(const char *where, char *errbuf, size_t errlen);

#ifdef __cplusplus
}
#endif

#endif
