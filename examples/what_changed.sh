#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which functions take more or less time in one command than in another?
#
#	what_changed.sh './job old.conf' './job new.conf'
folder=$(mktemp -d) || exit
trap 'rm -rf "$folder"' EXIT
for i in 1 2 3 4 5; do   # in turns: a change is more than what differs from run to run
	perf-prof record -q -F 997 -g -o "$folder/before$i" -- sh -c "exec $1" > /dev/null || exit
	perf-prof record -q -F 997 -g -o "$folder/after$i" -- sh -c "exec $2" > /dev/null || exit
done
perf-prof diff --total --than 1% "$folder"/before? --vs "$folder"/after?
