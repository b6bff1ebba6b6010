/* SPDX-License-Identifier: BSD-3-Clause */
#include "testpmd_names.h"

#include <stddef.h>
#include <string.h>

#define EAL(option) "give it at the end of the line: --eal " option
#define POOL "the pool of packet buffers follows from --port, --mtu and --mbufs"
#define NEAR "memory is on the node of each carrier; --near NIC chooses CPUs"
#define LINKS "haul-fwd waits for the link of a NIC, two seconds at most"
#define LOST "a port that is lost is found in any case, and --lost-port return takes it again"
#define PMDS "the PMD's defaults hold"
#define TUNNELS "mode csum looks into no tunnels"
#define SHARED "receive queues are not shared"
/* What testpmd's command lines cannot do without begins so. */
#define MISSING "not there: "
#define SEGMENTS MISSING "frames are received in buffers of one size"
#define HAIRPINS MISSING "haul sets up no hairpin queues"
#define ONE MISSING "one process has all queues"
#define STACKS MISSING "it would hold the stacks of all coroutines in memory"

const struct haul_app_alias fwd_testpmd_names[] = {
	{"--forward-mode", "--mode", NULL},
	{"--stats-period", "--period", NULL},
	{"--total-num-mbufs", "--mbufs", NULL},
	{"--txonly-flows", "--flows", NULL},
	{"--txonly-nb-flows", "--flows", NULL}, /* so testpmd's --help calls it */
	{"--cmdline-file-noecho", "--cmdline-file", NULL},
	{"--", NULL, "leave it out: there are no arguments of EAL before the options"},
	{"--vdev", NULL, "give --port SPEC, such as --port afpacket:eth0 or --port net_null0"},
	{"--allow", NULL, "give --port pci:ADDRESS"},
	{"--no-pci", NULL, "leave it out: haul-fwd probes no PCI device that no --port names"},
	{"--lcores", NULL, "give -l 0-2, or --carriers 1-2"},
	{"-c", NULL, "give -l 0-2, or --carriers 1-2"},
	{"--coremask", NULL, "give -l 0-2, or --carriers 1-2"},
	{"--main-lcore", NULL, "leave it out: the main thread needs no CPU of its own"},
	{"-n", NULL, "leave it out, or " EAL("-n N")},
	{"-m", NULL, EAL("-m MB")},
	{"--no-huge", NULL, EAL("--no-huge")},
	{"--in-memory", NULL, EAL("--in-memory")},
	{"--no-shconf", NULL, EAL("--no-shconf")},
	{"--no-telemetry", NULL, EAL("--no-telemetry")},
	{"--file-prefix", NULL, EAL("--file-prefix=NAME")},
	{"--log-level", NULL, EAL("--log-level=LEVEL")},
	{"--iova-mode", NULL, EAL("--iova-mode=MODE")},
	{"--huge-dir", NULL, EAL("--huge-dir=DIRECTORY")},
	{"--proc-type", NULL, "haul-fwd is a primary process"},
	{"--mbcache", NULL, POOL},
	{"--mp-anon", NULL, POOL},
	{"--no-iova-contig", NULL, POOL},
	{"--mlockall", NULL, STACKS},
	{"--numa", NULL, NEAR},
	{"--no-numa", NULL, NEAR},
	{"--port-numa-config", NULL, NEAR},
	{"--ring-numa-config", NULL, NEAR},
	{"--socket-num", NULL, NEAR},
	{"--socket-mem", NULL, NEAR},
	{"--latencystats", NULL, "give --times, for percentiles"},
	{"--bitrate-stats", NULL, "leave it out: the report has rates"},
	{"--no-flush-rx", NULL, "leave it out: nothing is flushed before forwarding"},
	{"--disable-link-check", NULL, LINKS},
	{"--no-lsc-interrupt", NULL, LINKS},
	{"--no-rmv-interrupt", NULL, LOST},
	{"--print-event", NULL, LOST},
	{"--mask-event", NULL, LOST},
	{"--eth-peers-configfile", NULL, "give --eth-peer N,MAC, once for each port"},
	{"--enable-rx-timestamp", NULL, "give --times: ports that have a timestamp then give it"},
	{"--enable-drop-en", NULL, PMDS},
	{"--rx-mq-mode", NULL, PMDS},
	{"--rxpt", NULL, PMDS},
	{"--rxht", NULL, PMDS},
	{"--rxwt", NULL, PMDS},
	{"--rxfreet", NULL, PMDS},
	{"--txpt", NULL, PMDS},
	{"--txht", NULL, PMDS},
	{"--txwt", NULL, PMDS},
	{"--txfreet", NULL, PMDS},
	{"--txrst", NULL, PMDS},
	{"--num-procs", NULL, ONE},
	{"--proc-id", NULL, ONE},
	{"--hot-plug", NULL, LOST},
	{"--rxpkts", NULL, SEGMENTS},
	{"--rxoffs", NULL, SEGMENTS},
	{"--hairpinq", NULL, HAIRPINS},
	{"--hairpin-map", NULL, HAIRPINS},
	{"--hairpin-mode", NULL, HAIRPINS},
	{"--multi-rx-mempool", NULL, SEGMENTS},
	{"--rxq-share", NULL, SHARED},
	{"--rxhdrs", NULL, SEGMENTS},
	{"--no-mlockall", NULL, "nothing is locked"},
	{"--max-lro-pkt-size", NULL, PMDS},
	{"--rss-level-outer", NULL, PMDS},
	{"--rss-level-inner", NULL, PMDS},
	{"--vxlan-gpe-port", NULL, TUNNELS},
	{"--geneve-parsed-port", NULL, TUNNELS},
	{"--enable-rss", NULL, "RSS is on without it"},
	{"--disable-flow-flush", NULL, "leave it out"},
	{"--noisy-forward-mode", NULL, MISSING "mode noisy forwards as io does"},
	{NULL, NULL, NULL},
};

bool fwd_testpmd_is_missing(const struct haul_app_alias *alias)
{
	return strncmp(alias->hint, MISSING, strlen(MISSING)) == 0;
}
