#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which code of a command touches new memory, and how much?
#
#	touches.sh ./job
exec perf-prof page-faults -q -g -- "$@"
