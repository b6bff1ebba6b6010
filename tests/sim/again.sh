#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program for one more host: the objects of its archives as one, in which all names are local but
# that of its main(), which gets another one. So it has variables of its own.
# again.sh LD OBJCOPY MAIN NEW OUT ARCHIVE...
set -e
ld=$1 objcopy=$2 main=$3 new=$4 out=$5
shift 5
"$ld" -r -o "$out" --whole-archive "$@"
"$objcopy" --keep-global-symbol="$main" "$out"
"$objcopy" --redefine-sym "$main=$new" "$out"
