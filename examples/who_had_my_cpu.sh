#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Who had the CPU while a command waited for it? Prints waits above 2 ms, and the tasks that ran meanwhile.
#
#	who_had_my_cpu.sh ./job
perf-prof rundelay --than 2ms -- "$@" |
	awk '/ took / { waits++ }
	     / ==> / { sub(/.*==> next_comm=/, ""); sub(/ next_pid=.*/, ""); ran[$0]++ }
	     END { print waits + 0, "waits above 2 ms"; for (r in ran) print ran[r], r }'
