# SPDX-License-Identifier: Apache-2.0
"""Throttled events: what is reported of them, against the records as perf prints them. Needs root, and to set
kernel.perf_event_max_sample_rate: a small one, so that the CPU clock is throttled at every tick."""
import json
import os
import re
import subprocess
import time

import pytest

from frame import declared, requires

pytestmark = [pytest.mark.live, pytest.mark.alone]
for word in ('root', 'tracefs', 'perf'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))

RATE, PERIOD = 500, 100000         # 2 samples a tick where there are 40
EVENT = f'cpu-clock//period={PERIOD}/'
TICK = time.clock_getres(6)        # CLOCK_MONOTONIC_COARSE
LISTENS = """
times = ns = 0
def __lost__(start, end, loss):
    global times, ns
    if loss['cause'] == 'throttled':
        assert loss['count'] == 0 and loss['event'].startswith('cpu-clock') and 0 < start <= end, loss
        times += 1
        ns += end - start
def __sample__(event):
    pass
def __exit__():
    print('throttled', times, ns)
"""
LINE = (r'^perf-prof: cpu-clock\S* throttled (\d+) times, (at most )?(\d+) % of the time (of|it was on) CPU 0'
        r'(?:: its samples come too fast; .*)?$')


@pytest.fixture
def throttled(prof, build, tmp_path, rate_limit):
    """A command of perf-prof, in which the CPU clock is throttled; its stdout and stderr."""
    rate_limit(RATE)
    (tmp_path / 'listens.py').write_text(LISTENS)

    def run(*args, job=True, by=prof):
        argv = [by, *args] + (['--', os.path.join(build, 'tests/helpers/works'), 'shares', '250'] if job else [])
        done = subprocess.run(['taskset', '-c', '0', *argv], cwd=tmp_path, capture_output=True, text=True, timeout=120,
                              env=declared.environment({'cmd': argv}))
        assert done.returncode == 0, done
        return done.stdout, done.stderr
    return run


def records(folder):
    """(type, time, stream_id) of the THROTTLE and UNTHROTTLE records, read from what perf dumps."""
    text = subprocess.run(['perf', 'script', '-D', '-i', 'perf.data'], cwd=folder, capture_output=True,
                          check=True).stdout.decode(errors='replace')
    for raw in re.findall(r'raw event: size 6?\d+ bytes((?:\n\.  [0-9a-f]{4}:[^\n]*)+)', text):
        data = bytes.fromhex(''.join(line.split(':', 1)[1][:50] for line in raw.split('\n.  ')[1:]).replace(' ', ''))
        kind = int.from_bytes(data[:4], 'little')
        if kind in (5, 6):
            yield kind, *(int.from_bytes(data[i:i + 8], 'little') for i in (8, 24))


def measured(folder, longest=float('inf')):
    """How often, and for how many ns, by perf's dump; what has no end is left out of the time, and counted."""
    begun, times, ns = {}, 0, 0
    for kind, moment, stream in records(folder):
        if kind == 5:
            times += 1
            begun[stream] = moment
        elif stream in begun:
            ns += min(moment - begun.pop(stream), longest)
    return times, ns, len(begun)


def close_to(told, folder, longest=float('inf')):
    """Those without an end count for a tick at most."""
    times, ns, unended = measured(folder, longest)
    assert times > 20, 'nothing was throttled'
    assert told[0] == times
    assert ns <= told[1] <= ns + unended * TICK * 1e9 + 1, (told, ns, unended)


def of_json(text):
    line = next(line for line in text.splitlines() if line.startswith('{"table"'))   # the job writes, too
    found = json.loads(line)['throttled']
    assert [set(t) for t in found] == [{'event', 'cpu', 'times', 'time', 'observed', 'at_most'}] * len(found)
    return found


def test_a_recording_of_a_cpu(throttled, tmp_path):
    """What record, report, script and a script say is what perf finds in the file."""
    _, err = throttled('record', '-C', '0', '-e', EVENT)
    times, _, how, of = re.search(LINE, err, re.M).group(1, 2, 3, 4)
    assert int(times) == measured(tmp_path)[0] and of == 'of' and 50 < int(how) <= 100, err
    (told,) = of_json(throttled('report', '--json', job=False)[0])
    assert told['event'] == 'cpu-clock' and told['cpu'] == 0 and not told['at_most']
    close_to((told['times'], told['time']), tmp_path)
    # 2 samples of 40 in each tick: what the samples cover is the rest
    samples = subprocess.run(['perf', 'script', '-F', 'event'], cwd=tmp_path, capture_output=True, text=True,
                             check=True).stdout.count('cpu-clock')
    covered = samples * PERIOD / told['observed']
    assert abs(told['time'] / told['observed'] - (1 - covered)) < 0.2, (told, covered)
    for command in ('report',), ('script',), ('python', 'listens.py'):
        out, err = throttled(command[0], '-I', 'perf.data', *command[1:], job=False)
        assert re.search(LINE, err, re.M).group(1) == times, err
    assert f'throttled {times} {told["time"]}\n' in out
    text = throttled('report', job=False)[0]
    assert f', 0 lost, throttled {times} times' in text


def test_a_recording_of_a_task(throttled, tmp_path):
    """Its event is not on while it is off the CPU: a span counts for a tick at most."""
    _, err = throttled('record', '-e', EVENT)
    told = re.search(LINE, err, re.M)
    assert told.group(2) and told.group(4) == 'it was on', err
    out = throttled('python', '-I', 'perf.data', 'listens.py', job=False)[0]
    close_to([int(n) for n in re.search(r'throttled (\d+) (\d+)', out).groups()], tmp_path, TICK * 1e9)


def test_the_members_of_a_group_are_stopped_with_it(throttled):
    """Since Linux 6.16 its leader alone is said to be; before, each of them."""
    throttled('record', '-o', 'perf.data', '-C', '0', '-e', f'{{cpu-clock/period={PERIOD}/,task-clock/period={PERIOD}/}}')
    err = throttled('report', job=False)[1]
    leader, member = (re.search(rf'^perf-prof: {name}-clock\S* throttled (\d+) times', err, re.M) for name in ('cpu', 'task'))
    assert int(leader.group(1)) > 20 and int(member.group(1)) > 20, err


def test_a_recording_of_perf(throttled, tmp_path):
    throttled('record', '-q', '-o', 'perf.data', '-C', '0', '-e', f'cpu-clock/period={PERIOD}/', by='perf')
    out, err = throttled('report', '--json', job=False)
    (told,) = of_json(out)
    times, ns, _ = measured(tmp_path)
    assert told['times'] == times > 20 and told['time'] <= ns + TICK * 1e9
    assert re.search(LINE, err, re.M).group(1) == str(times)


@pytest.mark.parametrize('order', [(), ('--order',)], ids=['', 'ordered'])
def test_a_script_hears_of_it_live(throttled, order):
    out, err = throttled('python', '-C', '0', '-N', '80', *order, '-e', EVENT, 'listens.py', job=False)
    times, ns = (int(n) for n in re.search(r'throttled (\d+) (\d+)', out).groups())
    told = int(re.search(LINE, err, re.M).group(1))
    assert 20 <= times <= told and ns > 0, (out, err)


def test_json_of_a_live_profile(throttled):
    out, _ = throttled('profile', '-q', '--json', '-C', '0', '-c', str(PERIOD))
    (told,) = of_json(out)
    assert told['times'] > 20 and 0.5 < told['time'] / told['observed'] <= 1, told


def test_what_is_not_throttled_says_nothing(prof, build, tmp_path, rate_limit):
    rate_limit(100000)
    done = subprocess.run([prof, 'profile', '-q', '--json', '-F', '99', '--', os.path.join(build, 'tests/helpers/works'),
                           'spin', '100'], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and not done.stderr and 'throttled' not in done.stdout, done
