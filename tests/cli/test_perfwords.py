# SPDX-License-Identifier: Apache-2.0
"""Options and commands of perf that have other names here, or are not needed: the message says what to use."""
import re
import subprocess

import pytest

ANSWERS = [
    ('report --stdio', 'report: unknown option --stdio; it is not needed: tables are text'),
    ('report --percent-limit 5', 'report: unknown option --percent-limit; here it is --than PERCENT'),
    ('report --percent-limit=5', 'report: unknown option --percent-limit; here it is --than PERCENT'),
    ('report -s comm', 'report: unknown option -s; here it is --sort KEY[,KEY...]'),
    ('script -s a.py', 'script: unknown option -s; here it is `perf-prof python -I FILE SCRIPT`'),
    ('record --filter prev_pid==1 -- true', 'record: unknown option --filter; here a filter is part of the event: '),
    ('record -b -- true', "record: unknown option -b; here it is part of the event: -e 'cycles//sample=branch_stack/'"),
    ('trace -s -- true', 'trace: unknown option -s; here it is `perf-prof syscalls`'),
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


@pytest.mark.parametrize('command, options', [
    ('report', ['--than', '--sort', '--callers', '--annotate', '--flame-graph']), ('script', ['-N']), ('python', ['-I']), ('record', ['--monotonic']),
    ('diff', ['--than']), ('profile', ['--below', '--sort']), ('waits', ['--on']), ('convert', ['--to']),
])
def test_what_the_messages_name_exists(prof, command, options):
    text = subprocess.run([prof, command, '-h'], capture_output=True, text=True, check=True, timeout=60).stdout
    for option in options:
        assert re.search(rf'^ *(-\w, )?{option}\b', text, re.M), option
