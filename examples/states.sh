#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Does a process run, wait for a CPU, or sleep? Each second, until Ctrl-C or its end.
#
#	states.sh 1234
exec perf-prof task-state -i "${INTERVAL:-1000}" -p "$1"
