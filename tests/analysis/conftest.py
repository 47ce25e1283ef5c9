# SPDX-License-Identifier: Apache-2.0
"""Runs of the commands that analyse, on work of which it is known how much it is."""
import contextlib
import functools
import os
import shutil
import subprocess

import pytest

from frame import analyses, requires
from frame.analyses import Waiting, Watcher
from frame.wakes import Awake


def pytest_collection_modifyitems(items):
    reason = next(filter(None, map(requires.why_not, ('tracefs', 'root'))), None)
    for item in items:
        if reason and item.fspath.ext == '.py' and item.get_closest_marker('live'):
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope='session')
def works(build):
    path = os.path.join(build, 'tests/helpers/works')
    if not os.path.exists(path):
        pytest.skip('needs tests/helpers/works')
    return path


@pytest.fixture
def switches():
    """Each switch is told, since no CPU is ever idle: of the idle task some kernels tell nobody."""
    with Awake(os.sched_getaffinity(0)):
        yield


@pytest.fixture(scope='session')
def perf():
    path = shutil.which('perf')
    if not path or subprocess.run([path, 'version'], capture_output=True).returncode:
        pytest.skip('needs perf')
    return path


@pytest.fixture
def analyse(prof, tmp_path):
    """analyse('syscalls', '-p', pid): a run of perf-prof in tmp_path (frame/analyses.py)."""
    return functools.partial(analyses.run, prof, tmp_path)


@pytest.fixture
def compiled(tmp_path):
    """compiled(source, option, ...): the program, in tmp_path."""
    if not shutil.which('gcc'):
        pytest.skip('needs gcc')
    return functools.partial(analyses.compiled, tmp_path)


def recorder(prof, make):
    def record(source, *options, to='job.data', how='fp', **kept):
        job = analyses.compiled(folder := make(), source, *options, **kept)
        return analyses.of_faults(prof, job, to=folder / to, how=how)
    return record


@pytest.fixture
def faults(prof, tmp_path):
    """faults(source, option, ...): a recording of all page faults of that C program, in user space."""
    return recorder(prof, lambda: tmp_path)


@pytest.fixture(scope='module')
def once(prof, tmp_path_factory):
    """once(source, option, ...): the same, made once for all tests that leave it and the program beside it as they are."""
    return functools.lru_cache(None)(recorder(prof, lambda: tmp_path_factory.mktemp('once')))


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
