#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which of two commands takes less CPU time, by how much, and how sure is that? Ten runs of each, in turns.
#
#	faster.sh './job old.conf' './job new.conf'
perf-prof stat -e task-clock,page-faults -r "${RUNS:-10}" --vs "$2" -o /dev/stdout -- sh -c "exec $1"
