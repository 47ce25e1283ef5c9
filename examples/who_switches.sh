#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which tasks are switched to most, and how long did they wait for the CPU, each second? In SQL: needs DuckDB (pip install duckdb).
#
#	who_switches.sh [--venv DIR] [-p PID] [-- ./job]
exec perf-prof sql -e rundelay -i 1000 \
	"select comm, count(*) as times, sum(duration) / 1e6 as waited_ms, quantile_cont(duration, 0.99) / 1e3 as p99_us
	 from rundelay group by comm order by times desc limit 10" "$@"
