# SPDX-License-Identifier: Apache-2.0
"""report: a section for each event, a column for each member of a group; the sums are perf's."""
import collections
import glob
import json
import os
import re
import struct
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SEVERAL = ['cpu-clock', 'page-faults', 'context-switches', 'task-clock', 'emulation-faults']
GROUP = ['cpu-clock', 'page-faults', 'context-switches']
GROUPS = sorted(glob.glob(os.path.join(ROOT, 'tests/data/perfdata/*group.data')))
INSTRUCTIONS, CYCLES = (0, 1), (0, 0)       # type and config


@pytest.fixture
def tables(analyse):
    """Those of `report --json`, in order."""
    return lambda *args: analyse('report', '--json', *args, before=['env']).lines


def recorded(perf, works, path, events, *work):
    with open('/proc/sys/kernel/perf_event_max_sample_rate', encoding='ascii') as file:
        rate = min(400, int(file.read()) // 2)      # the kernel may lower it further
    subprocess.run([perf, 'record', '-q', '-F', str(rate), '-g', '-e', events, '-o', path, '--', works, *map(str, work)],
                   check=True, stdout=subprocess.DEVNULL, timeout=60)
    return path


def of_perf_script(perf, path):
    """{event: [samples, the sum of their periods]}"""
    text = subprocess.run([perf, 'script', '-f', '-i', path, '-F', 'event,period'], capture_output=True, text=True,
                          timeout=60).stdout
    sums = collections.defaultdict(lambda: [0, 0])
    for period, event in re.findall(r'^ *(\d+) +(\S+?): *$', text, re.M):
        sums[event][0] += 1
        sums[event][1] += int(period)
    assert sums
    return sums


def of_perf_report(perf, path, *options):
    """Lines of parts and a function."""
    text = subprocess.run([perf, 'report', '-f', '-i', path, '--stdio', '--no-children', '-g', 'none', '-F', 'overhead,sym',
                           '--percentage', 'relative', '--no-inline', *options], capture_output=True, text=True, timeout=60).stdout
    return text


def sections(text):
    """{event: {function: part}}, as perf report prints them."""
    found = {}
    for event, rows in re.findall(r"^# Samples: \S+ +of event '(\S+?)'\n((?:#.*\n)*(?:\n| .*\n)*)", text, re.M):
        found[event] = {name: float(part) for part, name in re.findall(r'^ +([\d.]+)% +\[[.k]\] +(\S+)', rows, re.M)}
    return found


def test_a_section_for_each_event_as_perf_report_has_it(perf, works, tmp_path, tables):
    path = recorded(perf, works, tmp_path / 'm.data', ','.join(SEVERAL), 'turns')
    got = tables(path, '--no-inline')
    theirs, counts = sections(of_perf_report(perf, path)), of_perf_script(perf, path)
    assert [t['event'] for t in got] == SEVERAL
    for table in got:
        event = table['event']
        assert [table['samples'], table['weight']] == counts.get(event, [0, 0])
        rows = {r['function']: r for r in table['rows']}
        assert sum(r['count'] for r in rows.values()) == table['weight']
        for name, part in theirs.get(event, {}).items():
            if name in rows and part > 10:       # of one name there may be several
                assert rows[name]['self'] == pytest.approx(part, abs=0.02), (event, name)
    assert got[0]['samples'] > 20 and got[2]['samples'] > 20 and got[4]['samples'] == 0


INLINING = '''
#include <time.h>
static unsigned long sink;
static inline __attribute__((always_inline)) unsigned long rotate(unsigned long x) { return x << 7 | x >> 57; }
__attribute__((noinline)) void mixes(unsigned long n) { while (n--) { sink ^= rotate(sink + n); sink ^= rotate(sink * 3); } }
__attribute__((noinline)) void adds(unsigned long n) { while (n--) sink += n; }
int main(void)
{
	for (clock_t end = clock() + CLOCKS_PER_SEC * 4 / 10; clock() < end;) {
		mixes(200000);
		adds(200000);
	}
}
'''


def test_inlined_functions_are_part_of_their_row_as_perf_has_it(perf, analyse, tables, tmp_path):
    (tmp_path / 'mix.c').write_text(INLINING)
    subprocess.run(['gcc', '-O1', '-g', '-fno-omit-frame-pointer', '-o', tmp_path / 'mix', tmp_path / 'mix.c'], check=True)
    path = recorded(perf, tmp_path / 'mix', tmp_path / 'i.data', 'cpu-clock')
    [theirs] = sections(of_perf_report(perf, path)).values()
    [table], [apart] = tables(path), tables(path, '--inline-rows')
    rows, alone = ({r['function']: r for r in t['rows']} for t in (table, apart))
    for name in ('mixes', 'adds'):
        assert rows[name]['self'] == pytest.approx(theirs[name], abs=0.02)
    [part] = rows['mixes']['inlined']
    assert part['function'] == 'rotate' and part['count'] > 0
    assert alone['rotate']['self'] == part['self']
    assert alone['mixes']['self'] == pytest.approx(rows['mixes']['self'] - part['self'])
    assert not any('inlined' in r for r in alone.values()) and 'rotate' not in rows and 'inlined' not in rows['adds']
    assert sum(r['count'] for r in rows.values()) == sum(r['count'] for r in alone.values()) == table['weight']
    text = analyse('report', path, before=['env']).text
    assert re.search(r'^ *[\d.]+ +[\d.]+  mixes .*\n *%.2f +%.2f      rotate \(inlined\)$' % (part['self'], part['total']), text, re.M)


def test_text_names_each_event_with_its_count(perf, works, tmp_path, analyse):
    path = recorded(perf, works, tmp_path / 'm.data', ','.join(SEVERAL), 'turns')
    counts = of_perf_script(perf, path)
    text = analyse('report', path, before=['env']).text
    found = re.findall(r'report: (\d+) samples of (\S+), \d+ Hz, 0 lost; (?:counted (\d+)|(\d+) ms of CPU time)$', text, re.M)
    counts = {event: (n, sum_) for event, (n, sum_) in counts.items()}
    for (n, event, sum_, ms), wanted in zip(found, SEVERAL, strict=True):
        count = counts.get(wanted, (0, 0))
        assert (event, int(n), bool(ms)) == (wanted, count[0], wanted.endswith('-clock'))
        assert int(sum_) == count[1] if sum_ else abs(int(ms) - count[1] / 1e6) <= 0.5


def test_events_are_chosen_by_name(perf, works, tmp_path, tables, analyse):
    path = recorded(perf, works, tmp_path / 'm.data', ','.join(SEVERAL), 'turns')
    assert [t['event'] for t in tables(path, '-e', 'page-faults')] == ['page-faults']
    assert [t['event'] for t in tables(path, '-e', 'task-clock,page-faults')] == ['task-clock', 'page-faults']
    bad = analyse('report', path, '-e', 'cycles', code=2)
    assert 'cpu-clock' in bad.err and 'page-faults' in bad.err


def test_a_picture_says_of_which_event_it_is(perf, works, tmp_path, analyse):
    path = recorded(perf, works, tmp_path / 'm.data', 'page-faults,cpu-clock', 'pages', 40000)
    first = analyse('report', path, '-v', '--flame-graph', 'a.svg', before=['env'])
    assert 'a.svg shows page-faults, the first of 2 events; -e EVENT chooses another' in first.err
    chosen = analyse('report', path, '-v', '-e', 'cpu-clock', '--flame-graph', 'b.svg', before=['env'])
    assert '-e EVENT' not in chosen.err
    assert ': page-faults<' in (tmp_path / 'a.svg').read_text() and ': cpu-clock<' in (tmp_path / 'b.svg').read_text()
    profile = analyse('profile', '-v', '-I', path, before=['env'])
    assert 'samples of cpu-clock' in profile.text and 'profile is of cpu-clock, one of 2 events' in profile.err


@pytest.mark.parametrize('to', ['folded', 'speedscope', 'firefox'])
def test_other_formats_say_of_which_event_they_are(perf, works, tmp_path, analyse, to):
    path = recorded(perf, works, tmp_path / 'm.data', 'page-faults,cpu-clock', 'pages', 40000)
    hint = f'--to {to} converts page-faults, the first of 2 events; -e EVENT chooses another'
    # what is converted may go to standard output: nothing is said there, and without -v nothing at all
    assert hint in analyse('convert', '-v', '--to', to, path, '-o', 'out', before=['env']).err
    assert '-e EVENT' not in analyse('convert', '-v', '--to', to, '-e', 'cpu-clock', path, '-o', 'out', before=['env']).err


# ---- groups ------------------------------------------------------------------------------


def check_group(table, counts, events):
    assert table['event'] == events[0] and [*table['counts']] == events
    assert [*table['counts'].values()] == [counts[e][1] for e in events]
    assert table['samples'] == counts[events[0]][0]
    if table['rows']:
        assert sum(r['count'] for r in table['rows']) == table['weight']


def test_members_are_columns_with_perfs_sums(perf, works, tmp_path, tables):
    path = recorded(perf, works, tmp_path / 'g.data', '{%s}:S' % ','.join(GROUP), 'shares', 500)
    [table] = tables(path, '--no-inline')
    check_group(table, of_perf_script(perf, path), GROUP)
    for word in ('page_faults', 'context_switches'):
        event = word.replace('_', '-')
        assert sum(r[word + '_count'] for r in table['rows']) == table['counts'][event]
        assert sum(r[word] for r in table['rows']) == pytest.approx(100 if table['counts'][event] else 0, abs=0.01)
    assert table['counts']['page-faults'] > 0       # who has a CPU for himself is not switched
    rows = {r['function']: r for r in table['rows']}
    theirs = re.findall(r'^ +([\d.]+)% +([\d.]+)% +([\d.]+)% +\[[.k]\] +(\S+)', of_perf_report(perf, path, '--group'), re.M)
    assert len(theirs) >= 3     # the three functions at least
    for *parts, name in theirs:
        if float(parts[0]) > 10:
            assert [rows[name][k] for k in ('self', 'page_faults', 'context_switches')] == \
                [pytest.approx(float(p), abs=0.02) for p in parts]


def test_one_member_alone(perf, works, tmp_path, tables):
    path = recorded(perf, works, tmp_path / 'g.data', '{%s}:S' % ','.join(GROUP), 'pages', 40000)
    [both] = tables(path)
    [table] = tables(path, '-e', 'page-faults')
    assert table['event'] == 'page-faults' and table['weight'] == both['counts']['page-faults'] > 1000
    assert sum(r['count'] for r in table['rows']) == table['weight'] and 'counts' not in table


@pytest.mark.parametrize('path', GROUPS, ids=os.path.basename)
def test_groups_of_other_kernels_and_machines(tables, path):
    """Against what the perf that recorded it said of each sample."""
    got = [t for t in tables(path) if 'counts' in t]
    with open(path[:-4] + 'script', encoding='utf-8', errors='replace') as file:
        words = file.read()
    assert got
    for table in got:
        for event, count in table['counts'].items():
            periods = re.findall(rf'[: ] *(\d+) +{re.escape(event)}:', words)
            assert periods and sum(map(int, periods)) == count, event


def changed(path, out, *attrs, user=False):
    """The recording as if these were its events' types and configs."""
    data = path.read_bytes()
    size, at = struct.unpack_from('<QQ', data, 16)
    for i, (kind, config) in enumerate(attrs):
        old = data[at + i * size:at + (i + 1) * size - 16]
        new = bytearray(old)
        struct.pack_into('<I', new, 0, kind)
        struct.pack_into('<Q', new, 8, config)
        if user:
            new[40] |= 1 << 5                   # exclude_kernel
        assert data.count(old) >= 1
        data = data.replace(old, bytes(new))
    out.write_bytes(data)
    return out


def test_known_pairs_have_a_ratio(perf, works, tmp_path, tables, analyse):
    """As no machine has to have cycles: a recording of other events, which is told that they are those."""
    path = recorded(perf, works, tmp_path / 'g.data', '{cpu-clock,page-faults}:S', 'pages', 40000)
    assert 'insn_per_cycle' not in json.dumps(tables(path))
    [table] = tables(changed(path, tmp_path / 'ipc.data', CYCLES, INSTRUCTIONS))
    [other] = [c for c in table['columns'] if c['name'].endswith('_count')]
    rows = [r for r in table['rows'] if r['count']]
    assert rows
    for row in rows:
        assert row['insn_per_cycle'] == pytest.approx(row[other['name']] / row['count'])
    assert 'insn_per_cycle' not in next((r for r in table['rows'] if not r['count']), {})
    text = analyse('report', tmp_path / 'ipc.data', before=['env']).text
    assert re.search(r'^ *self% +total% +\S+% +insn per cycle +function +dso$', text, re.M)


def test_kernel_rows_of_a_users_event_are_explained(perf, works, tmp_path, tables, analyse):
    path = recorded(perf, works, tmp_path / 'k.data', 'cpu-clock', 'pages', 40000)
    kernel = sum(r['count'] for r in tables(path)[0]['rows'] if r['dso'] == '[kernel.kallsyms]')
    assert kernel and 'skid' not in tables(path)[0] and 'skid' not in analyse('report', path, before=['env']).text
    changed(path, tmp_path / 'u.data', CYCLES, user=True)
    [table] = tables(tmp_path / 'u.data')
    [live] = analyse('profile', '--json', '-I', tmp_path / 'u.data', before=['env']).lines
    assert live['skid'] == table['skid']
    assert 0 < table['skid'] <= table['samples']
    text = analyse('report', tmp_path / 'u.data', before=['env']).text
    assert re.search(rf"^{table['skid']} of {table['samples']} samples are in the kernel, though \S+ counts user space only: "
                     r'the CPU is a little late to stop, .*\(skid\)$', text, re.M)


# ---------------------------------------------------------------- --sort

CHAINS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'data/perfdata/amd64-7-chains.data')


@pytest.mark.parametrize('sort, column', [('total', 'total'), ('dso,total', 'total'), ('dso', 'self')])
def test_rows_by_total(analyse, sort, column):
    [table] = analyse('report', '--json', '--sort', sort, CHAINS).lines
    values = [row[column] for row in table['rows'] if 'whole' not in row]
    assert len(values) > 2 and values == sorted(values, reverse=True)
    other = [row['self' if column == 'total' else 'total'] for row in table['rows']]
    assert other != sorted(other, reverse=True)


def test_all_rows(analyse):
    assert re.search(r'^\.\.\. \d+ more \(--rows 0 shows all\)$', analyse('report', '--rows', '2', CHAINS).text, re.M)
    assert ' more (' not in analyse('report', '--rows', '0', CHAINS).text


@pytest.mark.deep
@pytest.mark.parametrize('keys, theirs', [('comm,dso', 'comm,dso'), ('cpu', 'cpu'), ('pid', 'pid'), ('comm', 'comm')])
def test_rows_by_keys_are_those_of_perf(perf, works, tables, tmp_path, keys, theirs):
    path = recorded(perf, works, tmp_path / 'by.data', 'cpu-clock', 'shares', 500)
    [table] = tables('--sort', keys, path)
    mine = sorted((self for self in (round(row['self'], 2) for row in table['rows']) if self >= 1), reverse=True)
    text = subprocess.run([perf, 'report', '-f', '-i', path, '--stdio', '--no-children', '-g', 'none', '--sort', theirs,
                           '--percentage', 'relative'], capture_output=True, text=True, timeout=60).stdout
    parts = [float(part) for part in re.findall(r'^ +([\d.]+)% ', text, re.M)]
    assert mine and mine == pytest.approx([part for part in parts if part >= 1], abs=0.02)
    assert sum(row['self'] for row in table['rows']) == pytest.approx(100, abs=0.01)
    shown = ['comm', 'pid'] if keys == 'pid' else keys.split(',')
    assert [c['name'] for c in table['columns'] if c['name'] in ('comm', 'dso', 'cpu', 'pid')] == shown


@pytest.mark.deep
@pytest.mark.parametrize('option, column, share', [('--comm', 'comm', 0.5), ('--dso', 'dso', 0.5)])
def test_samples_of_a_task_or_a_file_are_those_of_perf(perf, works, tables, analyse, tmp_path, option, column, share):
    """Shares stay those of all samples, as in perf; what is left out is in no row and no picture."""
    path = recorded(perf, works, tmp_path / 'some.data', 'cpu-clock', 'shares', 500)
    [whole] = tables('--sort', column, path)
    name = max(whole['rows'], key=lambda row: row['self'])[column]
    [table] = tables('--sort', column, option, name, path)
    [row] = table['rows']
    [same] = [r for r in whole['rows'] if r[column] == name]
    own = lambda r: (r['self'], r['count'], r[column])     # what is left out may have been called there: total is less
    assert own(row) == own(same) and table['left_out'] == whole['weight'] - row['count'] and table['weight'] == whole['weight']
    glob = tables('--sort', column, option, 'no such', option, name[:-1] + '*', path)[0]
    assert own(row) in map(own, glob['rows'])
    text = subprocess.run([perf, 'report', '-f', '-i', path, '--stdio', '--no-children', '-g', 'none', '--sort', column,
                           option + 's', name.rpartition('/')[2], '--percentage', 'absolute'], capture_output=True, text=True, timeout=60).stdout
    [theirs] = re.findall(r'^ +([\d.]+)% ', text, re.M)
    assert row['self'] == pytest.approx(float(theirs), abs=0.02)
    shown = analyse('report', option, name, '--flame-graph', tmp_path / 'some.folded', path).text
    assert f'; {row["self"]:.2f} % of them shown\n' in shown
    folded = (tmp_path / 'some.folded').read_text()
    assert sum(int(line.rpartition(' ')[2]) for line in folded.splitlines() if line[0] != '#') == row['count']


def test_the_kernel_is_a_file_with_brackets(tables):
    """Though [kernel] as a glob is one letter."""
    [whole] = tables(CHAINS)[:1]
    own = lambda table: {row['function']: row['self'] for row in table['rows'] if row['dso'] == '[kernel.kallsyms]' and row['self']}
    for name in '[kernel]', '[kernel.kallsyms]', '*kallsyms]':
        [table] = tables('--dso', name, CHAINS)[:1]
        assert own(table) == own(whole) and {row['dso'] for row in table['rows']} == {'[kernel.kallsyms]'}, name


@pytest.mark.deep
@pytest.mark.parametrize('words, answer', [
    (('--comm', 'wroks'), '--comm wroks: no sample of the recording is of a task with this name; did you mean works?'),
    (('--dso', '/x/wroks'), '--dso /x/wroks: no sample of the recording is in a file with this name; did you mean works?'),
    (('--dso', 'libnothing.so'), 'is in a file with this name; --sort dso shows their files'),
])
def test_names_that_no_sample_has(perf, works, analyse, tmp_path, words, answer):
    path = recorded(perf, works, tmp_path / 'some.data', 'cpu-clock', 'shares', 500)
    assert answer in analyse('report', *words, path, code=1).err


@pytest.mark.deep
def test_rows_by_line(tables, analyse, tmp_path):
    """The lines where a program's time goes, as it was written for this."""
    source = tmp_path / 'lines.c'
    source.write_text('static volatile double x;\n'
                      'int main(void)\n'
                      '{\n'
                      '\tfor (int i = 0; i < 150000000; i++)\n'
                      '\t\tx = x / 1.0001;\n'
                      '\treturn 0;\n'
                      '}\n')
    subprocess.run(['cc', '-g', '-O1', '-o', tmp_path / 'lines', source], check=True)
    [table] = analyse('profile', '--sort', 'line', '--json', '-e', 'cpu-clock:u', '--', tmp_path / 'lines').lines
    assert table['rows'][0]['line'] == f'{source}:5' and table['rows'][0]['self'] > 50
    assert 'function' not in table['rows'][0]
    text = analyse('profile', '--sort', 'symbol,line', '-e', 'cpu-clock:u', '--', tmp_path / 'lines').text
    assert re.search(rf'^ *[\d.]+ +[\d.]+ +main +{re.escape(str(source))}:5$', text, re.M), text


THREADS = '''
import ctypes, threading
def named(name):
    ctypes.CDLL(None).prctl(15, name)
    for _ in range(6000000): pass
for name in (b'first', b'second'):
    t = threading.Thread(target=named, args=[name]); t.start(); t.join()
'''


def test_the_task_is_a_column_if_there_are_several_programs(analyse, build, tmp_path):
    """Threads of one program have names, too, but are no programs. JSON has the same columns always."""
    storm, other = f'{build}/tests/helpers/storm', tmp_path / 'other'
    os.symlink(storm, other)
    two = f'{storm} getppid 1000000; {other} getppid 1000000; :'
    profile = ['profile', '-e', 'cpu-clock']
    text = analyse(*profile, '--', 'sh', '-c', two).text
    assert re.search('^self% +total% +task +function +dso$', text, re.M), text
    assert re.search(r'^ *[\d.]+ +[\d.]+ +storm +\S', text, re.M) and re.search(r'^ *[\d.]+ +[\d.]+ +other +\S', text, re.M)
    alone = '^self% +total% +function +dso$'
    assert re.search(alone, analyse(*profile, '--sort', 'symbol,dso', '--', 'sh', '-c', two).text, re.M)
    assert re.search(alone, analyse(*profile, '--', 'sh', '-c', f'{storm} getppid 2000000; :').text, re.M)
    [table] = analyse(*profile, '--json', '--', 'sh', '-c', two).lines
    assert 'comm' not in [c['name'] for c in table['columns']]
    threads = analyse('profile', '--no-python', '-e', 'cpu-clock:u', '--', sys.executable, '-c', THREADS).text
    assert re.search(alone, threads, re.M), threads


def test_rows_by_thread(analyse):
    """Two threads one after another do the same work, beside the one that starts them."""
    command = '--', sys.executable, '-c', THREADS
    [table] = analyse('profile', '--no-python', '-e', 'cpu-clock:u', '--json', '--sort', 'tid', *command).lines
    rows = {row['comm']: row for row in table['rows']}
    assert {'first', 'second'} <= set(rows) and rows['first']['tid'] != rows['second']['tid'], table    # named after their first samples
    assert sum(row['self'] for row in table['rows']) == pytest.approx(100, abs=0.01)
    text = analyse('profile', '--no-python', '-e', 'cpu-clock:u', '--sort', 'tid', *command).text
    assert re.search(r'^self% +total% +task +tid$', text, re.M) and re.search(r'^ *[\d.]+ +[\d.]+ +first +\d+$', text, re.M), text


def test_a_command_is_sampled_from_its_exec_on(analyse):
    """However short it is, nothing of perf-prof is in its profile, not even its name."""
    for _ in range(5):
        [table] = analyse('profile', '-q', '-F', 'max', '--json', '--sort', 'comm,dso', '--', 'true', before=['env']).lines
        assert table['samples'] and {row['comm'] for row in table['rows']} == {'true'}
        assert not [row for row in table['rows'] if row['dso'].endswith('perf-prof')]
