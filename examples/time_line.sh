#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# When did each thread of a command do what? Writes a file for the Firefox Profiler: load it at profiler.firefox.com.
#
#	time_line.sh job.firefox.json ./job
out=$1
shift
recording=$(mktemp) || exit
trap 'rm -f "$recording"' EXIT
perf-prof record -q -F 997 -g -o "$recording" -- "$@" &&
perf-prof convert --to firefox "$recording" -o "$out"
