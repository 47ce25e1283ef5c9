# SPDX-License-Identifier: Apache-2.0
"""syscalls --match: relative paths, paths below descriptors and behind links, and what recordings know of folders."""
import json
import os
import platform
import re
import shutil
import subprocess
import time

import pytest

from frame.analyses import RING
from frame.callpaths import PYTHON, counted, libc, matched  # noqa: F401

pytestmark = pytest.mark.live


def test_either_path_matches(analyse, libc, tmp_path):
    script = f'import os\nos.close(os.open("{tmp_path}/x", os.O_CREAT))\nos.mkdir("{tmp_path}/d")\n' \
             f'os.rename("{tmp_path}/x", "{tmp_path}/d/y")\nos.link("{tmp_path}/d/y", "{tmp_path}/z")'
    found, table = matched(analyse, tmp_path / 'd', script)
    ways = [{f'{tmp_path}/x, DIR/y', f'DIR/y, {tmp_path}/x'}, {f'{tmp_path}/z, DIR/y', f'DIR/y, {tmp_path}/z'}]
    for call, way in zip(['rename', 'link'], ways):
        assert {path for name, path in found if name == call} & way, table
    both = {frozenset((row['path1'], row['path2'])) for row in table['rows'] if 'path2' in row}
    assert both == {frozenset((f'{tmp_path}/x', f'{tmp_path}/d/y')), frozenset((f'{tmp_path}/d/y', f'{tmp_path}/z'))}, table


def test_columns_for_two_paths(analyse, libc):
    """If the calls may have two paths, also in tables of which none has."""
    for options, there in (['--errors'], True), (['--paths', '--call', 'renameat2,open*'], True), (['--paths', '--call', 'open*'], False):
        table = analyse('syscalls', *options, '--json', *RING, '--', 'true').table(options[0][2:])
        assert ({'path1', 'path2'} <= {column['name'] for column in table['columns']}) == there, (options, table['columns'])


def test_the_two_paths_of_a_line(analyse, libc, tmp_path):
    """The comma is a part of the second. Lines of a recording are those of its run."""
    script = f'import os\nos.mkdir("{tmp_path}/a")\nos.rename("{tmp_path}/a", "{tmp_path}/b, c")\nos.rmdir("{tmp_path}/b, c")'
    what, job = ['syscalls', '--match', f'{tmp_path}/*', '--lines', '--json'], ['--', 'sh', '-c', f"{PYTHON} -c '{script}'; true"]
    # (`time` is a date: how far the two clocks are apart is measured again while a run lasts)
    lines, again = ([{key: line[key] for key in line.keys() - {'time'}} for line in analyse(*what, *run).lines if 'table' not in line]
                    for run in ([f'--record={tmp_path}/r', *RING, *job], ['-I', tmp_path / 'r']))
    assert again == lines and {(line['ret'], line['parent_comm']) for line in lines} == {(0, 'sh')}
    paths = {line['call'].partition('(')[0]: {line.get('path1'), line.get('path2')} for line in lines}
    assert paths == {'mkdir': {None}, 'rename': {f'{tmp_path}/a', f'{tmp_path}/b, c'}, 'rmdir': {None}}, lines


WITHOUT = """
import os
os.chdir(FOLDER)
for name in 'a.log', 'b.conf', 'link/c.log':
    os.close(os.open(name, os.O_CREAT))
os.rename('a.log', 'd/a.log')
"""


def test_globs_that_leave_out(analyse, libc, tmp_path):
    """Relative paths and those behind links, too. A call with two paths has a row if one of them matches."""
    (tmp_path / 'd').mkdir()
    (tmp_path / 'link').symlink_to('d')

    def paths_without(*globs):
        options = [word for glob in globs for word in ('--match', glob)]
        rows = analyse('syscalls', *options, '--json', *RING, '--', PYTHON, '-c', f'FOLDER = "{tmp_path}"{WITHOUT}').table('paths')['rows']
        return {(row['call'].partition('(')[0], row['path'].replace(str(tmp_path), 'DIR')) for row in rows
                if str(tmp_path) in row['path']}

    found = paths_without(f'{tmp_path}/*', f'!{tmp_path}/d/*', '!*.conf')
    assert ('openat', 'DIR/a.log') in found and any(call == 'rename' for call, _ in found), found
    assert not [path for call, path in found if path.endswith('.conf') or path in ('DIR/d/c.log', 'DIR/link/c.log')], found
    assert paths_without(f'!{tmp_path}/d/*', '!*.conf') >= found


def test_several_globs(analyse, libc, tmp_path):
    """One of them has to match; each compares paths in its own way."""
    script = f"import os; os.chdir('{tmp_path}'); os.mkdir('d'); os.close(os.open('d/a.log', os.O_CREAT)); " \
             "os.rename('d/a.log', 'x.conf'); os.access('d/other', 0)"
    live = [f'--record={tmp_path}/r', *RING, '--', PYTHON, '-c', script]
    for globs, run in (('*/a.log', '*/x.c*'), live), (('*/d/a.log', 'x.c*'), ['-I', tmp_path / 'r']):
        options = [word for glob in globs for word in ('--match', glob)]
        rows = analyse('syscalls', *options, '--json', *run).table('paths')['rows']
        found = {(row['call'].partition('(')[0], row['path'].replace(str(tmp_path), 'DIR')) for row in rows}
        assert {('openat', 'DIR/d/a.log'), ('rename', 'DIR/d/a.log, DIR/x.conf')} <= found, (globs, found)
        assert {path for _, path in found} <= {'DIR/d/a.log', 'DIR/d/a.log, DIR/x.conf', 'DIR/x.conf'}, (globs, found)
    err = analyse('syscalls', *['--match', '*.a'] * 33, '--', 'true', code=2).err
    assert err == 'perf-prof: --match *.a: at most 32 globs without ! can be given\n'


RELATIVE = r"""
import os, subprocess, time
os.chdir(FOLDER)
os.close(os.open('a.log', os.O_CREAT))
os.mkdir('below')
os.chdir('below')
os.access('../a.log', 0)
subprocess.run(['/bin/rm', '../a.log'])
os.access('/', 0)
os.chdir('/')
os.access('a.log', 0)
os.open('/dev/null', 0, dir_fd=os.open('/', 0))
"""


def test_relative_paths_are_resolved(analyse, libc, tmp_path):
    found, table = matched(analyse, tmp_path, f'FOLDER = "{tmp_path}"{RELATIVE}', of=('python3', 'rm'))
    assert {('openat', 'DIR/a.log'), ('mkdir', 'DIR/below'), ('access', 'DIR/a.log'), ('unlinkat', 'DIR/a.log')} <= found, table
    assert {path for call, path in found if call == 'access'} == {'DIR/a.log'}
    assert 'unknown_folders' not in table


BY_DESCRIPTOR = r"""
import fcntl, os
os.chdir('/')
folder = os.open(FOLDER, 0)
os.mkdir('one', dir_fd=folder)
one = os.open('one', os.O_DIRECTORY, dir_fd=folder)
os.close(os.open('created', os.O_CREAT | os.O_WRONLY, dir_fd=one))
os.rename('created', 'created', src_dir_fd=one, dst_dir_fd=folder)
copy = os.dup(one)
other = fcntl.fcntl(folder, fcntl.F_DUPFD_CLOEXEC, 50)
os.close(folder)
assert os.open('/etc', 0) == folder
for where in folder, one, copy, other:
    try:
        os.stat('gone', dir_fd=where)
    except OSError:
        pass
if not os.fork():
    os.fchdir(one)
    os.unlink('../created')
    os.dup2(copy, 60)
    os.symlink('created', 'link', dir_fd=60)
    os._exit(0)
os.wait()
"""
BY_DESCRIPTOR_FOUND = {
    ('mkdirat', 'DIR/one'), ('openat', 'DIR/one'), ('openat', 'DIR/one/created'), ('newfstatat', 'DIR/one/gone'),
    ('newfstatat', 'DIR/gone'), ('unlink', 'DIR/created'),
}


def test_paths_below_a_descriptor(analyse, libc, tmp_path):
    """Live, and of the recording of that run."""
    folder = tmp_path / 'in'
    folder.mkdir()
    recorded = f'--record={tmp_path}/recorded'
    live, table = matched(analyse, folder, f'FOLDER = "{folder}"{BY_DESCRIPTOR}', recorded)
    assert BY_DESCRIPTOR_FOUND <= live and ('symlinkat', 'created, DIR/one/link') in live, table
    assert {path for call, path in live if call.startswith('rename')} == {'DIR/one/created, DIR/created'}, table
    assert [row['calls'] for row in table['rows'] if row['path'].endswith('/one/gone')] == [2]
    assert 'unknown_folders' not in table
    [again] = analyse('syscalls', '--match', f'{folder}/*', '--json', '-I', tmp_path / 'recorded').lines
    assert counted(again) == counted(table)
    [errors] = analyse('syscalls', '--errors', '--match', f'{folder}/*', '--json', '-I', tmp_path / 'recorded').lines
    assert {(row['call'].partition('(')[0], row['path']) for row in errors['rows'] if row['comm'] == 'python3'} == {
        ('newfstatat', f'{folder}/one/gone'), ('newfstatat', f'{folder}/gone')}, errors


def test_a_tree_that_is_deleted(analyse, libc, tmp_path):
    """Its folders are gone before their events are read."""
    os.makedirs(tmp_path / 'a/b/c')
    for name in 'a/x', 'a/b/y', 'a/b/c/z':
        (tmp_path / name).touch()
    got = analyse('syscalls', '--match', f'{tmp_path}/a/*', '--json', *RING, '--', 'rm', '-r', tmp_path / 'a')
    [table] = got.lines
    gone = {r['path'] for r in table['rows'] if r['call'].startswith('unlinkat')}
    assert gone == {f'{tmp_path}/a/{name}' for name in ('x', 'b', 'b/y', 'b/c', 'b/c/z')}, table
    assert 'unknown_folders' not in table


def test_dots_are_taken_out_of_absolute_paths(analyse, libc, tmp_path):
    opens = f'open("/etc/..//.{tmp_path}/a", "w")\nopen("{tmp_path}/none/../a")'
    os.mkdir(tmp_path / 'none')
    found, table = matched(analyse, tmp_path, opens)
    assert ('openat', 'DIR/a') in found and sum(row['calls'] for row in table['rows']) == 2, table
    assert not matched(analyse, '/etc/..', opens)[0]


def test_paths_through_a_link(analyse, libc, tmp_path):
    """Absolute ones, too, also if '..' follows the link; one at the end stays if the path matches with it. The text of a link is none."""
    real, link = tmp_path / 'in/real', tmp_path / 'link'
    os.makedirs(real)
    os.symlink(real, link)
    os.symlink('/etc/passwd', real / 'name')
    script = f'import os\nos.access("{link}/a", 0)\nos.access("{link}/../b", 0)\nos.access("{link}/name", 0)\n' \
             f'os.access("{link}", 0)\nos.chdir("{tmp_path}")\nos.access("link/c", 0)\nos.chdir("{link}")\nos.access("d", 0)\n' \
             f'os.chdir("..")\nos.access("real/e", 0)\nos.symlink("{link}/text", "{real}/new")\n' \
             f'os.unlink("{real}/new")'
    found, table = matched(analyse, tmp_path / 'in', script, f'--record={tmp_path}/in.data')
    assert {path for call, path in found if call == 'access'} == {
        'DIR/real/a', 'DIR/b', 'DIR/real/name', 'DIR/real', 'DIR/real/c', 'DIR/real/d', 'DIR/real/e'}, table
    assert {path for call, path in found if call == 'symlink'} <= {f'{link}/text, DIR/real/new', f'DIR/real/new, {link}/text'}, table
    [again] = analyse('syscalls', '--match', f'{tmp_path}/in/*', '--json', '-I', tmp_path / 'in.data').lines
    assert {row['path'] for row in again['rows'] if row['call'].startswith('symlink')} == {
        row['path'] for row in table['rows'] if row['call'].startswith('symlink')}, again
    given, table = matched(analyse, link, script)
    assert {path for call, path in given if call == 'access'} >= {'DIR/a', 'DIR/name'}, table


def test_a_link_at_the_end_of_a_path(analyse, libc, tmp_path):
    """What a call has followed counts as what it leads to."""
    (tmp_path / 'in').mkdir()
    (tmp_path / 'in/file').write_text('')
    (tmp_path / 'link').symlink_to('in/file')
    (tmp_path / 'other').symlink_to('in/gone')
    script = f'import os\nos.chdir("{tmp_path}")\nos.open("link", 0)\nos.open("{tmp_path}/link", os.O_PATH | os.O_NOFOLLOW)\n' \
             f'os.access("{tmp_path}/link", 0)\nos.access("other", 0)\nos.readlink("link")'
    found, table = matched(analyse, tmp_path / 'in', script)
    assert found == {('openat', 'DIR/file'), ('access', 'DIR/file')}, table
    assert {row['calls'] for row in table['rows'] if row['comm'] == 'python3'} == {1}, table


def test_paths_of_sockets(analyse, libc, tmp_path):
    """Relative ones and those behind a link; others have no path."""
    (tmp_path / 'in').mkdir()
    (tmp_path / 'link').symlink_to('in/a.sock')
    script = f'import os, socket\nos.chdir("{tmp_path}")\none = socket.socket(socket.AF_UNIX)\none.bind("in/a.sock")\none.listen()\n' \
             'socket.socket(socket.AF_UNIX).connect("link")\nsocket.socket(socket.AF_UNIX).connect_ex("gone")\n' \
             'socket.socket(socket.AF_UNIX).connect_ex(b"\\0abstract")\nsocket.socket().connect_ex(("127.0.0.1", 1))'
    found, table = matched(analyse, tmp_path / 'in', script)
    assert found == {('bind', 'DIR/a.sock'), ('connect', 'DIR/a.sock')}, table
    (tmp_path / 'in/a.sock').unlink()
    found, table = matched(analyse, tmp_path, script)
    assert {path for call, path in found if call == 'connect'} >= {'DIR/gone'}, table
    assert not [path for _, path in found if 'abstract' in path or '127' in path], table


def test_a_call_without_a_path_lacks_none(analyse, libc, tmp_path):
    """utimensat(fd, NULL) by futimens(), and utimensat(0, NULL) of touch(1), whose arguments are forgotten at its end."""
    script = f'import os\nfd = os.open("{tmp_path}/a", os.O_CREAT | os.O_WRONLY)\nfor _ in range(50): os.utime(fd)'
    touch = ['sh', '-c', f'touch {tmp_path}/a; true']
    for options, job in (['--paths', '--call', 'utimensat'], [PYTHON, '-c', script]), (['--match', '*'], touch):
        table = analyse('syscalls', *options, '--json', *RING, '--', *job).table('paths')
        assert 'unseen_paths' not in table, table


THREADS_APART = r"""
import ctypes, os, threading
os.chdir(ONE)
os.access('before', 0)
def leave():
    if ctypes.CDLL(None, use_errno=True).unshare(0x200):     # CLONE_FS
        os._exit(77)
    os.chdir(OTHER)
    os.access('below the other', 0)
thread = threading.Thread(target=leave)
thread.start()
thread.join()
os.access('below the one', 0)
os.access(OTHER + '/whole', 0)
"""


def test_threads_with_folders_of_their_own(analyse, libc, tmp_path):
    """Which one is not known: no path is wrong."""
    for name in 'one', 'other':
        os.mkdir(tmp_path / name)
    found, table = matched(analyse, tmp_path, f'ONE, OTHER = "{tmp_path}/one", "{tmp_path}/other"{THREADS_APART}')
    assert {path for call, path in found if call == 'access'} == {'DIR/one/before', 'DIR/other/whole'}, table
    assert table['unknown_folders'] == 2


def test_folders_of_calls_that_fail(analyse, libc, tmp_path):
    """With --errors, and of a recording of it."""
    script = f'import os\nos.chdir("{tmp_path}")\nos.access("gone", 0)\nos.chdir("/")\nos.access("gone", 0)'
    recorded = tmp_path / 'in'
    found, table = matched(analyse, tmp_path, script, '--errors', f'--record={recorded}')
    assert ('access', 'DIR/gone') in found and not [path for _, path in found if path == '/gone'], table
    [row] = analyse('syscalls', '--errors', '--match', f'{tmp_path}/*', '--json', '-I', recorded).table('errors')['rows']
    assert (row['path'], row['calls']) == (f'{tmp_path}/gone', 1)


@pytest.mark.soak
@pytest.mark.parametrize('whole', [True, False])
def test_a_recording_knows_the_folders_of_its_run(watch, analyse, libc, tmp_path, whole):
    """Of before the run, behind a link, and of descriptors, as the run does; also if that shows paths as they are given. perf reads it.
    The child ends at once: a reader that has no CPU until then does not find its folder."""
    real, recorded = tmp_path / 'real', tmp_path / 'in'
    os.mkdir(real)
    os.symlink(real, tmp_path / 'link')
    script = f'import os\nfolder = os.open("{real}", 0)\nos.chdir("{real}")\nprint("ready", flush=True)\ninput()\nos.access("a", 0)\n' \
             f'os.access("b", 0, dir_fd=folder)\nif not os.fork():\n    os.access("c", 0)\n    os._exit(0)\nos.wait()\n' \
             f'os.fchdir(os.open("/", 0))\nos.access("e", 0)\nos.fchdir(folder)\nos.access("f", 0)\nos.chdir("{tmp_path}/link")\n' \
             'os.access("d", 0)\ninput()'
    one = subprocess.Popen([PYTHON, '-c', script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert one.stdout.readline() == b'ready\n'
    what = ['--match', f'{real}/*'] if whole else ['--paths']
    watcher = watch('syscalls', *what, f'--record={recorded}', *RING, '-p', one.pid)
    one.stdin.write(b'\n')
    one.stdin.flush()
    live, end = {}, time.monotonic() + 30
    names = 'abcdf' if whole else 'abcdef'
    while len(live) < len(names) and time.monotonic() < end:     # it is alive until then
        live.update({row['path']: row['calls'] for row in json.loads(watcher.process.stdout.readline())['rows']
                     if 'calls' in row and (whole or row['path'] in names)})
    one.communicate(b'\n')
    watcher.result()
    wanted = {f'{real}/{name}': 1 for name in 'abcdf'}
    assert live == (wanted if whole else dict.fromkeys(names, 1))
    again = analyse('syscalls', '--match', f'{real}/*', '--json', '-I', recorded).table('paths')
    assert {row['path']: row['calls'] for row in again['rows']} == wanted and 'unknown_folders' not in again, again
    if shutil.which('perf'):
        done = subprocess.run(['perf', 'script', '-i', recorded], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and 'raw_syscalls:sys_exit' in done.stdout, done.stderr


def test_a_recording_with_any_glob_has_what_descriptors_need(analyse, libc, tmp_path):
    script = 'import os\none = os.open("/etc", 0)\ntwo = os.dup(one)\nos.close(one)\nassert os.open("/usr", 0) == one\n' \
             'os.access("passwd", 0, dir_fd=two)\nos.access("bin", 0, dir_fd=one)'
    analyse('syscalls', '--match', '*.nothing', '--json', f'--record={tmp_path}/r', *RING, '--', PYTHON, '-c', script)
    [table] = analyse('syscalls', '--match', '/*', '--call', 'faccessat*', '--json', '-I', tmp_path / 'r').lines
    assert sorted(row['path'] for row in table['rows']) == ['/etc/passwd', '/usr/bin'], table


def test_only_calls_that_are_asked_for_have_probes(analyse, libc, tmp_path):
    """All programs of the machine would pay for the others."""
    script = f'import os\nfor call in os.stat, os.mkdir, os.open:\n' \
             f' try: call("{tmp_path}/of-" + call.__name__, *[0] * (call is os.open))\n' \
             ' except OSError: pass'
    rows = {}
    for names in 'mkdir', 'newfstatat,mkdir':
        analyse('syscalls', '--paths', '--call', names, '--json', f'--record={tmp_path}/r', *RING, '--', PYTHON, '-c', script)
        [table] = analyse('syscalls', '--paths', '--json', '-I', tmp_path / 'r').lines
        recorded = (tmp_path / 'r').read_bytes()
        rows[names] = {of for of in ('stat', 'mkdir', 'open') if f'{tmp_path}/of-{of}'.encode() in recorded}, table
        (tmp_path / 'of-mkdir').rmdir()
    assert {names: found for names, (found, _) in rows.items()} == {
        'mkdir': {'mkdir', 'open'}, 'newfstatat,mkdir': {'stat', 'mkdir', 'open'}}, rows


def test_calls_without_paths_need_no_probes(analyse, libc):
    script = 'import os\ntry: os.read(99, 1)\nexcept OSError: pass'
    got = analyse('syscalls', '--errors', '--call', 'read', *RING, '--', PYTHON, '-c', script)
    assert 'EBADF' in got.text and 'paths are not known' not in got.text, got.text


LINE = re.compile(r'^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6} (\S+) (\d+) \(of (\S+) (\d+)\) (\w+)\(\d+\) ?(.*) after \d+\.\d{3} us$', re.M)


def test_a_line_for_each_call(analyse, libc, tmp_path):
    """With the parent of a short-lived process."""
    (tmp_path / 'in').mkdir()
    job = f'echo > {tmp_path}/in/a; rm {tmp_path}/in/a; rm {tmp_path}/in/a\x1b 2> /dev/null; true'
    got = analyse('syscalls', '--match', f'{tmp_path}/in/*', '--call', 'openat,unlinkat', '--lines', *RING, '--', 'sh', '-c', job)
    lines = [line for line in LINE.findall(got.text)]
    shell = next(tid for comm, tid, *_ in lines if comm == 'sh')
    path = f'{tmp_path}/in/a'
    assert [(comm, what) for comm, _, _, _, _, what in lines if '\\x1b' not in what] == [
        ('sh', f'w create trunc {path} = 3'), ('rm', f'{path} = 0')], got.text
    assert {(parent, pid) for comm, _, parent, pid, _, _ in lines if comm == 'rm'} == {('sh', shell)}, got.text
    assert [what for _, _, _, _, _, what in lines if '\\x1b' in what] == [f'{path}\\x1b = -2 ENOENT'], got.text
    assert '\ncomm ' in got.text and '\x1b' not in got.text


def test_the_parent_of_a_process_that_ends_after_its_call(prof, libc, tmp_path):
    """It is from before the run, and cannot be looked up any more when its call is handled."""
    script = f'import os, sys\nsys.stdin.read()\nos.mkdir("{tmp_path}/new")\nos._exit(0)'
    with subprocess.Popen([PYTHON, '-c', script], stdin=subprocess.PIPE) as job:
        with subprocess.Popen([prof, 'syscalls', '--match', f'{tmp_path}/*', '--call', 'mkdir', '--lines', '--json', '-i', '100'],
                              cwd=tmp_path, stdout=subprocess.PIPE, text=True) as run:
            table = json.loads(run.stdout.readline())
            assert 'call' not in table, table
            job.stdin.close()
            lines = (json.loads(text) for text in run.stdout)
            line = next(one for one in lines if 'call' in one)
            run.kill()
    assert (line['path'], line['pid'], line.get('parent_pid')) == (f'{tmp_path}/new', job.pid, os.getpid()), line


def test_lines_are_no_csv(analyse):
    assert analyse('syscalls', '--lines', '--csv', '--', 'true', code=2).err == 'perf-prof: syscalls: --csv and --lines: give one of them\n'


@pytest.mark.skipif(platform.machine() != 'x86_64', reason='has the numbers of x86-64')
def test_a_call_that_hangs_is_named_if_it_may_be_shown(analyse, libc, tmp_path):
    """The kernel leaves out other calls, such as pause()."""
    os.mkfifo(tmp_path / 'fifo')
    for script, number, options in (('open("fifo")', '257', [['--match', '/*'], ['--call', 'open*']]),
                                    ('__import__("signal").pause()', '34', [['--paths']])):
        with subprocess.Popen([PYTHON, '-c', script], cwd=tmp_path) as one:
            end = time.monotonic() + 30
            while time.monotonic() < end:
                with open(f'/proc/{one.pid}/syscall', encoding='ascii') as f:
                    if f.read().split()[0] == number:
                        break
            texts = [analyse('syscalls', *some, '-p', one.pid, '--seconds', '0.2').text for some in options]
            one.kill()
        assert all(('is still in openat' in text) == ('still in' in text) == (number == '257') for text in texts), texts


def test_tasks_by_their_names(analyse, libc, tmp_path):
    """Rows, lines and counts of other tasks are left out. Names are as in report; with commas and '!' as in --call."""
    (tmp_path / 'job').write_text(f"cp -p /bin/true '{tmp_path}/aye,b'\n'{tmp_path}/aye,b'\ntouch {tmp_path}/x\ncat {tmp_path}/x\n")

    def tasks(*names, of=('-I', tmp_path / 'r')):
        options = [word for name in names for word in ('--comm', name)]
        got = analyse('syscalls', *options, '--paths', '--lines', '--json', *of).lines
        comms = {line['comm'] for line in got if 'table' not in line}
        assert comms == {row['comm'] for table in got if table.get('table') == 'paths' for row in table['rows']}
        return comms

    live = ['--', 'sh', tmp_path / 'job']
    every = tasks(of=[f'--record={tmp_path}/r', *RING, *live])
    assert {'sh', 'cp', 'touch', 'cat', 'aye,b'} <= every == tasks()
    assert tasks('cp,t*') == {'cp', 'touch'} == tasks('cp', 'touch') == tasks('cp,t*', of=[*RING, *live])
    assert tasks('!cp,!t*') == every - {'cp', 'touch'}
    assert tasks('c*', '!cat') == {'cp'}
    assert tasks('nobody') == set()
