# SPDX-License-Identifier: Apache-2.0
"""--tree of profile, report and page-faults: the stacks of a profile as a call tree."""
import collections
import itertools
import json
import platform
import re
import subprocess

import pytest

pytestmark = [pytest.mark.live, pytest.mark.slow]

CALLS = '''
#define OWN __attribute__((noinline)) static
OWN void touch(volatile char *page, int n) { for (int i = 0; i < n; i++) page[i * 4096] = 1; page[0]++; }
OWN void again(volatile char *page, int n) { if (n) { touch(page, 2); again(page + 2 * 4096, n - 1); page[0]++; } }
OWN void one(volatile char *page) { again(page, 30); page[0]++; }
OWN void two(volatile char *page) { touch(page + 100 * 4096, 20); touch(page + 120 * 4096, 20); page[0]++; }
int main(void)
{
	volatile char *page = pages(500);
	one(page);
	two(page);
	return page[0] == 77;
}
'''


def tree_of(text):
    """[(total, self, depth, function)]"""
    lines = text.split('\ncall tree\n')[1].splitlines()
    assert lines.pop(0) == 'total%   self%  function'
    found = [re.fullmatch(r' *(\d+\.\d\d) +(?:(\d+\.\d\d)  ( *)(\S.*)|\.\.\. \d+ more)', line) for line in lines]
    rows = [row.groups() for row in itertools.takewhile(bool, found)]     # remarks may follow
    return [(float(total), float(own), len(indent), name.replace(' (recursive)', '')) for total, own, indent, name in rows if name]


def left_out(text):
    """(rows, share) that the tree says it leaves out."""
    found = re.search(r'^\.\.\. (\d+) more rows with less than \S+ %, ([\d.]+) % in all \(--than 0 shows all\)$', text, re.M)
    return (int(found[1]), float(found[2])) if found else (0, 0)


def paths_of(rows):
    """{(root, ..., function): (total, self)}"""
    path, paths = [], {}
    for total, own, depth, name in rows:
        path[depth:] = [name]
        assert len(path) == depth + 1
        paths[tuple(path)] = (total, own)
    return paths


def folded(prof, recording, tmp_path):
    """The same from the folded stacks: a function that calls itself is there once."""
    subprocess.run([prof, 'report', recording, '--flame-graph', tmp_path / 'x.folded'], check=True, capture_output=True, timeout=60)
    total, own, whole = collections.Counter(), collections.Counter(), 0
    for line in (tmp_path / 'x.folded').read_text().splitlines():
        if line.startswith('#'):
            continue
        names, weight = line.rsplit(' ', 1)
        path = names.split(';')
        path = [name for i, name in enumerate(path) if not i or name != path[i - 1]]
        for n in range(1, len(path) + 1):
            total[tuple(path[:n])] += int(weight)
        own[tuple(path)] += int(weight)
        whole += int(weight)
    return {path: (100 * n / whole, 100 * own[path] / whole) for path, n in total.items()}


def test_a_tree_has_each_function_below_its_caller(prof, once, analyse, tmp_path):
    recording = once(CALLS, '-O0')
    rows = tree_of(analyse('report', recording, '--tree', '--than', '0.01').text)
    paths = paths_of(rows)
    [main] = [path for path in paths if path[-1] == 'main']
    touched = {path[len(main):]: total for path, (total, _) in paths.items() if path[:len(main)] == main}
    page = touched[('one', 'again')] / 60                     # 60 pages below one(), 40 below two()
    assert touched[('two', 'touch')] == pytest.approx(40 * page, abs=0.05)
    assert touched[('one', 'again', 'touch')] == pytest.approx(60 * page, abs=0.05)
    assert touched[()] == pytest.approx(100 * page, rel=0.05)
    expected = {path: shares for path, shares in folded(prof, recording, tmp_path).items() if path[:len(main)] == main}
    assert expected.keys() == {path for path in paths if path[:len(main)] == main} and len(expected) > 4
    for path, shares in expected.items():
        assert paths[path] == pytest.approx(shares, abs=0.011), path
    for i, (total, _, depth, _) in enumerate(rows):           # the largest first
        following = next((row for row in rows[i + 1:] if row[2] <= depth), None)
        assert not following or following[2] < depth or following[0] <= total


def test_what_the_tree_leaves_out_is_counted(once, analyse):
    recording = once(CALLS, '-O0')
    text = analyse('report', recording, '--tree', '--than', '0').text
    everything = tree_of(text)
    assert left_out(text) == (0, 0) and ' more\n' not in text.split('call tree')[1]
    assert sum(own for _, own, _, _ in everything) == pytest.approx(100, abs=0.01 * len(everything))
    for than in None, 2, 10, 30:        # half a percent, unless something else is said
        text = analyse('report', recording, '--tree', *(['--than', than] if than else [])).text
        shown = tree_of(text)
        rows, share = left_out(text)
        assert min(total for total, *_ in shown) >= (than or 0.5) and shown[0][0] == 100
        assert len(shown) + rows == len(everything) >= len(shown) + bool(than)
        assert sum(own for _, own, _, _ in shown) + share == pytest.approx(100, abs=0.01 * len(shown))
    assert re.search(r'^ *[\d.]+ {10,}\.\.\. \d+ more$', analyse('report', recording, '--tree', '--than', '3').text, re.M)


RECURSION = '''
#define OWN __attribute__((noinline)) static
OWN void odd(volatile char *page, int n);
OWN void touch(volatile char *page) { *page = 1; }
OWN void even(volatile char *page, int n) { *page = 1; if (n) odd(page + 4096, n - 1); }
OWN void odd(volatile char *page, int n) { *page = 1; touch(page + 1000 * 4096); even(page + 4096, n - 1); }
int main(void)
{
	volatile char *page = pages(2000);
	even(page, 400);
	return page[0] == 77;
}
'''


def test_functions_that_call_each_other_have_one_row_each(once, analyse):
    recording = once(RECURSION, how='dwarf,24576')
    text = analyse('report', recording, '--tree', '--than', '0').text
    assert re.search(r'   even \(recursive\)$', text, re.M) and not re.search('(odd|touch|main) \\(recursive', text)
    rows = tree_of(text)
    paths = paths_of(rows)
    [main] = [path for path in paths if path[-1] == 'main']
    below = {path[len(main):]: shares for path, shares in paths.items() if path[:len(main)] == main and path != main}
    assert set(below) == {('even',), ('even', 'odd'), ('even', 'odd', 'touch')}
    fault = below['even', 'odd', 'touch'][0] / 200
    assert below['even', 'odd', 'touch'][1] == pytest.approx(200 * fault)
    assert below['even', 'odd'] == pytest.approx((400 * fault, 200 * fault), rel=0.05)         # the stack grows, too
    assert below['even',] == pytest.approx((601 * fault, 201 * fault), rel=0.05)
    for path, (total, own) in paths.items():
        calls = sum(shares[0] for other, shares in paths.items() if other[:-1] == path)
        assert own + calls == pytest.approx(total, abs=0.01 * len(rows)), path
    text = analyse('report', recording, '--tree', '--callers', 'touch').text
    assert [line.split()[1] for line in text.split('\ntotal%  function\n')[1].splitlines()[:4]] == ['touch', 'odd', 'even', 'main']


@pytest.mark.skipif(platform.machine() != 'x86_64', reason='needs x86-64')
@pytest.mark.parametrize('how', ['dwarf,1024', 'fp'])
def test_stacks_that_are_cut_off_are_below_one_row(once, analyse, how):
    path = once(RECURSION, how=how)
    text = analyse('report', path, '--tree', '--than', '0').text
    rows = tree_of(text)
    paths = paths_of(rows)
    assert [name for _, _, depth, name in rows if depth == 0] == ['job']
    [cut] = [path for path in paths if path[-1] == '[cut]']
    assert cut == ('job', '[cut]') and paths[cut][1] == 0
    assert not [path for path in paths if len(path) == 2 and path[1] in ('even', 'odd', 'touch')]
    assert [path for path in paths if path[-2:] == ('main', 'even') and '[cut]' not in path]
    said = float(re.search(r'^(\d+) % of the stacks (are cut off|lack)', text, re.M)[1])
    # rounded; a few more are cut off at a page that is not in memory, which is another line
    assert paths[cut][0] == pytest.approx(said, abs=1.5) and said > 30
    text = analyse('report', path, '--tree', '--callers', 'touch', '--than', '0').text
    assert re.search(r'^ *\d+\.\d\d +\[cut\]$', text, re.M)
    for option in ['--callees', 'even'], ['--tree', '--below', 'main']:
        assert '[cut]' not in analyse('report', path, *option).text


def test_the_callers_of_a_function_as_a_tree(once, analyse):
    text = analyse('report', once(CALLS, '-O0'), '--tree', '--callers', 'touch').text
    head, table = re.search(r'\ncallers of touch, ([\d.]+) %\ntotal%  function\n((?:.+\n)+)', text).groups()
    rows = re.findall(r'^ *(\d+\.\d\d)  ( *)(\S.*)$', table, re.M)
    assert rows[0] == (head, '', 'touch')
    again, two = [row for row in rows if len(row[1]) == 1]
    assert (again[2], two[2]) == ('again (recursive)', 'two') and 2 * float(again[0]) == pytest.approx(3 * float(two[0]), abs=0.05)
    assert rows[2][1:] == ('  ', 'one')


def callees_of(text, name):
    """(share, rows) of the tree that begins at the function."""
    share, rest = re.search(rf'\ncallees of {name}, ([\d.]+) %\n((?:.+\n)+)', text).groups()
    return float(share), tree_of('\ncall tree\n' + rest.partition('this name: ')[2].partition('\n')[2] if 'this name' in rest
                                 else '\ncall tree\n' + rest)


def test_the_callees_of_a_function(once, analyse):
    recording = once(CALLS, '-O0')
    share, rows = callees_of(analyse('report', recording, '--callees', 'two').text, 'two')
    assert [(depth, name) for _, _, depth, name in rows] == [(0, 'two'), (1, 'touch')] and rows[0][0] == share > rows[1][0] * 0.99
    whole = paths_of(tree_of(analyse('report', recording, '--tree', '--than', '0').text))
    share, rows = callees_of(analyse('report', recording, '--callees', 'one', '--than', '0').text, 'one')
    [one] = [path for path in whole if path[-1] == 'one']
    assert {one[:-1] + path: shares for path, shares in paths_of(rows).items()} == \
        {path: shares for path, shares in whole.items() if path[:len(one)] == one}
    text = analyse('report', recording, '--callees', 'again').text
    assert re.search(r'^ *\d+\.\d\d +\d+\.\d\d  again \(recursive\)$', text, re.M) and 'hottest stacks' not in text


def test_a_function_that_calls_nothing_since_it_is_not_there(once, analyse):
    recording = once(CALLS, '-O0')
    got = analyse('report', '--callees', 'tuoch', recording, code=1)
    assert '\ncallees of tuoch, 0.00 %\n' in got.text and 'call tree' not in got.text
    assert re.search(r'--callees tuoch: no sample of .* is in a function with this name; did you mean touch\?$', got.err, re.M)
    got = analyse('report', '--callees', 'one', '--callers', 'two', recording, code=2)
    assert 'report: --callers shows who calls a function, --callees what it calls: leave one of them out' in got.err


def test_frame_pointers_leave_out_some_callers(once, analyse):
    told = 'these callers are from frame pointers, which leave out the caller of a function that sets up no frame; record --call-graph'
    path = once(CALLS)
    assert told in analyse('report', path, '--tree').text and told in analyse('report', path, '--callers', 'touch').text
    assert told not in analyse('report', path).text
    text = analyse('report', once(CALLS, how='dwarf'), '--tree').text
    assert told not in text and [path for path in paths_of(tree_of(text)) if path[-3:] == ('main', 'two', 'touch')]


BARE = '''
void touch(volatile char *page, int n) { for (int i = 0; i < n; i++) page[i * 4096] = 1; }
void pass_on(volatile char *page, int n) { touch(page, n); page[0]++; }
'''
FRAMED = '''
#define OWN __attribute__((noinline)) static
void touch(volatile char *page, int n);
void pass_on(volatile char *page, int n);
OWN void three(volatile char *page) { touch(page, 90); page[0]++; }
OWN void outer(volatile char *page) { three(page); pass_on(page + 100 * 4096, 60); page[0]++; }
int main(void)
{
	volatile char *page = pages(500);
	outer(page);
	return page[0] == 77;
}
'''


@pytest.mark.skipif(platform.machine() != 'x86_64', reason='needs x86-64')
def test_callers_that_frame_pointers_leave_out_are_found(analyse, compiled, tmp_path):
    (tmp_path / 'bare.c').write_text(BARE)
    subprocess.run(['gcc', '-O1', '-g', '-fomit-frame-pointer', '-c', '-o', tmp_path / 'bare.o', tmp_path / 'bare.c'], check=True)
    job = compiled(FRAMED, tmp_path / 'bare.o')

    def paths(*how):
        got = analyse('profile', '-v', '-e', 'page-faults:u', '-c', '1', *how, '--flame-graph', tmp_path / 'f.folded',
                      '--', job, before=['env'])
        found = collections.Counter()
        for line in (tmp_path / 'f.folded').read_text().splitlines():
            path, _, count = line.partition('#')[0].rpartition(' ')
            found[tuple(name for name in path.split(';') if name in ('main', 'outer', 'three', 'pass_on', 'touch'))] += int(count or 0)
        return got, found
    got, found = paths('-g')
    assert 'frame pointers, as ' in got.err, got
    assert found['main', 'outer', 'three', 'touch'] == 90 and found['main', 'outer', 'pass_on', 'touch'] == 60, found
    _, alone = paths('--call-graph', 'fp')
    assert alone['main', 'outer', 'touch'] == 90, alone


def test_a_tree_needs_no_g(analyse, works, compiled):
    """Also of a command that is sampled now, and of page faults."""
    for command, work in ('profile', ('shares', 100)), ('page-faults', ('pages', 200)):
        rows = tree_of(analyse(command, '-q', '--tree', '--', works, *work).text)
        assert rows[0][2] == 0 and 'main' in [row[3] for row in rows if row[2] > 1]
    text = analyse('profile', '--samples', '--tree', '--callers', 'one_half', '--', works, 'shares', 100).text
    assert len(re.findall(r' profile: \d+ ', text)) > 5 and '\nhottest stacks' not in text and 'callers of one_half' in text
    share, rows = callees_of(analyse('page-faults', '-q', '--callees', 'two', '--', compiled(CALLS, '-O0')).text, 'two')
    assert [name for *_, name in rows] == ['two', 'touch'] and 0 < rows[0][0] == share < 100


def test_python_functions_as_a_tree(analyse, tmp_path):
    (tmp_path / 'job.py').write_text('def inner():\n    return sum(range(300000))\ndef outer():\n    for _ in range(150):\n'
                                     '        inner()\nouter()\n')
    paths = paths_of(tree_of(analyse('profile', '-q', '--python', '--tree', '--', '/usr/bin/python3', '-S', tmp_path / 'job.py').text))
    [inner] = [path for path in paths if path[-1].startswith('inner')]
    assert [name.split()[0] for name in inner[1:]] == ['<module>', 'outer', 'inner'] and paths[inner][0] > 50


def test_why_there_is_no_tree(prof, analyse, tmp_path):
    subprocess.run([prof, 'record', '-e', 'page-faults:u', '-c', '1', '-o', tmp_path / 'no.data', '--', 'true'], check=True,
                   capture_output=True, timeout=60)
    for option in ('--tree',), ('--callers', 'main'), ('--callees', 'main'):
        text = analyse('report', tmp_path / 'no.data', *option, code=len(option) - 1).text   # 1: the function was not found
        assert f'\n{option[0]} shows nothing: the samples have no call chains; record with -g\n' in text
        done = analyse('report', tmp_path / 'no.data', *option, '--json', code=2)
        assert f'report: {option[0]} prints text, and --json JSON: leave one of them out' in done.err
    assert json.loads(analyse('report', tmp_path / 'no.data', '--json').text)
