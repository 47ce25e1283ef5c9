# SPDX-License-Identifier: Apache-2.0
"""A user's files, however large, don't keep root's profiler from ending, or from reading its rings."""
import os
import pathlib
import re
import shutil
import subprocess
import time

import pytest

from frame import requires
from security.conftest import STRANGER

if requires.why_not('program:gcc') or requires.why_not('program:objcopy'):
    pytestmark = pytest.mark.skip(reason='needs gcc and objcopy')

SECONDS, PATIENCE = 3, 200
SPINS = """
volatile unsigned long sink;
__attribute__((noinline)) static void spins(void) { for (int i = 0; i < 100000; i++) sink += i; }
int main(void) { for (;;) spins(); }
"""


def compiled(folder, source=SPINS, *args):
    (folder / 'evil.c').write_text(source)
    subprocess.run(['gcc', '-O1', '-fno-omit-frame-pointer', '-o', folder / 'evil', folder / 'evil.c', *args],
                   check=True)
    return folder / 'evil'


def linked(folder):
    """A program that says that evil.debug has its names."""
    program = compiled(folder, SPINS, '-s')
    (folder / 'link').write_bytes(b'evil.debug\0\0' + b'\1\2\3\4')
    subprocess.run(['objcopy', '--add-section', f'.gnu_debuglink={folder}/link', program], check=True)
    return program


def sparse(path, size):
    with open(path, 'wb') as file:
        file.truncate(size)


def larger_than_any(folder):
    sparse(folder / 'evil.debug', 1 << 40)
    return linked(folder)


def as_large_as_is_read(folder):
    sparse(folder / 'evil.debug', (4 << 30) - 4096)
    return linked(folder)


def fifo(folder):
    os.mkfifo(folder / 'evil.debug')
    return linked(folder)


def sparse_program(folder):
    program = compiled(folder)
    os.truncate(program, 1 << 40)
    return program


class Run:
    def __init__(self, prof, *args):
        begin = time.monotonic()
        done = subprocess.run(['timeout', '-s', 'INT', str(SECONDS), prof, 'profile', '-g', '-q', '-v', '-F', '1999', *args],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)
        self.seconds = time.monotonic() - begin
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        self.lost = max(map(int, re.findall(r'delivered, (\d+) lost', self.err)), default=0)


@pytest.fixture
def evil(folder):
    """Starts what an attack makes, as its owner: a program of a user who is not root."""
    started = []

    def start(attack, count=1):
        program = attack(folder)
        for path in [folder, *pathlib.Path(folder).rglob('*')]:
            shutil.chown(path, STRANGER.pw_uid, STRANGER.pw_gid)
        started.extend(subprocess.Popen([program], user=STRANGER.pw_uid, group=STRANGER.pw_gid, extra_groups=[],
                                        stdout=subprocess.DEVNULL) for _ in range(count))
    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.alone
@pytest.mark.parametrize('attack', [larger_than_any, as_large_as_is_read, fifo, sparse_program],
                         ids=lambda attack: attack.__name__)
def test_files_do_not_hold_the_profiler_up(prof, evil, attack):
    """It took 40 s."""
    clean = Run(prof)
    evil(attack)
    run = Run(prof)
    assert run.code == clean.code, run.err
    assert run.seconds < clean.seconds + 4, run.err
