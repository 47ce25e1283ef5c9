#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which tasks had the CPU longest while a command waited for it? Prints five, and for how long.
#
#	who_had_my_cpu.sh ./job
report=$(mktemp) && trap 'rm -f "$report"' EXIT
perf-prof rundelay -o "$report" -- "$@" >&2 &&
	awk '/^ran meanwhile / { rows = 5; next }
	rows-- > 0 {
		ms = $(NF - 1) / 1000
		sub(/ +[0-9-]+ +[0-9]+ +[0-9.]+ +[0-9.]+$/, "")
		printf "%.1f ms %s\n", ms, $0
	}' "$report"
