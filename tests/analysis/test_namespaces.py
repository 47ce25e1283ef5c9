# SPDX-License-Identifier: Apache-2.0
"""Inside of a PID namespace, where the fields of tracepoints have the ids of the initial one: the same
tables as outside. Needs root and unshare -p."""
import re
import subprocess

import pytest

from frame.analyses import RING, TIMEOUT, Result
from frame.declared import environment

pytestmark = [pytest.mark.live, pytest.mark.slow]

NAMESPACE = ['unshare', '-p', '-f', '--mount-proc']


@pytest.fixture(autouse=True)
def namespace():
    done = subprocess.run([*NAMESPACE, 'true'], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f'needs unshare -p ({done.stderr.strip()})')


@pytest.fixture
def shell(prof, works, tmp_path):
    """shell(script): run in a PID namespace; $PROF and $WORKS are there."""
    def run(script, cmd=''):
        done = subprocess.run([*NAMESPACE, 'sh', '-c', script], cwd=tmp_path, capture_output=True, text=True,
                              timeout=3 * TIMEOUT, stdin=subprocess.DEVNULL,
                              env={**environment({'cmd': cmd}), 'PROF': prof, 'WORKS': works})
        assert done.returncode == 0, done
        return Result(done)
    return run


def sleeps(got):
    """Of the threads of works: {tid: sleeps}, and their time in ns."""
    rows = [r for t in got.lines for r in t.get('rows', ()) if r['comm'] == 'works' and r['state'] == 'S']
    return {r['tid']: r['calls'] for r in rows}, sum(r['total'] for r in rows)


@pytest.mark.deep
@pytest.mark.usefixtures('switches')
def test_states_waits_and_calls_of_a_command_have_its_own_ids(analyse, works):
    """The first processes of this namespace have small ids, which are those of its /proc; tasks outside have none."""
    got = analyse('task-state', *RING, '--json', '--', works, 'sleeps', before=NAMESPACE)
    calls, total = sleeps(got)
    assert list(calls) == [got.pid] and total >= 300e6, (got.pid, calls, total)
    got = analyse('rundelay', *RING, '--json', '--', works, 'turns', before=NAMESPACE)
    tids, ran = ({r['tid'] for r in got.table('rundelay')[name] if 'tid' in r} for name in ('rows', 'ran'))
    assert len(tids) == 3 and got.pid in tids and max(tids | ran) < 100, (got.pid, tids, ran)
    table = analyse('profile', *RING, '-q', '--off-cpu', '--json', '--', works, 'sleeps', before=NAMESPACE).table('profile')
    asleep = max(r['total'] for r in table['rows'] if 'nanosleep' in r['function'])       # libc may call a function of its own there
    assert 300e6 <= table['weight'] * asleep / 100 <= table['off_cpu'] + 1, table
    got = analyse('syscalls', *RING, '--json', '--', works, 'calls', before=NAMESPACE)
    rows = {r['call'].split('(')[0]: r for r in got.table('syscalls')['rows'] if r['comm'] == 'works'}
    assert (rows['getppid']['calls'], rows['close']['errors']) == (100, 7)


@pytest.mark.deep
@pytest.mark.usefixtures('switches')
def test_a_process_that_sleeps_is_found_by_its_own_id(shell):
    got = shell('''rm -f go out; mkfifo go
        "$WORKS" --wait --stay turns < go > said & p=$!
        exec 3> go
        "$PROF" task-state -m 16M -p $p -i 50 --json > out 3>&- & w=$!
        until [ -s out ]; do sleep 0.02; kill -0 $w || exit 1; done
        echo x >&3
        until grep -q done said; do sleep 0.02; done
        exec 3>&-
        wait $w; code=$?
        cat said out; exit $code''')
    seen = {r['tid'] for t in got.lines for r in t.get('rows', ()) if r['state'] == 'S'}
    assert len(seen) == 3 and got.pid in seen and max(seen) < 200, (got.pid, seen, got.err)


@pytest.fixture
def busy(works):
    """Tasks outside, on all CPUs."""
    one = subprocess.Popen([works, 'spin', '60000'], stdout=subprocess.DEVNULL)
    yield
    one.kill()
    one.wait()


@pytest.mark.deep
def test_tasks_outside_have_a_name_at_most(analyse, busy):
    """They have the ids of the initial namespace where a field has one, and none where a sample has tid 0: they are no idle CPU."""
    def of(*args):
        return analyse(*args, before=NAMESPACE)
    text = of('trace', '-a', '-N', '1', '-e', 'sched:sched_switch/prev_comm=="works"/').text
    comm, tid, prev = re.search(r'(\S+) +(\d+) \S{4} \[.*prev_pid=(\d+)', text).groups()
    assert (comm, tid) == ('works', prev)   # the name is the record's: /proc has none
    text = of('trace', '-a', '-N', '1', '-e', 'cpu-clock:u').text
    assert re.search(r'(\S+) +(\S+) \[', text).groups() == ('<outside>', '-'), text
    row, = of('trace', '-a', '-N', '1', '-e', 'cpu-clock:u', '--json').lines
    assert row['comm'] == '<outside>' and 'tid' not in row and 'pid' not in row, row
    got = of('top', '-a', '-k', 'next_pid', '-e', 'sched:sched_switch', '--json', '--', 'sleep', '1')
    assert 'works' in names(got), got.text
    table = of('profile', '-a', '--sort', 'comm,pid', '--json', '--', 'sleep', '0.3').table('profile')
    rows = [row for row in table['rows'] if row['comm'] == '<outside>']
    assert len(rows) == 1 and 'pid' not in rows[0], table
    table, = of('profile', *RING, '-q', '-a', '--off-cpu', '--sort', 'comm', '--json', '--', 'sleep', '1').lines
    assert any(row['comm'] == 'works' and row['time'] for row in table['rows']), table


@pytest.fixture
def idle_functions():
    with open('/proc/kallsyms', encoding='ascii', errors='replace') as symbols:
        if not any(int(line.split()[0], 16) for line in symbols if line.split()[2] in ('do_idle', 'cpu_startup_entry')):
            pytest.skip('needs kernel addresses (kernel.kptr_restrict)')


@pytest.fixture
def calling():
    """A task outside that is nearly always in the kernel."""
    one = subprocess.Popen(['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=256k'], stderr=subprocess.DEVNULL)
    yield
    one.kill()
    one.wait()


@pytest.mark.usefixtures('idle_functions', 'calling')
def test_an_idle_cpu_is_known_by_its_call_chain(analyse):
    """Also without one that the user has asked for, the kernel's work for tasks outside is not that of an idle CPU."""
    seen = set(re.findall(r'(\S+) +(\S+) \[\d+\]', analyse('trace', '-a', '-N', '300', '-e', 'cpu-clock:k', before=NAMESPACE).text))
    assert ('<outside>', '-') in seen and ('swapper', '-') not in seen, seen
    text = analyse('trace', '-a', '-g', '-N', '300', '-e', 'cpu-clock', before=NAMESPACE).text
    heads = list(re.finditer(r'^\S+ \S+ +(\S+) +\S+ \[\d+\].*$', text, re.M))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    stacks = [(head[1], text[head.end():end]) for head, end in zip(heads, ends)]
    assert '<outside>' in {comm for comm, _ in stacks}, text
    for comm, stack in stacks:
        if comm in ('swapper', '<outside>'):
            assert bool(re.search('do_idle|cpu_startup_entry', stack)) == (comm == 'swapper'), (comm, stack)


def names(got):
    return {row['name'] for table in got.lines for row in table.get('rows', ())}


@pytest.mark.usefixtures('calling')
@pytest.mark.parametrize('key', ['_tid', '_pid'])
def test_tasks_outside_make_system_calls_and_idle_cpus_none(analyse, key):
    got = analyse('top', '-a', '--only-comm', '-k', key, '-e', 'raw_syscalls:sys_enter', '--json', '--', 'sleep', '0.5', before=NAMESPACE)
    assert '<outside>' in names(got) and 'swapper' not in names(got), got.text


@pytest.mark.deep
@pytest.mark.usefixtures('switches')
def test_a_recording_made_inside(shell, analyse, tmp_path):
    events = 'sched:sched_switch,sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_process_fork'

    got = shell(f'"$PROF" record -m 16M -a -e {events} -o in.data -- "$WORKS" sleeps')
    calls, total = sleeps(analyse('task-state', '--json', '--perins', '-I', tmp_path / 'in.data'))
    assert got.pid in calls and total >= 250e6, (got.pid, calls, total)


def test_a_source_of_a_script(shell, tmp_path):
    (tmp_path / 's.py').write_text('def task_state(event):\n'
                                   '    print("stretch", event.comm, event.tid, event._tid, flush=True)\n')
    got = shell('''cp "$WORKS" inside
        while ./inside sleeps; do :; done & p=$!
        "$PROF" python -m 16M -N 3 -e 'task-state/-S --filter inside/' s.py; code=$?
        kill $p; exit $code''', 'python')
    told = set(re.findall(r'^stretch inside (\d+) (\d+)$', got.text, re.M))
    pids = re.findall(r'^pid (\d+)$', got.text, re.M)
    assert told and all(tid == _tid and tid in pids for tid, _tid in told), got.text


def test_its_own_samples_are_filtered_in_the_kernel(shell):
    """sys_enter of perf-prof itself would be its own next event."""
    got = shell('''"$PROF" trace -a -v -e raw_syscalls:sys_enter -- dd if=/dev/zero of=/dev/null bs=1 count=5000 \
        status=none > lines''')
    counted, own = map(int, re.search(r'(\d+) counted by the kernel, (\d+) of them', got.err).groups())
    assert own * 40 < counted, got.err   # unfiltered one in twenty is


def test_the_proc_of_another_namespace_is_refused(analyse):
    done = analyse('task-state', '--', 'true', before=['unshare', '-p', '-f'], code=1)
    assert done.text == '' and 'another PID namespace' in done.err and '--mount-proc' in done.err


def test_a_user_namespace_is_refused(prof, tmp_path):
    before = ['unshare', '-U', '-r', '-p', '-f', '--mount-proc']
    if subprocess.run([*before, 'true'], capture_output=True).returncode:
        pytest.skip('needs user namespaces')
    for command in ('task-state', 'rundelay', 'profile --off-cpu'):
        done = subprocess.run([*before, prof, *command.split(), '--', 'true'], cwd=tmp_path,
                              capture_output=True, text=True, timeout=TIMEOUT)
        assert done.returncode == 1 and not done.stdout, done
        assert 'user namespace' in done.stderr or 'tracefs' in done.stderr, done.stderr
