/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow rules of a port (haul-dpdk/port_flow.h), whose device is a ring with rte_flow functions of
 * the test: which rules the port has, and which the device, across refusals, stops, other rings,
 * and the end. */
#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_flow.h>

#include <haul-dpdk/port_config.h>
#include <haul-dpdk/port_flow.h>

#include "io_bed.h"

#define RULES_MAX 8

/* The device. */
static struct {
	bool on; /* else the PMD's own functions are called */
	struct rte_flow *rules[RULES_MAX]; /* each an allocation, so that a leak is seen */
	uint32_t priority[RULES_MAX];
	unsigned nb_rules;
	int refuses; /* an errno */
	uint32_t refused; /* the priority of rules that are not created */
	int isolated;
} nic;

static struct bed bed;
static struct haul_port *port;
static struct rte_flow_error error;

#define REAL(type, name, ...)            \
	type __real_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__)
#define RULE                                                                              \
	uint16_t id, const struct rte_flow_attr *attr, const struct rte_flow_item *items, \
		const struct rte_flow_action *actions, struct rte_flow_error *err

REAL(int, rte_flow_validate, RULE);
REAL(struct rte_flow *, rte_flow_create, RULE);
REAL(int, rte_flow_destroy, uint16_t id, struct rte_flow *rule, struct rte_flow_error *err);
REAL(int, rte_flow_flush, uint16_t id, struct rte_flow_error *err);
REAL(int, rte_flow_query, uint16_t id, struct rte_flow *rule, const struct rte_flow_action *action,
	void *data, struct rte_flow_error *err);
REAL(int, rte_flow_isolate, uint16_t id, int set, struct rte_flow_error *err);

static int refuse(struct rte_flow_error *err)
{
	return rte_flow_error_set(
		err, nic.refuses, RTE_FLOW_ERROR_TYPE_ACTION, &nic, "refused by the test");
}

int __wrap_rte_flow_validate(RULE)
{
	if (!nic.on)
		return __real_rte_flow_validate(id, attr, items, actions, err);
	return nic.refuses ? refuse(err) : 0;
}

struct rte_flow *__wrap_rte_flow_create(RULE)
{
	struct rte_flow *rule;

	if (!nic.on)
		return __real_rte_flow_create(id, attr, items, actions, err);
	if (nic.refuses && attr->priority >= nic.refused) {
		refuse(err);
		return NULL;
	}
	ck_assert_uint_lt(nic.nb_rules, RULES_MAX);
	ck_assert_int_eq(items[0].type, RTE_FLOW_ITEM_TYPE_UDP);
	ck_assert_uint_eq(
		((const struct rte_flow_item_udp *)items[0].spec)->hdr.dst_port, attr->priority);
	ck_assert_uint_eq(
		((const struct rte_flow_action_queue *)actions[0].conf)->index, attr->priority);
	rule = malloc(1);
	nic.rules[nic.nb_rules] = rule;
	nic.priority[nic.nb_rules++] = attr->priority;
	return rule;
}

int __wrap_rte_flow_destroy(uint16_t id, struct rte_flow *rule, struct rte_flow_error *err)
{
	unsigned i = 0;

	if (!nic.on)
		return __real_rte_flow_destroy(id, rule, err);
	if (nic.refuses)
		return refuse(err);
	while (i < nic.nb_rules && nic.rules[i] != rule)
		i++;
	ck_assert_uint_lt(i, nic.nb_rules);
	free(rule);
	nic.nb_rules--;
	memmove(&nic.rules[i], &nic.rules[i + 1], (nic.nb_rules - i) * sizeof(rule));
	memmove(&nic.priority[i], &nic.priority[i + 1], (nic.nb_rules - i) * sizeof(uint32_t));
	return 0;
}

int __wrap_rte_flow_flush(uint16_t id, struct rte_flow_error *err)
{
	if (!nic.on)
		return __real_rte_flow_flush(id, err);
	while (nic.nb_rules > 0)
		free(nic.rules[--nic.nb_rules]);
	return nic.refuses ? refuse(err) : 0;
}

int __wrap_rte_flow_query(uint16_t id, struct rte_flow *rule, const struct rte_flow_action *action,
	void *data, struct rte_flow_error *err)
{
	if (!nic.on)
		return __real_rte_flow_query(id, rule, action, data, err);
	for (unsigned i = 0; i < nic.nb_rules; i++)
		if (nic.rules[i] == rule)
			((struct rte_flow_query_count *)data)->hits = nic.priority[i];
	return 0;
}

int __wrap_rte_flow_isolate(uint16_t id, int set, struct rte_flow_error *err)
{
	if (!nic.on)
		return __real_rte_flow_isolate(id, set, err);
	nic.isolated = set;
	return 0;
}

/* A rule that is known by its priority. Its parts are overwritten when it has been created. */
static int create(uint32_t priority, uint64_t *id)
{
	struct rte_flow_attr attr = {.priority = priority, .ingress = 1};
	struct rte_flow_item_udp udp = {.hdr.dst_port = (uint16_t)priority};
	struct rte_flow_action_queue queue = {.index = (uint16_t)priority};
	struct rte_flow_item items[] = {
		{.type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &udp}, {.type = RTE_FLOW_ITEM_TYPE_END}};
	struct rte_flow_action actions[] = {{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &queue},
		{.type = RTE_FLOW_ACTION_TYPE_END}};
	int err = haul_port_flow_validate(port, &attr, items, actions, &error);

	*id = UINT64_MAX;
	err = err ? err : haul_port_flow_create(port, &attr, items, actions, id, &error);
	memset(&attr, 0xee, sizeof(attr));
	memset(&udp, 0xee, sizeof(udp));
	memset(&queue, 0xee, sizeof(queue));
	memset(items, 0xee, sizeof(items));
	memset(actions, 0xee, sizeof(actions));
	return err;
}

static void must_create(uint32_t priority, uint64_t id)
{
	uint64_t got;

	ck_assert_int_eq(create(priority, &got), 0);
	ck_assert_uint_eq(got, id);
}

/* The port and the device have these rules in this order. */
static void assert_rules(unsigned n, const uint32_t *priorities)
{
	struct haul_port_flow flow;

	for (unsigned i = 0; i < n; i++) {
		ck_assert_int_eq(haul_port_flow_get(port, i, &flow), 0);
		ck_assert_uint_eq(flow.attr->priority, priorities[i]);
		ck_assert_uint_eq(
			((const struct rte_flow_item_udp *)flow.pattern[0].spec)->hdr.dst_port,
			priorities[i]);
		ck_assert_int_eq(flow.pattern[1].type, RTE_FLOW_ITEM_TYPE_END);
		ck_assert_uint_eq(
			((const struct rte_flow_action_queue *)flow.actions[0].conf)->index,
			priorities[i]);
		if (nic.on)
			ck_assert_uint_eq(nic.priority[i], priorities[i]);
	}
	ck_assert_int_eq(haul_port_flow_get(port, n, &flow), -ENOENT);
	ck_assert_uint_eq(nic.nb_rules, n);
}

#define ASSERT_RULES(...)                                   \
	do {                                                \
		const uint32_t all_[] = {0, ##__VA_ARGS__}; \
		assert_rules(RTE_DIM(all_) - 1, all_ + 1);  \
	} while (0)

static void drop(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	rte_pktmbuf_free_bulk(pkts, n);
}

static void begin(bool on)
{
	struct haul_io_opts opts;

	memset(&nic, 0, sizeof(nic));
	nic.on = on;
	bed_open(&bed, (const char *const[]){"ring:", NULL});
	port = bed.ports[0];
	opts = bed_io_opts(&bed);
	opts.on_burst = drop;
	opts.stopped = true;
	bed_start(&bed, &opts);
}

static void end(void)
{
	ck_assert_msg(bed_take_down(&bed) == 0, "%s", bed.errbuf);
	ck_assert_uint_eq(nic.nb_rules, 0);
}

START_TEST(rules_are_kept_until_they_are_destroyed)
{
	struct rte_flow_query_count count = {0};
	const struct rte_flow_action action = {.type = RTE_FLOW_ACTION_TYPE_COUNT};

	begin(true);
	ASSERT_RULES();
	must_create(5, 0);
	must_create(6, 1);
	must_create(4, 2);
	ASSERT_RULES(5, 6, 4);
	ck_assert_int_eq(haul_port_flow_query(port, 1, &action, &count, &error), 0);
	ck_assert_uint_eq(count.hits, 6);
	ck_assert_int_eq(haul_port_flow_query(port, 9, &action, &count, &error), -ENOENT);
	ck_assert_int_eq(haul_port_flow_destroy(port, 1, &error), 0);
	ck_assert_int_eq(haul_port_flow_destroy(port, 1, &error), -ENOENT);
	ASSERT_RULES(5, 4);
	must_create(7, 3);
	ck_assert_int_eq(haul_port_flow_destroy(port, 3, NULL), 0);
	must_create(8, 3); /* as in testpmd */
	ASSERT_RULES(5, 4, 8);
	ck_assert_int_eq(haul_port_flow_isolate(port, true, &error), 0);
	ck_assert_int_eq(nic.isolated, 1);
	ck_assert_int_eq(haul_port_flow_flush(port, &error), 0);
	ASSERT_RULES();
	must_create(9, 0);
	end();
}
END_TEST

START_TEST(what_the_device_refuses_has_its_error)
{
	uint64_t id;

	begin(true);
	must_create(1, 0);
	nic.refuses = ERANGE;
	ck_assert_int_eq(create(2, &id), -ERANGE);
	ck_assert_int_eq(error.type, RTE_FLOW_ERROR_TYPE_ACTION);
	ck_assert_ptr_eq(error.cause, &nic);
	ck_assert_str_eq(error.message, "refused by the test");
	ck_assert_int_eq(haul_port_flow_destroy(port, 0, &error), -ERANGE);
	ASSERT_RULES(1);
	ck_assert_int_eq(haul_port_flow_flush(port, &error), -ERANGE);
	ASSERT_RULES();
	nic.refuses = 0;
	end();
}
END_TEST

START_TEST(rules_last_as_long_as_their_device)
{
	uint64_t id;

	begin(true);
	must_create(1, 0);
	must_create(3, 1);
	must_create(2, 2);
	/* Other rings: created anew, but for what is refused now. */
	ck_assert_int_eq(haul_port_set_rings(port, 512, 512, bed.errbuf, sizeof(bed.errbuf)), 0);
	ASSERT_RULES(1, 3, 2);
	nic.refuses = EBUSY;
	nic.refused = 3;
	ck_assert_int_eq(haul_port_set_rings(port, 256, 256, bed.errbuf, sizeof(bed.errbuf)), 0);
	ASSERT_RULES(1, 2);
	ck_assert_ptr_nonnull(
		strstr(haul_port_notice(port), "flow rule 1 is gone: refused by the test"));
	nic.refuses = 0;
	ck_assert_int_eq(haul_port_stop(port, bed.errbuf, sizeof(bed.errbuf)), 0);
	ASSERT_RULES();
	ck_assert_int_eq(haul_port_start(port, bed.errbuf, sizeof(bed.errbuf)), 0);
	must_create(6, 0);
	/* Another device, after none. */
	ck_assert_int_eq(
		haul_io_detach_port(bed.io, 0, HAUL_FOREVER, bed.errbuf, sizeof(bed.errbuf)), 0);
	ASSERT_RULES();
	ck_assert_int_eq(create(1, &id), -ENODEV);
	ck_assert_str_eq(error.message, "the port has no device");
	ck_assert_int_eq(
		haul_io_attach_port(bed.io, 0, HAUL_FOREVER, bed.errbuf, sizeof(bed.errbuf)), 0);
	must_create(4, 0);
	end();
}
END_TEST

START_TEST(a_pmd_without_rules_says_so)
{
	uint64_t id;

	begin(false);
	ck_assert_int_eq(create(1, &id), -ENOSYS);
	ck_assert_int_eq(haul_port_flow_flush(port, &error), 0);
	ck_assert_int_eq(haul_port_flow_isolate(port, true, &error), -ENOSYS);
	ck_assert_int_eq(haul_port_flow_destroy(port, 0, &error), -ENOENT);
	ASSERT_RULES();
	end();
}
END_TEST

BED_MAIN("io_rules", {rules_are_kept_until_they_are_destroyed},
	{what_the_device_refuses_has_its_error}, {rules_last_as_long_as_their_device},
	{a_pmd_without_rules_says_so})
