# SPDX-License-Identifier: Apache-2.0
"""event.print() names tasks as they were called when the event happened."""
import re
import signal
import subprocess
import threading

import pytest

from frame import again, requires

for word in ('tracefs', 'root'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))


def names_of_exits(prof, script):
    """What event.print() printed, and stderr."""
    run = subprocess.Popen(
        [prof, 'python', '-v', '--order', '-i', '50', '-e', 'sched:sched_process_exec,sched:sched_process_exit', script],
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
        more, errors = run.communicate(timeout=20)
        return out + more, errors
    finally:
        limit.cancel()
        run.kill()


def test_names_of_tasks_that_are_gone(prof, tmp_path):
    script = tmp_path / 's.py'
    script.write_text('def __sample__(e): e.print(timestamp=False)\n'
                      'def __interval__(): print("on", flush=True)\n')
    for _ in range(again.TRIES):
        out, errors = names_of_exits(prof, script)
        if 'may be shown with an old name' not in errors:    # COMM records were lost on a busy machine
            break
    assert '<...>' not in out
    exits = re.findall(r'^ *(\S+) +(\d+) .*sched_process_exit: comm=(\S+) pid=(\d+) ', out, re.M)
    assert exits
    assert all(name == comm for name, _, comm, _ in exits if comm == 'sleep'), out + errors
