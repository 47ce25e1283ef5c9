# SPDX-License-Identifier: Apache-2.0
"""Threads that share a session, an aggregate or a batch, with as many switches between them as the interpreter makes.
The wheel suite runs those without events in the newest Python of the machine."""
import os
import subprocess
import sys

import pytest

from frame import requires
from known import PATIENCE, RECORDING
from thread_checks import CHECKS, LIVE

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'thread_checks.py')


@pytest.mark.parametrize('check', [pytest.param(name, marks=[pytest.mark.live] if check in LIVE else [])
                                   for name, check in CHECKS.items()])
def test_threads(folder, storm, check):
    reason = CHECKS[check] in LIVE and (requires.root() or requires.tracefs())
    if reason:
        pytest.skip(reason)
    done = subprocess.run([sys.executable, PROGRAM, check, storm, RECORDING], capture_output=True, text=True, timeout=2 * PATIENCE,
                          env={**os.environ, 'PYTHONPATH': folder})
    assert done.returncode == 0 and done.stdout.startswith(f'{check}: ok'), (done.stdout, done.stderr)
    assert done.stderr == ''
