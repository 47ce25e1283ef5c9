#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which programs does a command start, in which order?
#
#	programs.sh make -j2
exec perf-prof trace -e sched:sched_process_exec --order -- "$@"
