# SPDX-License-Identifier: Apache-2.0
"""Where names of functions come from: code made while a program runs, programs split from
their names, C++ and Rust, other namespaces, files that are gone; and that none is a wrong
one. Files that are hostile stand in tests/unit and tests/fuzz."""
import json
import os
import re
import shutil
import subprocess

import pytest

from frame.session import READY, Program, Session

pytestmark = pytest.mark.live('tracefs', 'root')

PREFIX = f's{os.getpid()}_'              # others may test here at the same time
CALLS = f'syscalls:sys_enter_getppid/comm ~ "{PREFIX}*"/'
SHOW = READY + """
import json
def __sample__(e):
    print('chain', json.dumps([(f['symbol'], f['dso']) for f in e._callchain if not f['kernel']]),
          flush=True)
"""
@pytest.fixture(scope='session')
def renamed(helper, need, tmp_path_factory):
    """The path of a program of tests/helpers, with a name of our own."""
    need('elfutils')
    folder = tmp_path_factory.mktemp('helpers')
    os.chmod(folder, 0o755)
    return lambda name: shutil.copy(helper(name), folder / (PREFIX + name))


def chains(prof, folder, one, *options, n=1):
    with Session(prof, folder, SHOW, '-e', CALLS, '-i', '50', '--user-callchain', *options) as session:
        session.wait_for('ready')
        one.go()
        session.wait_for('(?s)' + '(chain.*)' * n)
        ended = session.stop()
    assert ended.code == 0 and ended.stderr == ''
    return [json.loads(line) for line in re.findall(r'^chain (.*)$', ended.stdout, re.M)]


def symbols(chain, n=3):
    return [symbol for symbol, _ in chain[:n]]


# ---- code that is made while the program runs ----------------------------------------------

@pytest.fixture
def jitted(renamed):
    """callers_jit, which has written its map."""
    with Program(renamed('callers_jit'), '4') as one:
        one.map = f'/tmp/perf-{one.pid}.map'
        yield one
    if os.path.lexists(one.map):
        os.unlink(one.map)


def test_code_that_a_compiler_just_made(prof, jitted, tmp_path):
    """Names that come while the program runs are found, too."""
    found = chains(prof, tmp_path, jitted, n=4)
    assert [symbols(c) for c in found] == 2 * [['inner', 'jitted_function', 'main']] + 2 * [['inner', 'moved_function', 'main']]
    assert {c[1][1] for c in found} == {jitted.map}


def test_that_code_for_another_user(prof, jitted, folder):
    """The script's user may not read the file: the keeper does."""
    os.chmod(jitted.map, 0o600)
    assert symbols(chains(prof, folder, jitted, '--user', 'nobody', n=4)[0]) == ['inner', 'jitted_function', 'main']


@pytest.mark.parametrize('how', ['another user', 'symlink', 'hard link', 'fifo', 'folder', 'hostile'])
def test_maps_that_are_bait(prof, jitted, tmp_path, how):
    copy = tmp_path / 'copy'
    shutil.copy(jitted.map, copy)
    if how == 'another user':
        os.chown(jitted.map, 12345, 12345)
    elif how == 'hard link':
        os.link(jitted.map, jitted.map + '.second')
    elif how == 'hostile':
        with open(jitted.map, 'w') as f:
            f.write('\0' * 5000 + '\nffffffffffffffff ffffffffffffffff all\n0 0 none\n' + 'x' * 200000)
    else:
        os.unlink(jitted.map)
        if how == 'symlink':
            os.symlink(copy, jitted.map)
        elif how == 'fifo':
            os.mkfifo(jitted.map)
        else:
            os.mkdir(jitted.map)
    try:
        found = chains(prof, tmp_path, jitted)
    finally:
        if how == 'hard link':
            os.unlink(jitted.map + '.second')
        if how == 'folder':
            os.rmdir(jitted.map)
    assert symbols(found[0]) == ['inner', 'Unknown', 'main']


def in_a_tmp(program, words):
    """A command of the shell that runs it in a /tmp of its own."""
    return (f'exec 9< {program} && mount -t tmpfs none /tmp && cat <&9 > /tmp/{PREFIX}in && chmod +x /tmp/{PREFIX}in && exec 9<&- && '
            f'cd /tmp && ./{PREFIX}in {words}')


def test_that_code_in_namespaces(prof, renamed, tmp_path):
    """Its number is another there, and so is its /tmp."""
    if not shutil.which('unshare'):
        pytest.skip('needs unshare')
    with Program('unshare', '-m', '-p', '-f', '--mount-proc', 'sh', '-c', in_a_tmp(renamed('callers_jit'), '--linger 2; true')) as one:
        assert one.pid < 10
        found = chains(prof, tmp_path, one, n=2)
        one.end()
    assert symbols(found[0]) == ['inner', 'jitted_function', 'main']
    assert not os.path.exists(f'/tmp/perf-{one.pid}.map')


# ---- files that are gone, or that only the process sees -------------------------------------

@pytest.mark.parametrize('user', [[], ['--user', 'nobody']])
@pytest.mark.parametrize('how', ['deleted', 'replaced'])
def test_the_file_of_a_process_that_lives(prof, renamed, folder, how, user):
    """Nobody can open it by its path any more."""
    program, other = folder / (PREFIX + 'copy'), folder / 'other'
    shutil.copy(renamed('callers'), program)
    with open(renamed('callers'), 'rb') as f:
        other.write_bytes(re.sub(rb'\0(inner|middle|outer)\0', lambda m: m.group(0).upper(), f.read()))
    with Program(program, '--wait', '--linger', '3') as one:
        if how == 'deleted':
            os.unlink(program)
        else:
            os.rename(other, program)
        with Session(prof, folder, SHOW, '-e', CALLS, '-i', '50', '--user-callchain', *user) as session:
            session.wait_for('ready')
            since = 0
            while b'"inner"' not in session.out.data:      # names come late where others have the CPU
                since = len(session.out.data)
                one.go()
                session.wait_for('chain.*\n', since)
            ended = session.stop()
    found = [json.loads(line) for line in re.findall(r'^chain (.*"inner".*)$', ended.stdout, re.M)]
    assert ended.code == 0 and ended.stderr == '' and symbols(found[-1], 4) == ['inner', 'middle', 'outer', 'main']
    assert found[-1][0][1].startswith(str(program))


def test_short_lives_in_a_namespace(prof, renamed, tmp_path):
    """Their root is gone when anybody asks for names; their parent's is the same."""
    if not shutil.which('unshare'):
        pytest.skip('needs unshare')
    with Program('unshare', '-m', 'sh', '-c', in_a_tmp(renamed('callers'), '--wait --children 3 --linger 0')) as one:
        found = chains(prof, tmp_path, one, n=3)
    assert [symbols(c, 4) for c in found] == 3 * [['inner', 'middle', 'outer', 'main']]
    assert {c[0][1] for c in found} == {f'/tmp/{PREFIX}in'}


# ---- names in another file, and names of other languages -------------------------------------

def test_a_stripped_program_with_a_debug_file(prof, renamed, tmp_path):
    if not shutil.which('objcopy'):
        pytest.skip('needs objcopy')
    program, debug = tmp_path / (PREFIX + 'bare'), tmp_path / 'bare.debug'
    shutil.copy(renamed('callers'), program)
    subprocess.run(['objcopy', '--only-keep-debug', program, debug], check=True)
    subprocess.run(['strip', program], check=True)
    with Program(program, '--wait', '1') as one:
        assert symbols(chains(prof, tmp_path, one)[0]) == ['Unknown'] * 3
    subprocess.run(['objcopy', f'--add-gnu-debuglink={debug}', program], check=True)
    with Program(program, '--wait', '1') as one:
        assert symbols(chains(prof, tmp_path, one)[0]) == ['inner', 'middle', 'outer']


CXX = """
#include <unistd.h>
#include <sys/syscall.h>
#include <stdio.h>
#include <string>
#define NOINLINE __attribute__((noinline))
namespace shop {
struct Call { NOINLINE long operator()(int n) const; };
long Call::operator()(int n) const {
#ifdef __x86_64__
	long rc;
	__asm__ volatile("syscall" : "=a"(rc) : "a"((long)SYS_getppid) : "rcx", "r11", "memory");
	return rc + n;
#else
	return syscall(SYS_getppid) + n;
#endif
}
namespace {
template <class F, class T> NOINLINE long apply(const F &f, T n) { return f(n) + 1; }
}
template <class T> struct Till { T n; NOINLINE long pay(const std::string &s) { return apply(Call(), n) + s.size(); } };
}
int main() {
	char byte;
	printf("pid %d\\n", (int)getpid());
	fflush(stdout);
	if (read(0, &byte, 1) != 1) return 1;
	shop::Till<int> till{1};
	return (int)till.pay("x") == 77;
}
"""


def test_names_of_cxx(prof, need, tmp_path):
    need('libiberty')
    if not shutil.which('g++'):
        pytest.skip('needs g++')
    program = tmp_path / (PREFIX + 'cxx')
    subprocess.run(['g++', '-O0', '-fno-omit-frame-pointer', '-x', 'c++', '-o', program, '-'], input=CXX.encode(), check=True)
    with Program(program) as one:
        assert symbols(chains(prof, tmp_path, one)[0], 4) == [
            'shop::Call::operator()', 'shop::(anonymous namespace)::apply<shop::Call, int>',
            'shop::Till<int>::pay', 'main']
