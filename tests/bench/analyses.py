# SPDX-License-Identifier: Apache-2.0
"""What the analyses cost and keep, on work of tests/helpers/works."""
import json
import os
import re
import select
import signal
import subprocess
import time

from measure import EVENT, PAGES, PATIENCE, Trouble, cpus, pinned

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


def command_ns(argv, folder, stdin=os.devnull, stdout=os.devnull):
    """CPU time of a command, ns."""
    with open(stdin, 'rb') as source, open(stdout, 'wb') as sink:
        process = subprocess.Popen(argv, cwd=folder, stdin=source, stdout=sink,
                                   stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise Trouble(f'{" ".join(argv)} ended with {process.returncode}')
    return (usage.ru_utime + usage.ru_stime) * 1e9


def folded(build, folder, passes=1000000, rounds=3):
    """ns to fold the stacks of a recording, start and end included: {samples, perf script
    (its folder included), folder, ours}."""
    path = {name: os.path.join(folder, name) for name in ('stacks.data', 'stacks.txt', 'x.folded')}
    both = 'for cpu in $2 $3; do taskset -c $cpu "$0" switches "$1" & done; wait'
    command_ns(['perf', 'record', '-q', '-m', '1M', '-F', '20000', '-e', 'cpu-clock', '-g', '-o',
                path['stacks.data'], '--', 'sh', '-c', both,
                os.path.join(build, 'tests/helpers/works'), str(passes), *map(str, cpus())], folder)
    got = {'perf script': [], 'folder': [], 'ours': []}
    for _ in range(rounds):
        got['perf script'].append(command_ns(['perf', 'script', '-i', path['stacks.data']], folder,
                                             stdout=path['stacks.txt']))
        got['folder'].append(command_ns(['/usr/bin/python3', '-c', FOLDER], folder,
                                        stdin=path['stacks.txt']))
        got['ours'].append(command_ns([os.path.join(build, 'perf-prof'), 'report', '-I',
                                       path['stacks.data'], '--flame-graph', path['x.folded']],
                                      folder))
    got = {who: sorted(ns)[rounds // 2] for who, ns in got.items()}
    with open(path['stacks.txt'], 'rb') as f:
        got['samples'] = sum(line == b'\n' for line in f)
    got['perf script'] += got['folder']
    for name in path.values():
        os.unlink(name)
    return got


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
