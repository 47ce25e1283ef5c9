# SPDX-License-Identifier: Apache-2.0
"""A user's file that takes long to read: root's profiler ends, and says so. What other files and tasks do is in test_neighbours.py."""
import os
import re
import shutil
import subprocess

import pytest

from frame import requires
from security.conftest import STRANGER

pytestmark = pytest.mark.live

if requires.why_not('program:gcc') or requires.why_not('program:objcopy'):
    pytestmark = pytest.mark.skip(reason='needs gcc and objcopy')

SECONDS, PATIENCE = 3, 200
SPINS = """
volatile unsigned long sink;
__attribute__((noinline)) static void spins(void) { for (int i = 0; i < 100000; i++) sink += i; }
int main(void) { for (;;) spins(); }
"""


class Run:
    """What it said, and how many events it had."""

    def __init__(self, prof, *args):
        done = subprocess.run(['timeout', '-s', 'INT', str(SECONDS), prof, *args], text=True, errors='replace',
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)
        self.out, self.err = done.stdout, done.stderr
        self.delivered = int(re.search(r'(\d+) events? delivered, \d+ lost', self.err)[1])


PROFILE = 'profile', '--call-graph', 'fp', '-v', '-i', '1000', '-F', '1999'     # not auto: what it takes depends on who runs


@pytest.fixture
def evil(folder):
    """A running program of a user who is not root, which says that a file as large as is read has its names."""
    (folder / 'evil.c').write_text(SPINS)
    subprocess.run(['gcc', '-O1', '-fno-omit-frame-pointer', '-s', '-o', folder / 'evil', folder / 'evil.c'], check=True)
    (folder / 'link').write_bytes(b'evil.debug\0\0' + b'\1\2\3\4')
    subprocess.run(['objcopy', '--add-section', f'.gnu_debuglink={folder}/link', folder / 'evil'], check=True)
    (folder / 'evil.debug').touch()
    os.truncate(folder / 'evil.debug', (4 << 30) - 4096)
    for path in [folder, *folder.rglob('*')]:
        shutil.chown(path, STRANGER.pw_uid, STRANGER.pw_gid)
    with subprocess.Popen([folder / 'evil'], user=STRANGER.pw_uid, group=STRANGER.pw_gid, extra_groups=[]) as process:
        yield
        process.kill()


@pytest.mark.alone
def test_what_took_too_long_is_told(prof, evil, folder):
    run = Run(prof, *PROFILE)
    assert f'took too long, and some functions have no names: {folder}/evil' in run.err


@pytest.mark.alone
def test_stacks_that_are_printed_do_not_wait_for_their_names(prof, evil):
    run = Run(prof, 'trace', '--call-graph', 'fp', '-v', '-e', 'sched:sched_switch')
    assert run.delivered, run.err
    assert re.search(r'\[unknown\]\+0x[0-9a-f]+ \(.*/evil\)', run.out)
