#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What did the threads of a command do when? For the Firefox Profiler: load the file at profiler.firefox.com.
#
#	time_line.sh job.firefox.json ./job
out=$1
shift
recording=$(mktemp) || exit
trap 'rm -f "$recording"' EXIT
perf-prof record -q -F 997 -g -o "$recording" -- "$@" &&
perf-prof convert --to firefox "$recording" -o "$out"
