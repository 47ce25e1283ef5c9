# SPDX-License-Identifier: Apache-2.0
"""Inside of a PID namespace, where the fields of tracepoints have the ids of the initial one: the same
tables as outside. Needs root and unshare -p."""
import re
import subprocess

import pytest

from frame.again import attempts
from frame.analyses import RING, TIMEOUT, Result
from frame.declared import environment

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


def missed(got):
    """What the kernel left out."""
    return sum(t['counts']['restarted'] + t['counts']['unbegun'] for t in got.lines if 'counts' in t)


def sleeps(got):
    """Of the threads of works: {tid: sleeps}, and their time in ns."""
    rows = [r for t in got.lines for r in t.get('rows', ()) if r['comm'] == 'works' and r['state'] == 'S']
    return {r['tid']: r['calls'] for r in rows}, sum(r['total'] for r in rows)


@pytest.mark.usefixtures('switches')
def test_the_states_of_a_command_are_those_seen_outside(analyse, works):
    def measure():
        for before in ((), NAMESPACE):
            got = analyse('task-state', *RING, '--json', '--', works, 'sleeps', before=before)
            calls, total = sleeps(got)
            if missed(got):
                return got.text
            if list(calls) != [got.pid] or calls[got.pid] != 8 or not 300e6 <= total < 1000e6:
                return before, got.pid, calls, total
        return None
    attempts(measure)


@pytest.mark.usefixtures('switches')
def test_children_and_threads_of_a_command_have_their_own_ids(analyse, works):
    def measure():
        got = analyse('rundelay', *RING, '--json', '--', works, 'turns', before=NAMESPACE)
        tids, ran = ({r['tid'] for r in got.table('rundelay')[name] if 'tid' in r} for name in ('rows', 'ran'))
        # the first processes of this namespace: its own ids are small, and /proc's; tasks outside have none
        here = len(tids) == 3 and got.pid in tids and max(tids | ran) < 100
        return None if here else (got.pid, tids, ran)
    attempts(measure)


@pytest.mark.usefixtures('switches')
def test_a_process_that_sleeps_is_found_by_its_own_id(shell):
    def measure():
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
        return None if len(seen) == 3 and got.pid in seen and max(seen) < 200 else (got.pid, seen, got.err)
    attempts(measure)


@pytest.mark.usefixtures('switches')
def test_time_off_the_cpu(analyse, works):
    def measure():
        got = analyse('profile', *RING, '-q', '--off-cpu', '--json', '--', works, 'sleeps', before=NAMESPACE)
        table = got.table('profile')
        slept = sum(r['time'] for r in table['rows'] if 'nanosleep' in r['function'])
        return None if 290e6 <= slept <= table['off_cpu'] < 1000e6 else (slept, table['off_cpu'])
    attempts(measure)


def test_calls_are_paired_thread_by_thread(analyse, works):
    got = analyse('syscalls', *RING, '--json', '--', works, 'calls', before=NAMESPACE)
    rows = {r['call'].split('(')[0]: r for r in got.table('syscalls')['rows'] if r['comm'] == 'works'}
    assert (rows['getppid']['calls'], rows['close']['errors']) == (100, 7)


@pytest.fixture
def busy(works):
    """Tasks outside, on all CPUs."""
    one = subprocess.Popen([works, 'spin', '60000'], stdout=subprocess.DEVNULL)
    yield
    one.kill()
    one.wait()


def test_tasks_outside_have_the_ids_of_the_initial_namespace(analyse, busy):
    text = analyse('trace', '-a', '-N', '1', '-e', 'sched:sched_switch/prev_comm=="works"/',
                   before=NAMESPACE).text
    comm, tid, prev = re.search(r'(\S+) +(\d+) \S{4} \[.*prev_pid=(\d+)', text).groups()
    assert (comm, tid) == ('works', prev)   # the name is the record's: /proc has none


def test_what_runs_outside_is_not_taken_for_an_idle_cpu(analyse, busy):
    """Its samples have tid 0, too, and no field with an id."""
    text = analyse('trace', '-a', '-N', '1', '-e', 'cpu-clock:u', before=NAMESPACE).text
    assert re.search(r'(\S+) +(\S+) \[', text).groups() == ('<outside>', '-'), text
    row, = analyse('trace', '-a', '-N', '1', '-e', 'cpu-clock:u', '--json', before=NAMESPACE).lines
    assert row['comm'] == '<outside>' and 'tid' not in row and 'pid' not in row, row


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
def test_the_kernels_work_for_tasks_outside_is_not_that_of_an_idle_cpu(analyse):
    """Without a call chain that the user has asked for."""
    def measure():
        text = analyse('trace', '-a', '-N', '300', '-e', 'cpu-clock:k', before=NAMESPACE).text
        seen = set(re.findall(r'(\S+) +(\S+) \[\d+\]', text))
        return None if ('<outside>', '-') in seen and ('swapper', '-') not in seen else text
    attempts(measure)


@pytest.mark.usefixtures('idle_functions', 'calling')
def test_an_idle_cpu_is_known_by_its_call_chain(analyse):
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
    def measure():
        got = analyse('top', '-a', '--only-comm', '-k', key, '-e', 'raw_syscalls:sys_enter', '--json', '--', 'sleep', '0.2',
                      before=NAMESPACE)
        return None if '<outside>' in names(got) and 'swapper' not in names(got) else got.text
    attempts(measure)


def test_top_names_tasks_outside_by_fields(analyse, busy):
    def measure():
        got = analyse('top', '-a', '-k', 'next_pid', '-e', 'sched:sched_switch', '--json', '--', 'sleep', '0.3',
                      before=NAMESPACE)
        return None if 'works' in names(got) else got.text
    attempts(measure)


def test_a_profile_of_tasks_outside(analyse, busy):
    def measure():
        table = analyse('profile', '-a', '--sort', 'comm,pid', '--json', '--', 'sleep', '0.3', before=NAMESPACE).table('profile')
        rows = [row for row in table['rows'] if row['comm'] == '<outside>']
        return None if len(rows) == 1 and 'pid' not in rows[0] else table
    attempts(measure)


@pytest.mark.usefixtures('switches')
def test_time_on_the_cpu_has_the_names_of_tasks_outside(analyse, busy):
    def measure():
        got = analyse('profile', *RING, '-q', '-a', '--off-cpu', '--sort', 'comm', '--json', '--', 'sleep', '0.3', before=NAMESPACE)
        table, = (one for one in got.lines if one.get('table') == 'profile')
        return None if any(row['comm'] == 'works' and row['time'] for row in table['rows']) else table
    attempts(measure)


@pytest.mark.usefixtures('switches')
def test_a_recording_made_inside(shell, analyse, tmp_path):
    events = 'sched:sched_switch,sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_process_fork'

    def measure():
        got = shell(f'"$PROF" record -m 16M -a -e {events} -o in.data -- "$WORKS" sleeps')
        calls, total = sleeps(analyse('task-state', '--json', '--perins', '-I', tmp_path / 'in.data'))
        return None if got.pid in calls and total >= 250e6 else (got.pid, calls, total)
    attempts(measure)


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
