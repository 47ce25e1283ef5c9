# SPDX-License-Identifier: Apache-2.0
"""A recording that is added to a Parquet dataset: CPU time beside pyarrow, which writes the same rows from memory, and the memory that
`perf-prof convert --to parquet` takes, whatever the length of the recording."""
import os
import shutil
import subprocess
import sys

import measure
from measure import EVENT
from samples import Trouble, need
from sessions import READERS
from table import Row

ROUNDS = 5
KINDS = ','.join([EVENT, EVENT.replace('enter', 'exit'), 'raw_syscalls:sys_enter', 'raw_syscalls:sys_exit'])
EACH = 110          # bytes of an event in perf.data, about
TIMES = 3           # as many events

ROWS = [
    Row('floor: pyarrow writes rows to Parquet', 'floor'),
    Row('recording of one kind of event to Parquet', 'parquet', 'floor', 'floor', 3.5),
    Row('floor: the same of four kinds', 'floor of four'),
    Row('recording of four kinds to Parquet', 'parquet of four', 'floor of four', 'floor', 5),
]
MEMORY_ROWS = [
    Row('recording of four kinds to Parquet: memory', 'peak', limit=200, unit='MiB'),
    Row(f'  of {TIMES} times the events', 'peak of more', 'peak', 'the shorter', 1.1, unit='MiB'),
]

# Prints CPU ns and rows: of the sink from perf.data on, or of pyarrow from its tables on.
PROGRAM = f'''
import os, shutil, sys, time
sys.path.append({READERS!r})
import perf_prof
try:
    import pyarrow, pyarrow.compute, pyarrow.parquet
except ImportError:
    sys.exit('needs pyarrow (tools/install-readers)')
how, path, folder = sys.argv[1:]
def sink():
    return perf_prof.sinks.parquet(perf_prof.open(path), folder, host='h', date='2026-01-31').rows
def table_of(event):
    return pyarrow.Table.from_batches([pyarrow.record_batch(batch) for batch in perf_prof.open(path, event)])
def write(i, table):
    text = [field.name for field in table.schema if pyarrow.types.is_dictionary(field.type)]
    with pyarrow.parquet.ParquetWriter(os.path.join(folder, f'{{i}}.parquet'), table.schema, compression='zstd', use_dictionary=text,
                                       column_encoding={{'_time': 'DELTA_BINARY_PACKED'}}) as writer:
        for at in range(0, len(table), 1 << 16):
            writer.write_table(table.slice(at, 1 << 16), row_group_size=1 << 16)
    return len(table)
os.makedirs(folder)
if how == 'floor':
    tables = [table_of(event) for event in perf_prof.open(path)._tables]
begin = time.process_time_ns()
rows = sink() if how == 'sink' else sum(write(i, table) for i, table in enumerate(tables))
print(time.process_time_ns() - begin, rows)
shutil.rmtree(folder)
'''

# MiB that the largest process of a command took.
PEAK = '''
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
sys.exit(done.stderr) if done.returncode else print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
'''


def output_of(argv, **env):
    done = subprocess.run(argv, capture_output=True, text=True, timeout=4 * measure.PATIENCE, env={**os.environ, **env})
    if done.returncode:
        said = done.stderr.strip()[-500:]
        need(said if said.startswith('needs') else None)
        raise Trouble(f'{" ".join(argv)[:80]}: {said}')
    return done.stdout.split()


def record(build, events, calls, path):
    need(None if shutil.disk_usage(os.path.dirname(path)).free > 2 * EACH * calls * len(events.split(','))
         else f'needs room for recordings in {os.path.dirname(path)}')
    output_of([os.path.join(build, 'perf-prof'), 'record', '-q', '-e', events, '-m', '8M', '-o', path, '--',
               os.path.join(build, 'tests/helpers/storm'), 'getppid', str(calls)])


def times(samples, build, calls, folder):
    measure.needs_events()
    recordings = ('', EVENT, calls), (' of four', KINDS, calls // 4)
    for more, events, n in recordings:
        record(build, events, n, os.path.join(folder, f'set{more}.data'))
    for _ in range(ROUNDS):
        for more, _, _ in recordings:
            path, out = os.path.join(folder, f'set{more}.data'), os.path.join(folder, 'written')
            for name, how in (f'floor{more}', 'floor'), (f'parquet{more}', 'sink'):
                argv = measure.pinned([sys.executable, '-c', PROGRAM, how, path, out])
                ns, rows = map(int, output_of(argv, PYTHONPATH=os.path.join(build, 'python')))
                samples.put(name, ns / rows, note=f'{rows * 1000 / ns:.1f} M events a second of CPU time' if how == 'sink' else '')


def environment(folder):
    """A virtual environment that has pyarrow."""
    path = os.path.join(folder, 'venv')
    subprocess.run([sys.executable, '-m', 'venv', '--without-pip', path], check=True)
    packages = os.path.join(path, f'lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages')
    need(None if os.path.isdir(os.path.join(READERS, 'pyarrow')) else 'needs pyarrow (tools/install-readers)')
    for name in os.listdir(READERS):
        os.symlink(os.path.join(READERS, name), os.path.join(packages, name))
    return path


def memory(samples, build, calls, folder):
    measure.needs_events()
    venv, path, out = environment(folder), os.path.join(folder, 'long.data'), os.path.join(folder, 'out')
    for name, n in ('peak', calls // 4), ('peak of more', TIMES * calls // 4):
        record(build, KINDS, n, path)
        mib, = output_of([sys.executable, '-c', PEAK, os.path.join(build, 'perf-prof'), 'convert', '--to', 'parquet', '--venv', venv, '-I', path,
                          '-o', out, '--host', 'h', '--date', '2026-01-31'])
        samples.put(name, float(mib), note=f'{os.path.getsize(path) >> 20} MiB of perf.data')
        shutil.rmtree(out)
        os.unlink(path)


def measure_datasets(samples, opts, folder):
    samples.attempt([row.name for row in ROWS], times, samples, opts.build, opts.calls, folder)


def measure_memory(samples, opts, folder):
    samples.attempt([row.name for row in MEMORY_ROWS], memory, samples, opts.build, 2 * opts.calls, folder)
