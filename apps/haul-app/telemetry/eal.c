/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK's telemetry has a thread for each of up to ten clients, and calls the functions of commands
 * there. These threads outlive EAL, and a command cannot be taken back: hauli_telemetry_answer()
 * says so when the program ends.
 */
#define ALLOW_EXPERIMENTAL_API /* rte_lcore_register_usage_cb(), in DPDK 23.03 and 23.07 */
#include "telemetry/eal.h"

#include <stdint.h>

#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_telemetry.h>
#include <rte_version.h>

#include "telemetry/command.h"
#include "telemetry/figures.h"

#if RTE_VERSION < RTE_VERSION_NUM(23, 3, 0, 0)
#define rte_tel_data_add_dict_uint rte_tel_data_add_dict_u64
#define HAS_USAGE 0
#else
#define HAS_USAGE 1
#endif

static void fill(struct rte_tel_data *to, json_t *from);

static void add(struct rte_tel_data *to, const char *key, json_t *value)
{
	json_int_t n;
	struct rte_tel_data *inner;

	switch (json_typeof(value)) {
	case JSON_INTEGER:
		n = json_integer_value(value);
		/* DPDK's negative numbers have 32 bits. */
		if (n < 0 && n >= INT32_MIN)
			rte_tel_data_add_dict_int(to, key, (int)n);
		else
			rte_tel_data_add_dict_uint(to, key, (uint64_t)n);
		break;
	case JSON_STRING:
		(void)rte_tel_data_add_dict_string(to, key, json_string_value(value));
		break;
	case JSON_OBJECT:
		inner = rte_tel_data_alloc();
		if (!inner)
			break;
		fill(inner, value);
		if (rte_tel_data_add_dict_container(to, key, inner, 0) != 0)
			rte_tel_data_free(inner);
		break;
	default:
		break;
	}
}

static void fill(struct rte_tel_data *to, json_t *from)
{
	void *at = json_object_iter(from);

	rte_tel_data_start_dict(to);
	for (; at; at = json_object_iter_next(from, at))
		add(to, json_object_iter_key(at), json_object_iter_value(at));
}

static int answer(const char *command, const char *params, struct rte_tel_data *data)
{
	json_t *tree = hauli_telemetry_answer(command, params);

	if (!tree)
		return -1;
	fill(data, tree);
	json_decref(tree);
	return 0;
}

static int publish(const char *name, const char *help)
{
	return rte_telemetry_register_cmd(name, answer, help);
}

#if HAS_USAGE
static uint64_t cycles(uint64_t ns)
{
	return (uint64_t)((double)ns / 1e9 * (double)rte_get_tsc_hz());
}

/* Of an lcore, for /eal/lcore/usage and its kin; carrier i runs on lcore i. EAL holds a lock of its
 * own meanwhile, and asks for each lcore, so this must not wait for the main thread. */
static int tell_usage(unsigned lcore, struct rte_lcore_usage *usage)
{
	struct haul_io_share share;

	if (!hauli_figures_share(lcore, &share))
		return -1;
	usage->busy_cycles = cycles(share.work_ns);
	usage->total_cycles = cycles(share.work_ns + share.empty_ns + share.asleep_ns);
	return 0;
}
#endif

void hauli_telemetry_eal_begin(void)
{
	hauli_telemetry_publish(publish);
#if HAS_USAGE
	rte_lcore_register_usage_cb(tell_usage);
#endif
}
