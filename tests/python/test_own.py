# SPDX-License-Identifier: Apache-2.0
"""What perf-prof starts for itself is its own: on all CPUs none of its events is delivered. Needs root."""
import contextlib
import re
import signal
import subprocess
import sys
import threading

import pytest

from frame.declared import environment
from frame.requires import root, tracefs

pytestmark = pytest.mark.skipif(root() or tracefs(), reason=str(root() or tracefs()))

PATIENCE = 60

# Programs with large tables of symbols, and page faults in them: again and again, since each may be
# looked up already.
PROGRAM = 'import ctypes, decimal, json, sqlite3, ssl; [bytearray(1 << 20) for i in range(300)]'
SCRIPT = """
import os
seen, named = {}, set()
def who(pid):
    try:
        with open(f'/proc/{pid}/stat') as f:
            head, _, rest = f.read().rpartition(')')
    except OSError:
        return 'gone', 0
    return head.partition('(')[2], int(rest.split()[3])
def __sample__(event):
    pid = event._pid
    if pid not in seen:
        seen[pid] = who(pid)
    named.update(f['dso'] for f in event._callchain if not f['kernel'] and f['symbol'] != '[unknown]')
    if len(named) > 2:
        print('parsed', flush=True)
def __exit__():
    for pid, (comm, session) in seen.items():
        if session == os.getsid(0) and pid != os.getpid():
            print('own', comm, pid)
    print('ended')
"""


@contextlib.contextmanager
def faulting():
    """A program that is started anew all the time, in a session of its own."""
    one = subprocess.Popen(['sh', '-c', 'while :; do "$0" -c "$1"; done', sys.executable, PROGRAM],
                           start_new_session=True)
    try:
        yield
    finally:
        one.kill()
        one.wait()


def test_no_event_of_a_process_that_it_started(prof, tmp_path):
    (tmp_path / 's.py').write_text(SCRIPT)
    with faulting():
        one = subprocess.Popen([prof, 'python', '-v', '-e', 'page-faults/-g/,profile/-g/', 's.py'], cwd=tmp_path,
                               text=True, start_new_session=True, env=environment({'cmd': 'python'}),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        watchdog = threading.Timer(PATIENCE, one.kill)
        watchdog.start()
        parsed = 'parsed\n' in iter(one.stdout.readline, '')
        watchdog.cancel()
        one.send_signal(signal.SIGINT)
        out, err = one.communicate(timeout=PATIENCE)
    assert parsed and one.returncode == 0 and out.endswith('ended\n'), (out[-300:], err)
    assert not re.findall(r'^own .*', out, re.M)
    # its tables are some megabytes: they were read
    assert int(re.search(r"(\d+) (?:of them )?events of perf-prof itself", err).group(1)) > 100, err
