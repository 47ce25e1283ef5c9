# SPDX-License-Identifier: Apache-2.0
"""waits --on: what kind of thing threads wait for. The program says which of its addresses are what."""
import json
import re
import subprocess
import sys

import pytest

from frame.again import attempts

pytestmark = pytest.mark.usefixtures('switches')

KNOWN = r'''
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

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
static int told;
static atomic_int rounds;

static struct timespec in_10_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += 10000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static void *wait_for_all(void *arg)
{
	struct timespec t;

	prctl(PR_SET_NAME, "waiter");
	for (int i = 0; i < 6; i++) {
		pthread_barrier_wait(&OF(bar));
		pthread_mutex_lock(&OF(big));
		pthread_mutex_unlock(&OF(big));
		pthread_mutex_lock(&OF(pi));
		pthread_mutex_unlock(&OF(pi));
		pthread_rwlock_rdlock(&OF(rw));
		pthread_rwlock_unlock(&OF(rw));
		sem_wait(&OF(sem));
		pthread_mutex_lock(&small);
		while (told <= i)
			pthread_cond_wait(&OF(news), &small);
		t = in_10_ms();
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
	usleep(400000);
	return NULL;
}

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
	fflush(stdout);
	pthread_create(&w, NULL, wait_for_all, NULL);
	for (int i = 0; i < 6; i++) {
		pthread_mutex_lock(&OF(big));
		pthread_mutex_lock(&OF(pi));
		pthread_rwlock_wrlock(&OF(rw));
		usleep(35000);
		pthread_barrier_wait(&OF(bar));
		usleep(10000);
		pthread_mutex_unlock(&OF(big));
		usleep(10000);
		pthread_mutex_unlock(&OF(pi));
		usleep(10000);
		pthread_rwlock_unlock(&OF(rw));
		usleep(10000);
		sem_post(&OF(sem));
		usleep(10000);
		pthread_mutex_lock(&small);
		told++;
		pthread_cond_signal(&OF(news));
		pthread_mutex_unlock(&small);
		while (rounds <= i)     /* else the next round could have its locks before this one's waiter */
			usleep(1000);
	}
	pthread_join(w, NULL);
	pthread_create(&r, NULL, rest, NULL);
	usleep(20000);
	t = in_10_ms();
	if (pthread_timedjoin_np(r, NULL, &t))
		pthread_join(r, NULL);
	return 0;
}
'''


def build(folder, *flags):
    (folder / 'known.c').write_text(KNOWN)
    subprocess.run(['gcc', '-O1', '-pthread', '-w', *flags, '-o', folder / 'known', folder / 'known.c'], check=True)
    return folder / 'known'


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


def run(analyse, job, out, *options):
    out.unlink(missing_ok=True)
    got = analyse('waits', '--on', '--json', '-m', '64M', '-o', out, *options, '--', job)
    tables = {t['table']: t['rows'] for t in map(json.loads, out.read_text().splitlines())}
    return got, tables['waits'], tables['waited on']


ALL = {kind: {kind} for kind in ('mutex', 'condvar', 'rwlock', 'semaphore', 'barrier')}
CALLS = {'mutex': {'mutex'}, 'condvar': {None}, 'rwlock': {None}, 'semaphore': {None}, 'barrier': {None}}


@pytest.mark.deep
@pytest.mark.parametrize('flags, options, expected', [
    ([], [], ALL), (['-DHEAP'], [], CALLS), (['-DHEAP'], ['--call-graph', 'dwarf,2048'], ALL)], ids=['variables', 'heap', 'stacks'])
def test_kinds_of_locks(analyse, tmp_path, flags, options, expected):
    """Of a variable of the C library's types, from its size; else from the stack. Calls alone tell mutexes and ends of threads, and
    take no barrier of two threads for a mutex."""
    job = build(tmp_path, *flags)

    def measure():
        got, waits, waited = run(analyse, job, tmp_path / 'out', *options)
        said = kinds_of(got.text, waited)
        joins = {(row['on'], row.get('kind')) for row in waits if row['waker'] == 'rester'}
        ends = {(row['what'], row.get('kind')) for row in waited if row['what'].startswith('join')}
        if said == expected and joins == {('join of thread rester', 'join')} and ('join of thread rester', 'join') in ends:
            return None
        return got.text, said, joins, ends
    attempts(measure)


def test_kinds_of_the_recorded(prof, analyse, tmp_path):
    """Recordings have no memory to look into, and their stacks tell the same."""
    job = build(tmp_path, '-DHEAP')
    mine = [' || '.join(f'{field}=="{comm}"' for comm in ('known', 'waiter', 'rester')) for field in ('prev_comm', 'comm')]
    events = f'sched:sched_switch/{mine[0]}/stack=auto/,sched:sched_waking/{mine[1]}/stack=auto/,sched:sched_process_fork,raw_syscalls:*'

    def measure():
        done = subprocess.run([prof, 'record', '-q', '-a', '-m', '64M', '-o', tmp_path / 'r.data', '-e', events, '--', job],
                              capture_output=True, text=True, timeout=60, check=True)
        tables = {t['table']: t['rows'] for t in analyse('waits', '--on', '--json', '-I', tmp_path / 'r.data').lines}
        said = kinds_of(done.stdout, tables['waited on'])
        joins = {(row['on'], row.get('kind')) for row in tables['waits'] if row['waker'] == 'rester'}
        return None if said == ALL and joins == {('join of thread rester', 'join')} else (said, joins)
    attempts(measure)


IN_TURN = r'''
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

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


def test_a_condition_variable_without_a_name_is_one_object(analyse, tmp_path):
    """Threads wait for two of its words in turn. Its name is the address of the first one."""
    (tmp_path / 'turns.c').write_text(IN_TURN)
    job = tmp_path / 'turns'
    subprocess.run(['gcc', '-O1', '-pthread', '-w', '-o', job, tmp_path / 'turns.c'], check=True)

    def measure():
        got, waits, waited = run(analyse, job, tmp_path / 'out', '-g')
        *conds, size = (int(number, 0) for number in got.text.split()[:3])
        found = [[row for row in waited if cond <= row.get('address', 0) < cond + size] for cond in conds]
        named = {row['on'] for row in waits if (row.get('kind'), row['on'][:8]) == ('condvar', 'futex 0x')}
        right = [len(rows) == 1 and rows[0]['kind'] == 'condvar' and not rows[0]['address'] % 8 for rows in found]
        return None if all(right) and named == {row['what'] for rows in found for row in rows} else (got.text, waits, waited)
    attempts(measure)


def test_a_timeout_is_nobody_s(analyse, tmp_path):
    """The result of the call says so, whoever was on the CPU then, and also if the kernel did not deliver the wake-up."""
    job = build(tmp_path)

    def measure():
        _, waits, waited = run(analyse, job, tmp_path / 'out')
        ended = {}
        for row in waits:
            if row['comm'] in ('waiter', 'known') and '[' in row['waker']:
                ended.setdefault(row['on'].split(' (')[0], {}).update({row['waker']: row['calls']})
        because = {row['what'].split(' (')[0]: row.get('because_of') for row in waited}
        wanted = {'poll': {'[timeout]': 6}, 'futex never': {'[timeout]': 6}, 'join of thread rester': {'[timeout]': 1}}
        right = {on: ended.get(on) for on in wanted} == wanted and because['futex never'] is None
        return None if right else (ended, because)
    attempts(measure)


TRIES = r'''
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t begun;

static void *try_for_20_ms(void *arg)
{
	struct timespec t;

	pthread_barrier_wait(&begun);
	do {
		clock_gettime(CLOCK_REALTIME, &t);
		t.tv_nsec += 20000000;
		t.tv_sec += t.tv_nsec / 1000000000;
		t.tv_nsec %= 1000000000;
	} while (pthread_mutex_timedlock(&big, &t));
	pthread_mutex_unlock(&big);
	return NULL;
}

static void *own(void *arg)
{
	prctl(PR_SET_NAME, "owner");
	pthread_mutex_lock(&big);
	pthread_barrier_wait(&begun);
	usleep(210000);
	pthread_mutex_unlock(&big);
	return NULL;
}

int main(void)
{
	pthread_t t[2];

	pthread_barrier_init(&begun, NULL, 2);
	pthread_create(&t[0], NULL, own, NULL);
	pthread_create(&t[1], NULL, try_for_20_ms, NULL);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
}
'''


def test_timeouts_at_a_mutex_are_because_of_its_owner(analyse, tmp_path):
    (tmp_path / 'tries.c').write_text(TRIES)
    job = tmp_path / 'tries'
    subprocess.run(['gcc', '-O1', '-pthread', '-w', '-o', job, tmp_path / 'tries.c'], check=True)

    def measure():
        _, waits, waited = run(analyse, job, tmp_path / 'out')
        row, = (row for row in waited if row['what'].startswith('futex big'))
        timeouts = [r['calls'] for r in waits if r['waker'] == '[timeout]' and r['on'] == row['what']]
        right = timeouts and row.get('because_of', '').startswith('owner (') and row['because_of_share'] > 99 and row.get('kind') == 'mutex'
        return None if right else (waits, row)
    attempts(measure)


GIVES_UP = r'''
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <time.h>

static pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER;
static sem_t held, done;

static void *own(void *arg)
{
	prctl(PR_SET_NAME, "owner");
	pthread_mutex_lock(&big);
	sem_post(&held);
	sem_wait(&done);
	pthread_mutex_unlock(&big);
	return NULL;
}

int main(void)
{
	struct timespec t;
	pthread_t owner;

	pthread_create(&owner, NULL, own, NULL);
	sem_wait(&held);
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec++;
	pthread_mutex_timedlock(&big, &t);
	sem_post(&done);
	pthread_join(owner, NULL);
}
'''


def test_a_lock_that_nobody_gets_is_because_of_its_owner(analyse, tmp_path):
    """The owner wakes nobody at the lock."""
    (tmp_path / 'gives_up.c').write_text(GIVES_UP)
    job = tmp_path / 'gives_up'
    subprocess.run(['gcc', '-O1', '-pthread', '-w', '-o', job, tmp_path / 'gives_up.c'], check=True)

    def measure():
        _, waits, waited = run(analyse, job, tmp_path / 'out')
        row, = (row for row in waited if row['what'].startswith('futex big'))
        right = row.get('because_of', '').startswith('owner (') and row['because_of_share'] > 99
        return None if right else (waits, row)
    attempts(measure)


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
    def measure():
        rows = analyse('waits', '--on', '--json', '-m', '64M', '--', sys.executable, '-c', SOCKET).table('waits')['rows']
        of = [(row['waker'], row['calls']) for row in rows if row['on'].startswith('recvfrom')]
        return None if of == [('[timeout]', 5)] else (of, rows)
    attempts(measure)


@pytest.mark.deep
def test_text_and_csv_have_kinds(analyse, tmp_path):
    job = build(tmp_path)

    def measure():
        text = analyse('waits', '--on', '--call-graph', 'dwarf,2048', '-m', '64M', '--', job).text
        wanted = [r'^comm +tid +waker +on +kind +calls ', rf'^waiter +\d+ +known +futex news \({job}\) +condvar +\d', r'^what +kind +threads ',
                  rf'^futex bar\+0x4 \({job}\) +barrier +1 ', rf'^ *[\d.]+%  waiter waits in futex rw \({job}\) \[rwlock\], [\d.]+ ms$',
                  r'^ *[\d.]+%  known waits in join of thread rester \[join\], [\d.]+ ms$']
        return [w for w in wanted if not re.search(w, text, re.M)] and text
    attempts(lambda: measure() or None)
    assert ',on,kind,calls,' in analyse('waits', '--on', '--csv', '-m', '64M', '--', job).text


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
    got = analyse('waits', '--on', '--json', '-m', '4M', '--', sys.executable, '-c', LOCKS_FILE, path)
    assert {row['kind'] for row in got.table('waits')['rows'] if row['on'].startswith('fcntl')} == {'file lock'}, got.table('waits')


NEWS = r'''
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;

int main(void)
{
	struct timespec end;

	pthread_mutex_lock(&lock);
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec++;
	pthread_cond_timedwait(&news, &lock, &end);
}
'''


def test_stacks_by_frame_pointers_have_kinds(analyse, tmp_path):
    """The C library may have none, so that the caller of its innermost function is not known."""
    (tmp_path / 'news.c').write_text(NEWS)
    subprocess.run(['gcc', '-O1', '-pthread', '-w', '-o', tmp_path / 'news', tmp_path / 'news.c'], check=True)
    out = analyse('waits', '--on', '-g', '--call-graph', 'fp', '--full', '-m', '64M', '--', tmp_path / 'news').text
    assert re.search(r'news waits in futex news \(.*/news\) \[condvar\], ', out), out
