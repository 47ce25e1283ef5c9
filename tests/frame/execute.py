# SPDX-License-Identifier: Apache-2.0
"""Runs a test runner of another kind, with a deadline."""
import os
import signal
import subprocess

SUITE_SECONDS = 1100        # no suite may hang the run


def execute(argv, cwd, env=None):
    """(exit code, output); its whole process group is ended at the deadline."""
    proc = subprocess.Popen(argv, cwd=cwd, env={**os.environ, **(env or {})},
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, errors='replace',
                            start_new_session=True)
    try:
        out, _ = proc.communicate(timeout=SUITE_SECONDS)
        return proc.returncode, out
    except subprocess.TimeoutExpired:
        os.killpg(proc.pid, signal.SIGKILL)
        out, _ = proc.communicate()
        return -signal.SIGKILL, f'{out}\nended after {SUITE_SECONDS} s'
