# SPDX-License-Identifier: Apache-2.0
"""Copies of sampled programs in ~/.debug: under sudo they are written with the caller's rights, of files that the caller may read."""
import os
import re
import shutil
import subprocess

import pytest

from security.conftest import CALLER, given, link, run, sudo

pytestmark = pytest.mark.live

SOURCE = '''
static char pages[500 * 4096];
__attribute__((noinline)) void touch(volatile char *page, int n) { while (n--) page[n * 4096L] = 1; }
int main(void) { touch(pages, 500); }
'''


@pytest.fixture
def program(folder):
    (folder / 'job.c').write_text(SOURCE)
    subprocess.run(['gcc', '-O1', '-g', '-Wl,--build-id', '-o', folder / 'job', folder / 'job.c'], check=True)
    return folder / 'job'


@pytest.fixture
def home(folder):
    """The caller's home folder."""
    path = folder / 'home'
    path.mkdir()
    return given(path, CALLER)


def record(prof, program, home, *options):
    done = run(prof, 'record', '-v', *options, '-e', 'page-faults:u', '-c', '1', '-o', home / 'job.data', '--', program,
               env={**sudo(), 'HOME': str(home)})
    assert done.returncode == 0, done
    return done.stderr


def copies(folder):
    return [path for path in folder.rglob('*') if path.name == 'elf']


def test_copies_belong_to_the_caller(prof, program, home):
    assert 'kept in' in record(prof, program, home)
    made = list((home / '.debug').rglob('*'))
    assert len(copies(home)) == 1 and {os.lstat(path).st_uid for path in [home / '.debug', *made]} == {CALLER.pw_uid}
    assert copies(home)[0].read_bytes() == program.read_bytes()


@pytest.mark.parametrize('whose', ['the file', 'its folder'])
def test_a_program_that_the_caller_may_not_read_is_not_copied(prof, program, home, whose):
    if whose == 'the file':
        program.chmod(0o711)
    else:
        (program.parent / 'private').mkdir(mode=0o700)
        program = program.rename(program.parent / 'private/job')
    record(prof, program, home)
    assert not (home / '.debug').exists()


@pytest.mark.parametrize('place', ['.debug', '.debug/.build-id'])
def test_links_of_the_caller_lead_nowhere_else(prof, program, home, place):
    target = program.parent / 'of-root'
    target.mkdir()
    if '/' in place:
        (home / '.debug').mkdir()
        given(home / '.debug', CALLER)
    link(home / place, target, CALLER)
    assert 'not kept for reports after a rebuild: Permission denied' in record(prof, program, home)
    assert not list(target.iterdir())


def test_roots_cache_is_not_in_a_folder_where_others_write(prof, program, sticky):
    """Whoever sets HOME would choose the symbols that root sees, and, by a link, the file that root reads."""
    env = {**os.environ, 'HOME': str(sticky)}
    run(prof, 'record', '--no-buildid-cache', '-e', 'page-faults:u', '-c', '1', '-o', sticky / 'job.data', '--', program, check=True)
    notes = run('readelf', '-n', program, check=True).stdout
    one = re.search(r'Build ID: (\w+)', notes)[1]
    kept = sticky / '.debug/.build-id' / one[:2] / one[2:]
    kept.mkdir(parents=True)
    shutil.move(program, kept / 'elf')
    reports = {}
    for mode in 0o1777, 0o755:
        sticky.chmod(mode)
        reports[mode] = run(prof, 'report', sticky / 'job.data', env=env).stdout
    assert ' touch ' not in reports[0o1777] and ' touch ' in reports[0o755], reports
