#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What does a command wait for? Blocked time by function, longest first.
#
#	waits.sh tar xf big.tar
perf-prof profile -q --off-cpu -o waits.out --flame-graph waits.folded -- "$@" > /dev/null || exit
awk '/\[blocked\]/ { ns = $NF; n = split($0, frame, ";"); sum[frame[2]] += ns; all += ns }
     END { for (f in sum) printf "%10.3f ms  %5.1f%%  %s\n", sum[f] / 1e6, 100 * sum[f] / all, f }' waits.folded |
	sort -rn
