#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What did a program do in the minutes before it failed? Records into a limited number of files. If the
# program ends with an error, keeps the files and shows where its time went.
#
#	crash_recorder.sh PROGRAM [ARGUMENT...]
set -u
folder=$(mktemp -d)
perf-prof record -g -o "$folder/perf.data" --switch-output 1m --max-files 5 -- "$@"
status=$?
if [ "$status" -eq 0 ]; then
	rm -r "$folder"
	exit 0
fi
echo "$1 ended with $status; its last minutes are in $folder"
perf-prof report "$folder/perf.data"
exit "$status"
