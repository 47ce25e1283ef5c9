# SPDX-License-Identifier: Apache-2.0
"""Names of code that was made while it was recorded: kept in the recording, or read while its process lives."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest

from frame.analyses import Perf

pytestmark = pytest.mark.live

MS = '300'
# by a period, and slowly: kernel.perf_event_max_sample_rate may be as low as 500
CLOCK = ['-e', 'cpu-clock:u//period=4000000/']
PERFS_CLOCK = ['-e', 'cpu-clock:u', '-c', '4000000']


@pytest.fixture(scope='module')
def jit(build):
    path = os.path.join(build, 'tests/helpers/jit')
    if not os.path.exists(path) or subprocess.run([path, 'none', '0'], stdin=subprocess.DEVNULL,
                                                  stdout=subprocess.DEVNULL).returncode == 77:
        pytest.skip('needs tests/helpers/jit, for x86-64 or arm64')
    return path


@pytest.fixture
def record(prof, jit, tmp_path):
    """record(how, *options): its pid, when its map is gone."""
    def run(how, *options, then=()):
        done = subprocess.run([prof, 'record', '-q', '-o', 'x.data', *CLOCK, *options, '--', jit, how, MS, *then],
                              cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        pid = int(re.match(r'pid (\d+)', done.stdout)[1])
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f'/tmp/perf-{pid}.map')
        assert done.returncode == 0 and not done.stderr, done.stderr
        return pid
    return run


def shares(analyse, *args):
    """{function: (self, address, dso)} of one event's section."""
    table, = (t for t in analyse('report', '--json', *args).lines if t['table'] == 'report')
    return functions(table)


def functions(table):
    assert table['samples'] > 20
    return {r['function']: (r['self'], r.get('address'), r['dso']) for r in table['rows']}


def is_named(found, pid):
    # of the few samples on a busy machine, one function may have nearly all
    assert 'jit_long' in found and sum(found.get(name, (0,))[0] for name in ('jit_long', 'jit_short')) > 60, found
    assert found['jit_long'][2] == f'/tmp/perf-{pid}.map'
    assert found.get('[unknown]', (0,))[0] < 5, found


@contextlib.contextmanager
def running(jit, how, *argv, beside=False, **options):
    """The process, which has done its work and waits, and what watched it meanwhile, and another one beside it."""
    with contextlib.ExitStack() as stack:
        process = subprocess.Popen([jit, how, MS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        stack.callback(process.wait)
        stack.callback(process.kill)
        process.pid = int(process.stdout.readline().split()[1])
        pids = [process.pid]
        if beside:
            stays = subprocess.Popen(['sleep', '600'])
            stack.callback(stays.wait)
            stack.callback(stays.kill)
            pids.append(stays.pid)
        watcher = subprocess.Popen([*map(str, argv), '-p', ','.join(map(str, pids))], stdin=subprocess.DEVNULL, **options)
        stack.callback(watcher.wait)
        stack.callback(watcher.kill)
        with open(f'/proc/{watcher.pid}/wchan') as wchan:
            wait_until(lambda: wchan.seek(0) or 'poll' in wchan.read())
        process.stdin.write('x')
        process.stdin.flush()
        assert process.stdout.readline() == 'done\n'
        stack.callback(pathlib.Path(f'/tmp/perf-{process.pid}.map').unlink, missing_ok=True)
        yield process, watcher


def wait_until(what):
    until = time.monotonic() + 60
    while not what():
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.deep
@pytest.mark.parametrize('options', [[], ['--call-graph', 'dwarf,1024'], ['-z']], ids=' '.join)
@pytest.mark.parametrize('how', ['first', 'late', 'dump'])
def test_names_are_kept(record, analyse, tmp_path, how, options):
    pid = record(how, *options)
    is_named(shares(analyse, '-I', tmp_path / 'x.data'), pid)
    content = (tmp_path / 'x.data').read_bytes()
    assert b'jit_long' in content and b'never_ran' not in content


def test_what_gives_names_is_said(record, prof, tmp_path):
    for how, wanted in ('none', True), ('first', False):
        record(how)
        text = subprocess.run([prof, 'report', 'x.data'], cwd=tmp_path, capture_output=True, text=True, timeout=60).stdout
        assert bool(re.search(r'% of the samples are in code .* node --perf-basic-prof', text)) == wanted, text


@pytest.mark.deep
def test_two_runs_are_compared_by_names(record, analyse, tmp_path):
    """Their maps have other names."""
    for name in 'before', 'after':
        record('first')
        (tmp_path / 'x.data').rename(tmp_path / name)
    table, = analyse('diff', '--json', 'before', 'after').lines
    rows = [r for r in table['rows'] if r['function'].startswith('jit_')]
    assert {(r['function'], r['dso']) for r in rows} == {('jit_long', '[JIT]'), ('jit_short', '[JIT]')} and len(rows) == 2
    assert not {'gone', 'new'} & {r['verdict'] for r in rows}


@pytest.mark.deep
def test_perf_reads_the_file(record, tmp_path, perf):
    record('late', '-g')
    script = subprocess.run([perf, 'script', '-f', '-i', 'x.data', '-F', 'ip,period'], cwd=tmp_path, capture_output=True,
                            text=True, timeout=60)
    assert script.returncode == 0 and not re.search('unknown|invalid|error', script.stderr, re.I), script.stderr
    assert len(re.findall(r'^ +\d+', script.stdout, re.M)) > 20


@pytest.mark.deep
def test_each_file_has_its_own(record, prof, tmp_path):
    pid = record('first', '--switch-output', '100ms')
    files = sorted(tmp_path.glob('x.data*'))
    assert len(files) > 1
    tables = []
    for file in files:      # those of a time in which the program got no CPU have no samples
        done = subprocess.run([prof, 'report', '--json', '-I', file], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and re.fullmatch(r'(perf-prof: \S+: it has no samples\n)?', done.stderr), done
        tables += map(json.loads, done.stdout.splitlines())
    rows = [r for t in tables for r in t['rows'] if r['dso'].startswith(('/tmp/perf-', '//anon'))]
    assert rows and {r['function'] for r in rows} <= {'jit_long', 'jit_short'} and \
        {r['dso'] for r in rows} == {f'/tmp/perf-{pid}.map'}


@pytest.mark.deep
def test_a_program_that_becomes_another(record, jit, analyse, tmp_path):
    pid = record('first', then=[jit, 'late', MS])
    is_named(shares(analyse, '-I', tmp_path / 'x.data'), pid)


@pytest.mark.deep
def test_names_of_a_process_that_ended_before_the_dump(prof, jit, analyse, tmp_path):
    options = ['--overwrite', '-N', '1', '-o', 'x.data', *CLOCK]
    with running(jit, 'late', prof, 'record', '-q', *options, beside=True, cwd=tmp_path) as (process, recorder):
        path, fds = f'/tmp/perf-{process.pid}.map', f'/proc/{recorder.pid}/fd'
        wait_until(lambda: any(os.path.realpath(os.path.join(fds, fd)) == path for fd in os.listdir(fds)))
        os.unlink(path)
        process.stdin.close()
        process.wait(timeout=60)
        recorder.send_signal(signal.SIGUSR2)
        assert recorder.wait(timeout=60) == 0
        is_named(shares(analyse, '-I', tmp_path / 'x.data'), process.pid)


def test_without_a_recording_names_come_at_the_end(prof, jit, tmp_path):
    """As `jcmd PID Compiler.perfmap` writes them shortly before."""
    with running(jit, 'late', prof, 'profile', '-q', '--json', *CLOCK, cwd=tmp_path, stdout=subprocess.PIPE,
                 text=True) as (process, watcher):
        watcher.send_signal(signal.SIGINT)
        line, = watcher.communicate(timeout=60)[0].splitlines()
        is_named(functions(json.loads(line)), process.pid)


@pytest.mark.deep
def test_through_a_pipe_the_map_is_read_while_the_process_lives(prof, jit, tmp_path):
    """The process begins after the reader, as in `record -o - -- node x.js | report -I -`."""
    reader = subprocess.Popen([prof, 'report', '-q', '--json', '-I', '-'], cwd=tmp_path, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    with open(f'/proc/{reader.pid}/wchan') as wchan:
        wait_until(lambda: wchan.seek(0) or 'pipe' in wchan.read())
    began = time.monotonic()
    wait_until(lambda: time.monotonic() > began + 0.05)        # start times of processes have a resolution of 10 ms
    with running(jit, 'late', prof, 'record', '-q', '-o', '-', *CLOCK, cwd=tmp_path, stdout=reader.stdin) as (process, watcher):
        reader.stdin.close()
        watcher.send_signal(signal.SIGINT)
        assert watcher.wait(timeout=60) == 0
        reader.stdin = None
        line, = reader.communicate(timeout=60)[0].splitlines()
        is_named(functions(json.loads(line)), process.pid)


@pytest.mark.deep
def test_of_a_recording_that_was_killed(prof, jit, tmp_path):
    def report():
        done = subprocess.run([prof, 'report', '--json', '-I', 'x.data'], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0 and 'killed' in done.stderr
        table, = map(json.loads, done.stdout.splitlines())
        return table

    with running(jit, 'late', prof, 'record', '-q', '-o', 'x.data', *CLOCK, cwd=tmp_path) as (process, watcher):
        wait_until(lambda: report()['samples'] > 20)   # written once a second
        watcher.kill()
        watcher.wait()
        is_named(functions(report()), process.pid)


def test_without_a_name_the_address_and_the_mapping_are_told(record, analyse, tmp_path):
    record('none')
    part, address, dso = shares(analyse, '-I', tmp_path / 'x.data')['[unknown]']
    first, last = (int(x, 16) for x in address.split('-'))
    assert part > 60 and 0x240 < last - first < 0x400 and dso == '//anon'
    text = analyse('report', '-I', tmp_path / 'x.data').text
    assert re.search(rf'^ *[\d.]+ +[\d.]+ +\[unknown\] {address} +//anon$', text, re.M), text


@pytest.mark.deep
def test_of_a_recording_of_perf_the_map_is_read_while_the_process_lives(jit, analyse, tmp_path, perf):
    path = tmp_path / 'perf.data'
    with subprocess.Popen([jit, 'late', MS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        pid = int(process.stdout.readline().split()[1])
        recorder = Perf([perf, 'record', '-q', *PERFS_CLOCK, '-o', path, '-p', str(pid)], tmp_path)
        try:
            process.stdin.write('x')
            process.stdin.flush()
            assert process.stdout.readline() == 'done\n'
            recorder.finish(stop=True)
            is_named(shares(analyse, '-I', path), pid)
            # one that began later is another, whatever its number
            shutil.copy(path, tmp_path / 'old.data')
            os.utime(tmp_path / 'old.data', (1, 1))
            assert 'jit_long' not in shares(analyse, '-I', tmp_path / 'old.data')
            process.stdin.close()
            process.wait(timeout=60)
            # the map that it has left, unless it was written later, or long before
            is_named(shares(analyse, '-I', path), pid)
            for seconds in (100, -1000):
                os.utime(f'/tmp/perf-{pid}.map', (time.time() + seconds,) * 2)
                assert 'jit_long' not in shares(analyse, '-I', path)
        finally:
            recorder.process.kill()
            process.stdin.close()
            process.wait(timeout=60)
            os.unlink(f'/tmp/perf-{pid}.map')
    assert 'jit_long' not in shares(analyse, '-I', path)
