#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which of two commands takes less CPU time, by how much, and how sure is that? Ten runs of each, in turns.
#
#	faster.sh './job old.conf' './job new.conf'
# The first is split at its spaces, as --vs splits the second: with a shell around one of them, that one would look slower.
set -f
perf-prof stat -e task-clock,page-faults -r "${RUNS:-10}" --vs "$2" -o /dev/stdout -- $1
