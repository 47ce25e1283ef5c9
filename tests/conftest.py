# SPDX-License-Identifier: Apache-2.0
"""What the Python suites share: where the built program is, and cases declared in TOML."""
import os
import shutil
import subprocess
import sys

import pytest

TESTS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(TESTS)
sys.path.insert(0, TESTS)

from frame import declared  # noqa: E402
from frame.wakes import Waker  # noqa: E402

WOKEN = 'cli', 'examples', 'python'     # folders whose tests wait for wakeups


def pytest_addoption(parser):
    parser.addoption('--build', default=os.path.join(ROOT, 'build'),
                     help='build folder whose programs are tested')


def pytest_configure(config):
    config.addinivalue_line('markers', 'slow: left out of the run under sanitizers')


def pytest_collection_modifyitems(items):
    for item in items:      # for JUnit's report, which has no words that run a case alone
        item.user_properties.append(('node', item.nodeid))


def pytest_collection_finish(session):
    """Cases that are declared know no fixtures: what there is for them all is begun here."""
    if any(item.path.parent.name in WOKEN for item in session.items):
        session.config.waker = Waker()


def pytest_sessionfinish(session):
    if hasattr(session.config, 'waker'):
        session.config.waker.stop()


@pytest.fixture(scope='session')
def build(request):
    return os.path.abspath(request.config.getoption('--build'))


@pytest.fixture(scope='session')
def prof(build):
    """Path of the built perf-prof."""
    return os.path.join(build, 'perf-prof')


@pytest.fixture(scope='session')
def storm(build):
    """Path of the program that makes a known number of system calls."""
    return os.path.join(build, 'tests/helpers/storm')


@pytest.fixture(scope='session')
def inlined(tmp_path_factory):
    """tests/helpers/inlined.cc, compiled: a C++ program that knows how long its inlined functions take."""
    if not shutil.which('g++'):
        pytest.skip('needs g++')
    program = tmp_path_factory.mktemp('cxx') / 'inlined'
    subprocess.run(['g++', '-O2', '-g', '-fno-omit-frame-pointer', '-o', program,
                    os.path.join(TESTS, 'helpers/inlined.cc')], check=True)
    return program


def pytest_collect_file(file_path, parent):
    if file_path.suffix == '.toml':
        return declared.File.from_parent(parent, path=file_path)
    return None
