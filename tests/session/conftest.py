# SPDX-License-Identifier: Apache-2.0
"""The module perf_prof as it was built, in this process, with known work; consumers of Arrow."""
import contextlib
import importlib
import os
import subprocess
import sys
import time

import pytest

from frame import requires
from known import PATIENCE, ROOT
from thread_checks import Waits

HERE = os.path.dirname(os.path.abspath(__file__))
READERS = os.path.join(HERE, 'readers', 'python')
collect_ignore = ['readers']


@pytest.fixture(scope='session')
def folder(build):
    """The folder that has the package."""
    found = os.path.join(build, 'python')
    if not os.path.isdir(os.path.join(found, 'perf_prof')):
        pytest.skip('needs a build with Python')
    return found


@pytest.fixture(scope='session')
def perf_prof(folder):
    sys.path.insert(0, folder)
    try:
        return importlib.import_module('perf_prof')
    except ImportError as error:
        pytest.skip(f'perf_prof was not built for {sys.version.split()[0]} ({error})')
    finally:
        sys.path.remove(folder)


@pytest.fixture
def live():
    """Tests with it open tracepoints of other tasks."""
    for reason in requires.root(), requires.tracefs():
        if reason:
            pytest.skip(reason)


@pytest.fixture(scope='session')
def reader():
    """reader(NAME): the package of that name, as tools/install-readers fetched it."""
    def get(name):
        if READERS not in sys.path:
            sys.path.append(READERS)
        try:
            return importlib.import_module(name)
        except ImportError as error:
            pytest.skip(f'needs {name} (tools/install-readers): {error}')
    return get


@pytest.fixture(scope='session')
def venv(perf_prof, tmp_path_factory):
    """An environment that has what tools/install-readers fetched, for the Python for which the package was built."""
    reason = requires.own_packages()
    if reason:
        pytest.skip(reason)
    path = tmp_path_factory.mktemp('env') / 'venv'
    subprocess.run([sys.executable, '-m', 'venv', '--without-pip', path], check=True)
    packages, = path.glob('lib/python3*/site-packages')
    for name in os.listdir(READERS) if os.path.isdir(READERS) else ():
        if not (packages / name).exists():
            os.symlink(os.path.join(READERS, name), packages / name)
    return path


@pytest.fixture(scope='session')
def fleet_of(folder, prof, reader):
    """fleet_of(FOLDER, HOSTS): examples/fleet makes their recordings there, and the dataset FOLDER/set. Returns
    run(NAME, WORDS...): what that example prints."""
    for reason in requires.root(), requires.tracefs():
        if reason:
            pytest.skip(reason)
    packages = os.path.dirname(os.path.dirname(reader('pyarrow').__file__))
    reader('duckdb')
    env = {**os.environ, 'PYTHONPATH': f'{folder}:{packages}', 'PATH': f'{os.path.dirname(prof)}:{os.environ["PATH"]}'}

    def run(name, *words, timeout=PATIENCE, **more):
        return subprocess.run([os.path.join(ROOT, 'examples', 'fleet', name), *map(str, words)], env={**env, **more}, check=True,
                              timeout=timeout, stdout=subprocess.PIPE, text=True).stdout

    def make(where, hosts):
        run('record.sh', where, len(hosts))
        told = run('collect.py', where / 'set', *(where / f'{host}.data' for host in hosts))
        assert [line.split(':')[0] for line in told.splitlines()] == hosts
        return run
    return make


@pytest.fixture
def run(folder):
    """run(CODE): what a new Python prints that has the package."""
    def start(code, check=0, **kwargs):
        done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=PATIENCE,
                              env={**os.environ, 'PYTHONPATH': folder}, **kwargs)
        assert done.returncode == check, done.stderr
        return done.stdout if check == 0 else done.stderr
    return start


@pytest.fixture
def storm_of(storm, live):
    """storm_of(N, RATE=0): a program that makes N calls of getppid."""
    with contextlib.ExitStack() as stack:
        def make(n, rate=0):
            made = stack.enter_context(Waits(storm, 'getppid', n, *[rate] * bool(rate)))
            made.n = n
            return made
        yield make


@pytest.fixture
def wait_for():
    """wait_for(CONDITION): until it is true, for at most a minute."""
    def wait(condition):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, condition
            time.sleep(0.01)
    return wait
