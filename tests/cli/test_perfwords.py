# SPDX-License-Identifier: Apache-2.0
"""Options of perf that are accepted, and what is said of words that are none of an option, a command or a program."""
import os
import re
import subprocess

import pytest

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'data/perfdata')
live = pytest.mark.live

ANSWERS = [
    ('report --percent-limit x', '--percent-limit x: expected a percentage, 0 to 100'),
    ('report --percent-limit=x', '--percent-limit x: expected a percentage, 0 to 100'),
    ('report -s wrong', '-s wrong: "wrong" makes no rows; expected some of comm, '),
    ('report --stdio=1', 'report: --stdio takes no value, but has "1"'),
    ('report -i', 'report: -i needs a value: FILE'),
    ('profile -S', 'profile: unknown option -S; `perf-prof profile --help-all` lists them'),
    ('stat --stdio -- true', 'stat: unknown option --stdio; `perf-prof stat --help-all` lists them'),
    ('record -c 1e6 -- true', '-c 1e6: expected events per sample, a whole number such as 1000000'),
    ('trace -e trace=openat -- true', 'there is no event trace=openat on this machine'),
    ('--verison', '--verison: did you mean --version?'),
    ('-hlep', '-hlep: did you mean --help?'),
    ('-v', '-v: expected a command before options; -V prints the version'),
    ('profile -p python3', '-p python3: unexpected "python3"; expected numbers up to 2147483647 and ascending ranges, separated by '
     'commas, such as 0-3,7; `pgrep -d, NAME` prints the ids of the processes of that name'),
    ('stat -e task-clock/foo/ -- true', 'stat -e: there is no term "foo" of this event'),
    ('stat -e sched:sched_switch/period=x/ -- true', 'stat -e: period=x is not valid'),
    ('stat -i /dev/null', '-i /dev/null: expected milliseconds, such as 1000: from 1 to 31622400000 (366 days)\n'),
    ('profile -o out.svg -- true', '-o out.svg: that file would contain the printed text; for a picture: --flame-graph out.svg'),
    ('latency --output=out.svg', '--output out.svg: that file would contain the printed text; for a picture: --heatmap out.svg'),
    # an option without its value
    ('record -o -- true', 'record: -o needs a value: FILE'),
    ('syscalls --match -- true', 'syscalls: --match needs a value: GLOB'),
    ('report --comm -- base.data', 'report: --comm needs a value: NAME'),
    # a field that only one event has
    ('latency -e sched:sched_wakeup -e sched:sched_switch -k pid -- true',
     "-k pid: sched:sched_switch has no field pid; give it a key of its own: -e 'sched:sched_switch//key=next_pid/'"),
    ('latency -e sched:sched_switch/next_pid>0/ -e sched:sched_wakeup -k next_pid -- true',
     "-k next_pid: sched:sched_wakeup has no field next_pid; give it a key of its own: -e 'sched:sched_wakeup//key=pid/'"),
    ('latency -e sched:sched_wakeup -e sched:sched_switch -k ppid -- true', '-k ppid, for sched:sched_wakeup: there is no field ppid'),
    ('syscalls -e nope -- true', 'there is no event nope on this machine'),
    # what is not that command's in perf
    ('script --percent-limit 5', 'script: unknown option --percent-limit; `perf-prof script --help-all` lists them'),
    ('stat -I 100 -- true', 'stat: unknown option -I; did you mean -i (--interval)?'),
    ('reprot', 'there is no command reprot; did you mean report?'),
]


@pytest.fixture
def run(prof, tmp_path):
    """run(words): what perf-prof does with them; a list of words, or a text that is split."""
    def go(words, **more):
        words = words.split() if isinstance(words, str) else words
        return subprocess.run([prof, *words], cwd=tmp_path, capture_output=True, text=True, timeout=60, **more)
    return go


@pytest.mark.parametrize('words', ['--pid {pid}', '--tid={pid}', '--cpu 0'])
def test_targets_as_perf_names_them(run, words):
    done = run('stat -e page-faults:u --seconds 0.01 ' + words.format(pid=os.getpid()))
    assert 'unknown option' not in done.stderr and done.returncode in (0, 1)   # without privilege, not for a CPU


@live
def test_options_behind_a_script_are_its_own(run, tmp_path):
    (tmp_path / 'own.py').write_text('import sys\nprint(sys.argv[1:])\ndef __sample__(e): pass\n')
    env = {**os.environ, 'ASAN_OPTIONS': os.environ.get('ASAN_OPTIONS', '') + ':detect_leaks=0'}     # CPython keeps memory until its end
    done = run(f'python -e page-faults:u --pid {os.getpid()} --seconds 0.01 own.py --pid 5', env=env)
    assert "['--pid', '5']" in done.stdout and done.returncode == 0, done


@pytest.mark.parametrize('command', ['report', 'script', 'convert --to csv'])
def test_no_recording_yet(run, command):
    done = run(command)
    assert (done.returncode, done.stdout) == (1, '')
    assert done.stderr == ('perf-prof: cannot read perf.data: No such file or directory; `perf-prof record -- COMMAND` records it, and '
                           '-I FILE reads another recording\n')


@pytest.mark.parametrize('words', ['-i 10ms --seconds 0.05s', '-i 1s --seconds 30ms', '--seconds 20ms'])
@live
def test_times_with_units(run, words):
    done = run(f'stat -e page-faults:u -t {os.getpid()} {words}')
    assert done.returncode == 0 and 'page-faults' in done.stdout, done


@pytest.mark.parametrize('words', ['-i 500us', '-i 1x', '-i s', '--seconds 1x', '--seconds s'])
def test_units_that_are_none(run, words):
    done = run('stat ' + words)
    assert done.returncode == 2 and f'{words}: expected ' in done.stderr


@pytest.mark.parametrize('words, answer', [
    pytest.param(*one, marks=live if re.search(r'\b(sched|syscalls):', one[0]) else ()) for one in ANSWERS], ids=[words for words, _ in ANSWERS])
def test_what_perf_calls_otherwise(run, words, answer):
    """Those with tracepoints look them up."""
    done = run(words)
    assert done.returncode == 2 and not done.stdout and done.stderr.startswith(f'perf-prof: {answer}'), done


@pytest.mark.parametrize('perf, own', [
    ('report -i', 'report -I'), ('report -f --force --stdio --no-children --group -i', 'report -I'),
    ('report -s comm,sym -i', 'report --sort comm,symbol -I'), ('report -s srcline -i', 'report --sort line -I'),
    ('report --percent-limit 3 -i', 'report --than 3 -I'), ('script --max-events 2 -fi', 'script -N 2 -I'),
])
def test_what_perf_spells_otherwise_is_accepted(run, perf, own):
    runs = [run(f'{words} {DATA}/amd64-7-chains.data') for words in (perf, own)]
    assert [done.returncode for done in runs] == [0, 0], runs
    assert runs[0].stdout == runs[1].stdout and runs[0].stderr == runs[1].stderr, runs
    assert len(runs[0].stdout.splitlines()) >= 2, runs


@pytest.mark.parametrize('events, what', [
    ('raw_syscalls:sys_enter/id==257/,raw_syscalls:sys_exit', 'ends without a start'),
    ('raw_syscalls:sys_enter,raw_syscalls:sys_exit/id==257/', 'starts with another start before the end'),
])
@live
def test_calls_whose_other_event_is_filtered_out(run, events, what):
    done = run(f'syscalls -e {events} -- true')
    assert re.search(rf'^incomplete calls: .*\d+ {what} \(the filters of the events differ\)$', done.stdout, re.M), done


@live
@pytest.mark.parametrize('words, code, told', [
    ('profile ./p.py', 126, './p.py is a Python script, not a program; put python3 before it: -- python3 ./p.py'),
    ('profile p.py', 127, 'p.py is a Python script, not a program; put python3 before it: -- python3 p.py'),
])
def test_words_that_are_no_program(run, tmp_path, words, code, told):
    (tmp_path / 'p.py').write_text('print(1)\n')
    done = run(words)
    assert (done.returncode, done.stderr) == (code, f'perf-prof: {told}\n')
