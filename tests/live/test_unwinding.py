#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Callers by DWARF: `--call-graph dwarf` of perf-prof against what a program is known to call,
and chain by chain against `perf script` on the same recordings, of both recorders.
A difference that EXPLAINED doesn't know fails, and each is counted. `test_unwinding.py PERF_PROF
HELPERS`. Requires: root, tracefs, perf that unwinds; for some rows g++, and a Python."""
import collections
import hashlib
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import tempfile

import peers
from peers import Skip

from frame.trampolines import pythons

LIMIT = 400
TRIES = 4
CALLS = 20
KNOWN = ['inner', 'middle', 'outer', 'main']
CALL = 'syscalls:sys_enter_getppid'
CXX = """
#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <vector>
struct Tree { Tree *l = nullptr, *r = nullptr; int k; Tree(int k) : k(k) {}
  static Tree *put(Tree *t, int k) { if (!t) return new Tree(k);
    if (k < t->k) t->l = put(t->l, k); else t->r = put(t->r, k); return t; }
  static void free(Tree *t) { if (t) { free(t->l); free(t->r); delete t; } } };
void once() { std::map<std::string, std::vector<int>> m; size_t n = 0; std::regex r("1(2|3)*4");
  for (int i = 0; i < 60000; i++) m[std::to_string(i * 7919 % 10007)].push_back(i);
  for (auto &p : m) { std::sort(p.second.begin(), p.second.end(),
    [](int a, int b) { return a % 7 < b % 7; }); for (int i = 0; i < 60; i++) n += std::regex_search(p.first, r); }
  for (int i = 0; i < 1000; i++) { Tree *t = nullptr; for (int k = 0; k < 4000; k++) t = Tree::put(t, k * 7919 % 4001);
    Tree::free(t); }
  try { throw n; } catch (size_t x) { std::cout << x; } }
int main(int argc, char **argv) { for (int i = argc > 1 ? std::stoi(argv[1]) : 1; i; i--) once(); }
"""
HOLLOW = """
#include <sys/syscall.h>
#include <unistd.h>
long __attribute__((noinline)) leaf() { return syscall(SYS_getppid) + 1; }
long __attribute__((noinline)) hollow() { char room[1 << 18]; asm volatile("" : : "r"(room)); return leaf() + 1; }
int main() { long n = 0; for (int i = 0; i < 20; i++) n += hollow(); return n < 0; }
"""
SCRIPT = """
import json, sys
def __sample__(e):
    chain = e.get('_callchain', e.get('callchain')) or ()
    print(json.dumps([e._tid, e._time, [[f['addr'], f['symbol'], f['offset'], f['dso']] for f in chain]]))
"""
EXPLAINED = {
    'same': 'the same frames',
    'perf ends early': 'perf finds no further caller: none at all in programs at a fixed address',
    'perf strays': 'perf takes an address in the stack for a caller, where we come to _start',
}


class PerfDied(Exception):
    """Of a recording beside another one that asks for build ids: kernels mark the mappings of the first, too, as
    bearing build ids, and perf 6.1 takes what it finds there for the length of one (`stack smashing`)."""


def run(argv, folder=None, **more):
    done = subprocess.run([str(a) for a in argv], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors='surrogateescape', timeout=LIMIT, stdin=subprocess.DEVNULL, **more)
    if done.returncode == -signal.SIGABRT and argv[0] == 'perf':
        raise PerfDied(f'{argv[:2]}: {done.stderr[-500:]}')
    if done.returncode:
        raise AssertionError(f'{argv[:2]}: exit code {done.returncode}: {done.stderr[-500:]}')
    return done


def expect(held, what):
    if not held:
        raise AssertionError(what)


# ---- known stacks ----------------------------------------------------------------------

def stacks(text):
    """Of `trace -g`: functions, innermost first."""
    found = []
    for line in text.splitlines():
        frame = re.match(r'    [0-9a-f]{16} (\S+?)(?:\+0x[0-9a-f]+)? \(', line)
        if frame and found:
            found[-1].append(frame.group(1))
        elif CALL in line:
            found.append([])
    return found


def known(prof, helpers, *options):
    """What trace says of each of the calls that callers_bare makes, which keeps no frame pointer."""
    got = run([prof, 'trace', '-e', CALL, *options, '--no-kernel-callchain', '--',
               os.path.join(helpers, 'callers_bare'), '--depth', 5, CALLS])
    expect(not got.stderr, got.stderr)
    found = stacks(got.stdout)
    expect(len(found) == CALLS, f'{len(found)} calls of {CALLS}')
    return found


def check_cut(prof, helpers):
    """Stacks that end where the sample's bytes do are reported, with a size that helps."""
    said = {size: run([prof, 'trace', '-v', '-e', CALL, '--call-graph', f'dwarf,{size}', '--',
                       os.path.join(helpers, 'callers_bare'), '--depth', 5, CALLS]).stderr for size in (64, 8192)}
    expect('100 % of the stacks are cut off: their programs use more than 64 bytes of stack; '
           '--call-graph dwarf,256 copies more' in said[64], said[64])
    expect('cut off' not in said[8192], said[8192])


def check_known(prof, helpers, folder):
    whole = KNOWN[:-1] + ['deep'] * 5 + ['main']
    for options in (['--call-graph', 'dwarf'], ['-g']):   # which finds that the program has no frame pointers
        for stack in known(prof, helpers, *options):
            expect(stack[:len(whole)] == whole, stack)
        expect(stack[-1] == '_start' and len(stack) <= len(whole) + 3, stack)
    for stack in known(prof, helpers, '--call-graph', 'fp'):
        expect('deep' not in stack, stack)
    short = known(prof, helpers, '--call-graph=dwarf,64')
    expect(all(whole[:len(s)] == s and len(s) < len(whole) for s in short), short)
    check_cut(prof, helpers)
    return f'{len(whole)} frames of {CALLS} calls; {len(known(prof, helpers, "--call-graph", "fp")[0])} by frame pointers'


# ---- against perf ------------------------------------------------------------------------

def perf_chains(data):
    """(tid, time) -> [(offset in the page, symbol, offset in it, dso)]"""
    text = run(['perf', 'script', '-f', '-i', data, '--ns', '--no-inline', '-F', 'tid,time,ip,sym,symoff,dso']).stdout
    chains = {}
    for line in text.splitlines():
        head = re.match(r'\s*(\d+)\s+(\d+)\.(\d+):\s*$', line)
        frame = re.match(r'\s*([0-9a-f]+) (.*?)(?:\+0x([0-9a-f]+))? \((.*)\)$', line)
        if head:
            tid, seconds, ns = map(int, head.groups())
            frames = chains[(tid, seconds * 10**9 + ns)] = []
        elif frame:
            addr, symbol, offset, dso = frame.groups()
            if int(addr, 16) != 2**64 - 1:      # its mark where the copied stack ends
                frames.append((int(addr, 16), symbol, int(offset or '0', 16), dso))
    return chains


def our_chains(prof, data, folder):
    with open(os.path.join(folder, 'chains.py'), 'w') as f:
        f.write(SCRIPT)
    got = run([prof, 'python', '-I', data, 'chains.py'], folder)
    return {(tid, time): [tuple(f) for f in chain]
            for tid, time, chain in map(json.loads, got.stdout.splitlines()[1:])}


def same_frame(mine, his):
    """perf tells callers by the byte before the address that the call returns to."""
    return any((mine[0] - back) % 4096 == his[0] % 4096 for back in (0, 1))


def judge(mine, his):
    n = sum(1 for a in mine if a[0] >> 63)     # the kernel's part
    if n != sum(1 for b in his if b[0] >> 63):
        return 'KERNEL'
    mine, his = mine[n:], his[n:]
    at = next((i for i, (a, b) in enumerate(zip(mine, his)) if not same_frame(a, b)), None)
    if at is not None and his[at][3] in ('[stack]', '[heap]') and mine[-1][1] == '_start':
        return 'perf strays'
    if at is not None:
        return 'OTHER'
    if len(mine) == len(his):
        return 'same'
    return 'perf ends early' if len(mine) > len(his) else 'WE END EARLY'


def compare(prof, data, folder, least, show=8, ends=0.02):
    """`ends`: the part of the chains that perf may end early."""
    mine, his = our_chains(prof, data, folder), perf_chains(data)
    expect(set(mine) == set(his), f'{len(mine)} samples, by perf {len(his)}')
    expect(len(mine) >= least, f'{len(mine)} samples')
    counts, bad = collections.Counter(), []
    for key, chain in mine.items():
        kind = judge(chain, his[key])
        counts[kind] += 1
        if kind not in EXPLAINED:
            bad.append(f'{kind} {key}:\n  {list_of(chain)}\n  {list_of(his[key])}')
    frames = sum(len(c) for c in mine.values())
    expect(not bad, f'{dict(counts)} of {frames} frames\n' + '\n'.join(bad[:show]))
    expect(counts['perf ends early'] + counts['perf strays'] <= ends * len(mine), f'{dict(counts)} of {frames} frames')
    return f'{dict(counts)}, {frames} frames'


def list_of(chain):
    return ' < '.join(f'{f[1]}+{f[2]:x} ({os.path.basename(f[3])} {f[0]:x})' for f in chain)


def build(folder, *options, source=CXX):
    """Where a program lies that was compiled once: it takes longer than the rest of a check."""
    if not shutil.which('g++'):
        raise Skip('needs g++')
    key = hashlib.sha256('\0'.join([*options, source]).encode()).hexdigest()[:16]
    kept = os.path.join(os.path.dirname(folder), key)
    if not os.path.exists(kept):
        with open(os.path.join(folder, 'program.cc'), 'w') as f:
            f.write(source)
        run(['g++', *options, '-o', kept + '.new', 'program.cc'], folder)
        os.rename(kept + '.new', kept)
    return shutil.copy(kept, os.path.join(folder, 'program'))


def perf_record(folder, *words):
    data = os.path.join(folder, 'perf.data')
    done = subprocess.run(['perf', 'record', '-q', '--no-buildid', '-m', '16M', '-o', data, *map(str, words)],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=LIMIT)
    if done.returncode:
        raise Skip('perf record: ' + done.stderr[-200:])
    return data


def of_perf(prof, helpers, folder, options, size='8192', event='cpu-clock:u', ends=0.02):
    data = perf_record(folder, '-F', 997, '-e', event, '--call-graph', f'dwarf,{size}', '--',
                       build(folder, *options))
    return compare(prof, data, folder, 200, ends=ends)


def check_hollow(prof, helpers, folder):
    """A page of the stack that nobody has written is in no memory: the kernel's copy ends before it."""
    program = build(folder, '-O2', '-fomit-frame-pointer', '-fno-stack-clash-protection', source=HOLLOW)
    said = run([prof, 'trace', '-v', '-e', CALL, '--call-graph', 'dwarf', '--', program]).stderr
    expect('100 % of the stacks are cut off at a page that is not in memory' in said, said)
    return 'said'


def check_calls(prof, helpers, folder):
    data = perf_record(folder, '-e', CALL, '--call-graph', 'dwarf', '--',
                       os.path.join(helpers, 'callers_bare'), '--depth', 40, CALLS)
    return compare(prof, data, folder, CALLS)


def check_library(prof, helpers, folder):
    data = perf_record(folder, '-e', CALL, '--call-graph', 'dwarf', '--', os.path.join(helpers, 'callers'),
                       '--lib', os.path.join(helpers, 'libcallers_lib.so'), CALLS)
    return compare(prof, data, folder, CALLS)


def check_ours(prof, helpers, folder):
    """What we record perf reads, report and script."""
    data, program = os.path.join(folder, 'ours.data'), build(folder, '-O2')
    run([prof, 'record', '-F', 997, '--call-graph', 'dwarf', '-o', data, '--', program], folder)
    said = compare(prof, data, folder, 200)
    text = run(['perf', 'report', '-f', '-i', data, '--stdio', '--no-children', '-g', 'folded,0,caller']).stdout
    parts = [(float(part), chain.split(';')) for part, chain in re.findall(r'^([\d.]+)% (\S.*)$', text, re.M)]
    below_main = sum(part for part, chain in parts if 'main' in chain and chain[0] == '_start')
    expect(below_main > 80, text[:1500])
    return said


# ---- CPython ------------------------------------------------------------------------------

PYTHON = """
import time
def leaf(n):
    return sum(i * i % 7 for i in range(n)) + len([i for i in range(n)])
def middle(n):
    return leaf(n) + 1
class Shop:
    def outer(self, n):
        return middle(n) + 1
end = time.process_time() + 1.5
while time.process_time() < end:
    Shop().outer(20000)
"""


def python_stacks(prof, python, folder, *options):
    """(functions of Python, outermost first; samples) of each stack of program.py."""
    run([prof, 'profile', '-q', '-F', 997, *options, '--full', '--no-inline', '--flame-graph', 'out.folded', '--',
         python, '-X', 'perf', 'program.py'], folder)
    with open(os.path.join(folder, 'out.folded')) as f:
        rows = [line.rstrip('\n').rsplit(' ', 1) for line in f if not line.startswith('#')]
    return [([name for name in stack.split(';') if name.startswith('py::')], int(n)) for stack, n in rows]


def check_python(prof, helpers, folder):
    if platform.machine() != 'x86_64':
        raise Skip('elsewhere trampolines keep frame pointers')
    if not pythons():
        raise Skip('needs a Python of 3.12 or later with perf trampolines')
    with open(os.path.join(folder, 'program.py'), 'w') as f:
        f.write(PYTHON)
    path = os.path.join(folder, 'program.py')
    above = [f'py::{name}:{path}' for name in ('<module>', 'Shop.outer', 'middle', 'leaf')]
    said = []
    for version, python in pythons().items():
        stacks = python_stacks(prof, python, folder, '--call-graph', 'dwarf')
        leaves = [(stack, n) for stack, n in stacks if any(name.startswith('py::leaf') for name in stack)]
        total, right = sum(n for _, n in stacks), sum(n for stack, n in leaves if stack[:4] == above)
        expect(right > 0.8 * total, f'{version}: {right} of {total}; {[s for s, _ in leaves if s[:4] != above][:5]}')
        others = [row for row in leaves if row[0][:4] != above]
        # what runs in the first 10 ms behind a look at the perf map, which tells trampolines: nothing leads on from one
        # that isn't in it yet
        expect(sum(n for _, n in others) <= 0.02 * total, f'{version}: {others[:5]} of {total}')
        bare = sum(n for stack, n in python_stacks(prof, python, folder, '--call-graph', 'fp') if stack[:4] == above)
        said.append(f'{version}: {100 * right / total:.0f} % of the samples, {100 * bare / total:.0f} % by frame pointers')
    return '; '.join(said)


ROWS = [
    ('a program without frame pointers', check_known),
    ('a stack with a page that nobody has written', check_hollow),
    ('perf record of its calls', check_calls),
    ('perf record of a library by dlopen', check_library),
    ('perf record of C++', lambda *a: of_perf(*a, ['-O2'])),
    ('perf record of C++, not optimized', lambda *a: of_perf(*a, ['-O0'])),
    ('perf record of C++, static', lambda *a: of_perf(*a, ['-O2', '-static'], ends=1)),
    ('perf record of C++, little of the stack', lambda *a: of_perf(*a, ['-O2'], '512', ends=0.05)),
    ('perf record of C++, kernel and user', lambda *a: of_perf(*a, ['-O2'], event='cpu-clock')),
    ('perf-prof record of C++', check_ours),
    ('Python functions through interpreters without frame pointers', check_python),
]


def checked(check, prof, helpers, folder):
    for _ in range(TRIES):
        try:
            return check(prof, helpers, folder)
        except PerfDied as died:
            reason = died
    raise Skip(f'{TRIES} times: {reason}')


def main(argv):
    prof, helpers = (os.path.realpath(a) for a in argv[:2])
    only = argv[2] if len(argv) > 2 else ''
    if peers.lacks_root_or_perf():
        return 77
    checks = peers.Checks(sum(only in title for title, _ in ROWS))
    # perf takes what begins with /tmp/perf- for maps of just-in-time compilers
    with tempfile.TemporaryDirectory(prefix='unwinding-') as shared:
        for title, check in ROWS:
            if only in title:
                with tempfile.TemporaryDirectory(dir=shared) as folder:
                    checks.check(title, checked, check, prof, helpers, folder)
    return checks.code


if __name__ == '__main__':
    peers.run(main)
