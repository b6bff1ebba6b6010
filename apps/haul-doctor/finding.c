/* SPDX-License-Identifier: BSD-3-Clause */
/* Fills findings. */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "doctor.h"

enum doctor_status doctor_fault(const struct doctor_subject *subject)
{
	return subject->named ? DOCTOR_PROBLEM : DOCTOR_NOTE;
}

void doctor_say(struct doctor_finding *finding, enum doctor_status status, const char *format, ...)
{
	va_list ap;

	finding->status = status;
	va_start(ap, format);
	vsnprintf(finding->says, sizeof(finding->says), format, ap);
	va_end(ap);
}

void doctor_todo(struct doctor_finding *finding, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(finding->todo, sizeof(finding->todo), format, ap);
	va_end(ap);
}

const char *doctor_sudo(void)
{
	return geteuid() ? "sudo " : "";
}

void doctor_todo_root(struct doctor_finding *finding, const char *format, ...)
{
	int len = snprintf(finding->todo, sizeof(finding->todo), "%s", doctor_sudo());
	va_list ap;

	va_start(ap, format);
	vsnprintf(finding->todo + len, sizeof(finding->todo) - (size_t)len, format, ap);
	va_end(ap);
}
