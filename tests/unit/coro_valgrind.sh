#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a check program that switches among thousands of stacks under valgrind: valgrind reports
# no error and no unclear stack change. Takes the program.
set -eu
if ! command -v valgrind > /dev/null; then
	echo "1..0 # SKIP no valgrind"
	exit 0
fi
copy=$(mktemp)
trap 'rm -f "$copy"' EXIT

# check PROGRAM: prints its verdict, with valgrind's output in log
check() {
	verdict=ok
	log=$(CK_VERBOSITY=silent CK_TAP_LOG_FILE_NAME=/dev/null \
		valgrind --error-exitcode=9 --child-silent-after-fork=yes "$1" 2>&1) ||
		verdict="not ok"
	case $log in *"switching stacks"*) verdict="not ok" ;; esac
}

check "$1"
case $log in
*"debuginfo reader:"*) # this valgrind cannot read the compiler's debug information
	strip --strip-debug -o "$copy" "$1"
	check "$copy"
	;;
esac
echo 1..1
echo "$verdict 1 - clean_under_valgrind"
[ "$verdict" = ok ] || echo "$log" | sed 's/^/# /'
