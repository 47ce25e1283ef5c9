#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The last minutes before something went wrong: records into files of bounded number and, when
# the program ends with an error, leaves them and shows where its time went.
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
