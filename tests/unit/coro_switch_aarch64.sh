#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The cases of the switch on aarch64, under qemu's user emulation: with the compiler's defaults
# at two levels, and with signed return addresses and marked branch targets. Takes the source root.
set -eu
root=$1
for program in aarch64-linux-gnu-gcc qemu-aarch64; do
	if ! command -v "$program" > /dev/null; then
		echo "1..0 # SKIP no $program (Debian: gcc-aarch64-linux-gnu, qemu-user)"
		exit 0
	fi
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cross() {
	aarch64-linux-gnu-gcc -std=gnu17 -D_GNU_SOURCE -static \
		-I "$root/lib" -I "$root/lib/include" "$@"
}

n=0
# verdict NAME WANTED STATUS
verdict() {
	n=$((n + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1: exit status $3, not $2"
	fi
}

# cases NAME FLAGS...: prints one line for all cases
cases() {
	name=$1
	shift
	cross "$@" -o "$dir/cases" "$root/tests/unit/coro_switch_bare.c" \
		"$root/tests/unit/coro_switch_cases.c" "$root"/lib/coro/*.c \
		"$root"/lib/coro/*_aarch64.S \
		"$root/lib/base/assert.c" "$root/lib/base/cgroup.c" "$root/lib/base/forks.c" -lm
	rc=0
	qemu-aarch64 "$dir/cases" > "$dir/tap" || rc=$?
	grep '^not ok' "$dir/tap" | sed 's/^/# /' || true
	verdict "$name" 0 "$rc"
}

# targets NAME STATUS FLAGS...: runs with branch target checks in the CPU
targets() {
	name=$1
	wanted=$2
	shift 2
	cross "$@" -O2 -nostdlib -ffreestanding -mbranch-protection=standard -Wl,-z,force-bti \
		-o "$dir/bti" "$root/tests/unit/coro_switch_bti.c" "$root/lib/coro/start_aarch64.S"
	rc=0
	qemu-aarch64 -cpu max "$dir/bti" 2> /dev/null || rc=$?
	verdict "$name" "$wanted" "$rc"
}

# Each object of assembly declares that its branch targets are marked.
declared() {
	rc=0
	for file in "$root"/lib/coro/*_aarch64.S; do
		cross -c -o "$dir/object" "$file"
		aarch64-linux-gnu-readelf -n "$dir/object" | grep -q 'feature: BTI' || rc=1
	done
	verdict targets_are_declared 0 "$rc"
}

echo 1..6
cases plain -O2
cases unoptimised -O0
cases protected -O3 -mbranch-protection=standard
targets jumps_land_on_targets 0
targets a_jump_past_the_target_is_caught 132 -DWITHOUT_LANDING_PAD
declared
