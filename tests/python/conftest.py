# SPDX-License-Identifier: Apache-2.0
"""The module pyperf as it was built, in this process; and runs of `perf-prof python`."""
import importlib
import os
import subprocess
import sys

import pytest

from frame import again, declared


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


class Runner:
    """Runs `perf-prof python` in a folder of its own."""

    def __init__(self, prof, folder):
        self.prof, self.folder = prof, folder

    def __call__(self, *args, event='sched:sched_wakeup', events=1, check=0, cwd=None, env=None,
                 until=None, timeout=30):
        """The finished run, which ended with exit code `check` (None: any) and, with 0, with
        nothing on stderr: after `events` events, or by SIGINT once stdout shows `until` (then events
        may be lost: what came by the end is delivered for 500 ms)."""
        argv = [self.prof, 'python', '-e', event]
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
            assert check or not (again.said(said) if until else said), done
        return done


@pytest.fixture
def python(prof, tmp_path):
    return Runner(prof, tmp_path)
