# SPDX-License-Identifier: Apache-2.0
"""Runs of the commands that analyse, on work of which it is known how much it is."""
import contextlib
import os
import shutil
import subprocess

import pytest

from frame import declared, requires
from frame.analyses import TIMEOUT, Result, Waiting, Watcher


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


@pytest.fixture(scope='session')
def perf():
    path = shutil.which('perf')
    if not path or subprocess.run([path, 'version'], capture_output=True).returncode:
        pytest.skip('needs perf')
    return path


@pytest.fixture
def analyse(prof, tmp_path):
    """analyse('syscalls', '-p', pid): a run that has ended well, with nothing on stderr."""
    def run(*args, code=0, before=()):
        argv = [*map(str, before), prof, *map(str, args)]
        done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT,
                              stdin=subprocess.DEVNULL, env=declared.environment({'cmd': ''}))
        assert done.returncode == code, (argv, done)
        assert code or before or not done.stderr, done.stderr
        return Result(done)
    return run


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
