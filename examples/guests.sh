#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What do guests of this machine need the host for? For some seconds.
#
#	guests.sh 5
cpus="0-$(($(getconf _NPROCESSORS_ONLN) - 1))"
exec perf-prof kvm-exit -C "$cpus" -- sleep "${1:-5}"
