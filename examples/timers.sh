#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which timers does the kernel start most? On a terminal it is a full screen; -N 1000, say, ends it.
exec perf-prof top -e 'timer:hrtimer_start//key=function/comm=ksymbol(function)/printkey=printf("0x%x",key)/' "$@"
