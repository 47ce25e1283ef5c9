#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A second opinion on names: programs in C++, Rust and Go, and what they call, address by
address against `perf script`. Differences that are explained: another alias of the same
address, entries of PLTs, which are left without a name, and addresses behind a function's end.
Requires: root, perf that may record, and for each language its compiler."""
import collections
import os
import platform
import re
import shutil
import subprocess
import tempfile

import peers
from peers import Skip

CXX = """
#include <map>
#include <vector>
#include <string>
#include <iostream>
#include <algorithm>
#include <unordered_map>
namespace shop { template <class K> struct Till {
  std::map<K, std::vector<int>> m; std::unordered_map<K, int> u;
  void pay(const K &k, int i) { m[k].push_back(i); u[k]++; }
  void sum() { for (auto &p : m) std::sort(p.second.begin(), p.second.end(),
    [](int a, int b) { return a % 7 < b % 7; }); } }; }
int main() { shop::Till<std::string> t; for (int i = 0; i < 200000; i++)
  t.pay(std::to_string(i * 7919 % 10007), i); t.sum(); std::cout << t.m.size(); }
"""
RUST = """
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
fn main() { let mut m: HashMap<String, Vec<u64>> = HashMap::new(); let mut b = BTreeMap::new();
  for i in 0..300000u64 { let mut s = String::new(); write!(s, "{:x}", i * 7919 % 100003).unwrap();
    m.entry(s.clone()).or_default().push(i); *b.entry(s).or_insert(0u32) += 1; }
  let mut v: Vec<_> = m.into_iter().collect();
  v.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then(a.0.cmp(&b.0))); println!("{} {}", v.len(), b.len()); }
"""
GO = """
package main
import ("fmt"; "sort"; "strings")
type pair struct { k string; n int }
func main() { m := map[string]int{}; for i := 0; i < 600000; i++ { m[fmt.Sprintf("%x", i*7919%100003)]++ }
  var p []pair; for k, n := range m { p = append(p, pair{strings.ToUpper(k), n}) }
  sort.Slice(p, func(i, j int) bool { return p[i].k < p[j].k }); fmt.Println(len(p)) }
"""
# title, compiler, suffix, source, arguments, a name that has to be among those of the samples
ROWS = [
    ('C++', 'g++', 'cc', CXX, ['-O0', '-o', '{out}', '{src}'], r'^shop::Till<std::.*>::pay$'),
    ('C++, optimized and stripped', 'g++', 'cc', CXX, ['-O2', '-s', '-o', '{out}', '{src}'], None),
    ('Rust', 'rustc', 'rs', RUST, ['-Z', 'unstable-options', '-C', 'symbol-mangling-version=legacy', '-o', '{out}', '{src}'],
     r'^<?(core|alloc|std|hashbrown)::'),
    ('Rust, v0', 'rustc', 'rs', RUST,
     ['-O', '-C', 'symbol-mangling-version=v0', '-o', '{out}', '{src}'], r'^<?(core|alloc|std|hashbrown)::'),
    ('Go', 'go', 'go', GO, ['build', '-o', '{out}', '{src}'], r'^runtime\.'),
]


def build(folder, compiler, suffix, source, arguments):
    if not shutil.which(compiler):
        raise Skip(f'needs {compiler}')
    out, src = os.path.join(folder, 'program'), os.path.join(folder, 'program.' + suffix)
    with open(src, 'w') as f:
        f.write(source)
    env = dict(os.environ, GOCACHE=os.path.join(folder, 'cache'), GOFLAGS='-mod=mod', GO111MODULE='off',
               RUSTC_BOOTSTRAP='1')
    done = subprocess.run([compiler] + [a.format(out=out, src=src) for a in arguments], cwd=folder,
                          env=env, capture_output=True, text=True, timeout=200)
    if done.returncode:
        raise Skip(f'{compiler} can not build it: {done.stderr[-200:]}')
    return out


FEW, RECORDINGS = 30, 10


def samples(folder, program):
    """{(dso, offset): (symbol, offset in it)} by perf: of as many runs as it takes to meet some, since a busy kernel
    lowers its limit of samples."""
    rows = {}
    for _ in range(RECORDINGS):
        rows.update(samples_of_one_run(folder, program))
        if len(rows) >= 2 * FEW:
            break
    return rows


def samples_of_one_run(folder, program):
    data = os.path.join(folder, 'perf.data')
    done = subprocess.run(['perf', 'record', '-q', '-F', '5000', '-e', 'cpu-clock:u', '-g', '--no-buildid',
                           '-o', data, program], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, timeout=100)
    if done.returncode:
        raise Skip('perf record: ' + done.stderr[-200:])
    done = subprocess.run(['perf', 'script', '-i', data, '--no-inline', '-F', 'ip,sym,symoff,dso'],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=100)
    rows = {}
    for line in done.stdout.decode(errors='surrogateescape').splitlines():
        m = re.match(r'\s*([0-9a-f]+) (.*?)(?:\+0x([0-9a-f]+))? \((/.*)\)$', line)
        if m and ' ' not in m.group(4):
            rows[(m.group(4), int(m.group(1), 16))] = (m.group(2), int(m.group(3) or '0', 16))
    return rows


def ours(names_at, keys, *options):
    text = ''.join(f'{dso} {at:x}\n' for dso, at in keys)
    done = subprocess.run([names_at, *options], input=text, capture_output=True, text=True, check=True,
                          errors='surrogateescape', timeout=100)
    for line in done.stdout.splitlines():
        name, _, into = line.rpartition('+0x')
        named = name and not re.search(r'\+0x[0-9a-f]+$', name)     # a stripped file's functions: file and address
        yield (name, int(into, 16)) if named else ('[unknown]', 0)


BORDERS = '_init', '_fini', '_start'      # perf takes them to reach to the next symbol


def judge(mine, perfs):
    if mine == perfs:
        return 'same'
    if perfs[0] == '[unknown]':
        return 'perf has none'
    if mine[0] == '[unknown]':
        # stubs of calls that are resolved by a function (IFUNC) have no symbol
        return 'PLT' if perfs[0].endswith('@plt') and (perfs[0] == '@plt' or platform.machine() != 'x86_64') else \
            'behind its end' if perfs[0] in BORDERS else 'MISSING'
    if mine[0].endswith('@plt') and perfs[0] in BORDERS:
        return 'behind its end'      # perf has no stubs of some linkers
    return 'alias' if mine[1] == perfs[1] else 'WRONG'


def check(names_at, compiler, suffix, source, arguments, wanted):
    # perf takes what begins with /tmp/perf- for maps of just-in-time compilers
    with tempfile.TemporaryDirectory(prefix='languages-') as folder:
        rows = samples(folder, build(folder, compiler, suffix, source, arguments))
        keys = list(rows)
        found = list(ours(names_at, keys))
        if found != list(ours(names_at, keys, '--apart')):
            raise AssertionError('the process without privilege gives other names')
        counts, bad = collections.Counter(), []
        for key, mine in zip(keys, found):
            kind = judge(mine, rows[key])
            counts[kind] += 1
            if kind.isupper() and kind != 'PLT':
                bad.append(f'{key}: {mine}, by perf {rows[key]}')
        # behind a call that never returns perf names the next function
        if len(found) != len(keys) or len(keys) < FEW or len(bad) > len(keys) // 500:
            raise AssertionError(f'{dict(counts)}\n' + '\n'.join(bad[:20]))
        if wanted and not any(re.search(wanted, name) for name, _ in found):
            raise AssertionError(f'no {wanted} in {sorted({name for name, _ in found})[:20]}')
        return dict(counts)


def main(argv):
    names_at = os.path.realpath(argv[0])
    if peers.lacks_root_or_perf():
        return 77
    checks = peers.Checks(len(ROWS))
    for title, *row in ROWS:
        checks.check(title, check, names_at, *row)
    return checks.code


if __name__ == '__main__':
    peers.run(main)
