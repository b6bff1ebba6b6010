/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL's arguments in a program that has more privileges than the user who started it. */
#ifndef HAULI_EAL_SECURE_H
#define HAULI_EAL_SECURE_H

#include <stddef.h>

/* In such a program (setcap, setuid) refuses arguments that load code, or read or write files by
 * names that the user gives. Returns 0, or -EPERM with a line. Any thread. */
int hauli_secure_check(char *const *args, int n, char *errbuf, size_t errlen);

#endif
