# SPDX-License-Identifier: Apache-2.0
"""event.print() names tasks as they were called when the event happened."""
import re
import signal
import subprocess
import threading

import pytest

from frame import requires

for word in ('tracefs', 'root'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))


def test_names_of_tasks_that_are_gone(prof, tmp_path):
    script = tmp_path / 's.py'
    script.write_text('def __sample__(e): e.print(timestamp=False)\n'
                      'def __interval__(): print("on", flush=True)\n')
    run = subprocess.Popen(
        [prof, 'python', '--order', '-i', '50', '-e', 'sched:sched_process_exec,sched:sched_process_exit', script],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    limit = threading.Timer(20, run.kill)
    limit.start()
    try:
        while run.stdout.readline() != 'on\n':
            assert run.poll() is None
        for _ in range(20):
            subprocess.run(['sh', '-c', 'true; exec sleep 0.001'], check=True)
        out = ''
        while 'sched_process_exit: comm=sleep' not in out:
            line = run.stdout.readline()
            assert line, out
            out += line
        run.send_signal(signal.SIGINT)
        out += run.communicate(timeout=20)[0]
    finally:
        limit.cancel()
        run.kill()
    assert '<...>' not in out
    exits = re.findall(r'^ *(\S+) +(\d+) .*sched_process_exit: comm=(\S+) pid=(\d+) ', out, re.M)
    assert exits
    assert all(name == comm for name, _, comm, _ in exits if comm == 'sleep')
