# SPDX-License-Identifier: Apache-2.0
"""What the Python suites share: where the built program is, and cases declared in TOML."""
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile

import pytest

TESTS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(TESTS)
sys.path.insert(0, TESTS)

from frame import crashes, declared, limit, ratelimit, requires  # noqa: E402
from frame import recorded as recordings  # noqa: E402
from frame.wakes import Waker  # noqa: E402

WOKEN = 'cli', 'examples', 'python'     # folders whose tests wait for wakeups

MARKERS = (
    'live: needs events of this kernel, root or another process: `make test` runs it, not `make check`',
    'deep: takes long; `make test-deep` runs it, not `make test`',
    'slow: left out of the run under sanitizers; with `deep`, `make test-deep` runs it without them',
    'soak: holds on a machine at rest alone, or takes minutes: `make test-soak` runs it',
    'alone: changes a sysctl (and puts it back) or needs the machine to itself: nothing else of the tests runs beside it',
)


def pytest_addoption(parser):
    parser.addoption('--build', default=os.path.join(ROOT, 'build'),
                     help='build folder whose programs are tested')
    parser.addoption('--beside-others', metavar='FILE',
                     help='other tests run at the same time: what is marked `alone` is left out, and named in FILE')


def pytest_configure(config):
    for marker in MARKERS:
        config.addinivalue_line('markers', marker)
    crashes.watch()


@pytest.hookimpl(tryfirst=True)       # before -m picks among them
def pytest_collection_modifyitems(config, items):
    for item in items:
        if 'recorded' in getattr(item, 'fixturenames', ()):
            item.add_marker('live')
        if 'chromium' in getattr(item, 'fixturenames', ()):
            item.add_marker('deep')
            item.add_marker('slow')
    if config.getoption('--beside-others'):
        lonely = [item for item in items if item.get_closest_marker('alone')]
        with open(config.getoption('--beside-others'), 'w') as left_out:
            left_out.writelines(f'{item.nodeid}\n' for item in lonely)
        items[:] = [item for item in items if item not in lonely]
        config.hook.pytest_deselected(items=lonely)


@pytest.fixture(scope='session', autouse=True)
def home():
    """Recordings keep sampled programs in ~/.debug: not in that of the user who runs the tests."""
    with tempfile.TemporaryDirectory(prefix='perf-prof-home-') as path, pytest.MonkeyPatch.context() as patch:
        patch.setenv('HOME', path)
        yield path


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    """What changes the limit of samples does it while no other test runs, not even one of another run of the tests."""
    declared.alone = bool(item.get_closest_marker('alone'))
    with contextlib.nullcontext() if declared.alone else ratelimit.unchanged():
        yield


@pytest.hookimpl(hookwrapper=True)
def limited(item):
    """Each step of a test has a limit: the preparation, the test itself, and the tidying up."""
    with limit.limited():
        yield


pytest_runtest_setup = pytest_runtest_call = pytest_runtest_teardown = limited


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """What crashed while the test ran becomes a property of it in the report."""
    if crashes.seen:
        item.user_properties.append(('crashed', '; '.join(crashes.seen)))
        crashes.seen.clear()
    yield


def pytest_collection_finish(session):
    """Cases that are declared know no fixtures: what there is for them all is begun here."""
    if any(item.path.parent.name in WOKEN and item.get_closest_marker('live') for item in session.items):
        session.config.waker = Waker()
        session.config.waker.__enter__()


def pytest_sessionfinish(session):
    if hasattr(session.config, 'waker'):
        session.config.waker.__exit__()


@pytest.fixture(scope='session')
def build(request):
    return os.path.abspath(request.config.getoption('--build'))


@pytest.fixture(scope='session')
def recorded(build):
    """recorded('calls'): the path of a recording that is made once for all (frame/recorded.py)."""
    reason = requires.why_not('root') or requires.why_not('tracefs')
    if reason:
        pytest.skip(reason)
    return lambda name: recordings.path(name, build)


@pytest.fixture
def rate_limit():
    """rate_limit(N): kernel.perf_event_max_sample_rate is N until the test ends. For tests with the marker `alone`."""
    limit = ratelimit.RateLimit()
    if limit.why_not:
        pytest.skip(limit.why_not)
    yield limit.set
    limit.put_back()


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
