# SPDX-License-Identifier: Apache-2.0
"""waits: of a reader that waits for a writer, a lock's next holder for the present one, and a sleeper for the clock; how long
they waited, they measure themselves."""
import contextlib
import csv
import json
import os
import re
import subprocess
import sys
import threading

import pytest

from frame.again import attempts
from frame.analyses import RING

pytestmark = pytest.mark.usefixtures('switches')

ROUNDS, NAP = 10, 0.02
# The child reads from a pipe what the parent writes after each nap, then waits for its file lock.
WORK = f'''
import fcntl, os, sys, time
def name(comm):
    with open('/proc/self/comm', 'w') as f:
        f.write(comm)
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
    print(read, time.monotonic_ns() - begun - read, os.readlink(f'/proc/self/fd/{{pipe[0]}}'), os.getppid(), flush=True)
    os._exit(0)
name('writer')
os.close(pipe[0])
for i in range({ROUNDS}):
    time.sleep({NAP})
    os.write(pipe[1], b'x')
os.close(pipe[1])
os.read(ready[0], 1)
time.sleep({NAP} * {ROUNDS})
fcntl.flock(lock, fcntl.LOCK_UN)
os.wait()
'''
NS = 10 ** 9


@pytest.fixture
def work(tmp_path):
    (tmp_path / 'work.py').write_text(WORK)
    return ['--', sys.executable, tmp_path / 'work.py', tmp_path / 'lock']


def without_loss(analyse, *args, path):
    """A run whose output has no report of lost events: others keep the machine busy."""
    for _ in range(4):
        got = analyse(*args)
        if 'perf-prof: lost' not in path.read_text():
            return got
        path.unlink()
    pytest.skip('needs a machine that is less busy: events were lost each time')


def total(rows, **of):
    return sum(r['total'] for r in rows if all(r[k] == v for k, v in of.items()))


def check(rows, read, locked):
    """A wait is not longer than the call that it is in, and at least half of the time that the other one napped."""
    assert NAP * ROUNDS * NS / 2 <= total(rows, comm='reader', waker='writer') <= read + locked
    assert NAP * ROUNDS * NS <= total(rows, comm='writer')
    assert not total(rows, comm='writer', waker='writer')


def test_how_long_who_waited_for_whom(analyse, work, tmp_path):
    got = without_loss(analyse, 'waits', '--json', '-o', tmp_path / 'out', *RING, *work, path=tmp_path / 'out')
    table, = [json.loads(line) for line in (tmp_path / 'out').read_text().splitlines()]
    assert table['table'] == 'waits'
    check(table['rows'], *map(int, got.text.split()[:2]))


@pytest.mark.slow      # all system calls of the machine
def test_on_what(analyse, work, tmp_path):
    """What a descriptor was is not known of a program that had ended before perf-prof got a CPU."""
    def measure():
        got = without_loss(analyse, 'waits', '--on', '--csv', '-o', tmp_path / 'out', '-m', '64M', *work, path=tmp_path / 'out')
        read, locked, pipe, _ = got.text.split()
        with open(tmp_path / 'out', newline='') as f:
            rows = [dict(r, total=int(r['total'])) for r in csv.DictReader(f)]
        (tmp_path / 'out').unlink()
        check(rows, int(read), int(locked))
        slept = total(rows, comm='writer', on='clock_nanosleep') + total(rows, comm='writer', on='select')
        right = (NAP * ROUNDS * NS / 2 <= total(rows, comm='reader', on=f'read {pipe}') <= int(read) and slept >= NAP * ROUNDS * NS and
                 NAP * ROUNDS * NS / 2 <= total(rows, comm='reader', on=f'flock {tmp_path}/lock') <= int(locked))
        return None if right else rows
    attempts(measure)


def test_both_stacks(analyse, work, tmp_path):
    got = analyse('waits', '--call-graph', 'fp', '--flame-graph', 'w.folded', *RING, *work)
    assert re.search(r'^ *[\d.]+%  reader waits, \d+ times, [\d.]+ ms\n(?:    +\S.*\n)+ +until woken by writer\n(?:    +\S.*\n)+',
                     got.text, re.M), got.text
    folded = (tmp_path / 'w.folded').read_text()
    weights = [int(n) for n in re.findall(r'^reader;.*\[woken by writer\];.* (\d+)$', folded, re.M)]
    assert sum(weights) >= NAP * ROUNDS * NS / 2


def test_a_picture_by_lock(analyse, work, tmp_path):
    def measure():
        got = analyse('waits', '--call-graph', 'fp', '--flame-by-lock', '--flame-graph', 'w.folded', '-m', '64M', *work)
        return got.text.split()[2], (tmp_path / 'w.folded').read_text()

    def right(got):
        """On a busy machine the reader may have ended before its pipe was looked at."""
        pipe, folded = got
        weights = [int(n) for n in re.findall(rf'^read {re.escape(pipe)};reader;.*\[because of writer\];.* (\d+)$', folded, re.M)]
        assert re.search(r'^flock [^;]+;reader;', folded, re.M) and 'nanosleep;' not in folded, folded
        return sum(weights) >= NAP * ROUNDS * NS / 2
    attempts(measure, right)


def test_each_long_wait(analyse, work, tmp_path):
    text = analyse('waits', '--than', f'{NAP * 500:.0f}ms', *RING, *work).text
    assert re.search(r' reader \d+: asleep until woken by writer took [\d.]+ us\n.*sched_switch: .*\n(?:.*\n)*?.*sched_waking: ', text)


def test_a_source_has_each_wait(analyse, work, tmp_path):
    got = without_loss(analyse, 'trace', '-o', tmp_path / 'out', '-e', 'waits/--than 10ms/', *RING, *work, path=tmp_path / 'out')
    read, locked, _, writer = got.text.split()
    waits = re.findall(rf'waits: reader:\d+ waited ([\d.]+) us for {writer} \(task\)$', (tmp_path / 'out').read_text(), re.M)
    assert NAP * ROUNDS * NS / 2 <= sum(map(float, waits)) * 1000 <= int(read) + int(locked)


def test_a_recording(analyse, work, tmp_path):
    path = tmp_path / 'r.data'
    got = analyse('record', '-q', '-o', path, '-a', '--call-graph', 'fp', '-e', 'sched:sched_switch,sched:sched_waking,sched:sched_process_fork',
                  '-m', '64M', *work)
    table, stacks = map(json.loads, analyse('waits', '-I', path, '--json').text.splitlines())
    check(table['rows'], *map(int, got.text.split()[:2]))
    assert any(r['waiter'] == 'reader' and r['waker'] == 'writer' and r['waits'] and r['wakes'] for r in stacks['rows'])



# The child waits for half a second, and still does when its parent ends.
ENDLESS = '''
import os, signal, time
pipe = os.pipe()
child = os.fork()
if not child:
    signal.alarm(5)
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
def test_a_recorded_wait_without_an_end_lasts_until_the_recording_ends(analyse, tmp_path):
    path = tmp_path / 'r.data'
    child = int(analyse('waits', '--on', '-m', '64M', '--record', path, '--', sys.executable, '-c', ENDLESS).text.splitlines()[0])
    tables = [json.loads(line) for line in analyse('waits', '--on', '-I', path, '-p', child, '--json').text.splitlines()]
    for rows in (t['rows'] for t in tables if t['table'] in ('waits', 'waited on')):
        assert max(row['max'] for row in rows) > 0.4 * NS, tables



def test_a_recording_without_events_of_a_thread_says_so(analyse, sleeper, tmp_path):
    """It slept before the recording began, and still does. A task that the recording does not have is an error."""
    path = tmp_path / 'r.data'
    analyse('waits', '--record', path, '-p', sleeper, '--seconds', '0.2')
    out = analyse('waits', '-I', path, '-p', sleeper).text
    assert re.search(r'^1 thread has no event in the recording, and may have waited throughout: `perf-prof dump PID`', out, re.M), out
    absent = analyse('waits', '-I', path, '-p', 2 ** 22 + 1, code=1)
    assert 'the recording has no event from the tasks' in absent.err, absent.err


@pytest.mark.parametrize('recorded', [True, False])
def test_a_wait_from_before_that_ends_counts_from_the_start(prof, analyse, tmp_path, recorded):
    """The reader sleeps when the recording begins, and is woken after a while by the end of its pipe."""
    path = tmp_path / 'r.data'

    def measure():
        with subprocess.Popen(['cat'], stdin=subprocess.PIPE) as reader:
            while state(reader.pid) != 'S':
                os.sched_yield()
            what = ['waits', '--record', path] if recorded else ['waits', '--json']
            with subprocess.Popen([prof, *what, '-p', str(reader.pid), *RING, '--', 'sleep', '0.3'], stdout=subprocess.PIPE) as run:
                while 'sleep' not in comms_below(run.pid):
                    os.sched_yield()
                subprocess.run(['sleep', '0.1'], check=True)
                reader.stdin.close()
                live = run.communicate()[0]
        of = ['-I', path, '-p', reader.pid]
        tables = [json.loads(live)] if not recorded else analyse('waits', *of, '--json').lines
        waits = [(row['calls'], row['max'] > 0.05 * NS) for t in tables for row in t['rows'] if row['waker'].startswith('python')]
        said = not recorded or '\n1 wait began before the recording: the time before it is not counted\n' in analyse('waits', *of).text
        return None if waits == [(1, True)] and said else (tables, said)
    attempts(measure)


def comms_below(pid):
    """Names of the children of a process."""
    found = []
    for task in os.listdir(f'/proc/{pid}/task'):
        with open(f'/proc/{pid}/task/{task}/children') as f:
            children = f.read().split()
        for child in children:
            with contextlib.suppress(OSError), open(f'/proc/{child}/comm') as f:
                found.append(f.read().strip())
    return found


LOCKS = '''
#include <pthread.h>
#include <string.h>
#include <unistd.h>
struct entry { long before[5]; pthread_mutex_t lock; };
pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER;
static struct entry table[3];
static pthread_mutex_t *const locks[] = { &big, &table[0].lock, &table[1].lock };
static int held[2], pair[2];
static void *wanter(void *arg)
{
	char c;
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
		usleep(100000);
		pthread_mutex_unlock(locks[i]);
	}
	pthread_join(threads[0], NULL);
	write(pair[1], "x", 1);
	usleep(100);
	close(pair[1]);
	pthread_join(threads[1], NULL);
}
'''


@pytest.mark.deep
def test_a_lock_has_the_name_of_its_variable(analyse, tmp_path):
    """What the linker says of the variable is the truth; the reader's descriptor is gone before its last wait is looked at."""
    (tmp_path / 'locks.c').write_text(LOCKS)
    job = tmp_path / 'locks'
    subprocess.run(['gcc', '-O1', '-pthread', '-w', '-o', job, tmp_path / 'locks.c'], check=True)

    def measure():
        (tmp_path / 'out').unlink(missing_ok=True)
        analyse('waits', '--on', '--csv', '-o', tmp_path / 'out', *RING, '--', job)
        with open(tmp_path / 'out', newline='') as f:
            on = [r['on'] for r in csv.DictReader(f)]
        pipes = [text for text in on if text.startswith('read ')]
        right = {f'futex {name} ({job})' for name in ('big', 'table+0x28', 'table+0x78')} <= set(on)
        return None if right and pipes and all(text.startswith('read pipe:[') for text in pipes) else on
    attempts(measure)       # a thread that got no CPU for 100 ms did not wait for a lock


LAST = '''
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t locks[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static void *want(void *arg)
{
	for (int i = 0; i < 2; i++)
		pthread_mutex_lock(&locks[i]);
	return NULL;
}
int main(void)
{
	pthread_t t;
	for (int i = 0; i < 2; i++)
		pthread_mutex_lock(&locks[i]);
	pthread_create(&t, NULL, want, NULL);
	usleep(400000);
	pthread_mutex_unlock(&locks[0]);
	usleep(1000);
	pthread_mutex_unlock(&locks[1]);
	_exit(0);
}
'''


def test_a_lock_of_a_process_that_has_ended_has_a_name(analyse, tmp_path):
    """The last wait is looked up when the process is gone; another lock of its data was looked up before."""
    (tmp_path / 'last.c').write_text(LAST)
    job = tmp_path / 'last'
    subprocess.run(['gcc', '-O1', '-pthread', '-w', '-o', job, tmp_path / 'last.c'], check=True)

    def measure():
        on = {row['on'] for row in analyse('waits', '--on', '--json', *RING, '--', job).table('waits')['rows']}
        return None if {f'futex locks ({job})', f'futex locks+0x28 ({job})'} <= on else on
    attempts(measure)


@pytest.fixture
def sleeper():
    with subprocess.Popen(['sleep', '1000']) as process:
        while state(process.pid) != 'S':
            os.sched_yield()
        yield process.pid
        process.kill()


def state(pid):
    with open(f'/proc/{pid}/stat') as f:
        return f.read().rpartition(')')[2].split()[0]


NAPS = 'import time\nfor _ in range(60): time.sleep(0.01)\n'


def test_a_table_in_between_knows_how_long_a_nap_lasts(analyse):
    """Events that are still in the rings when a table is printed make no wait longer; nor does the start of the run."""
    def measure():
        got = analyse('waits', '--json', *RING, '-i', '150', '--', sys.executable, '-c', NAPS)
        rows = [row for t in map(json.loads, got.text.splitlines()) if t['table'] == 'waits' for row in t['rows']]
        return None if rows and all(row['max'] < 25e6 for row in rows if row['waker'] in ('[nobody yet]', '[interrupt]')) else rows
    attempts(measure)


@pytest.mark.deep
def test_the_first_wait_begins_when_events_are_on(analyse):
    def measure():
        with subprocess.Popen([sys.executable, '-c', NAPS]) as process:
            got = analyse('waits', '--json', *RING, '-p', process.pid, '--seconds', '0.2')
        rows = [row for t in map(json.loads, got.text.splitlines()) if t['table'] == 'waits' for row in t['rows']]
        return None if rows and all(row['max'] < 25e6 for row in rows if row['waker'] in ('[nobody yet]', '[interrupt]')) else rows
    attempts(measure)


@pytest.mark.parametrize('options', [[], ['-i', '50'], ['--on']])
def test_who_waits_all_the_time_is_in_each_table(analyse, sleeper, options):
    got = analyse('waits', '--json', *RING, *options, '-p', sleeper, '--', 'sleep', '0.2')
    told = [t for t in map(json.loads, got.text.splitlines()) if t['table'] == 'waits']
    assert told
    for table in told:
        row, = table['rows']
        assert (row['comm'], row['tid'], row['waker'], row['calls']) == ('sleep', sleeper, '[nobody yet]', 1)
        assert row['total'] > 0
        assert 'on' not in row or row['on'] in ('clock_nanosleep', 'restart_syscall', 'nanosleep')
    assert [t['rows'][0]['total'] for t in told] == sorted(t['rows'][0]['total'] for t in told)


def test_a_line_says_on_what_and_how_to_see_where(analyse, sleeper):
    text = analyse('waits', *RING, '-i', '50', '-p', sleeper, '--', 'sleep', '0.2').text
    lines = re.findall(r'^1 thread has waited since before the run \((.*)\): `perf-prof dump (\d+)` shows the stacks$', text, re.M)
    assert [pid for _, pid in lines] == [str(sleeper)], text        # once
    assert re.search('nanosleep|restart_syscall', lines[0][0])


def test_a_wait_from_before_the_run_ends_with_its_waker_and_one_at_the_end_has_none(watch, waiting):
    one = waiting('--stay', 'turns')
    while state(one.pid) != 'S':
        os.sched_yield()
    watcher = watch('waits', *RING, '-p', one.pid)
    one.go()
    assert one.line() == 'done\n'
    while state(one.pid) != 'S':
        os.sched_yield()
    told = [t for t in map(json.loads, watcher.result(stop=True).text.splitlines()) if t['table'] == 'waits']
    with open(f'/proc/self/task/{threading.get_native_id()}/comm') as f:
        me = f.read().rstrip('\n')
    assert any(r['tid'] == one.pid and r['waker'] == me for t in told for r in t['rows']), told
    assert [r['calls'] for r in told[-1]['rows'] if r['tid'] == one.pid and r['waker'] == '[nobody yet]'] == [1], told[-1]


SLEEPER = """
#include <unistd.h>
static volatile int n;
__attribute__((noinline)) void nap(void) { usleep(3000); n++; }
__attribute__((noinline)) void update(void) { nap(); n++; }
int main(void) { for (int i = 0; i < 50; i++) update(); }
"""


def test_callers_of_a_library_without_frame_pointers_are_found(analyse, tmp_path):
    """The program has them; which way is taken depends on the C library of this machine."""
    (tmp_path / 'naps.c').write_text(SLEEPER)
    subprocess.run(['gcc', '-O1', '-g', '-fno-omit-frame-pointer', '-o', tmp_path / 'naps', tmp_path / 'naps.c'], check=True)
    got = analyse('waits', '-g', '--json', *RING, '--', tmp_path / 'naps')
    rows = [row for table in got.lines for row in table['rows'] if 'main;' in row.get('waits', '') or 'sleep' in row.get('waits', '')]
    assert sum(r['calls'] for r in rows) >= 40, got.lines
    assert sum(r['calls'] for r in rows if 'main;update;nap;' in r['waits']) >= 40, rows


def test_waits_whose_end_was_not_seen_are_counted(analyse, work, tmp_path):
    """The recording leaves out the reader's wake-ups, as some kernels do; the writer's naps have theirs."""
    path = tmp_path / 'r.data'
    got = analyse('record', '-q', '-o', path, '-a', '-m', '64M', '-e', 'sched:sched_switch,sched:sched_waking/comm!="reader"/,'
                  'sched:sched_process_fork', *work)
    of = ['-I', path, '-p', got.text.split()[3]]
    text = analyse('waits', *of).text
    unseen, = map(int, re.findall(r'^waits whose end was not seen are not in the table: (\d+); --on shows how long they lasted at most$',
                                  text, re.M))
    assert unseen >= ROUNDS - 2, text
    table = json.loads(analyse('waits', *of, '--json').text)
    assert table['counts']['restarted'] == unseen
    assert not total(table['rows'], comm='reader', waker='writer')


def test_waits_that_have_not_ended_are_not_in_the_stacks(analyse, sleeper):
    """The sleeper waits all the time; the shell's waits have ended."""
    with subprocess.Popen([sys.executable, '-c', 'while True: __import__("time").sleep(0.01)']) as busy:
        try:
            text = analyse('waits', '--call-graph', 'fp', *RING, '-p', f'{sleeper},{busy.pid}', '--seconds', '0.4').text
        finally:
            busy.kill()
    ms, pid = re.search(r'^1 wait that has not ended is not in these stacks \((\d+\.\d+) ms\): `perf-prof dump (\d+)` shows where it is now$',
                        text, re.M).groups()
    assert int(pid) == sleeper and float(ms) >= 200, text


def test_rows(analyse, work):
    text = analyse('waits', *RING, '--rows', '1', *work).text
    assert re.search(r'^comm +tid +waker .*\n\S+ +\d+ .*\n\.\.\. \d+ more \(--rows 0 shows all\)$', text, re.M), text


def test_what_was_waited_on_is_a_table_of_its_own(analyse, work, tmp_path):
    """With -i, that of the whole run comes once; each interval has its own."""
    got = without_loss(analyse, 'waits', '--on', '--json', '-i', '100', '-o', tmp_path / 'out', '-m', '64M', *work, path=tmp_path / 'out')
    read, locked, pipe, _ = got.text.split()
    tables = [json.loads(line) for line in (tmp_path / 'out').read_text().splitlines()]
    waited, = [t['rows'] for t in tables if t['table'] == 'waited on']
    of = {row['what']: row for row in waited if 'pid' not in row}
    assert NAP * ROUNDS * NS / 2 <= of[pipe]['total'] <= int(read) and of[pipe]['threads'] == 1
    assert NAP * ROUNDS * NS / 2 <= of[f'{tmp_path}/lock']['total'] <= int(locked)
    assert not any('sleep' in row['what'] or 'wait4' in row['what'] for row in waited)
    each = [{row['what'] for row in t['rows']} for t in tables if t['table'] == 'waited on in interval']
    assert any(pipe in one and f'{tmp_path}/lock' not in one for one in each), each       # first the pipe, then the lock
    assert any(f'{tmp_path}/lock' in one and pipe not in one for one in each), each


@pytest.mark.parametrize('options', [[], ['--on']])
def test_the_start_of_a_command_is_no_wait(analyse, options):
    def measure():
        text = analyse('waits', *options, '-m', '64M', '--', 'sleep', '0.01').text
        return text if re.search('^perf-prof |began before the run|^pipe:', text, re.M) or not re.search('^sleep ', text, re.M) else None
    attempts(measure)


@pytest.mark.deep
def test_each_interval_has_a_table_of_what_was_waited_on(analyse, work):
    text = analyse('waits', '--on', '-i', '100', '-m', '64M', *work).text
    captions = re.findall(r'^what was waited on, in (.*)$', text, re.M)
    assert len(captions) > 2 and captions[-1] == 'the whole run' and set(captions[:-1]) == {'this interval'}, text
    assert 'this interval' not in analyse('waits', '--on', '-m', '64M', *work).text


QUEUE = r'''
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>
static pthread_mutex_t hot = PTHREAD_MUTEX_INITIALIZER, small = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static volatile int passed, told;

static void *hold(void *name)
{
	prctl(PR_SET_NAME, name);
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&hot);
		usleep(20000);
		pthread_mutex_unlock(&hot);
		pthread_mutex_lock(&small);
		told++;
		pthread_cond_signal(&news);
		pthread_mutex_unlock(&small);
		usleep(1000);
	}
	return NULL;
}

static void *pass(void *name)
{
	prctl(PR_SET_NAME, name);
	while (told < 20) {
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
		while (told == seen)
			pthread_cond_wait(&news, &small);
		seen = told;
		pthread_mutex_unlock(&small);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
'''


@pytest.fixture
def queue(tmp_path):
    (tmp_path / 'queue.c').write_text(QUEUE)
    subprocess.run(['gcc', '-O1', '-pthread', '-w', '-o', tmp_path / 'queue', tmp_path / 'queue.c'], check=True)
    return tmp_path / 'queue'


def test_who_queues_for_a_lock_is_not_to_blame(analyse, queue, tmp_path):
    """Three threads hold the lock for a moment and one of them for 20 ms: whoever wakes the next one in the queue."""
    without_loss(analyse, 'waits', '--on', '--json', '-o', tmp_path / 'out', '-m', '64M', '--', queue, path=tmp_path / 'out')
    tables = [json.loads(line) for line in (tmp_path / 'out').read_text().splitlines()]
    waits, waited = ([t['rows'] for t in tables if t['table'] == name][0] for name in ('waits', 'waited on'))
    of = {row['what']: row for row in waited}
    hot, news = of[f'futex hot ({queue})'], of[f'futex news ({queue})']      # both words of the condition variable
    assert hot['threads'] >= 3 and hot['total'] > 0.4 * NS and hot['address'] > 0
    assert re.fullmatch(r'holder \(\d+\)', hot['because_of']) and 80 < hot['because_of_share'] <= 100.01
    assert news['because_of'] == hot['because_of'] and news['because_of_share'] > 80
    assert any(row['waker'] in ('one', 'two', 'three') and row.get('on') == f'futex hot ({queue})' for row in waits)


def test_stacks_are_those_of_a_lock(analyse, queue):
    """Whatever its threads are called; naps are no news."""
    run = ['waits', '--on', '--call-graph', 'dwarf,2048', '-m', '64M']
    text = analyse(*run, '--', queue).text
    heads = re.findall(r'^ *[\d.]+%  (.*), [\d.]+ ms$\n(?:    +\S.*\n)+ +because of (.*)$', text, re.M)
    assert (f'one and others wait in futex hot ({queue}) [mutex]'.split(' ', 1)[1], 'holder') in [(h.split(' ', 1)[1], w) for h, w in heads], text
    assert re.search(r'^sleeps are left out, also of the percentages: \d+, [\d.]+ ms \(--full shows them\)$', text, re.M)
    assert not any('nanosleep' in head for head, _ in heads), text
    text = analyse(*run, '--full', '--', queue).text
    assert 'waits in clock_nanosleep' in text and 'sleeps are left out' not in text


def test_waits_that_end_unseen_end_with_the_next_system_call(analyse, tmp_path):
    """A recording without wake-ups."""
    nap = [sys.executable, '-c', 'import time\nfor i in range(10): time.sleep(0.02)']
    analyse('record', '-a', '-o', tmp_path / 'r.data', *RING, '-e',
            'sched:sched_switch,sched:sched_waking/pid==-1/,sched:sched_process_fork,raw_syscalls:*', '--', *nap)
    rows = json.loads(analyse('waits', '--on', '--json', '-I', tmp_path / 'r.data').text.splitlines()[0])['rows']
    naps = [row for row in rows if row['on'] in ('clock_nanosleep', 'select') and row['comm'].startswith('python')]
    assert naps and {row['waker'] for row in naps} == {'[not seen]'}
    assert sum(row['total'] for row in naps) >= 0.2 * NS


def test_locks_of_a_recording_have_names(analyse, queue, tmp_path):
    """Also if the run that recorded had no use for mappings; a program that was built anew says nothing of the old one's locks."""
    got = analyse('waits', '--on', '--record', tmp_path / 'r.data', '-m', '64M', '--', 'sh', '-c', f'echo pid $$; exec {queue}')
    pid = got.pid
    read = ['waits', '--on', '--json', '-I', tmp_path / 'r.data', '-p', pid]
    def waited():
        return {row['what']: row for row in analyse(*read).table('waited on')['rows']}
    before = waited()
    assert before[f'futex hot ({queue})']['because_of'].startswith('holder ')
    assert f'futex news ({queue})' in before and not any('fd ' in what and '[' in what for what in before)
    subprocess.run(['gcc', '-O1', '-pthread', '-w', '-DANEW', '-Wl,--build-id=0x1234', '-o', queue, tmp_path / 'queue.c'], check=True)
    after = waited()
    assert not any('(' in what for what in after), after
    hot = after[f"futex {before[f'futex hot ({queue})']['address']:#x}"]
    assert hot['total'] == before[f'futex hot ({queue})']['total']


@pytest.mark.deep
def test_locks_of_a_recording_without_build_ids_have_names(prof, perf, queue, tmp_path):
    """The file is known by its inode; one with another inode is another one, and the table says so."""
    subprocess.run([perf, 'record', '-q', '-B', '-N', '-a', '-m', '64M', '-o', tmp_path / 'p.data', '-e', 'sched:sched_switch,sched:sched_waking,'
                    'sched:sched_process_fork,raw_syscalls:sys_enter,raw_syscalls:sys_exit', '--', 'sh', '-c', f'echo $$ >pid; exec {queue}'],
                   check=True, timeout=60, cwd=tmp_path)
    pid = (tmp_path / 'pid').read_text().strip()        # others may have locks without names

    def read():
        return subprocess.run([prof, 'waits', '--on', '-I', tmp_path / 'p.data', '-p', pid], capture_output=True, text=True, timeout=60).stdout
    text = read()
    assert f'futex hot ({queue})' in text and f'futex news ({queue})' in text and 'have no names' not in text, text
    os.link(queue, tmp_path / 'old')            # keeps its inode from being used again
    queue.unlink()
    subprocess.run(['gcc', '-O1', '-pthread', '-w', '-o', queue, tmp_path / 'queue.c'], check=True)
    text = read()
    assert re.search(rf'^locks in variables of {queue} have no names: the file no longer exists, or is not the one that was recorded$',
                     text, re.M), text
    assert f'({queue})' not in text


def test_a_recording_says_how_to_select_its_command(prof, queue, tmp_path):
    run = [prof, 'waits', '-v', '--record', 'r.data', '--', 'sh', '-c', f'echo pid $$; exec {queue}']
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    pid, = re.findall(r'^pid (\d+)$', done.stdout, re.M)
    assert f'r.data has the events of all tasks: -I r.data -p {pid} shows what this command did' in done.stderr
    quiet = subprocess.run([prof, 'profile', '-v', '--record', 'r.data', '--', 'true'], cwd=tmp_path, capture_output=True, text=True)
    assert 'all tasks' not in quiet.stderr, quiet.stderr


def test_a_descriptor_that_is_used_again_has_no_wrong_name(analyse, tmp_path):
    """A pipe has the number of the file that was synced: when it is looked up, the file is closed."""
    job = ('import os, time\nfor i in range(30):\n    f = os.open("data", os.O_CREAT | os.O_WRONLY)\n    os.write(f, b"x" * 65536)\n'
           '    os.fsync(f)\n    os.close(f)\n    ends = os.pipe()\n    time.sleep(0.03)\n    [os.close(e) for e in ends]\n')
    text = analyse('waits', '--on', '-m', '64M', '--', sys.executable, '-c', job).text
    assert not re.search(r' fsync pipe:\[', text), text
