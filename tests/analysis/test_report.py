# SPDX-License-Identifier: Apache-2.0
"""report: a section for each event, a column for each member of a group; the sums are perf's."""
import collections
import functools
import os
import pathlib
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.live

SEVERAL = ['cpu-clock', 'page-faults', 'context-switches', 'task-clock', 'emulation-faults']
SYMBOLS = ['-F', 'overhead,sym', '--percentage', 'relative']
GROUP = ['cpu-clock', 'page-faults', 'context-switches']


@pytest.fixture
def tables(analyse):
    """Those of `report --json`, in order."""
    return lambda *args: analyse('report', '--json', *args, before=['env']).lines


@pytest.fixture(scope='module')
def of_perf(perf, works, tmp_path_factory):
    """of_perf(events, work, argument...): perf's recording, made once."""
    @functools.lru_cache(None)
    def record(events, *work):
        with open('/proc/sys/kernel/perf_event_max_sample_rate', encoding='ascii') as file:
            rate = min(400, int(file.read()) // 2)      # the kernel may lower it further
        path = tmp_path_factory.mktemp('perf') / 'm.data'
        subprocess.run([perf, 'record', '-q', '-B', '-N', '-F', str(rate), '-g', '-e', events, '-o', path, '--',
                        *(map(str, work) if isinstance(work[0], pathlib.Path) else [works, *map(str, work)])],
                       check=True, stdout=subprocess.DEVNULL, timeout=60)
        return path
    return record


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
    return subprocess.run([perf, 'report', '-f', '-i', path, '--stdio', '--no-children', '-g', 'none', '--no-inline', *options],
                          capture_output=True, text=True, timeout=60).stdout


def sections(text):
    """{event: {function: part}}, as perf report prints them."""
    found = {}
    for event, rows in re.findall(r"^# Samples: \S+ +of event '(\S+?)'\n((?:#.*\n)*(?:\n| .*\n)*)", text, re.M):
        found[event] = {name: float(part) for part, name in re.findall(r'^ +([\d.]+)% +\[[.k]\] +(\S+)', rows, re.M)}
    return found


def test_a_section_for_each_event_as_perf_report_has_it(perf, of_perf, tables, analyse):
    path = of_perf(','.join(SEVERAL), 'turns')
    got = tables(path, '--no-inline')
    theirs, counts = sections(of_perf_report(perf, path, *SYMBOLS)), of_perf_script(perf, path)
    assert [t['event'] for t in got] == SEVERAL
    for table in got:
        event = table['event']
        assert [table['samples'], table['weight']] == counts.get(event, [0, 0])
        rows = {r['function']: r for r in table['rows']}
        assert sum(r['count'] for r in table['rows']) == table['weight']
        for name, part in theirs.get(event, {}).items():
            if name in rows and part > 10:       # of one name there may be several
                assert rows[name]['self'] == pytest.approx(part, abs=0.02), (event, name)
    assert got[0]['samples'] > 20 and got[2]['samples'] > 20 and got[4]['samples'] == 0
    text = analyse('report', path, before=['env']).text
    found = re.findall(r'report: (\d+) samples of (\S+), \d+ Hz, 0 lost; (?:counted (\d+)|(\d+) ms of CPU time)$', text, re.M)
    for (n, event, sum_, ms), wanted in zip(found, SEVERAL, strict=True):
        samples, count = counts.get(wanted, (0, 0))
        assert (event, int(n), bool(ms)) == (wanted, samples, wanted.endswith('-clock'))
        assert int(sum_) == count if sum_ else abs(int(ms) - count / 1e6) <= 0.5
    assert [t['event'] for t in tables(path, '-e', 'page-faults')] == ['page-faults']
    assert [t['event'] for t in tables(path, '-e', 'task-clock,page-faults')] == ['task-clock', 'page-faults']
    bad = analyse('report', path, '-e', 'cycles', code=2)
    assert 'cpu-clock' in bad.err and 'page-faults' in bad.err


def test_what_shows_one_event_says_which_it_is(of_perf, tmp_path, analyse):
    path = of_perf('page-faults,cpu-clock', 'pages', 40000)
    first = analyse('report', path, '-v', '--flame-graph', 'a.svg', before=['env'])
    assert 'a.svg shows page-faults, the first of 2 events; -e EVENT chooses another' in first.err
    chosen = analyse('report', path, '-v', '-e', 'cpu-clock', '--flame-graph', 'b.svg', before=['env'])
    assert '-e EVENT' not in chosen.err
    assert ': page-faults<' in (tmp_path / 'a.svg').read_text() and ': cpu-clock<' in (tmp_path / 'b.svg').read_text()
    profile = analyse('profile', '-v', '-I', path, before=['env'])
    assert 'samples of cpu-clock' in profile.text and 'profile is of cpu-clock, one of 2 events' in profile.err
    # what is converted may go to standard output: nothing is said there, and without -v nothing at all
    hint = '--to folded converts page-faults, the first of 2 events; -e EVENT chooses another'
    assert hint in analyse('convert', '-v', '--to', 'folded', path, '-o', 'out', before=['env']).err
    assert '-e EVENT' not in analyse('convert', '-v', '--to', 'folded', '-e', 'cpu-clock', path, '-o', 'out', before=['env']).err


# ---- groups ------------------------------------------------------------------------------


def test_members_are_columns_with_perfs_sums(perf, of_perf, tables):
    path = of_perf('{%s}:S' % ','.join(GROUP), 'shares', 500)
    [table] = tables(path, '--no-inline')
    counts = of_perf_script(perf, path)
    assert table['event'] == GROUP[0] and table['counts'] == {event: counts[event][1] for event in GROUP}
    assert table['samples'] == counts[GROUP[0]][0] and sum(r['count'] for r in table['rows']) == table['weight']
    for word in ('page_faults', 'context_switches'):
        event = word.replace('_', '-')
        assert sum(r[word + '_count'] for r in table['rows']) == table['counts'][event]
        assert sum(r[word] for r in table['rows']) == pytest.approx(100 if table['counts'][event] else 0, abs=0.01)
    rows = {r['function']: r for r in table['rows']}
    theirs = re.findall(r'^ +([\d.]+)% +([\d.]+)% +([\d.]+)% +\[[.k]\] +(\S+)', of_perf_report(perf, path, *SYMBOLS, '--group'), re.M)
    assert len(theirs) >= 3     # the three functions at least
    for *parts, name in theirs:
        if float(parts[0]) > 10:
            assert [rows[name][k] for k in ('self', 'page_faults', 'context_switches')] == \
                [pytest.approx(float(p), abs=0.02) for p in parts]


# ---------------------------------------------------------------- --sort

@pytest.mark.deep
@pytest.mark.parametrize('keys', ['comm,dso', 'cpu', 'pid'])
def test_rows_by_keys_are_those_of_perf(perf, of_perf, tables, keys):
    path = of_perf('cpu-clock', 'shares', 500)
    [table] = tables('--sort', keys, path)
    mine = sorted((self for self in (round(row['self'], 2) for row in table['rows']) if self >= 1), reverse=True)
    text = of_perf_report(perf, path, '--sort', keys, '--percentage', 'relative')
    parts = [float(part) for part in re.findall(r'^ +([\d.]+)% ', text, re.M)]
    assert mine and mine == pytest.approx([part for part in parts if part >= 1], abs=0.02)
    assert sum(row['self'] for row in table['rows']) == pytest.approx(100, abs=0.01)
    shown = ['comm', 'pid'] if keys == 'pid' else keys.split(',')
    assert [c['name'] for c in table['columns'] if c['name'] in ('comm', 'dso', 'cpu', 'pid')] == shown


@pytest.mark.deep
@pytest.mark.parametrize('column', ['comm', 'dso'])
def test_samples_of_a_task_or_a_file_are_those_of_perf(perf, of_perf, tables, analyse, tmp_path, column):
    """Shares stay those of all samples, as in perf; what is left out is in no row and no picture."""
    path, option = of_perf('cpu-clock', 'shares', 500), f'--{column}'
    [whole] = tables('--sort', column, path)
    name = max(whole['rows'], key=lambda row: row['self'])[column]
    [table] = tables('--sort', column, option, name, path)
    [row] = table['rows']
    [same] = [r for r in whole['rows'] if r[column] == name]
    own = lambda r: (r['self'], r['count'], r[column])     # what is left out may have been called there: total is less
    assert own(row) == own(same) and table['left_out'] == whole['weight'] - row['count'] and table['weight'] == whole['weight']
    glob = tables('--sort', column, option, 'no such', option, name[:-1] + '*', path)[0]
    assert own(row) in map(own, glob['rows'])
    text = of_perf_report(perf, path, '--sort', column, option + 's', name.rpartition('/')[2], '--percentage', 'absolute')
    [theirs] = re.findall(r'^ +([\d.]+)% ', text, re.M)
    assert row['self'] == pytest.approx(float(theirs), abs=0.02)
    shown = analyse('report', option, name, '--flame-graph', tmp_path / 'some.folded', path).text
    assert f'; {row["self"]:.2f} % of them shown\n' in shown
    folded = (tmp_path / 'some.folded').read_text()
    assert sum(int(line.rpartition(' ')[2]) for line in folded.splitlines() if line[0] != '#') == row['count']


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
    for _ in range(3000000): pass
for name in (b'first', b'second'):
    t = threading.Thread(target=named, args=[name]); t.start(); t.join()
'''


@pytest.mark.deep
def test_the_task_is_a_column_if_there_are_several_programs(analyse, build, tmp_path):
    """Threads of one program have names, too, but are no programs. JSON has the same columns always."""
    storm, other = f'{build}/tests/helpers/storm', tmp_path / 'other'
    os.symlink(storm, other)
    two = f'{storm} getppid 300000; {other} getppid 300000; :'
    analyse('record', '-q', '-F', '499', '-e', 'cpu-clock', '-o', 'two', '--', 'sh', '-c', two)
    text = analyse('profile', '-I', 'two').text
    assert re.search('^self% +total% +task +function +dso$', text, re.M), text
    assert re.search(r'^ *[\d.]+ +[\d.]+ +storm +\S', text, re.M) and re.search(r'^ *[\d.]+ +[\d.]+ +other +\S', text, re.M)
    alone = '^self% +total% +function +dso$'
    assert re.search(alone, analyse('profile', '-I', 'two', '--sort', 'symbol,dso').text, re.M)
    [table] = analyse('profile', '-I', 'two', '--json').lines
    assert 'comm' not in [c['name'] for c in table['columns']]
    assert re.search(alone, analyse('profile', '-e', 'cpu-clock', '--', 'sh', '-c', f'{storm} getppid 1000000; :').text, re.M)
    threads = analyse('profile', '--no-python', '-e', 'cpu-clock:u', '--', sys.executable, '-c', THREADS).text
    assert re.search(alone, threads, re.M), threads


def test_rows_by_thread(analyse):
    """Two threads one after another do the same work, beside the one that starts them."""
    analyse('record', '-q', '-e', 'cpu-clock:u', '-o', 'threads', '--', sys.executable, '-c', THREADS)
    profile = ['profile', '--no-python', '--sort', 'tid', '-I', 'threads']
    [table] = analyse(*profile, '--json').lines
    rows = {row['comm']: row for row in table['rows']}
    assert {'first', 'second'} <= set(rows) and rows['first']['tid'] != rows['second']['tid'], table    # named after their first samples
    assert sum(row['self'] for row in table['rows']) == pytest.approx(100, abs=0.01)
    text = analyse(*profile).text
    assert re.search(r'^self% +total% +task +tid$', text, re.M) and re.search(r'^ *[\d.]+ +[\d.]+ +first +\d+$', text, re.M), text


def test_a_command_is_sampled_from_its_exec_on(analyse):
    """However short it is, nothing of perf-prof is in its profile, not even its name."""
    [table] = analyse('profile', '-q', '-F', 'max', '--json', '--sort', 'comm,dso', '--', 'true', before=['env']).lines
    assert table['samples'] and {row['comm'] for row in table['rows']} == {'true'}
    assert not [row for row in table['rows'] if row['dso'].endswith('perf-prof')]
