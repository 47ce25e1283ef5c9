# SPDX-License-Identifier: Apache-2.0
"""Least privilege: events are root's, the script is its caller's."""
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

import pytest

from frame import requires
from frame.session import EVENT, READY, Session, Storm, ran

pytestmark = pytest.mark.live('tracefs', 'root')

CAPABLE = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--inh-caps=+perfmon,+dac_read_search',
           '--ambient-caps=+perfmon,+dac_read_search', '--']
NOBODY = pwd.getpwnam('nobody')
AS_NOBODY = [pytest.param({}, ['--user', 'nobody'], id='--user'), pytest.param({'SUDO_UID': str(NOBODY.pw_uid)}, [], id='sudo')]


@pytest.fixture
def trap():
    """One of root's."""
    with tempfile.TemporaryDirectory(prefix='perf-prof-privilege-') as path:
        os.chmod(path, 0o755)
        yield pathlib.Path(path)


def run(prof, folder, script, *args, env=None, name='s.py', cwd=None):
    (folder / name).write_text(script)
    return ran([prof, 'python', *args, str(folder / name) if cwd else name], cwd=cwd or folder, env={**os.environ, **(env or {})})


WHO = """
import ctypes, os, subprocess, sys
def tried(what, *args):
    try:
        what(*args)
    except OSError as error:
        return error.strerror
    return 'done'
print('ids', *os.getresuid(), *os.getresgid(), *os.getgroups())
print('read', tried(open, '/etc/shadow'))
print('back', tried(os.setuid, 0), tried(os.seteuid, 0), tried(os.setgid, 0), tried(os.setgroups, [0]))
print('child', subprocess.run(['id', '-u'], capture_output=True, text=True).stdout.strip())
with open('/proc/self/status') as f:
    print('caps', *{line.split()[1] for line in f if line.startswith(('Cap', 'NoNewPrivs'))})
print('home', os.environ['HOME'])
n, pids = 0, set()
def sched__sched_switch(e):
    global n
    n += 1
    pids.add(e._pid)
    if len(pids) > 2:
        sys.exit(5)
"""


@pytest.mark.parametrize('env, args', AS_NOBODY)
def test_the_script_is_its_callers(prof, folder, env, args):
    done = run(prof, folder, WHO, *args, '-e', 'sched:sched_switch', env=env)
    assert done.returncode == 5 and done.stderr == ''      # it saw more than two processes
    said = dict(line.split(' ', 1) for line in done.stdout.splitlines())
    uid, gid = str(NOBODY.pw_uid), str(NOBODY.pw_gid)
    assert said['ids'].split() == [uid] * 3 + [gid] * 3 + [gid]
    assert said['read'] == 'Permission denied'
    assert said['back'] == ' '.join(['Operation not permitted'] * 4)
    assert said['child'] == uid and said['home'] == NOBODY.pw_dir
    assert sorted(said['caps'].split()) == ['0000000000000000', '1']     # no_new_privs


@pytest.mark.parametrize('args, env', [([], {}), (['--user', 'root'], {'SUDO_UID': '65534'}), ([], {'SUDO_UID': '0'})])
def test_root_stays_root(prof, folder, args, env):
    done = run(prof, folder, 'import os, sys\nprint("uid", os.getuid())\ndef __init__(): sys.exit(3)\n'
               'def __sample__(e): pass\n', *args, '-e', EVENT, env=env)
    assert done.returncode == 3 and 'uid 0' in done.stdout


def test_batches_have_the_names_of_tasks(prof, folder, storm):
    """The events are open by the time that the script can ask for the names."""
    with Storm(storm, 'getppid', 100) as one, Session(prof, folder, '''
import os
names = set()
def __batch__(batch): names.update(batch['_comm'])
def __interval__(): print('seen' if 'storm' in names else 'ready', flush=True)
def __exit__(): print('names', names, os.getuid())
''', '--user', 'nobody', '-i', '50', '-e', EVENT, '-p', str(one.pid)) as session:
        session.wait_for('ready')
        one.run()
        session.wait_for('seen')
        ended = session.stop()
    assert ended.code == 0 and ended.stdout.endswith(f"names {{'storm'}} {NOBODY.pw_uid}\n")


@pytest.mark.parametrize('script, code, words', [('def x(:\n', 1, 'SyntaxError'), ('', 2, 'no handler')])
def test_a_bad_script_is_told(prof, folder, script, code, words):
    done = run(prof, folder, script, '--user', 'nobody', '-e', EVENT)
    assert done.returncode == code and words in done.stderr


@pytest.mark.live('nobody')
def test_an_active_environment_of_another_python(prof, folder):
    """The script runs, and finds none of its packages."""
    subprocess.run(['/usr/bin/python3', '-m', 'venv', '--without-pip', folder / 'venv'], check=True)

    def tried(script, *options):
        (folder / 's.py').write_text(script + 'def __sample__(e): pass\n')
        return ran(requires.as_nobody([prof, 'python', *options, '-e', 'task-clock:u', 's.py', '--', 'true']), cwd=folder,
                   env={**os.environ, 'VIRTUAL_ENV': str(folder / 'venv')})
    lib, = (folder / 'venv/lib').iterdir()
    said = f'VIRTUAL_ENV={folder}/venv is of another Python version, and its packages cannot be imported: this perf-prof runs Python '
    assert 'nosuch' in tried('import nosuch\n').stderr and said not in tried('import nosuch\n').stderr
    lib.rename(lib.with_name('python3.1'))
    missing = tried('import nosuch\n')
    assert missing.returncode == 1 and f'{said}{lib.name[6:]}; ' in missing.stderr and f'(there is no {lib})' in missing.stderr
    assert said not in tried('import json\n').stderr and said in tried('import json\n', '-v').stderr


def test_files_are_read_and_written_as_the_caller(prof, folder):
    done = run(prof, folder, 'def __sample__(e): e.print()\n', '--user', 'nobody', '-o', 'out', '-N', '3', '-e', 'sched:sched_switch')
    assert done.returncode == 0 and (folder / 'out').stat().st_uid == NOBODY.pw_uid
    assert len((folder / 'out').read_text().splitlines()) == 4
    os.chmod(folder / 's.py', 0o600)
    done = ran([prof, 'python', '--user', 'nobody', '-e', EVENT, 's.py'], cwd=folder)
    assert done.returncode == 2 and 's.py' in done.stderr and 'ermission denied' in done.stderr


@pytest.mark.parametrize('args', [[], ['--user', 'nobody']])
def test_the_working_directory_is_not_searched(prof, folder, trap, args):
    """A json.py and a sitecustomize.py planted where somebody calls us."""
    for name in ('json.py', 'sitecustomize.py', 'usercustomize.py', 'helper.py'):
        (trap / name).write_text('print("TRAPPED")\n')
    done = run(prof, folder, 'import json, sys\nprint(json.dumps([1]))\ntry:\n    import helper\n'
               'except ImportError:\n    print("none")\ndef __init__(): sys.exit(4)\n'
               'def __sample__(e): pass\n', *args, '-e', EVENT, cwd=trap,
               env={'PYTHONPATH': str(trap)} if not args else {})
    assert done.returncode == 4 and 'TRAPPED' not in done.stdout and '[1]\nnone' in done.stdout


STACKS = READY + """
names = set()
def __sample__(e):
    for frame in e._callchain:
        names.add((frame['kernel'], frame['symbol'], frame['dso'].rpartition('/')[2]))
    print('seen', flush=True)
def __exit__():
    for name in sorted(names):
        print('frame', *name)
"""


def test_others_programs_keep_their_symbols(prof, build, folder, tmp_path):
    """One that only root can read, run by root; and the kernel's functions."""
    program = os.path.join(build, 'tests/helpers/callers')
    if not os.path.exists(program):
        pytest.skip('needs the helper callers')
    os.chmod(tmp_path, 0o700)
    secret = shutil.copy(program, tmp_path / 'secret_callers')
    events = f'{EVENT}/comm~"secret_call*"/,sched:sched_process_fork/comm~"secret_call*"/'
    with Session(prof, folder, STACKS, '--user', 'nobody', '-i', '50', '-g', '--user-callchain', '-e', events) as session:
        session.wait_for('ready')
        subprocess.run([secret, '--children', '3', '5'], check=True, stdout=subprocess.DEVNULL)
        session.wait_for('seen')        # names were found, however long that took
        ended = session.stop()
    assert ended.code == 0 and ended.stderr == ''
    frames = {tuple(line.split()[1:]) for line in ended.stdout.splitlines() if line.startswith('frame')}
    assert any(kernel == 'True' and symbol != 'Unknown' for kernel, symbol, _ in frames), frames
    assert {('False', name, 'secret_callers') for name in ('inner', 'middle', 'outer')} <= frames


def test_a_user_with_capabilities_finds_tracepoints(prof):
    """access(2), which judges by the user alone, must not be asked."""
    if subprocess.run([*CAPABLE, prof, 'version'], capture_output=True).returncode:
        pytest.skip('needs setpriv with CAP_PERFMON, and a build folder that nobody may read')
    done = ran([*CAPABLE, prof, 'trace', '-e', 'sched:sched_process_exec', '-N', '1', '--', '/bin/true'])
    assert done.returncode == 0 and 'sched:sched_process_exec: ' in done.stdout, done
    assert ran([*CAPABLE, prof, 'list', 'sched:sched_process_exec']).stdout.split() == ['Tracepoint', 'sched:sched_process_exec']
