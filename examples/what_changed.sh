#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which functions take more or less time in one command than in another?
#
#	what_changed.sh './job old.conf' './job new.conf'
folder=$(mktemp -d) || exit
trap 'rm -rf "$folder"' EXIT
perf-prof record -q -F 997 -g -o "$folder/before" -- sh -c "exec $1" > /dev/null &&
perf-prof record -q -F 997 -g -o "$folder/after" -- sh -c "exec $2" > /dev/null &&
perf-prof diff --than 1% "$folder/before" "$folder/after"
