# SPDX-License-Identifier: Apache-2.0
"""report --annotate reads the source that a program names. Anybody's program can name any file."""
import os
import re
import shutil
import subprocess

import pytest

from security.conftest import CALLER, STRANGER, run, sudo

pytestmark = pytest.mark.live

SECRET = 'the secret of root'
PROGRAM = '''
#include <sys/mman.h>
#line 1 "{file}"
static volatile char *page; __attribute__((noinline)) void spy(int n) {{ for (; n > 0; n--, page += 4096) *page = 1; }}
int main(void)
{{
	page = mmap(0, 400 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise((void *)page, 400 * 4096, MADV_NOHUGEPAGE);
	spy(400);
}}
'''


@pytest.fixture
def recorded(prof, folder):
    """recorded(owner): a recording of a program that belongs to that user and names a file of root's as its source."""
    def record(owner):
        secret = folder / 'secret'
        secret.write_text(SECRET + '\n')
        secret.chmod(0o600)
        (folder / 'spy.c').write_text(PROGRAM.format(file=secret))
        subprocess.run(['gcc', '-g', '-O1', '-o', folder / 'spy', folder / 'spy.c'], check=True)
        os.chown(folder / 'spy', owner, owner)
        run(prof, 'record', '-e', 'page-faults:u', '-c', '1', '-o', folder / 'spy.data', '--', folder / 'spy', check=True)
        os.chmod(folder / 'spy.data', 0o644)
        return folder / 'spy.data'
    if not shutil.which('gcc'):
        pytest.skip('needs gcc')
    return record


def annotated(prof, path, **kw):
    done = run(prof, 'report', '--annotate', 'spy', path, **kw)
    assert re.search('(source lines|instructions) of spy', done.stdout), done.stderr
    return done.stdout


def test_root_reads_its_own(prof, recorded):
    assert SECRET in annotated(prof, recorded(0))


@pytest.mark.parametrize('owner, env', [(STRANGER.pw_uid, None), (0, sudo(CALLER))], ids=['of a stranger', 'sudo'])
def test_no_file_of_root_is_shown(prof, recorded, owner, env):
    text = annotated(prof, recorded(owner), env=env)
    assert SECRET not in text and '/secret (not shown: Permission denied)' in text


def test_under_sudo_a_live_profile_shows_the_caller_no_file_of_root(prof, recorded):
    done = run(prof, 'page-faults', '-q', '--annotate', 'spy', '--', recorded(0).parent / 'spy', env=sudo(CALLER))
    assert 'source lines of spy' in done.stdout and SECRET not in done.stdout, done.stderr


def test_under_sudo_the_caller_sees_no_instructions_of_a_program_that_only_root_may_read(prof, recorded, folder):
    """Names of its functions are supplied by the process that stays root; its code is not."""
    path = recorded(0)
    subprocess.run(['gcc', '-O1', '-o', folder / 'spy', folder / 'spy.c'], check=True)
    run(prof, 'record', '-e', 'page-faults:u', '-o', path, '--', folder / 'spy', check=True)
    os.chmod(path, 0o644)
    instruction = r'^ *[\d.]+ +[\d.]+ +0x[0-9a-f]+  \w'
    if not re.search(instruction, annotated(prof, path), re.M):
        pytest.skip('needs a perf-prof with libcapstone')
    assert re.search(instruction, annotated(prof, path, env=sudo(CALLER)), re.M)
    os.chmod(folder / 'spy', 0o700)
    text = annotated(prof, path, env=sudo(CALLER))
    assert not re.search(instruction, text, re.M) and 'its instructions cannot be read from its file' in text


SPINS = '''
#line 1 "{file}"
static volatile int on; __attribute__((noinline)) void spy(void) {{ for (long n = 0; n < 3000000000; n++) on = 1; }}
int main(void) {{ spy(); }}
'''


def test_a_program_of_another_root_shows_no_file_of_ours(prof, folder):
    """As in a container: its program belongs to root, and its source has a path that is another file here."""
    if not shutil.which('gcc'):
        pytest.skip('needs gcc')
    (folder / 'secret').write_text(SECRET + '\n')
    (folder / 'root').mkdir()
    (folder / 'spins.c').write_text(SPINS.format(file=folder / 'secret'))
    subprocess.run(['gcc', '-g', '-O1', '-static', '-o', folder / 'root/spins', folder / 'spins.c'], check=True)
    done = subprocess.run([prof, 'profile', '--annotate', 'spy', '--', 'chroot', folder / 'root', '/spins'],
                          capture_output=True, text=True, timeout=120)
    assert 'source lines of spy' in done.stdout, done.stderr
    assert SECRET not in done.stdout and "/secret (not shown: the program's file is not at its path here" in done.stdout
