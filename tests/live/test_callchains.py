#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A second opinion on call chains: frames of `perf-prof python` against `perf script`.

Both watch the same system calls of programs whose functions are known: position
independent and not, from a library loaded by dlopen(3), and of processes that end at once.
Requires: root, tracefs, perf, and that perf record may record (exit code 77 otherwise)."""
import collections
import contextlib
import functools
import json
import os
import re
import select
import signal
import subprocess
import tempfile
import time

import peers
from peers import Skip

EVENTS = ['syscalls:sys_enter_getppid', 'sched:sched_process_exit']   # of users, of the kernel
FILTER = 'comm ~ "callers*"'
PATIENCE = 30
CALLS, CHILDREN = 20, 20

SCRIPT = """
import json
n = seen = 0
def __interval__():
    global seen
    print('quiet' if n == seen else 'busy', flush=True)
    seen = n
def __sample__(e):
    global n
    n += 1
    print(json.dumps([e._tid, e._time, e._event, e._callchain]))
"""

# name, program, its arguments, the functions that have to be in its chains[, options of perf]
KINDS = [
    ('position independent', 'callers', [str(CALLS)], ['inner', 'middle', 'outer', 'main']),
    ('at a fixed address', 'callers_static', [str(CALLS)], ['inner', 'middle', 'outer', 'main']),
    ('a library by dlopen', 'callers', ['--lib', '{lib}', str(CALLS)],
     ['lib_inner', 'lib_outer', 'main']),
    ('made while it runs', 'callers_jit', [str(CALLS)], ['inner']),
    ('short-lived', 'callers', ['--children', str(CHILDREN)], ['inner', 'middle', 'outer', 'main']),
    ('short-lived, at a fixed address', 'callers_static', ['--children', str(CHILDREN)],
     ['inner', 'middle', 'outer', 'main']),
    # which puts build ids where others look for inodes: see src/stream/watched/sideband.c
    ('short-lived, beside a perf that asks for build ids', 'callers',
     ['--children', str(CHILDREN)], ['inner', 'middle', 'outer', 'main'], '-a', '--buildid-mmap'),
]


def read_line(stream, what):
    line, deadline = b'', time.monotonic() + PATIENCE
    while not line.endswith(b'\n'):
        if not select.select([stream], [], [], max(deadline - time.monotonic(), 0))[0]:
            raise AssertionError(f'{what}: nothing came for {PATIENCE} s')
        byte = os.read(stream.fileno(), 1)
        if not byte:
            raise AssertionError(f'{what}: ended early')
        line += byte
    return line.decode()


@contextlib.contextmanager
def perf_record(folder, pid, more):
    ctl, ack = os.path.join(folder, 'ctl'), os.path.join(folder, 'ack')
    for fifo in (ctl, ack):
        os.mkfifo(fifo)
    control, answer = os.open(ctl, os.O_RDWR), os.open(ack, os.O_RDWR)
    path = os.path.join(folder, 'perf.data')
    process = subprocess.Popen(
        ['perf', 'record', '-q', '-g', '--no-buildid', '-o', path, '-D', '-1',
         '--control', f'fifo:{ctl},{ack}', *(more or ['-p', str(pid)])]
        + [word for event in EVENTS for word in ('-e', event, '--filter', FILTER)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        os.write(control, b'enable\n')
        if not select.select([answer], [], [], PATIENCE)[0]:
            process.kill()
            raise Skip('perf record does not start: ' + process.communicate()[1].decode()[-300:])
        os.read(answer, 100)
        yield path
    finally:
        os.close(control)
        os.close(answer)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)


@contextlib.contextmanager
def perf_prof(program, folder, options, lines):
    with open(os.path.join(folder, 's.py'), 'w') as f:
        f.write(SCRIPT)
    env = dict(os.environ)
    if 'ASAN_OPTIONS' in env:
        env['ASAN_OPTIONS'] += ':detect_leaks=0'     # CPython keeps memory until its end
    process = subprocess.Popen(
        [program, 'python', '-e', ','.join(f'{event}/{FILTER}/' for event in EVENTS), '-g', '--user-callchain', '-i', '100', *options, 's.py'],
        cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, bufsize=0)
    try:
        while read_line(process.stdout, 'perf-prof') != 'quiet\n':
            pass
        yield
        # the first names may take longer than what is delivered behind the end
        while not lines or lines[-1] != 'quiet' or not any(line[0] == '[' for line in lines):
            lines.append(read_line(process.stdout, 'perf-prof').rstrip('\n'))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    if process.returncode or err:
        raise AssertionError(f'perf-prof: exit code {process.returncode}: {err.decode()}')
    lines += out.decode().splitlines()


@contextlib.contextmanager
def started(argv):
    """A program that waits for a byte on stdin."""
    process = subprocess.Popen([argv[0], '--wait'] + argv[1:], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, bufsize=0)
    try:
        process.first_pid = int(read_line(process.stdout, argv[0]).split()[1])
        yield process
    finally:
        process.kill()
        process.communicate()


def run_to_its_end(process):
    """Its pid, and those of its children."""
    out, _ = process.communicate(b'x', timeout=PATIENCE)
    if process.returncode:
        raise AssertionError(f'the program: exit code {process.returncode}')
    return [process.first_pid] + [int(line.split()[1]) for line in out.decode().splitlines()]


def perf_chains(path):
    """tid -> chains of (addr, symbol, offset, dso), in order."""
    done = subprocess.run(
        ['perf', 'script', '-i', path, '--ns', '-F', 'tid,time,ip,sym,symoff,dso'],
        capture_output=True, text=True, errors='surrogateescape', timeout=PATIENCE)
    if done.returncode:
        raise AssertionError(done.stderr)
    chains, frames = collections.defaultdict(list), None
    for line in done.stdout.splitlines():
        head = re.match(r'\s*(\d+)\s+(\d+)\.(\d+):\s*$', line)
        frame = re.match(r'\s*([0-9a-f]+) (.*?)(?:\+0x([0-9a-f]+))? \((.*)\)$', line)
        if head:
            frames = []
            chains[int(head.group(1))].append(frames)
        elif frame:
            addr, symbol, offset, dso = frame.groups()
            frames.append((int(addr, 16), symbol, int(offset or '0', 16), dso))
    return chains


def kernel_names():
    names = collections.defaultdict(set)
    with open('/proc/kallsyms') as f:
        for line in f:
            words = line.split()
            names[int(words[0], 16)].add(words[2])
    return names


@functools.lru_cache(maxsize=None)
def names_in(dso):
    """All names that the file itself has."""
    words = [subprocess.run(['nm', *options, '--defined-only', dso], capture_output=True,
                            text=True).stdout.split() for options in ([], ['-D'])]
    return {word.split('@')[0] for some in words for word in some}


def same_frame(ours, theirs, names):
    addr, symbol, offset, dso = theirs
    if ours['kernel'] and ours['addr'] != addr:     # of users perf tells the offset in the file
        return False
    if symbol == '[unknown]':
        return True      # we may know more; what has to be known is checked by name
    if offset == 0 and ours['offset'] > 0:
        return True      # behind a call that never returns perf names the next function
    unnamed = ours['symbol'] == 'Unknown' or ours['symbol'].startswith(os.path.basename(dso) + '+0x')
    if unnamed and symbol not in names_in(dso):
        return True      # perf has it from debug information in another file
    if ours['kernel']:   # of aliases perf takes another one
        return ours['offset'] == offset and symbol in names[addr - offset]
    return (ours['symbol'], ours['offset'], ours['dso']) == (symbol, offset, dso)


def compare(kind, ours, theirs, pids, names):
    """Returns how many frames were compared."""
    n = 0
    for pid in pids:
        mine, perfs = ours.get(pid, []), theirs.get(pid, [])
        if len(mine) != len(perfs):
            raise AssertionError(f'{kind}: pid {pid}: {len(mine)} chains, by perf {len(perfs)}')
        for (_, a), b in zip(mine, perfs):
            if len(a) != len(b):
                raise AssertionError(f'{kind}: {a}\n by perf {b}')
            for frame, other in zip(a, b):
                if not same_frame(frame, other, names):
                    raise AssertionError(f'{kind}: {frame}, by perf {other}')
                n += 1
    return n


def check_names(kind, ours, pids, program, lib, functions):
    chains = [chain for pid in pids for event, chain in ours.get(pid, []) if 'getppid' in event]
    exits = [chain for pid in pids for event, chain in ours.get(pid, []) if 'exit' in event]
    if len(exits) != len(pids) or not all('do_exit' in [f['symbol'] for f in c] for c in exits):
        raise AssertionError(f'{kind}: {len(exits)} of {len(pids)} exits: {exits[:1]}')
    if len(chains) != (CHILDREN if kind.startswith('short') else CALLS):
        raise AssertionError(f'{kind}: {len(chains)} events')
    for chain in chains:
        user = [f for f in chain if not f['kernel']]
        if [f['symbol'] for f in user[:len(functions)]] != functions:
            raise AssertionError(f'{kind}: {[f["symbol"] for f in user]}')
        for frame in user[:len(functions)]:
            want = lib if frame['symbol'].startswith('lib_') else program
            if frame['dso'] != want:
                raise AssertionError(f'{kind}: {frame}')


def check(kind, prof, program, arguments, functions, lib, options, names, more):
    with tempfile.TemporaryDirectory(prefix='perf-prof-live-') as folder:
        lines = []
        argv = [program] + [a.format(lib=lib) for a in arguments]
        with started(argv) as process, perf_prof(prof, folder, options, lines), \
                perf_record(folder, process.first_pid, more) as path:
            pids = run_to_its_end(process)
        ours = collections.defaultdict(list)
        for tid, _, event, chain in sorted((json.loads(line) for line in lines if line[0] == '['),
                                           key=lambda row: row[1]):
            ours[tid].append((event, chain))
        check_names(kind, ours, pids, program, lib, functions)
        return f'{compare(kind, ours, perf_chains(path), pids, names)} frames'


def main(argv):
    prof, helpers, lib = (os.path.realpath(a) for a in argv[:3])
    if peers.lacks_root_or_perf():
        return 77
    checks = peers.Checks(2 * len(KINDS))
    names = kernel_names()
    for kind, program, arguments, functions, *more in KINDS:
        for options in ([], ['--order']):
            checks.check(' '.join([kind] + options), check, kind, prof, os.path.join(helpers, program), arguments, functions,
                         lib, options, names, more)
    return checks.code


if __name__ == '__main__':
    peers.run(main)
