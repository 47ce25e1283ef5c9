# SPDX-License-Identifier: Apache-2.0
"""--container and names of units, with control groups and files as the managers of containers make them; functions of
programs that only a container has."""
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from frame import requires
from frame.session import ran

pytestmark = [pytest.mark.live('root', 'cgroup', 'unshare'), pytest.mark.slow]

WEB, DB, POD, POLL = '5e' * 32, '5eb' + '0' * 61, '77' * 32, 'ca' * 32
FILES = {
    f'/var/lib/docker/containers/{WEB}/config.v2.json': {'Name': '/pp-web', 'Config': {'Env': ['SECRET=1']}},
    '/var/lib/containers/storage/overlay-containers/containers.json': [{'id': POLL, 'names': ['pp-other']}, {'id': DB, 'names': ['pp-db']}],
    f'/run/containerd/io.containerd.runtime.v2.task/k8s.io/{POD}/config.json':
        {'annotations': {'io.kubernetes.cri.sandbox-name': 'pp-pod', 'io.kubernetes.cri.container-name': 'pp-c'}},
}


@pytest.fixture
def groups():
    """Makes control groups, and removes them."""
    lines = [line.split() for line in open('/proc/self/mounts')]
    mounts = [f[1] for f in lines if f[2] == 'cgroup' and 'perf_event' in f[3].split(',')] or [f[1] for f in lines if f[2] == 'cgroup2']
    top = f'{mounts[0]}/pp-test-{os.getpid()}.slice'
    made = [top]
    try:
        os.mkdir(top)
    except OSError as error:
        pytest.skip(f'needs to make a control group ({error.strerror})')

    def make(*names):
        for name in names:
            path = top
            for part in name.split('/'):
                path += '/' + part
                if path not in made:
                    os.mkdir(path)
                    made.append(path)
        return top
    yield make
    for path in reversed(made):
        os.rmdir(path)


@pytest.fixture
def run(prof, tmp_path):
    """Runs perf-prof where only these files name containers."""
    def run(*args, files=FILES, check=0, before=''):
        for path, content in files.items():
            place = tmp_path / path[1:]
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(content if isinstance(content, str) else json.dumps(content))
        for folder in ('var/lib', 'run'):
            (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        script = f'mount --bind {tmp_path}/var/lib /var/lib && mount --bind {tmp_path}/run /run && {before} "$@"'
        done = ran(['unshare', '-m', 'sh', '-c', script, 'sh', prof, *args])
        if 'mount:' in done.stderr:
            pytest.skip(f'needs to mount ({done.stderr.strip()})')
        assert done.returncode == check, done
        return done.stdout + done.stderr
    return run


@pytest.mark.parametrize('cgroup, names', [
    (f'docker-{WEB}.scope', ['pp-web', WEB, WEB[:12], '5e5']), (f'kubepods/podx/{POD}', ['pp-pod/pp-c', 'pp-pod', 'pp-c']),
    (f'machine.slice/libpod-{DB}.scope/container', ['pp-db']), ('machine-pp\\x2dvm.scope', ['pp-vm'])])
def test_found_by_name_or_id(run, groups, storm, cgroup, names):
    """The tasks of it alone are watched."""
    top = groups(cgroup, f'libpod-conmon-{WEB}.scope', f'crio-{POLL}.scope')
    inside = cgroup.removesuffix('/container')
    for name in names:
        out = run('stat', '--json', '-e', 'task-clock', '--container', name, '--', 'sh', '-c',
                  f'echo $$ > "{top}/{inside}/cgroup.procs" && {storm} getppid 20000 >&2; echo $$ > {top}/../cgroup.procs')
        doc = json.loads(out[out.index('{'):])
        assert doc['events'][0]['cgroup'] == {'d': 'pp-web', 'k': 'pp-pod/pp-c', 'm': 'pp-db'}.get(cgroup[0], '') or name == 'pp-vm'
        assert doc['events'][0]['value'] > 0
    out = run('stat', '--json', '-e', 'task-clock', '--container', names[0], '--', storm, 'getppid', '20000')
    assert json.loads(out[out.index('{'):])['events'][0]['value'] == 0


def test_mistakes(run, groups):
    groups(f'docker-{WEB}.scope', f'libpod-{DB}.scope', 'a/pp.service', 'b/pp.service', 'pp-nginx.service')
    stat = ['stat', '-e', 'task-clock']
    out = run(*stat, '--container', 'pp-wbe', '--', 'true', check=1)
    assert '--container pp-wbe: there is no such container; did you mean pp-web? These run: ' in out
    assert 'pp-web (5e5e5e5e5e5e)' in out and 'pp-db (5eb000000000)' in out and 'SECRET' not in out
    out = run(*stat, '--container', '5e', '--', 'true', check=2)
    assert '--container 5e: 2 containers match: ' in out and 'more of the id' in out
    assert 'did you mean pp-nginx.service?' in run(*stat, '--cgroup', 'pp-ngnix.service', '--', 'true', check=1)
    out = run(*stat, '--cgroup', 'pp.service', '--', 'true', check=2)
    assert '2 control groups have this name: ' in out and '/a/pp.service' in out and '/b/pp.service' in out
    assert 'pp-nginx.service' in run(*stat, '--cgroup', 'pp-nginx.service', '--', 'true')


@pytest.mark.live('nobody')
def test_names_that_only_root_sees(prof, groups):
    groups(f'docker-{WEB}.scope')
    done = ran(requires.as_nobody([prof, 'stat', '-e', 'task-clock', '--container', 'pp-web', '--', 'true']))
    assert done.returncode == 1 and '--container pp-web: this user sees no container of that name' in done.stderr, done
    assert 'run as root' in done.stderr and WEB[:12] in done.stderr, done


@pytest.mark.parametrize('content', ['', '{', '[]', '{"Name":5}', '{"Name":"/\\u001b[1m"}', '[' * 5000])
def test_files_that_make_no_sense(run, groups, content):
    groups(f'docker-{WEB}.scope')
    out = run('stat', '-e', 'task-clock', '--container', WEB, '--', 'true', files={next(iter(FILES)): content})
    assert 'task-clock' in out and '\x1b' not in out


def test_files_of_others_are_not_read(run, groups, tmp_path):
    """Root parses no file that another user could have written; the id finds it."""
    groups(f'docker-{WEB}.scope')
    own = 'chown -R nobody /var/lib/docker;'
    assert 'there is no such container' in run('stat', '--container', 'pp-web', '--', 'true', before=own, check=1)
    assert '5e5e5e5e5e5e' in run('stat', '-e', 'task-clock', '--container', '5e5e', '--', 'true', before=own)


SLEEPER = 'import time; print("ready", flush=True)\nwhile True: time.sleep(.001)'
ENTERER = 'import time\nend = time.monotonic() + 2.5\nwhile time.monotonic() < end: time.sleep(.001)'


@pytest.mark.deep
@pytest.mark.parametrize('command', [['task-state'], ['rundelay'], ['profile', '--off-cpu', '--sort', 'comm']])
def test_what_the_scheduler_does_with_the_tasks_of_a_container(run, groups, tmp_path, command):
    """Its events belong to whoever switches or wakes: those that are about tasks of the container count, and no others. So do
    those of a task that enters it meanwhile."""
    inside = groups(f'docker-{WEB}.scope') + f'/docker-{WEB}.scope/cgroup.procs'
    for name in ('pp-old', 'pp-new', 'pp-outside'):
        os.symlink(sys.executable, tmp_path / name)
    before = [subprocess.Popen([tmp_path / name, '-S', '-c', SLEEPER], stdout=subprocess.PIPE, text=True)
              for name in ('pp-old', 'pp-outside')]
    try:
        assert [p.stdout.readline() for p in before] == ['ready\n'] * 2
        with open(inside, 'w', encoding='ascii') as file:
            file.write(str(before[0].pid))
        out = run(*command, '--json', '--container', 'pp-web', '--', 'sh', '-c',
                  f"echo $$ > {inside} && exec {tmp_path}/pp-new -S -c '{ENTERER}'")
    finally:
        for p in before:
            p.kill()
            p.communicate()
    rows = json.loads(next(line for line in out.splitlines() if line.startswith('{"table"')))['rows']
    # /proc is asked when an event is read: on a busy machine the command has entered by then, and what it did before its exec counts
    assert {'pp-old', 'pp-new'} <= {row['comm'] for row in rows} <= {'pp-old', 'pp-new', 'sh', 'perf-prof'}
    if command == ['task-state']:
        assert {row['state'] for row in rows if row['comm'] == 'pp-old'} >= {'R', 'S'}


# ---- --sort cgroup

def in_groups(top, work):
    """Shell: works in a container, in a group within it, and in a group that exists only meanwhile."""
    enter = 'echo $$ > "{0}/cgroup.procs" && %s; ' % work
    return (enter.format(f'{top}/docker-{WEB}.scope') + enter.format(f'{top}/docker-{WEB}.scope/inner') +
            f'mkdir {top}/late; ' + enter.format(f'{top}/late') + f'echo $$ > {top}/../cgroup.procs; rmdir {top}/late')


def shares(out):
    return {row['cgroup']: row['self'] for row in json.loads(out[out.index('{"table"'):].splitlines()[0])['rows']}


@pytest.mark.deep
def test_rows_by_group(run, groups, storm, tmp_path):
    """Live, and in a recording when the groups are gone; in perf's, too. Each part of the work has a third of the faults."""
    top = groups(f'docker-{WEB}.scope/inner')
    late = f'{top[top.rindex("/"):]}/late'
    work = in_groups(top, 'python3 -S -c "bytearray(8 << 20)"')
    live = shares(run('page-faults', '--json', '--sort', 'cgroup', '--', 'sh', '-c', work))
    assert live['pp-web'] == pytest.approx(2 * live[late], rel=0.2) and live['pp-web'] > 50
    run('record', '-q', '--all-cgroups', '-e', 'page-faults', '-o', str(tmp_path / 'x.data'), '--', 'sh', '-c', work)
    later = shares(run('report', '--json', '--sort', 'container', str(tmp_path / 'x.data')))
    assert later['pp-web'] == pytest.approx(live['pp-web'], rel=0.1) and later[late] == pytest.approx(live[late], rel=0.1)
    assert sum(later.values()) == pytest.approx(100)
    stacks = run('report', '--sort', 'cgroup', str(tmp_path / 'x.data'))
    assert re.search(rf'^ *[\d.]+ +[\d.]+  {late}$', stacks, re.M)


def test_rows_by_group_are_those_of_perf(run, prof, groups, storm, tmp_path):
    perf = shutil.which('perf')
    top = groups(f'docker-{WEB}.scope/inner')
    path = str(tmp_path / 'p.data')
    if not perf or subprocess.run([perf, 'record', '-q', '--all-cgroups', '-e', 'page-faults', '-c', '1', '-o', path, '--', 'sh', '-c',
                                   in_groups(top, 'ls >/dev/null')], timeout=60).returncode:
        pytest.skip('needs a perf with --all-cgroups')
    text = ran([perf, 'report', '-f', '-i', path, '--stdio', '--sort', 'cgroup']).stdout
    theirs = {}
    for share, name in re.findall(r'^ +([\d.]+)% +(/\S*)', text, re.M):
        name = 'pp-web' if WEB in name else name
        theirs[name] = theirs.get(name, 0) + float(share)
    assert shares(run('report', '--json', '--sort', 'cgroup', path)) == pytest.approx(theirs, abs=0.02) and len(theirs) >= 3


def test_a_recording_without_groups(run, groups, tmp_path):
    run('record', '-q', '-e', 'cpu-clock', '-o', str(tmp_path / 'x.data'), '--', 'true')
    groups(f'docker-{WEB}.scope')
    assert '--container with --input: a recording does not say which tasks were in pp-web' in run(
        'report', '--container', 'pp-web', '-I', str(tmp_path / 'x.data'), check=2)
    out = run('report', '--sort', 'cgroup', str(tmp_path / 'x.data'), check=2)
    assert 'do not say the control group of their task; record with --all-cgroups' in out
    assert 'no rows by pid, tid, cpu or cgroup' in run('profile', '--off-cpu', '--sort', 'cgroup', '--', 'true', check=2)


# ---- symbols

SPIN = """#include <stdio.h>
static volatile long x;
__attribute__((noinline)) void %s(void) { for (long i = 0; i < 100000; i++) x += i; }
int main(void) { puts("ready"); fflush(stdout); for (;;) %s(); }
"""


def compiled(folder, name, function):
    if not shutil.which('cc'):
        pytest.skip('needs a C compiler')
    (folder / f'{function}.c').write_text(SPIN % (function, function))
    subprocess.run(['cc', '-O1', '-Wl,--build-id', '-o', folder / name, folder / f'{function}.c'], check=True)
    return folder / name


def test_functions_of_a_recorded_program_that_only_its_namespace_has(prof, tmp_path):
    """While it runs: its path leads to another program in our root, whose names would be wrong."""
    real, other = compiled(tmp_path, 'real', 'inside_only'), compiled(tmp_path, 'seen', 'outside_only')
    script = f'mount --bind {real} {other} && exec {other}'
    recording = tmp_path / 'x.data'
    with subprocess.Popen(['unshare', '-m', 'sh', '-c', script], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == 'ready\n'
            subprocess.run([prof, 'record', '-q', '-e', 'cpu-clock', '-N', '20', '-p', str(process.pid), '-o', recording],
                           check=True, timeout=60)
            report = [prof, 'report', '--json', '-e', 'cpu-clock', '-I', recording]
            during = ran(report, check=True).stdout
        finally:
            process.kill()
    after = ran(report, check=True).stdout
    assert '"inside_only"' in during and 'outside_only' not in during + after


@pytest.mark.parametrize('how, path, found', [([], 'd/' * 39 + 'd', True), (['setpriv', '--bounding-set=-dac_read_search'], 'd', True),
                                              (['setpriv', '--bounding-set=-dac_read_search'], 'd/' * 39 + 'd', False)])
def test_a_group_of_a_sample(prof, groups, how, path, found):
    """The kernel is asked for its path; without the right for that, a walk finds it, which ends at a depth of 32."""
    top = groups(path)
    done = ran([*how, prof, 'profile', '-e', 'cpu-clock', '--sort', 'cgroup', '--json', '--', 'sh', '-c', f'echo $$ > {top}/{path}/cgroup.procs && '
                'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done'])
    assert done.returncode == 0 and (f'{os.path.basename(top)}/{path}"' in done.stdout) == found, done
    assert found or '[unknown]' in done.stdout
