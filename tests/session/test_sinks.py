# SPDX-License-Identifier: Apache-2.0
"""perf_prof.sinks: sessions and recordings as datasets in Parquet."""
import datetime
import errno
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import urllib.parse

import pytest

from frame import requires
from known import EVENT, PATIENCE, RECORDING

HOST, DAY = 'web-1', '2026-01-31'


@pytest.fixture
def sinks(perf_prof, reader):
    reader('pyarrow')
    return perf_prof.sinks


@pytest.fixture
def write(perf_prof, sinks, tmp_path):
    """write(...): what parquet() returned for RECORDING."""
    def run(source=RECORDING, host=HOST, **limits):
        with perf_prof.open(source) as s:
            return sinks.parquet(s, tmp_path / 'set', host=host, date=DAY, **limits)
    return run


@pytest.fixture
def query(reader, tmp_path):
    """query(SQL): the rows of DuckDB; the table is called events."""
    duckdb = reader('duckdb')

    def ask(text):
        with duckdb.connect() as db:
            db.execute(f"create view events as from read_parquet('{tmp_path}/set/**/*.parquet', hive_partitioning=true, union_by_name=true)")
            return db.execute(text).fetchall()
    return ask


def files(tmp_path):
    return sorted(os.path.relpath(os.path.join(folder, name), tmp_path / 'set')
                  for folder, _, names in os.walk(tmp_path / 'set') for name in names)


def whole(tmp_path):
    return [name for name in files(tmp_path) if re.fullmatch(r'[^.].*\.parquet', os.path.basename(name))]


def test_every_row_in_its_partition(perf_prof, write, query, reader, tmp_path):
    with perf_prof.open(RECORDING) as s:
        rows = [row for batch in s for row in batch.to_pylist()]
    written = write()
    names = {row['_event'] for row in rows}
    assert len(names) > 2
    assert written == (len(names), len(rows), 0, sum(os.path.getsize(tmp_path / 'set' / name) for name in files(tmp_path)))
    assert files(tmp_path) == whole(tmp_path)
    assert query('select distinct host, date, event = _event from events') == [(HOST, datetime.date.fromisoformat(DAY), True)]
    for name in names:
        file, = glob.glob(f'{tmp_path}/set/host={HOST}/date={DAY}/event={urllib.parse.quote(name, safe="")}/*')
        read = reader('pyarrow.parquet').read_table(file, partitioning=None).to_pylist()
        assert read == [row for row in rows if row['_event'] == name]


def test_others_read_all_hosts(write, reader, tmp_path):
    one = write()
    write(host='a/b c')
    table = reader('pyarrow.dataset').dataset(tmp_path / 'set', partitioning='hive').to_table()
    assert len(table) == 2 * one.rows and set(table['host'].to_pylist()) == {HOST, 'a/b c'}
    frame = reader('polars').scan_parquet(tmp_path / 'set', hive_partitioning=True).group_by('host').len().collect()
    assert dict(frame.rows()) == {HOST: one.rows, 'a/b c': one.rows}


def test_size(sinks, write, query, monkeypatch, tmp_path):
    monkeypatch.setattr(sinks, 'ROW_GROUP', 10)
    once = write()
    small = write(host='small', max_bytes=1)
    assert small.rows == once.rows and small.files > 0
    monkeypatch.setattr(sinks, 'MEMORY', 1)
    monkeypatch.setattr(sinks, 'OPEN_FILES', 1)
    write(host='no memory')
    assert len(set(query('select host, count(*), sum(_time), count(_comm) from events group by 1'))) == 3
    assert len(set(query('select count(*), sum(_time), count(_comm) from events group by host'))) == 1
    assert files(tmp_path) == whole(tmp_path)


def test_what_waits_is_bounded(perf_prof, sinks, tmp_path, monkeypatch):
    """Many small batches of many events, without a row group that is full."""
    monkeypatch.setattr(sinks, 'MEMORY', 1 << 20)
    dataset = sinks._Dataset(str(tmp_path), HOST, DAY, 1 << 30, 1000)
    with perf_prof.open(RECORDING) as s:
        batch = next(s)
    for _ in range(20):
        for at in range(0, len(batch), 20):
            dataset.add(batch[at:at + 20])
            parts = dataset.parts.values()
            assert sum(part.bytes for part in parts) <= 1 << 20 and max(len(part.waiting) for part in parts) <= sinks.CHUNKS
    dataset.finish()
    assert dataset.rows == 20 * len(batch) and not dataset.parts


def test_no_part_keeps_the_whole_batch_alive(perf_prof, sinks, reader):
    def addresses(rows):
        arrays = [one for column in rows.columns for one in (column, getattr(column, 'dictionary', None)) if one is not None]
        return {buffer.address for array in arrays for buffer in array.buffers() if buffer and buffer.size}
    with perf_prof.open(RECORDING) as s:
        rows = reader('pyarrow').record_batch(next(s))
    parts = sinks._by_event(rows)
    assert len(parts) > 2
    assert all(addresses(rows).isdisjoint(addresses(part)) for part in parts.values())
    assert sum(map(len, parts.values())) == len(rows) and all(part.schema == rows.schema for part in parts.values())


def test_next_day(perf_prof, sinks, tmp_path, monkeypatch):
    dataset = sinks._Dataset(str(tmp_path / 'set'), HOST, None, 1 << 30, 1000)
    monkeypatch.setattr(dataset, '_today', lambda: '2026-02-01')
    with perf_prof.open(RECORDING) as s:
        batch = next(s)
    dataset.add(batch)
    monkeypatch.setattr(dataset, '_today', lambda: '2026-02-02')
    dataset.add(batch)
    dataset.finish()
    days = [name.split('/')[1] for name in whole(tmp_path)]
    assert days.count('date=2026-02-01') == days.count('date=2026-02-02') == len(days) / 2 > 0


@pytest.mark.live
def test_losses_are_rows(perf_prof, sinks, storm_of, query, tmp_path):
    n = 200000
    storm = storm_of(n)
    with perf_prof.Session(EVENT, pids=storm.pid, ring=4096) as s:
        storm.go()
        storm.process.wait(PATIENCE)        # the rings overflow before anybody reads batches
        written = sinks.parquet(s, tmp_path / 'set')
        stats = s.stats()
    assert written.lost == stats['lost'] > 0
    assert query('select distinct host, _comm from events where _lost is null') == [(os.uname().nodename, 'storm')]
    assert query('select count(*) filter (where _lost is null), sum(_lost) from events') == [(n - stats['lost'], stats['lost'])]
    assert {row[0] for row in query('select distinct event from events where _lost is not null')} <= {'lost:ring', 'lost:tail'}


@pytest.mark.live
def test_age(perf_prof, sinks, storm_of, wait_for, tmp_path):
    """A file is complete while the session goes on, also if nothing happens any more."""
    storm, written = storm_of(1 << 40, 100), []
    s = perf_prof.Session(EVENT, pids=storm.pid)
    thread = threading.Thread(target=lambda: written.append(sinks.parquet(s, tmp_path / 'set', max_seconds=0.2)))
    thread.start()
    storm.go()
    wait_for(lambda: len(whole(tmp_path)) >= 2)
    storm.process.send_signal(signal.SIGSTOP)
    seen = s.stats()
    wait_for(lambda: s.stats()['rows'] == seen['rows'] and files(tmp_path) == whole(tmp_path))
    assert thread.is_alive()
    s.close()
    thread.join(PATIENCE)
    assert written[0].files == len(whole(tmp_path)) and written[0].rows == s.stats()['rows']


WRITER = '''
import perf_prof, sys
sys.path.append({readers!r})
perf_prof.sinks.ROW_GROUP = 1
with perf_prof.Session({event!r}, pids={pid}) as s:
    perf_prof.sinks.parquet(s, {folder!r}, max_seconds={seconds})
'''


@pytest.fixture
def writer(folder, reader, storm_of, tmp_path):
    """writer(SECONDS): a process that writes the events of a storm."""
    started = []

    def start(seconds):
        storm = storm_of(1 << 40, 2000)
        code = WRITER.format(readers=os.path.dirname(os.path.dirname(reader('pyarrow').__file__)), event=EVENT, pid=storm.pid,
                             folder=str(tmp_path / 'set'), seconds=seconds)
        started.append(subprocess.Popen([sys.executable, '-c', code], env={**os.environ, 'PYTHONPATH': folder},
                                        stderr=subprocess.PIPE, text=True))
        storm.go()
        return started[-1]
    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.live
def test_an_ended_process_leaves_whole_files(writer, query, wait_for, reader, tmp_path):
    """Ctrl-C finishes them."""
    process = writer(1000)
    wait_for(lambda: files(tmp_path))
    process.send_signal(signal.SIGINT)
    assert 'KeyboardInterrupt' in process.communicate(timeout=PATIENCE)[1]
    assert files(tmp_path) == whole(tmp_path) and query('select count(*) from events')[0][0] > 0
    process, before = writer(0.3), len(whole(tmp_path))
    wait_for(lambda: len(whole(tmp_path)) >= before + 2 and len(files(tmp_path)) > len(whole(tmp_path)))
    process.kill()
    process.wait()
    rows = query('select count(*) from events')[0][0]
    assert rows > 0 and reader('pyarrow.dataset').dataset(tmp_path / 'set', partitioning='hive').count_rows() == rows


FULL = '''
import os, perf_prof, sys
sys.path.append({readers!r})
perf_prof.sinks.ROW_GROUP = 1
try:
    with perf_prof.open({recording!r}) as s:
        perf_prof.sinks.parquet(s, sys.argv[1] + "/set", host="h", date="2026-01-31")
except OSError as error:
    left = [name for _, _, names in os.walk(sys.argv[1]) for name in names if not name.endswith(".parquet") or name[0] == "."]
    print(error.errno, error.filename.startswith(sys.argv[1] + "/set/host=h/"), left)
'''


def test_a_file_that_may_not_grow(folder, reader, tmp_path):
    code = FULL.format(readers=os.path.dirname(os.path.dirname(reader('pyarrow').__file__)), recording=RECORDING)
    done = subprocess.run(['sh', '-c', 'ulimit -f 4; exec "$0" -c "$1" "$2"', sys.executable, code, str(tmp_path)], capture_output=True,
                          text=True, timeout=PATIENCE, env={**os.environ, 'PYTHONPATH': folder})
    assert done.stdout == f'{errno.EFBIG} True []\n', done.stderr


def test_a_damaged_recording_is_written_as_far_as_it_goes(perf_prof, sinks, write, query, tmp_path):
    whole_one = write(host='whole').rows
    with open(RECORDING, 'rb') as f:
        data = f.read()
    with perf_prof.open(data[:len(data) * 7 // 10]) as s:
        with pytest.raises(RuntimeError, match='<bytes>'):
            sinks.parquet(s, tmp_path / 'set', host='cut', date=DAY)
        rows = s.stats()['rows']
    assert files(tmp_path) == whole(tmp_path)
    assert query("select count(*) from events where host = 'cut'") == [(rows,)] and 0 < rows < whole_one


def test_a_long_name_of_an_event(sinks):
    name = sinks._folder_name('event', 'ü' * 300)
    assert len(name) < 255 and re.fullmatch('event=(%C3%BC)+(%C3)?', name)


@pytest.mark.parametrize('wrong, error, says', [
    ({'host': None}, ValueError, 'host=None: expected the name of the machine of the recording'),
    ({'date': None}, ValueError, 'date=None: expected the day of the recording'),
    ({'host': ''}, ValueError, "host='': expected the name of a machine"),
    ({'host': 3}, TypeError, 'host=3: expected the name of a machine'),
    ({'date': 'today'}, ValueError, "date='today': expected a day such as \"2026-01-31\""),
    ({'date': 3}, TypeError, 'date=3: expected a day'),
    ({'max_bytes': 0}, ValueError, 'max_bytes=0: expected a number above 0'),
    ({'max_seconds': '1'}, TypeError, "max_seconds='1': expected a number"),
])
def test_bad_input(perf_prof, sinks, tmp_path, wrong, error, says):
    with perf_prof.open(RECORDING) as s:
        with pytest.raises(error, match=re.escape(says)):
            sinks.parquet(s, tmp_path / 'set', **{'host': HOST, 'date': datetime.date(2026, 1, 31), **wrong})
    assert not files(tmp_path)


def test_wrong_sources(perf_prof, sinks, tmp_path):
    s = perf_prof.open(RECORDING)
    s.close()
    with pytest.raises(ValueError, match='closed'):
        sinks.parquet(s, tmp_path, host=HOST, date=DAY)
    with pytest.raises(TypeError, match='expected a perf_prof.Session'):
        sinks.parquet(RECORDING, tmp_path, host=HOST, date=DAY)
    (tmp_path / 'file').write_text('')
    with perf_prof.open(RECORDING) as s:
        with pytest.raises(NotADirectoryError, match='file'):
            sinks.parquet(s, tmp_path / 'file', host=HOST, date=DAY)


def test_what_is_imported(run, reader, tmp_path):
    """The module when it is used; pandas never: where it is installed, its import takes as long as writing a million rows."""
    code = f'''import sys
sys.path.append({os.path.dirname(os.path.dirname(reader('pyarrow').__file__))!r})
import perf_prof
print("perf_prof.sinks" in sys.modules, perf_prof.sinks.__name__)
written = perf_prof.sinks.parquet(perf_prof.open({RECORDING!r}), {str(tmp_path / 'set')!r}, host="h", date="2026-01-31")
print(written.rows > 0, "pandas" in sys.modules)'''
    assert run(code) == 'False perf_prof.sinks\nTrue False\n'


def test_without_pyarrow(run):
    code = f'''import sys; sys.modules["pyarrow"] = None
import perf_prof
try:
    perf_prof.sinks.parquet(perf_prof.open({RECORDING!r}), "nothing", host="h", date="2026-01-31")
except ImportError as error:
    print(error)'''
    assert 'pip install pyarrow' in run(code)


def test_a_large_batch_of_one_event_is_not_copied(sinks, reader):
    pyarrow = reader('pyarrow')
    names = pyarrow.array(['a:b']).dictionary_encode().take(pyarrow.array([0] * sinks.WHOLE))
    rows = pyarrow.record_batch({'_event': names, '_time': pyarrow.array(range(sinks.WHOLE))})
    assert sinks._by_event(rows)['a:b'] is rows
    assert sinks._by_event(rows.slice(1))['a:b'].column('_time').buffers()[1].address != rows.column('_time').buffers()[1].address


# ---- perf-prof convert --to parquet -----------------------------------------------------


@pytest.fixture
def convert(prof, venv, sinks, tmp_path):
    """convert(WORD...): stderr of the command."""
    def run(*words, code=0, **kwargs):
        done = subprocess.run([prof, 'convert', '--to', 'parquet', '--venv', venv, *map(str, words)], capture_output=True, text=True,
                              timeout=PATIENCE, **kwargs)
        assert done.returncode == code and done.stdout == '', done
        return done.stderr
    return run


TO = '--host', HOST, '--date', DAY


def test_the_command_writes_the_same(convert, write, query, tmp_path):
    written = write()
    want = sorted(query('from events'), key=repr)
    assert len(want) == written.rows
    shutil.rmtree(tmp_path / 'set')
    assert convert(RECORDING, '-o', tmp_path / 'set', *TO) == ''
    assert sorted(query('from events'), key=repr) == want
    shutil.rmtree(tmp_path / 'set')
    convert('-I', RECORDING, '-e', 'sched:sched_switch/prev_pid==0/', '-o', tmp_path / 'set', *TO)
    assert query('select distinct event, prev_pid from events') == [('sched:sched_switch', 0)]


def test_the_command_with_a_recording_without_a_sample(convert, tmp_path):
    """As in all formats: tests/cli/convert.toml."""
    counts = os.path.join(os.path.dirname(RECORDING), '..', 'perfstat', 'pipe.data')
    assert 'pipe.data: there are no samples to convert\n' in convert('-I', counts, '-o', tmp_path / 'set', *TO, code=1)
    assert 'none passes the filters' in convert('-I', RECORDING, '-e', 'sched:sched_switch/prev_pid==999999/', '-o', tmp_path / 'set', *TO, code=1)
    assert not (tmp_path / 'set').exists()


def test_a_name_that_ends_in_parquet(prof, tmp_path):
    done = subprocess.run([prof, 'convert', RECORDING, '-o', tmp_path / 'x.parquet'], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2 and 'x.parquet: expected --to parquet, with -o FOLDER, --host NAME and --date DAY' in done.stderr, done


def test_the_command_writes_stacks(perf_prof, convert, sinks, reader, tmp_path):
    """Where the recording has call chains: the same as of a session with callchains=True."""
    chains = os.path.join(os.path.dirname(RECORDING), 'amd64-5.10-chains.data')
    with perf_prof.open(chains, callchains=True) as s:
        sinks.parquet(s, tmp_path / 'own', host=HOST, date=DAY)
    convert(chains, '-o', tmp_path / 'set', *TO)
    counts = []
    with reader('duckdb').connect() as db:
        for name in 'own', 'set':
            rows, stacks, frames = (f"read_parquet('{tmp_path}/{name}{more}/**/*.parquet')" for more in ('', '-stacks', '-frames'))
            counts.append((db.execute(f'select folded, count(*) from {rows} join {stacks} using (_stack) group by all order by all').fetchall(),
                           db.execute(f'select count(*), count(distinct symbol) from {frames}').fetchall()))
    assert counts[0] == counts[1] and len(counts[0][0]) > 1


def test_the_command_makes_pyarrow_give_memory_back(run, reader):
    packages = os.path.dirname(os.path.dirname(reader('pyarrow').__file__))
    assert run(f'import sys; sys.path.append({packages!r}); from perf_prof import _parquetcommand; _parquetcommand.check(); import pyarrow; '
               'print(pyarrow.default_memory_pool().backend_name)') == 'system\n'


@pytest.mark.parametrize('words, code, message', [
    (TO, 2, '-o FOLDER'), (('-o', 'x', *TO[:2]), 2, '--date DAY'), (('-o', 'x', *TO[2:]), 2, '--host NAME'),
    (('--time', '1,2', '-o', 'x', *TO), 1, 'no event in the time that --time selects'),
    (('-o', 'x', '--host', HOST, '--date', '2026-13-01'), 2, '2026-13-01'), (('-o', '/proc/x', *TO), 1, '/proc/x'),
])
def test_wrong_words(convert, tmp_path, words, code, message):
    assert message in convert(RECORDING, *words, code=code, cwd=tmp_path)
    assert files(tmp_path) == []


def test_a_cut_recording(convert, query, tmp_path):
    """What can be read is written, also where a column of text has no text."""
    with open(RECORDING, 'rb') as file:
        (tmp_path / 'cut.data').write_bytes(file.read()[:9000])
    assert 'truncated' in convert(tmp_path / 'cut.data', '-o', tmp_path / 'set', *TO, code=1)
    assert query('select distinct event from events') == [('lost:damaged',)]


FULL_COMMAND = r'''
mount -t tmpfs -o size=16k none "$2" || exit 9
"$0" convert --to parquet --venv "$1" -I "$3" -o "$2/a set" --host h --date 2026-01-31 2>"$4"
echo $?
find "$2" -type f -name '[0-9]*.parquet' | wc -l
find "$2" -type f | wc -l
sed -n 's/.* again: //p' "$4" | sh
find "$2" -type f | wc -l
'''


@pytest.mark.deep
@pytest.mark.live
def test_the_command_on_a_full_disk(prof, venv, sinks, tmp_path):
    """What stays is whole, and its removal is said: who converts again would have its rows twice."""
    if requires.root():
        pytest.skip(requires.root())
    disk, said = tmp_path / 'disk', tmp_path / 'said'
    disk.mkdir()
    done = subprocess.run(['unshare', '-m', 'sh', '-c', FULL_COMMAND, prof, venv, disk, RECORDING, said], capture_output=True, text=True,
                          timeout=PATIENCE)
    if done.returncode == 9:
        pytest.skip(f'needs to mount a tmpfs: {done.stderr}')
    code, complete, left, after = map(int, done.stdout.split())
    assert code == 1 and 0 < complete == left and after == 0, (done, said.read_text())
    assert f'perf-prof: complete files stay: {complete}; to remove them before you convert again: find -H \'{disk}/a set\' -name "*-' \
        in said.read_text()
    assert re.search(r'\nperf-prof: \S+/disk/a set/.*\.parquet: No space left on device\n', said.read_text())


@pytest.mark.parametrize('out', ['!', '-x', '(', "it's", 'link', 'new\nline'])
def test_the_printed_removal_takes_no_other_files(convert, sinks, tmp_path, out):
    """Of a recording that was cut, whose complete files stay."""
    with open(RECORDING, 'rb') as f:
        data = f.read()
    (tmp_path / 'cut.data').write_bytes(data[:len(data) * 7 // 10])
    if out == 'link':
        (tmp_path / 'place').mkdir()
        (tmp_path / out).symlink_to('place')
    said = convert('cut.data', '-o', out, *TO, code=1, cwd=tmp_path)
    (tmp_path / out / 'other.parquet').write_text('')
    command = re.search('to remove them before you convert again: (find .*)', said)
    assert bool(command) == (out != 'new\nline') and '\nline' not in said, said
    if command:
        subprocess.run(['sh', '-c', command[1]], cwd=tmp_path, check=True)
        left = {name for _, _, names in os.walk(tmp_path / out) for name in names}
        assert left == {'other.parquet'} and (tmp_path / 'cut.data').exists()


@pytest.mark.live
def test_not_with_more_rights(convert, live, tmp_path):
    error = convert(RECORDING, '-o', tmp_path / 'set', *TO, code=1, env={**os.environ, 'SUDO_UID': '65534', 'SUDO_GID': '65534'})
    assert 'without sudo' in error and files(tmp_path) == []
