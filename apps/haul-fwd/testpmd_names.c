/* SPDX-License-Identifier: BSD-3-Clause */
#include "testpmd_names.h"

#include <stddef.h>

#define ALL_PORTS "each --port forwards"
#define EAL(option) "give it at the end of the line: --eal " option
#define POOL "the pool of packet buffers follows from --port, --mtu and --mbufs"
#define NEAR "memory is on the node of each carrier; --near NIC chooses CPUs"
#define REPORTED "the report shows the share of work and of empty polls"
#define LINKS "haul-fwd waits up to two seconds for a link, and ends if a port is lost"
#define PMDS "not there: the PMD's defaults"

static const char missing[] = "not there; see haul's guide for users of testpmd";

const struct haul_app_alias fwd_testpmd_names[] = {
	{"--forward-mode", "--mode", NULL},
	{"--stats-period", "--period", NULL},
	{"--total-num-mbufs", "--mbufs", NULL},
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
	{"--nb-ports", NULL, ALL_PORTS},
	{"--portmask", NULL, ALL_PORTS},
	{"--portlist", NULL, ALL_PORTS},
	{"--mbuf-size", NULL, POOL},
	{"--mbcache", NULL, POOL},
	{"--mp-anon", NULL, POOL},
	{"--no-iova-contig", NULL, POOL},
	{"--mlockall", NULL, missing},
	{"--numa", NULL, NEAR},
	{"--no-numa", NULL, NEAR},
	{"--port-numa-config", NULL, NEAR},
	{"--ring-numa-config", NULL, NEAR},
	{"--socket-num", NULL, NEAR},
	{"--socket-mem", NULL, NEAR},
	{"--record-core-cycles", NULL, REPORTED},
	{"--record-burst-stats", NULL, REPORTED},
	{"--latencystats", NULL, "give --times, for percentiles"},
	{"--bitrate-stats", NULL, "leave it out: the report has rates"},
	{"--display-xstats", NULL, "give the command show port xstats at the prompt (-i)"},
	{"--no-flush-rx", NULL, "leave it out: nothing is flushed before forwarding"},
	{"--disable-link-check", NULL, LINKS},
	{"--no-lsc-interrupt", NULL, LINKS},
	{"--no-rmv-interrupt", NULL, LINKS},
	{"--print-event", NULL, LINKS},
	{"--mask-event", NULL, LINKS},
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
	{"--num-procs", NULL, missing},
	{"--proc-id", NULL, missing},
	{"--hot-plug", NULL, missing},
	{"--flow-isolate-all", NULL, missing},
	{"--rxpkts", NULL, missing},
	{"--rxoffs", NULL, missing},
	{"--hairpinq", NULL, missing},
	{"--hairpin-mode", NULL, missing},
	{"--multi-rx-mempool", NULL, missing},
	{"--rxq-share", NULL, missing},
	{"--eth-link-speed", NULL, missing},
	{"--disable-device-start", NULL, missing},
	{NULL, NULL, NULL},
};

bool fwd_testpmd_is_missing(const struct haul_app_alias *alias)
{
	return alias->hint == missing;
}
