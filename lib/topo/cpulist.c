/* SPDX-License-Identifier: BSD-3-Clause */
#include "topo/cpulist.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <haul/topo.h>

/* Digits only: strtol alone also accepts signs and blanks. */
static bool number(const char **text, int *value)
{
	char *end;
	long v;

	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	v = strtol(*text, &end, 10);
	if (errno || v > INT_MAX - 1)
		return false;
	*text = end;
	*value = (int)v;
	return true;
}

/* "N" or "N-M", then the end, or a comma with more text after it. */
static bool range(const char **text, int *first, int *last)
{
	if (!number(text, first))
		return false;
	*last = *first;
	if (**text == '-') {
		++*text;
		if (!number(text, last) || *last < *first)
			return false;
	}
	if (**text == '\0')
		return true;
	return *(*text)++ == ',' && **text != '\0';
}

static bool contains(const struct hauli_cpulist *list, int cpu)
{
	for (unsigned i = 0; i < list->count; i++) {
		if (list->cpus[i] == cpu)
			return true;
	}
	return false;
}

static int append(struct hauli_cpulist *list, int cpu, char *errbuf, size_t errlen)
{
	if (contains(list, cpu)) {
		snprintf(errbuf, errlen, "cpus '%s': CPU %d is in it twice; name each CPU once",
			list->text, cpu);
		return -EINVAL;
	}
	if (list->count == HAUL_CARRIERS_MAX) {
		snprintf(errbuf, errlen, "cpus '%s': more than %u CPUs; name fewer", list->text,
			HAUL_CARRIERS_MAX);
		return -EINVAL;
	}
	list->cpus[list->count++] = cpu;
	return 0;
}

int hauli_cpulist_parse(struct hauli_cpulist *list, const char *text, char *errbuf, size_t errlen)
{
	int first, last, err = 0;

	*list = (struct hauli_cpulist){.text = text};
	list->cpus = malloc(HAUL_CARRIERS_MAX * sizeof(*list->cpus));
	if (!list->cpus)
		return -ENOMEM;
	do {
		if (!range(&text, &first, &last)) {
			snprintf(errbuf, errlen,
				"cpus '%s': not a list of CPUs; write it like '0,2-5'", list->text);
			err = -EINVAL;
		}
		for (int cpu = first; err == 0 && cpu <= last; cpu++)
			err = append(list, cpu, errbuf, errlen);
	} while (err == 0 && *text);
	return err;
}
