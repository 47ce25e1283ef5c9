# SPDX-License-Identifier: Apache-2.0
"""Of a thread that waits for a lock, syscalls and waits say which thread holds it, if the lock knows; of pthread_join, for which one."""
import os
import re
import subprocess

import pytest

from frame.analyses import RING

pytestmark = pytest.mark.live

LOCKS = r'''

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, inherits, own = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t held;

static void *hold(void *arg)
{
	pthread_setname_np(pthread_self(), "the\033holder");
	pthread_mutex_lock(&plain);
	pthread_mutex_lock(&inherits);
	pthread_rwlock_wrlock(&rw);
	told("holder");
	pthread_barrier_wait(&held);
	for (;;)
		pause();
}

static void *lock_plain(void *arg) { told("plain"); pthread_mutex_lock(&plain); return NULL; }
static void *lock_inherits(void *arg) { told("inherits"); pthread_mutex_lock(&inherits); return NULL; }
static void *lock_twice(void *arg) { told("own"); pthread_mutex_lock(&own); pthread_mutex_lock(&own); return NULL; }
static void *reads(void *arg) { told("reader"); pthread_rwlock_rdlock(&rw); return NULL; }
static void *writes(void *arg) { told("writer"); pthread_rwlock_wrlock(&rw); return NULL; }
static void *wait_cond(void *arg) { told("cond"); pthread_mutex_lock(&outer); pthread_cond_wait(&cond, &outer); return NULL; }

int main(void)
{
	void *(*const all[])(void *) = { lock_plain, lock_inherits, lock_twice, reads, writes, wait_cond };
	pthread_mutexattr_t a;
	pthread_t t;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&inherits, &a);
	pthread_barrier_init(&held, NULL, 2);
	pthread_create(&t, NULL, hold, NULL);
	pthread_barrier_wait(&held);
	for (int i = 0; i < 6; i++)
		pthread_create(&t, NULL, all[i], NULL);
	told("main");
	pthread_join(t, NULL);
}
'''
HOLDS = 8


def call_of(pid, tid):
    with open(f'/proc/{pid}/task/{tid}/syscall', encoding='ascii') as f:
        return f.read().split()[0]


def until_in_futex(pid, tids):
    for tid in tids:
        while call_of(pid, tid) != '202':
            os.sched_yield()


@pytest.fixture
def locked(compiled):
    """{what a thread waits for: its tid} and the process."""
    job = compiled(LOCKS, name='locks')
    with subprocess.Popen([job], stdout=subprocess.PIPE, text=True) as one:
        told = dict(reversed(one.stdout.readline().split()) for _ in range(HOLDS))
        until_in_futex(one.pid, (tid for what, tid in told.items() if what != 'holder'))
        yield one.pid, told
        one.kill()


def wanted(told, joined=r'join of thread locks \({}\)'):
    holder = rf'the\\x1bholder \({told["holder"]}\)'
    return {'plain': rf'futex plain \(.*/locks\) held by {holder}', 'inherits': rf'futex inherits \(.*/locks\) held by {holder}',
            **dict.fromkeys(('reader', 'writer'), rf'futex rw \(.*/locks\) held by {holder}'),
            'own': r'futex own \(.*/locks\) held by itself', 'cond': r'futex cond \(.*/locks\)', 'main': joined.format(told['cond'])}


@pytest.mark.parametrize('options', [[], ['--errors']])
def test_syscalls_names_the_holder(analyse, locked, options):
    pid, told = locked
    out = analyse('syscalls', *options, '-p', pid, '--seconds', '0.2').text
    for what, line in wanted(told).items():
        assert re.search(rf'^locks {told[what]} is still in {line}, since before the run: ', out, re.M), (what, out)


def test_waits_names_the_holder(analyse, locked):
    pid, told = locked
    got = analyse('waits', '--on', '--json', *RING, '-p', pid, '--seconds', '0.2')
    rows = {str(row['tid']): row for row in got.table('waits')['rows']}
    for what, line in wanted(told).items():
        assert re.fullmatch(line, rows[told[what]]['on']), (what, rows)
    kinds = {'plain': 'mutex', 'inherits': 'mutex', 'own': 'mutex', 'cond': 'condvar', 'main': 'join'}
    assert {what: rows[told[what]].get('kind') for what in kinds} == kinds
    held = {row['what'].split()[1]: row.get('held_by') for row in got.table('waited on')['rows']}
    assert held['plain'] == held['inherits'] == rf'the\x1bholder ({told["holder"]})'
    assert held['own'] == f'locks ({told["own"]})'
    assert [what for what, holder in held.items() if holder is None and what.startswith('cond')], held
    out = analyse('waits', '-p', pid, '--seconds', '0.2').text
    assert re.findall(r'^deadlock: .*$', out, re.M) == [f'deadlock: locks ({told["own"]}) waits for a lock that it holds itself'], out


def test_the_line_of_waits_names_the_holder_and_the_child(analyse, locked):
    _, told = locked
    out = analyse('waits', '-t', told['plain'], '--seconds', '0.2').text
    assert re.search(rf'^1 thread has waited since before the run \({wanted(told)["plain"]}\): ', out, re.M), out
    with subprocess.Popen(['sh', '-c', 'sleep 600; :'], stdout=subprocess.DEVNULL) as shell:
        while not (child := subprocess.run(['pgrep', '-P', str(shell.pid), 'sleep'], capture_output=True, text=True).stdout.strip()):
            os.sched_yield()
        try:
            out = analyse('waits', '-p', shell.pid, '--seconds', '0.2').text
        finally:
            os.kill(int(child), 9)
    assert re.search(rf'\(wait4 (any child: |child ){child} \(sleep\)\): ', out), out


CIRCLE = r'''

enum { N = 3 };
static pthread_mutex_t locks[N];
static pthread_barrier_t all;
static int timed;

static void *want(void *arg)
{
	const long i = (long)arg;
	struct timespec end = { time(NULL) + 600 };

	pthread_mutex_lock(&locks[i]);
	told("wants");
	pthread_barrier_wait(&all);
	if (timed && !i)
		pthread_mutex_timedlock(&locks[(i + 1) % N], &end);
	else
		pthread_mutex_lock(&locks[(i + 1) % N]);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;

	timed = argc > 1;
	pthread_barrier_init(&all, NULL, N);
	for (long i = 0; i < N; i++)
		pthread_mutex_init(&locks[i], NULL);
	for (long i = 0; i < N; i++)
		pthread_create(&t, NULL, want, (void *)i);
	pthread_join(t, NULL);
}
'''


@pytest.mark.parametrize('arguments', [[], ['timed']])
def test_a_circle_of_waits_is_a_deadlock(analyse, compiled, arguments):
    """If one of the waits has a timeout, the circle ends by itself."""
    job = compiled(CIRCLE, name='circle')
    with subprocess.Popen([job, *arguments], stdout=subprocess.PIPE, text=True) as one:
        try:
            tids = [one.stdout.readline().split()[0] for _ in range(3)]
            until_in_futex(one.pid, tids)
            out = analyse('waits', '-p', one.pid, '--seconds', '0.4', '-i', '100').text
        finally:
            one.kill()
    lines = re.findall(r'^deadlock: (.*) wait for each other\'s locks$', out, re.M)
    named = [re.findall(r'circle \((\d+)\)', line) for line in lines]
    assert [sorted(names) for names in named] == ([] if arguments else [sorted(tids)]), out
    assert all(re.fullmatch(r'circle \(\d+\), circle \(\d+\) and circle \(\d+\)', line) for line in lines), out


QUITS = r'''

static pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER;

static void *quit(void *arg)
{
	prctl(PR_SET_NAME, "quitter");
	pthread_mutex_lock(&big);
	told("quits");
	usleep(100000);
	return NULL;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, quit, NULL);
	pthread_join(t, NULL);
	alarm(20);
	pthread_mutex_lock(&big);
}
'''


def test_a_holder_that_has_ended(analyse, compiled, tmp_path):
    """The mutex still has its number; its name is known if it ended during the run. What is lost meanwhile is of others."""
    job = compiled(QUITS, name='quits')
    rows = lambda got, name: [row for t in got.lines if t['table'] == name for row in t['rows']]
    with subprocess.Popen([job], stdout=subprocess.PIPE, text=True) as one:
        tid = one.stdout.readline().split()[0]
        while os.path.exists(f'/proc/{one.pid}/task/{tid}') or call_of(one.pid, one.pid) != '202':
            os.sched_yield()
        held = rf'futex big \({job}\) held by thread {tid}, which has ended'
        got = analyse('waits', '--on', '--json', '-m', '64M', '-p', one.pid, '--seconds', '0.2')
        assert re.fullmatch(held, rows(got, 'waits')[0]['on']), got.lines
        row, = rows(got, 'waited on')
        assert (row['held_by'], row['because_of']) == (f'thread {tid}, which has ended',) * 2 and row['because_of_share'] > 99
        assert re.search(rf'^quits {one.pid} is still in {held}, ', analyse('syscalls', '-p', one.pid, '--seconds', '0.2').text, re.M)
        one.kill()
    got = analyse('waits', '--json', '--flame-by-lock', '--flame-graph', 'w.folded', '-m', '64M', '--seconds', '1', '--', job)
    row, = (row for row in rows(got, 'waits') if row['on'].startswith('futex') and row['waker'] == '[nobody yet]')
    assert re.fullmatch(rf'futex big \({job}\) held by quitter \(\d+\), which has ended', row['on']) and row['kind'] == 'mutex', row
    # in the picture, a lock has one root whether its holder is known or not
    roots = {line.split(';')[0] for line in (tmp_path / 'w.folded').read_text().splitlines()}
    assert f'futex big ({job})' in roots and not [root for root in roots if ' held by ' in root], roots


DIES = r'''

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static volatile int one, two;

static void *wants_second(void *arg)
{
	pthread_setname_np(pthread_self(), "one");
	one = gettid();
	pthread_mutex_lock(&first);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&second);
	return NULL;
}

static void *wants_first(void *arg)
{
	pthread_setname_np(pthread_self(), "two");
	two = gettid();
	pthread_mutex_lock(&second);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&first);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;

	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&t, NULL, wants_second, NULL);
	pthread_create(&t, NULL, wants_first, NULL);
	until_waits(&one, &second, sizeof(second));
	until_waits(&two, &first, sizeof(first));
	usleep(2000000);        /* who wants to look who holds what may have to wait for a CPU */
	if (argc > 1)
		kill(getpid(), SIGTERM);
	_exit(0);
}
'''


@pytest.mark.parametrize('arguments, code', [([], 0), (['killed'], 128 + 15)])
def test_a_wait_that_the_end_of_the_program_ended_is_because_of_the_holder(analyse, compiled, arguments, code):
    job = compiled(DIES, name='dies')
    out = analyse('waits', '--on', *RING, '--', job, *arguments, code=code).text
    because = {what: (name, share) for what, name, share in
               re.findall(r'^futex (first|second) .* (one|two|dies) \(\d+\) +([\d.]+)$', out, re.M)}
    assert because == {'first': ('one', '100.00'), 'second': ('two', '100.00')}, out
    assert re.findall(r'^(?:one|two) +\d+ +(\S+) +futex (?:first|second)', out, re.M) == ['[exit]'] * 2, out
    assert re.search(r'^deadlock: (one|two) \(\d+\) and (one|two) \(\d+\) wait for each other\'s locks$', out, re.M), out
