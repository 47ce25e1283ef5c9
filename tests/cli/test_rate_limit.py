# SPDX-License-Identifier: Apache-2.0
"""Frequencies above kernel.perf_event_max_sample_rate, by every command that samples. Needs root, and to set
that sysctl."""
import os
import re
import subprocess
import time

import pytest

from frame import declared, requires
from frame.ratelimit import SHARE

pytestmark = [pytest.mark.live, pytest.mark.alone]
for word in ('root', 'tracefs', 'perf'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))

COUNTS = """
samples = 0
def __sample__(event):
    global samples
    samples += 1
def __exit__():
    print('samples', samples)
"""
THROTTLED = re.compile(r'^perf-prof: .*\bthrottled \d+ times?\b.*\n', re.M)
LOST = re.compile(r'^perf-prof: (lost \d+ events|\d+ events delivered, \d+ lost).*\n', re.M)
LOWERED = (r'^perf-prof: (\S+): (?:500|DEFAULT) samples a second instead of (\d+): (?:the limit is|the default '
           r'is limited by) kernel\.perf_event_max_sample_rate, 500 now(?:, which the kernel '
           r'lowers when interrupts take long)? \(as root: sysctl (?:kernel\.perf_cpu_time_max_percent=25 )?kernel\.perf_event_max_sample_rate=\d+')

# Below what is throttled, by the ticks of this kernel (perf-prof's rate_steady()); 6 is CLOCK_MONOTONIC_COARSE.
HZ = round(1 / time.clock_getres(6))
DEFAULT = (-(-500 // HZ) - 1) * HZ * 99 // 100 or 500
LOWERED = LOWERED.replace('DEFAULT', str(DEFAULT))


@pytest.fixture
def limited(prof, build, tmp_path, rate_limit):
    """A command of perf-prof under a limit of 500, with a job: its stdout and stderr, where samples at the
    very limit may well be throttled, and some lost on a busy machine."""
    rate_limit(500)
    (tmp_path / 'count.py').write_text(COUNTS)
    job = os.path.join(build, 'tests/helpers/works'), 'spin', '40'

    def run(*args, status=0, **environment):
        argv = [prof, *args] + ([] if 'python' in args else ['--', *job])
        done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=60,
                              env=declared.environment({'cmd': argv, 'env': environment}))
        assert done.returncode == status, done
        return done.stdout, LOST.sub('', THROTTLED.sub('', done.stderr))
    return run


# Of what perf.data was recorded with, as perf sees it.
FREQUENCY = r'^([^\s:]+).*sample_freq \}: (\d+),.* freq: 1,'


@pytest.mark.deep
@pytest.mark.parametrize('args', [
    ('profile', '-q'), ('profile', '-q', '--off-cpu'), ('record',), ('record', '-e', 'cpu-clock,task-clock'),
    ('trace', '-e', 'cpu-clock'), ('top', '-e', 'profile'),
    ('python', '-e', 'profile,cpu-clock', '-N', '50', 'count.py')])
def test_a_default_is_lowered_and_this_is_a_hint(limited, args):
    out, err = limited(*args)
    assert not err
    assert 'samples 50\n' in out or args[0] != 'python'
    out, err = limited(*[a for a in args if a != '-q'], '-v')
    assert len(re.findall(LOWERED, err, re.M)) == 1 and 'instead of 997' in err, err


@pytest.mark.parametrize('args', [
    ('profile', '-q', '-F', '4000'), ('record', '-F', '4000'), ('record', '-F', '4000', '-e', 'cpu-clock,task-clock'),
    ('trace', '-e', 'cpu-clock//freq=4000/'), ('top', '-e', 'profile/-F 4000/'),
    ('python', '-e', 'profile/-F 4000/,cpu-clock//freq=4000/', '-N', '50', 'count.py')])
def test_what_is_asked_for_is_lowered_and_reported_once(limited, args):
    out, err = limited(*args)
    assert [freq for _, freq in re.findall(LOWERED, err, re.M)] == ['4000'] and err.count('\n') == 1, err
    assert 'samples 50\n' in out or args[0] != 'python'


@pytest.mark.parametrize('args', [
    ('profile', '-q', '-F', 'max'), ('trace', '-e', 'profile/-F max/'),
    ('python', '-e', 'profile/-F max/,cpu-clock//freq=max/', '-N', '50', 'count.py')])
def test_max_is_what_the_kernel_allows(limited, args):
    assert not limited(*args)[1]


@pytest.mark.parametrize('args, lower', [
    (('profile', '-F', '4000'), '-F 500'), (('profile',), '-F 500'), (('record', '-F', '501'), '-F 500'),
    (('record', '-e', 'cpu-clock//freq=4000/'), 'freq=500'), (('trace', '-e', 'cpu-clock'), 'freq=500'),
    (('top', '-e', 'profile'), '-F 500'), (('python', '-e', 'profile/-F 4000/', 'count.py'), '-F 500'),
    (('python', '-e', 'cpu-clock//freq=4000/', 'count.py'), 'freq=500')])
def test_strict_freq_refuses(limited, args, lower):
    _, err = limited(args[0], '--strict-freq', *args[1:], status=1)
    told = re.search(r'--strict-freq: \d+ samples a second are more than the 500 of kernel\.perf_event_max_sample_rate: '
                     r'lower it \((.*)\), or, as root: sysctl (.*)$', err, re.M)
    assert told and told[1] == lower, err
    assert re.fullmatch(r'kernel\.perf_cpu_time_max_percent=25 kernel\.perf_event_max_sample_rate=\d+', told[2]), err


@pytest.mark.parametrize('share', [0, 25, 100])
def test_the_advice_works_whether_the_kernel_lowers_the_limit_or_not(limited, share):
    """The kernel takes no limit while the share is 0 or 100, and lowers none then."""
    with open(SHARE, 'w') as f:
        f.write(f'{share}\n')
    _, err = limited('profile', '-q', '-F', '4000')
    advice = re.search(r'(, which the kernel lowers when interrupts take long)? \(as root: sysctl ([^;]*);', err)
    assert advice, err
    assert bool(advice[1]) == (share == 25)
    for name, value in (word.split('=') for word in advice[2].split()):
        with open('/proc/sys/' + name.replace('.', '/'), 'w') as f:
            f.write(f'{value}\n')


@pytest.mark.parametrize('args, held', [
    ([], {'DEFAULT'}), (['-F', 'max'], {'500'}), (['--strict-freq', '-F', '500'], {'500'}),
    (['-F', '4000', '-e', 'cpu-clock:P,task-clock//freq=100/'], {'cpu-clock': '500', 'task-clock': '100'})])
def test_a_recording_holds_the_frequency_that_was_had(limited, tmp_path, args, held):
    """A default is below what is throttled; precision is not what a frequency costs."""
    err = limited('record', *args)[1]
    assert bool(err) == ('4000' in args), err
    text = subprocess.run(['perf', 'evlist', '-v'], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    had = dict(re.findall(FREQUENCY, text, re.M))
    if isinstance(held, dict):
        assert had == held and re.search(r'sample_freq \}: 500,.* precise_ip: 3,', text), text
    else:
        assert set(had.values()) == {str(DEFAULT) if 'DEFAULT' in held else '500'}, text


@pytest.mark.slow      # a sanitizer has to be preloaded first
@pytest.mark.skipif(requires.why_not('cpus>=2') is not None, reason='needs 2 CPUs')
@pytest.mark.parametrize('opening', [1, 2, 4])
def test_the_limit_falls_between_two_openings(limited, build, tmp_path, rate_limit, opening):
    """On the second CPU, or with the second event: all of both are sampled alike."""
    rate_limit(100000)
    environment = {'LD_PRELOAD': os.path.join(build, 'tests/helpers/libfalling_rate.so'),
                   'FALLING_RATE': f'{opening} 500'}
    _, err = limited('record', '-F', '4000', '-e', 'cpu-clock,task-clock', **environment)
    assert len(re.findall(LOWERED, err, re.M)) == 1, err
    text = subprocess.run(['perf', 'evlist', '-v'], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert dict(re.findall(FREQUENCY, text, re.M)) == {'cpu-clock': '500', 'task-clock': '500'}
    periods = subprocess.run(['perf', 'script', '-F', 'event,period'], cwd=tmp_path, capture_output=True,
                             text=True, check=True).stdout.split()
    assert {p for p in periods if p.isdigit()} == {'2000000'}


SLOWER = re.compile(r'^perf-prof: profile: samples with stacks come faster than they are read: from now on (\d+) Hz instead of (\d+) '
                    r'\(--strict-freq keeps the frequency\)\n', re.M)


@pytest.mark.deep
@pytest.mark.slow      # what comes faster than it is read
def test_samples_with_stacks_slow_down_when_rings_are_full(prof, build, rate_limit):
    """A ring of 64 KiB has room for seven stacks."""
    rate_limit(100000)
    spin = os.path.join(build, 'tests/helpers/works'), 'spin', '2500'
    for strict in ([], ['--strict-freq']):
        done = subprocess.run([prof, 'profile', '--call-graph', 'dwarf', '-F', '20000', '-m', '64k', '--rows', '1', *strict,
                               '-C', f'0-{os.cpu_count() - 1}', '--', *spin],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and ' lost' in done.stderr, done
        steps = [tuple(map(int, step)) for step in SLOWER.findall(done.stderr)]
        rate = int(re.search(r' (\d+) Hz, \d+ lost', done.stdout)[1])
        assert bool(steps) == (not strict)
        if steps:
            assert steps[0][1] == 20000 and all(a[0] == b[1] for a, b in zip(steps, steps[1:]))
            assert all(after == before // 2 for after, before in steps) and rate == steps[-1][0]
