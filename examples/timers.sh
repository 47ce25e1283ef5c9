#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which timers does the kernel start most? Full screen on a terminal. Takes options: -N 1000 ends after 1000 events.
exec perf-prof top -e 'timer:hrtimer_start//key=function/comm=ksymbol(function)/printkey=printf("0x%x",key)/' "$@"
