# SPDX-License-Identifier: Apache-2.0
"""Options and commands of perf that have other names here, or are not needed: the message says what to use."""
import re
import subprocess

import pytest

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
    ('profile -S', 'profile: unknown option -S; `perf-prof profile -h` lists them'),
    ('top -s comm', "top: unknown option -s; here it is part of the event: -e 'EVENT//key=comm/'"),
    ('stat --stdio -- true', 'stat: unknown option --stdio; `perf-prof stat -h` lists them'),
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
    # what is not that command's in perf
    ('script --percent-limit 5', 'script: unknown option --percent-limit; `perf-prof script -h` lists them'),
    ('stat -I 100 -- true', 'stat: unknown option -I; did you mean -i (--interval)?'),
    ('annotate main', 'there is no command annotate; here it is `perf-prof report --annotate FUNCTION`'),
    ('mem record', 'there is no command mem; use perf mem itself'),
    ('evlist', 'there is no command evlist; `perf-prof report FILE` has a section for each event'),
    ('reprot', 'there is no command reprot; did you mean report?'),
]


@pytest.mark.parametrize('words, answer', ANSWERS, ids=[words for words, _ in ANSWERS])
def test_what_perf_calls_otherwise(prof, words, answer):
    done = subprocess.run([prof, *words.split()], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and not done.stdout and done.stderr.startswith(f'perf-prof: {answer}'), done


@pytest.fixture(scope='module')
def recording(prof, tmp_path_factory):
    path = tmp_path_factory.mktemp('perfwords') / 'job.data'
    spin = 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'
    subprocess.run([prof, 'record', '-TPR', '--timestamp', '--all-user', '-g', '-o', path, '--', 'sh', '-c', spin],
                   capture_output=True, check=True, timeout=60)
    return path


@pytest.mark.parametrize('perf, own', [
    ('report -i', 'report -I'), ('report -f --force --stdio --no-children --group -i', 'report -I'),
    ('report -s comm,sym -i', 'report --sort comm,symbol -I'), ('report -s srcline -i', 'report --sort line -I'),
    ('report --percent-limit 3 -i', 'report --than 3 -I'), ('script --max-events 2 -fi', 'script -N 2 -I'),
])
def test_what_perf_spells_otherwise_is_accepted(prof, recording, perf, own):
    runs = [subprocess.run([prof, *words.split(), recording], capture_output=True, text=True, timeout=60) for words in (perf, own)]
    assert [run.returncode for run in runs] == [0, 0], runs
    assert runs[0].stdout == runs[1].stdout and not runs[0].stderr, runs
    assert len(runs[0].stdout.splitlines()) >= 2, runs


@pytest.mark.parametrize('command, options', [
    ('report', ['--than', '--sort', '--callers', '--annotate', '--flame-graph']), ('script', ['-N']), ('python', ['-I']), ('record', ['--monotonic']),
    ('diff', ['--than']), ('profile', ['--below', '--sort']), ('waits', ['--on']), ('convert', ['--to']),
])
def test_what_the_messages_name_exists(prof, command, options):
    text = subprocess.run([prof, command, '-h'], capture_output=True, text=True, check=True, timeout=60).stdout
    for option in options:
        assert re.search(rf'^ *(-\w, )?{option}\b', text, re.M), option
