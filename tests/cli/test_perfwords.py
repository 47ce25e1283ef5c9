# SPDX-License-Identifier: Apache-2.0
"""Options and commands of perf that have other names here, or are not needed: the message says what to use."""
import os
import re
import subprocess

import pytest

from frame import requires

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'data/perfdata')
live = pytest.mark.live

ANSWERS = [
    ('report --tui', 'report: unknown option --tui; there is none here: tables are text'),
    ('report --percent-limit x', '--percent-limit x: expected a percentage, 0 to 100'),
    ('report --percent-limit=x', '--percent-limit x: expected a percentage, 0 to 100'),
    ('report -s wrong', '-s wrong: "wrong" makes no rows; expected some of comm, '),
    ('report --stdio=1', 'report: --stdio takes no value, but has "1"'),
    ('report -i', 'report: -i needs a value: FILE'),
    ('report -g caller', 'report: unknown option -g; it is not needed: '),
    ('record --group -- true', "record: unknown option --group; here groups are written -e '{A,B}:S'"),
    ('stat --all-user -- true', 'stat: unknown option --all-user; here it is :u behind '),
    ('profile -S', 'profile: unknown option -S; `perf-prof profile --help-all` lists them'),
    ('top -s comm', "top: unknown option -s; here it is part of the event: -e 'EVENT//key=comm/'"),
    ('stat --stdio -- true', 'stat: unknown option --stdio; `perf-prof stat --help-all` lists them'),
    ('script -s a.py', 'script: unknown option -s; here it is `perf-prof python -I FILE SCRIPT`'),
    ('record --filter prev_pid==1 -- true', 'record: unknown option --filter; here a filter is part of the event: '),
    ('rundelay --filter prev_pid==1', 'rundelay: unknown option --filter; there is none here: -p, -t and --cgroups select tasks'),
    ('record -b -- true', "record: unknown option -b; here it is part of the event: -e 'cycles//sample=branch_stack/'"),
    ('trace -s -- true', 'trace: unknown option -s; here it is `perf-prof syscalls`'),
    ('trace -e syscalls --than 10ms -- true', "trace: unknown option --than; here it is part of the source: -e 'syscalls/--than 10ms/'; "),
    ('trace --errors -- true', 'trace: unknown option --errors; here it is part of the source: -e syscalls/--errors/; '),
    ('report --tasks', 'report: unknown option --tasks; here it is --sort comm,pid'),
    ('script -c bash', "script: unknown option -c; there is none here: `perf-prof script -e 'EVENT/_comm=="),
    ('report -n', 'report: unknown option -n; there is none here: --json has the count of each row'),
    ('inject -j', 'there is no command inject; use perf inject itself, on recordings of perf record'),
    ('stat --filter prev_pid==1 -e sched:sched_switch -- true',
     "stat: unknown option --filter; there is none here: `perf-prof top -e 'sched:sched_switch/prev_pid==1/'` counts events"),
    ('script -G', 'script: unknown option -G; here it is -F comm,tid,cpu,time,event: without ip, there are no call chains'),
    ('script --gen-script', 'script: unknown option --gen-script; here it is `perf-prof python -I FILE help`, which prints a script'),
    ('script --reltime', 'script: unknown option --reltime; there is none here: '),
    ('stat -G nope -- true', 'stat: unknown option -G; here it is --cgroup PATH'),
    ('stat --interval-count 3', 'stat: unknown option --interval-count; here it is --seconds N, as in `perf-prof stat -i 1000 --seconds 5`'),
    ('stat --timeout 100', 'stat: unknown option --timeout; here it is --seconds N; '),
    ('stat -M IPC', 'stat: unknown option -M; use perf stat itself'),
    ('stat --per-socket', 'stat: unknown option --per-socket; there is none here: --per-core prints a line for each core, -A for each CPU'),
    ('stat --for-each-cgroup a', 'stat: unknown option --for-each-cgroup; here it is --cgroup PATH; it can be repeated'),
    ('record --append', 'record: unknown option --append; there is none here: each run writes a file'),
    ('trace -S', 'trace: unknown option -S; here it is `perf-prof syscalls`'),
    ('trace --no-syscalls', 'trace: unknown option --no-syscalls; it is not needed: only the events of -e are printed'),
    ('trace --filter-pids 1', "trace: unknown option --filter-pids; there is none here: `perf-prof trace -e 'EVENT/_pid!=123/'` leaves out"),
    ('trace -T', 'trace: unknown option -T; it is not needed: lines begin with the time'),
    ('top -F 99', 'top: unknown option -F; the hottest functions are shown by `perf-prof profile -F HZ`'),
    ('top -K', 'top: unknown option -K; the hottest functions are shown by `perf-prof profile --exclude-kernel`'),
    ('top -d 2', 'top: unknown option -d; here it is -i MS, such as -i 2000'),
    ('top -z', 'top: unknown option -z; it is not needed: each interval (-i) has its own counts'),
    ('top -E 10', 'top: unknown option -E; here it is --rows N'),
    ('-l', '-l: `perf-prof list` lists the events'),
    # strace and py-spy
    ('record -c 1e6 -- true', '-c 1e6: expected events per sample, a whole number such as 1000000'),
    ('list -l', 'list: unknown option -l; it is not needed: events are the default'),
    ('trace -e trace=openat -- true', 'there is no event trace=openat on this machine'),
    ('syscalls -A x -- true', 'syscalls: unknown option -A; there is none here: -o FILE writes a new file'),
    ('syscalls -E A=1 -- true', 'syscalls: unknown option -E; here it is part of the command: -- env NAME=VALUE COMMAND'),
    ('syscalls -S calls -- true', 'syscalls: unknown option -S; there is none here: --csv and --json have all rows'),
    ('syscalls -u root -- true', 'syscalls: unknown option -u; here it is part of the command: -- setpriv --reuid=USER COMMAND'),
    ('syscalls -f -- true', 'syscalls: unknown option -f; it is not needed: processes that it starts are watched, too'),
    ('syscalls -c -- true', 'syscalls: unknown option -c; it is not needed: the summary is the default'),
    ('syscalls -yy -- true', 'syscalls: unknown option -yy; there is none here: --paths shows the paths and addresses'),
    ('syscalls -k -- true', 'syscalls: unknown option -k; here it is -g, with --than TIME, --errors or --paths'),
    ('syscalls -Z -- true', 'syscalls: unknown option -Z; here it is --errors'),
    ('syscalls -T -- true', 'syscalls: unknown option -T; it is not needed: the table has the times of calls; --than TIME '),
    ('syscalls -tt -- true', 'syscalls: unknown option -tt; here it is `perf-prof trace -e syscalls`'),
    ('syscalls -P /etc/passwd', "syscalls: unknown option -P; here it is --match GLOB, such as --match '/etc/*'"),
    ('syscalls --trace openat', "syscalls: unknown option --trace; here it is part of the events: -e 'raw_syscalls:sys_enter/id==257/,"),
    ('syscalls --duration 10', 'syscalls: unknown option --duration; here it is --than TIME, such as --than 10ms'),
    ('profile -d 3', 'profile: unknown option -d; here it is --seconds N'),
    ('profile --rate 3', 'profile: unknown option --rate; here it is -F HZ'),
    ('profile --native', 'profile: unknown option --native; here it is `perf-prof profile -g -- python3 -X perf SCRIPT`'),
    ('profile --subprocesses', 'profile: unknown option --subprocesses; it is not needed: '),
    ('profile --nonblocking', 'profile: unknown option --nonblocking; it is not needed: '),
    ('profile --threads', 'profile: unknown option --threads; here it is --sort tid'),
    ('profile -f speedscope', 'profile: unknown option -f; here the name of the file says it: --flame-graph out.svg, '),
    ('dump --locals 1', 'dump: unknown option --locals; there is none here: '),
    ('record --duration 3', 'record: unknown option --duration; here it is --seconds N'),
    ('stat --duration 3', 'stat: unknown option --duration; here it is --seconds N'),
    ('record --rate 3', 'record: unknown option --rate; here it is -F HZ'),
    ('top --frequency 3', 'top: unknown option --frequency; the hottest functions are shown by `perf-prof profile -F HZ`'),
    ('--verison', '--verison: did you mean --version?'),
    ('-hlep', '-hlep: did you mean --help?'),
    ('-v', '-v: expected a command before options; -V prints the version'),
    ('stat -e t:syscalls:sys_enter_openat -- true', 't:syscalls:sys_enter_openat is the spelling of bpftrace; here it is -e '
     'syscalls:sys_enter_openat'),
    ('profile -p python3', '-p python3: unexpected "python3"; expected numbers up to 2147483647 and ascending ranges, separated by '
     'commas, such as 0-3,7; `pgrep -d, NAME` prints the ids of the processes of that name'),
    # words and values of perf
    ('stat -e sched:sched_switch/prev_pid==1/ -- true',
     "stat -e: stat has no filters; `perf-prof top -e 'sched:sched_switch/prev_pid==1/'` counts events with one"),
    ('stat -e {task-clock,sched:sched_switch/(prev_pid>3)/} -- true',
     "stat -e: stat has no filters; `perf-prof top -e 'sched:sched_switch/(prev_pid>3)/'` counts events with one"),
    ('stat -e syscalls:sys_enter_openat/filename.ustring=="/etc/passwd"/ -- true', 'stat -e: stat has no filters; '
     """`perf-prof top -e 'syscalls:sys_enter_openat/filename.ustring=="/etc/passwd"/'` counts events with one"""),
    ('stat -e task-clock/foo/ -- true', 'stat -e: there is no term "foo" of this event'),
    ('stat -e sched:sched_switch/period=x/ -- true', 'stat -e: period=x is not valid'),
    ('record -G mygrp -- true', "-G mygrp: here -G is --exclude-host; perf's -G is --cgroup mygrp (if that is the program to run, "),
    ('top -i /dev/null', '-i /dev/null: expected milliseconds, such as 1000: from 0 (never) to 31622400000 (366 days); '
     'a recording is read with -I /dev/null'),
    ('stat -i /dev/null', '-i /dev/null: expected milliseconds, such as 1000: from 1 to 31622400000 (366 days)\n'),
    ('profile -o out.svg -- true', '-o out.svg: that file would contain the printed text; for a picture: --flame-graph out.svg'),
    ('latency --output=out.svg', '--output out.svg: that file would contain the printed text; for a picture: --heatmap out.svg'),
    ('script record syscall-counts', 'script: there is no recording record; `perf-prof record -- COMMAND` records, '),
    ('script flamegraph', 'script: there is no recording flamegraph; here it is `perf-prof report --flame-graph out.svg`'),
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
    # system calls instead of events
    ('syscalls -e openat -- true', "syscalls -e openat: events are expected here; for these calls: --call openat"),
    ('syscalls -e trace=!openat -- true', "syscalls -e trace=!openat: events are expected here; for all but these calls: -e "
     "'raw_syscalls:sys_enter/id!="),
    ('syscalls -e trace=nope -- true', 'syscalls -e trace=nope: events are expected here; for one call, such as openat: '),
    ('syscalls -e %file -- true', 'syscalls -e %file: there are no classes of calls here; --paths shows calls that use a path'),
    ('syscalls -e nope -- true', 'there is no event nope on this machine'),
    # what is not that command's in perf
    ('script --percent-limit 5', 'script: unknown option --percent-limit; `perf-prof script --help-all` lists them'),
    ('stat -I 100 -- true', 'stat: unknown option -I; did you mean -i (--interval)?'),
    ('annotate main', 'there is no command annotate; here it is `perf-prof report --annotate FUNCTION`'),
    ('mem record', 'there is no command mem; use perf mem itself'),
    ('evlist', 'there is no command evlist; `perf-prof report FILE` has a section for each event'),
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


@pytest.mark.parametrize('command, options', [
    ('report', ['--than', '--sort', '--callers', '--annotate', '--flame-graph']), ('script', ['-N']), ('python', ['-I']), ('record', ['--monotonic']),
    ('diff', ['--than']), ('profile', ['--below', '--sort']), ('waits', ['--on']), ('convert', ['--to']),
])
def test_what_the_messages_name_exists(run, command, options):
    text = run(f'{command} --help-all').stdout
    for option in options:
        assert re.search(rf'^ *(-\w, )?{option}\b', text, re.M), option


ADVISED = [
    "top -e sched:sched_switch/prev_pid==1/ -i 100 --rows 3 -- true",
    'stat -e task-clock -i 100 --seconds 0.3', 'stat -e task-clock -- timeout 5 true', 'stat -e task-clock -a --per-core -- true',
    'trace -e syscalls -- true', 'trace -e page-faults -- true', 'trace -e sched:sched_switch/_pid!=123/ -- true',
    'latency -e sched:sched_wakeup -e sched:sched_switch//key=next_pid/ -k pid -- true',
    'trace -g -e sched:sched_switch//max-stack=8/ -- true', 'syscalls -g --than 1s -- true', 'syscalls -g --errors -- true',
    'profile --exclude-kernel -F 99 --seconds 0.1', 'profile --sort tid --seconds 0.1',
    'record -TPR --timestamp --all-user -g -o job.data -- true',      # as perf has them
]


@pytest.mark.parametrize('words', [pytest.param(words, marks=live) for words in ADVISED] + [
    f'python -I {DATA}/amd64-7-chains.data help', f'script -F comm,tid,cpu,time,event {DATA}/amd64-7-several.data',
    f'report --sort tid {DATA}/amd64-7-chains.data'])
def test_what_the_messages_advise_runs(run, words):
    done = run(words)
    assert done.returncode == 0, done


@live
def test_the_advised_option_selects_the_calls(run):
    names = re.search('for these calls: --call (.*)', run('syscalls -e trace=openat,read -- true').stderr)[1]
    table = run(f'syscalls --call {names} -- cat /dev/null')
    assert set(re.findall(r'\b(\w+)\(\d+\)', table.stdout)) == {'openat', 'read'} and not table.returncode, (names, table)


@live
def test_the_advised_filter_leaves_out_the_calls(run):
    events = re.search("-e '(.*)'", run('syscalls -e trace=!openat,read -- true').stderr)[1]
    table = run(f'syscalls -e {events} -- cat /dev/null')
    calls = set(re.findall(r'\b(\w+)\(\d+\)', table.stdout))
    assert 'mmap' in calls and not calls & {'openat', 'read'} and not table.returncode, (events, table)


@pytest.mark.parametrize('events, what', [
    ('raw_syscalls:sys_enter/id==257/,raw_syscalls:sys_exit', 'ends without a start'),
    ('raw_syscalls:sys_enter,raw_syscalls:sys_exit/id==257/', 'starts with another start before the end'),
])
@live
def test_calls_whose_other_event_is_filtered_out(run, events, what):
    done = run(f'syscalls -e {events} -- true')
    assert re.search(rf'^incomplete calls: .*\d+ {what} \(the filters of the events differ\)$', done.stdout, re.M), done


SPELLINGS = [
    ('tracepoint:sched:sched_switch', '-e sched:sched_switch'), ('t:sched:sched_switch', '-e sched:sched_switch'),
    ('u:/bin/bash:readline', '-e uprobe:readline@/bin/bash'), ('U:/bin/app:shop:sold', '-e usdt:shop:sold@/bin/app'),
    ('page-faults,profile:hz:99', "-e 'profile/-F 99/'"), ('software:faults:1', '-e sw:page-faults/period=1/'),
    ('hardware:cache-misses:1000000', '-e cache-misses/period=1000000/'), ('interval:s:1', '-i 1000'),
    ('kfunc:vfs_read', '-e kprobe:vfs_read'), ('fexit:vfs_read', '-e kretprobe:vfs_read'),
]


@live
@pytest.mark.parametrize('events, here', SPELLINGS)
def test_events_of_bpftrace(run, events, here):
    done = run(['trace', '-e', events, '--', 'true'])
    word = events.split(',')[-1]
    assert done.returncode == 2 and done.stderr == f'perf-prof: {word} is the spelling of bpftrace; here it is {here}\n', done


@pytest.mark.parametrize('events', ['BEGIN { x = 1 }', 'tracepoint:sched:sched_switch { @[comm] = count(); }', 'kprobe:f /pid == 1/ { exit(); }'])
def test_programs_of_bpftrace(run, events):
    done = run(['trace', '-e', events, '--', 'true'])
    assert done.returncode == 2 and done.stderr == (
        'perf-prof: -e takes events, not bpftrace programs: docs/from-scripts.md shows how to write them in Python\n'), done


@live
@pytest.mark.parametrize('words', [
    ['trace', '-e', 'sched:sched_switch/args.prev_pid>0/'], ['trace', '-e', 'sched:sched_switch/1 && args->prev_pid>0/'],
    ['top', '-k', 'args->prev_pid', '-e', 'sched:sched_switch'],
])
def test_fields_have_no_args(run, words):
    done = run([*words, '--', 'true'])
    assert done.returncode == 2 and 'fields are written without args\n' in done.stderr and '\nexpected: prev_pid\n' in done.stderr, done


RECORDS = ('record: there is no such program; `perf-prof record -- COMMAND` records, and `perf-prof report` shows the recording')


@live
@pytest.mark.parametrize('words, code, told', [
    ('stat record -- true', 127, RECORDS), ('trace -e syscalls record -- true', 127, RECORDS),
    ('profile ./p.py', 126, './p.py is a Python script, not a program; put python3 before it: -- python3 ./p.py'),
    ('profile p.py', 127, 'p.py is a Python script, not a program; put python3 before it: -- python3 p.py'),
    ('syscalls --than 10000 ms', 127, 'ms: there is no such program; a time is written without a space: 10ms'),
])
def test_words_that_are_no_program(run, tmp_path, words, code, told):
    (tmp_path / 'p.py').write_text('print(1)\n')
    done = run(words)
    assert (done.returncode, done.stderr) == (code, f'perf-prof: {told}\n')


@live
def test_after_dashes_it_is_a_program(run):
    done = run('stat -- record')
    assert done.returncode == 127 and 'run shell built-ins' in done.stderr, done


@pytest.mark.parametrize('words, told', [
    ('-e syscalls:sys_exit_read -e syscalls:sys_enter_read', True),
    ('-e syscalls:sys_enter_read -e syscalls:sys_exit_read', False),
    ('-q -e syscalls:sys_exit_read -e syscalls:sys_enter_read', False),
    ('-e syscalls:sys_exit_read -e syscalls:sys_enter_write', False),
])
@live
def test_swapped_pairs(run, words, told):
    if requires.why_not('tracefs') or requires.why_not('root'):
        pytest.skip('tracepoints are needed')
    got = run(f'latency {words} -- true')
    assert got.returncode == 0 and told == (
        'perf-prof: latency: the order is -e START -e END: these pairs begin when a call returns, and end at the next one; '
        'swap the events for the time that calls take\n' in got.stderr), got
