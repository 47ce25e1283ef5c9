# SPDX-License-Identifier: Apache-2.0
"""A recorded file: events to a Python function and to text, beside `perf script`; and what it costs
to record one."""
import os
import re
import subprocess
import sys

import measure
from measure import EVENT, PAGES, Perf, cpu_of, pinned, storm
from samples import Trouble, median
from table import Row

ROUNDS = 5
RECORDERS, STORMS = 7, 5

ROWS = [
    Row('perf script -s, count (of a file)', 'perf script'),
    Row('perf-prof python -I, count (of that file)', 'ours', 'perf script', 'perf script', 1 / 80),
    Row('session of that file: three columns, count', 'columns', 'perf script', 'perf script', 1 / 500),
    Row('perf script, text (of that file)', 'perf text'),
    Row('perf-prof script, text', 'text', 'perf text', 'perf script', 1 / 8),
    Row('perf-prof script, JSON lines, every field', 'json', 'perf text', 'perf script', 1 / 4),
    Row('perf-prof script, CSV, every field', 'csv', 'perf text', 'perf script', 1 / 4),
    Row('floor: walk of the mapped file', 'mapped'),
    Row('C walk of its records', 'read', 'mapped', 'floor', 2),
    Row('C walk, and whose they are', 'whose', 'mapped', 'floor'),
]
RECORDER_ROWS = [
    Row('the workload pays: perf record, an event', 'perf record'),
    Row('the workload pays: perf-prof record', 'ours', 'perf record', 'perf record', 1),
]
# The arguments that `perf script -g python` writes: with others perf does less.
PERF_SCRIPT = '''count = 0
def syscalls__sys_enter_getppid(event_name, context, common_cpu, common_secs,
        common_nsecs, common_pid, common_comm, common_callchain, __syscall_nr,
        perf_sample_dict):
    global count
    count += 1
'''
OUR_SCRIPT = 'n = 0\ndef __sample__(e):\n    global n\n    n += 1\n'
COLUMNS = '''import sys
sys.path.insert(0, sys.argv[1])
import perf_prof
print(sum(len(batch) for batch in perf_prof.open(sys.argv[2], fields=['_time', '_tid', '__syscall_nr'])))
'''
COUNT = OUR_SCRIPT + 'def __exit__():\n    print("events", n)\n'


def make_files(build, n, folder):
    """Recordings of one event, of n and of seven times as many, with how many each has: a recorder on a
    busy machine loses some. And a script for perf and one for perf-prof."""
    for name, text in (('count.py', PERF_SCRIPT), ('ours.py', OUR_SCRIPT), ('events.py', COUNT), ('columns.py', COLUMNS)):
        with open(os.path.join(folder, name), 'w') as f:
            f.write(text)
    events = {}
    for name, calls in (('few.data', 1), ('some.data', n), ('many.data', 7 * n)):
        perf = Perf(folder, name)
        try:
            storm(build, calls)
        finally:
            perf.stop()
        done = subprocess.run([os.path.join(build, 'perf-prof'), 'python', 'events.py', '-I', name], cwd=folder,
                              capture_output=True, text=True, timeout=measure.PATIENCE)
        events[name] = int(re.search(r'events (\d+)', done.stdout).group(1))
    return events


def read(samples, build, n, folder):
    """ns per event: the CPU time for a recording less that for one of one event, of a round. Who is quick
    gets the larger recording, so that its start is a small part of it, and three turns."""
    measure.needs_perf()
    events = make_files(build, n, folder)
    prof = os.path.join(build, 'perf-prof')
    commands = {'perf script': (['perf', 'script', '-s', 'count.py', '-i'], 'some.data', 1),
                'ours': ([prof, 'python', 'ours.py', '-I'], 'many.data', 3),
                'columns': ([sys.executable, '-I', '-S', 'columns.py', os.path.join(build, 'python')], 'many.data', 3),
                'perf text': (['perf', 'script', '-i'], 'some.data', 1),
                'text': ([prof, 'script', '-I'], 'many.data', 3),
                'json': ([prof, 'script', '--json', '-I'], 'some.data', 1),
                'csv': ([prof, 'script', '--csv', '-I'], 'some.data', 1)}
    for _ in range(ROUNDS):
        for who, (command, name, turns) in commands.items():
            ns = [[cpu_of(pinned([*command, file]), folder) for file in (name, 'few.data')]
                  for _ in range(turns)]
            samples.put(who, median([many - few for many, few in ns]) / (events[name] - events['few.data']))


def walk(samples, build, folder):
    path = os.path.join(folder, 'many.data')
    if not os.path.exists(path):
        measure.needs_perf()
        raise Trouble('there is no recording')
    samples.put_all(measure.program_rows(build, 'walk_recording', 11, path))


def measure_recordings(samples, opts, folder):
    samples.attempt(['perf script', 'ours', 'columns', 'perf text', 'text', 'json', 'csv'], read, samples, opts.build,
                    min(opts.calls, 300000), folder)
    samples.attempt(['mapped', 'read', 'whose'], walk, samples, opts.build, folder)


def storms_under(command, build, calls, folder):
    """CPU ns of a call of getppid() while the command records it; of several storms."""
    work = ' '.join([os.path.join(build, 'tests/helpers/storm'), '--cpu', str(measure.cpus()[1]), 'getppid', str(calls)])
    done = subprocess.run(pinned([*command, 'sh', '-c', ';'.join([work] * STORMS)]), cwd=folder,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=2 * measure.PATIENCE)
    ns = [int(n) for n in re.findall(r'cpu_ns (\d+)', done.stdout)]
    if done.returncode or len(ns) != STORMS:
        raise Trouble(f'{command[:2]}: {done.stderr.strip()[-500:]}')
    return median(ns) / calls


def record(samples, build, folder, calls=300000):
    measure.needs_perf()
    path = os.path.join(folder, 'recorded.data')
    options = ['record', '-q', '-a', '-e', EVENT, '-o', path, '-m', str(PAGES), '--']
    commands = {'alone': [], 'perf record': ['perf', *options],
                'ours': [os.path.join(build, 'perf-prof'), *options]}
    for number in range(RECORDERS):
        order = [*commands] if number % 2 else [*commands][::-1]    # none always follows the same
        ns = {who: storms_under(commands[who], build, calls, folder) for who in order}
        samples.put('perf record', ns['perf record'] - ns['alone'])
        samples.put('ours', ns['ours'] - ns['alone'])
    os.unlink(path)


def measure_recorders(samples, opts, folder):
    samples.attempt(['perf record', 'ours'], record, samples, opts.build, folder)
