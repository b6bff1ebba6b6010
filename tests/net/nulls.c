/* SPDX-License-Identifier: BSD-3-Clause */
/* NULL in the place of what a call needs is a mistake: the process, a child, ends with a line that
 * names the call, whatever else is right or wrong. tests/lint/api.py holds that each function with
 * an object is here. */
#include <haul-dpdk/balance.h>
#include <haul-dpdk/capture.h>
#include <haul-dpdk/eal.h>
#include <haul-dpdk/file.h>
#include <haul-dpdk/flow.h>
#include <haul-dpdk/fragment.h>
#include <haul-dpdk/hand_over.h>
#include <haul-dpdk/host.h>
#include <haul-dpdk/iface.h>
#include <haul-dpdk/io.h>
#include <haul-dpdk/pool.h>
#include <haul-dpdk/port.h>
#include <haul-dpdk/port_flow.h>
#include <haul-dpdk/port_info.h>
#include <haul-dpdk/test.h>
#include <haul/build.h>
#include <haul/haul.h>

#include "../unit/coro_child.h"
#include "support/suite.h"

static struct haul_mutex mutex;
static struct haul_cond cond;
static struct haul_local local;
static struct haul_hist hist;
static struct haul_coro *co;
static struct haul_io *io;
static struct haul_port *port;
static struct haul_poll_policy policy;
static struct haul_addr addr;
static uint8_t mac[6];
static struct haul_io_opts io_opts;
static struct haul_port_opts port_opts;
static struct haul_capture_opts capture_opts;
static char line[256];
#define LINE line, sizeof(line)

static void *returns(void *arg)
{
	return arg;
}

static int succeeds(void *arg)
{
	return 0;
}

static void body(void *arg)
{
}

static void sees(struct rte_mbuf **pkts, uint16_t n, void *arg)
{
}

#define CORE(X)                                                          \
	X(haul_start, NULL, NULL, LINE)                                  \
	X(haul_stop, NULL, 0)                                            \
	X(haul_dump, NULL, stderr)                                       \
	X(haul_trim, NULL)                                               \
	X(haul_look, NULL, &(struct haul_look){0})                       \
	X(haul_stack, NULL, &co, &(struct haul_stack){0})                \
	X(haul_carriers, NULL)                                           \
	X(haul_carrier, NULL, 0)                                         \
	X(haul_carrier_near, NULL, "lo")                                 \
	X(haul_carrier_id, NULL)                                         \
	X(haul_carrier_place, NULL)                                      \
	X(haul_carrier_runtime, NULL)                                    \
	X(haul_carrier_get_stats, NULL, &(struct haul_carrier_stats){0}) \
	X(haul_carrier_set_stealing, NULL, true)                         \
	X(haul_on_each, NULL, succeeds, NULL)                            \
	X(haul_local_get, NULL)                                          \
	X(haul_local_set, NULL, &local)                                  \
	X(haul_spawn, &co, NULL, NULL, NULL)                             \
	X(haul_spawn_on, NULL, &co, returns, NULL, NULL)                 \
	X(haul_spawn_any, NULL, &co, returns, NULL, NULL)                \
	X(haul_spawn_many, NULL, NULL, returns, NULL, 1, NULL)           \
	X(haul_join, NULL, NULL, HAUL_FOREVER)                           \
	X(haul_detach, NULL)                                             \
	X(haul_unpark, NULL)                                             \
	X(haul_cancel, NULL)                                             \
	X(haul_coro_name, NULL)                                          \
	X(haul_coro_home, NULL)                                          \
	X(haul_poller_register, NULL, &co, returns, NULL, NULL)          \
	X(haul_mutex_lock, NULL)                                         \
	X(haul_mutex_lock_by, NULL, 0)                                   \
	X(haul_mutex_unlock, NULL)                                       \
	X(haul_cond_wait, NULL, &mutex, 0)                               \
	X(haul_cond_wait, &cond, NULL, 0)                                \
	X(haul_cond_signal, NULL)                                        \
	X(haul_cond_broadcast, NULL)                                     \
	X(haul_event_wait, NULL, 0)                                      \
	X(haul_event_set, NULL)                                          \
	X(haul_event_reset, NULL)                                        \
	X(haul_event_is_set, NULL)                                       \
	X(haul_sem_init, NULL, 1)                                        \
	X(haul_sem_wait, NULL, 0)                                        \
	X(haul_sem_post, NULL)                                           \
	X(haul_chan_create, NULL, 1, 1)                                  \
	X(haul_chan_send, NULL, &mutex, 0)                               \
	X(haul_chan_recv, NULL, &mutex, 0)                               \
	X(haul_chan_close, NULL)                                         \
	X(haul_case_recv, NULL, &mutex)                                  \
	X(haul_case_send, NULL, &mutex)                                  \
	X(haul_case_event, NULL)                                         \
	X(haul_case_sem, NULL)                                           \
	X(haul_case_mutex, NULL)                                         \
	X(haul_select, NULL, 1, 0)                                       \
	X(haul_offload, NULL, NULL, 0)                                   \
	X(haul_offload_set, NULL)                                        \
	X(haul_offload_get_stats, NULL)                                  \
	X(haul_value, NULL)                                              \
	X(haul_plan_create, NULL, NULL, LINE)                            \
	X(haul_plan_print, NULL, stderr)

#define GLUE(X)                                                                 \
	X(haul_eal_init, NULL, LINE)                                            \
	X(haul_eal_attach, NULL, LINE)                                          \
	X(haul_iface_get, NULL, "lo")                                           \
	X(haul_iface_get, &(struct haul_iface){{0}}, NULL)                      \
	X(haul_pool_size, NULL)                                                 \
	X(haul_host_reassemble, NULL, NULL, NULL, NULL)                         \
	X(haul_reassembly_create, NULL, NULL)                                   \
	X(haul_reassembly_expire, NULL)                                         \
	X(haul_reassembly_get_stats, NULL, NULL)                                \
	X(haul_capture_open, NULL, &capture_opts, LINE)                         \
	X(haul_capture_start, NULL, io, LINE)                                   \
	X(haul_capture_stop, NULL, LINE)                                        \
	X(haul_capture_get_stats, NULL, 0, &(struct haul_capture_stats){0})     \
	X(haul_capture_fault, NULL)                                             \
	X(haul_capture_close, NULL, 0, NULL, LINE)                              \
	X(haul_poll_parse, &policy, NULL, LINE)                                 \
	X(haul_io_drop_name, NULL, HAUL_DROP_TX_FULL)                           \
	X(haul_io_start, NULL, NULL, &io_opts, LINE)                            \
	X(haul_io_set_policy, NULL, 0, 0, &policy, 0, LINE)                     \
	X(haul_io_set_burst, NULL, 1, 0, LINE)                                  \
	X(haul_io_move_queue, NULL, 0, 0, 0, 0, LINE)                           \
	X(haul_io_can_move_bucket, NULL, 0, 0, 0)                               \
	X(haul_io_move_bucket, NULL, 0, 0, 0, 0, LINE)                          \
	X(haul_balance_step, NULL, 1, NULL, 0, NULL, 1, NULL)                   \
	X(haul_io_txq, NULL, 0, 0)                                              \
	X(haul_io_notice, NULL)                                                 \
	X(haul_io_get_stats, NULL, 0, 0, &(struct haul_io_stats){0})            \
	X(haul_io_get_waits, NULL, &(struct haul_io_waits){0}, 1)               \
	X(haul_io_get_cancelled, NULL, NULL, &(uint64_t){0})                    \
	X(haul_io_get_queue_stats, NULL, 0, 0, &(struct haul_queue_stats){0})   \
	X(haul_io_use, NULL, (const unsigned[1]){0}, 1, 0, LINE)                \
	X(haul_io_is_used, NULL, 0)                                             \
	X(haul_io_buckets, NULL, 0)                                             \
	X(haul_io_get_bucket_stats, NULL, 0, 0, &(struct haul_bucket_stats){0}) \
	X(haul_io_get_wait_stats, NULL, 0, &(struct haul_io_wait_stats){0})     \
	X(haul_io_get_times, NULL, 0, 0, HAUL_STAGE_START, &hist)               \
	X(haul_io_get_share, NULL, 0, &(struct haul_io_share){0})               \
	X(haul_io_get_overload, NULL, 0, 0, &(struct haul_overload_stats){0})   \
	X(haul_class_default, NULL, NULL)                                       \
	X(haul_io_attach_port, NULL, 0, 0, LINE)                                \
	X(haul_io_detach_port, NULL, 0, 0, NULL, 0)                             \
	X(haul_io_is_attached, NULL, 0)                                         \
	X(haul_io_is_healthy, NULL, &(const char *){NULL})                      \
	X(haul_io_stop, NULL, 0, LINE)                                          \
	X(haul_io_resume, NULL, NULL, LINE)                                     \
	X(haul_io_reshape, NULL, LINE)                                          \
	X(haul_io_free, NULL, LINE)                                             \
	X(haul_port_open, NULL, "null:", &port_opts, LINE)                      \
	X(haul_port_open, &port, NULL, &port_opts, LINE)                        \
	X(haul_port_start, NULL, LINE)                                          \
	X(haul_port_set_spec, NULL, "null:", LINE)                              \
	X(haul_port_queue_adopt, NULL, 0)                                       \
	X(haul_port_close, NULL)                                                \
	X(haul_port_spec, NULL)                                                 \
	X(haul_port_is_empty, NULL)                                             \
	X(haul_port_queues, NULL)                                               \
	X(haul_port_queue, NULL, 0)                                             \
	X(haul_port_mac, NULL)                                                  \
	X(haul_port_nic, NULL)                                                  \
	X(haul_port_notice, NULL)                                               \
	X(haul_port_wait_source, NULL)                                          \
	X(haul_port_fault, NULL)                                                \
	X(haul_port_config, NULL)                                               \
	X(haul_port_stop, NULL, LINE)                                           \
	X(haul_port_set_mtu, NULL, 1500, LINE)                                  \
	X(haul_port_change_offloads, NULL, 0, 0, true, LINE)                    \
	X(haul_port_pass_vlan, NULL, 1, true, LINE)                             \
	X(haul_port_set_rss, NULL, 0, NULL, 0, LINE)                            \
	X(haul_port_get_rss, NULL, &(uint64_t){0}, NULL, NULL, LINE)            \
	X(haul_port_set_promiscuous, NULL, true, LINE)                          \
	X(haul_port_set_allmulticast, NULL, true, LINE)                         \
	X(haul_port_get_device, NULL, 0, NULL)                                  \
	X(haul_port_set_flow_control, NULL, NULL, LINE)                         \
	X(haul_port_take_vxlan, NULL, 0, true, LINE)                            \
	X(haul_port_flow_validate, NULL, NULL, NULL, NULL, NULL)                \
	X(haul_port_flow_create, NULL, NULL, NULL, NULL, NULL, NULL)            \
	X(haul_port_flow_destroy, NULL, 0, NULL)                                \
	X(haul_port_flow_flush, NULL, NULL)                                     \
	X(haul_port_flow_query, NULL, 0, NULL, NULL, NULL)                      \
	X(haul_port_flow_isolate, NULL, true, NULL)                             \
	X(haul_port_flow_get, NULL, 0, NULL)                                    \
	X(haul_port_get_descriptor, NULL, 0, true, 0)                           \
	X(haul_port_count_descriptors, NULL, 0, true)                           \
	X(haul_port_get_ptypes, NULL, 0, NULL, 0)                               \
	X(haul_port_read_eeprom, NULL, NULL, 0)                                 \
	X(haul_port_set_ptypes, NULL, 0, LINE)                                  \
	X(haul_port_set_pvid, NULL, 0, true, LINE)                              \
	X(haul_port_set_vlan_type, NULL, true, 0, LINE)                         \
	X(haul_port_set_speeds, NULL, 0, LINE)                                  \
	X(haul_port_set_mac, NULL, NULL, LINE)                                  \
	X(haul_port_change_mac, NULL, NULL, true, LINE)                         \
	X(haul_port_set_groups, NULL, NULL, 0, LINE)                            \
	X(haul_port_set_rings, NULL, 0, 0, LINE)                                \
	X(haul_port_switch_queue, NULL, 0, true, true, LINE)                    \
	X(haul_port_set_queue, NULL, 0, true, 0, true, LINE)                    \
	X(haul_port_set_queues, NULL, 1, LINE)                                  \
	X(haul_port_set_link, NULL, true, LINE)                                 \
	X(haul_port_check_config, NULL, LINE)                                   \
	X(haul_port_get_flow_control, NULL, NULL, LINE)                         \
	X(haul_port_has_link, NULL)                                             \
	X(haul_port_can_hand_over, NULL)                                        \
	X(haul_port_make_offer, NULL, NULL, NULL, 0)                            \
	X(haul_port_keep, NULL)                                                 \
	X(haul_port_hand_over, NULL, 0)                                         \
	X(haul_port_take, NULL, NULL, 0)                                        \
	X(haul_port_get_info, NULL, NULL)                                       \
	X(haul_port_get_xstats, NULL, NULL, 0)                                  \
	X(haul_port_get_stats, NULL, NULL)                                      \
	X(haul_port_reset_stats, NULL)                                          \
	X(haul_port_get_queue_info, NULL, 0, true, NULL)                        \
	X(haul_port_add_callback, NULL, 0, true, sees, NULL)                    \
	X(haul_port_remove_callback, NULL)                                      \
	X(haul_host_create, NULL, NULL, LINE)                                   \
	X(haul_host_start, NULL, io, LINE)                                      \
	X(haul_host_stop, NULL)                                                 \
	X(haul_host_free, NULL)                                                 \
	X(haul_host_add_address, NULL, 0, "10.0.0.1/24", LINE)                  \
	X(haul_host_remove_address, NULL, 0, "10.0.0.1/24", LINE)               \
	X(haul_host_add_route, NULL, "::/0", NULL, 0, LINE)                     \
	X(haul_host_remove_route, NULL, "::/0", LINE)                           \
	X(haul_host_read_kernel, NULL, 0, "lo", LINE)                           \
	X(haul_host_takes, NULL, NULL, NULL)                                    \
	X(haul_host_for_us, NULL, NULL, NULL, NULL)                             \
	X(haul_host_neighbour, NULL, 0, &addr, mac, 0)                          \
	X(haul_host_confirm, NULL, 0, &addr)                                    \
	X(haul_host_send_udp, NULL, NULL, &addr, 1, 1, 0)                       \
	X(haul_host_get_stats, NULL, 0, &(struct haul_host_stats){0})           \
	X(haul_host_look, NULL, 0, &addr, mac)                                  \
	X(haul_host_address_state, NULL, 0, &addr)                              \
	X(haul_flow_open, NULL, NULL, &addr, 53, NULL)                          \
	X(haul_flow_close, NULL)                                                \
	X(haul_flow_send, NULL, NULL, 0)                                        \
	X(haul_flow_recv, NULL, NULL, 0)                                        \
	X(haul_case_flow_send, NULL, NULL)                                      \
	X(haul_case_flow_recv, NULL, NULL)                                      \
	X(haul_flow_error, NULL)                                                \
	X(haul_flow_address, NULL)                                              \
	X(haul_flow_listen, NULL, 7, NULL, NULL, NULL)                          \
	X(haul_flow_peer_address, NULL)                                         \
	X(haul_flow_peer_port, NULL)                                            \
	X(haul_flow_port, NULL)                                                 \
	X(haul_flow_reserve, NULL, 4000)                                        \
	X(haul_flow_get_stats, NULL, 0, &(struct haul_flow_stats){0})           \
	X(haul_request, NULL, &addr, 53, NULL, 0, NULL, 0, NULL, 0)             \
	X(haul_ping, NULL, &addr, &(uint64_t){0}, 0)                            \
	X(haul_traceroute, NULL, &addr, &(struct haul_hop){{0}}, 1, 0)          \
	X(haul_test_start, NULL, &io_opts, NULL, LINE)                          \
	X(haul_test_run, NULL, body, NULL)                                      \
	X(haul_test_feed, NULL, 0, 0, line, 1)                                  \
	X(haul_test_feed_pkt, NULL, 0, 0, NULL)                                 \
	X(haul_test_take, NULL, 0, NULL, 0)                                     \
	X(haul_test_io, NULL)                                                   \
	X(haul_test_runtime, NULL)                                              \
	X(haul_test_pool, NULL)                                                 \
	X(haul_test_stop, NULL, 0, LINE)

#define MAKE(function, ...) \
	if (i-- == 0)       \
		(void)function(__VA_ARGS__);
#define NAME(function, ...) #function,

static const char *const names[] = {CORE(NAME) GLUE(NAME)};

static void make(void *number)
{
	int i = *(int *)number;

	CORE(MAKE)
	GLUE(MAKE)
}

START_TEST(a_null_is_reported)
{
	struct child c = child_run(make, &_i);
	char begins[64];

	snprintf(begins, sizeof(begins), "haul: %s(): ", names[_i]);
	CHILD_DIED_BY(c, SIGABRT);
	ck_assert_msg(strncmp(c.said, begins, strlen(begins)) == 0 && strstr(c.said, "NULL"),
		"%s: %s", names[_i], c.said);
}
END_TEST

SUITE_MAIN("nulls", {a_null_is_reported, sizeof(names) / sizeof(names[0])})
