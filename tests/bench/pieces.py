# SPDX-License-Identifier: Apache-2.0
"""Parts of the C code by themselves: counting, and order over many rings."""
import measure
from table import Row

ROUNDS = 5

COUNTING_ROWS = [
    Row('one event: reset, enable, disable, read', 'one-cycle'),
    Row('one event left on: two reads', 'one-always', 'one-cycle', 'full cycle'),
    Row('group of four: reset, enable, disable, read', 'group-cycle'),
    Row('pev_group_measure() of four', 'group-measure', 'group-cycle', 'full cycle'),
    Row('pev_group_begin() and _end() of four', 'group-always', 'group-cycle', 'full cycle', 0.5),
    Row('open and close, bare system calls', 'open-close-bare'),
    Row('pev_event_open(), pev_event_close()', 'open-close', 'open-close-bare', 'bare', 1.05),
]
# With two rings it is the CPU's latency that is measured: 10 ns where the floor takes 5, 21 where it takes 7.
ORDER_ROWS = [row for queues, limit in ((2, 3.5), (64, 1), (512, 1)) for row in (
    Row(f'floor: copy and merge, {queues} rings', f'floor-{queues}'),
    Row(f'--order adds, {queues} rings, none in step', f'mixed-{queues}', f'floor-{queues}', 'floor', limit),
    Row(f'--order adds, {queues} rings, bursts of 32', f'runs-{queues}', f'floor-{queues}', 'floor'))]


def rounds(samples, build, program, each):
    for _ in range(ROUNDS):
        samples.put_all(measure.program_rows(build, program, each))


def counting(samples, build):
    measure.needs_kernel()
    rounds(samples, build, 'counting', 45)


def names(rows):
    return [row.name for row in rows]


def measure_counting(samples, opts, folder):
    samples.attempt(names(COUNTING_ROWS), counting, samples, opts.build)


def measure_order(samples, opts, folder):
    samples.attempt(names(ORDER_ROWS), rounds, samples, opts.build, 'bench_order', 3)
