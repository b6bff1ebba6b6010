/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ports on one interface, or two of a kind on one path or device, would take each other's
 * packets, and most PMDs do not notice. Some do harm before they fail: a TAP gets a queue more, to
 * which the kernel sends packets; an AF_XDP socket takes the interface's XDP program with it when
 * it is closed. So the arguments of vdevs, which a user may write, are looked at before DPDK gets
 * them.
 */
#include "port/alone.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "linux/iface.h"
#include "port/ports.h"

/* An interface may have several names (ip link property add altname), or not exist yet. */
static bool is_same_iface(const char *a, const char *b)
{
	int index = hauli_iface_index(a);

	return strcmp(a, b) == 0 || (index != 0 && index == hauli_iface_index(b));
}

/* A device of the kernel's may be shared. */
static bool is_same_path(const char *a, const char *b)
{
	struct stat sa, sb;
	bool found = stat(a, &sa) == 0 && stat(b, &sb) == 0;

	if (found && S_ISCHR(sa.st_mode))
		return false;
	return strcmp(a, b) == 0 || (found && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino);
}

/* The value if part begins with one of the keys, else NULL. */
static const char *value(const char *part, const char *const *keys)
{
	for (; keys && *keys; keys++) {
		size_t len = strlen(*keys);

		if (strncmp(part, *keys, len) == 0 && part[len] == '=')
			return part + len + 1;
	}
	return NULL;
}

/* Copies the next value of one of these keys in arguments, from *at on. False: there is none. */
static bool next_value(const char **at, const char *const *keys, char *found, size_t size)
{
	while (**at) {
		const char *v = value(*at, keys);
		size_t len = strcspn(*at, ",");
		const char *end = *at + len;

		*at = *end ? end + 1 : end;
		if (v)
			snprintf(found, size, "%.*s", (int)(end - v), v);
		if (v)
			return true;
	}
	return false;
}

typedef bool same_fn(const char *a, const char *b);

static bool args_have(
	const struct haul_port *p, const char *const *keys, same_fn *same, const char *what)
{
	char theirs[HAULI_VDEV_ARGS];

	for (unsigned i = 0; i < p->nb_vdevs; i++) {
		const char *at = p->vdevs[i].args;

		while (next_value(&at, keys, theirs, sizeof(theirs)))
			if (same(theirs, what))
				return true;
	}
	return false;
}

static bool has_iface(const struct haul_port *p, const char *iface)
{
	return (p->iface[0] && is_same_iface(p->iface, iface)) ||
		args_have(p, p->kind->vdev_ifaces, is_same_iface, iface);
}

static bool has_path(const struct haul_port *p, const char *path)
{
	return (p->kind->main == HAULI_MAIN_NEEDED && p->spec.main[0] &&
		       is_same_path(p->spec.main, path)) ||
		args_have(p, p->kind->vdev_paths, is_same_path, path);
}

static int fail(const struct haul_port *port, const struct haul_port *other, const char *what,
	char *errbuf, size_t errlen)
{
	return hauli_spec_fail(&port->spec, -EBUSY, errbuf, errlen,
		"port '%s' of this program is on %s already; choose another", other->spec.text,
		what);
}

/* What the arguments of a port's first vdev name; those of the others name the same. */
static int check_args(
	const struct haul_port *port, const struct haul_port *other, char *errbuf, size_t errlen)
{
	char what[HAULI_VDEV_ARGS];
	const char *at = port->vdevs[0].args;

	while (next_value(&at, port->kind->vdev_ifaces, what, sizeof(what)))
		if (has_iface(other, what))
			return fail(port, other, what, errbuf, errlen);
	at = port->vdevs[0].args;
	while (next_value(&at, port->kind->vdev_paths, what, sizeof(what)))
		if (other->kind == port->kind && has_path(other, what))
			return fail(port, other, what, errbuf, errlen);
	return 0;
}

static int check_other(const struct haul_port *port, const struct haul_port *other,
	const char *iface, char *errbuf, size_t errlen)
{
	const char *path = port->kind->main == HAULI_MAIN_NEEDED ? port->spec.main : "";

	if (iface[0] && has_iface(other, iface))
		return fail(port, other, iface, errbuf, errlen);
	if (path[0] && other->kind == port->kind && has_path(other, path))
		return fail(port, other, path, errbuf, errlen);
	return port->nb_vdevs ? check_args(port, other, errbuf, errlen) : 0;
}

int hauli_alone_check(const struct haul_port *port, const char *iface, char *errbuf, size_t errlen)
{
	int err = 0;

	for (struct haul_port *p = hauli_ports_other(port, hauli_ports_open()); p && !err;
		p = hauli_ports_other(port, p->next))
		err = check_other(port, p, iface, errbuf, errlen);
	return err;
}
