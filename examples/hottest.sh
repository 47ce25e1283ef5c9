#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# In which functions does a command spend its time, and which functions call them? Draws a picture, too.
#
#	hottest.sh ./job            writes hottest.svg
perf-prof profile -F 997 -g --than 1% -- "$@" || exit
perf-prof profile -F 997 -g --flame-graph hottest.svg -- "$@" > /dev/null && echo "see hottest.svg"
