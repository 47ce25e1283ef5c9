#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A second opinion on inlined functions and source lines, address by address: a C++ program,
written as DWARF 4 and 5, with code that the linker discarded, against `addr2line -if` and
`perf script`, without and with --inline. `test_inlines.py FRAMES_AT [ADDRESSES]`; 1,000 of each
program (300 for --inline), or as many as are asked for. A difference that EXPLAINED doesn't know
fails, and each is counted. Requires: g++, binutils; for perf's part perf that unwinds by DWARF."""
import bisect
import collections
import os
import platform
import random
import re
import shutil
import struct
import subprocess
import tempfile

import peers
from peers import Skip

SOURCE = """
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#ifdef MAIN
#include <regex>
#endif
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
namespace shop { template <class K, int N> struct Till {
  std::map<K, std::vector<int>> m; std::unordered_map<K, int> u;
  void pay(const K &k, int i) { m[k].push_back(i + N); u[k]++; }
  size_t sum() { size_t n = 0; for (auto &p : m) { std::sort(p.second.begin(), p.second.end(),
    [](int a, int b) { return a % 7 < b % 7; }); n += p.second.size(); } return n; } }; }
static int unused(int x) { std::map<int, short> m; m[x] = 1; return m.size(); }
int nobody_calls(int x) { return unused(x) + unused(x + 1); }
size_t WORK(int n) { shop::Till<std::string, 1> t; shop::Till<int, 2> q;
  for (int i = 0; i < n; i++) { t.pay(std::to_string(i * 7919 % 10007), i); q.pay(i % 97, i); }
  std::ostringstream o; o << t.sum() << q.sum();
#ifdef MAIN
  std::regex r("a(b|c)*d"); std::function<int(int)> f = [&](int x) { return std::regex_match(o.str(), r) + x; };
#else
  std::function<int(int)> f = [&](int x) { return o.str().size() + x; };
#endif
  std::vector<std::pair<std::string, int>> v; for (auto &p : t.u) v.push_back(p);
  std::stable_sort(v.begin(), v.end()); return f(1) + v.size(); }
#ifdef MAIN
size_t other(int);
int main() { size_t s = 0; for (int i = 0; i < 8; i++) s += WORK(60000) + other(60000); std::cout << s; }
#endif
"""
# title, version of DWARF, options of the linker. Compiling takes the longest: programs of one version are linked of
# the same objects, of which main.o has a section for each function.
WAYS = [
    ('DWARF 5', 5, []),
    ('DWARF 4', 4, []),
    ('discarded functions', 5, ['-Wl,--gc-sections']),
    ('discarded functions, DWARF 4, fixed address', 4, ['-no-pie', '-Wl,--gc-sections']),
]
EXPLAINED = {
    'same': 'the same chain, files and lines',
    'scope': 'it shows the bare name of a function that has no linkage name, or numbers lambdas',
    'symbol': 'it shows the ELF symbol for a function that has no linkage name',
    'none': 'no DWARF tells of it (padding, start files, PLT): the symbol, by symbol tables only',
    'block': 'binutils 2.40 finds no line for the last byte of 256',
    'file': 'binutils 2.40 names the unit\'s own file, which has fewer lines than that',
}


def run(command, folder=None, text=None, limit=500):
    done = subprocess.run(command, cwd=folder, input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors='surrogateescape', timeout=limit)
    if done.returncode:
        raise Skip(f'{command[0]}: {done.stderr[-300:]}')
    return done.stdout


def compiled(folder, version):
    """The objects, which are there the second time."""
    objects = []
    for name, options in (('main', ['-ffunction-sections', '-DMAIN', '-DWORK=work']), ('other', ['-DWORK=other', '-Dnobody_calls=nor'])):
        objects.append(f'{name}{version}.o')
        if not os.path.exists(os.path.join(folder, objects[-1])):
            run(['g++', '-O2', f'-gdwarf-{version}', '-fPIE', *options, '-c', '-o', objects[-1], 'program.cc'], folder)
    return objects


def build(folder, version, link_options):
    with open(os.path.join(folder, 'program.cc'), 'w') as f:
        f.write(SOURCE)
    pie = [] if '-no-pie' in link_options else ['-pie']
    run(['g++', *pie, *link_options, '-o', 'program', *compiled(folder, version)], folder)
    return os.path.join(folder, 'program')


def plain(text):
    """Names as we show them: without parameters and with the short names of the standard."""
    return run(['c++filt', '-p', '-i'], text=text)


def chains(text):
    """{address: [(name, file, line)]}, innermost first, of what addr2line -a -i -f prints."""
    found, here, lines = {}, None, iter(text.split('\n'))
    for line in lines:
        if re.fullmatch('0x[0-9a-f]+', line):
            here = found.setdefault(int(line, 16), [])
        elif line:
            file, _, number = next(lines).split(' (disc')[0].rpartition(':')
            here.append((line, os.path.normpath(file), number.replace('?', '0')))
    return found


class Symbols:
    """Which symbols are around an address."""

    def __init__(self, program):
        rows = collections.defaultdict(list)
        for line in plain(run(['nm', program])).splitlines():
            m = re.match('([0-9a-f]+) [tTwWiu] (.*)', line)
            if m:
                rows[int(m.group(1), 16)].append(re.sub(r' \[clone.*', '', m.group(2)))
        self.rows, self.starts = rows, sorted(rows)

    def at(self, address):
        i = bisect.bisect_right(self.starts, address)
        return self.rows[self.starts[i - 1]] if i else []


def base(name):
    return re.sub(r'( \[clone.*\]|\.(cold|part|isra|constprop|lto_priv)(\.\d+)?)+$', '', name)


def bare(name, theirs):
    """Their name, if ours is the same with its scope: "work::{lambda at cart.cc:12}" is their "operator()", or
    "work(int)::{lambda(int)#1}::operator()"."""
    named = re.fullmatch(r'(?:(.*)::)?{lambda at [^{}]*}', name)
    inner = re.search(r'(?:^|::){lambda\(.*\)#\d+}::operator\(\)', theirs)
    is_lambda = named and (theirs.startswith('operator()') or (inner and theirs.startswith(named[1] or '')))
    return theirs if is_lambda or name.endswith('::' + theirs) else name


def judge(address, mine, theirs, symbols):
    if mine == theirs:
        return 'same'
    if len(mine) == len(theirs):
        mine = [(bare(m[0], t[0]), *m[1:]) for m, t in zip(mine, theirs)]
    if mine == theirs:
        return 'scope'
    if theirs[0][1] == '??' and address & 0xff == 0xff:
        return 'block'
    if mine == [('??', '??', '0')] and len(theirs) == 1 and theirs[0][2] == '0':
        return 'none'
    if len(mine) != len(theirs):
        return 'DIFFERENT'
    named = symbols.at(address)
    if all(m == t or (m[0] == t[0] and m[2] == t[2] and t[1].endswith('/program.cc') and
                      int(t[2]) > SOURCE.count('\n')) for m, t in zip(mine, theirs)):
        return 'file'
    if [f[1:] for f in mine] != [f[1:] for f in theirs]:
        return 'DIFFERENT'
    for m, t in zip(mine, theirs):
        if m != t and not (t in (theirs[0], theirs[-1]) and base(t[0]) in [base(n) for n in named]):
            return 'DIFFERENT'
    return 'symbol'


def tell(counts, bad):
    text = ', '.join(f'{n} {kind}' for kind, n in counts.most_common())
    if bad:
        raise AssertionError(text + '\n' + '\n'.join(bad[:10]))
    return text


def against_addr2line(frames_at, program, count):
    some = ''.join(f'{a:x}\n' for a in instructions(program, count))
    mine = chains(plain(run([frames_at, program], text=some)))
    theirs = chains(plain(run(['addr2line', '-aif', '-e', program], text=some)))
    if mine != chains(plain(run([frames_at, '--apart', program], text=some))):
        raise AssertionError('the process without privilege says something else')
    symbols, counts, bad = Symbols(program), collections.Counter(), []
    for address, frames in mine.items():
        kind = judge(address, frames, theirs[address], symbols)
        counts[kind] += 1
        if kind not in EXPLAINED:
            bad.append(f'{address:#x}: {frames}\n  addr2line: {theirs[address]}\n  symbols: {symbols.at(address)}')
    if sum(counts.values()) < min(count, 1000) or counts['same'] + counts['scope'] < 0.9 * len(mine) or \
            sum(len(f) > 1 for f in mine.values()) < len(mine) // 3:
        raise AssertionError(f'too few to say anything: {counts}')
    if counts['none'] > len(mine) // 50:
        raise AssertionError(f'too much without DWARF: {counts}')
    return tell(counts, bad)


# ---- perf, on recordings that are made here ------------------------------------------------

BASE = 0x555500000000
IP, TID, TIME, CHAIN, REGS, STACK = 1, 2, 4, 1 << 5, 1 << 12, 1 << 13
X86_REGS, SP, REGS_IP = 0xff0fff, 7, 8


def record(kind, misc, body):
    return struct.pack('IHH', kind, misc, 8 + len(body)) + body


def text_of(word):
    return word.encode() + bytes(8 - len(word) % 8)


def mapping(program):
    """Its code, by its build id."""
    code = re.search(r'LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+) 0x\w+ R E', run(['readelf', '-lW', program]))
    ident = re.search(r'Build ID: (\w{40})$', run(['readelf', '-n', program]), re.M)
    if not ident:
        raise Skip('this linker writes no build ids')
    offset, address, size = (int(word, 16) & ~0xfff for word in code.groups())
    return record(10, 2 | 1 << 14, struct.pack('IIQQQ', 77, 77, BASE + address, size + 0x1000, offset) +
                  bytes([20, 0, 0, 0]) + bytes.fromhex(ident.group(1)) + struct.pack('II', 5, 2) + text_of(program))


def sample(address, time, chain):
    """With a chain: registers and an empty stack, so that perf unwinds it and finds this frame alone, for
    then only it shows inlined functions."""
    body = struct.pack('QIIQ', BASE + address, 77, 77, time)
    if chain:
        regs = [0] * 20
        regs[SP], regs[REGS_IP] = 0x7ffd00001000, BASE + address
        body += struct.pack('Q', 0) + struct.pack('Q20Q', 2, *regs) + struct.pack('QQQQ', 16, 0, 0, 16)
    return record(9, 2, body)


def make_recording(path, program, addresses, chain):
    what = IP | TID | TIME | (CHAIN | REGS | STACK if chain else 0)
    attr = struct.pack('IIQQQQQIIQQQQIiQIHHII', 1, 128, 0, 1000000, what, 0, 1 << 8 | 1 << 9 | 1 << 23, 0, 0, 0, 0, 0,
                       X86_REGS if chain else 0, 16 if chain else 0, 0, 0, 0, 0, 0, 0, 0) + bytes(8)
    data = record(3, 0, struct.pack('II', 77, 77) + text_of('program')) + mapping(program) + \
        b''.join(sample(a, 10 + i, chain) for i, a in enumerate(addresses))
    head = struct.pack('<8s8Q', b'PERFILE2', 104, 144, 104, 144, 248, len(data), 0, 0) + bytes(32)
    with open(path, 'wb') as f:
        f.write(head + attr + bytes(16) + data)


def instructions(program, count):
    code = re.findall(r'^ +([0-9a-f]+):', run(['objdump', '-d', '--no-show-raw-insn', '-j', '.text', program]), re.M)
    return [int(a, 16) for a in random.Random(7).sample(code, min(count, len(code)))]


def need_perf():
    if not shutil.which('perf') or platform.machine() != 'x86_64':
        raise Skip('needs perf on x86-64')


def symbols_of_perf(frames_at, program, folder, count):
    """Function and offset of each address, by `perf script` and by perf-prof, of one recording."""
    need_perf()
    data = os.path.join(folder, 'symbols.data')
    make_recording(data, program, instructions(program, count), chain=False)
    ours = os.path.join(os.path.dirname(frames_at), '../../perf-prof')
    mine = run([ours, 'script', '-F', 'ip,sym,symoff,dso', data]).splitlines()
    theirs = run(['perf', 'script', '-i', data, '-F', 'ip,sym,symoff,dso']).splitlines()
    different = [f'{m}\n  perf: {t}' for m, t in zip(mine, theirs) if m != t]
    if len(mine) != len(theirs) or len(mine) < min(count, 1000) or sum('[unknown]' in m for m in mine) > len(mine) // 20:
        raise AssertionError(f'{len(mine)} lines, of perf {len(theirs)}: {mine[:3]}')
    if different:
        raise AssertionError(f'{len(different)} of {len(mine)} differ\n' + '\n'.join(different[:10]))
    return f'{len(mine)} same'


def perf_chains(folder, program, count):
    """{address: names, innermost first}."""
    data = os.path.join(folder, 'perf.data')
    make_recording(data, program, instructions(program, count), chain=True)
    text = run(['perf', 'script', '-i', data, '-F', 'ip,sym,dso', '--inline'])
    found, inner, last = {}, [], None
    for line in text.splitlines():
        m = re.match(r'\s*([0-9a-f]+) (.*) \((\S+)\)$', line)
        if not m or m.group(1) != last:
            inner, last = [], m and m.group(1)
        if m:       # what was inlined into itself is not marked as such
            inner.append(m.group(2))
            found[int(last, 16)] = inner
    return found


def short(name):
    """perf's short names of the standard's classes, which it has in some places and not in others."""
    return re.sub(r'^std::basic_(\w+)<char, std::char_traits<char> >', r'std::\1', base(name))


def against_perf(frames_at, program, folder, count):
    need_perf()
    theirs = perf_chains(folder, program, count)
    mine = chains(plain(run([frames_at, program], text=''.join(f'{a:x}\n' for a in theirs))))
    symbols, counts, bad = Symbols(program), collections.Counter(), []
    for address, frames in mine.items():
        names = [short(f[0]) for f in frames]
        perf = [short(n) for n in theirs[address]]
        if len(names) == len(perf):
            names = [bare(n, p) for n, p in zip(names, perf)]
        named = [short(n) for n in symbols.at(address)]
        # of the function that isn't inlined we show the symbol, too; perf's inlined ones have parameters
        kind = 'none' if names == ['??'] else 'same' if len(names) == len(perf) and names[:-1] == perf[:-1] and perf[-1] in named else \
            'symbol' if len(names) == len(perf) and perf[0] in named + names and names[1:-1] == perf[1:-1] \
            else 'DIFFERENT'
        counts[kind] += 1
        if kind not in EXPLAINED:
            bad.append(f'{address:#x}: {names}\n  perf: {perf}\n  symbols: {named}')
    if len(mine) < 50 or counts['same'] < len(mine) // 2:
        raise AssertionError(f'too few to say anything: {counts}')
    return tell(counts, bad)


def main(argv):
    frames_at, count = os.path.realpath(argv[0]), int(argv[1]) if len(argv) > 1 else 1000
    for tool in ('g++', 'addr2line', 'c++filt', 'objdump', 'nm'):
        if not shutil.which(tool):
            print(f'1..0 # SKIP needs {tool}')
            return 77
    checks = peers.Checks(len(WAYS) + 2)
    # perf takes what begins with /tmp/perf- for maps of just-in-time compilers
    with tempfile.TemporaryDirectory(prefix='inlined-') as folder:
        for title, *way in WAYS:
            checks.check(title, lambda: against_addr2line(frames_at, build(folder, *way), count))
            if title != WAYS[0][0]:
                continue
            program = os.path.join(folder, 'program')
            checks.check('perf script', symbols_of_perf, frames_at, program, folder, count)
            # 4 ms an address
            checks.check('perf script --inline', against_perf, frames_at, program, folder, count if count >= 10000 else 300)
    for kind, why in EXPLAINED.items():
        print(f'# {kind}: {why}')
    return checks.code


if __name__ == '__main__':
    peers.run(main)
