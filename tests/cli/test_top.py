# SPDX-License-Identifier: Apache-2.0
"""The sums of perf-prof top: on work that is known, and against those of the same events in Python."""
import collections
import json
import os
import re
import shutil
import subprocess

import pytest

from frame import declared, requires

pytestmark = pytest.mark.live

TIMEOUT = 60
RUNTIME = re.compile(r'^ *(-?\d+) +comm=([\s\S]{0,16}?) pid=(\d+) runtime=(\d+) ', re.M)


@pytest.fixture(autouse=True)
def needs():
    reason = next(filter(None, map(requires.why_not, ('tracefs', 'root'))), None)
    if reason:
        pytest.skip(reason)


@pytest.fixture
def top(prof, tmp_path):
    def run(*args):
        done = subprocess.run([prof, 'top', *map(str, args)], cwd=tmp_path, capture_output=True, text=True,
                              timeout=TIMEOUT, stdin=subprocess.DEVNULL,
                              env=declared.environment({'cmd': ''}))
        assert done.returncode == 0 and not done.stderr, done
        return done.stdout
    return run


def tables(text):
    """The tables among the lines."""
    return [json.loads(line) for line in text.splitlines() if line.startswith('{')]


def test_a_row_for_each_thread(top, storm):
    table, = tables(top('-e', 'syscalls:sys_enter_getppid//top-by=1/top-add=_tid/', '--json', '--',
                        storm, 'threads', 5, 300))
    assert [c['name'] for c in table['columns']] == ['key', '1', 'tid', 'name']
    rows = table['rows']
    assert len(rows) == 5 and {r['name'] for r in rows} == {'storm'}
    for row in rows:
        assert row['1'] == 300 and row['tid'] == 300 * row['key']
    assert table['events'] == 1500 and table['lost'] == 0


def test_the_largest_rows(top, storm):
    what = '-e', 'syscalls:sys_enter_getppid', '-k', '_tid'
    some, every, programs = (top(*what, *more, '--', storm, 'threads', 5, 300)
                             for more in (['--rows', 3], ['--rows', 0], ['--rows', 3, '--json']))
    assert some.count(' storm') == 3 and '... 2 more' in some and every.count(' storm') == 5, (some, every)
    assert len(tables(programs)[0]['rows']) == 5


def test_a_key_over_all(top, storm):
    table, = tables(top('-e', 'raw_syscalls:sys_enter/id==110/top-by=id/alias=in/,'
                        'raw_syscalls:sys_exit/id==110/top-by=id/top-add=-id/alias=out/', '-k', 'id', '--json',
                        '--', storm, 'fork', 4, 250))
    assert [c['name'] for c in table['columns']] == ['key', 'in', 'out_id', 'out_id_2']
    assert table['rows'] == [{'key': 110, 'in': 110000, 'out_id': 110000, 'out_id_2': -110000}]


def test_the_same_title_is_one_column(top, storm):
    table, = tables(top('-e', 'raw_syscalls:sys_*/id==110/top-by=id/', '-k', '_cpu>=0', '--json', '--', storm,
                        'getppid', 100))
    assert table['rows'] == [{'key': 1, 'id': 2 * 110 * 100}]


def test_columns_of_top_by_come_first(top, storm):
    table, = tables(top('-e', 'raw_syscalls:sys_enter/id==110/top-add=1/top-by=2/', '-e',
                        'syscalls:sys_exit_getppid', '-k', '0', '--json', '--', storm, 'getppid', 100))
    assert [c['name'] for c in table['columns']] == ['key', '2', '1', 'sys_exit_getppid']
    assert table['rows'] == [{'key': 0, '2': 200, '1': 100, 'sys_exit_getppid': 100}]


@pytest.mark.slow
def test_intervals_add_up(top, storm):
    """Nothing falls between two tables, and rows to which nothing comes are gone."""
    all_ = tables(top('-e', 'syscalls:sys_enter_getppid', '-i', 100, '--json', '--', storm, 'getppid', 3000, 2000))
    counts = [row['sys_enter_getppid'] for table in all_ for row in table['rows']]
    assert len(all_) >= 4 and sum(counts) == 3000 and all(counts)
    assert sum(table['events'] for table in all_) == 3000


def escaped(comm):
    """As perf-prof shows the name of another's task, which perf prints as it is."""
    return re.sub(r'[\x00-\x1f\x7f\udc80-\udcff]', lambda m: f'\\x{ord(m[0]) & 0xff:02x}', comm)


@pytest.fixture
def both(prof, storm, tmp_path):
    """A table of what the scheduler accounts on CPU 0, and [(comm, pid, ns)] of the same events as
    perf reads them from the recording. perf-prof runs elsewhere: it leaves out its own events, but not
    those of interrupts, and perf does not show which are theirs."""
    perf = shutil.which('perf')
    if not perf or subprocess.run([perf, 'version'], capture_output=True).returncode:
        pytest.skip('needs perf')
    others = os.sched_getaffinity(0) - {0}
    if not others:
        pytest.skip('needs two CPUs')

    def run(attrs, *options):
        path = tmp_path / 'perf.data'
        argv = [prof, 'top', '-e', f'sched:sched_stat_runtime//{attrs}/', *options, '--record', path, '-m', '16M',
                '--json', '-C', '0', '--', storm, '--cpu', '0', 'fork', '3', '100000']
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              preexec_fn=lambda: os.sched_setaffinity(0, others)) as process:
            out, err = process.communicate(timeout=TIMEOUT)
        assert process.returncode == 0 and not err, err
        text = subprocess.run([perf, 'script', '-i', path, '-F', 'pid,trace'], capture_output=True, text=True,
                              timeout=TIMEOUT, check=True).stdout
        events = [(escaped(comm), int(pid), int(ns)) for who, comm, pid, ns in RUNTIME.findall(text)]
        assert process.pid not in {int(who) for who, *_ in RUNTIME.findall(text)}
        table, = tables(out)
        assert len(events) == table['events'] > 10
        return table['rows'], events
    return run


def test_against_the_same_sums_in_python(both):
    rows, events = both('top-by=runtime/key=pid/comm=comm')
    sums = collections.Counter()
    for _, pid, ns in events:
        sums[pid] += ns
    assert {row['key']: row['runtime'] for row in rows} == sums
    assert {row['key']: row['name'] for row in rows} == {pid: comm for comm, pid, _ in events}
    assert [row['runtime'] for row in rows] == sorted(sums.values(), reverse=True)


def test_against_the_same_sums_by_name(both):
    rows, events = both('top-by="runtime/1000"/top-add=1/comm=comm', '--only-comm')
    sums, counts = collections.Counter(), collections.Counter()
    for comm, _, ns in events:
        sums[comm] += ns // 1000
        counts[comm] += 1
    assert sums['storm'] > 0
    assert {row['name']: row['runtime_1000'] for row in rows} == sums
    assert {row['name']: row['1'] for row in rows} == counts


def test_of_a_recording(top, storm, tmp_path):
    """The same table as live, from the recording of the same run."""
    path = tmp_path / 'perf.data'
    what = ['-e', 'raw_syscalls:sys_enter//key=syscall_name(id)/top-by=1/top-add=id/comm=_tid/', '--json']
    live, = tables(top(*what, '--record', path, '--', storm, 'getppid', 500))
    again, = tables(top(*what, '--input', path))
    assert live['rows'][0]['key'] == 'getppid' and live['rows'][0]['name'] == 'storm'
    assert again['rows'] == live['rows'] and again['events'] == live['events']
    assert 0 < again['seconds'] < 100 and re.match(r'20\d\d-', again['time'])


def test_more_keys_than_rows(prof, storm):
    """The bound is told; what has a row is complete."""
    done = subprocess.run([prof, 'top', '-e', 'raw_syscalls:sys_enter/id==110/key=_time/', '--json', '-m', '16M',
                           '--', storm, 'getppid', '70000'], capture_output=True, text=True, timeout=TIMEOUT)
    table, = tables(done.stdout)
    told = re.fullmatch(r'perf-prof: top: (\d+) events are missing from the table, which has at most 65536 rows; .*\n', done.stderr)
    assert told, done.stderr
    assert len(table['rows']) == 65536
    assert sum(row['sys_enter'] for row in table['rows']) + int(told[1]) == 70000


def test_perf_events_are_counted_by_their_periods(top, build):
    """What the heading says: ns of a clock, faults of page-faults; not how often they were sampled."""
    text = top('--json', '-e', 'cpu-clock,page-faults', '--', os.path.join(build, 'tests/helpers/works'), 'shares', '200')
    told = sum(int(ns) for ns in re.findall(r'^(?:one_half|three_tenths|one_fifth) (\d+)$', text, re.M))
    [table] = tables(text)
    assert [c['name'] for c in table['columns'][1:3]] == ['cpu_clock', 'page_faults']
    assert 0.8 * told < sum(r['cpu_clock'] for r in table['rows']) < 1.2 * told + 50e6
    assert table['events'] < told / 1e5


def test_a_source_is_called_by_what_it_samples(top):
    [table] = tables(top('--json', '-e', 'profile', '--', 'sh', '-c', 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done'))
    assert re.match('cycles|cpu_cycles|cpu_clock', table['columns'][1]['name'])
    assert sum(r[table['columns'][1]['name']] for r in table['rows']) > 1000 * table['events']
