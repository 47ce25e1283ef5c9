#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which threads of a command move between CPUs, from where to where, and how often? Most moves first.
#
#	moves.sh ./job
out=$(mktemp) || exit
trap 'rm -f "$out"' EXIT
perf-prof migrations --perins --csv-safe -o "$out" -- "$@"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
	NR > 1 { print $at["calls"], $at["comm"], $at["tid"], "from", $at["from_cpu"], "to", $at["to_cpu"], "by", $at["reason"] }' "$out" |
	sort -rn
