# SPDX-License-Identifier: Apache-2.0
"""Pythons that call their functions through trampolines for perf: `-X perf`."""
import functools
import glob
import os
import shutil
import subprocess

PYENV = os.path.expanduser('~/.pyenv/versions/3.*/bin/python3')      # of the user: tests have a HOME of their own


@functools.lru_cache(None)
def pythons():
    """Those with a trampoline, 3.12 and later, by their versions."""
    found = {}
    for name in ['python3', 'python3.12', 'python3.13', 'python3.14',
                 *glob.glob(PYENV)]:
        path = shutil.which(name)
        done = path and subprocess.run([path, '-c', 'import sys; sys.activate_stack_trampoline("perf"); '
                                        'print(sys.executable, "%d.%d" % sys.version_info[:2])'],
                                       capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done and not done.returncode:
            executable, version = done.stdout.split()
            found.setdefault(version, executable)
    return found
