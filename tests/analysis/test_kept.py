# SPDX-License-Identifier: Apache-2.0
"""Sampled programs that `record` keeps in ~/.debug: their recordings have names after a rebuild."""
import os
import re
import shutil
import subprocess

import pytest

pytestmark = pytest.mark.live

SOURCE = '''
#include <sys/mman.h>
static __attribute__((noinline)) void touch(volatile char *page, int n)
{
	while (n--) {
		*page = 1;
		page += 4096;
	}
}
int main(void)
{
	volatile char *page = mmap(0, 500 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise((void *)page, 500 * 4096, MADV_NOHUGEPAGE);
	touch(page, 500);
}
'''


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    home = tmp_path / 'home'
    home.mkdir()
    monkeypatch.setenv('HOME', str(home))
    return home / '.debug'


@pytest.fixture
def job(tmp_path):
    """job(option, ...) compiles SOURCE, or a source, as a program of a name."""
    def compile_it(*options, name='job', source=SOURCE):
        (tmp_path / f'{name}.c').write_text(source)
        subprocess.run(['gcc', '-O1', '-g', '-fno-omit-frame-pointer', '-Wl,--build-id', '-o', tmp_path / name,
                        tmp_path / f'{name}.c', *options], check=True)
        return tmp_path / name
    return compile_it


@pytest.fixture
def record(prof, tmp_path):
    """record(program, option, ...): what was said on stderr."""
    def run(program, *options, before=()):
        argv = [*before, prof, 'record', '-e', 'page-faults:u', '-c', '1', '-g', '-o', tmp_path / 'job.data', *options, '--', program]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done
        return done.stderr
    return run


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob('*') if not path.is_dir() or path.is_symlink())


def build_id(path):
    notes = subprocess.run(['readelf', '-n', path], capture_output=True, text=True, check=True).stdout
    return re.search(r'Build ID: (\w+)', notes)[1]


def layout(program):
    """The copy and the link, as perf makes them."""
    one = build_id(program)
    return [f'.build-id/{one[:2]}/{one[2:]}', f'{str(program)[1:]}/{one}/elf']


def test_a_program_that_was_rebuilt_has_names_lines_and_instructions(job, record, analyse, tmp_path, cache):
    program = job()
    said = record(program, '-v')
    kept = rf'^perf-prof: 1 sampled file \(.*\) kept in {re.escape(str(cache))} for reports after a rebuild$'
    assert re.search(kept, said, re.M), said
    expected = layout(program)
    assert files(cache) == expected
    assert os.readlink(cache / expected[0]) == '../../' + os.path.dirname(expected[1])
    assert (cache / expected[1]).read_bytes() == program.read_bytes()
    program.unlink()
    job(source=SOURCE.replace('touch', 'other'))
    got = analyse('report', 'job.data').text                    # with no message on stderr
    assert ' touch ' in got and 'other' not in got and not re.search(r'\[unknown\].*/job$', got, re.M), got
    got = analyse('report', '--annotate', 'touch', 'job.data').text
    assert re.search(r'^ *\d+\.\d\d +\d+\.\d\d +6  \s*\*page = 1;$', got, re.M) and re.search(r'\| 0x\w+ +movb? ', got), got


def test_perf_finds_the_copy(job, record, perf, tmp_path, cache):
    program = job()
    record(program)
    one = build_id(program)
    program.unlink()
    job(source=SOURCE.replace('touch', 'other'))
    got = subprocess.run([perf, 'report', '--stdio', '-i', tmp_path / 'job.data'], capture_output=True, text=True, timeout=60).stdout
    assert '[.] touch' in got and '[.] other' not in got, got
    subprocess.run([perf, 'buildid-cache', '--purge-all'], check=True, capture_output=True, timeout=60)
    assert not [name for name in files(cache) if one in name or one[2:] in name]


def test_perfs_own_copy_is_used(job, record, perf, tmp_path, cache):
    program = job()
    subprocess.run([perf, 'buildid-cache', '--add', program], check=True, capture_output=True, timeout=60)
    before = {name: os.lstat(cache / name).st_ino for name in files(cache)}
    record(program)
    assert {name: os.lstat(cache / name).st_ino for name in files(cache)} == before and layout(program)[1] in before


def test_a_copy_is_made_once_and_a_link_that_leads_nowhere_replaced(job, record, tmp_path, cache):
    program = job()
    record(program)
    before = {name: os.lstat(cache / name) for name in files(cache)}
    assert 'kept in' not in record(program, '-v')
    assert {name: os.lstat(cache / name) for name in files(cache)} == before
    shutil.rmtree(cache / str(tmp_path)[1:])
    moved = program.rename(tmp_path / 'moved')
    record(moved)
    assert files(cache) == layout(moved)


@pytest.mark.parametrize('option', ['--no-buildid-cache', '-B'])
def test_nothing_is_kept_if_not_wanted(job, record, tmp_path, cache, option):
    program = job()
    record(program, option)
    assert not cache.exists()
    one = bytes.fromhex(build_id(program))
    assert (one in (tmp_path / 'job.data').read_bytes()) == (option == '--no-buildid-cache')


IDLE = '''
#include <fcntl.h>
#include <sys/mman.h>
#ifdef LIBRARY
void hot(int n)
{
	volatile char *page = mmap(0, 500 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise((void *)page, 500 * 4096, MADV_NOHUGEPAGE);
	while (n--)
		page[n * 4096] = 1;
}
#else
void hot(int n);
int main(int argc, char **argv)
{
	mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, open(IDLE, O_RDONLY), 0);
	hot(500);
}
#endif
'''


def test_sampled_files_outside_of_the_system_are_kept(job, record, tmp_path, cache):
    idle = job(name='idle')
    library = job('-DLIBRARY', '-shared', '-fPIC', name='libhot.so', source=IDLE)
    # bound when it starts: a fault inside of the dynamic linker has a chain of what happens to lie on the stack
    program = job(f'-DIDLE="{idle}"', library, f'-Wl,-z,now,-rpath,{tmp_path}', source=IDLE)
    record(program)
    assert files(cache) == sorted(layout(library) + layout(program))      # no libc, no idle


def test_a_child_has_the_mappings_of_its_parent(job, record, cache):
    program = job(source=SOURCE.replace('#include', '#include <unistd.h>\n#include <sys/wait.h>\n#include', 1).replace(
        '\tmadvise', '\tif (fork())\n\t\treturn wait(0) < 0;\n\tmadvise'))
    record(program)
    assert files(cache) == layout(program)


@pytest.mark.parametrize('why', ['it is larger than 1 GiB', 'Not a directory'])
def test_what_cannot_be_kept_is_no_failure(job, record, cache, why):
    program = job()
    if why == 'Not a directory':
        cache.write_text('a file')
    else:
        os.truncate(program, (1 << 30) + 1)
    said = record(program, '-v')
    assert f'perf-prof: {program}: not kept for reports after a rebuild: {why}' in said, said
    assert not record(program) and (cache.read_text() == 'a file' if 'directory' in why else not cache.exists())


def test_a_file_that_changes_while_it_is_recorded_is_not_kept(job, record, tmp_path, cache):
    """A library written to in place: its build id is another one at the end."""
    library = job('-DLIBRARY', '-shared', '-fPIC', name='libhot.so', source=IDLE)
    other = job('-DLIBRARY', '-shared', '-fPIC', name='other.so', source=IDLE.replace('hot', 'hut'))
    program = job('-DIDLE="/"', library, f'-Wl,-rpath,{tmp_path}', source=IDLE)
    script = tmp_path / 'run'
    read = f'until grep -q libhot {tmp_path}/job.data; do sleep 0.1; done'      # its mapping
    script.write_text(f'#!/bin/sh\n{program}\n{read}\ncat {other} > {library}\n')
    script.chmod(0o755)
    expected = layout(program)
    said = record(script, '-v')
    assert f'perf-prof: {library}: not kept for reports after a rebuild: it was changed while it was recorded' in said, said
    assert files(cache) == expected
