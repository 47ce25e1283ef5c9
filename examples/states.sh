#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Does a process run, wait for a CPU, or sleep? Prints a table each second, until Ctrl-C or the end of the process.
#
#	states.sh 1234
exec perf-prof task-state -i "${INTERVAL:-1000}" -p "$1"
