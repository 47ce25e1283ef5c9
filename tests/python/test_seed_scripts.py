# SPDX-License-Identifier: Apache-2.0
"""The scripts that the manual of `perf-prof python` prints, run as it prints them: seed_scripts/
holds their text to the letter, and here are its command lines."""
import os
import re
import shlex
import signal
import subprocess
import sys
import time

import pytest

from frame import requires

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'seed_scripts')

for word in ('tracefs', 'root'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))

@pytest.fixture(scope='module')
def busy():
    """Somebody who runs, sleeps and is woken."""
    text = 'import time\nwhile True:\n    sum(range(20000))\n    time.sleep(0.002)\n'
    with subprocess.Popen([sys.executable, '-c', text]) as process:
        yield
        process.kill()


TRIES = 6


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


def run_as_printed(prof, folder, line, before, after=()):
    """stdout shows the patterns `before` in this order, then SIGINT comes, then `after`. As the lines are
    printed they have small rings: on a busy machine they are tried again."""
    for _ in range(TRIES):
        run, rest, out, err = run_line(prof, folder, line, before)
        if not re.search(r'^perf-prof: lost \d+ events?', err, re.M):
            break
    assert (run.returncode, err) == (0, '')
    for pattern in after:
        assert re.search(pattern, rest + out, re.M)


def run_line(prof, folder, line, before):
    argv = shlex.split(line)
    name = argv[-1]
    with open(os.path.join(HERE, name + '.txt'), encoding='utf-8') as f:
        (folder / name).write_text(f.read(), encoding='utf-8')
    env = {**os.environ, 'PATH': os.path.dirname(prof) + ':' + os.environ['PATH'], 'LC_ALL': 'C.UTF-8'}
    run = subprocess.Popen(argv, cwd=folder, env=env, text=True, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
    try:
        assert run.stdout.readline() == f'Loaded module: {folder}/{name}\n'
        rest = read_until(run, before)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=20)
    finally:
        run.kill()
    return run, rest, out, err


def test_counter(prof, tmp_path, busy):
    run_as_printed(prof, tmp_path, 'perf-prof python -e sched:sched_wakeup -i 1000 counter.py',
                   [r'^Events: [1-9]\d*$', r'^Events: \d+$'], [r'^Done$'])


def test_wakeup_analyzer(prof, tmp_path, busy):
    run_as_printed(prof, tmp_path, 'perf-prof python -e sched:sched_wakeup -i 1000 wakeup_analyzer.py',
                   [r'^COMM {12}      PID    COUNT CPUS$', r'^\S.{15} +\d+ +\d+ \d+(,\d+)*$'])


def test_latency(prof, tmp_path, busy):
    run_as_printed(prof, tmp_path,
                   'perf-prof python -e sched:sched_wakeup,sched:sched_switch -i 1000 latency.py',
                   [r'^Latency: avg=\d+\.\dus max=\d+\.\dus samples=[1-9]\d*$'])


@pytest.mark.parametrize('line', [
    'perf-prof python -e sched:sched_wakeup -g -i 1000 callstack_analyzer.py',
    "perf-prof python -e 'sched:sched_wakeup//stack/' -i 1000 callstack_analyzer.py",
    'perf-prof python -e sched:sched_wakeup -g --user-callchain -i 1000 callstack_analyzer.py',
], ids=['g', 'stack', 'user'])
def test_callstack_analyzer(prof, tmp_path, busy, line):
    run_as_printed(prof, tmp_path, line,
                   [r'^=== Top Wakeup Stacks ===$', r'^ *\d+  [a-z_]\w*( <- [\w.]+){1,4}$'],
                   [r'^=== Final Wakeup Stack Summary ===$'])


def test_profile_analyzer(prof, tmp_path, busy):
    run_as_printed(prof, tmp_path, "perf-prof python -e 'profile/-F 997 -g/' -i 1000 profile_analyzer.py",
                   [r'^FUNCTION {36}COUNT$', r'^-{50}$', r'^\S.{39} +[1-9]\d*$'])


def test_profile_analyzer_without_stacks(prof, tmp_path, busy):
    """It counts by call chains: without -g it has its head alone to show."""
    run_as_printed(prof, tmp_path, 'perf-prof python -e profile -i 1000 profile_analyzer.py',
                   [r'^FUNCTION {36}COUNT$', r'^-{50}$'])


def test_combined(prof, tmp_path, busy):
    run_as_printed(prof, tmp_path, 'perf-prof python -e sched:sched_wakeup,profile -i 1000 combined.py',
                   [r'^Wakeups: [1-9]\d*, CPU samples: [1-9]\d*$'])


def test_every_script_is_run():
    with open(os.path.abspath(__file__)) as f:
        text = f.read()
    for name in os.listdir(HERE):
        assert f'-i 1000 {name[:-len(".txt")]}' in text
