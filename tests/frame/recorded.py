# SPDX-License-Identifier: Apache-2.0
"""Recordings at which several tests look, made once for a run of the tests: RECIPES has a command for each. A test takes one by
the fixture `recorded` (recorded('calls') is its path), a declared case as {recorded.calls}; both are `live` then."""
import fcntl
import os
import re
import subprocess
import tempfile

TIMEOUT = 120
FOLDER = 'PERF_PROF_RECORDED'       # in the environment: where those of this run are

# {works} is of tests/helpers; its path is in the recording.
RECIPES = {
    # 100 getppid, 7 close that fail, 5 openat that fail, 3 clock_nanosleep
    'calls': '{prof} record -q -m 16M -e raw_syscalls:* -o {out} -- {works} calls',
    # functions with known shares of the CPU time
    'shares': '{prof} record -q -g -e cpu-clock -F 997 -o {out} -- {works} shares 300',
}
NAME = re.compile(r'\{recorded\.(\w+)\}')


def folder():
    if FOLDER not in os.environ:
        os.environ[FOLDER] = tempfile.mkdtemp(prefix='recorded-by-perf-prof-')
    return os.environ[FOLDER]


def path(name, build):
    """That recording's path; the first who asks makes it, the others wait."""
    out = os.path.join(folder(), f'{name}-{os.path.basename(build)}.data')
    with open(out + '.lock', 'a') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(out):
            command = RECIPES[name].format(prof=f'{build}/perf-prof', works=f'{build}/tests/helpers/works', out=out + '.part')
            done = subprocess.run(command.split(), capture_output=True, text=True, timeout=TIMEOUT)
            assert done.returncode == 0, (command, done.stdout, done.stderr)
            os.rename(out + '.part', out)
    return out
