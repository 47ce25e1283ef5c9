#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes recordings as if from several hosts: FOLDER/web-1.data and so on, each with a different amount of work.
#
#	record.sh FOLDER 8
set -e
host=1
while [ $host -le "${2:-8}" ]; do
	perf-prof record -q -a -m 4M -e sched:sched_switch,sched:sched_wakeup,sched:sched_wakeup_new \
		-e cpu-clock/freq=499//stack=auto/ -o "$1/web-$host.data" -- sh -c "seq $((host * 20000)) | sort -n | tail -n 1 >/dev/null"
	host=$((host + 1))
done
