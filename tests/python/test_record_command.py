# SPDX-License-Identifier: Apache-2.0
"""perf-prof record: what it writes is read alike by us and by perf, event by event, however it ended."""
import json
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys

import pytest

from frame.analyses import LATE
from frame.declared import without_lowered_rates
from frame.session import EVENT, Command, Storm, ran, until, waiting

pytestmark = [pytest.mark.live('tracefs', 'root', 'perf'), pytest.mark.slow]

KILLED = r'perf\.data: the recording has no end: .*what came after the last event here is missing'
CUT = 'the recording ends after'


class Recorder(Command):
    may_lose = False        # a storm without an end, on a busy machine

    def __call__(self, *args, **more):
        return self.run('record', *args, **more)

    def start(self, *args, **more):
        return subprocess.Popen([self.prof, 'record', *map(str, args)], cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **more)

    def on(self, *args):
        """It runs, and its events are on: it waits for them."""
        return waiting(self.start(*args))

    def parts(self):
        return sorted(p for p in os.listdir(self.folder) if p.startswith('perf.data'))

    def read(self, *args, check=0, errors=''):
        done = ran([self.prof, *args], cwd=self.folder)
        cut = errors == KILLED and CUT in done.stderr       # the kill was in the middle of a write
        assert done.returncode == (1 if cut else check), done
        said = re.sub('^perf-prof: .*: it has no samples\n', '', done.stderr)
        said = LATE.sub('', said) if self.may_lose else said
        assert cut or (re.search(errors, said) if errors else not said), done
        return done.stdout

    def perf(self, *args):
        done = ran(['perf', *args], cwd=self.folder, timeout=120)
        assert done.returncode == 0, done
        return done.stdout

    def theirs(self, path='perf.data'):
        """(tid, cpu, ns, event) of each sample, as perf reads them."""
        out = self.perf('script', '-f', '--ns', '-i', path, '-F', 'tid,cpu,time,event')
        found = re.findall(r'^ *(-?\d+) +\[(\d+)\] +(\d+)\.(\d{9}): +([\w:.-]+): *$', out, re.M)
        return [(int(tid) % 2**32, int(cpu), int(s) * 10**9 + int(ns), name) for tid, cpu, s, ns, name in found]

    def ours(self, path='perf.data', killed=False):
        script = self.folder / 'rows.py'
        script.write_text('def __sample__(e):\n    print("row", e._tid, e._cpu, e._time, e._event)\n')
        rows = re.findall(r'^row (\d+) (\d+) (\d+) (\S+)$',
                          self.read('python', '-I', path, 'rows.py', errors=KILLED if killed else ''), re.M)
        return [(int(tid), int(cpu), int(ns), name) for tid, cpu, ns, name in rows]

    def same(self, path='perf.data', least=1):
        """Read alike by both; the rows."""
        mine, his = self.ours(path), self.theirs(path)
        assert len(mine) >= least and sorted(mine) == sorted(his)
        return mine


@pytest.fixture
def record(prof, tmp_path):
    return Recorder(prof, tmp_path)


@pytest.mark.deep
@pytest.mark.parametrize('args', [
    ['-e', EVENT, '-z'], ['-e', 'sched:*,' + EVENT, '--monotonic'], ['-e', EVENT, '--buffer', '64M'],
    ['-e', EVENT + ',profile/-F 2000/,page-faults'], ['-F', '3000'],
])
def test_event_by_event(record, storm, args):
    calls = 1000000 if '-F' in args else 50000      # some hundred samples, or as many events as the rings hold
    record(*args, '-m', '16M', '--', storm, 'getppid', calls)
    rows = record.same(least=20)
    if EVENT in args:
        assert len([r for r in rows if r[3] == EVENT]) == 50000


@pytest.mark.parametrize('out', ['-', '/dev/stdout'])
def test_output_of_the_command_is_not_in_a_piped_recording(prof, tmp_path, out):
    done = subprocess.run([prof, 'record', '-q', '-e', EVENT, '-o', out, '--', 'sh', '-c', 'echo heard; echo told >&2; sleep 0.1'],
                          capture_output=True, timeout=60)
    assert done.returncode == 0 and without_lowered_rates(done.stderr.decode()) == 'heard\ntold\n'
    assert done.stdout.startswith(b'PERFILE2') and b'heard\n' not in done.stdout
    read = subprocess.run([prof, 'script', '-I', '-'], input=done.stdout, capture_output=True, timeout=60)
    assert read.returncode == 0 and not read.stderr, read
    named = ran([prof, 'record', '-q', '-e', EVENT, '-o', tmp_path / 'x.data', '--', 'echo', 'heard'])
    assert named.stdout == 'heard\n'


@pytest.mark.soak
@pytest.mark.parametrize('cpu', [0, 1])
def test_every_ring_wakes_its_reader(record, storm, cpu):
    """1 MiB are 10 ms of this storm: what is read 20 times a second only is lost. So is what comes while the
    machine itself is away for that long: it must have nothing else to do."""
    if cpu >= os.cpu_count():
        pytest.skip('needs two CPUs')
    record('-e', EVENT, '-m', '2M', '--', storm, '--cpu', cpu, 'getppid', 200000)
    assert len(record.theirs()) == 200000


@pytest.mark.parametrize('words', [['-t', '{pid}'], ['-C', f'0-{os.cpu_count() - 1}'], []])
def test_targets(record, storm, words):
    with Storm(storm, 'getppid', 1000) as one:
        run = record.on('-e', EVENT + f'/common_pid=={one.pid}/', '-N', 1000, *[word.format(pid=one.pid) for word in words])
        one.run()
        out, err = run.communicate(timeout=60)
        assert (run.returncode, out, err) == (0, '', '')
    assert len(record.same()) == 1000


@pytest.mark.parametrize('everybody', [[], ['-a']])
def test_a_command_has_no_mappings_but_its_own(record, storm, everybody):
    """perf takes the lowest place of a library for where it lies, though it was mapped before the exec: with
    the recorder's own it found no callers in one recording of two."""
    own = record.folder / 'storm'       # other tests run theirs meanwhile
    shutil.copy(storm, own)
    record('-F', '1000', *everybody, '--', own, 'getppid', 100000)
    places = {}
    for pid, file in re.findall(r'MMAP2? (\d+)/\d+: \[.*?\]: \S+ (\S+)$', record.perf(
            'script', '-f', '-i', 'perf.data', '--show-mmap-events'), re.M):
        places.setdefault(pid, []).append(file)
    its = [[os.path.basename(file) for file in files] for files in places.values() if os.path.realpath(own) in files]
    assert len(its) == 1 and its[0].count('libc.so.6') == 1 and 'perf-prof' not in its[0]


def kernel_addresses():
    """Where each name of the kernel lies: functions have several."""
    places = {}
    with open('/proc/kallsyms') as f:
        for line in f:
            addr, _, name = line.split()[:3]
            places.setdefault(name, set()).add(addr)
    return places


@pytest.fixture(scope='module')
def sampled(prof, storm, tmp_path_factory):
    """A storm that was sampled, with call chains."""
    record = Recorder(prof, tmp_path_factory.mktemp('sampled'))
    record('-F', '4000', '-g', '--', storm, 'getppid', 1000000)
    return record


def build_id(path):
    out = ran(['readelf', '-n', path], check=True).stdout
    return re.search(r'Build ID: (\w+)', out).group(1)


def test_build_ids_and_events_in_perf_s_lists(sampled, storm):
    """Also of what perf inject passes on, which reads the layout of pipes only through one."""
    with open(sampled.folder / 'perf.data', 'rb') as f, open(sampled.folder / 'injected.data', 'wb') as out:
        subprocess.run(['perf', 'inject', '-b'], stdin=f, stdout=out, check=True, timeout=60)
    rows = sampled.theirs()
    assert len(rows) > 20 and sorted(sampled.theirs('injected.data')) == sorted(rows)
    assert os.path.realpath(storm) in sampled.perf('buildid-list', '-i', 'injected.data')
    ids = dict(reversed(line.split(None, 1)) for line in
               sampled.perf('buildid-list', '-i', 'perf.data').splitlines() if len(line.split()) > 1)
    with open('/sys/kernel/notes', 'rb') as f:
        assert bytes.fromhex(ids['[kernel.kallsyms]']) in f.read()
    assert ids[os.path.realpath(storm)] == build_id(storm)
    assert re.match(r'(cpu-clock|cycles)', sampled.perf('evlist', '-i', 'perf.data'))


def test_report_agrees_with_perf_report(sampled):
    theirs = re.findall(r'^ +([\d.]+)% .*\[k\] (\S+)', sampled.perf(
        'report', '-f', '--stdio', '--no-children', '-g', 'none', '-i', 'perf.data', '--sort', 'sym'), re.M)
    ours = {m[1]: float(m[0]) for m in re.findall(r'^ *(\d+\.\d+) +[\d.]+ +(\S+)', sampled.read('report', '--no-children'), re.M)}
    places = kernel_addresses()
    assert len(theirs) > 2
    for percent, name in theirs[:3]:
        same = [n for n in ours if places.get(n, set()) & places[name]]
        assert len(same) == 1 and abs(ours[same[0]] - float(percent)) < 0.1


def test_rate_and_levels_beside_events(record, storm):
    record('-F', '99', '--exclude-kernel', '-e', 'cpu-clock,task-clock//freq=50/,sched:sched_switch', '--', storm, 'getppid', '1000')
    attrs = {line.split(':')[0]: line for line in record.perf('evlist', '-v', '-i', 'perf.data').splitlines()}
    for name, rate in (('cpu-clock', 99), ('task-clock', 50)):
        assert f'{{ sample_period, sample_freq }}: {rate},' in attrs[name] and ' freq: 1,' in attrs[name], attrs
        assert ' exclude_kernel: 1,' in attrs[name], attrs
    others = attrs.keys() - {'cpu-clock', 'task-clock', 'dummy'}
    assert others and not any('exclude_kernel' in attrs[name] for name in others), attrs


@pytest.mark.parametrize('more', [[], ['-z', '-e', 'page-faults,context-switches,profile/-F 99/']], ids=' '.join)
@pytest.mark.soak     # a starved storm loses nothing
def test_losses_behind_the_last_record_are_in_the_file(record, storm, more):
    """Nothing comes that would carry the kernel's LOST record: the counters know."""
    with Storm(storm, 'getppid', 20000) as one:
        recorder = record.on('-v', '-m', '64K', '-e', EVENT, *more, '-p', one.pid)
        recorder.send_signal(signal.SIGSTOP)
        one.run()
        recorder.send_signal(signal.SIGCONT)
        recorder.send_signal(signal.SIGINT)
        errors = recorder.communicate(timeout=20)[1]
    lost = int(re.search(r'perf\.data: \d+ events, (\d+) lost', errors).group(1))
    assert 10000 < lost < 21000
    record.read('report', '-e', EVENT, errors=rf'delivered, {lost} lost')
    told = re.findall('PERF_RECORD_LOST lost ([0-9]+)', record.perf('script', '--show-lost-events', '-i', 'perf.data'))
    assert sum(map(int, told)) == lost


def test_a_killed_recording_opens(record, storm):
    with Storm(storm, 'getppid', 10**9, 20000) as one:
        run = record.on('-e', EVENT, '-p', one.pid)
        one.go()
        until(lambda: (record.folder / 'perf.data').exists() and os.stat(record.folder / 'perf.data').st_size > 200 << 10, run)
        run.kill()
        run.communicate()
    mine, his = record.ours(killed=True), record.theirs()
    assert len(mine) > 2000 and sorted(mine) == sorted(his)


@pytest.mark.deep
@pytest.mark.parametrize('more', [[], ['-z']])
def test_a_full_disk_ends_it_and_the_file_opens(record, storm, more):
    def little():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    record('-e', EVENT, *more, '-m', '8M', '--', storm, 'getppid', 3000000, preexec_fn=little, check=1,
           errors='perf.data: File too large; the first [0-9]+ bytes were written and can be read')
    assert 500 << 10 < os.stat(record.folder / 'perf.data').st_size <= 1 << 20
    mine, his = record.ours(killed=True), record.theirs()
    assert len(mine) > 1000 and sorted(mine) == sorted(his)


@pytest.mark.deep
@pytest.mark.parametrize('more', [[], ['-z']])
def test_a_largest_size(record, storm, more):
    done = record('-e', EVENT, '-v', '-m', '64M', *more, '--max-size', '1M', '--', storm, 'getppid', 3000000, 150000,
                  errors=' events, 0 lost')
    told = int(re.search(r'perf.data: (\d+) events', done.stderr).group(1))
    assert len(re.findall(r'perf\.data has \d+ bytes: --max-size is reached, so the recording ends here, and the command is ended$',
                          done.stderr, re.M)) == 1, done.stderr
    assert 1 << 20 <= os.stat(record.folder / 'perf.data').st_size < 64 << 20
    assert len(record.same()) == told < 3000000


@pytest.mark.deep
@pytest.mark.parametrize('switch', ['80K', '100ms'])
def test_one_file_after_the_other(record, storm, switch):
    record('-e', EVENT, '-m', '64M', '-z', '--switch-output', switch, '--', storm, 'getppid', 50000, 25000)
    names = record.parts()
    assert len(names) > 1 and names[0] == 'perf.data'      # what comes late comes in one piece
    assert all(re.fullmatch(r'perf\.data\.\d{16}', n) for n in names[1:])
    rows = [row for name in names[1:] + names[:1] for row in record.same(name, least=1)]     # the last file is not empty
    assert len(rows) == 50000 and rows == sorted(rows, key=lambda r: r[2])


TOUCHES = 'import mmap; m = mmap.mmap(-1, 2000 * mmap.PAGESIZE); [m.write_byte(1) or m.seek(4095, 1) for _ in range(2000)]'
PERIODS = "def __sample__(e):\n    print('row', e._event, e._period, e.period, e.to_dict()['period'])\n"


def test_one_hit_in_a_period_is_sampled_and_counts_for_all(record):
    """As by perf -c: each event's period is read alike in recordings and live, though no sample carries it."""
    events, job = 'page-faults:u/period=1/,minor-faults:u/period=10/,major-faults:u/period=1/', ['--', sys.executable, '-c', TOUCHES]
    (record.folder / 'periods.py').write_text(PERIODS)
    record('-e', events, '-m', '4M', *job)
    for text in record.read('python', '-I', 'perf.data', 'periods.py'), record.read('python', '-e', events, '-m', '4M', 'periods.py', *job):
        rows = re.findall(r'^row (\S+) (\d+) (\d+) (\d+)$', text, re.M)
        of = {name: [r[1:] for r in rows if r[0] == name] for name in ('page-faults:u', 'minor-faults:u', 'major-faults:u')}
        assert set(of['minor-faults:u']) == {('10', '10', '10')} and set(of['page-faults:u']) == {('1', '1', '1')}
        minor = len(of['page-faults:u']) - len(of['major-faults:u'])
        assert abs(len(of['minor-faults:u']) - minor // 10) <= 1 and minor >= 2000
    text = record.read('trace', '--json', '-I', 'perf.data')
    periods = {(e['event'], e['fields'].get('period', 1)) for e in map(json.loads, text.splitlines()) if 'fields' in e}
    assert periods - {('major-faults:u', 1)} == {('page-faults:u', 1), ('minor-faults:u', 10)}
    theirs = record.perf('script', '-F', 'event,period').split()
    assert theirs.count('10') == theirs.count('minor-faults:u:') > 190


def test_the_oldest_files_go(record, storm):
    with Storm(storm, 'getppid', 10**9, 5000) as one:
        run = record.on('-e', EVENT, '-m', '8M', '-p', one.pid, '--switch-output', '100ms', '--max-files', 2)
        one.go()
        seen = []

        def five():             # the first three are gone
            seen.extend(name for name in record.parts()[1:] if name not in seen)
            return len(seen) >= 5
        until(five, run)
        run.send_signal(signal.SIGINT)
        assert run.communicate(timeout=60)[0] == '' and run.returncode == 0
    kept, record.may_lose = record.parts(), True
    assert len(kept) == 3 and not set(kept) & set(seen[:3])
    times = [r[2] for name in kept[1:] + ['perf.data'] for r in record.same(name, least=0)]
    assert times and times == sorted(times)


def test_a_signal_switches(record, storm):
    with Storm(storm, 'getppid', 1000) as one:
        run = record.on('-e', EVENT, '-p', one.pid, '--switch-output', 'signal')
        one.run()
        run.send_signal(signal.SIGUSR2)
        until(lambda: len(record.parts()) > 1, run)
        run.send_signal(signal.SIGINT)
        assert run.communicate(timeout=60) == ('', '') and run.returncode == 0
    first, second = record.same(record.parts()[1]), record.same(least=0)
    assert len(first + second) == 1000 and first + second == sorted(first + second, key=lambda row: row[2])


def test_of_everybody_with_a_filter_the_kernel_cannot_do(record):
    """-a beside a command: it is not the target."""
    record('-e', 'sched:sched_switch/next_pid+1>10/', '-a', '-m', '16M', '--', 'sleep', '0.3')
    pids = [int(n) for n in re.findall(r'next_pid=(\d+)', record.perf('script', '-f', '-i', 'perf.data', '-F', 'trace'))]
    assert pids and min(pids) > 9
    assert len({row[0] for row in record.same()}) > 1


def test_a_pipe_and_the_command_s_status(record, storm):
    out = ran(f'"{record.prof}" record -o - -e {EVENT} -- sh -c "{storm} getppid 100 >&2; exit 3" | '
              'perf script -i - -F event; echo ${PIPESTATUS[0]}', shell=True, executable='/bin/bash',
              cwd=record.folder).stdout.split()
    # the shell asks for its parent, too
    assert out.pop() == '3' and set(out) == {EVENT + ':'} and 100 <= len(out) < 110


def test_what_is_no_file_stays_what_it_is(record):
    record('-e', 'sched:sched_switch', '-N', 5, '-o', '/dev/null')
    assert stat.S_ISCHR(os.stat('/dev/null').st_mode) and not os.path.exists('/dev/null.old')


def test_under_sudo_it_belongs_to_the_caller_and_an_old_file_is_kept(prof, storm, folder):
    record = Recorder(prof, folder)
    (folder / 'perf.data').write_text('precious')
    record('-e', EVENT, '--', storm, 'getppid', 10)
    assert (folder / 'perf.data.old').read_text() == 'precious'
    assert os.stat(folder / 'perf.data').st_mode & 0o777 == 0o600
    (folder / 'perf.data.old').unlink()
    owner = os.stat(folder)
    record('-e', EVENT, '-m', '8M', '--switch-output', '50ms', '--', storm, 'getppid', 20000, 40000,
           env={**os.environ, 'SUDO_UID': str(owner.st_uid), 'SUDO_GID': str(owner.st_gid)})
    new = set(record.parts()) - {'perf.data.old'}
    assert len(new) > 1
    assert {os.stat(folder / p).st_uid for p in new} == {owner.st_uid}


def test_a_command_that_is_not_there_costs_no_recording(record, storm):
    record('-e', EVENT, '--', storm, 'getppid', 100)
    before = (record.folder / 'perf.data').read_bytes()
    for name in './no-such-program', 'no-such-program-in-path':
        record('--', name, check=127, errors='there is no such program')
    assert os.listdir(record.folder) == ['perf.data'] and (record.folder / 'perf.data').read_bytes() == before
