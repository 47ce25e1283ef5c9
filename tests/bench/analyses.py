# SPDX-License-Identifier: Apache-2.0
"""What the analyses cost and keep, on work of tests/helpers/works."""
import json
import os
import re
import select
import signal
import subprocess
import time

from measure import EVENT, PAGES, PATIENCE, Trouble, cpu_of, cpus, median, pinned

TICKS = os.sysconf('SC_CLK_TCK')


def works(build, *args):
    return subprocess.Popen([os.path.join(build, 'tests/helpers/works'), *map(str, args)],
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def user_seconds(pid):
    with open(f'/proc/{pid}/stat') as f:
        return int(f.read().rsplit(')', 1)[1].split()[11]) / TICKS


def profile_user(build, seconds=5):
    """(percent of one core that `profile -F 9999 -g` takes in user space while all CPUs compute,
    samples in a second)"""
    busy = works(build, 'spin', (seconds + 8) * 1000)
    prof = subprocess.Popen([os.path.join(build, 'perf-prof'), 'profile', '-q', '-F', '9999', '-g'],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        time.sleep(1.5)         # names have been looked up
        begin, at = user_seconds(prof.pid), time.monotonic()
        time.sleep(seconds)
        percent = 100 * (user_seconds(prof.pid) - begin) / (time.monotonic() - at)
        prof.send_signal(signal.SIGINT)
        out, _ = prof.communicate(timeout=PATIENCE)
    finally:
        prof.kill()
        busy.kill()
        busy.wait()
    return percent, int(re.search(r'(\d+) samples', out).group(1)) / (seconds + 1.5)


def task_state_lost(build, passes=300000):
    """(events lost, switches a second) of `task-state` with its default rings."""
    begin = time.monotonic()
    done = subprocess.run([os.path.join(build, 'perf-prof'), 'task-state', '--json', '--',
                           os.path.join(build, 'tests/helpers/works'), 'switches', str(passes)],
                          capture_output=True, text=True, timeout=PATIENCE)
    table = [line for line in done.stdout.splitlines() if line.startswith('{')]
    if done.returncode or not table:
        raise Trouble(f'task-state: {done.stderr.strip()}')
    table = json.loads(table[-1])
    runs = sum(row['calls'] for row in table['rows'] if row['state'] == 'R')
    return table['lost'], runs / (table['seconds'] or time.monotonic() - begin)


def first_output(build):
    """ms from the start of `profile -g` to its first line."""
    busy = works(build, 'spin', 5000)
    prof = None
    try:
        begin = time.monotonic()
        prof = subprocess.Popen([os.path.join(build, 'perf-prof'), 'profile', '-g'],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        if not select.select([prof.stdout], [], [], PATIENCE)[0]:
            raise Trouble('profile -g prints nothing')
        return 1000 * (time.monotonic() - begin)
    finally:
        if prof:
            prof.kill()
            prof.communicate()
        busy.kill()
        busy.wait()


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
    cpu_of(['perf', 'record', '-q', '-m', '1M', '-F', '20000', '-e', 'cpu-clock', '-g', '-o', path, '--',
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


def folded(build, folder, passes=(20000, 1000000), rounds=3):
    """ns to fold the stack of a sample, without and with start and the reading of symbols:
    ({perf script (its folder included), folder, ours}, the same, samples)."""
    paths = [os.path.join(folder, name) for name in ('few.stacks', 'many.stacks')]
    for path, n in zip(paths, passes):
        record_stacks(build, folder, path, n)
    got, samples = [], []
    for path in paths:
        times, counts = zip(*(fold_once(build, folder, path) for _ in range(rounds)))
        got.append({who: median([t[who] for t in times]) for who in times[0]})
        samples.append(counts[0])
        os.unlink(path)
    more = {who: (got[1][who] - got[0][who]) / (samples[1] - samples[0]) for who in got[0]}
    return more, {who: ns / samples[1] for who, ns in got[1].items()}, samples[1]


def recorders(build, folder, calls=1000000, rounds=5):
    """CPU ns of a call of getppid(): {alone, under `perf record`, under perf-prof record}."""
    path = os.path.join(folder, 'recorded.data')
    storm = [os.path.join(build, 'tests/helpers/storm'), '--cpu', str(cpus()[1]), 'getppid',
             str(calls)]
    options = ['-q', '-a', '-e', EVENT, '-o', path, '-m', str(PAGES), '--']
    commands = {'alone': [], 'perf record': ['perf', 'record'] + options,
                'ours': [os.path.join(build, 'perf-prof'), 'record'] + options}
    got = {who: [] for who in commands}
    for _ in range(rounds):
        for who, command in commands.items():
            done = subprocess.run(pinned(command + storm), cwd=folder, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=PATIENCE)
            ns = re.search(r'cpu_ns (\d+)', done.stdout)
            if done.returncode or not ns:
                raise Trouble(f'{who}: {done.stderr.strip()[-500:]}')
            got[who].append(int(ns.group(1)) / calls)
    if os.path.exists(path):
        os.unlink(path)
    return {who: sorted(ns)[rounds // 2] for who, ns in got.items()}
