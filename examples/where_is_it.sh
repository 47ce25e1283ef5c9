#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Where does a Python program hang? Prints the stacks of all its threads a few times: what stays the same is where it waits.
#
#	where_is_it.sh 1234
for _ in 1 2 3; do
	perf-prof dump "$1" || exit
	sleep "${BETWEEN:-1}"
done
