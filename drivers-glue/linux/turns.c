/* SPDX-License-Identifier: BSD-3-Clause */
#include "linux/turns.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_common.h>

/* Instructions, named as in the kernel's documentation (bpf/standardization). */
#define MOV(to, from)                                                               \
	{                                                                           \
		.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = to, .src_reg = from \
	}
#define NEGATE(reg)                                                 \
	{                                                           \
		.code = BPF_ALU64 | BPF_NEG | BPF_K, .dst_reg = reg \
	}
#define ADD(to, value)                                                           \
	{                                                                        \
		.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = to, .imm = value \
	}
#define STORE(at, offset, value)                                                             \
	{                                                                                    \
		.code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = at, .off = offset, .imm = value \
	}
#define KEEP(at, from)                                                            \
	{                                                                         \
		.code = BPF_STX | BPF_MEM | BPF_W, .dst_reg = at, .src_reg = from \
	}
#define LOAD(to, at)                                                            \
	{                                                                       \
		.code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = to, .src_reg = at \
	}
#define MAP(to, fd)                           \
	{.code = BPF_LD | BPF_DW | BPF_IMM,   \
		.dst_reg = to,                \
		.src_reg = BPF_PSEUDO_MAP_FD, \
		.imm = fd},                   \
	{                                     \
		.imm = 0                      \
	}
#define CALL(function)                                      \
	{                                                   \
		.code = BPF_JMP | BPF_CALL, .imm = function \
	}
#define UNLESS(reg, value, skip)                                                             \
	{                                                                                    \
		.code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = reg, .off = skip, .imm = value \
	}
#define EXIT                               \
	{                                  \
		.code = BPF_JMP | BPF_EXIT \
	}

/* r0 becomes the address of a word; the program ends, with no packet, if there is none. */
#define ADDRESS(fd)                                                               \
	STORE(BPF_REG_10, -4, 0), MOV(BPF_REG_2, BPF_REG_10), ADD(BPF_REG_2, -4), \
		MAP(BPF_REG_1, fd), CALL(BPF_FUNC_map_lookup_elem), UNLESS(BPF_REG_0, 0, 1), EXIT

static int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	int rc = (int)syscall(SYS_bpf, command, attr, sizeof(*attr));

	return rc < 0 ? -errno : rc;
}

int hauli_turns_word(bool per_cpu)
{
	union bpf_attr attr = {.map_type = per_cpu ? BPF_MAP_TYPE_PERCPU_ARRAY : BPF_MAP_TYPE_ARRAY,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(uint32_t),
		.max_entries = 1};

	return bpf(BPF_MAP_CREATE, &attr);
}

int hauli_turns_word_set(int word, uint32_t value)
{
	const uint32_t first = 0;
	union bpf_attr attr = {
		.map_fd = (uint32_t)word, .key = (uintptr_t)&first, .value = (uintptr_t)&value};

	return bpf(BPF_MAP_UPDATE_ELEM, &attr);
}

static int set_filter(int fd, const struct bpf_insn *code, unsigned n)
{
	static const char license[] = "BSD";
	union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insns = (uintptr_t)code,
		.insn_cnt = n,
		.license = (uintptr_t)license};
	int filter = bpf(BPF_PROG_LOAD, &attr);
	int err;

	if (filter < 0)
		return filter;
	err = setsockopt(fd, SOL_SOCKET, SO_ATTACH_BPF, &filter, sizeof(filter)) < 0 ? -errno : 0;
	close(filter);
	return err;
}

int hauli_turns_newer(int fd, int turn, int choice)
{
	const struct bpf_insn code[] = {
		ADDRESS(turn),
		LOAD(BPF_REG_6, BPF_REG_0),
		ADDRESS(choice),
		KEEP(BPF_REG_0, BPF_REG_6),
		MOV(BPF_REG_0, BPF_REG_6),
		NEGATE(BPF_REG_0), /* 1: all of the packet; 0: nothing */
		EXIT,
	};

	return set_filter(fd, code, RTE_DIM(code));
}

int hauli_turns_older(int fd, int choice)
{
	const struct bpf_insn code[] = {
		ADDRESS(choice),
		LOAD(BPF_REG_0, BPF_REG_0),
		ADD(BPF_REG_0, -1), /* 0: all of the packet; 1: nothing */
		EXIT,
	};

	return set_filter(fd, code, RTE_DIM(code));
}

void hauli_turns_detach(int fd)
{
	int none = 0;

	(void)setsockopt(fd, SOL_SOCKET, SO_DETACH_BPF, &none, sizeof(none));
}
