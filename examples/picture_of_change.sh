#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Where does one command spend more of its time than another? Draws a picture: red grew, blue shrank.
#
#	picture_of_change.sh './job old.conf' './job new.conf' change.svg
folder=$(mktemp -d) || exit
trap 'rm -rf "$folder"' EXIT
perf-prof profile -F 997 -g --flame-graph "$folder/before.folded" -- sh -c "exec $1" > /dev/null &&
perf-prof profile -F 997 -g --flame-graph "$folder/after.folded" -- sh -c "exec $2" > /dev/null &&
perf-prof flame-graph --unit ns --before "$folder/before.folded" "$folder/after.folded" "$3"
