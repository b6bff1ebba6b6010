#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A check program that switches among thousands of stacks, under valgrind: no error, and no doubt
# about which stack it is on. Takes the program.
set -eu
if ! command -v valgrind > /dev/null; then
	echo "1..0 # SKIP no valgrind"
	exit 0
fi
copy=$(mktemp)
trap 'rm -f "$copy"' EXIT

# check PROGRAM: its verdict, and valgrind's words in log
check() {
	verdict=ok
	log=$(CK_VERBOSITY=silent CK_TAP_LOG_FILE_NAME=/dev/null \
		valgrind --error-exitcode=9 --child-silent-after-fork=yes "$1" 2>&1) ||
		verdict="not ok"
	case $log in *"switching stacks"*) verdict="not ok" ;; esac
}

check "$1"
case $log in
*"debuginfo reader:"*) # valgrind is older than the compiler's debug information
	strip --strip-debug -o "$copy" "$1"
	check "$copy"
	;;
esac
echo 1..1
echo "$verdict 1 - clean_under_valgrind"
[ "$verdict" = ok ] || echo "$log" | sed 's/^/# /'
