#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Who had the CPU while a command waited for it? Prints the number of waits above 2 ms, and how long each task ran meanwhile, on the
# CPU that the waiting task got.
#
#	who_had_my_cpu.sh ./job
perf-prof rundelay --than 2ms -- "$@" |
	awk 'function end_wait(i, from) {
		from = start
		for (i = 1; i <= n; i++)
			if (cpu[i] == cpu[n]) {
				ms[prev[i]] += (at[i] - from) * 1000
				from = at[i]
			}
		n = start = 0
	}
	/ took [0-9.]+ us$/ { end_wait(); waits++; next }
	match($0, / [0-9]+\.[0-9]+: /) {
		time = substr($0, RSTART + 1, RLENGTH - 3)
		start = start ? start : time
	}
	/ ==> / {
		at[++n] = time
		match($0, /\[[0-9]+\]/)
		cpu[n] = substr($0, RSTART, RLENGTH)
		sub(/.*prev_comm=/, "")
		sub(/ prev_pid=.*/, "")
		prev[n] = $0
	}
	END {
		end_wait()
		print waits + 0, "waits above 2 ms"
		for (task in ms)
			if (ms[task] >= 0.1)
				printf "%.1f ms %s\n", ms[task], task | "sort -rn"
	}'
