# SPDX-License-Identifier: Apache-2.0
"""profile: known shares, the functions that `perf report` finds, the times that a program sleeps."""
import contextlib
import math
import os
import pty
import re
import signal
import subprocess
import sys

import pytest

from frame.analyses import RING, close_to, run, sharing_a_cpu
from frame.wakes import Awake

pytestmark = [pytest.mark.live, pytest.mark.slow]

SHARES = ['one_half', 'three_tenths', 'one_fifth']


def account(got, names='wait_long|wait_short'):
    """{function: ns} by the program's own account."""
    return {name: int(ns) for name, ns in re.findall(rf'^({names}) (\d+)$', got.text, re.M)}


def told(got, names):
    """{function: its share of 100} by the program's own account, lines of name and ns; largest first."""
    ns = account(got, names)
    return {name: 100 * ns[name] / sum(ns.values()) for name in sorted(ns, key=ns.get, reverse=True)}


def off_by(parts, known, samples):
    """Functions whose share is not the known one, within 3 points or, of few samples, 3 standard deviations; of what
    they have together: the rest is the kernel's, and beside other work it is not small."""
    found = {name: 100 * parts.get(name, 0) / max(sum(parts.get(n, 0) for n in known), 1) for name in known}
    return {name: (found[name], share) for name, share in known.items()
            if abs(found[name] - share) > max(3, 3 * math.sqrt(share * (100 - share) / samples))}


@pytest.mark.deep
@pytest.mark.parametrize('options', [[], ['-g']])
def test_known_shares(analyse, works, options):
    got = analyse('profile', '-F', 997, '--json', *options, *RING, '--', works, 'shares', 2000)
    table = got.table('profile')
    rows = {r['function']: r for r in table['rows']}
    assert table['event'] in ('cpu-clock', 'cycles') and table['samples'] > 300     # the kernel may have lowered its limit
    known = told(got, '|'.join(SHARES))
    assert not off_by({name: row['self'] for name, row in rows.items()}, known, table['samples'])
    assert all(rows[name]['dso'] == works for name in known)
    assert [name for name in rows if name in known] == SHARES == list(known)        # the kernel may have more, beside other work
    if options:
        assert rows['all_shares']['total'] > 95 and rows['all_shares']['self'] < 3


@pytest.fixture(scope='module')
def inlining(prof, inlined, tmp_path_factory):
    """A recording of that program, and the shares of its functions by its own account."""
    path = tmp_path_factory.mktemp('inlining') / 'r.data'
    got = run(prof, path.parent, 'record', '-q', '-F', 997, '-g', '-o', path, *RING, '--', inlined, 500)
    return path, told(got, 'shop::.*')


def test_known_shares_of_inlined_functions(analyse, inlining):
    """The table of a C++ program against its own account."""
    path, known = inlining
    table = analyse('profile', '--json', '--inline-rows', '-I', path).table('profile')
    rows = {r['function']: r for r in table['rows']}
    assert {r['function'] for r in table['rows'][:3]} == set(known)
    assert not off_by({name: row['self'] for name, row in rows.items()}, known, table['samples'])
    for name, share in known.items():
        # what it was inlined into, a function that was inlined as well
        assert abs(rows[name.replace('count', 'pay')]['total'] - share) <= 5, (known, rows)
    first, second, third = known.values()
    assert abs(rows['shop::day']['total'] - first - second) <= 5
    assert abs(rows['shop::serve<shop::Till<short, 25> >']['total'] - third) <= 5
    assert rows['shop::day']['self'] < 3 and rows['main']['total'] > 90


def test_functions_with_what_was_inlined_into_them(analyse, inlining):
    path, known = inlining
    table = analyse('profile', '--json', '-I', path).table('profile')
    assert sum(r['self'] for r in table['rows']) == pytest.approx(100)
    rows = {r['function']: r for r in table['rows'][:2]}
    first, second, third = known
    of = {'shop::day': [first, second], 'shop::serve<shop::Till<short, 25> >': [third]}
    assert [*rows] == [*of]
    assert not off_by({name: rows[name]['self'] for name in of}, {name: sum(known[p] for p in parts) for name, parts in of.items()},
                      table['samples'])
    parts = {p['function']: p['self'] for name in of for p in rows[name]['inlined']}
    assert set(known) | {name.replace('count', 'pay') for name in known} <= set(parts)
    assert not off_by(parts, known, table['samples'])
    for name in of:
        parts = {p['function']: p for p in rows[name]['inlined']}
        assert sum(p['self'] for p in parts.values()) <= rows[name]['self'] + 0.01
        assert all('dso' not in p and p['total'] >= p['self'] for p in parts.values())
    text = analyse('profile', '-q', '-I', path).text
    assert re.search(r'^ *[\d.]+ +[\d.]+  shop::day  .*inlined\n'
                     r' *[\d.]+ +[\d.]+      shop::Till<int, 45>::count \(inlined\)\n'
                     r'(?: .* \(inlined\)\n)* *[\d.]+ +[\d.]+      shop::Till<long, 30>::count \(inlined\)\n', text, re.M), text
    bare = analyse('profile', '-q', '--no-inline', '-I', path).text.split('self%')[1]
    assert 'shop::day' in bare and not re.search('shop::.*count', bare)


def test_text_has_samples_a_table_and_stacks(analyse, recorded):
    def profile(*options):
        return analyse('profile', *options, '-I', recorded('shares'), before=['env'])
    text = profile('--samples').text
    assert re.search(r'^\S+ \S+ +works +\d+ .* (profile|cpu-clock): +\d+ cpu-clock', text, re.M), text[:500]
    head, rest = text.split('hottest stacks\n')
    assert re.search(r'profile: \d+ samples of \S+, \d+ Hz, 0 lost.*\n *self% +total% +function +dso$', head, re.M), head
    assert re.search(r'^ *[\d.]+%  works\n +[0-9a-f]{16} (one_half|three_tenths|one_fifth)\+0x\w+ \(.*/works\).*\n +[0-9a-f]{16} '
                     r'all_shares\+0x', rest, re.M)
    text = profile('--rows', '2').text
    assert re.search(r'^\S+ \S+ profile: \d+ samples of .*\n *self% .*\n(.*\n){2}\.\.\. \d+ more \(--rows 0 shows all\)\n', text,
                     re.M), text
    assert 'profile: ' not in text.split('samples of')[1]
    parts = [float(p) for p in re.findall(r'^ *([\d.]+)% ', profile('-q', '--than', '15%').text, re.M)]
    assert parts and min(parts) >= 15
    rows = profile('--json', '--below', 'main').table('profile')['rows']
    rows = {r['function']: r['total'] for r in rows if os.path.basename(r['dso']) == 'works'}
    # a sample of the start or the end of the program has no main, and is whole
    assert set(SHARES) <= set(rows) and all(rows.get(above, 0) < 5 for above in ('main', '_start')), rows
    err = profile('--json', '--below', 'no_such_function').err
    assert '--below no_such_function: no stack has that function, so stacks are whole' in err


SHORT = '''
static volatile unsigned long sum;
static void *work(void *p) { for (int i = 0; i < 100000; i++) sum += i; return p; }
int main(void)
{
	pthread_t t;
	for (int i = 0; i < 200; i++)
		work(0);
	for (int i = 0; i < 1500; i++) { pthread_create(&t, 0, work, 0); pthread_join(t, 0); }
}
'''


@pytest.mark.deep
def test_time_of_tasks_that_live_less_than_a_period_is_counted(compiled, analyse, recorded):
    job, told = compiled(SHORT), r'; 0\.\d\d s of \d\.\d\d s of CPU time are shown: tasks that live less than a period '
    for options in ['-F', '999', '-e', 'cpu-clock', '--', job], ['-I', 'short.data']:
        table = analyse('profile', '--json', *options).table('profile')
        assert table['counted'] == table['cpu_time'] > 2 * table['weight'], table
        assert re.search(told, analyse('profile', *options).text)
        analyse('record', '-F', '999', '-e', 'cpu-clock', '-o', 'short.data', '--', job)
    assert re.search(told, analyse('report', 'short.data').text)
    assert 'counted' not in analyse('report', '--json', recorded('shares')).table('report')


@pytest.mark.deep
def test_on_a_terminal_the_table_is_fresh_each_second(prof, works):
    job = subprocess.Popen([works, 'shares', '60000'], stdout=subprocess.DEVNULL)
    pid, terminal = pty.fork()
    if not pid:
        os.execve(prof, [prof, 'profile', '-p', str(job.pid)], {**os.environ, 'TERM': 'xterm', 'LINES': '12'})
    seen = ''
    try:
        while seen.count('\x1b[H\x1b[J') < 3:
            seen += os.read(terminal, 65536).decode()
        os.kill(pid, signal.SIGINT)
        with contextlib.suppress(OSError):      # EIO: the other end is closed
            while part := os.read(terminal, 65536).decode():
                seen += part
    finally:
        job.kill()
        job.wait()
        os.waitpid(pid, 0)
    tables = seen.split('\x1b[H\x1b[J')[1:]
    samples = [int(re.search(r'profile: (\d+) samples', table)[1]) for table in tables]
    assert len(tables) >= 4 and samples == sorted(samples) and samples[-1] > samples[0]
    assert all('one_half' in table and table.count('\n') <= 12 for table in tables[:-1])


@pytest.mark.parametrize('option, word', [('--exclude-kernel', 'kernel.kallsyms'), ('--exclude-user', 'works')])
def test_levels(analyse, works, option, word):
    # a clock, as a counter's interrupt comes a little late: in the kernel, of what was counted in user space
    got = analyse('profile', '-q', '-e', 'cpu-clock', option, *RING, '--', works, 'calls')
    assert word not in got.text.split('self%')[1]


def test_a_process_that_sleeps_has_a_hint(prof):
    with subprocess.Popen(['sleep', '60']) as one:
        done = subprocess.run([prof, 'profile', '--seconds', '0.2', '-p', str(one.pid)], capture_output=True, text=True, check=True)
        one.kill()
    assert done.stdout.endswith('--off-cpu shows what it waits for, `perf-prof dump PID` shows where it is now\n'), done


MIN = {'wait_long': 200e6, 'wait_short': 100e6}     # ns that works asks for


def slept(found, known):
    """As long as asked for, and at most as long as the program was away, which may have waited for a CPU, too."""
    return all(MIN[name] <= found[name] <= 1.01 * known[name] for name in MIN)


@pytest.fixture(scope='module')
def off_cpu(prof, works, tmp_path_factory):
    """A live run of `works sleeps`, and its recording."""
    folder = tmp_path_factory.mktemp('off')
    with Awake(os.sched_getaffinity(0)):
        got = run(prof, folder, 'profile', '--off-cpu', '--json', '--record', 'r.data', *RING, '--', works, 'sleeps')
    got.data = folder / 'r.data'
    return got


def test_off_cpu_says_who_waits_and_how_long(off_cpu):
    """Of the first frame in user space, never of the scheduler; and in time."""
    table = off_cpu.table('profile')
    assert all(close_to(r['time'], r['self'] * table['weight'] / 100, least=1) for r in table['rows'])
    rows = [r for r in table['rows'] if r['function'].endswith(' (blocked)')]
    own = {r['function'] for r in rows if r['self'] > 0}
    inner = [r for r in rows if re.match(r'__schedule |schedule |do_nanosleep ', r['function'])]
    assert sum(MIN.values()) <= sum(r['time'] for r in rows) <= 1.1 * sum(account(off_cpu).values()) + 50e6
    assert inner and not own & {r['function'] for r in inner} and rows[0]['dso'] != '[kernel.kallsyms]'
    assert rows[0]['time'] > 0.8 * sum(MIN.values())


def test_off_cpu_of_a_recording_has_the_sleeps(analyse, off_cpu, tmp_path):
    """perf-prof has slept meanwhile, too: the switches of all are in the recording, but not their stacks."""
    of = ['profile', '--off-cpu', '-I', off_cpu.data]
    text = analyse(*of, '--flame-graph', 'waits.folded').text
    assert re.search(r'^ *self% +total% +self\(ms\) +function +dso$', text, re.M)
    found = dict.fromkeys(MIN, 0)
    for stack, weight in re.findall(r'^(\S.*);\[blocked\] (\d+)$', (tmp_path / 'waits.folded').read_text(), re.M):
        for name in set(found) & set(stack.split(';')):
            found[name] += int(weight)
    assert slept(found, account(off_cpu)), (found, account(off_cpu))
    for sort in 'comm', 'dso':      # without functions, a state tells rows apart
        table = analyse(*of, '--sort', sort, '--json').table('profile')
        rows = [row for row in table['rows'] if row[sort]]
        blocked = [row for row in table['rows'] if row['state'] == 'blocked']
        assert 'blocked' in {row['state'] for row in rows} <= {'on CPU', 'blocked'}
        assert len({(row['state'], row[sort]) for row in table['rows']}) == len(table['rows'])
        assert close_to(sum(row['time'] for row in blocked), table['off_cpu'], part=0.01)
        assert sort == 'dso' or {row['comm'] for row in blocked} == {'works'}


@pytest.mark.usefixtures('switches')
@pytest.mark.soak     # who waits for a CPU and how long is the scheduler's luck
def test_off_cpu_adds_up_waits_for_a_cpu(analyse):
    """A thread that shares its CPU is for a part of the time neither on it nor asleep."""
    with sharing_a_cpu() as (pid, _):
        analyse('profile', '-q', '--off-cpu', '-p', pid, *RING, '--seconds', '0.6', '--record', 'r.data')
    of = ['profile', '--off-cpu', '-p', pid, '-I', 'r.data']
    table, text = analyse(*of, '--json').table('profile'), analyse(*of).text
    assert table['preempted'] >= 0.05e9 and table['on_cpu'] > 0 and table['off_cpu'] <= 0.1e9, table
    ms = re.search(r' ms on CPUs, [\d.]+ ms off, ([\d.]+) ms preempted \(waiting for a CPU\)\n', text)
    assert ms and float(ms[1]) >= 50, text[:300]


SOME_THREADS = 'import threading\nfor i in range(20):\n    t = threading.Thread(target=int)\n    t.start()\n    t.join()'
OPENING = 'while :; do "$0" stat -e "sched:*" -o /dev/null -- true; done'


@contextlib.contextmanager
def others_open_tracepoints(prof):
    other = subprocess.Popen(['sh', '-c', OPENING, prof], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        os.killpg(other.pid, signal.SIGKILL)
        other.wait()


def test_off_cpu_leaves_out_waits_for_its_own_events(analyse, prof):
    """The kernel makes the events of a new thread within clone(), and waits there for others who open tracepoints."""
    run = ['profile', '-q', '--off-cpu', *RING]
    with others_open_tracepoints(prof):
        analyse(*run, '--record', 'r.data', '--', sys.executable, '-c', SOME_THREADS)
    table, text = analyse(*run, '--json', '-I', 'r.data').table('profile'), analyse(*run, '-I', 'r.data').text
    assert not [r for r in table['rows'] if r['function'] == 'perf_event_init_task (blocked)'], table
    assert bool(table['own']) == (' ms off because of this recording (clone and exit)' in text), text[:300]


@pytest.mark.soak       # whether the other one has to wait within clone() is a matter of luck
def test_off_cpu_of_all_keeps_waits_for_the_events_of_another(analyse, prof, tmp_path):
    # without user stacks: reading the symbols of a browser or a JVM that runs beside it takes long with sanitizers
    run = ['profile', '-q', '--off-cpu', '-a', '--exclude-user', '--json', '--rows', '0', *RING]
    other = [prof, 'record', '-q', '-e', 'sched:sched_switch', '-o', tmp_path / 'other']
    with others_open_tracepoints(prof):
        table = analyse(*run, '--', *other, '--', sys.executable, '-c', '\n'.join([SOME_THREADS] * 3)).table('profile')
    assert table['own'] == 0 and [r for r in table['rows'] if r['function'] == 'perf_event_init_task (blocked)'], table


@pytest.mark.deep
@pytest.mark.usefixtures('switches')
def test_off_cpu_of_a_running_process(watch, waiting):
    one = waiting('sleeps')
    watcher = watch('profile', '--off-cpu', *RING, '-p', one.pid)
    one.go()
    ns = sum(r['total'] * table['weight'] / 100 for table in watcher.result().lines
             for r in table['rows'] if r['function'] == 'wait_long (blocked)')
    assert 0.99 * MIN['wait_long'] <= ns <= 1.01 * int(re.search(r'^wait_long (\d+)$', one.finish(), re.M)[1])


NAPS = """
static inline __attribute__((always_inline)) long nap(struct timespec *t)
{
	long rc;

	__asm__ volatile("syscall" : "=a"(rc) : "0"(35L), "D"(t), "S"(0L) : "rcx", "r11", "memory");
	return rc;
}

static __attribute__((noinline)) void sleeper(void)
{
	struct timespec t = { 0, 20000000 };

	for (int i = 0; i < 5; i++)
		nap(&t);
}

int main(void)
{
	sleeper();
	return 0;
}
"""


@pytest.mark.skipif(os.uname().machine != 'x86_64', reason='needs x86-64')
@pytest.mark.usefixtures('switches')
def test_a_wait_is_listed_once(analyse, compiled):
    """Not again for the function that was inlined into the one that waits, unless it has rows of its own."""
    analyse('profile', '-q', '--off-cpu', '--record', 'r.data', *RING, '--', compiled(NAPS))
    table, own = (analyse('profile', '--off-cpu', '--json', *more, '-I', 'r.data').table('profile') for more in ([], ['--inline-rows']))
    (one, *others), (nap, *_) = ([r for r in t['rows'] if r['time'] > 50e6 and r['function'].endswith(' (blocked)')] for t in (table, own))
    assert one['function'] == 'sleeper (blocked)' and 'inlined' not in one and not others, table
    assert nap['function'] == 'nap (blocked)', own


RUNS = 'sched:sched_stat_runtime'
EVENTS = 'profile/-F 997 -g --user-callchain/,sched:sched_switch//stack/,sched:sched_process_fork,sched:sched_process_exit'


def own_account(text):
    """What works says of its times, ns."""
    return {name: int(ns) for name, ns in re.findall(r'^(on|off) (\d+)$', text, re.M)}


def check_own(table, text, us):
    """On the CPU as the program has it, and off it: its sleeps include waits for a CPU. All of it is in a row, and that of the
    loop with the loop."""
    own = own_account(text)
    rows = {r['function']: r for r in table['rows']}
    assert not table['lost'] and close_to(table['on_cpu'], own['on'], part=0.05, least=2e6), (table, own)
    assert table['off_cpu'] - 3e6 <= 1.02 * own['off'] and 0.98 * own['off'] <= table['off_cpu'] + table['preempted'] + 3e6, (table, own)
    assert close_to(sum(r['time'] for r in table['rows']), table['on_cpu'] + table['off_cpu'], part=1e-6)
    # a kernel that loses records of mappings beside load leaves it without a name
    assert us < 1000 or 'busy' not in rows or close_to(rows['busy']['total'] * table['weight'] / 100, own['on'], part=0.1), (rows, own)


@pytest.mark.deep
@pytest.mark.parametrize('us', [100, 100000])
def test_off_cpu_is_the_programs_own_account(analyse, works, us):
    """The CPU's cycles and its clock, and how often it is sampled, have no part in it."""
    got = analyse('profile', '--off-cpu', '-F', 499, '--json', *RING, '--', works, 'duty', us, before=['env'])
    check_own(got.lines[-1], got.text, us)


@pytest.mark.deep
@pytest.mark.usefixtures('switches')
@pytest.mark.parametrize('us, events', [(100, f'{EVENTS},{RUNS}'), (100000, EVENTS)])
def test_off_cpu_of_a_recording(analyse, works, us, events):
    """Without sched_stat_runtime by the switches, which a kernel takes for a little less."""
    done = analyse('record', '-q', '-a', '-o', 'perf.data', '-e', events, *RING, '--', works, 'duty', us, before=['env'])
    got = analyse('profile', '--off-cpu', '--json', '-I', 'perf.data', '-p', done.pid, before=['env'])
    check_own(got.lines[-1], done.text, us)


def test_source_of_trace(analyse, works):
    """Each analysis that can stand in -e does so in trace."""
    got = analyse('trace', '-e', 'profile/-F 500/,page-faults', *RING, '--', works, 'shares', 200)
    assert re.search(r': profile: +\d+ ', got.text) and re.search(r' [0-9a-f]+ +[0-9a-f]+ \w+\+0x\w+ \(/', got.text)


@pytest.mark.deep
@pytest.mark.parametrize('options, event, title', [
    (['-e', 'cpu-clock', '-F', 499], 'cpu-clock', r'cpu-clock, \d+ Hz'),
    (['-e', 'cpu-clock:u', '-c', 1000000], 'cpu-clock:u', 'cpu-clock:u every 1000000'),
    (['-e', 'task-clock/period=2000000/u'], 'task-clock:u', 'task-clock:u every 2000000'),
    (['-c', 100000000], '(cpu-clock|cycles)', '(cpu-clock|cycles) every 100000000'),
    (['-e', 'sched:sched_process_exit', '-g'], 'sched:sched_process_exit', 'sched:sched_process_exit'),
])
def test_what_is_sampled_is_chosen_and_told(analyse, works, tmp_path, options, event, title):
    """-e and -c: in the table, JSON, the picture's title, and in what each sample stands for."""
    folded = tmp_path / 'x.svg'
    got = analyse('profile', '-q', *options, '--flame-graph', folded, *RING, '--', works, 'shares', 300)
    assert re.search(rf'^\S+ \S+ profile: [1-9]\d* samples of {title}, 0 lost', got.text, re.M), got.text
    no_kernel = ', without the kernel' if event.endswith(':u') else ''
    assert re.search(rf'perf-prof profile: {title}{no_kernel}<', folded.read_text())
    got = analyse('profile', '--json', *options, *RING, '--', works, 'shares', 300)
    table = got.table('profile')
    assert re.fullmatch(event, table['event'])
    period = re.search(r' every (\d+)$', title)
    if period:
        assert table['period'] == int(period[1]) and 'freq' not in table
        assert table['weight'] + table['idle'] == table['period'] * table['samples']
    assert ('freq' in table) == ('Hz' in title)


RECURSION = '''
volatile unsigned long t;
__attribute__((noinline)) int leaf(int n) { for (int i = 0; i < n; i++) t = t * 31 + i; return n; }
__attribute__((noinline)) int down(int d) { if (!d) return leaf(1000000); int r = down(d - 1); t++; return r + 1; }
int main(int argc, char **argv) { for (int i = 0; i < 60; i++) down(atoi(argv[1])); }
'''


@pytest.mark.skipif(os.uname().machine != 'x86_64', reason='needs x86-64')
def test_stacks_with_too_many_frames_are_told(analyse, compiled, tmp_path):
    """By unwind tables, four times as many frames are found as by frame pointers."""
    limit = int(open('/proc/sys/kernel/perf_event_max_stack').read())
    for name, option in ('bare', '-fomit-frame-pointer'), ('framed', '-fno-omit-frame-pointer'):
        compiled(RECURSION, option, name=name)

    def profile(how, name, depth):
        text = analyse('profile', '--call-graph', how, *RING, '--', tmp_path / name, depth, before=['env']).text
        found = re.search(r'^\d+ % of the stacks lack their outermost callers: .* more than (\d+) frames(; --call-graph)?', text, re.M)
        main = re.search(r'^ *[\d.]+ +([\d.]+) +main ', text, re.M)
        return found and int(found[1]), bool(found and found[2]), bool(main) and float(main[1]) > 95
    assert profile('fp', 'framed', 50) == (None, False, True)
    assert profile('fp', 'framed', limit + 50) == (limit, True, False)
    assert profile('dwarf,65528', 'bare', 400) == (None, False, True)
    assert profile('dwarf,65528', 'bare', 600) == (511, False, False)


def test_off_cpu_of_a_recording_without_a_clock_says_what_to_record(analyse):
    analyse('record', '-q', '-o', 'switches.data', '-a', '-g', '-e', 'sched:sched_switch', *RING, '--', 'true')
    said = '`perf-prof record -a -g -e cpu-clock -e sched:sched_switch` takes what --off-cpu needs'
    assert said in analyse('profile', '--off-cpu', '-I', 'switches.data', code=2).err
