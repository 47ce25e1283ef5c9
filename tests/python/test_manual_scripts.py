# SPDX-License-Identifier: Apache-2.0
"""The scripts that the manual of `perf-prof python` prints, run as it prints them: manual/ holds
their text to the letter, and here are its command lines."""
import os
import re
import shlex
import signal
import subprocess
import time

import pytest

from frame import requires

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'manual')

for word in ('tracefs', 'root'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))

# As printed. To be seen in stdout, in this order, before SIGINT and after it.
RUNS = [
    ('counter', 'perf-prof python -e sched:sched_wakeup -i 1000 counter.py',
     [r'^Events: [1-9]\d*$', r'^Events: \d+$'], [r'^Done$']),
    ('wakeup_analyzer', 'perf-prof python -e sched:sched_wakeup -i 1000 wakeup_analyzer.py',
     [r'^COMM {12}      PID    COUNT CPUS$', r'^\S.{15} +\d+ +\d+ \d+(,\d+)*$'], []),
    ('latency', 'perf-prof python -e sched:sched_wakeup,sched:sched_switch -i 1000 latency.py',
     [r'^Latency: avg=\d+\.\dus max=\d+\.\dus samples=[1-9]\d*$'], []),
    ('callstack_analyzer', 'perf-prof python -e sched:sched_wakeup -g -i 1000 callstack_analyzer.py',
     [r'^=== Top Wakeup Stacks ===$', r'^ *\d+  [a-z_]\w*( <- [\w.]+){1,4}$'],
     [r'^=== Final Wakeup Stack Summary ===$']),
    ('callstack_analyzer-attribute',
     "perf-prof python -e 'sched:sched_wakeup//stack/' -i 1000 callstack_analyzer.py",
     [r'^=== Top Wakeup Stacks ===$', r'^ *\d+  [a-z_]\w*( <- [\w.]+){1,4}$'], []),
    ('callstack_analyzer-user',
     'perf-prof python -e sched:sched_wakeup -g --user-callchain -i 1000 callstack_analyzer.py',
     [r'^=== Top Wakeup Stacks ===$', r'^ *\d+  [a-z_]\w*( <- [\w.]+){1,4}$'], []),
    ('profile_analyzer', "perf-prof python -e 'profile/-F 997 -g/' -i 1000 profile_analyzer.py",
     [r'^FUNCTION {36}COUNT$', r'^-{50}$', r'^\S.{39} +[1-9]\d*$'], []),
    ('combined', 'perf-prof python -e sched:sched_wakeup,profile -i 1000 combined.py',
     [r'^Wakeups: [1-9]\d*, CPU samples: [1-9]\d*$'], []),
]


@pytest.fixture(scope='module')
def busy():
    """Somebody who runs, sleeps and is woken."""
    text = 'import time\nwhile True:\n    sum(range(20000))\n    time.sleep(0.002)\n'
    with subprocess.Popen(['python3', '-c', text]) as process:
        yield
        process.kill()


def read_until(run, patterns):
    out, end = '', time.monotonic() + 30
    for pattern in patterns:
        while not re.search(pattern, out, re.M):
            assert time.monotonic() < end, f'no /{pattern}/ in {out}'
            line = run.stdout.readline()
            assert line, f'no /{pattern}/ in {out}'
            out += line
        out = out[re.search(pattern, out, re.M).end():]
    return out


@pytest.mark.parametrize('line, before, after', [run[1:] for run in RUNS], ids=[run[0] for run in RUNS])
def test_run_as_printed(prof, tmp_path, busy, line, before, after):
    argv = shlex.split(line)
    name = argv[-1]
    with open(os.path.join(HERE, name + '.txt'), encoding='utf-8') as f:
        (tmp_path / name).write_text(f.read(), encoding='utf-8')
    env = {**os.environ, 'PATH': os.path.dirname(prof) + ':' + os.environ['PATH'], 'LC_ALL': 'C.UTF-8'}
    run = subprocess.Popen(argv, cwd=tmp_path, env=env, text=True, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
    try:
        assert run.stdout.readline() == f'Loaded module: {tmp_path}/{name}\n'
        rest = read_until(run, before)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=20)
    finally:
        run.kill()
    assert (run.returncode, err) == (0, '')
    for pattern in after:
        assert re.search(pattern, rest + out, re.M)


def test_every_script_is_run():
    assert {shlex.split(line)[-1] for _, line, _, _ in RUNS} == \
        {name[:-len('.txt')] for name in os.listdir(HERE)}
