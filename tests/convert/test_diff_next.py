# SPDX-License-Identifier: Apache-2.0
"""perf-prof diff: the order of rows of --total, and the lines below the table that say what to do next."""
import json
import re
import subprocess

import pytest

from test_diff import TIMES


KERNEL = 'entry_SYSCALL_64_after_hwframe;do_syscall_64;ksys_read;vfs_read'


def test_total_has_functions_of_the_program_before_those_of_all(prof, tmp_path):
    """Those of the kernel and of the C library have the sum of the differences of all their callers."""
    def write(name, parse, load):
        (tmp_path / name).write_text(f'job;_start;__libc_start_main@@GLIBC_2.34;main;parse;__GI___libc_read;{KERNEL} {parse}\n'
                                     f'job;_start;__libc_start_main@@GLIBC_2.34;main;load;__GI___libc_read;{KERNEL} {load}\n'
                                     f'job;_start;__libc_start_main@@GLIBC_2.34;main;kept 900000000\n'
                                     f'# weight={parse + load + 900000000} unit=ns\n')
        return name
    old = [write(f'old{i}', 10000000 + i * 100000, 20000000 + i * 100000) for i in range(3)]
    new = [write(f'new{i}', 80000000 + i * 100000, 60000000 + i * 100000) for i in range(3)]
    text = subprocess.run([prof, 'diff', '--total', '--json', *old, '--vs', *new], cwd=tmp_path, capture_output=True, text=True,
                          timeout=60, check=True).stdout
    functions = [row['function'] for row in json.loads(text)['rows'] if row.get('marked')]
    assert functions[:2] == ['parse', 'load'] and {'vfs_read', '__GI___libc_read'} <= set(functions), functions


def test_what_to_do_next(prof, tmp_path):
    """The lines of a function that changed; if none did for certain, though all together did; and where rates differ."""
    (tmp_path / 'job.c').write_text(TIMES)
    subprocess.run(['gcc', '-O1', '-o', 'job', 'job.c'], cwd=tmp_path, check=True)
    for name, rate, args in (('a', 997, []), ('b', 499, ['longer'])):
        done = subprocess.run([prof, 'record', '-q', '-e', 'cpu-clock:u', '-F', str(rate), '-o', f'{name}.data', '--', './job', *args],
                              cwd=tmp_path, capture_output=True, text=True, timeout=60)
        if done.returncode:
            pytest.skip(done.stderr.strip())

    def diff(*args):
        return subprocess.run([prof, 'diff', *args], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True).stdout
    text = diff('a.data', 'b.data')
    line = re.search(r'^which lines of longer take the time: (perf-prof (report -I b.data --annotate longer))$', text, re.M)
    assert line, text
    assert 'longer' in subprocess.run([prof, *line[2].split()], cwd=tmp_path, capture_output=True, text=True, timeout=60).stdout
    assert re.search(r'^the recordings were sampled at 499 to 997 Hz; record all with -F 997 to detect smaller changes$', text, re.M), text
    assert 'which lines of' not in diff('-q', 'a.data', 'b.data') + diff('--json', 'a.data', 'b.data')


def test_all_changed_and_none_for_certain(prof, tmp_path):
    names = [f'part{i}' for i in range(60)]
    for k, weight in (('old', 1000000), ('new', 1040000)):
        for i in range(2):
            rows = [f'job;main;{name} {weight}' for name in names]
            (tmp_path / f'{k}{i}').write_text('\n'.join(rows) + f'\n# samples=6000 alike=6000 weight={60 * weight} '
                                              'event=python time=command inlined=no\n')
    done = subprocess.run([prof, 'diff', 'old0', 'old1', '--vs', 'new0', 'new1'], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith('0 changed (self time') and ', more time)' in done.stdout, done
    assert ('all functions together changed, but no single one for certain: '
            'compare more recordings, or sample faster (-F 4999); '
            '--total compares functions including what they called\n') in done.stdout, done
