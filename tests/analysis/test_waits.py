# SPDX-License-Identifier: Apache-2.0
"""waits: of a reader that waits for a writer, a lock's next holder for the present one, and a sleeper for the clock; how long
they waited, they measure themselves."""
import contextlib
import json
import os
import re
import subprocess
import sys
import types

import pytest

from frame.analyses import RING, TIMEOUT, compiled
from frame.wakes import Awake

pytestmark = [pytest.mark.live, pytest.mark.slow]

ROUNDS, NAP = 6, 0.02
NS = 10 ** 9
SUM = NAP * ROUNDS * NS
# The child reads from a pipe what the parent writes after a nap, once the child waits; then it waits for its file lock. Both stay
# until stdin ends: of a process that has ended, the names of descriptors are not known.
WORK = f'''
import fcntl, os, sys, time
def name(comm):
    with open('/proc/self/comm', 'w') as f:
        f.write(comm)
def until_child_waits():
    while open(f'/proc/{{child}}/stat').read().rpartition(')')[2].split()[0] != 'S':
        time.sleep(0.001)
pipe, ready = os.pipe(), os.pipe()
lock = open(sys.argv[1], 'w')
fcntl.flock(lock, fcntl.LOCK_EX)
child = os.fork()
if not child:
    os.close(pipe[1])
    begun = time.monotonic_ns()
    name('reader')
    mine = open(sys.argv[1], 'w')
    while os.read(pipe[0], 1):
        pass
    read = time.monotonic_ns() - begun
    os.write(ready[1], b'x')
    fcntl.flock(mine, fcntl.LOCK_EX)
    print('took', read, time.monotonic_ns() - begun - read, os.readlink(f'/proc/self/fd/{{pipe[0]}}'), os.getppid(), flush=True)
    os.read(0, 1)
    os._exit(0)
name('writer')
os.close(pipe[0])
for i in range({ROUNDS}):
    until_child_waits()
    time.sleep({NAP})
    os.write(pipe[1], b'x')
os.close(pipe[1])
os.read(ready[0], 1)
until_child_waits()
time.sleep({NAP} * {ROUNDS})
fcntl.flock(lock, fcntl.LOCK_UN)
sys.stdin.read()
os.wait()
'''


def run_work(argv, folder, seen=lambda told, table: True):
    """What the work tells of itself, the tables of the run, and its folder; the work ends when seen() says so."""
    (folder / 'work.py').write_text(WORK)
    tables, told = [], None
    argv = [*argv, '--', sys.executable, folder / 'work.py', folder / 'lock']
    with Awake(os.sched_getaffinity(0)), \
            subprocess.Popen(argv, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        for line in run.stdout:
            if line.startswith('took '):
                read, locked, pipe, writer = line.split()[1:]
                told = types.SimpleNamespace(read=int(read), locked=int(locked), pipe=pipe, pid=writer, lock=f'{folder}/lock')
            else:
                tables.append(json.loads(line))
            if told and not run.stdin.closed and (not tables or seen(told, tables[-1])):
                run.stdin.close()
        told.err = run.stderr.read()
        assert run.wait(timeout=TIMEOUT) == 0, told.err
    told.tables, told.data = tables, folder / 'r.data'
    return told


def names_of(table):
    """Those of waits that have ended: the one that lasts may end after its process, where it has no name."""
    return {row.get('on') for row in table['rows'] if row.get('waker') != '[nobody yet]'}


@pytest.fixture(scope='module')
def worked(prof, tmp_path_factory):
    """A live run, and its recording."""
    seen = set()

    def has_names(told, table):
        seen.update(names_of(table))
        return {f'read {told.pipe}', f'flock {told.lock}'} <= seen
    return run_work([prof, 'waits', '--on', '--call-graph', 'fp', '--json', '-i', '100', '--record', 'r.data', *RING],
                    tmp_path_factory.mktemp('worked'), has_names)


def total(rows, **of):
    return sum(r['total'] for r in rows if all(r[k] == v for k, v in of.items()))


def check(rows, told):
    """A wait is not longer than the call that it is in, and as long as the other one napped."""
    assert 2 * SUM <= total(rows, comm='reader', waker='writer') <= told.read + told.locked, rows
    assert 2 * SUM <= total(rows, comm='writer'), rows
    assert not total(rows, comm='writer', waker='writer')


def test_who_waited_how_long_for_whom_and_on_what(worked):
    """The table of the whole run comes once; each interval has its own."""
    rows = [row for t in worked.tables if t['table'] == 'waits' for row in t['rows'] if row['waker'] != '[nobody yet]']
    check(rows, worked)
    assert SUM <= total(rows, comm='reader', on=f'read {worked.pipe}') <= worked.read
    assert SUM <= total(rows, comm='reader', on=f'flock {worked.lock}') <= worked.locked
    assert total(rows, comm='writer', on='clock_nanosleep') + total(rows, comm='writer', on='select') >= 2 * SUM
    waited, = [t['rows'] for t in worked.tables if t['table'] == 'waited on']
    of = {row['what']: row for row in waited if 'pid' not in row}
    assert SUM <= of[worked.pipe]['total'] <= worked.read and of[worked.pipe]['threads'] == 1
    assert SUM <= of[worked.lock]['total'] <= worked.locked
    assert not any('sleep' in row['what'] or 'wait4' in row['what'] for row in waited)
    each = [{row['what'] for row in t['rows']} for t in worked.tables if t['table'] == 'waited on in interval']
    for one, other in (worked.pipe, worked.lock), (worked.lock, worked.pipe):
        assert any(one in whats for whats in each) and sum(one in whats and other in whats for whats in each) <= 1, each


def test_a_recording_has_the_same_waits_and_both_stacks(analyse, worked, tmp_path):
    read = ['waits', '-I', worked.data, '-p', worked.pid]
    table, stacks = analyse(*read, '--json').lines
    check([row for row in table['rows'] if row['waker'] != '[nobody yet]'], worked)
    assert any(r['waiter'] == 'reader' and r['waker'] == 'writer' and r['waits'] and r['wakes'] for r in stacks['rows'])
    text = analyse(*read, '--flame-graph', 'w.folded', '--rows', '1').text
    assert re.search(r'^comm +tid +waker .*\n\S+ +\d+ .*\n\.\.\. \d+ more \(--rows 0 shows all\)$', text, re.M), text
    assert re.search(r'^ *[\d.]+%  reader waits, \d+ times, [\d.]+ ms\n(?:    +\S.*\n)+ +until woken by writer\n(?:    +\S.*\n)+',
                     text, re.M), text
    weights = re.findall(r'^reader;.*\[woken by writer\];.* (\d+)$', (tmp_path / 'w.folded').read_text(), re.M)
    assert sum(map(int, weights)) >= 2 * SUM
    analyse(*read, '--on', '--flame-by-lock', '--flame-graph', 'l.folded')
    folded = (tmp_path / 'l.folded').read_text()
    weights = re.findall(r'^read [^;]+;reader;.*\[because of writer\];.* (\d+)$', folded, re.M)
    assert re.search(r'^flock [^;]+;reader;', folded, re.M) and 'nanosleep;' not in folded, folded
    assert sum(map(int, weights)) >= SUM


def test_each_long_wait_is_told(analyse, worked):
    than = f'{NAP * 500:.0f}ms'
    text = analyse('waits', '-I', worked.data, '-p', worked.pid, '--than', than).text
    assert re.search(r' reader \d+: asleep until woken by writer took [\d.]+ us\n.*sched_switch: .*\n(?:.*\n)*?.*sched_waking: ', text)
    text = analyse('trace', '-I', worked.data, '-e', f'waits/--than {than}/').text
    waits = re.findall(rf'waits: reader:\d+ waited ([\d.]+) us for {worked.pid} \(task\)$', text, re.M)
    assert 2 * SUM <= sum(map(float, waits)) * 1000 <= worked.read + worked.locked


def test_each_interval_has_a_table_of_what_was_waited_on(analyse, worked):
    of = ['waits', '--on', '-I', worked.data, '-p', worked.pid]
    text = analyse(*of, '-i', '100').text
    captions = re.findall(r'^what was waited on, in (.*)$', text, re.M)
    assert len(captions) > 2 and captions[-1] == 'the whole run' and set(captions[:-1]) == {'this interval'}, text
    assert 'this interval' not in analyse(*of).text


def test_waits_whose_end_was_not_seen(prof, analyse, tmp_path):
    """The recording leaves out the reader's wake-ups, as some kernels do: with --on, such a wait ends with the next system call."""
    events = 'sched:sched_switch,sched:sched_waking/comm!="reader"/,sched:sched_process_fork,raw_syscalls:*'
    told = run_work([prof, 'record', '-q', '-o', 'r.data', '-a', *RING, '-e', events], tmp_path)
    of = ['waits', '-I', told.data, '-p', told.pid]
    unseen, = map(int, re.findall(r'^waits whose end was not seen are not in the table: (\d+); --on shows how long they lasted at most$',
                                  analyse(*of).text, re.M))
    table = analyse(*of, '--json').table('waits')
    assert table['counts']['restarted'] == unseen >= ROUNDS and not total(table['rows'], comm='reader', waker='writer')
    rows = [row for row in analyse(*of, '--on', '--json').table('waits')['rows'] if row['comm'] == 'reader' and row['on'][:4] == 'read']
    assert '[not seen]' in {row['waker'] for row in rows} and total(rows, waker='[not seen]') >= SUM, rows


# The child waits for half a second, and still does when its parent ends.
ENDLESS = '''
import os, signal, time
pipe = os.pipe()
child = os.fork()
if not child:
    signal.alarm(60)
    for fd in range(3):
        os.dup2(os.open('/dev/null', os.O_RDWR), fd)
    os.read(pipe[0], 1)
print(child, flush=True)
while open(f'/proc/{child}/syscall').read().split()[0] != '0':
    time.sleep(0.01)
time.sleep(0.5)
os._exit(0)
'''


@pytest.mark.deep
@pytest.mark.usefixtures('switches')
def test_a_recorded_wait_without_an_end_lasts_until_the_recording_ends(analyse, tmp_path):
    path = tmp_path / 'r.data'
    child = int(analyse('waits', '--on', *RING, '--record', path, '--', sys.executable, '-c', ENDLESS).text.splitlines()[0])
    os.kill(child, 9)
    tables = analyse('waits', '--on', '-I', path, '-p', child, '--json').lines
    for rows in (t['rows'] for t in tables if t['table'] in ('waits', 'waited on')):
        assert max(row['max'] for row in rows) > 0.4 * NS, tables


def state(pid):
    with open(f'/proc/{pid}/stat') as f:
        return f.read().rpartition(')')[2].split()[0]


@contextlib.contextmanager
def asleep(*argv, **options):
    with subprocess.Popen(argv, **options) as process:
        try:
            while state(process.pid) != 'S':
                os.sched_yield()
            yield process
        finally:
            process.kill()


@pytest.mark.usefixtures('switches')
def test_who_waits_all_the_time_is_in_each_table(analyse):
    with asleep('sleep', '1000') as one:
        run = ['waits', *RING, '-i', '50', '-p', one.pid]
        told = [t for t in analyse(*run, '--json', '--on', '--', 'sleep', '0.2').lines if t['table'] == 'waits']
        text = analyse(*run, '--call-graph', 'fp', '--record', 'r.data', '--', 'sleep', '0.2').text
        recorded = analyse('waits', '-I', 'r.data', '-p', one.pid).text
    assert told
    for table in told:
        row, = table['rows']
        assert (row['comm'], row['tid'], row['waker'], row['calls']) == ('sleep', one.pid, '[nobody yet]', 1)
        assert row['total'] > 0 and row['on'] in ('clock_nanosleep', 'restart_syscall', 'nanosleep')
    assert [t['rows'][0]['total'] for t in told] == sorted(t['rows'][0]['total'] for t in told)
    lines = re.findall(r'^1 thread has waited since before the run \((.*)\): `perf-prof dump (\d+)` shows the stacks$', text, re.M)
    assert [pid for _, pid in lines] == [str(one.pid)], text        # once
    assert re.search('nanosleep|restart_syscall', lines[0][0])
    # a task that the recording has no event of slept before, and still does; one that it does not have is an error
    said = r'^1 thread has no event in the recording, and may have waited throughout: `perf-prof dump PID`'
    assert re.search(said, recorded, re.M), recorded
    absent = analyse('waits', '-I', 'r.data', '-p', 2 ** 22 + 1, code=1)
    assert 'the recording has no event from the tasks' in absent.err, absent.err


@pytest.mark.usefixtures('switches')
def test_waits_that_have_not_ended_are_not_in_the_stacks(analyse):
    """The sleeper waits all the time; the waits of the other one have ended."""
    with asleep('sleep', '1000') as one, asleep(sys.executable, '-c', 'while True: __import__("time").sleep(0.01)') as busy:
        text = analyse('waits', '--call-graph', 'fp', *RING, '-p', f'{one.pid},{busy.pid}', '--seconds', '0.4').text
    said = r'^1 wait that has not ended is not in these stacks \((\d+\.\d+) ms\): `perf-prof dump (\d+)` shows where it is now$'
    ms, pid = re.search(said, text, re.M).groups()
    assert int(pid) == one.pid and float(ms) >= 200, text


@pytest.mark.usefixtures('switches')
def test_a_wait_from_before_that_ends_counts_from_the_start(prof, analyse, tmp_path):
    """The reader sleeps when the run begins, and is woken after a while by the end of its pipe: live, and recorded."""
    for what in ['--json'], ['--record', tmp_path / 'r.data']:
        with asleep('cat', stdin=subprocess.PIPE) as reader:
            command = ['sh', '-c', 'sleep 0.1; echo slept; read x; :']      # the events are on when it begins
            with subprocess.Popen([prof, 'waits', *what, '-p', str(reader.pid), *RING, '--', *command], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True) as run:
                assert run.stdout.readline() == 'slept\n'
                reader.stdin.close()
                reader.wait(timeout=TIMEOUT)
                live = run.communicate(timeout=TIMEOUT)[0]
            of = ['waits', '-I', tmp_path / 'r.data', '-p', reader.pid]
            tables = [json.loads(live)] if what == ['--json'] else analyse(*of, '--json').lines
            waits = [(row['calls'], row['max'] > 0.05 * NS) for t in tables for row in t['rows'] if row['waker'].startswith('python')]
            assert waits == [(1, True)], tables
    text = analyse(*of).text
    assert '\n1 wait began before the recording: the time before it is not counted\n' in text, text


# 30 naps, and more until its standard input ends.
NAPS = '''
import select, time
longest = naps = 0
while naps < 30 or not select.select([0], [], [], 0)[0]:
    naps += 1
    begun = time.monotonic_ns()
    time.sleep(0.01)
    longest = max(longest, time.monotonic_ns() - begun)
print('longest', longest)
'''


@pytest.mark.usefixtures('switches')
def test_no_nap_is_longer_than_it_was(analyse):
    """Events that are still in the rings when a table is printed make no wait longer; nor does the start of the run."""
    def check_naps(text, got):
        longest = int(re.search(r'^longest (\d+)$', text, re.M)[1])
        rows = [row for t in got.lines if t['table'] == 'waits' for row in t['rows'] if row['waker'] in ('[nobody yet]', '[interrupt]')]
        assert rows and all(row['max'] <= longest for row in rows), (rows, longest)
    got = analyse('waits', '--json', *RING, '-i', '100', '--', sys.executable, '-c', NAPS)
    check_naps(got.text, got)
    with subprocess.Popen([sys.executable, '-c', NAPS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        got = analyse('waits', '--json', *RING, '-p', process.pid, '--seconds', '0.1')
        check_naps(process.communicate()[0], got)


SLEEPER = """
static volatile int n;
__attribute__((noinline)) void nap(void) { usleep(3000); n++; }
__attribute__((noinline)) void update(void) { nap(); n++; }
int main(void) { for (int i = 0; i < 50; i++) update(); }
"""


@pytest.mark.usefixtures('switches')
def test_callers_of_a_library_without_frame_pointers_are_found(analyse, compiled):
    """The program has them; which way is taken depends on the C library of this machine."""
    got = analyse('waits', '-g', '--json', *RING, '--', compiled(SLEEPER))
    rows = [row for table in got.lines for row in table['rows'] if 'main;' in row.get('waits', '') or 'sleep' in row.get('waits', '')]
    assert sum(r['calls'] for r in rows) >= 40, got.lines
    assert sum(r['calls'] for r in rows if 'main;update;nap;' in r['waits']) >= 40, rows


@pytest.mark.usefixtures('switches')
def test_the_start_of_a_command_is_no_wait(analyse):
    for options in [], ['--on']:
        text = analyse('waits', *options, *RING, '--', 'sleep', '0.01').text
        assert not re.search('^perf-prof |began before the run|^pipe:', text, re.M) and re.search('^sleep ', text, re.M), text


LOCKS = '''
pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER;
static struct { long before[5]; pthread_mutex_t lock; } table[3];
static pthread_mutex_t *const locks[] = { &big, &table[0].lock, &table[1].lock };
static int held[2], pair[2], tid;
static void *wanter(void *arg)
{
	char c;
	tid = gettid();
	for (int i = 0; i < 3; i++) {
		read(held[0], &c, 1);
		pthread_mutex_lock(locks[i]);
	}
	return NULL;
}
/* The last wait ends with the descriptor. */
static void *reader(void *arg)
{
	char c;
	while (read(pair[0], &c, 1) == 1)
		;
	close(pair[0]);
	return NULL;
}
int main(void)
{
	pthread_t threads[2];
	pipe(held);
	pipe(pair);
	for (int i = 0; i < 3; i++)
		pthread_mutex_lock(locks[i]);
	pthread_create(&threads[0], NULL, wanter, NULL);
	pthread_create(&threads[1], NULL, reader, NULL);
	for (int i = 0; i < 3; i++) {
		write(held[1], "x", 1);
		write(pair[1], "x", 1);
		until_waits(&tid, locks[i], sizeof(*locks[i]));
		usleep(100000);
		if (i == 2) {
			close(pair[1]);
			pthread_join(threads[1], NULL);
		}
		pthread_mutex_unlock(locks[i]);
	}
	_exit(0);
}
'''


@pytest.mark.usefixtures('switches')
def test_a_lock_has_the_name_of_its_variable(analyse, compiled):
    """What the linker says of the variable is the truth. The last wait is looked up when the process is gone, or nearly so, and a
    reader's descriptor when it is closed."""
    job = compiled(LOCKS)
    on = [row['on'] for row in analyse('waits', '--on', '--json', *RING, '--', job).table('waits')['rows']]
    assert {f'futex {name} ({job})' for name in ('big', 'table+0x28', 'table+0x78')} <= set(on), on
    pipes = [text for text in on if text.startswith('read ')]
    assert any(text.startswith('read pipe:[') for text in pipes), on
    assert all(re.match(r'read (pipe:\[|fd \d)', text) for text in pipes), on     # who looks too late has the number


QUEUE = r'''
static pthread_mutex_t hot = PTHREAD_MUTEX_INITIALIZER, small = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static volatile int passed, happened;

static void *hold(void *name)
{
	prctl(PR_SET_NAME, name);
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&hot);
		usleep(20000);
		pthread_mutex_unlock(&hot);
		pthread_mutex_lock(&small);
		happened++;
		pthread_cond_signal(&news);
		pthread_mutex_unlock(&small);
		usleep(1000);
	}
	return NULL;
}

static void *pass(void *name)
{
	prctl(PR_SET_NAME, name);
	while (happened < 20) {
		pthread_mutex_lock(&hot);
		passed++;
		pthread_mutex_unlock(&hot);
		usleep(500);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[4];
	int seen = 0;

	pthread_create(&threads[0], NULL, hold, "holder");
	pthread_create(&threads[1], NULL, pass, "one");
	pthread_create(&threads[2], NULL, pass, "two");
	pthread_create(&threads[3], NULL, pass, "three");
	while (seen < 20) {
		pthread_mutex_lock(&small);
		while (happened == seen)
			pthread_cond_wait(&news, &small);
		seen = happened;
		pthread_mutex_unlock(&small);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
'''


@pytest.fixture(scope='module')
def queued(prof, tmp_path_factory):
    """The program, what a run of it printed and said, and the folder of its recording."""
    folder = tmp_path_factory.mktemp('queued')
    job = compiled(folder, QUEUE)
    run = [prof, 'waits', '--on', '-v', '--call-graph', 'dwarf,2048', '--json', '--record', 'r.data', *RING]
    with Awake(os.sched_getaffinity(0)):
        done = subprocess.run([*run, '--', 'sh', '-c', f'echo pid $$; exec {job}'], cwd=folder, capture_output=True, text=True,
                              check=True, timeout=TIMEOUT)
    pid, = re.findall(r'^pid (\d+)$', done.stdout, re.M)
    tables = {t['table']: t['rows'] for t in map(json.loads, re.findall(r'^\{.*', done.stdout, re.M))}
    return types.SimpleNamespace(job=job, folder=folder, pid=pid, tables=tables, err=done.stderr)


def check_queue(tables, job):
    """Three threads hold the lock for a moment and one of them for 20 ms: whoever wakes the next one in the queue."""
    of = {row['what']: row for row in tables['waited on']}
    hot, news = of[f'futex hot ({job})'], of[f'futex news ({job})']      # both words of the condition variable
    assert hot['threads'] >= 3 and hot['total'] > 0.2 * NS and hot['address'] > 0
    assert re.fullmatch(r'holder \(\d+\)', hot['because_of']) and 50 < hot['because_of_share'] <= 100.01
    assert news['because_of'] == hot['because_of'] and news['because_of_share'] > 50
    return of


def recorded_waits(analyse, queued):
    read = ['waits', '--on', '--json', '-I', queued.folder / 'r.data', '-p', queued.pid]
    return {t['table']: t['rows'] for t in analyse(*read, before=['env']).lines}


@pytest.mark.deep
def test_who_queues_for_a_lock_is_not_to_blame(analyse, queued):
    names = {f"futex {row['address']:#x}": row['what'] for row in recorded_waits(analyse, queued)['waited on'] if 'address' in row}
    for row in queued.tables['waited on']:      # where others had the CPU until the program had ended, locks have no names
        row['what'] = names.get(row['what'], row['what'])
    hot = check_queue(queued.tables, queued.job)[f'futex hot ({queued.job})']
    assert any(row['waker'] in ('one', 'two', 'three') and row.get('on') in (hot['what'], f"futex {hot['address']:#x}")
               for row in queued.tables['waits'])
    assert f'r.data has the events of all tasks: -I r.data -p {queued.pid} shows what this command did' in queued.err


def test_stacks_are_those_of_a_lock(analyse, queued):
    """Whatever its threads are called; naps are no news."""
    run = ['waits', '--on', '-I', queued.folder / 'r.data', '-p', queued.pid]
    text = analyse(*run).text
    heads = re.findall(r'^ *[\d.]+%  (.*), [\d.]+ ms$\n(?:    +\S.*\n)+ +because of (.*)$', text, re.M)
    assert (f'and others wait in futex hot ({queued.job}) [mutex]', 'holder') in [(h.partition(' ')[2], w) for h, w in heads], text
    assert re.search(r'^sleeps are left out, also of the percentages: \d+, [\d.]+ ms \(--full shows them\)$', text, re.M)
    assert not any('nanosleep' in head for head, _ in heads), text
    text = analyse(*run, '--full').text
    assert 'waits in clock_nanosleep' in text and 'sleeps are left out' not in text


def test_locks_of_a_recording_have_names(analyse, queued):
    """A program that was built anew says nothing of the old one's locks. The last of these: it builds it."""
    before = check_queue(recorded_waits(analyse, queued), queued.job)
    assert not any('fd ' in what and '[' in what for what in before)
    compiled(queued.folder, QUEUE, '-DANEW', '-Wl,--build-id=0x1234')
    after = {row['what']: row for row in recorded_waits(analyse, queued)['waited on']}
    assert not any('(' in what for what in after), after
    hot = before[f'futex hot ({queued.job})']
    assert after[f"futex {hot['address']:#x}"]['total'] == hot['total']


@pytest.mark.deep
def test_locks_of_a_recording_without_build_ids_have_names(analyse, perf, compiled, tmp_path):
    """The file is known by its inode; one with another inode is another one, and the table says so."""
    job = compiled(QUEUE)
    events = 'sched:sched_switch,sched:sched_waking,sched:sched_process_fork,raw_syscalls:sys_enter,raw_syscalls:sys_exit'
    subprocess.run([perf, 'record', '-q', '-B', '-N', '-a', '-m', '64M', '-o', tmp_path / 'p.data', '-e', events, '--', 'sh', '-c',
                    f'echo $$ >pid; exec {job}'], check=True, timeout=60, cwd=tmp_path)
    pid = (tmp_path / 'pid').read_text().strip()        # others may have locks without names

    read = ['waits', '--on', '-I', 'p.data', '-p', pid]
    text = analyse(*read, before=['env']).text
    assert f'futex hot ({job})' in text and f'futex news ({job})' in text and 'have no names' not in text, text
    os.link(job, tmp_path / 'old')            # keeps its inode from being used again
    job.unlink()
    compiled(QUEUE)
    text = analyse(*read, before=['env']).text
    assert re.search(rf'^locks in variables of {job} have no names: the file no longer exists, or is not the one that was recorded$',
                     text, re.M), text
    assert f'({job})' not in text


@pytest.mark.deep
@pytest.mark.usefixtures('switches')
def test_a_descriptor_that_is_used_again_has_no_wrong_name(analyse):
    """A pipe has the number of the file that was synced: when it is looked up, the file is closed."""
    job = ('import os, time\nfor i in range(30):\n    f = os.open("data", os.O_CREAT | os.O_WRONLY)\n    os.write(f, b"x" * 65536)\n'
           '    os.fsync(f)\n    os.close(f)\n    ends = os.pipe()\n    time.sleep(0.01)\n    [os.close(e) for e in ends]\n')
    text = analyse('waits', '--on', *RING, '--', sys.executable, '-c', job).text
    assert not re.search(r' fsync pipe:\[', text), text
