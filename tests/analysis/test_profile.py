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

from frame.again import attempts
from frame.analyses import RING, close_to

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


def of_perf_report(perf, path):
    """Functions of works by their part, hottest first."""
    text = subprocess.run([perf, 'report', '-i', path, '--stdio', '--no-children', '-g', 'none', '-F',
                           'overhead,sym', '--percentage', 'relative', '--comm', 'works'], capture_output=True, text=True).stdout
    return re.findall(r'^ +([\d.]+)% +\[[.k]\] +(\S+)', text, re.M)


@pytest.mark.deep
@pytest.mark.parametrize('options', [[], ['-g']])
def test_known_shares_as_perf_report_has_them(analyse, works, perf, tmp_path, options):
    record = [perf, 'record', '-q', '-F', 997, '-g', '-e', 'cpu-clock', '-o', tmp_path / 'perf.data', '--']
    got = analyse('profile', '-F', 997, '--json', *options, *RING, '--', works, 'shares', 2000, before=record)
    table = got.table('profile')
    rows = {r['function']: r for r in table['rows']}
    assert table['event'] in ('cpu-clock', 'cycles') and table['samples'] > 300     # the kernel may have lowered its limit
    known = told(got, '|'.join(SHARES))
    assert not off_by({name: row['self'] for name, row in rows.items()}, known, table['samples'])
    assert all(rows[name]['dso'] == works for name in known)
    hottest = [r['function'] for r in table['rows'][:3]]
    assert hottest == SHARES == list(known)
    theirs = of_perf_report(perf, tmp_path / 'perf.data')      # of the same run
    assert [name for _, name in theirs[:3]] == hottest
    assert not off_by({name: float(part) for part, name in theirs[:3]}, known, table['samples'])
    if options:
        assert rows['all_shares']['total'] > 95 and rows['all_shares']['self'] < 3


def test_known_shares_of_inlined_functions(analyse, inlined):
    """The closing table of a C++ program against its own account."""
    got = analyse('profile', '-F', 997, '-g', '--json', '--inline-rows', *RING, '--', inlined, 700)
    known = told(got, 'shop::.*')
    table = got.table('profile')
    rows = {r['function']: r for r in table['rows']}
    assert [r['function'] for r in table['rows'][:3]] == list(known)
    assert not off_by({name: row['self'] for name, row in rows.items()}, known, table['samples'])
    for name, share in known.items():
        # what it was inlined into, a function that was inlined as well
        assert abs(rows[name.replace('count', 'pay')]['total'] - share) <= 3, (known, rows)
    first, second, third = known.values()
    assert abs(rows['shop::day']['total'] - first - second) <= 3
    assert abs(rows['shop::serve<shop::Till<short, 25> >']['total'] - third) <= 3
    assert rows['shop::day']['self'] < 3 and rows['main']['total'] > 97


def test_functions_with_what_was_inlined_into_them(analyse, inlined):
    got = analyse('profile', '-F', 997, '-g', '--json', *RING, '--', inlined, 700)
    known = told(got, 'shop::.*')
    table = got.table('profile')
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


def test_inlined_functions_in_text(analyse, inlined):
    text = analyse('profile', '-q', '-g', *RING, '--', inlined, 400).text
    assert re.search(r'^ *[\d.]+ +[\d.]+  shop::day  .*inlined\n'
                     r' *[\d.]+ +[\d.]+      shop::Till<int, 45>::count \(inlined\)\n'
                     r'(?: .* \(inlined\)\n)* *[\d.]+ +[\d.]+      shop::Till<long, 30>::count \(inlined\)\n', text, re.M), text
    text = analyse('profile', '-q', '-g', '--no-inline', *RING, '--', inlined, 400).text
    table = text.split('self%')[1]
    assert 'shop::day' in table and not re.search('shop::.*count', table)


def test_text_has_samples_a_table_and_stacks(analyse, works):
    got = analyse('profile', '--samples', '-g', *RING, '--', works, 'shares', 300)
    line = re.search(r'^\S+ \S+ +works +\d+ .* profile: +\d+ cpu-clock|^.* cycles.*$', got.text, re.M)
    assert line, got.text[:500]
    head, rest = got.text.split('hottest stacks\n')
    assert re.search(r'profile: \d+ samples of \S+, \d+ Hz, 0 lost\n *self% +total% +function +dso$', head, re.M)
    assert re.search(r'^ *[\d.]+%  works\n +[0-9a-f]{16} one_half\+0x\w+ \(.*/works\).*\n +[0-9a-f]{16} '
                     r'all_shares\+0x', rest, re.M)


def test_a_table_without_a_line_for_each_sample(analyse, works):
    got = analyse('profile', '--rows', '2', *RING, '--', works, 'shares', 300)
    assert re.search(r'^\S+ \S+ profile: \d+ samples of .*\n *self% .*\n(.*\n){2}\.\.\. \d+ more \(--rows 0 shows all\)\n$', got.text, re.M), got.text
    assert 'profile: ' not in got.text.split('samples of')[1]


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


def test_than_leaves_out_small_parts(analyse, works):
    got = analyse('profile', '-q', '-g', '--than', '15%', *RING, '--', works, 'shares', 500)
    parts = [float(p) for p in re.findall(r'^ *([\d.]+)% ', got.text, re.M)]
    assert parts and min(parts) >= 15


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


def blocked_ns(path):
    """{function: ns} that folded stacks end with [blocked] in it."""
    ns = dict.fromkeys(('wait_long', 'wait_short'), 0)
    for stack, weight in re.findall(r'^(\S.*) (\d+)$', path.read_text(), re.M):
        for name in ns:
            if name in stack.split(';') and stack.endswith(';[blocked]'):
                ns[name] += int(weight)
    return ns


def test_off_cpu_has_the_sleeps(analyse, works, tmp_path):
    def measure():
        got = analyse('profile', '--off-cpu', '--flame-graph', 'waits.folded', *RING, '--', works, 'sleeps')
        assert re.search(r'^ *self% +total% +self\(ms\) +function +dso$', got.text, re.M)
        return blocked_ns(tmp_path / 'waits.folded'), account(got)
    attempts(measure, lambda got: all(close_to(got[0][name], ns, part=0.05) and ns >= 100e6 for name, ns in got[1].items()))


def test_off_cpu_copies_stacks_of_the_watched_alone(analyse, works):
    """Also perf-prof has slept meanwhile. The switches of all are in the recording, but not their stacks."""
    analyse('profile', '--off-cpu', '-q', '--record', 'r.data', *RING, '--', works, 'sleeps')
    rows = analyse('profile', '--off-cpu', '--sort', 'comm', '--json', '-I', 'r.data').table('profile')['rows']
    assert {row['comm'] for row in rows if row['state'] == 'blocked'} == {'works'}


SPIN = 'import os, time; os.sched_setaffinity(0, {%d}); print(1, flush=True); end = time.time() + 60\nwhile time.time() < end: pass'


def test_off_cpu_adds_up_waits_for_a_cpu(analyse):
    """A thread that shares its CPU is half of the time neither on it nor asleep."""
    cpu = max(os.sched_getaffinity(0))
    both = [subprocess.Popen([sys.executable, '-c', SPIN % cpu], stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for one in both:
            assert one.stdout.read(1) == b'1'
        run = ['profile', '--off-cpu', '-p', both[0].pid, *RING, '--seconds', '1']
        table, text = analyse(*run, '--json').table('profile'), analyse(*run).text
    finally:
        for one in both:
            one.kill()
            one.communicate()
    assert table['preempted'] >= 0.1e9 and table['on_cpu'] > 0 and table['off_cpu'] <= 0.1e9, table
    ms = re.search(r' ms on CPUs, [\d.]+ ms off, ([\d.]+) ms preempted \(waiting for a CPU\)\n', text)
    assert ms and float(ms[1]) >= 100, text[:300]


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

    def measure():
        with others_open_tracepoints(prof):
            analyse(*run, '--record', 'r.data', '--', sys.executable, '-c', SOME_THREADS)
        return analyse(*run, '--json', '-I', 'r.data').table('profile'), analyse(*run, '-I', 'r.data').text

    def right(got):
        table, text = got
        assert not [r for r in table['rows'] if r['function'] == 'perf_event_init_task (blocked)'], table
        assert bool(table['own']) == (' ms off because of this recording (clone and exit)' in text), text[:300]
        return table['own']
    attempts(measure, right)


def test_off_cpu_of_all_keeps_waits_for_the_events_of_another(analyse, prof, tmp_path):
    # without user stacks: reading the symbols of a browser or a JVM that runs beside it takes long with sanitizers
    run = ['profile', '-q', '--off-cpu', '-a', '--exclude-user', '--json', '--rows', '0', *RING]
    other = [prof, 'record', '-q', '-e', 'sched:sched_switch', '-o', tmp_path / 'other']

    def measure():
        with others_open_tracepoints(prof):
            return analyse(*run, '--', *other, '--', sys.executable, '-c', SOME_THREADS).table('profile')

    def right(table):
        assert table['own'] == 0, table
        return [r for r in table['rows'] if r['function'] == 'perf_event_init_task (blocked)']
    attempts(measure, right)


def test_off_cpu_of_a_running_process(watch, waiting):
    def measure():
        one = waiting('sleeps')
        watcher = watch('profile', '--off-cpu', *RING, '-p', one.pid)
        one.go()
        ns = sum(r['total'] * table['weight'] / 100 for table in watcher.result().lines
                 for r in table['rows'] if r['function'] == 'wait_long (blocked)')
        return ns, int(re.search(r'^wait_long (\d+)$', one.finish(), re.M).group(1))
    attempts(measure, lambda got: close_to(*got, part=0.05) and got[1] >= 200e6)


def test_off_cpu_says_who_waits_and_how_long(analyse, works):
    """Of the first frame in user space, never of the scheduler; and in time."""
    def measure():
        got = analyse('profile', '--off-cpu', '--json', *RING, '--', works, 'sleeps')
        table = got.table('profile')
        assert all(close_to(r['time'], r['self'] * table['weight'] / 100, least=1) for r in table['rows'])
        return [r for r in table['rows'] if r['function'].endswith(' (blocked)')], sum(account(got).values())

    def right(got):
        rows, slept = got
        own = {r['function'] for r in rows if r['self'] > 0}
        inner = [r for r in rows if re.match(r'__schedule |schedule |do_nanosleep ', r['function'])]
        return (close_to(sum(r['time'] for r in rows), slept, part=0.05) and inner and rows[0]['time'] > 0.93 * slept and
                not own & {r['function'] for r in inner} and rows[0]['dso'] != '[kernel.kallsyms]')
    attempts(measure, right)


NAPS = """
#include <time.h>
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
def test_a_wait_is_listed_once(analyse, tmp_path):
    """Not again for the function that was inlined into the one that waits, unless it has rows of its own."""
    (tmp_path / 'naps.c').write_text(NAPS)
    subprocess.run(['gcc', '-O1', '-g', '-o', tmp_path / 'naps', tmp_path / 'naps.c'], check=True)

    def rows(*more):
        got = analyse('profile', '--off-cpu', '--json', *more, *RING, '--', tmp_path / 'naps', before=['env'])
        return [r for r in got.table('profile')['rows'] if r['time'] > 50e6]

    def measure():
        return rows(), rows('--inline-rows')

    def right(got):
        (one, *others), (own, *_) = got
        return (one['function'] == 'sleeper (blocked)' and 'inlined' not in one and not others and
                own['function'] == 'nap (blocked)')
    attempts(measure, right)


@pytest.mark.parametrize('sort', ['comm', 'dso'])
def test_off_cpu_rows_without_functions_have_a_state(analyse, works, sort):
    """So two rows of a task or a file are not the same."""
    got = analyse('profile', '--off-cpu', '--json', '--sort', sort, *RING, '--', works, 'duty', 1000, before=['env'])
    table = got.table('profile')
    states = {row['state']: row for row in table['rows'] if row[sort]}
    assert set(states) == {'on CPU', 'blocked'}
    assert len({(row['state'], row[sort]) for row in table['rows']}) == len(table['rows'])
    assert close_to(sum(row['time'] for row in table['rows'] if row['state'] == 'blocked'), table['off_cpu'], part=0.01)


RUNS = 'sched:sched_stat_runtime'
EVENTS = 'profile/-F 997 -g --user-callchain/,sched:sched_switch//stack/,sched:sched_process_fork,sched:sched_process_exit'


def own_account(text):
    """What works says of its times, ns."""
    return {name: int(ns) for name, ns in re.findall(r'^(on|off) (\d+)$', text, re.M)}


def is_own(table, own):
    """On and off the CPU as the program has it. (Others may switch so often that a ring is full.)"""
    return (not table['lost'] and close_to(table['on_cpu'], own['on'], least=2e6) and close_to(table['off_cpu'], own['off'], least=2e6) and
            close_to(sum(r['time'] for r in table['rows']), table['on_cpu'] + table['off_cpu'], part=1e-6))


@pytest.mark.deep
@pytest.mark.parametrize('us', [100, 500, 100000])
def test_off_cpu_is_the_programs_own_account(analyse, works, us):
    """The CPU's cycles and its clock, and how often it is sampled, have no part in it."""
    def measure():
        got = analyse('profile', '--off-cpu', '-F', 499, '--json', *RING, '--', works, 'duty', us, before=['env'])
        return got.lines[-1], own_account(got.text)
    attempts(measure, lambda got: is_own(*got))


@pytest.mark.deep
@pytest.mark.parametrize('us, events', [(100, f'{EVENTS},{RUNS}'), (500, f'{EVENTS},{RUNS}'), (100000, f'{EVENTS},{RUNS}'),
                                        (100000, EVENTS)])
def test_off_cpu_of_a_recording(request, analyse, works, us, events):
    """Without sched_stat_runtime by the switches, which a kernel takes for a little less."""
    if RUNS not in events:
        request.getfixturevalue('switches')

    def measure():
        done = analyse('record', '-q', '-a', '-o', 'perf.data', '-e', events, *RING, '--', works, 'duty', us, before=['env'])
        got = analyse('profile', '--off-cpu', '--json', '-I', 'perf.data', '-p', done.pid, before=['env'])
        return got.lines[-1], own_account(done.text)
    attempts(measure, lambda got: is_own(*got))


def test_off_cpu_says_where_the_time_on_cpus_went(analyse, works):
    """All of it is in a row, and that of the loop with the loop."""
    def measure():
        got = analyse('profile', '--off-cpu', '--json', *RING, '--', works, 'duty', 100000, before=['env'])
        rows = {r['function']: r for r in got.lines[-1]['rows']}
        return rows['busy']['total'] * got.lines[-1]['weight'] / 100, own_account(got.text)['on']
    attempts(measure, lambda got: close_to(*got, part=0.05))


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


def test_where_page_faults_are(analyse, works):
    """An event that is no time: each counts one, and none is where no memory is touched first."""
    table = analyse('profile', '--json', '-e', 'sw:page-faults', *RING, '--', works, 'shares', 100).table('profile')
    assert table['event'] == 'page-faults' and table['weight'] == table['samples'] > 10
    assert all(row['function'] not in SHARES or row['self'] < 20 for row in table['rows'])


def test_a_function_that_no_stack_has(prof, works):
    got = subprocess.run([prof, 'profile', '-g', '--json', '--below', 'no_such_function', *RING, '--', works, 'shares', '40'],
                         capture_output=True, text=True, timeout=60)
    assert '--below no_such_function: no stack has that function, so stacks are whole' in got.stderr


def test_stacks_below_a_function(analyse, works):
    got = analyse('profile', '-g', '--json', '--below', 'main', *RING, '--', works, 'shares', 400)
    rows = {r['function']: r['total'] for r in got.table('profile')['rows'] if os.path.basename(r['dso']) == 'works'}
    assert set(SHARES) <= set(rows), rows
    # a sample of the start or the end of the program has no main, and is whole
    assert all(rows.get(above, 0) < 5 for above in ('main', '_start')), rows


def test_stacks_that_are_cut_off_are_told_in_a_file_too(analyse, works):
    """Of what they lack, so below the table, whether or not a terminal is there."""
    said = re.compile(r'^\d+ % of the stacks are cut off: their programs use more than 64 bytes of stack; --call-graph dwarf,256 ', re.M)
    got = analyse('profile', '--call-graph', 'dwarf,64', *RING, '--', works, 'duty', 1000, before=['env'])
    assert said.search(got.text), got.text
    assert not said.search(analyse('profile', '--call-graph', 'dwarf', *RING, '--', works, 'duty', 1000, before=['env']).text)


RECURSION = '''
#include <stdlib.h>
volatile unsigned long t;
__attribute__((noinline)) int leaf(int n) { for (int i = 0; i < n; i++) t = t * 31 + i; return n; }
__attribute__((noinline)) int down(int d) { if (!d) return leaf(1000000); int r = down(d - 1); t++; return r + 1; }
int main(int argc, char **argv) { for (int i = 0; i < 60; i++) down(atoi(argv[1])); }
'''


@pytest.mark.skipif(os.uname().machine != 'x86_64', reason='needs x86-64')
def test_stacks_with_too_many_frames_are_told(analyse, tmp_path):
    """By unwind tables, four times as many frames are found as by frame pointers."""
    limit = int(open('/proc/sys/kernel/perf_event_max_stack').read())
    (tmp_path / 'recursion.c').write_text(RECURSION)
    for name, option in ('bare', '-fomit-frame-pointer'), ('framed', '-fno-omit-frame-pointer'):
        subprocess.run(['gcc', '-O1', '-g', option, '-o', tmp_path / name, tmp_path / 'recursion.c'], check=True)

    def profile(how, name, depth):
        text = analyse('profile', '--call-graph', how, *RING, '--', tmp_path / name, depth, before=['env']).text
        found = re.search(r'^\d+ % of the stacks lack their outermost callers: they have more than (\d+) frames(; --call-graph)?', text, re.M)
        main = re.search(r'^ *[\d.]+ +([\d.]+) +main ', text, re.M)
        return found and int(found[1]), bool(found and found[2]), bool(main) and float(main[1]) > 95
    assert profile('fp', 'framed', 50) == (None, False, True)
    assert profile('fp', 'framed', limit + 50) == (limit, True, False)
    assert profile('dwarf,65528', 'bare', 400) == (None, False, True)
    assert profile('dwarf,65528', 'bare', 600) == (511, False, False)


def test_off_cpu_of_a_recording_without_a_clock_says_what_to_record(prof, analyse, tmp_path):
    data = tmp_path / 'switches.data'
    analyse('record', '-q', '-o', data, '-a', '-g', '-e', 'sched:sched_switch', '-m', '8M', '--', 'true')
    done = subprocess.run([prof, 'profile', '--off-cpu', '-I', data], capture_output=True, text=True)
    assert done.returncode == 2, done
    assert '`perf-prof record -a -g -e cpu-clock -e sched:sched_switch` takes what --off-cpu needs' in done.stderr, done
