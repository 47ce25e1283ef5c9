#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whom did the threads of a command wait for, and on what? Longest first, in milliseconds.
#
#	whom.sh ./job
out=$(mktemp) || exit
trap 'rm -f "$out"' EXIT
perf-prof waits --on --csv-safe -o "$out" -- "$@"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
	NR > 1 { printf "%.3f %s for %s: %s\n", $at["total"] / 1e6, $at["comm"], $at["waker"], $at["on"] }' "$out" | sort -rn
