#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What does a command wait for? Prints blocked time by function, longest first: the innermost function in user
# space, not its callers and not the kernel's functions.
#
#	waits.sh tar xf big.tar
perf-prof profile --off-cpu --sort symbol,dso -o waits.out --flame-graph waits.folded -- "$@" > /dev/null || exit
awk '/ \(blocked\) / && $3 > 0 { name = $0; sub(/ \(blocked\) .*/, "", name); sub(/^ *[^ ]+ +[^ ]+ +[^ ]+ +/, "", name)
                                 sum[name] += $3; all += $3 }
     END { for (f in sum) printf "%10.3f ms  %5.1f%%  %s\n", sum[f], 100 * sum[f] / all, f }' waits.out |
	sort -rn
