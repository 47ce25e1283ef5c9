#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How long do processes on this machine live? Watches for some seconds.
#
#	lifetimes.sh 5
exec perf-prof latency -e sched:sched_process_fork//key=child_pid/ -e sched:sched_process_exit//key=pid/ \
	-C "0-$(($(getconf _NPROCESSORS_ONLN) - 1))" -- sleep "${1:-5}"
