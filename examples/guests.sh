#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What do this machine's guests need the host for? Watches for some seconds.
#
#	guests.sh 5
cpus="0-$(($(getconf _NPROCESSORS_ONLN) - 1))"
exec perf-prof kvm-exit -C "$cpus" -- sleep "${1:-5}"
