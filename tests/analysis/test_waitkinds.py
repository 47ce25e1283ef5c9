# SPDX-License-Identifier: Apache-2.0
"""waits --on: what kind of thing threads wait for. The program says which of its addresses are what."""
import os
import platform
import re
import subprocess
import sys
import types

import pytest

from frame.analyses import RING, TIMEOUT, compiled, run
from frame.wakes import Awake

ROUNDS = 3

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.usefixtures('switches')]

KNOWN = f'#define ROUNDS {ROUNDS}\n' + r'''

static pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER, pi;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER, never = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static sem_t sem;
static pthread_barrier_t bar;
#ifdef HEAP
#define OF(what) (*what##_of)
static pthread_mutex_t *big_of, *pi_of;
static pthread_cond_t *news_of, *never_of;
static pthread_rwlock_t *rw_of;
static sem_t *sem_of;
static pthread_barrier_t *bar_of;
#define PLACE(what) (what##_of = malloc(sizeof(what)), *what##_of = what)
#else
#define OF(what) what
#define PLACE(what)
#endif
static pthread_mutex_t small = PTHREAD_MUTEX_INITIALIZER;
static volatile int happened, rounds, waiter;

static struct timespec in_20_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += 20000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static void *wait_for_all(void *arg)
{
	struct timespec t;

	prctl(PR_SET_NAME, "waiter");
	waiter = gettid();
	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&OF(bar));
		pthread_mutex_lock(&OF(big));
		pthread_mutex_unlock(&OF(big));
		pthread_mutex_lock(&OF(pi));
		pthread_mutex_unlock(&OF(pi));
		pthread_rwlock_rdlock(&OF(rw));
		pthread_rwlock_unlock(&OF(rw));
		sem_wait(&OF(sem));
		pthread_mutex_lock(&small);
		while (happened <= i)
			pthread_cond_wait(&OF(news), &small);
		t = in_20_ms();
		pthread_cond_timedwait(&OF(never), &small, &t);
		pthread_mutex_unlock(&small);
		poll(NULL, 0, 10);
		rounds++;
	}
	return NULL;
}

static void *rest(void *arg)
{
	prctl(PR_SET_NAME, "rester");
	usleep(150000);
	return NULL;
}

#define WAITS(what) until_waits(&waiter, &OF(what), sizeof(what)), usleep(5000)
#define SAY(kind, what) printf(kind " %#lx %zu\n", (unsigned long)&OF(what), sizeof(what))

int main(void)
{
	pthread_mutexattr_t inherits;
	pthread_t w, r;
	struct timespec t;

	PLACE(big); PLACE(pi); PLACE(news); PLACE(never); PLACE(rw); PLACE(sem); PLACE(bar);
	pthread_mutexattr_init(&inherits);
	pthread_mutexattr_setprotocol(&inherits, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&OF(pi), &inherits);
	sem_init(&OF(sem), 0, 0);
	pthread_barrier_init(&OF(bar), NULL, 2);
	SAY("mutex", big); SAY("mutex", pi); SAY("condvar", news); SAY("condvar", never); SAY("rwlock", rw); SAY("semaphore", sem);
	SAY("barrier", bar);
	printf("pid %d\n", getpid());
	fflush(stdout);
	pthread_create(&w, NULL, wait_for_all, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&OF(big));
		pthread_mutex_lock(&OF(pi));
		pthread_rwlock_wrlock(&OF(rw));
		WAITS(bar);
		pthread_barrier_wait(&OF(bar));
		WAITS(big);
		pthread_mutex_unlock(&OF(big));
		WAITS(pi);
		pthread_mutex_unlock(&OF(pi));
		WAITS(rw);
		pthread_rwlock_unlock(&OF(rw));
		WAITS(sem);
		sem_post(&OF(sem));
		WAITS(news);
		pthread_mutex_lock(&small);
		happened++;
		pthread_cond_signal(&OF(news));
		pthread_mutex_unlock(&small);
		while (rounds <= i)     /* else the next round could have its locks before this one's waiter */
			usleep(1000);
	}
	pthread_join(w, NULL);
	pthread_create(&r, NULL, rest, NULL);
	t = in_20_ms();
	if (pthread_timedjoin_np(r, NULL, &t))
		pthread_join(r, NULL);
	return 0;
}
'''


def kinds_of(text, waited):
    """{kind in truth: kinds that were said}"""
    truth = [(kind, int(address, 16), int(size)) for kind, address, size in re.findall(r'^(\w+) (0x[0-9a-f]+) (\d+)$', text, re.M)]
    assert len(truth) == 7, text
    said = {}
    for row in waited:
        for kind, address, size in truth:
            if address <= row.get('address', 0) < address + size:
                said.setdefault(kind, set()).add(row.get('kind'))
    return said


def waits_of(prof, folder, job, *options):
    """What the job printed, and the rows of both tables."""
    got = run(prof, folder, 'waits', '--on', '--json', *RING, *options, '--', job)
    return types.SimpleNamespace(text=got.text, pid=got.pid, waits=got.table('waits')['rows'], waited=got.table('waited on')['rows'])


ALL = {kind: {kind} for kind in ('mutex', 'condvar', 'rwlock', 'semaphore', 'barrier')}
CALLS = {'mutex': {'mutex'}, 'condvar': {None}, 'rwlock': {None}, 'semaphore': {None}, 'barrier': {None}}
JOIN = 'join of thread rester', 'join'


@pytest.fixture(scope='module')
def known(prof, tmp_path_factory):
    """A live run of the program with variables, its path, and its recording."""
    folder = tmp_path_factory.mktemp('known')
    job = compiled(folder, KNOWN)
    with Awake(os.sched_getaffinity(0)):
        got = waits_of(prof, folder, job, '--call-graph', 'fp', '--record', 'r.data')
    got.job, got.data = job, folder / 'r.data'
    return got


def check_kinds(got, expected):
    assert kinds_of(got.text, got.waited) == expected, got
    assert {(row['on'], row.get('kind')) for row in got.waits if row['waker'] == 'rester'} == {JOIN}, got
    assert JOIN in {(row['what'], row.get('kind')) for row in got.waited}, got


def test_kinds_of_locks_in_variables(known):
    """From the size of the C library's types."""
    check_kinds(known, ALL)


@pytest.mark.deep
@pytest.mark.parametrize('options, expected', [([], CALLS), (['--call-graph', 'dwarf,2048'], ALL)], ids=['calls', 'stacks'])
def test_kinds_of_locks_on_the_heap(prof, compiled, tmp_path, options, expected):
    """From the stack; calls alone tell mutexes and ends of threads, and take no barrier of two threads for a mutex."""
    check_kinds(waits_of(prof, tmp_path, compiled(KNOWN, '-DHEAP'), *options), expected)


@pytest.mark.soak       # seen to fail once where 30 others wanted two CPUs: stacks of each wait have to be there
def test_kinds_of_the_recorded(prof, analyse, compiled, tmp_path):
    """Recordings have no memory to look into, and their stacks tell the same."""
    mine = [' || '.join(f'{field}=="{comm}"' for comm in ('job', 'waiter', 'rester')) for field in ('prev_comm', 'comm')]
    events = f'sched:sched_switch/{mine[0]}/stack=auto/,sched:sched_waking/{mine[1]}/stack=auto/,sched:sched_process_fork,raw_syscalls:*'
    done = subprocess.run([prof, 'record', '-q', '-a', *RING, '-o', tmp_path / 'r.data', '-e', events, '--', compiled(KNOWN, '-DHEAP')],
                          capture_output=True, text=True, timeout=TIMEOUT, check=True)
    got = analyse('waits', '--on', '--json', '-I', tmp_path / 'r.data')
    check_kinds(types.SimpleNamespace(text=done.stdout, waits=got.table('waits')['rows'], waited=got.table('waited on')['rows']), ALL)


def test_a_timeout_is_nobody_s(known):
    """The result of the call says so, whoever was on the CPU then, and also if the kernel did not deliver the wake-up."""
    ended = {}
    for row in known.waits:
        if row['comm'] in ('waiter', 'job'):
            ended.setdefault(row['on'].split(' (')[0], {}).setdefault(row['waker'], row['calls'])
    assert set(ended['poll']) == {'[timeout]'}, ended
    # who got no CPU until the time was over has not waited
    assert set(ended.get('futex never', ['[timeout]'])) == {'[timeout]'} and set(ended.get(JOIN[0], ())) <= {'[timeout]', 'rester'}, ended
    because = {row['what'].split(' (')[0]: row.get('because_of') for row in known.waited}
    assert because.get('futex never') is None, because


def test_text_and_csv_have_kinds(analyse, known):
    """Stacks by frame pointers, too: the C library may have none, so that the caller of its innermost function is not known."""
    run = ['waits', '--on', '--full', '-I', known.data, '-p', known.pid]
    text, job = analyse(*run, before=['env']).text, known.job
    for wanted in (r'^comm +tid +waker +on +kind +calls ', rf'^waiter +\d+ +job +futex news \({job}\) +condvar +\d',
                   r'^what +kind +threads ',
                   rf'^futex bar\+0x4 \({job}\) +barrier +1 ', rf'^ *[\d.]+%  waiter waits in futex rw \({job}\) \[rwlock\], [\d.]+ ms$',
                   rf'^ *[\d.]+%  waiter waits in futex news \({job}\) \[condvar\], [\d.]+ ms$'):
        assert re.search(wanted, text, re.M), (wanted, text)
    assert ',on,kind,calls,' in analyse(*run, '--csv', before=['env']).text


IN_TURN = r'''
static struct both { pthread_mutex_t lock; pthread_cond_t plain, timed; int n; } *all;

static void *wait_for_all(void *arg)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += 100;
	pthread_mutex_lock(&all->lock);
	for (int i = 0; i < 40; i++, all->n = 0)
		while (!all->n)
			if (i % 2)
				pthread_cond_wait(&all->plain, &all->lock);
			else
				pthread_cond_clockwait(&all->timed, &all->lock, CLOCK_MONOTONIC, &t);
	pthread_mutex_unlock(&all->lock);
	return NULL;
}

int main(void)
{
	pthread_t t;

	all = calloc(1, sizeof(*all));
	printf("%p %p %zu\n", &all->plain, &all->timed, sizeof(all->plain));
	fflush(stdout);
	pthread_create(&t, NULL, wait_for_all, NULL);
	for (int i = 0; i < 40; i++) {
		usleep(5000);
		pthread_mutex_lock(&all->lock);
		all->n = 1;
		pthread_cond_signal(&all->plain);
		pthread_cond_signal(&all->timed);
		pthread_mutex_unlock(&all->lock);
	}
	for (int left = 1; left;) {
		usleep(1000);
		pthread_mutex_lock(&all->lock);
		all->n = 1;
		pthread_cond_signal(&all->plain);
		pthread_cond_signal(&all->timed);
		pthread_mutex_unlock(&all->lock);
		left = pthread_tryjoin_np(t, NULL);
	}
}
'''


@pytest.mark.soak     # all system calls of a busy machine overflow the rings
def test_a_condition_variable_without_a_name_is_one_object(prof, compiled, tmp_path):
    """Threads wait for two of its words in turn. Its name is the address of the first one."""
    got = waits_of(prof, tmp_path, compiled(IN_TURN), '-g')
    *conds, size = (int(number, 0) for number in got.text.split()[:3])
    found = [[row for row in got.waited if cond <= row.get('address', 0) < cond + size] for cond in conds]
    glibc = tuple(map(int, re.findall(r'\d+', platform.libc_ver()[1])[:2]))
    for rows, most in zip(found, (1, 2 if glibc >= (2, 41) else 1)):      # then a wait by the monotonic clock looks like any other
        assert 1 <= len(rows) <= most and {row['kind'] for row in rows} == {'condvar'}, got
        assert most > 1 or not rows[0]['address'] % 8, got
    named = {row['on'] for row in got.waits if (row.get('kind'), row['on'][:8]) == ('condvar', 'futex 0x')}
    whats = {row['what'] for rows in found for row in rows}
    assert named == whats or (glibc >= (2, 41) and named > whats), got    # the mutex, taken again in a function without a name


GIVES_UP = r'''
static pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static sem_t held, done;

static int lock_in(pthread_mutex_t *lock, int ms)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += ms * 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return pthread_mutex_timedlock(lock, &t);
}

/* Wakes nobody at `other`, and one thread at `big`, after some timeouts. */
static void *own(void *arg)
{
	prctl(PR_SET_NAME, "owner");
	pthread_mutex_lock(&big);
	pthread_mutex_lock(&other);
	sem_post(&held);
	sem_wait(&done);
	pthread_mutex_unlock(&other);
	usleep(200000);
	pthread_mutex_unlock(&big);
	return NULL;
}

int main(void)
{
	pthread_t owner;

	pthread_create(&owner, NULL, own, NULL);
	sem_wait(&held);
	lock_in(&other, 900);     /* long enough for a reader beside load to see who owns it */
	sem_post(&done);
	while (lock_in(&big, 20))
		;
	pthread_join(owner, NULL);
}
'''


def test_timeouts_at_a_mutex_are_because_of_its_owner(prof, compiled, tmp_path):
    got = waits_of(prof, tmp_path, compiled(GIVES_UP))
    for name in 'big', 'other':
        row, = (row for row in got.waited if row['what'].startswith(f'futex {name}'))
        assert [r['calls'] for r in got.waits if r['waker'] == '[timeout]' and r['on'] == row['what']], got
        assert row['because_of'].startswith('owner (') and row['kind'] == 'mutex', got


SOCKET = """
import socket, struct
a, b = socket.socketpair()
a.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack('ll', 0, 20000))
for i in range(5):
    try:
        a.recv(1)
    except BlockingIOError:
        pass
"""


def test_the_timeout_of_a_socket(analyse):
    """The socket has one name, also in waits that are read when the process no longer exists."""
    rows = analyse('waits', '--on', '--json', *RING, '--', sys.executable, '-c', SOCKET).table('waits')['rows']
    assert [(row['waker'], row['calls']) for row in rows if row['on'].startswith('recvfrom')] == [('[timeout]', 5)], rows


LOCKS_FILE = r'''
import fcntl, os, sys, time

FCNTL = {'x86_64': '72 ', 'aarch64': '25 '}[os.uname().machine]
with open(sys.argv[1], 'w') as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
    child = os.fork()
    if not child:
        fcntl.lockf(file, fcntl.LOCK_EX)
        os._exit(0)
    while not open(f'/proc/{child}/syscall').read().startswith(FCNTL):
        time.sleep(0.001)
    fcntl.lockf(file, fcntl.LOCK_UN)
    os.wait()
'''


def test_a_lock_of_fcntl_is_a_file_lock(analyse, tmp_path):
    path = tmp_path / 'locked'
    got = analyse('waits', '--on', '--json', *RING, '--', sys.executable, '-c', LOCKS_FILE, path)
    assert {row['kind'] for row in got.table('waits')['rows'] if row['on'].startswith('fcntl')} == {'file lock'}, got.table('waits')
