# SPDX-License-Identifier: Apache-2.0
"""Runs a test runner of another kind, with a deadline."""
import contextlib
import os
import signal
import subprocess
import threading
import time

SUITE_SECONDS = 2400        # nothing may hang the run; a slow machine builds with sanitizers for half of it
GOODBYE_SECONDS = 10        # for pytest to end what its tests have started

_running = set()
_changed = threading.Lock()
_over = False               # nothing is started any more


class Ended(Exception):
    """The run was interrupted."""


def execute(argv, cwd, env=None):
    """(exit code, output); its whole process group is ended at the deadline."""
    with _changed:
        if _over:
            raise Ended
        proc = subprocess.Popen(argv, cwd=cwd, env={**os.environ, **(env or {})},
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, errors='replace',
                                start_new_session=True)
        _running.add(proc)
    try:
        out, _ = proc.communicate(timeout=SUITE_SECONDS)
        return proc.returncode, out
    except subprocess.TimeoutExpired:
        end_group(proc, signal.SIGKILL)
        out, _ = proc.communicate()
        return -signal.SIGKILL, f'{out}\nended after {SUITE_SECONDS} s'
    finally:
        _running.discard(proc)


def end_group(proc, number):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(proc.pid, number)


def end_all():
    """What runs is asked to end, then made to; who waits for it in execute() gets its exit code."""
    global _over
    with _changed:
        _over = True
        running = set(_running)
    for proc in running:
        end_group(proc, signal.SIGINT)
    deadline = time.monotonic() + GOODBYE_SECONDS
    while _running and time.monotonic() < deadline:
        time.sleep(0.05)
    for proc in running:
        end_group(proc, signal.SIGKILL)
