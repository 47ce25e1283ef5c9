# SPDX-License-Identifier: Apache-2.0
"""page-faults: as many as `perf stat` counts, where the program touched its pages."""
import mmap
import re

from frame.analyses import RING, Perf

import pytest

pytestmark = pytest.mark.live

PAGES = 700
PAGE = 4096


def test_as_many_as_perf_stat_counts(watch, waiting, perf, tmp_path):
    one = waiting('pages', PAGES)
    peer = Perf([perf, 'stat', '-x,', '-e', 'page-faults', '-p', one.pid], tmp_path)
    watcher = watch('page-faults', *RING, '-p', one.pid)
    one.go()
    one.finish()
    got = watcher.result()
    theirs = int(re.search(r'^(\d+),,page-faults', peer.finish(), re.M).group(1))
    assert sum(t['samples'] for t in got.lines if t['table'] == 'page-faults') == theirs >= PAGES
    # its mappings are those of before
    rows = [r for t in got.lines if t['table'] == 'page-fault ranges' for r in t['rows']]
    assert sum(r['faults'] for r in rows if r['mapping'] == '[anon]') >= PAGES
    assert not [r for r in rows if r['mapping'] == '[unknown]']


LINE = re.compile(r'^\S+ \S+ +works +\d+ \[\d+\] [\d.]+: +([0-9a-f]+) +([0-9a-f]+) (.*)$', re.M)


def test_known_addresses(analyse, works):
    got = analyse('page-faults', '--order', *RING, '--', works, 'pages', PAGES)
    first, last = (int(a, 16) for a in re.search(r'^pages (\w+) (\w+)$', got.text, re.M).groups())
    there = [(int(addr, 16), where) for addr, _, where in LINE.findall(got.text)
             if first <= int(addr, 16) <= last]
    assert [addr for addr, _ in there] == list(range(first, last + PAGE, PAGE))
    assert all(where.startswith('pages+0x') and where.endswith(f' ({works})') for _, where in there)


def test_ranges_and_functions(analyse, works):
    got = analyse('page-faults', '--json', *RING, '--', works, 'pages', PAGES)
    first, last = (int(a, 16) for a in re.search(r'^pages (\w+) (\w+)$', got.text, re.M).groups())
    ranges = [r for r in got.table('page-fault ranges')['rows'] if r['from'] <= last and r['to'] >= first]
    assert sum(r['faults'] for r in ranges) >= PAGES
    assert min(r['from'] for r in ranges) <= first and max(r['to'] for r in ranges) >= last
    assert {(r['pid'], r['comm']) for r in ranges} == {(got.pid, 'works')}
    hottest = got.table('page-faults')['rows'][0]
    assert hottest['function'] == 'pages' and hottest['self'] > 50 and hottest['dso'] == works


def test_registers_and_stack(analyse, works):
    got = analyse('page-faults', '-g', *RING, '--', works, 'pages', 20)
    first = re.search(r'^pages 0x(\w+) ', got.text, re.M).group(1)
    story = re.search(rf'^.*: +{first} .*\n((?: +.*\n)+)', got.text, re.M).group(1)
    assert 'pages+0x' in story and 'main+0x' in story
    assert re.search(r' ax 0x[0-9a-f]{16} ', story) or ' x0 0x' in story, story


def test_whole_stacks_by_unwind_tables(analyse, works):
    """Its tables name data mappings, too; code that is mapped over those of its file is found all the same."""
    got = analyse('page-faults', '-q', '--order', '--call-graph', 'dwarf', '--tree', '--than', '0', '--', works, 'pages', 60)
    path = []
    for indent, name in re.findall(r'^ *[\d.]+ +[\d.]+  ( *)(\S+)', got.text.split('\ncall tree\n')[1], re.M):
        path[len(indent):] = [name]
        if name == 'pages':
            break
    assert path[-2:] == ['main', 'pages'] and '_start' in path[1:-2] and len(path) > 4, got


def test_mappings_have_names(analyse):
    """Of a program that ends at once: what it maps is told by records alone."""
    got = analyse('page-faults', '--json', *RING, '--', '/usr/bin/python3', '-S', '-c',
                  'import mmap; x = mmap.mmap(-1, 8 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n'
                  'x.madvise(mmap.MADV_NOHUGEPAGE); x[:] = bytes(8 << 20); y = [bytearray(5000) for i in range(200)]')
    faults = {}
    for row in got.table('page-fault ranges')['rows']:
        if row['comm'].startswith('python'):
            faults[row['mapping']] = faults.get(row['mapping'], 0) + row['faults']
    assert faults['[anon]'] >= (8 << 20) // mmap.PAGESIZE and faults['[heap]'] > 100 and faults['[stack]'] > 0
    assert any('/python3' in name for name in faults) and any('/libc.so' in name for name in faults)
    assert faults.get('[unknown]', 0) < 20, faults
