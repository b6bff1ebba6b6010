/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Listening sockets of the kernel's TCP that a program is given instead of opening them itself:
 * while one process ends and the next begins, connections wait in them.
 *
 * - From systemd, if the user says so: the option's value is "systemd", for the only socket that
 *   was passed (sd_listen_fds(3)), or "systemd:NAME", for that with FileDescriptorName=NAME.
 * - From the program whose ports are taken over (--hand-over), if it has one for the same option
 *   with the same value.
 */
#ifndef HAUL_APP_LISTENER_H
#define HAUL_APP_LISTENER_H

#include <stdbool.h>
#include <stddef.h>

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* True if the user wants a socket of systemd's. Any thread. */
HAUL_API bool haul_app_listener_is_systemd(const char *value);

/*
 * The socket for an option, such as "--tcp", and its value: a descriptor, which the caller closes;
 * it listens, is non-blocking, and of IPv4 or IPv6. -ENOENT: nobody gives one, and the caller opens
 * its own, and offers it. Else -errno with a line: -EINVAL: systemd gives none, or another kind of
 * descriptor. Main thread, in opened() or started().
 */
HAUL_API int haul_app_listener_get(
	const char *option, const char *value, char *errbuf, size_t errlen);

/* A program that takes the ports over gets fd, too, which stays the caller's, and open until
 * carrier_ends() or closed(). Main thread. */
HAUL_API void haul_app_listener_offer(const char *option, const char *value, int fd);

#ifdef __cplusplus
}
#endif

#endif
