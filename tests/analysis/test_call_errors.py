# SPDX-License-Identifier: Apache-2.0
"""syscalls --errors: calls that fail, on which path or address, and the stacks that make them."""
import os
import platform
import re
import shlex
import shutil
import subprocess

import pytest

from frame import failing
from frame.analyses import RING
from frame.callpaths import LIBC, PYTHON, libc  # noqa: F401

LIBC_VERSION = tuple(map(int, re.findall(r'\d+', platform.libc_ver()[1])[:2]))

pytestmark = [pytest.mark.live, pytest.mark.skipif(platform.machine() != 'x86_64', reason='has the calls and the C library of x86-64')]

PAIR = 'raw_syscalls:sys_enter,raw_syscalls:sys_exit'
# Paths as a user's own probe reads them in libc, which every kernel with uprobes can do.
BY_LIBC = f'{PAIR},uprobe:open64@{LIBC}//args="path=+0($arg1):string"/'
OPENS = r'''
import os
for path in ['/nowhere/a'] * 5 + ['/nowhere/b'] * 3 + ['/nowhere/\x1b[31m', '/nowhere/' + 'x' * 200]:
    try:
        os.open(path, os.O_RDONLY)
    except OSError:
        pass
os.open('/dev/null', os.O_RDONLY)
try:
    os.read(99, 1)
except OSError:
    pass
'''
NOWHERE = {'/nowhere/a': 5, '/nowhere/b': 3, '/nowhere/\\x1b[31m': 1, '/nowhere/' + 'x' * 200: 1}


def paths_of(result, call='openat(257)'):
    """{path: calls} below /nowhere."""
    rows = result.table('errors')['rows']
    return {r['path']: r['calls'] for r in rows if r['call'] == call and r.get('path', '').startswith('/nowhere')}


def test_only_calls_that_fail(analyse, works):
    got = analyse('syscalls', '--errors', '--json', *RING, '--', works, 'calls')
    assert [t['table'] for t in got.lines] == ['errors']
    calls = got.rows('errors', 'call', 'error')
    assert calls['close(3)', 'EBADF']['calls'] == 7 and calls['close(3)', 'EBADF']['comm'] == 'works'
    assert got.rows('errors', 'tid').keys() == {got.pid}
    assert not [call for call, _ in calls if call.startswith(('getppid', 'clock_nanosleep'))]
    frequent = [row['calls'] for row in got.table('errors')['rows']]
    assert frequent == sorted(frequent, reverse=True)


def test_a_recording_without_paths_says_so_once(analyse, recorded):
    """The text is one table, without calls that have not ended."""
    path = recorded('calls')
    out = analyse('syscalls', '--errors', '-I', path).text
    [titles] = [line.split() for line in out.splitlines() if line.startswith('comm')]
    titles = [title for title in titles if title != 'flags']      # if the loader looked for a file in vain
    assert titles == ['comm', 'call', 'error', 'calls', 'total(us)', 'max'] and '\nincomplete' not in out
    said = f'{path} has no event with a field `path`; `perf-prof syscalls --paths --record FILE` records paths, too'
    assert f'\npaths are not known: {said}\n' in out
    got = analyse('syscalls', '--errors', '--json', '-I', path)
    assert got.table('errors')['no_paths'] == said
    assert got.rows('errors', 'call')['close(3)']['calls'] == 7
    out = analyse('syscalls', '--errors', '-i', '10', '-I', path).text
    assert out.count('\ncomm ') + out.startswith('comm ') > 1 and out.count('paths are not known') == 1
    assert len(re.findall(r'syscalls: close = -9 EBADF after', analyse('trace', '-e', 'syscalls/--errors/', '-I', path).text)) == 7
    for key, by in ('tid', 'task'), ('comm', 'comm'), ('pid', 'pid'):
        [row] = [row for row in analyse('syscalls', '--json', '--by', by, '-I', path).table('errors')['rows'] if row['call'] == 'close(3)']
        assert row['calls'] == 7 and {k for k in ('tid', 'pid') if k in row} == {key} - {'comm'}, row


def test_paths_of_a_probe_in_libc(analyse, prof, libc, tmp_path):
    """Live, and of the recording of that run."""
    of = ['syscalls', '--errors', '-I', 'in']
    live = analyse('syscalls', '--errors', '--json', '--record', 'in', *RING, '-e', BY_LIBC, '--', PYTHON, '-c', OPENS)
    for got in live, analyse(*of, '--json'):
        assert paths_of(got) == NOWHERE and 'no_paths' not in got.table('errors')
        assert 'path' not in got.rows('errors', 'call', 'error')['read(0)', 'EBADF']     # it follows an open with a path
    text = analyse(*of).text
    assert '/nowhere/\\x1b[31m' in text and '\x1b' not in text
    if shutil.which('script'):      # a narrow terminal has room for paths: durations are left out first
        command = f'stty cols 80; {shlex.join([prof, *of])}'
        out = subprocess.run(['script', '-qec', command, '/dev/null'], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                             stdin=subprocess.DEVNULL).stdout
        assert re.search(r'comm +call +error +flags +calls +path', out) and re.search(r' /nowhere/a\s*$', out, re.M), out


def left_by(pid):
    """Probes of that process which are still defined."""
    lists = [f'/sys/kernel/tracing/{kind}_events' for kind in ('kprobe', 'uprobe')]
    return [line for path in lists if os.path.exists(path) for line in open(path, encoding='ascii') if f'_{pid}_' in line]


def test_paths_and_addresses_of_all_calls(analyse, libc):
    """From the kernel, or from libc if the kernel has no kprobes."""
    got = analyse('syscalls', '--errors', '--json', *RING, '--', PYTHON, '-c', failing.PROGRAM)
    assert 'no_paths' not in got.table('errors')
    rows = got.rows('errors', 'call', 'path')
    assert rows['openat(257)', '/nowhere/a']['calls'] == 3 and ('openat(257)', '/nowhere/b') not in rows
    assert ('execve(59)', '/nowhere/program') in rows
    assert {path for call, path in rows if call == 'rename(82)'} <= {'/nowhere/old, /nowhere/new', '/nowhere/new, /nowhere/old'}
    assert {path for call, path in rows if call.startswith('connect')} == {'/nowhere/socket', '@nobody'}
    assert ('bind(49)', '/nowhere/bound') in rows
    assert not left_by(got.pid)


STATIC = r'''
int main(void)
{
	struct stat st;
	for (int i = 0; i < 5; i++) {
		open("/nowhere/a", 0);
		fopen("/nowhere/b", "r");
		stat("/nowhere/c", &st);
		rename("/nowhere/d", "/nowhere/e");
		syscall(SYS_openat, AT_FDCWD, "/nowhere/number", 0);
	}
	return 0;
}
'''


def test_a_program_with_the_library_inside(analyse, prof, libc, compiled, tmp_path):
    """Also if it is compiled without names. syscall() has no place of its own for each call."""
    compiled(STATIC, '-static', '-s')
    got = analyse('syscalls', '--errors', '--json', *RING, '--', tmp_path / 'job')
    table, rows = got.table('errors'), got.rows('errors', 'call', 'path')
    one_place = LIBC_VERSION >= (2, 41)        # of all calls that can be cancelled, such as openat, as syscall() is
    known = [('newfstatat(262)', '/nowhere/c')] + [('openat(257)', path) for path in ('/nowhere/a', '/nowhere/b') if not one_place]
    for call, path in known:
        assert rows[call, path]['calls'] == 5
    unseen = 15 if one_place else 5
    if table.get('unseen_paths') is None:      # the kernel told all
        assert rows['openat(257)', '/nowhere/number']['calls'] == 5
    else:
        assert table['unseen_paths'] == unseen
        assert table['unseen_tasks'] == [{'comm': 'job', 'calls': unseen}]
        assert table['unseen_calls'] == [{'call': 'openat', 'calls': unseen}]
        said = subprocess.run([prof, 'syscalls', '--errors', '--csv', '-v', *RING, '--', tmp_path / 'job'], capture_output=True, text=True,
                              check=True, timeout=100).stderr
        assert f'paths of {unseen} calls are not known: no probe saw them: job {unseen}; these calls are openat {unseen}\n' in said, said


GO = r'''
long call(long number, long first, long second, long third, long fourth);
__asm__(".text\ncall: push %rbx\nmov %rdi,%rax\nmov %rsi,%rbx\nxchg %rcx,%rdi\nmov %rdx,%rcx\nmov %r8,%rsi\n"
	"mov %rsi,%r10\nmov %rdi,%rdx\nmov %rcx,%rsi\nmov %rbx,%rdi\nsyscall\npop %rbx\nret\n");
int main(void)
{
	for (int i = 0; i < 3; i++) {
		call(257, AT_FDCWD, (long)"/nowhere/a", 0, 0);
		call(21, (long)"/nowhere/b", 0, 0, 0);
		call(264, AT_FDCWD, (long)"/nowhere/c", AT_FDCWD, (long)"/nowhere/d");
		call(0, -1, (long)"/nowhere/read", 0, 0);
	}
	return 0;
}
'''


def test_a_program_in_go(analyse, libc, compiled, tmp_path):
    """The code by which it makes all calls, in C."""
    compiled(GO, '-static')
    got = analyse('syscalls', '--errors', '--json', '--match', '/nowhere/*', *RING, '--', tmp_path / 'job')
    assert {key: row['calls'] for key, row in got.rows('errors', 'call', 'path').items()} == {
        ('openat(257)', '/nowhere/a'): 3, ('access(21)', '/nowhere/b'): 3, ('renameat(264)', '/nowhere/c, /nowhere/d'): 3}
    got = analyse('syscalls', '--json', '--match', '/nowhere/*', '--call', 'access', *RING, '--', tmp_path / 'job')
    assert list(got.rows('paths', 'call', 'path')) == [('access(21)', '/nowhere/b')]


HANDLER = r'''
#include <sys/time.h>
static volatile int handled;
static void handle(int sig)
{
	handled++;
	syscall(SYS_faccessat, AT_FDCWD, "/nowhere/handler", 0);
}
int main(void)
{
	const struct itimerval often = { { 0, 150 }, { 0, 150 } }, never = { { 0 } };
	struct stat st;
	signal(SIGALRM, handle);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 20000; i++)
		stat("/nowhere/program", &st);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("signals %d\n", handled);
	return 0;
}
'''


def test_a_signal_handler_does_not_get_the_path_of_the_call_that_it_interrupts(analyse, libc, compiled, tmp_path):
    """Each signal hides the path of one call of the program at most."""
    compiled(HANDLER)
    got = analyse('syscalls', '--match', '/nowhere/*', '--json', *RING, '--', tmp_path / 'job')
    table = got.table('paths')
    paths = {'faccessat(269)': '/nowhere/handler', 'newfstatat(262)': '/nowhere/program'}
    assert all(row['path'] == paths.get(row['call'], row['path']) for row in table['rows']), table
    seen = sum(row['calls'] for row in table['rows'] if row['path'] == '/nowhere/program')
    signals = int(re.search(r'^signals (\d+)$', got.text, re.M).group(1))
    assert 20000 - signals <= seen <= 20000 <= seen + table.get('unseen_paths', 0), (signals, table)


def test_where_the_loader_looks_for_libraries(analyse, libc):
    got = analyse('syscalls', '--paths', '--json', *RING, '--', 'env', 'LD_LIBRARY_PATH=/nowhere', 'true')
    rows = got.rows('paths', 'comm', 'path')
    assert rows['true', '/nowhere/libc.so.6']['error'] == 'ENOENT' and 'unseen_paths' not in got.table('paths')


def test_a_slow_call_is_printed_with_its_path(analyse, libc):
    """If it fails."""
    out = analyse('syscalls', '--errors', '--than', '1ns', *RING, '--', PYTHON, '-c', OPENS).text
    assert len(re.findall(r'^\S+ \S+ python3 \d+ openat\(257\) /nowhere/b took ', out, re.M)) == 3 and ' brk(' not in out


ENDLESS = 'import os, time\nprint("ready", flush=True)\nwhile True:\n    os.access("/nowhere/in", 0)\n    time.sleep(0.01)'


@pytest.fixture
def inside(libc, tmp_path):
    """A process with another file at the path that is libc here."""
    real = os.path.realpath(LIBC)
    if subprocess.run(['unshare', '-m', 'true'], capture_output=True).returncode:
        pytest.skip('needs a mount namespace')
    shutil.copy(real, tmp_path / 'libc.so.6')
    script = f'mount --bind {tmp_path}/libc.so.6 {real} && exec {PYTHON} -c "$0"'
    process = subprocess.Popen(['unshare', '-m', 'sh', '-c', script, ENDLESS], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b'ready\n'
    yield process.pid
    process.kill()
    process.wait()


def test_the_library_of_a_container(analyse, inside):
    got = analyse('syscalls', '--errors', '--json', '--seconds', '1', *RING, '-p', inside)
    assert paths_of(got, 'access(21)')['/nowhere/in'] > 0
    # among all processes: a busy machine loses events
    text = analyse('syscalls', '--errors', '--match', '/nowhere/in', '--seconds', '2', *RING).text
    assert re.search(r'^python3 +access\(21\) .* /nowhere/in$', text, re.M), text


def test_paths_of_calls_that_do_not_fail(analyse, libc, tmp_path):
    """A glob chooses them, also of the recording of the run."""
    many = 'import os\nfor i in range(7): os.stat("/dev/null")\n' + OPENS
    got = analyse('syscalls', '--paths', '--json', f'--record={tmp_path}/r', *RING, '--', PYTHON, '-c', many)
    [table] = got.lines
    assert table['table'] == 'paths' and all(row['path'] for row in table['rows'])
    rows = got.rows('paths', 'call', 'path')
    assert rows['newfstatat(262)', '/dev/null']['calls'] == 7 and 'error' not in rows['newfstatat(262)', '/dev/null']
    assert rows['openat(257)', '/dev/null']['calls'] == 1
    assert rows['openat(257)', '/nowhere/a']['calls'] == 5 and rows['openat(257)', '/nowhere/a']['error'] == 'ENOENT'
    assert not left_by(got.pid)
    for options, expected in ([], {'/dev/null': 1, '/nowhere/b': 3}), (['--errors'], {'/nowhere/b': 3}):
        [table] = analyse('syscalls', *options, '--match', '*[bl]', '--json', '-I', tmp_path / 'r').lines
        found = {row['path']: row['calls'] for row in table['rows'] if row['call'] == 'openat(257)'}
        assert {path: n for path, n in found.items() if path in ('/dev/null', '/nowhere/a', '/nowhere/b')} == expected


def test_a_glob_that_matches_nothing(analyse, libc, tmp_path):
    said, links = 'no path matched: --match compares with whole paths', 'in a recording, symbolic links in paths are not followed'
    matched = analyse('syscalls', '--match', '/*', f'--record={tmp_path}/in', *RING, '--', 'cat', '/dev/null').text
    assert said not in matched and links not in matched
    assert said in analyse('syscalls', '--match', 'none', *RING, '--', 'cat', '/dev/null').text
    again = analyse('syscalls', '--match', '/behind/a/link/*', '-I', tmp_path / 'in').text
    assert said in again and links in again


HANGS = """
import os, time
child = os.fork()
if not child:
    os.close(1)
    os.close(2)
    open(FIFO)
    os._exit(0)
while open(f'/proc/{child}/stat').read().rpartition(')')[2].split()[0] != 'S':
    time.sleep(0.01)
os.access('/nowhere', 0)
os._exit(0)
"""


def test_a_recording_with_paths_says_nothing_about_calls_that_hang(analyse, libc, tmp_path):
    os.mkfifo(tmp_path / 'fifo')
    script = f'FIFO = "{tmp_path}/fifo"{HANGS}'
    analyse('syscalls', '--match', '/nowhere*', f'--record={tmp_path}/in', *RING, '--', PYTHON, '-c', script)
    os.close(os.open(tmp_path / 'fifo', os.O_RDWR))     # it goes on
    for options in [], ['--json']:
        out = analyse('syscalls', '--match', '/nowhere*', *options, '-I', tmp_path / 'in').text
        assert '/nowhere' in out and 'still in' not in out and 'unreturned' not in out, out
    assert ' was still in openat(257)' in analyse('syscalls', '-I', tmp_path / 'in').text


BY_NUMBER = r"""
int main(void) { for (int i = 0; i < 5; i++) syscall(SYS_openat, AT_FDCWD, "/nowhere/number", 0); return 0; }
"""


@pytest.mark.deep
@pytest.mark.parametrize('options', [['--match', '/nowhere/*'], ['--paths'], ['--errors']])
def test_a_recording_counts_paths_that_no_probe_saw(analyse, libc, compiled, tmp_path, options):
    compiled(BY_NUMBER)
    [live] = analyse('syscalls', *options, f'--record={tmp_path}/in', '--json', *RING, '--', tmp_path / 'job').lines
    [again] = analyse('syscalls', *options, '--json', '-I', tmp_path / 'in').lines
    assert live.get('unseen_paths') in (None, 5) and again.get('unseen_paths') == live.get('unseen_paths'), (live, again)


HOW = """
import os
for flags in os.O_RDONLY, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, os.O_RDWR | os.O_APPEND, os.O_RDWR | os.O_APPEND, os.O_PATH:
    os.close(os.open(FILE, flags))
os.access(FILE, 0)
"""


@pytest.mark.deep
def test_for_what_files_are_opened(analyse, libc, tmp_path):
    (tmp_path / 'a').touch()
    script = f'FILE = "{tmp_path}/a"{HOW}'
    for options in ['--match', f'{tmp_path}/*'], ['--paths']:
        [table] = analyse('syscalls', *options, '--json', *RING, '--', PYTHON, '-c', script).lines
        found = {r.get('flags'): r['calls'] for r in table['rows'] if r['path'] == f'{tmp_path}/a'}
        assert found == {'r': 1, 'w create trunc': 1, 'rw append': 2, 'path': 1, None: 1}, table
    command = 'syscalls', '--match', f'{tmp_path}/*', *RING
    text = analyse(*command, '--', PYTHON, '-c', script).text
    assert re.search(r' error +flags +calls ', text) and re.search(r' openat\(257\) +w create trunc +1 ', text), text
    assert ' flags ' not in analyse(*command, '--', PYTHON, '-c', f'import os\nos.access("{tmp_path}/a", 0)').text
    assert analyse(*command, '--csv', '--', 'true').text.splitlines()[0].split(',')[3:6] == ['call', 'error', 'flags']


def test_stacks_of_calls_with_a_path(analyse, libc):
    opens = 'import os\nfor i in range(9): os.close(os.open("/dev/null", 0))'
    out = analyse('syscalls', '--match', '/dev/null', '--call-graph', 'dwarf', *RING, '--', PYTHON, '-c', opens).text
    stacks = out[out.index('\nmost calls, by stack\n'):]
    stories = re.findall(r'python3: openat\(257\) /dev/null, (\d) times?\n((?: {4}.*\n)+)', stacks)
    assert sum(int(times) for times, _ in stories) == 9     # the interpreter calls in two ways
    assert all(re.search(r' \w*open\w*\+.*libc', story) and ' __libc_start_main' in story for _, story in stories), stories


MANY = r'''
import os
for i in range(10050):
    try:
        os.open('/nowhere/%d' % i, os.O_RDONLY)
    except OSError:
        pass
'''


def test_more_paths_than_are_kept(prof, libc, tmp_path):
    done = subprocess.run([prof, 'syscalls', '--errors', '--json', '-m', '64M', '-e', BY_LIBC, '--', PYTHON, '-c', MANY],
                          capture_output=True, text=True, timeout=60)
    assert re.search(r'^perf-prof: syscalls: more than 10000 paths since the last table: those after these are \[others\]', done.stderr,
                     re.M), done.stderr
    assert '"path":"[others]"' in done.stdout


def test_the_first_hundred_rows(analyse, libc):
    many = MANY.replace('10050', '150')
    base = ['syscalls', '--errors', *RING, '-e', BY_LIBC]
    out = analyse(*base, '--', PYTHON, '-c', many).text
    assert re.search(r'^\.\.\. \d+ more \(--full shows all\)$', out, re.M) and len(re.findall('^python3 ', out, re.M)) == 100
    out = analyse(*base, '--full', '--', PYTHON, '-c', many).text
    assert len(re.findall(r' /nowhere/\d+$', out, re.M)) == 150


def test_stacks_show_who_calls(analyse, works, tmp_path):
    command = 'syscalls', '--errors', '--call-graph', 'dwarf'
    got = analyse(*command, '--json', f'--record={tmp_path}/r', *RING, '--', works, 'calls')
    row = got.rows('error stacks', 'call', 'error')['close(3)', 'EBADF']
    assert row['calls'] == 7 and re.search(r';main;calls(;|$)', row['stack'])
    out = analyse('syscalls', '--errors', '-I', tmp_path / 'r').text
    stacks = out[out.index('\nmost failures, by stack\n'):]
    story = re.search(r'^ *[\d.]+%  works: close\(3\) EBADF, 7 times\n((?: {4}.*\n)+)', stacks, re.M)[1]
    assert 'calls+0x' in story and 'main+0x' in story and '[kernel.kallsyms]' not in story and '-g needs' not in out


def test_the_stacks_that_are_not_shown_are_counted(analyse, compiled):
    """Each of twelve functions closes what is not open."""
    source = ['volatile int done;']
    source += [f'__attribute__((noinline)) static void fail{i}(void) {{ for (int n = 0; n < {20 + i}; n++) {{ close(900); done++; }} }}'
               for i in range(12)]
    job = compiled('\n'.join([*source, 'int main(void) {', *(f'fail{i}();' for i in range(12)), '}', '']))
    command = 'syscalls', '--errors', '--call-graph', 'dwarf', *RING
    text = analyse(*command, '--', job).text
    assert len(re.findall(r' job: close\(3\) EBADF, \d+ times$', text, re.M)) == 10
    assert re.search(r'^\.\.\. \d+ more stacks, \d+\.\d\d% \(--full shows all\)$', text, re.M), text
    text = analyse(*command, '--full', '--', job).text
    assert ' more stacks' not in text and {int(n) for n in re.findall(r' fail(\d+)\+0x', text)} == set(range(12))


def test_it_takes_no_value(analyse):
    assert analyse('syscalls', '--errors=ENOENT', code=2).err == 'perf-prof: syscalls: --errors takes no value, but has "ENOENT"\n'


THREADS = r'''

__attribute__((noinline)) static void fail(void)
{
	for (volatile int i = 0; i < 3; i++)
		close(900);
}

static void *work(void *name)
{
	pthread_setname_np(pthread_self(), name);
	fail();
	return NULL;
}

int main(void)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work, i % 2 ? "odd" : "even");
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}
'''


@pytest.mark.deep
@pytest.mark.parametrize('options, tasks', [
    ([], {'job': [12]}), (['--by', 'pid'], {'job N': [12]}), (['--by', 'comm'], {'even': [6], 'odd': [6]}),
    (['--by', 'task'], {'even N': [3, 3], 'odd N': [3, 3]}), (['--perins'], {'even N': [3, 3], 'odd N': [3, 3]})])
def test_threads_share_stacks_unless_rows_are_chosen(analyse, compiled, tmp_path, options, tasks):
    compiled(THREADS)
    got = analyse('syscalls', '--errors', '--call-graph', 'dwarf', *options, *RING, '--', tmp_path / 'job')
    told = {}
    for task, number, calls in re.findall(r'^ *[\d.]+%  (\w+)( \d+)?: close\(3\) EBADF, (\d+) times$', got.text, re.M):
        told.setdefault(task + (' N' if number else ''), []).append(int(calls))
    assert told == tasks, got.text
    got = analyse('syscalls', '--errors', '--call-graph', 'dwarf', '--json', *options, *RING, '--', tmp_path / 'job')
    rows = [row for row in got.table('error stacks')['rows'] if row['error'] == 'EBADF']
    assert sorted(row['calls'] for row in rows) == sorted(n for calls in tasks.values() for n in calls)
    assert all(('tid' in row or 'pid' in row) == (' N' in ' '.join(tasks)) for row in rows), rows


MILD = r'''
import os, resource, select, signal, socket, time
listener = socket.create_server(('127.0.0.1', 0))
listener.setblocking(False)
def fails(call, times=1):
    for _ in range(times):
        try:
            call()
        except OSError:
            pass
fails(listener.accept, 2)
client = socket.socket()
client.setblocking(False)
fails(lambda: client.connect(listener.getsockname()))
select.select([], [client], [])
fails(lambda: client.recv(1), 5)
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.02)
fails(lambda: select.select([], [], [], 0.1))
fails(lambda: os.close(900), 3)
full = socket.socket(socket.AF_UNIX)
full.bind('\0' + str(os.getpid()))
full.listen(0)
def connect():
    one = socket.socket(socket.AF_UNIX)
    one.setblocking(False)
    kept.append(one)
    one.connect('\0' + str(os.getpid()))
kept = []
fails(connect, 4)
'''


def test_what_is_no_failure_is_counted_apart(analyse, tmp_path):
    got = analyse('syscalls', '--errors', '--json', f'--record={tmp_path}/r', *RING, '--', PYTHON, '-c', MILD)
    failed = got.rows('errors', 'call', 'error')
    assert failed['close(3)', 'EBADF']['calls'] == 3 and failed['connect(42)', 'EAGAIN']['calls'] >= 1     # its queue is full
    assert not {error for call, error in failed if error in ('EINPROGRESS', 'EINTR') or error.startswith('ERESTART')}
    assert {call for call, error in failed if error == 'EAGAIN'} == {'connect(42)'}
    mild = {key: row['calls'] for key, row in got.rows('no failures', 'call', 'error').items()}
    assert mild['recvfrom(45)', 'EAGAIN'] == 5 and mild['accept4(288)', 'EAGAIN'] == 2 and mild['connect(42)', 'EINPROGRESS'] == 1
    assert [call for call, error in mild if error.startswith('ERESTART')]
    text = analyse('syscalls', '--errors', '-I', tmp_path / 'r').text
    apart = r'^not counted as failures: .*7 EAGAIN \(not ready: recvfrom, accept4\), .*1 EINPROGRESS \(in progress: connect\)'
    assert re.search(apart, text, re.M), text
    events = analyse('trace', '-e', 'syscalls/--errors/', *RING, '--', PYTHON, '-c', MILD).text
    assert events.count(' EBADF after') == 3 and 'EINPROGRESS' not in events
    # without --errors, each code is counted as the program gets it
    failed = analyse('syscalls', '--json', *RING, '--', PYTHON, '-c', MILD).rows('errors', 'call', 'error')
    assert failed['recvfrom(45)', 'EAGAIN']['calls'] == 5 and failed['connect(42)', 'EINPROGRESS']['calls'] == 1
