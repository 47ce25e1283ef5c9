# SPDX-License-Identifier: Apache-2.0
"""The module pyperf as it was built, in this process; and runs of `perf-prof python`."""
import importlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile

import pytest

from frame import declared, requires

RECORDING = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'data/perfdata/ours.data')

# A job in the background has no SIGINT, and one of nohup no SIGHUP; the programs that tests start do: a handler is not inherited by them.
for number in signal.SIGINT, signal.SIGHUP:
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda *_: None)


def pytest_runtest_setup(item):
    """@pytest.mark.live(WORDS): the test is skipped where one of these is not there (frame/requires.py)."""
    for mark in item.iter_markers('live'):
        for reason in filter(None, map(requires.why_not, mark.args)):
            pytest.skip(reason)


@pytest.fixture(scope='session')
def pyperf(build):
    folder = os.path.join(build, 'python')
    if not os.path.isdir(os.path.join(folder, 'pyperf')):
        pytest.skip('needs a build with Python')
    sys.path.insert(0, folder)
    try:
        return importlib.import_module('pyperf')
    except ImportError as error:
        pytest.skip(f'pyperf was not built for {sys.version.split()[0]} ({error})')
    finally:
        sys.path.remove(folder)


@pytest.fixture(scope='session')
def helper(build):
    """helper('callers'): the path of a program of tests/helpers."""
    def path(name):
        found = os.path.join(build, 'tests/helpers', name)
        if not os.path.exists(found):
            pytest.skip(f'needs the helper {name}, and what it is built from')
        return found
    return path


@pytest.fixture(scope='session')
def need(prof):
    """need('elfutils'): skips a test of a build without."""
    options = subprocess.run([prof, 'version', '--build-options'], capture_output=True, text=True, check=True).stdout

    def look(library):
        if f'{library}: no' in options:
            pytest.skip(f'needs a build with {library}')
    return look


@pytest.fixture
def folder():
    """A folder of nobody's that all can read: pytest's own are root's alone."""
    path = pathlib.Path(tempfile.mkdtemp(prefix='perf-prof-python-'))
    os.chmod(path, 0o755)
    os.chown(path, requires.NOBODY, pwd.getpwnam('nobody').pw_gid)
    yield path
    shutil.rmtree(path)


class Runner:
    """Runs `perf-prof python` in a folder of its own, of live events or of `source`."""

    def __init__(self, prof, folder, *source):
        self.prof, self.folder, self.source = prof, folder, source

    def __call__(self, *args, event='sched:sched_wakeup', events=1, check=0, cwd=None, env=None, until=None, timeout=30):
        """The finished run, which ended with exit code `check` (None: any) and, with 0, with
        nothing on stderr: after `events` events, or by SIGINT once stdout shows `until` (then losses
        may be told: what came by the end is delivered for 500 ms)."""
        argv = [self.prof, 'python', *self.source, '-e', event]
        if events and not until:
            argv += ['-N', str(events)]
        argv += [str(a) for a in args]
        case = {'name': 'run', 'cmd': argv, 'env': env or {}, 'timeout': timeout}
        if until:
            case['signals'] = [{'send': 'INT', 'on': until}]
        run = declared.Run(case, cwd or self.folder)
        done = subprocess.CompletedProcess(argv, run.code, run.stdout, run.stderr)
        assert not run.trouble, (run.trouble, done)
        if check is not None:
            assert done.returncode == check, done
            said = declared.without_lowered_rates(done.stderr)
            assert check or not said or until and 'Traceback' not in said, done
        return done


@pytest.fixture
def python(prof, tmp_path):
    return Runner(prof, tmp_path)


@pytest.fixture
def replay(prof, tmp_path):
    """Of a recording: 34 sched:sched_wakeup, 87 sched:sched_switch and more within 0.9 s."""
    return Runner(prof, tmp_path, '-I', RECORDING)
