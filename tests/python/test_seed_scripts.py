# SPDX-License-Identifier: Apache-2.0
"""The scripts that the manual of `perf-prof python` prints: seed_scripts/ holds their text to the letter, and here are its
command lines, but for larger rings: a busy machine has more events."""
import os
import re
import subprocess
import sys

import pytest

from frame.session import Session

pytestmark = pytest.mark.live('tracefs', 'root')

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'seed_scripts')


@pytest.fixture
def busy():
    """Somebody who runs, sleeps and is woken."""
    text = 'import time\nwhile True:\n    sum(range(20000))\n    time.sleep(0.002)\n'
    with subprocess.Popen([sys.executable, '-S', '-c', text]) as process:
        yield
        process.kill()


WAKEUP = ['-e', 'sched:sched_wakeup']
STACKS = [r'^=== Top Wakeup Stacks ===$', r'^ *\d+  [a-z_]\w*( <- [\w.]+){1,4}$']
# (name, words, what is shown in this order, and at the end)
SCRIPTS = [
    ('counter', WAKEUP, [r'^Events: [1-9]\d*$', r'^Events: \d+$'], r'^Done$'),
    ('wakeup_analyzer', WAKEUP, [r'^COMM {12}      PID    COUNT CPUS$', r'^\S.{15} +\d+ +\d+ \d+(,\d+)*$'], ''),
    ('latency', ['-e', 'sched:sched_wakeup,sched:sched_switch'], [r'^Latency: avg=\d+\.\dus max=\d+\.\dus samples=[1-9]\d*$'], ''),
    ('callstack_analyzer', [*WAKEUP, '-g'], STACKS, r'^=== Final Wakeup Stack Summary ===$'),
    ('callstack_analyzer', ['-e', 'sched:sched_wakeup//stack/'], STACKS, r'^=== Final Wakeup Stack Summary ===$'),
    ('callstack_analyzer', [*WAKEUP, '-g', '--user-callchain'], STACKS, r'^=== Final Wakeup Stack Summary ===$'),
    ('profile_analyzer', ['-e', 'profile/-F 997 -g/'], [r'^FUNCTION {36}COUNT$', r'^-{50}$', r'^\S.{39} +[1-9]\d*$'], ''),
    ('profile_analyzer', ['-e', 'profile'], [r'^FUNCTION {36}COUNT$', r'^-{50}$'], ''),     # without chains it has its head alone to show
    ('combined', ['-e', 'sched:sched_wakeup,profile'], [r'^Wakeups: [1-9]\d*, CPU samples: [1-9]\d*$'], ''),
]


@pytest.mark.parametrize('name, words, before, after', SCRIPTS)
def test_a_script_runs_as_printed(prof, tmp_path, busy, name, words, before, after):
    with open(os.path.join(HERE, f'{name}.py.txt'), encoding='utf-8') as f:
        text = f.read()
    with Session(prof, tmp_path, text, *words, '-m', '16M', '-i', '1000') as session:
        session.wait_for('(?ms)' + '.*?'.join(before))
        ended = session.stop()
    # what it says of files of others, which may be gone, is no matter of the script
    assert ended.code == 0 and 'Traceback' not in ended.stderr and re.search(after, ended.stdout, re.M)


def test_every_script_is_run():
    assert sorted(os.listdir(HERE)) == sorted({f'{name}.py.txt' for name, *_ in SCRIPTS})
