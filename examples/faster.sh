#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which of two commands is faster, which takes less CPU time, by how much, and is that significant? The last two lines say so.
# Ten runs of each, alternating.
#
#	faster.sh './job old.conf' './job new.conf'
#
# The first command is split at spaces, as --vs splits the second: a shell for only one of them would cost it time.
set -f
perf-prof stat -e task-clock,page-faults -r "${RUNS:-10}" --vs "$2" -o /dev/stdout -- $1
