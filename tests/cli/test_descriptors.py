# SPDX-License-Identifier: Apache-2.0
"""Too few open files: said with the number and the remedy, never a wrong answer; where the
limit can be raised, it is."""
import os
import re
import resource
import subprocess

import pytest

from frame import requires
from frame.declared import environment

EVENT = 'syscalls:sys_enter_getppid'
SCRIPT = 'def __sample__(event):\n    pass\ndef __interval__():\n    raise SystemExit\n'


def need(*words):
    for word in words:
        reason = requires.why_not(word)
        if reason:
            pytest.skip(reason)


def limited(argv, soft, hard, folder='.'):
    """As a process that may not raise its hard limit; root would just do so."""
    if requires.has_capability(24):
        argv = ['setpriv', '--bounding-set=-sys_resource', '--inh-caps=-sys_resource', '--'] + argv

    def lower():
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, preexec_fn=lower,
                          cwd=folder, env=environment({'cmd': 'python'}))


@pytest.fixture
def script(tmp_path):
    (tmp_path / 's.py').write_text(SCRIPT)
    return tmp_path


def python(prof, *events):
    return [prof, 'python', '-e', ','.join(events), '-i', '20', 's.py']


def check_told(done, limit):
    assert done.returncode == 1
    assert done.stderr.startswith('perf-prof: ')
    assert f'the limit is {limit}' in done.stderr and 'ulimit -n' in done.stderr
    assert 'Traceback' not in done.stderr


@pytest.mark.live
def test_sixteen_open_files_are_enough_for_the_plain_things(prof, script):
    need('root', 'tracefs')
    for hard in (16, 4096):
        assert limited([prof, 'stat', '-e', 'task-clock,page-faults', '--', 'true'], 16,
                       hard).returncode == 0
        done = limited(python(prof, EVENT), 16, hard, script)
        assert (done.returncode, done.stderr) == (0, '')


@pytest.mark.parametrize('argv', [['check', '--json'], ['list']])
@pytest.mark.live
def test_the_answer_does_not_change(prof, argv):
    need('root', 'tracefs')
    free = subprocess.run([prof, *argv], capture_output=True, text=True, check=True).stdout
    for soft, hard in ((16, 16), (8, 4096)):
        done = limited([prof, *argv], soft, hard)
        assert done.returncode == 0, done.stderr
        assert re.sub(r'"capabilities":[^\]]*\]', '', done.stdout) == \
            re.sub(r'"capabilities":[^\]]*\]', '', free)


def test_check_does_not_call_a_shortage_a_refusal(prof):
    done = limited([prof, 'check'], 5, 5)
    check_told(done, 5)
    assert 'cannot try any event' in done.stderr and not done.stdout


@pytest.mark.live
def test_stat_says_how_many_it_takes(prof):
    need('root')
    cpus = len(os.sched_getaffinity(0))
    events = ','.join(['cpu-clock'] * 16)
    done = limited([prof, 'stat', '-a', '-e', events, '--', 'true'], 16, 16)
    check_told(done, 16)
    assert f'16 events in {cpus} places (threads, CPUs) take up to {16 * cpus} open files' \
        in done.stderr


@pytest.mark.parametrize('argv', [['stat', '-a', '-e', ','.join(['cpu-clock'] * 16), '--', 'true'],
                                  ['profile', '-a', '--', 'true']])
@pytest.mark.live
def test_the_limit_that_is_said_is_sufficient(prof, argv):
    need('root')
    done = limited([prof, *argv], 12, 12)
    check_told(done, 12)
    most = re.search(r'raise it to (\d+) for the process \(ulimit -n (\d+) as root, LimitNOFILE=(\d+) ', done.stderr)
    assert most[1] == most[2] == most[3]
    done = limited([prof, *argv], int(most[1]), int(most[1]))
    assert done.returncode == 0, done.stderr
    assert 'open files' not in done.stderr


def test_diff_of_many_files(prof, tmp_path):
    (tmp_path / 'a').write_text('m;f 1\n# weight=1 unit=ns\n')
    argv = [prof, 'diff', '--json', *['a'] * 60, '--vs', *['a'] * 40]
    done = limited(argv, 64, 64, tmp_path)
    check_told(done, 64)
    most = re.search(r'100 inputs take up to 116 open files, but .* raise it to (\d+) for the process', done.stderr)
    for soft, hard in (int(most[1]), int(most[1])), (64, 4096):
        done = limited(argv, soft, hard, tmp_path)
        assert done.returncode == 0 and '"before_runs":60' in done.stdout, done


def test_stat_says_that_not_even_the_command_fits(prof):
    check_told(limited([prof, 'stat', '-e', 'task-clock', '--', 'true'], 6, 6), 6)


@pytest.mark.live
def test_python_says_how_many_it_takes_before_the_first_is_opened(prof, script):
    need('root', 'tracefs')
    done = limited(python(prof, 'sched:sched_switch', 'sched:sched_wakeup', *[
        f'{EVENT}//alias=a{i}/' for i in range(16)]), 16, 16, script)
    check_told(done, 16)
    assert re.search(r'\d+ open files are needed in addition to those that perf-prof has open \(\d+ for each of 1 target, ', done.stderr)


@pytest.mark.live
def test_a_glob_leaves_nothing_out_for_want_of_descriptors(prof, script):
    need('root', 'tracefs')
    check_told(limited(python(prof, 'sched:*'), 16, 16, script), 16)


@pytest.mark.live
def test_the_interpreter_says_that_it_does_not_fit(prof, script):
    need('root', 'tracefs')
    check_told(limited(python(prof, EVENT), 4, 4, script), 4)


@pytest.mark.live
def test_the_soft_limit_is_raised_and_the_command_keeps_its_own(prof, script):
    need('root', 'tracefs')
    done = limited([prof, 'stat', '-a', '-e', ','.join(['cpu-clock'] * 40), '--', 'sh', '-c',
                    'ulimit -n'], 16, 4096)
    assert (done.returncode, done.stdout.split()[0]) == (0, '16'), done.stderr
    done = limited(python(prof, *[f'{EVENT}//alias=a{i}/' for i in range(40)]), 16, 4096, script)
    assert (done.returncode, done.stderr) == (0, '')
