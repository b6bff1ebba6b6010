/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of privileges: capabilities, namespaces, sockets, XDP programs. */
#include "privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor.h"
#include "kernel.h"
#include "single.h"

#define STATUS "/proc/self/status"

bool privilege_has(enum privilege capability)
{
	char value[64];

	if (!kernel_field(value, sizeof(value), STATUS, "CapEff"))
		return false;
	return strtoull(value, NULL, 16) >> capability & 1;
}

bool privilege_has_here(enum privilege capability)
{
	int net = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	/* The owner is shown to its own user namespace and to those above it. */
	int owner = net < 0 ? -1 : ioctl(net, NS_GET_USERNS);
	bool ours = owner >= 0 || (net >= 0 && errno == ENOTTY); /* a kernel without this ioctl() */

	if (owner >= 0)
		close(owner);
	if (net >= 0)
		close(net);
	return ours && privilege_has(capability);
}

const char *privilege_name(enum privilege capability)
{
	switch (capability) {
	case PRIVILEGE_NET_ADMIN:
		return "CAP_NET_ADMIN";
	case PRIVILEGE_NET_RAW:
		return "CAP_NET_RAW";
	case PRIVILEGE_IPC_LOCK:
		return "CAP_IPC_LOCK";
	case PRIVILEGE_SYS_ADMIN:
		return "CAP_SYS_ADMIN";
	}
	return "";
}

static void privileges(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	static const enum privilege wanted[] = {
		PRIVILEGE_NET_ADMIN, PRIVILEGE_NET_RAW, PRIVILEGE_SYS_ADMIN};
	const char *who = geteuid() == 0 ? "root" : "an ordinary user";
	char missing[64] = "";

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		size_t len = strlen(missing);

		if (!privilege_has(wanted[i]))
			snprintf(missing + len, sizeof(missing) - len, "%s%s", len ? ", " : "",
				privilege_name(wanted[i]));
	}
	if (!missing[0]) {
		doctor_say(finding, DOCTOR_OK,
			"%s, with CAP_NET_ADMIN, CAP_NET_RAW and CAP_SYS_ADMIN", who);
		return;
	}
	doctor_say(finding, DOCTOR_NOTE,
		"%s without %s: tap:, afpacket: and afxdp: ports need a private network namespace",
		who, missing);
	doctor_todo(finding,
		geteuid() == 0 ? "start the container with --cap-add=NET_ADMIN,"
				 "NET_RAW,SYS_ADMIN"
			       : "sudo haul-echo ..., or: unshare -rn haul-echo ...");
}

/* Tries it in a child process, because a process cannot leave a namespace again. */
static bool can_unshare(void)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 ? 0 : 1);
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void user_namespaces(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	/* Sysctls of Debian and Ubuntu, which do not apply to root. */
	bool switched_off = kernel_number("/proc/sys/kernel/unprivileged_userns_clone") == 0 ||
		kernel_number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") > 0;

	if (can_unshare() && !switched_off) {
		doctor_say(finding, DOCTOR_OK, "ordinary users can make network namespaces");
		return;
	}
	doctor_say(finding, DOCTOR_NOTE,
		"ordinary users cannot make network namespaces: haul needs root here");
	if (kernel_number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") > 0)
		doctor_todo_root(
			finding, "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0");
	else if (kernel_number("/proc/sys/kernel/unprivileged_userns_clone") == 0)
		doctor_todo_root(finding, "sysctl -w kernel.unprivileged_userns_clone=1");
	else if (kernel_number("/proc/sys/user/max_user_namespaces") == 0)
		doctor_todo_root(finding, "sysctl -w user.max_user_namespaces=10000");
}

void doctor_tun(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

	if (fd >= 0) {
		close(fd);
		doctor_say(finding, DOCTOR_OK, "/dev/net/tun can be opened");
		return;
	}
	doctor_say(
		finding, doctor_fault(subject), "/dev/net/tun: %s: no tap: ports", strerror(errno));
	if (errno == EACCES || errno == EPERM)
		doctor_todo_root(finding, "chmod 666 /dev/net/tun");
	else
		doctor_todo_root(finding, "modprobe tun");
}

void doctor_packet_socket(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd >= 0) {
		close(fd);
		doctor_say(finding, DOCTOR_OK, "AF_PACKET sockets can be opened");
		return;
	}
	doctor_say(finding, doctor_fault(subject), "no AF_PACKET socket (%s): no afpacket: ports",
		strerror(errno));
	if (errno == EPERM)
		doctor_todo(finding, "run as root or with CAP_NET_RAW");
	else
		doctor_todo_root(finding, "modprobe af_packet");
}

static int open_xdp_socket(void)
{
	int fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* Loads a minimal XDP program, which passes every packet, and attaches it to nothing. */
static int load_xdp_program(void)
{
	static const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_XDP;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = sizeof(code) / sizeof(code[0]);
	attr.license = (uintptr_t) "BSD";
	fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

void doctor_af_xdp(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	int sock = open_xdp_socket(), program = load_xdp_program();
	int err = sock < 0 ? sock : program;

	if (err == 0) {
		doctor_say(finding, DOCTOR_OK, "AF_XDP sockets can be opened, XDP programs loaded");
		return;
	}
	doctor_say(finding, doctor_fault(subject), "%s (%s): no afxdp: ports",
		sock < 0 ? "no AF_XDP socket" : "XDP programs cannot be loaded", strerror(-err));
	if (err == -EAFNOSUPPORT || err == -ENOSYS)
		doctor_todo(finding,
			"use a kernel with CONFIG_XDP_SOCKETS and CONFIG_BPF_SYSCALL, or "
			"afpacket: ports");
	else
		doctor_todo(finding, "run as root, outside of user namespaces");
}

static void bpffs(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	struct statfs fs;

	if (statfs("/sys/fs/bpf", &fs) == 0 && fs.f_type == BPF_FS_MAGIC) {
		doctor_say(finding, DOCTOR_OK, "mounted at /sys/fs/bpf");
		return;
	}
	doctor_say(finding, DOCTOR_NOTE,
		"/sys/fs/bpf is not mounted; libxdp pins the programs of afxdp: ports there");
	doctor_todo_root(finding, "mount -t bpf bpf /sys/fs/bpf");
}

const struct doctor_check doctor_privilege_checks[] = {
	{"privileges", privileges},
	{"namespaces", user_namespaces},
	{"tun", doctor_tun},
	{"af-packet", doctor_packet_socket},
	{"af-xdp", doctor_af_xdp},
	{"bpffs", bpffs},
	{NULL, NULL},
};
