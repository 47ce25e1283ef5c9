# SPDX-License-Identifier: Apache-2.0
"""Groups in event lists: {a,b}:S samples a, whose samples bear the counts of both; {a,b} samples each.

Of software events, which every machine has. The program touches a known number of pages."""
import json
import re
import shutil
import subprocess

import pytest

from frame.session import Command, ran

pytestmark = [pytest.mark.live('tracefs', 'root'), pytest.mark.slow]     # sanitizers touch pages, which are counted

PAGES = 3000
WORK = ['/usr/bin/python3', '-c', f'''
import mmap, resource
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range({PAGES // 100}):
    m = mmap.mmap(-1, 100 * mmap.PAGESIZE)
    for i in range(100):
        m[i * mmap.PAGESIZE] = 1
    m.close()
    sum(range(100000))
''']
GROUP = '{task-clock,sw:page-faults,context-switches}:S'
SCRIPT = '''
import json
total, names, kept = {}, set(), []
samples = 0
def __sample__(e):
    global samples
    samples += 1
    names.add(e._event)
    counts = e._counts
    for k, v in counts.items():
        total[k] = total.get(k, 0) + v
    if 'read' in e.keys():
        assert e.read['nr'] == len(counts) == len(e.read['cntr'])
        assert e.counts == counts == e['counts'] == e.to_dict()['counts']
        last[e._cpu, e._tid] = [c['value'] for c in e.read['cntr']]
    if samples <= 3:
        kept.append((e, counts))
last = {}
def __exit__():
    assert all(e._counts == counts for e, counts in kept)
    print(json.dumps([samples, sorted(names), total]))
'''
RING = ['-m', '8M']


@pytest.fixture
def run(prof, tmp_path):
    (tmp_path / 's.py').write_text(SCRIPT)
    return Command(prof, tmp_path).run


def result(done):
    return json.loads(done.stdout.splitlines()[-1])


def perf(*args, folder):
    """Never with --group, which is the default: perf 6.1 then marks the first event of a list that is empty yet in the
    layout of pipes, and crashes if the id of one comes to lie there."""
    if not shutil.which('perf'):
        pytest.skip('needs the program perf')
    done = ran(['perf', *args], cwd=folder, timeout=120, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done
    return done.stdout


@pytest.fixture(scope='module')
def recording(prof, tmp_path_factory):
    folder = tmp_path_factory.mktemp('group')
    subprocess.run([prof, 'record', '-q', '-g', '-e', GROUP, *RING, '--', *WORK], cwd=folder, check=True, timeout=60)
    return str(folder / 'perf.data')


def test_a_recording_has_the_counts_of_the_group(run, tmp_path, recording):
    """Sums over all samples are what the program did, up to its last sample."""
    done = run('python', '-I', recording, 's.py')
    samples, names, total = result(done)
    assert result(run('python', '-e', GROUP, '-I', recording, 's.py')) == result(done)    # as it is live
    assert names == ['task-clock'] and samples > 20
    assert list(total) == ['task-clock', 'sw:page-faults', 'context-switches']
    assert PAGES <= total['sw:page-faults'] < 2 * PAGES
    # a sample is taken each 1/997 s of task-clock: its count is what came since the one before
    assert total['task-clock'] > 0.9 * samples * 1e9 / 997
    (tmp_path / 'twice.py').write_text('a, b = [], []\ndef one(e): a.append(e.counts)\ndef two(e): b.append(e.counts)\n'
                                       'def __exit__(): assert len(a) > 20; assert a == b\n')
    run('python', '-I', recording, '-e', 'task-clock//alias=one/,task-clock//alias=two/', 'twice.py')


def test_perf_reads_it(run, tmp_path, recording):
    total = result(run('python', '-I', recording, 's.py'))[2]
    theirs = {}
    text = perf('script', '-i', recording, '-G', '-F', 'comm,tid,time,event,period', folder=tmp_path)
    for period, event in re.findall(r'(\d+) +(\S+): *$', text, re.M):
        theirs[event] = theirs.get(event, 0) + int(period)
    assert theirs == {k: v for k, v in total.items() if v}
    ours = run('script', '-I', recording, '-F', 'comm,tid,time,event,period').stdout
    assert [line.split() for line in ours.splitlines()] == [line.split() for line in text.splitlines() if line.strip()]
    report = perf('report', '--stdio', '-i', recording, folder=tmp_path)
    assert 'anon group { task-clock, sw:page-faults, context-switches }' in report
    assert re.search(r'^ +\d+\.\d+% +\d+\.\d+% +\d+\.\d+% +python3', report, re.M)


@pytest.mark.parametrize('order', [[], ['--order']])
def test_live(run, order):
    """Each page fault is a sample, so that none is behind the last one."""
    samples, names, total = result(run('python', '-e', '{sw:page-faults,task-clock}:S', *RING, *order, 's.py', '--', *WORK))
    assert names == ['sw:page-faults'] and PAGES <= samples == total['sw:page-faults'] < 2 * PAGES
    assert total['task-clock'] > 1000 * samples


def test_a_tracepoint_leads(run):
    run('record', '-e', '{raw_syscalls:sys_enter,task-clock,sw:page-faults}:S', *RING, '--', *WORK)
    samples, names, total = result(run('python', '-I', 'perf.data', 's.py'))
    assert names == ['raw_syscalls:sys_enter'] and total['raw_syscalls:sys_enter'] == samples > PAGES // 100
    assert PAGES <= total['sw:page-faults'] < 2 * PAGES


def test_a_plain_group_samples_each(run, tmp_path):
    run('record', '-e', '{task-clock,sw:page-faults:u}', *RING, '--', *WORK)
    script = 'n = {}\ndef __sample__(e):\n    n[e._event] = n.get(e._event, 0) + e.period\n' \
             'def __exit__():\n    print(n)\n'
    (tmp_path / 'n.py').write_text(script)
    seen = eval(run('python', '-I', 'perf.data', 'n.py').stdout.splitlines()[-1])
    assert set(seen) == {'task-clock', 'sw:page-faults:u'} and PAGES <= seen['sw:page-faults:u'] < 2 * PAGES
    assert 'anon group { task-clock, sw:page-faults:u }' in perf('report', '--stdio', '-i', 'perf.data', folder=tmp_path)


def test_a_member_that_alone_is_handled(run, tmp_path):
    """Its leader is on for it, and is not delivered."""
    script = 'n = 0\ndef sw_page_faults(e):\n    global n\n    n += 1\n    if n == 100: raise SystemExit\n' \
             'def __exit__():\n    print(n)\n'
    (tmp_path / 'n.py').write_text(script)
    out = run('python', '-e', '{cpu-clock,sw:page-faults}', *RING, 'n.py', '--', *WORK).stdout
    assert out.splitlines()[-1] == '100'


def test_trace_shows_the_counts(run):
    out = run('trace', '-e', GROUP, *RING, '--', *WORK).stdout
    counts = re.findall(r': task-clock: \d+ task-clock \{sw:page-faults=(\d+), context-switches=\d+\}$', out, re.M)
    assert PAGES <= sum(map(int, counts)) < 2 * PAGES
    lines = run('trace', '--json', '-e', GROUP, *RING, '--', *WORK).stdout.splitlines()
    assert PAGES <= sum(json.loads(line)['counts']['sw:page-faults'] for line in lines) < 2 * PAGES


def test_children_are_counted_by_themselves(run):
    """Where the kernel can do so (6.12): counters are each task's own, and so are the differences."""
    work = ['sh', '-c', f"{WORK[0]} -c '{WORK[2]}' & {WORK[0]} -c '{WORK[2]}'; wait"]
    done = run('record', '-v', '-e', GROUP, *RING, '--', *work, errors=None)
    if "don't follow new threads and children" in done.stderr:
        pytest.skip('needs Linux 6.12 or later')
    samples, names, total = result(run('python', '-I', 'perf.data', 's.py'))
    assert 2 * PAGES <= total['sw:page-faults'] < 4 * PAGES


@pytest.mark.parametrize('text, said', [
    ('{cpu-clock,rundelay}', "a group takes no events that a source makes"),
    ('{cpu-clock,sw:page-faults}:SW', 'weak group'),
    ('{sched:sched_switch,cpu-clock}:u', 'no modifiers but S and W'),
    ('{cpu-clock,nothing-such}', 'no event nothing-such'),
])
def test_what_cannot_be(run, text, said):
    done = run('trace', '-e', text, '--', 'true', check=2, errors='.')
    assert said in done.stderr and '^' in done.stderr


def test_weak_groups_and_names(run, tmp_path):
    run('record', '-e', 'faults:{task-clock,sw:page-faults}:W', *RING, '--', *WORK)
    assert 'faults { task-clock, sw:page-faults }' in perf('report', '--stdio', '-i', 'perf.data', folder=tmp_path)
    out = run('python', '-e', '{cpu-clock,sw:page-faults}:uS', 'help').stdout
    assert 'def cpu_clock_u(event):' in out and 'counts : dict' in out
