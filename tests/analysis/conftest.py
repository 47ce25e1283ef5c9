# SPDX-License-Identifier: Apache-2.0
"""Runs of the commands that analyse, on work of which it is known how much it is."""
import contextlib
import os
import shutil
import signal
import subprocess
import sys

import pytest

from frame import again, declared, requires
from frame.analyses import TIMEOUT, Result, Waiting, Watcher
from frame.wakes import Awake

TRIES = 4


def pytest_collection_modifyitems(items):
    reason = next(filter(None, map(requires.why_not, ('tracefs', 'root'))), None)
    for item in items:
        if reason and item.fspath.ext == '.py':
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope='session')
def works(build):
    path = os.path.join(build, 'tests/helpers/works')
    if not os.path.exists(path):
        pytest.skip('needs tests/helpers/works')
    return path


def told_cpus(prof):
    """CPUs whose idle task's switches the kernel tells: a kernel that once left perf's recursion
    counter up in a task tells none of that task any more (seen on 6.18), whoever listens."""
    told = set()
    for cpu in sorted(os.sched_getaffinity(0)):
        sleeper = subprocess.Popen(['taskset', '-c', str(cpu), sys.executable, '-c',
                                    'import time\nfor i in range(40): time.sleep(0.02)'])
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run([prof, 'trace', '-e', 'sched:sched_switch/prev_pid==0/', '-C', str(cpu),
                                   '-N', '1'], capture_output=True, text=True, timeout=1)
            told |= {cpu} if 'sched_switch' in done.stdout else set()
        sleeper.wait()
    return told


@pytest.fixture(scope='session', autouse=True)
def cpus(prof):
    """All that runs here does so on CPUs of which the kernel tells what they do."""
    before = os.sched_getaffinity(0)
    good = told_cpus(prof)
    if good:
        os.sched_setaffinity(0, good)
    yield good
    os.sched_setaffinity(0, before)


@pytest.fixture
def switches(cpus):
    """Each switch is told: by the CPUs that `cpus` has found, or since none is ever idle."""
    with Awake(() if cpus else os.sched_getaffinity(0)):
        yield


@pytest.fixture(scope='session')
def perf():
    path = shutil.which('perf')
    if not path or subprocess.run([path, 'version'], capture_output=True).returncode:
        pytest.skip('needs perf')
    return path


@pytest.fixture
def analyse(prof, tmp_path):
    """analyse('syscalls', '-p', pid): a run that has ended well, with nothing on stderr: again where others had the CPU."""
    def run(*args, code=0, before=()):
        argv = [*map(str, before), prof, *map(str, args)]
        for _ in range(TRIES):
            done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT,
                                  stdin=subprocess.DEVNULL, env=declared.environment({'cmd': ''}))
            # perf dies of a recording beside one that asks for build ids (tests/live/test_unwinding.py)
            died = before and done.returncode == -signal.SIGABRT
            said = '' if code or before else declared.without_lowered_rates(done.stderr)
            late = said and not done.returncode and '--' in args and not again.said(said)
            if not died and not late:
                break
        assert done.returncode == code, (argv, done)
        assert not said, done.stderr
        return Result(done)
    return run


@pytest.fixture
def faults(prof, tmp_path):
    """faults(source, ...): a recording of all page faults of that C program, in user space. keep: and its copy in ~/.debug."""
    def record(source, *options, name='job', folder='.', keep=False):
        folder = tmp_path / folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f'{name}.c').write_text(source)
        subprocess.run(['gcc', '-O1', '-g', '-fno-omit-frame-pointer', '-o', folder / name, folder / f'{name}.c', *options],
                       check=True)
        subprocess.run([prof, 'record', *([] if keep else ['--no-buildid-cache']), '-e', 'page-faults:u', '-c', '1', '-g',
                        '-o', tmp_path / 'job.data', '--', folder / name], check=True, capture_output=True, timeout=60)
        return tmp_path / 'job.data'
    return record


@pytest.fixture
def waiting(works):
    with contextlib.ExitStack() as stack:
        def start(*args):
            one = Waiting(works, args)
            stack.callback(one.finish)
            return one
        yield start


@pytest.fixture
def watch(prof, tmp_path):
    with contextlib.ExitStack() as stack:
        def start(*args):
            one = Watcher([prof, *map(str, args), '--json', '-i', '100'], tmp_path)
            stack.callback(one.process.wait)
            stack.callback(one.process.kill)
            return one
        yield start
