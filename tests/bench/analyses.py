# SPDX-License-Identifier: Apache-2.0
"""What the analyses cost and keep, on work of tests/helpers/works."""
import json
import os
import re
import signal
import subprocess
import time

from measure import PATIENCE, cpu_of, cpus, needs_events, needs_perf, needs_rate, pid_of, program, task_ns
from samples import Trouble, need
from table import Row

HZ = 9999
FEW = 3000        # samples a second: below, what costs is being there at all
FOLD_HZ = 20000
WINDOWS = 5
ROUNDS = 3
PASSES = 20000, 1000000      # of a short recording and a long one

ROWS = [
    Row('floor: stacks counted by their addresses', 'floor profile', unit='%'),
    Row('profile -F 9999 --call-graph fp, CPUs busy', 'profile', 'floor profile', 'floor', 3, unit='%'),
    # walks the top of each stack by unwind tables, so that no caller is missing
    Row('profile -F 9999 -g, CPUs busy', 'mended', 'floor profile', 'floor', 12, unit='%'),
    Row('task-state, default rings: lost', 'lost', limit=0, unit='ev'),
]
FOLDED_ROWS = [
    Row('perf script and a stack folder', 'perf script'),
    Row('report --flame-graph x.folded', 'ours', 'perf script', 'perf script', 1 / 25),
    Row('  with start and symbols', 'whole ours', 'whole perf script', 'perf script'),
]


def works(build, *args):
    return subprocess.Popen([os.path.join(build, 'tests/helpers/works'), *map(str, args)],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)


def cost_beside(samples, programs):
    """All sample the same seconds, at the same rate."""
    time.sleep(1.5)         # names have been looked up
    for _ in range(WINDOWS):
        begin, before = time.monotonic_ns(), [task_ns(one.pid) for one in programs]
        time.sleep(1)
        for name, one, at in zip(('profile', 'mended', 'floor profile'), programs, before):
            samples.put(name, 100 * (task_ns(one.pid) - at) / (time.monotonic_ns() - begin))


def end(process, pattern):
    """Ends it by SIGINT; what it says of itself."""
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENCE)
    found = re.search(pattern, out)
    if not found:
        raise Trouble(f'{os.path.basename(process.args[0])} says nothing of its samples: {out[-200:]}')
    return int(found.group(1))


def profile_cost(samples, build):
    """Percent of one core that `profile -F 9999` with call chains takes of a program that keeps all CPUs busy."""
    needs_events()
    needs_rate(HZ)
    floor = program(build, 'floor_profile')
    busy, all_of_them = works(build, 'spin', 60000), []
    pid, deadline = pid_of(busy), time.monotonic() + PATIENCE
    while len(os.listdir(f'/proc/{pid}/task')) < os.cpu_count() and time.monotonic() < deadline:
        time.sleep(0.01)    # until its threads are there
    begin = time.monotonic()
    profile = [os.path.join(build, 'perf-prof'), 'profile', '-q', '-F', str(HZ), '-p', pid, '--call-graph']
    try:
        for command in [*profile, 'fp'], [*profile, 'auto'], [floor, str(HZ), pid]:
            all_of_them.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True))
        cost_beside(samples, all_of_them)
        n = end(all_of_them[0], r'(\d+) samples') / (time.monotonic() - begin)
        samples.notes['profile'] = f'of one core; {n:.0f} samples a second'
        end(all_of_them[1], r'(\d+) samples')
        end(all_of_them[2], r'samples (\d+)')
        if n < FEW:
            samples.values.clear()
            need(f'needs {FEW} samples a second (other programs left CPU time for {n:.0f})')
    finally:
        for process in all_of_them:
            process.kill()
            process.communicate()
        busy.kill()
        busy.wait()


def task_state_lost(samples, build, passes=300000):
    """Events that `task-state` loses with its default rings."""
    needs_events()
    begin = time.monotonic()
    done = subprocess.run([os.path.join(build, 'perf-prof'), 'task-state', '--json', '--',
                           os.path.join(build, 'tests/helpers/works'), 'switches', str(passes)],
                          capture_output=True, text=True, timeout=PATIENCE)
    table = [line for line in done.stdout.splitlines() if line.startswith('{')]
    if done.returncode or not table:
        raise Trouble(f'task-state: {done.stderr.strip()}')
    table = json.loads(table[-1])
    runs = sum(row['calls'] for row in table['rows'] if row['state'] == 'R')
    seconds = table['seconds'] or time.monotonic() - begin
    samples.put('lost', table['lost'], note=f'{runs / seconds:.0f} switches a second')


def measure_analyses(samples, opts, folder):
    samples.attempt(['profile', 'mended', 'floor profile'], profile_cost, samples, opts.build)
    samples.attempt(['lost'], task_state_lost, samples, opts.build)


# What stack collapsers do with the text of perf script: names by sample, root first.
FOLDER = r'''
import sys
counts, stack, comm = {}, [], None
for line in sys.stdin:
    if line[0] == '\t':
        name = line.split(None, 1)[1].rsplit(' (', 1)[0]
        end = name.rfind('+0x')
        stack.append(name[:end] if end > 0 else name)
    elif line == '\n':
        stack.append(comm)
        key = ';'.join(reversed(stack))
        counts[key] = counts.get(key, 0) + 1
        stack = []
    else:
        comm = line.split(None, 1)[0]
for key, n in counts.items():
    print(key, n)
'''


def record_stacks(build, folder, path, passes):
    both = 'for cpu in $2 $3; do taskset -c $cpu "$0" switches "$1" & done; wait'
    cpu_of(['perf', 'record', '-q', '-m', '1M', '-F', str(FOLD_HZ), '-e', 'cpu-clock', '-g', '-o', path, '--',
            'sh', '-c', both, os.path.join(build, 'tests/helpers/works'), str(passes),
            *map(str, cpus())], folder)


def fold_once(build, folder, data):
    """ns to fold the stacks of a recording: {perf script, folder, ours}, and its samples."""
    text = os.path.join(folder, 'stacks.txt')
    got = {
        'perf script': cpu_of(['perf', 'script', '-i', data], folder, stdout=text),
        'folder': cpu_of(['/usr/bin/python3', '-c', FOLDER], folder, stdin=text),
        'ours': cpu_of([os.path.join(build, 'perf-prof'), 'report', '-I', data, '--flame-graph',
                        os.path.join(folder, 'x.folded')], folder),
    }
    with open(text, 'rb') as f:
        samples = sum(line == b'\n' for line in f)
    os.unlink(text)
    got['perf script'] += got['folder']
    return got, samples


def fold(samples, build, folder):
    """ns to fold the stack of a sample: by the difference of a long recording and a short one, and
    with start and the reading of symbols."""
    needs_perf()
    needs_rate(FOLD_HZ)
    paths = [os.path.join(folder, name) for name in ('few.stacks', 'many.stacks')]
    for path, n in zip(paths, PASSES):
        record_stacks(build, folder, path, n)
    for _ in range(ROUNDS):
        (few, n_few), (many, n_many) = (fold_once(build, folder, path) for path in paths)
        if n_many < 2 * n_few:
            raise Trouble(f'the long recording has {n_many} samples, the short one {n_few}')
        for who in many:
            samples.put(who, (many[who] - few[who]) / (n_many - n_few))
            samples.put(f'whole {who}', many[who] / n_many)
    samples.notes['perf script'] = (f'a sample more; of {n_many}; the folder '
                                    f'{samples.median("folder"):.0f} ns of it')
    for path in paths:
        os.unlink(path)


def measure_folded(samples, opts, folder):
    samples.attempt(['perf script', 'ours', 'whole perf script', 'whole ours'], fold, samples, opts.build, folder)
