# SPDX-License-Identifier: Apache-2.0
"""Session.sql(), Recording.sql(), and the command `perf-prof sql`."""
import collections
import contextlib
import csv
import io
import json
import os
import re
import signal
import struct
import subprocess
import sys
import warnings

import pytest

from known import EVENT, PATIENCE, RECORDING

SHORT = EVENT.split(':')[1]
SWITCH = 'sched:sched_switch'


@pytest.fixture
def ask(perf_prof, reader):
    """ask(QUERY): the rows of the answer about RECORDING, and the session that has been asked."""
    reader('duckdb')

    def run(query, source=RECORDING, **kwargs):
        s = perf_prof.open(source, **kwargs)
        return s.sql(query).fetchall(), s
    return run


@pytest.fixture(scope='session')
def rows(perf_prof):
    """All rows of RECORDING as dicts."""
    with perf_prof.open(RECORDING) as s:
        return [row for batch in s for row in batch.to_pylist()]


@pytest.fixture
def command(prof, venv, perf_prof, reader):
    """command(WORD...): perf-prof sql, finished."""
    reader('duckdb')

    def run(*words, code=0, full=subprocess.PIPE, **kwargs):
        done = subprocess.run([prof, 'sql', '--venv', venv, *map(str, words)], stdout=full, stderr=subprocess.PIPE, text=True,
                              timeout=PATIENCE, **kwargs)
        assert done.returncode == code, done
        return done.stderr if code else done.stdout
    return run


# ---- tables -----------------------------------------------------------------------------


def test_events_are_tables(ask, rows):
    counts = collections.Counter(row['_event'] for row in rows)
    assert len(counts) > 2
    for name in counts:
        assert ask(f'select count(*), min(_event), max(_event) from "{name}"')[0] == [(counts[name], name, name)]
    assert dict(ask('select _event, count(*) from events group by all')[0]) == counts


def test_a_table_has_only_its_own_columns(ask):
    s = ask('from "cpu-clock" limit 1')[1]
    assert 'ip' in s.columns and 'prev_comm' not in s.columns
    answer = ask('describe select * from "cpu-clock"')[0]
    assert [row[0] for row in answer] == ['_time', '_cpu', '_pid', '_tid', '_comm', '_event', 'ip', 'period']


def test_short_names_where_they_are_unambiguous(perf_prof, reader):
    from perf_prof import sql
    assert sql._short_names(['sched:x', 'irq:x', 'a:b', 'page-faults/period=40/', 'events', 'k:events', 'A:B']) == {
        'sched:x': [], 'irq:x': [], 'a:b': [], 'page-faults/period=40/': ['page-faults'], 'events': [], 'k:events': [], 'A:B': []}


# ---- only what the query names ----------------------------------------------------------


@pytest.mark.parametrize('query, columns, events', [
    ('select count(*) from sched_switch', [], {SWITCH}),
    ('select prev_comm from sched_switch where next_pid > 0 order by _time', ['_time', 'prev_comm', 'next_pid'], {SWITCH}),
    ('select PREV_PID p from "sched:sched_switch" group by p', ['prev_pid'], {SWITCH}),
    ('select a._time from sched_switch a join "cpu-clock" b using (_tid)', ['_time', '_tid'], {SWITCH, 'cpu-clock'}),
    ('with a as (select ip from "cpu-clock") select count(*) from a x, a y', ['ip'], {'cpu-clock'}),
    ('select (select max(ip) from "cpu-clock"), _cpu from sched_switch', ['_cpu', 'ip'], {SWITCH, 'cpu-clock'}),
    ('select sum(x) over (partition by _cpu) from (select prev_prio x, _cpu from sched_switch)', ['_cpu', 'prev_prio'], {SWITCH}),
    ('select _event, count(*) from events group by 1', [], None),
])
def test_only_named_columns_and_events_are_decoded(ask, rows, query, columns, events):
    s = ask(query)[1]
    want = [row for row in rows if events is None or row['_event'] in events]
    assert sorted(s.columns) == sorted(['_event', '_lost', *columns])
    stats = s.stats()
    assert stats['rows'] == stats['delivered'] == len(want)
    # a value for each column that the row's event has, and its name
    assert stats['values'] == sum(1 + sum(row[name] is not None for name in columns) for row in want)


@pytest.mark.parametrize('query', [
    'select * from sched_switch', 'from sched_switch', "select columns('prev.*') from sched_switch", 'select s from sched_switch s',
    'select s.* from sched_switch s', 'select count(s) from sched_switch as s',
    'select count(*) from sched_switch natural join (select 1 as prev_prio)', "select count(*) from query('from sched_switch')",
    'select a from sched_switch as x(a)', 'pivot sched_switch on prev_prio using count(*)', 'summarize sched_switch',
    'select #3 from sched_switch', 'select unnest(s) from sched_switch s',
])
def test_queries_that_mean_all_columns_get_them(ask, perf_prof, reader, query):
    """And the answer is that of DuckDB over a table that has everything."""
    answer, s = ask(query)
    with perf_prof.open(RECORDING) as full, reader('duckdb').connect() as db:
        columns = ', '.join(f'"{name}"' for name in full._tables[SWITCH][1])
        db.register('everything', full)
        db.execute(f"create table sched_switch as select {columns} from everything where _event = '{SWITCH}'")
        assert sorted(map(repr, db.execute(query).fetchall())) == sorted(map(repr, answer))
    assert {'_time', 'prev_prio', 'next_comm'} <= set(s.columns)


@pytest.fixture
def ask_closed(perf_prof, reader):
    from perf_prof.sql import Query
    reader('duckdb')

    def answer(text):
        with perf_prof.open(RECORDING) as s:
            s.close()
            query = Query(s, text)
            return query.whole(query.rows)[1]
    return answer


def test_reading_begins_with_the_query(perf_prof, reader):
    reader('duckdb')
    with perf_prof.open(RECORDING) as s:
        assert s.stats()['values'] == 0
        assert len(s.columns) > 4
        next(s)
        assert not s._choose(None, ['_event']) and len(s.columns) > 4     # it is too late


def test_a_session_that_was_closed_before_the_query(ask_closed):
    """As by a signal of the command: its answer is that over no rows, and names of columns are still known."""
    assert ask_closed('select count(*) from events') == [(0,)]
    assert ask_closed('select count(*) from sched_switch a, lost b') == [(0,)]


def test_a_recording_is_asked_once(ask, perf_prof):
    """It would have no events any more."""
    s = ask('select count(*) from events')[1]
    with pytest.raises(ValueError, match='has been read'):
        s.sql('select count(*) from events')
    s.close()
    with pytest.raises(ValueError, match='closed'):
        s.sql('select 1')
    with perf_prof.open(RECORDING) as s:
        next(s)
        with pytest.raises(ValueError, match='has been read'):
            s.sql('select count(*) from events')


def test_chosen_fields(ask):
    """What open() leaves out is not there, whatever the query means."""
    for query in 'from sched_switch', 'select prev_comm from sched_switch', 'pivot sched_switch on _cpu using count(*)':
        assert set(ask(query, fields=['prev_comm', '_cpu'])[1].columns) <= {'_cpu', '_event', '_lost', 'prev_comm'}
    with pytest.raises(ValueError, match='"next_comm" not found'):
        ask('select next_comm from sched_switch', fields=['prev_comm'])


def test_an_answer_stays(ask):
    """It has its rows, whoever asks the next question, and also without its session."""
    answer = ask('select count(*) from events')
    relation = None

    def get(perf_prof):
        return perf_prof.open(RECORDING).sql('select _event, count(*) as n from events group by all')
    import perf_prof
    relation = get(perf_prof)
    assert sum(n for _, n in relation.fetchall()) == answer[0][0][0]
    assert relation.aggregate('sum(n)').fetchall() == answer[0]


# ---- errors -----------------------------------------------------------------------------


@pytest.mark.parametrize('query, message', [
    ('select prev_comm from sched_switch ordre by 1', r'syntax error at or near "ordre|by"(.|\n)*\^'),
    ('select\n nothing from sched_switch', r'"nothing" not found(.|\n)*LINE 2:  nothing from(.|\n)*\^'),
    ('select * from shced_switch', r'shced_switch(.|\n)*LINE 1(.|\n)*\^(.|\n)*Tables: sched_switch, '),
    ('select 1; select 2', '2 statements'), ('', '.*expected a query'), ('-- nothing', '0 statements'),
    ("copy sched_switch to '/dev/null'", 'expected a query'), ('create table a as from sched_switch', 'expected a query'),
    ('set threads = 1', 'expected a query'), ("attach ':memory:' as m", 'expected a query'),
])
def test_wrong_queries(ask, query, message):
    with pytest.raises(ValueError, match=message):
        ask(query)


def test_wrong_parameters(perf_prof, reader):
    reader('duckdb')
    with perf_prof.open(RECORDING) as s:
        with pytest.raises(TypeError, match='expected a query'):
            s.sql(7)
        with pytest.raises(ValueError, match='interval=1: a recording is asked once'):
            s.sql('select 1', interval=1)


@pytest.mark.parametrize('interval, kind', [(0, ValueError), ('1', TypeError), (True, TypeError)])
@pytest.mark.live
def test_wrong_intervals(perf_prof, reader, interval, kind):
    reader('duckdb')
    with perf_prof.Session('dummy', pids=os.getpid()) as s, pytest.raises(kind, match='interval='):
        s.sql('select 1', interval=interval)


def test_a_value_that_does_not_fit(ask, reader):
    with pytest.raises(reader('duckdb').Error, match='convert string'):
        ask('select cast(prev_comm as int) from sched_switch')


@pytest.mark.parametrize('name', ['perf_prof source', 'perf_prof\tsource', 'perf_prof\tresult 1', 'source'])
def test_an_event_may_have_any_name(ask, tmp_path, name):
    attr = struct.pack('<IIQQQ', 1, 128, 0, 1000, 1 | 2 | 4 | 1 << 16).ljust(128, b'\0')
    (tmp_path / 'names.data').write_bytes(b'PERFILE2' + struct.pack('<Q', 16) + b''.join(
        struct.pack('<IHH', kind, 0, 8 + len(body)) + body for kind, body in (
            (64, attr + struct.pack('<Q', 7)), (78, struct.pack('<QQ', 2, 7) + name.encode().ljust(64, b'\0')),
            (9, struct.pack('<QQIIQ', 7, 0x1000, 1, 1, 1)))))
    shown = name.replace('\t', r'\x09')
    for table in shown, 'events':
        assert ask(f'select count(*) from "{table}"', str(tmp_path / 'names.data'))[0] == [(1,)]


def test_variables_of_python_are_no_tables(ask):
    source = answer = batches = self = [{'a': 1}]    # noqa: F841
    for name in 'source', 'answer', 'self', 'batches':
        with pytest.raises(ValueError, match='does not exist'):
            ask(f'from {name}')


def test_a_cut_recording_has_no_names(perf_prof, reader):
    reader('duckdb')
    with open(RECORDING, 'rb') as f:
        data = f.read()
    with perf_prof.open(data[:len(data) * 7 // 10]) as s, pytest.raises(ValueError) as said:
        s.sql('select count(*) from sched_switch')
    assert re.search(r'\n\nTables: .*tracepoint_\d+.*\n\nThe recording has no names of its tracepoints, perhaps because it was cut off: ', str(said.value))


def test_a_damaged_recording(ask, tmp_path):
    with open(RECORDING, 'rb') as file:
        data = file.read()
    path = tmp_path / 'cut.data'
    path.write_bytes(data[:9000])
    for query in 'select count(*) from events', 'select count(*) from events a, events b':
        with pytest.raises(RuntimeError, match='truncated'):
            ask(query, path)


def test_without_duckdb(run):
    code = (f'import perf_prof, sys; sys.modules["duckdb"] = None\ntry: perf_prof.open({RECORDING!r}).sql("select 1")\n'
            'except ImportError as error: print(error)')
    assert 'SQL needs DuckDB: pip install duckdb\n' in run(code)


# ---- live -------------------------------------------------------------------------------


def test_in_a_notebook(folder, perf_prof, reader):
    """As DuckDB finds out that it is in one: no main file, and IPython with a kernel; without ipywidgets, it refuses to change what
    its progress bar is."""
    packages = os.path.dirname(os.path.dirname(reader('duckdb').__file__))
    program = """import sys, types, __main__
if hasattr(__main__, '__file__'):
    del __main__.__file__
shell = types.SimpleNamespace(config={'IPKernelApp': {}})
sys.modules['IPython'] = types.SimpleNamespace(get_ipython=lambda: shell, __spec__=None)
import duckdb
try:
    duckdb.connect().execute('set enable_progress_bar = false')
except duckdb.Error as error:
    print('refused' if 'ipywidgets' in str(error) else error)
import perf_prof
with perf_prof.open(sys.argv[1]) as s:
    print(s.sql('select count(*) from events').fetchall()[0])
"""
    run = subprocess.run([sys.executable, '-c', program, RECORDING], text=True, capture_output=True, timeout=PATIENCE,
                         env={**os.environ, 'PYTHONPATH': f'{folder}:{packages}'})
    if not run.stdout.startswith('refused'):
        pytest.skip(f'needs a DuckDB that knows notebooks, and no ipywidgets ({run.stdout.strip()})')
    with perf_prof.open(RECORDING) as s:
        assert run.stdout.splitlines()[1:] == [f'({sum(map(len, s))},)'], run


@pytest.mark.live
def test_lost_events(perf_prof, reader, storm_of):
    reader('duckdb')
    query = "select 'here', count(*) from events union all select 'lost', sum(_lost) from lost where starts_with(_event, 'lost:')"
    n = 400000      # more than the batches that wait for somebody to ask
    storm = storm_of(n)
    with perf_prof.Session(EVENT, pids=storm.pid, ring=4096) as s:
        storm.go()
        storm.process.wait(PATIENCE)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter('always')
            answer = dict(s.sql(query).fetchall())
        assert answer['here'] == s.stats()['delivered']
        assert [str(one.message).split(' were')[0] for one in caught] == [f'{answer["lost"]} events']
    assert answer['lost'] == s.stats()['lost'] == n - answer['here'] > 0


@pytest.mark.live
def test_each_interval(perf_prof, reader, storm_of):
    reader('duckdb')
    storm = storm_of(20000, 10000)
    counts = []
    with perf_prof.Session(EVENT, pids=storm.pid) as s:
        storm.go()
        for answer in s.sql('select count(*) from events', interval=0.2):
            counts.append(answer.fetchall()[0][0])
    assert sum(counts) == storm.n - s.stats()['lost'] and len(counts) > 2


# ---- the command ------------------------------------------------------------------------


def test_text(command, rows):
    lines = command('-I', RECORDING, "select prev_comm, count(*) as n, null as x from sched_switch where prev_comm in ('sh', 'echo') "
                    'group by all order by n desc').splitlines()
    counts = collections.Counter(row['prev_comm'] for row in rows)
    assert lines == ['prev_comm   n  x', f'sh         {counts["sh"]}  NULL', f'echo       {counts["echo"]}  NULL']


def test_json_and_csv(command, rows):
    query = 'select _time, prev_comm, next_pid, 1 as n, 2 as n from sched_switch'
    want = [{'_time': row['_time'], 'prev_comm': row['prev_comm'], 'next_pid': row['next_pid'], 'n': 1, 'n_2': 2}
            for row in rows if row['_event'] == SWITCH]
    assert json.loads(command('-I', RECORDING, '--json', query)) == want
    read = list(csv.DictReader(io.StringIO(command('-I', RECORDING, '--csv', query))))
    assert read == [{key: str(value) for key, value in row.items()} for row in want]


def test_odd_values(command):
    query = ("select 'nan'::double as a, date '2026-01-31' as b, [1, null] as c, {'k': 1.5} as d, '\x1b[1m\u202e' as e, "
             '1180591620717411303424::hugeint as f from events limit 1')
    row, = json.loads(command('-I', RECORDING, '--json', query))
    assert row == {'a': None, 'b': '2026-01-31', 'c': [1, None], 'd': {'k': 1.5}, 'e': '\x1b[1m\u202e', 'f': 2 ** 70}
    assert '\\x1b[1m\\xe2\\x80\\xae' in command('-I', RECORDING, query)


def test_control_characters_in_an_error(command):
    error = command('-I', RECORDING, "select cast(_comm || '\x1b[2J' as int) from events", code=1)
    assert '\x1b' not in error and '\\x1b[2J' in error and 'LINE 1' in error


@pytest.mark.parametrize('words, code, message', [
    ((), 2, 'no query'), (('-I', RECORDING, ''), 2, "'': expected a query"), (('select 1', RECORDING), 2, f'-I {RECORDING}'),
    (('-a', '-p', '1', '-e', 'cpu-clock', 'from events'), 2, 'sql: -a watches the whole machine'),
    (('select 1',), 2, '-e EVENT'), (('-I', RECORDING, 'select', '1'), 2, '1: expected one query'),
    (('-I', RECORDING, 'select foo from events'), 2, 'LINE 1: select foo from events\n               ^^^'),
    (('-I', RECORDING, 'from events', '--', 'true'), 2, 'runs no command'), (('-I', RECORDING, '-i', '10', 'from events'), 2, '-i 10'),
    (('-I', RECORDING, '--json', '--csv', 'from events'), 2, '--json and --csv'), (('-I', '/no/such', 'from events'), 1, '/no/such'),
    (('-I', RECORDING, '--time', '1,2', 'from events'), 1, 'no event in the time that --time selects'),
    (('-e', 'sched:sched_swich', 'from events'), 2, 'sched:sched_swich'), (('--time', '1,2', '-e', 'cpu-clock', 'from events'), 2, '--time'),
])
@pytest.mark.live
def test_wrong_commands(command, words, code, message):
    assert message in command(*words, code=code)


@pytest.mark.parametrize('words, message, code', [
    (('-p', 2 ** 22 - 5), '4194299', 1), (('--', '/no/such/command'), '/no/such/command', 127), (('--', '/etc/passwd'), '/etc/passwd', 1),
])
@pytest.mark.live
def test_messages_of_commands_have_no_errno(command, live, words, message, code):
    """An OSError's text begins with "[Errno 13]"."""
    error = command('-e', 'cpu-clock', 'select count(*) from events', *words, code=code)
    assert message in error and 'Errno' not in error and error.startswith('perf-prof: ')


@pytest.mark.live
def test_an_environment_that_may_not_be_entered(prof, tmp_path):
    if os.geteuid():
        pytest.skip('not root')
    (tmp_path / 'bin').mkdir()
    (tmp_path / 'closed').mkdir(mode=0o700)
    (tmp_path / 'closed' / 'python3').symlink_to(sys.executable)
    (tmp_path / 'bin' / 'python3').symlink_to(tmp_path / 'closed' / 'python3')
    for folder in tmp_path, tmp_path / 'bin':
        folder.chmod(0o755)
    nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
    done = subprocess.run([*nobody, prof, 'sql', '--venv', tmp_path, '-I', RECORDING, 'from events'],
                          capture_output=True, text=True, env={name: value for name, value in os.environ.items() if name != 'VIRTUAL_ENV'})
    assert done.returncode == 2 and f'--venv {tmp_path}: {tmp_path}/bin/python3: Permission denied' in done.stderr


def test_a_full_disk(command):
    with open('/dev/full', 'w') as full:
        done = command('-I', RECORDING, 'select count(*) from events', code=1, full=full)
    assert done == 'perf-prof: cannot write to stdout: No space left on device\n'


@pytest.mark.live
def test_the_whole_machine_also_with_a_command(command, live):
    query = 'select count(distinct _pid) > 1 as others from events'
    assert command('-a', '-e', 'sched:sched_switch', '--csv', query, '--', 'sleep', '0.3').split() == ['others', 'True']


@pytest.mark.live
def test_from_a_pipe(command, prof, live, storm, venv):
    done = subprocess.run(['sh', '-c', f'{prof} record -q -e {EVENT} -o - -- sh -c "{storm} getppid 300 >&2" | '
                           f'{prof} sql --venv {venv} -I - "select count(*) from {SHORT} where _comm = \'storm\'" --csv'],
                          capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == '300', done


@pytest.mark.live
def test_a_command_is_watched(command, live, storm):
    assert json.loads(command('-e', EVENT, '--json', f'select count(*) as n from {SHORT}', '--', storm, 'getppid', 300)
                      .splitlines()[-1]) == [{'n': 300}]
    command('-e', EVENT, 'select count(*) from events', '--', 'sh', '-c', 'exit 7', code=7)


@pytest.mark.live
def test_analyses_are_tables(command, live, storm):
    out = command('-e', 'syscalls', '--json', "select count(*) as n, min(duration) > 0 as took from syscalls where call = 'getppid'",
                  '--', storm, 'getppid', 300)
    assert json.loads(out.splitlines()[-1]) == [{'n': 300, 'took': True}]


@pytest.mark.live
def test_a_command_runs_to_its_end(command, live, storm):
    """Even if the query has ended long before."""
    assert command('-e', EVENT, 'from events limit 1', '--', 'sh', '-c', f'{storm} getppid 30000; sleep 0.3; echo it ends').count('it ends') == 1


def has_events_open(process):
    assert process.poll() is None
    fds = f'/proc/{process.pid}/fd'
    for name in os.listdir(fds):
        with contextlib.suppress(FileNotFoundError):    # closed since
            if 'perf_event' in os.readlink(os.path.join(fds, name)):
                return True
    return False


@pytest.fixture
def empty(prof, perf_prof, tmp_path):
    """start(**ENVIRONMENT): what `perf-prof sql` says of the environment tmp_path/venv without packages."""
    subprocess.run([sys.executable, '-m', 'venv', '--without-pip', tmp_path / 'venv'], check=True)

    def start(**env):
        done = subprocess.run([prof, 'sql', '--venv', tmp_path / 'venv', '-I', RECORDING, 'from events'], capture_output=True, text=True,
                              timeout=PATIENCE, env={**os.environ, **env})
        assert done.returncode == 1 and done.stdout == ''
        return done.stderr
    return start


def test_a_command_without_duckdb(empty, tmp_path):
    error = empty(VIRTUAL_ENV='/some/where')
    assert 'pip install duckdb' in error and '--venv DIR' in error
    assert f'this Python is {tmp_path}/venv/bin/python3; ' + 'root ignores $VIRTUAL_ENV (/some/where); ' * (not os.geteuid()) in error


@pytest.mark.live
def test_packages_are_loaded_by_their_user_only(live, empty, tmp_path):
    """Neither under sudo nor from an environment that others can change; else they are, so the trap works."""
    path, trap, start = tmp_path / 'venv', tmp_path / 'trap', empty
    packages, = path.glob('lib/python3*/site-packages')
    (packages / 'trap.pth').write_text(f'import os; open({str(trap)!r}, "w")\n')
    assert "sudo perf-prof record -e EVENT -o - | perf-prof sql -I - 'QUERY'" in start(SUDO_UID='65534', SUDO_GID='65534')
    for changed in path / 'bin', path.parent:       # who can rename it can put another one there
        os.chown(changed, 65534, -1)
        assert 'belongs to user 65534' in start(), changed
        os.chown(changed, 0, -1)
    assert not trap.exists()
    os.chown(path / 'bin', 0, -1)
    assert 'pip install duckdb' in start()
    assert trap.exists()


COUNT = 'select count(*) >= 0 as some from '
IN_A_PROGRAM = '''
import duckdb, perf_prof, sys
try:
    with perf_prof.Session({EVENT!r}, pids=int(sys.argv[1]), fields=['_tid']) as s:
        s.sql('select count(*) from events')
except KeyboardInterrupt:
    print('interrupted')
print(sum(range(1000)))
'''.replace('{EVENT!r}', repr(EVENT))


@pytest.mark.parametrize('words, number, answer', [
    (['--csv', COUNT + 'events'], signal.SIGINT, 'some\nTrue\n'), (['--csv', COUNT + 'events a, lost b'], signal.SIGTERM, 'some\nTrue\n'),
    (['--json', '-i', '100', 'select count(*) as n from events'], signal.SIGTERM, None), (None, signal.SIGINT, 'interrupted\n499500\n'),
    (['--seconds', '0.3', '--csv', COUNT + 'events'], 0, 'some\nTrue\n'),
], ids=['events', 'before the query', 'intervals', 'program', '--seconds'])
@pytest.mark.live
def test_a_signal_ends_a_live_run(prof, folder, venv, reader, live, storm_of, wait_for, words, number, answer):
    """Then comes the answer, whether the query has begun or not; in a program, it is KeyboardInterrupt, once, and the program goes on."""
    packages = os.path.dirname(os.path.dirname(reader('duckdb').__file__))
    one = storm_of(1 << 40, 5000)
    command = [sys.executable, '-c', IN_A_PROGRAM, str(one.pid)]
    if words:
        command = [prof, 'sql', '--venv', venv, '-e', EVENT, '-p', str(one.pid), *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, **({} if words else {'PYTHONPATH': f'{folder}:{packages}'})})
    one.go()
    wait_for(lambda: not number or has_events_open(process))
    while not answer and json.loads(process.stdout.readline())[0]['n'] == 0:
        pass        # until an interval has events
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    # CPython also ends by SIGINT if the exception, though it was caught, came while it imported something
    assert process.returncode == 0 or not words and process.returncode == -signal.SIGINT, err
    assert out == answer or not answer and all(isinstance(json.loads(line)[0]['n'], int) for line in out.splitlines()), (out, err)
