/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The offloads of an interface that are on. ethtool's older commands report some of them, but not
 * merging by the NIC, nor which are fixed; its feature bits report all.
 */
#include "linux/offloads.h"

#include <errno.h>
#include <fnmatch.h>
#include <linux/ethtool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linux/iface.h"

struct features {
	struct ethtool_gstrings *names; /* ETH_GSTRING_LEN bytes each */
	struct ethtool_gfeatures *bits;
};

static int get_names(struct features *f, const char *iface)
{
	union { /* the kernel writes data[0], the number of features */
		struct ethtool_sset_info info;
		char room[sizeof(struct ethtool_sset_info) + sizeof(uint32_t)];
	} set = {.info = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_FEATURES}};
	int err = hauli_iface_ethtool(iface, &set);

	if (err < 0 || set.info.sset_mask == 0)
		return err < 0 ? err : -EOPNOTSUPP;
	f->names = calloc(1, sizeof(*f->names) + (size_t)set.info.data[0] * ETH_GSTRING_LEN);
	if (!f->names)
		return -ENOMEM;
	f->names->cmd = ETHTOOL_GSTRINGS;
	f->names->string_set = ETH_SS_FEATURES;
	f->names->len = set.info.data[0];
	return hauli_iface_ethtool(iface, f->names);
}

static int get_bits(struct features *f, const char *iface)
{
	unsigned blocks = (f->names->len + 31) / 32;

	f->bits = calloc(1, sizeof(*f->bits) + blocks * sizeof(f->bits->features[0]));
	if (!f->bits)
		return -ENOMEM;
	f->bits->cmd = ETHTOOL_GFEATURES;
	f->bits->size = blocks;
	return hauli_iface_ethtool(iface, f->bits);
}

/* True if a feature that matches is on and is fixed, or not fixed. */
static bool is_on(const struct features *f, const char *pattern, bool fixed)
{
	for (unsigned i = 0; i < f->names->len; i++) {
		const char *name = (const char *)f->names->data + (size_t)i * ETH_GSTRING_LEN;
		const struct ethtool_get_features_block *bits = &f->bits->features[i / 32];
		uint32_t bit = 1U << i % 32;

		if ((bits->active & bit) &&
			fixed == !(bits->available & ~bits->never_changed & bit) &&
			fnmatch(pattern, name, 0) == 0)
			return true;
	}
	return false;
}

/* The kernel's features for which ethtool has one name. */
static const struct {
	unsigned kind;
	const char *name;
	const char *features;
} offloads[] = {
	{HAULI_OFFLOAD_SENDING, "tx", "tx-checksum-*"},
	{HAULI_OFFLOAD_SENDING, "tso", "tx-tcp*-segmentation"},
	{HAULI_OFFLOAD_SENDING, "gso", "tx-generic-segmentation"},
	{HAULI_OFFLOAD_RECEIVING & ~HAULI_OFFLOAD_HARDWARE, "gro", "rx-gro"},
	{HAULI_OFFLOAD_HARDWARE, "lro", "rx-lro"},
	{HAULI_OFFLOAD_HARDWARE, "rx-gro-hw", "rx-gro-hw"},
};

static void list_offloads(const char *iface, unsigned which, bool fixed, char *list, size_t size)
{
	struct features f = {0};
	int err = get_names(&f, iface);
	size_t len = 0;

	list[0] = '\0';
	if (err == 0)
		err = get_bits(&f, iface);
	for (size_t i = 0; err == 0 && i < sizeof(offloads) / sizeof(offloads[0]); i++) {
		if ((which & offloads[i].kind) && len < size &&
			is_on(&f, offloads[i].features, fixed))
			len += (size_t)snprintf(list + len, size - len, "%s%s%s", len ? " " : "",
				offloads[i].name, fixed ? "" : " off");
	}
	free(f.names);
	free(f.bits);
}

void hauli_iface_offloads(const char *name, unsigned which, char *list, size_t size)
{
	list_offloads(name, which, false, list, size);
}

void hauli_iface_fixed_offloads(const char *name, unsigned which, char *list, size_t size)
{
	list_offloads(name, which, true, list, size);
}
