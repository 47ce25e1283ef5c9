# SPDX-License-Identifier: Apache-2.0
"""latency --breakdown: where the time of calls goes, of threads of which it is known."""
import os
import re
import subprocess
import sys

import pytest

from frame.analyses import RING, busy_cpus, sharing_a_cpu

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.skipif(os.uname().machine != "x86_64", reason="needs the numbers of system calls of x86-64")]
PARTS = ['running', 'waiting', 'asleep', 'blocked', 'other', 'unknown']
EVENTS = 'sched:sched_switch,sched:sched_waking'
GETPPID, READ, NANOSLEEP = 110, 0, 230       # of x86-64
NAP = 0.03
# a thread reads what another process writes 30 ms later, six times
READER = f'''import os, time
r, w = os.pipe()
go, went = os.pipe()
if not os.fork():
    for _ in range(6):
        os.read(go, 1)
        time.sleep({NAP})
        os.write(w, b"x")
    os._exit(0)
print(os.getpid(), flush=True)
for _ in range(6):
    os.write(went, b"x")
    os.pread(os.open("/etc/passwd", os.O_RDONLY), 1, 0)
    os.read(r, 1)
os.wait()
'''
# from each getppid() to the next, 10 ms of the CPU that another one wants, too
SPIN = '''import os, time
os.sched_setaffinity(0, {%d})
print(1, flush=True)
end = time.time() + 60
while time.time() < end:
    os.getppid()
    until = time.thread_time() + 0.01
    while time.thread_time() < until:
        pass
'''


@pytest.fixture
def record(analyse):
    """record(events, ...): a recording of all tasks, `in`; what was printed."""
    return lambda events, *rest: analyse('record', '-q', '-a', *RING, '-o', 'in', '-e', events, *rest).text


def pair(call):
    """From a system call of the thread to its return."""
    return ['-e', f'raw_syscalls:sys_enter/id=={call}/', '-e', f'raw_syscalls:sys_exit/id=={call}/']


def check_sums(rows):
    """The parts of each are all of its time."""
    for row in rows:
        assert sum(row[part] for part in PARTS) == row['total'], row
        if 'ran' in row:    # of the second table
            assert sum(row.get('unknown_why', {}).values()) == row['unknown'] and row.get('unknown_why') != {}, row


def both(table, than=None):
    """The breakdown of all calls, or of those over --than."""
    found = [row for row in table['breakdown'] if row.get('than') == than]
    assert len(found) == 1, table['breakdown']
    return found[0]


def test_asleep_until_another_process_writes(analyse):
    got = analyse('latency', *pair(READ), '--breakdown', '--than', '20ms', '--json', *RING, '--', sys.executable, '-c', READER)
    table, slow = got.table('latency'), [line for line in got.lines if 'slow' in line]
    long = both(table, 20000000)
    check_sums(table['rows'] + table['breakdown'])
    assert long['calls'] == len(slow) == table['counts']['told'] >= 6, slow
    # the kernel may not tell the end of a sleep on an idle CPU: then it is unknown
    assert long['asleep'] + long['unknown'] >= 6 * NAP * 1e9 / 2, long
    assert long['running'] + long['asleep'] + long['waiting'] > 0, long
    assert sum(one['asleep'] for one in slow) == long['asleep'], (slow, long)
    for line in slow:
        assert sum(line[part] for part in PARTS) == line['duration'], line
        assert sum(one['total'] for one in line['wakers'] if one['state'] == 'asleep') == line['asleep'], line
    assert {one['comm'] for one in long['wakers']} - {'[not known]', '[interrupt]'}, long


def check_turns(table, pid, other):
    all_of_it = both(table)
    check_sums(table['rows'] + table['breakdown'])
    assert all_of_it['key'] == pid and all_of_it['comm'].startswith('python'), all_of_it
    assert all_of_it['calls'] == table['rows'][0]['calls'] and all_of_it['waiting'] == table['rows'][0]['waiting']
    assert all_of_it['running'] >= 0.008e9 * all_of_it['calls'], all_of_it
    assert all_of_it['waiting'] >= 0.1 * all_of_it['total'], all_of_it
    assert sum(one['total'] for one in all_of_it['ran']) == all_of_it['waiting'], all_of_it
    ran = {one.get('tid'): one['total'] for one in all_of_it['ran']}
    assert ran[other] > 0, all_of_it      # others that run beside may use the CPU, too


TURNS = ['-e', f'raw_syscalls:sys_enter/id=={GETPPID}/role=both/', '--breakdown', '--json', '--perins']


@pytest.mark.deep
def test_waits_for_the_cpu_of_another_one(analyse):
    with sharing_a_cpu(SPIN) as tids:
        got = analyse('latency', '-p', tids[0], *TURNS, *RING, '--seconds', '2')
    check_turns(got.table('latency'), *tids)


@pytest.mark.soak
@pytest.mark.parametrize('stack', ['no', 'fp'])
def test_recorded_waits_for_the_cpu_of_another_one(analyse, record, stack):
    """With stacks of the switches, which only those that sleep have a use for, and without. Beside other load the two may have no
    turn in the two seconds."""
    events = f'raw_syscalls:sys_enter/id=={GETPPID}/,sched:sched_switch//stack={stack}/,sched:sched_waking'
    with sharing_a_cpu(SPIN) as tids:
        record(events, '--seconds', '2')
    check_turns(analyse('latency', '-I', 'in', '-p', tids[0], *TURNS).table('latency'), *tids)


@pytest.mark.deep
def test_more_tasks_than_are_kept(analyse, tmp_path):
    """Tasks with long times have their own rows, also if they come after many short ones."""
    cpu = max(os.sched_getaffinity(0))
    commands = f'''import os, time
os.sched_setaffinity(0, {{{cpu}}})
for _ in range(900):
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {{}}), 0)
late = os.fork()
while not late and time.thread_time() < 2:
    pass
late and os.waitpid(late, 0) and open("late", "w").write(str(late))
'''
    spin = subprocess.Popen([sys.executable, '-c', SPIN % cpu], stdout=subprocess.PIPE)
    try:
        assert spin.stdout.read(1) == b'1'
        table = analyse('latency', '-p', spin.pid, '-e', f'raw_syscalls:sys_enter/id=={GETPPID}/role=both/', '--breakdown', '--json',
                        *RING, '--', sys.executable, '-c', commands).table('latency')
    finally:
        spin.kill()
        spin.communicate()
    row = both(table)
    assert sum(one['total'] for one in row['ran']) == row['waiting'], row
    assert 256 <= len(row['ran']) <= 512 and '[others]' in [one['comm'] for one in row['ran']], row
    assert int((tmp_path / 'late').read_text()) in [one.get('tid') for one in row['ran'][:10]], row


def test_text_and_csv(analyse):
    run = ['latency', *pair(READ), '--breakdown', *RING]
    text = analyse(*run, '--than', '20ms', '--', sys.executable, '-c', READER).text
    slow = re.findall(r' of thread \d+ \(python3?[^)]*\) took ([\d.]+) us\n    (.*)\n', text)
    assert len(slow) >= 6, text
    for took, parts in slow:
        parts = re.sub(r' \((ran meanwhile|woken)[^)]*\)', '', parts)
        times = re.findall(r'(?:^|, )[a-z][^,]*? ([\d.]+)(?: us)?(?=,|$)', parts)
        assert abs(sum(map(float, times)) - float(took)) < 0.01 * len(PARTS), (took, parts)
    assert re.search(r'\n\nwhere the time went of \S+=>\S+: \d+ calls, \d+ of them over 20 ms, [\d.]+ ms\n'
                     r'time +total\(us\) +%total +over 20 ms\(us\) +%over +on whom \(us\)\nrunning ', text), text
    assert 'of_breakdown' not in text and 'sched_switch' not in text, text     # its own events are not printed
    lines = [line for line in analyse(*run, '--csv', '--', sys.executable, '-c', READER).text.splitlines() if ',' in line]
    assert lines[0].split(',')[-6:] == PARTS, lines
    assert len(lines) == 2 and sum(map(int, lines[1].split(',')[-6:])) == int(lines[1].split(",")[4]), lines


def test_of_a_recording(analyse, record):
    """The same pairs, also of one process; with events of the same names in -e."""
    pid = record(f'raw_syscalls:sys_enter,raw_syscalls:sys_exit,{EVENTS}', '--', sys.executable, '-c', READER).strip()
    for more in [], ['-e', f'{EVENTS.replace(",", "//untraced/,")}//untraced/']:
        got = analyse('latency', '-I', 'in', '-p', pid, *more, *pair(READ), '--breakdown', '--than', '20ms', '--json')
        table = got.table('latency')
        check_sums(table['rows'] + table['breakdown'])
        assert both(table, 20000000)['asleep'] + both(table, 20000000)['unknown'] >= 6 * NAP * 1e9 / 2, table
    done = analyse('latency', '-I', 'in', *pair(READ), '--breakdown', '-g', before=['env'])
    assert done.err == ('perf-prof: latency: -g: the recording has no call chains of sched:sched_switch; record them with -e '
                        "'sched:sched_switch//stack=auto/'\n") and '\nstacks ' not in done.text, done.text


@pytest.mark.parametrize('options, events, error', [
    (['-a'], 'sched:sched_switch', r'--breakdown needs sched:sched_waking, which in lacks; record with -a -e '
     r'sched:sched_switch,sched:sched_waking and the events of the pairs'),
    (['-a'], 'sched:sched_waking', r'--breakdown needs sched:sched_switch, which in lacks; record with -a '),
    ([], EVENTS, r'--breakdown: sched:sched_switch was recorded only for a command: .*; record with -a'),
])
def test_recordings_without_the_events(analyse, options, events, error):
    analyse('record', '-q', *options, '-o', 'in', '-e', f'raw_syscalls:sys_enter,raw_syscalls:sys_exit,{events}', '--', 'true')
    code = 1 if not options else 2
    assert re.search(error, analyse('latency', '-I', 'in', *pair(READ), '--breakdown', code=code).err)


@pytest.mark.parametrize('events', [['-e', 'raw_syscalls:sys_enter//key=id/', '-e', 'raw_syscalls:sys_exit'],
                                    ['-k', 'id', '-e', 'raw_syscalls:sys_enter', '-e', 'raw_syscalls:sys_exit']])
def test_only_of_threads(analyse, events):
    err = analyse('latency', *events, '--breakdown', '--', 'true', code=2).err
    assert '--breakdown is for pairs of the same thread, but the key of raw_syscalls:sys_enter is id: leave out -k and key=' in err, err


def test_keys_that_are_no_threads_are_called_keys(analyse, works):
    found = [analyse('latency', *RING, '--than', '1ns', '-e', f'raw_syscalls:sys_enter{key}', '-e', f'raw_syscalls:sys_exit{key}', '--',
                     works, 'calls').text for key in ('', '//key=id/')]
    assert ' of thread ' in found[0] and ' of key ' not in found[0], found[0][:500]
    assert ' of key ' in found[1] and ' of thread ' not in found[1], found[1][:500]


def test_a_thread_as_process_of_a_recording(analyse, record):
    """Also if events of all tasks are delivered, -p of a thread's id says which thread of which process it is."""
    job = 'import os, threading\nt = threading.Thread(target=lambda: [os.getppid() for _ in range(9)])\nt.start()\nt.join()\n' \
          'print(os.getpid(), t.native_id)'
    events = f'raw_syscalls:sys_enter/id=={GETPPID}/,raw_syscalls:sys_exit/id=={GETPPID}/,{EVENTS}'
    pid, tid = record(events, '--', sys.executable, '-c', job).split()
    for more in [], ['--breakdown'], ['-e', 'waits//untraced/']:
        run = ['latency', '-I', 'in', *more, '-e', 'raw_syscalls:sys_enter', '-e', 'raw_syscalls:sys_exit']
        errors = [analyse(*run, *target, code=code, before=['env']).err
                  for *target, code in (('-p', tid, 1), ('-t', tid, 0), ('-p', pid, 0), ('-p', '999999', 1))]
        assert errors[0] == (f'perf-prof: the recording has no event from process {tid}: {tid} is a thread of process {pid}; -t {tid} '
                             'selects it\n'), errors
        assert errors[1] == errors[2] == '', errors
        assert 'the recording has no event from the tasks and CPUs that -p, -t and -C select' in errors[3], errors


def test_recordings_without_a_pair_of_the_task(analyse, record):
    job = 'import os\nos.getppid()\nprint(os.getpid())'
    pid = record(f'raw_syscalls:sys_enter/id=={GETPPID}/', '--', sys.executable, '-c', job).strip()
    err = analyse('latency', '-I', 'in', '-p', pid, '-e', 'raw_syscalls:sys_enter//role=start/', '-e',
                  'raw_syscalls:sys_enter//alias=other/key=id/', before=['env']).err
    assert err == ('perf-prof: latency: no pair of events happened in the watched tasks; kernel threads and interrupts may work for them: '
                   'without -p and -t, the pairs of all recorded tasks are shown\n'), err


# a call is from getppid() to geteuid(): of nine, three read what a child writes 30 ms later, the others what it writes at once
STACKS = r'''
static int ask[2], answer[2];
__attribute__((noinline)) static int quickly(char c) { write(ask[1], &c, 1); read(answer[0], &c, 1); return c + 1; }
__attribute__((noinline)) static int slowly(char c) { write(ask[1], &c, 1); read(answer[0], &c, 1); return c + 2; }
int main(void)
{
	char c;
	pipe(ask);
	pipe(answer);
	if (!fork()) {
		close(ask[1]);
		while (read(ask[0], &c, 1) == 1) {
			usleep(c == 's' ? 30000 : 500);
			write(answer[1], &c, 1);
		}
		return 0;
	}
	usleep(200000);
	for (int i = 0; i < 9; i++) {
		getppid();
		i % 3 ? quickly('q') : slowly('s');
		geteuid();
	}
	usleep(1000000);   /* until its descriptors have been looked up */
	return 0;
}
'''
GETEUID = 107
CALLS = ['-e', f'raw_syscalls:sys_enter/id=={GETPPID}/', '-e', f'raw_syscalls:sys_exit/id=={GETEUID}/']


@pytest.fixture
def asker(compiled):
    """That program, on CPUs that are busy: some kernels do not report the events of idle ones."""
    job = compiled(STACKS, name='asker')
    with busy_cpus():
        yield job


def functions(waits):
    """Of the program, in any stack."""
    return {name for one in waits for name in one.get('stack', '').split(';')} & {'quickly', 'slowly', 'main'}


def check_stacks(lines):
    table, slow = [one for one in lines if one.get('table') == 'latency'][0], [one for one in lines if 'slow' in one]
    long, each = both(table, 20000000), both(table)
    assert long['calls'] == len(slow) >= 3 and each['calls'] >= 9, table     # others may have such pairs, too
    for row in [long, each, *slow]:
        for state in 'asleep', 'blocked', 'other':
            assert sum(one['total'] for one in row['waits'] if one['state'] == state) == row[state], row
    assert functions(each['waits']) == {'quickly', 'slowly', 'main'}, each
    quick = [one for one in long['waits'] if 'quickly' in one.get('stack', '')]
    assert sum(one['times'] for one in quick) == 0 or long['calls'] > 3, long    # a quick call may have waited long for a CPU
    assert 'slowly' in functions(long['waits']), long
    slept = max((one for one in long['waits'] if 'slowly' in one.get('stack', '')), key=lambda one: one['total'])
    assert slept['state'] == 'asleep' and slept['waker'] == 'asker' and slept['total'] >= NAP * 1e9 / 2, slept
    assert re.search(r';main;slowly;.*read', slept['stack']), slept


@pytest.mark.deep
def test_stacks(analyse, record, asker):
    """Live, from the recording of that run, and from one of all tasks."""
    run = [*CALLS, '--breakdown', '--than', '20ms', '--json']
    check_stacks(analyse('latency', *run, '-g', *RING, '--record', 'own', '--', asker).lines)
    check_stacks(analyse('latency', *run, '-I', 'own').lines)
    events = 'raw_syscalls:sys_enter,raw_syscalls:sys_exit,sched:sched_switch//stack=auto/,sched:sched_waking'
    record(events, '--', asker)
    check_stacks(analyse('latency', *run, '-I', 'in').lines)
    plain = analyse('latency', *CALLS, '--breakdown', '--json', *RING, '--', asker).table('latency')
    assert 'waits' not in both(plain), plain


@pytest.mark.deep
def test_stacks_as_text(analyse, asker):
    run = ['latency', *CALLS, '--breakdown', '-g', *RING]
    text = analyse(*run, '--than', '20ms', '--', asker).text
    title = re.search(r'\n\nstacks that slept or were blocked in the (\d+) calls over 20 ms of raw_syscalls:sys_enter=>'
                      r'raw_syscalls:sys_exit \(% of their ([\d.]+) ms\)\n((?:.+\n)+)', text)
    assert title and int(title[1]) >= 3, text
    entries = re.findall(r'^ *([\d.]+)%  (asleep|blocked) \([SD]\), (\d+) times?, ([\d.]+) ms, woken by (.+)\n((?: {4}.*\n)+)',
                         title[3], re.M)
    assert entries and entries[0][1] == 'asleep' and entries[0][4].startswith('asker') and ' slowly+0x' in entries[0][5], title[3]
    assert abs(100 * float(entries[0][3]) / float(title[2]) - float(entries[0][0])) < 0.01, title[3]
    assert '-g needs --than' not in text, text
    text = analyse(*run, '--', asker).text
    assert re.search(r'\nstacks that slept or were blocked in the 9 calls of raw_syscalls:sys_enter=>', text), text
    assert 'quickly+0x' in text and 'slowly+0x' in text and '-g needs --than' not in text, text


@pytest.mark.deep
def test_what_was_waited_on(analyse, asker):
    """With its stack, and without; in a recording, descriptors have no names."""
    run = ['latency', *CALLS, '--breakdown', '--on', '--than', '20ms']
    for more in [], ['-g'], ['-I', 'own']:
        lines = analyse(*run, '--json', *more, *([] if '-I' in more else [*RING, '--record', 'own', '--', asker])).lines
        table = [one for one in lines if one.get('table') == 'latency'][0]
        for row in [*table['breakdown'], *(one for one in lines if 'slow' in one)]:
            assert sum(one['total'] for one in row['waits'] if one['state'] == 'asleep') == row['asleep'], row
            longest = max(row['waits'], key=lambda one: one['total'])
            assert re.fullmatch(r'read fd 5' if '-I' in more else r'read pipe:\[\d+\]', longest['on']), row
            assert ('stack' in longest) == (more != []), longest
            assert longest.get('kind') == (None if '-I' in more else 'pipe'), longest
    text = analyse(*run, '-g', *RING, '--', asker).text
    assert re.search(r'asleep \(S\) [\d.]+(?: us)? \(woken by asker.*; in read pipe:\[\d+\] [\d.]+[,)]', text), text
    assert re.search(r'\ntime .* on whom \(us\) +in what \(us\)\n', text), text
    assert re.search(r'\nasleep \(S\) .* woken by asker .*  read pipe:\[\d+\] [\d.]+', text), text
    assert re.search(r'\nwaited in the calls over 20 ms on: (?:.* \([\d.]+%\), )?pipe [\d.]+ ms \([\d.]+%\)', text), text
    assert re.search(r'\n *[\d.]+%  asleep \(S\) in read pipe:\[\d+\], \d+ times?, [\d.]+ ms, woken by asker', text), text


def test_on_without_breakdown(analyse):
    err = analyse('latency', *CALLS, '--on', '--', 'true', code=2).err
    assert 'latency: --on shows what the pairs of --breakdown waited on: add --breakdown' in err, err


def bucket(ns):
    """Its borders: powers of two of ns, us, ms or s, and 1000."""
    unit = max(one for one in (1, 1000, 10**6, 10**9) if ns >= one or one == 1)
    low = max((2**i for i in range(10) if 2**i <= ns // unit), default=0)
    return low * unit, (2 * low if low < 512 else 1000) * unit


@pytest.mark.deep
@pytest.mark.parametrize('more', [['--perins'], ['--breakdown']])
def test_histogram(analyse, record, more):
    record(f'raw_syscalls:sys_enter,raw_syscalls:sys_exit,{EVENTS}', '--', sys.executable, '-c', READER)
    run = ['latency', '-I', 'in', '-e', 'raw_syscalls:sys_enter', '-e', 'raw_syscalls:sys_exit', '--hist', *more]
    lines = analyse(*run, '--json', '--than', '1ns').lines
    table = [one for one in lines if one.get('table') == 'latency'][0]
    expected = {}
    for one in lines:
        if 'slow' in one:
            key = int(re.search(r' of thread (\d+)', one['what'])[1]) if '--perins' in more else None
            counts = expected.setdefault(key, {})
            counts[bucket(one['duration'])] = counts.get(bucket(one['duration']), 0) + 1
    found = {row.get('key'): {(one['from'], one['to']): one['calls'] for one in row['buckets']} for row in table['histograms']}
    assert found == expected and sum(map(len, found.values())) > 5, (found, expected)
    assert {row['pair'] for row in table['histograms']} == {'raw_syscalls:sys_enter=>raw_syscalls:sys_exit'}, table['histograms']
    text = analyse(*run).text
    titles = re.findall(r'(?<=\n\n)durations of (.*)\nfrom   - to            calls  %calls\n((?:.*\|\n)+)', text)
    assert len(titles) == min(10, len(found)), text
    rows = re.findall(r'^ *(\d+) (\w+) - +(\d+) (\w+) +(\d+) +([\d.]+)  \|(#*) *\|$', titles[0][1], re.M)
    units = {'ns': 1, 'us': 1000, 'ms': 10**6, 's': 10**9}
    got = {(int(a) * units[b], int(c) * units[d]): int(n) for a, b, c, d, n, _, _ in rows}
    first = table['histograms'][0]
    assert {key: n for key, n in got.items() if n} == found[first.get('key')], text
    assert list(got) == sorted(got) and all(a[1] == b[0] for a, b in zip(got, list(got)[1:])), text
    assert max(len(bar) for *_, bar in rows) == 40 and all((n == '0') == (bar == '') for *_, n, _, bar in rows), text
    assert '--perins' in more or 'histograms' not in analyse('latency', *run[1:-1 - len(more)], *more, '--json').text
    assert ('... ' in text and ' more (--json shows all)' in text) == (len(found) > 10), text


@pytest.fixture
def sleeper(compiled):
    """A program that calls nap(), for 1 ms and, three times, for 30 ms."""
    if not os.path.exists('/sys/kernel/tracing/uprobe_events'):
        pytest.skip('needs uprobes')
    return compiled('__attribute__((noinline)) int nap(int us) { usleep(us); return us; }\n'
                    'int main() { for (int i = 0; i < 9; i++) nap(i % 3 ? 1000 : 30000); usleep(300000); return 0; }\n', name='nap')


SOURCE = 'latency/--start uprobe:nap --end uretprobe:nap --than 20ms/'


def test_the_source_takes_probes_of_the_list(analyse, sleeper):
    probes, slow = f'uprobe:nap@"{sleeper}",uretprobe:nap@"{sleeper}"', re.compile(r' latency: key \d+ took [\d.]+ us\n')
    live = analyse('trace', '-q', *RING, '-e', f'{probes},{SOURCE}', '--', sleeper).text
    assert len(slow.findall(live)) >= 3 and live.count(' uprobe:nap: ') == 9, live
    analyse('record', '-q', '-o', 'in', '-e', probes, '--', sleeper)
    assert len(slow.findall(analyse('trace', '-I', 'in', '-e', f'uprobe:nap,uretprobe:nap,{SOURCE}').text)) >= 3


def test_a_slow_call_triggers_a_recording_that_has_it(analyse, record, sleeper):
    record(f'uprobe:nap@"{sleeper}",uretprobe:nap@"{sleeper}",{EVENTS},{SOURCE[:-1]}/trigger/', '--overwrite', '-N', '1', '--', sleeper)
    probes = ['-e', 'uprobe:nap', '-e', 'uretprobe:nap']
    table = analyse('latency', '-I', 'in', *probes, '--breakdown', '--json', before=['env']).table('latency')
    check_sums(table['rows'])
    assert table['rows'][0]['max'] >= 20e6, table


@pytest.mark.parametrize('options, said', [
    ('--start uprobe:nap', r'latency needs the probe uprobe:nap, which this list of events does not have.*'
     r"the probe beside the source, which names it without the file: -e 'uprobe:nap@FILE,latency/"),
    ('--start uprobe:nap@"/tmp/nap"', 'latency needs the probe uprobe:nap, which this list of events does not have'),
    ('--start sched:none', r'\A((?!expected).)*latency needs sched:none: cannot read ((?!expected).)*\Z'),    # the cause comes before it
    ('--start uprobe:nap@./nap', r'and a slash in it, as in a path, needs quotes\n\Z'),
])
def test_a_source_opens_no_probe(analyse, options, said):
    err = analyse('trace', '-e', f'latency/{options} --end sched:sched_switch/', '--', 'true', code=2).err
    assert re.search(said, err, re.S), err


@pytest.mark.parametrize('switch, waking, unknown', [
    ('/prev_comm!="sleep"/', '', True),                  # it seems to run until it gets a CPU again: a contradiction
    ('/next_comm!="sleep"/', '/comm!="sleep"/', True),   # it seems to sleep when it returns from the call
    ('', '/comm!="sleep"/', False),                      # the sleep lasts until it runs
])
def test_events_that_the_kernel_left_out(analyse, record, switch, waking, unknown):
    record('raw_syscalls:sys_enter/id==230/,raw_syscalls:sys_exit/'
           f'id==230/,sched:sched_switch{switch},sched:sched_waking{waking}', '--', 'sleep', '0.05')
    run = ['latency', '-I', 'in', '--breakdown', *pair(NANOSLEEP)]
    rows = analyse(*run, '--perins', '--json', before=['env']).table('latency')['breakdown']
    one, = (row for row in rows if row['comm'] == 'sleep' and row['total'] >= 50e6)
    check_sums([one])
    # without the switch to it, too, which some kernels do not deliver on an idle CPU, nothing contradicts that it ran
    maybe = one['running'] if 'prev_comm' in switch else 0 if unknown else one['asleep']
    assert one['unknown'] + maybe >= 45e6, one
    assert one['asleep'] == 0 or not unknown, one
    assert {waker['comm'] for waker in one['wakers']} <= {'[not known]'}, one
    if not one['unknown']:
        return
    assert one['unknown_why'] == {'unreported': one['unknown']}, one
    text = analyse(*run, '-p', one['key'], before=['env']).text
    assert re.search(r'\nunknown  .*\nunknown: the kernel did not report a switch of the thread \(some kernels report none on '
                     rf'idle CPUs\): {one["unknown"] / 1000:.3f} us\n', text), text


@pytest.mark.skipif(sys.version_info < (3, 11), reason='needs a Python whose time.sleep() is clock_nanosleep(2)')
def test_of_a_process_and_its_recording(analyse):
    """The scheduler's events are those of all tasks, also with -p; so they are in the recording."""
    job = subprocess.Popen([sys.executable, '-c', f'import time\nwhile True: time.sleep({NAP})'])
    try:
        analyse('latency', '-q', *RING, '-p', job.pid, *pair(NANOSLEEP), '--breakdown', '--seconds', '1', '--record', 'in')
    finally:
        job.kill()
        job.wait()
    table = analyse('latency', '-I', 'in', '--breakdown', '--json', *pair(NANOSLEEP)).table('latency')
    check_sums(table['rows'])
    assert table['rows'][0]['calls'] >= 1, table
