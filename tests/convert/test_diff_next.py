# SPDX-License-Identifier: Apache-2.0
"""perf-prof diff: the order of rows of --total, and the lines below the table that say what to do next."""
import json
import re
import subprocess
import sys

import pytest

TIMES = '''
#define WORK(name) __attribute__((noinline)) void name(long n) { for (volatile long i = 0; i < n; i++) {} }
WORK(kept)
WORK(longer)
int main(int argc, char **argv) { for (int i = 0; i < 40; i++) { kept(1000000); longer(argc > 1 ? 9000000 : 1000000); } }
'''
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


@pytest.mark.live
def test_what_to_do_next(prof, tmp_path):
    """Where rates differ."""
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
    assert re.search(r'^the recordings were sampled at 499 to 997 Hz; record all with -F 997 to detect smaller changes$', text, re.M), text


def table_of(prof, folder, *args):
    done = subprocess.run([prof, 'diff', '--json', '--rows', '0', *args], cwd=folder, capture_output=True, text=True, timeout=60)
    assert not done.returncode, done
    return {row['function']: row for row in json.loads(done.stdout)['rows']}


def test_the_folder_of_a_lock_does_not_matter(prof, tmp_path):
    """Also if each run has its own, and only in stacks of waits."""
    for side, ns in (('old', 100), ('new', 200)):
        for i in range(3):
            (tmp_path / f'{side}{i}').write_text(f'srv;main;futex big (/tmp/{side}{i}/srv);[because of srv] {(ns + i) * 1000000}\n'
                                                 f'# weight={(ns + i) * 1000000} unit=ns\n')
    rows = table_of(prof, tmp_path, '--total', 'old0', 'old1', 'old2', '--vs', 'new0', 'new1', 'new2')
    lock = rows['futex big (srv)']
    assert (lock['before_time'], lock['after_time'], lock['verdict']) == (101000000, 201000000, 'more time'), rows
    (tmp_path / 'a').write_text('init (/a/x/i.py) 60\ninit (/a/y/i.py) 40\n')
    (tmp_path / 'b').write_text('init (/b/z/i.py) 100\n')
    assert len(table_of(prof, tmp_path, 'a', 'b')) == 3


@pytest.mark.live
def test_builds_of_a_file_with_a_strange_name(prof, tmp_path):
    """In the last line, they are escaped as in the stacks."""
    (tmp_path / 'job.c').write_text(TIMES)
    name = 'e\x7fv,i:l'
    subprocess.run(['gcc', '-O1', '-s', '-o', name, 'job.c'], cwd=tmp_path, check=True)
    done = subprocess.run([prof, 'profile', '-q', '-e', 'cpu-clock:u', '--flame-graph', 'f.folded', '--', f'./{name}'], cwd=tmp_path,
                          capture_output=True, text=True, timeout=60)
    if done.returncode:
        pytest.skip(done.stderr.strip())
    text = (tmp_path / 'f.folded').read_bytes()
    assert rb'builds=e\x7fv_i_l:' in text and b'\x7f' not in text, text[-300:]
    rows = table_of(prof, tmp_path, 'f.folded', 'f.folded')
    assert not [row for row in rows.values() if row['verdict'] == 'not compared'], rows


def test_memory_for_names_of_threads(prof, tmp_path):
    """33 KB of names that differ in the last letters of a word: a hash that leaves these out takes 800 MB."""
    def stacks(prefix):
        return ''.join(f'{prefix}{p};fn{p}_{n};[because of {prefix}{p}];k 1000000\n' for p in range(20) for n in range(50))
    for name, prefix in (('a', 'p'), ('b', 'q')):
        (tmp_path / name).write_text(stacks(prefix) + '# weight=1000000000 unit=ns\n')
    code = ('import resource, subprocess, sys\n'
            'subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n'
            'print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)')
    done = subprocess.run([sys.executable, '-c', code, prof, 'diff', '--total', 'a', 'b'], cwd=tmp_path, capture_output=True, text=True,
                          timeout=100, check=True)
    assert int(done.stdout) < 200000, done
