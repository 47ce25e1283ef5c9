#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which of two commands is faster, which takes less CPU time, by how much, and is that significant? Two lines below the table say so.
# Ten runs of each, alternating.
#
#	faster.sh './job old.conf' './job new.conf'
#
# Both are lines as for a shell, and are started in the same way.
perf-prof stat -e task-clock,page-faults -r "${RUNS:-10}" --vs "$1" --vs "$2" -o /dev/stdout
