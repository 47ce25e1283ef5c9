# SPDX-License-Identifier: Apache-2.0
"""The program's file gives rights to whoever runs it: none may come to scripts, commands or files."""
import os
import shutil
import subprocess

import pytest

from frame import requires

pytestmark = pytest.mark.live

for word in ('nobody', 'program:setcap'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))

SECRET = 'for root alone\n'
# Far more than the manual allows.
TOO_MANY = 'cap_dac_override,cap_sys_ptrace,cap_sys_admin,cap_perfmon+eip'


@pytest.fixture
def copy(prof, folder):
    """copy(mode, capabilities): a copy of the program, installed like that."""
    if os.statvfs(folder).f_flag & os.ST_NOSUID:
        pytest.skip(f'needs a {folder.parent} that is not mounted nosuid')

    def install(mode=0o755, capabilities=''):
        path = shutil.copy(prof, folder / 'perf-prof')
        os.chmod(path, mode)
        if capabilities:
            done = subprocess.run(['setcap', capabilities, path], capture_output=True, text=True)
            if done.returncode:
                pytest.skip(f'needs setcap {capabilities} on {folder} ({done.stderr.strip()})')
        return path
    return install


@pytest.fixture
def secret(folder):
    path = folder / 'secret'
    path.write_text(SECRET)
    os.chmod(path, 0o600)
    return path


@pytest.fixture
def run(folder, caller):
    def run_it(*argv, env=None):
        return subprocess.run([str(a) for a in argv], env={**os.environ, **(env or {})}, cwd=folder,
                              capture_output=True, text=True, timeout=60, **caller)
    return run_it


@pytest.fixture
def python(folder, run):
    def run_script(program, script, *args, env=None):
        (folder / 's.py').write_text(script + '\ndef __sample__(e): pass\n')
        return run(program, 'python', '-e', 'cpu-clock', '-p', os.getpid(), *args, folder / 's.py', env=env)
    return run_script


STATUS = """
with open('/proc/self/status') as f:
    said = dict(line.split(':', 1) for line in f)
print({name: int(said[name], 16) for name in said if name.startswith('Cap') and name != 'CapBnd'})
import subprocess, sys
print('cat', subprocess.run(['cat', PATH], capture_output=True, text=True))
try:
    print(open(PATH).read())
except PermissionError as error:
    print(error.strerror)
def __init__(): sys.exit(3)
"""


def test_a_script_has_none_of_the_files_capabilities(copy, python, secret):
    done = python(copy(capabilities=TOO_MANY), f'PATH = {str(secret)!r}\n{STATUS}')
    assert done.returncode == 3 and SECRET.strip() not in done.stdout, done.stdout + done.stderr
    assert "{'CapInh': 0, 'CapPrm': 0, 'CapEff': 0, 'CapAmb': 0}" in done.stdout
    assert '\nPermission denied\n' in done.stdout


@pytest.mark.parametrize('name, value', [('PYTHONPATH', '{trap}'), ('VIRTUAL_ENV', '{trap}'),
                                         ('PYTHONHOME', '{trap}')])
def test_the_environment_chooses_no_code(copy, python, folder, name, value):
    for module in ('json.py', 'sitecustomize.py', 'usercustomize.py'):
        (folder / module).write_text('print("TRAPPED")\n')
    done = python(copy(capabilities='cap_perfmon+ep'), 'import json, sys\ndef __init__(): sys.exit(3)', '-v',
                  env={name: value.format(trap=folder)})
    assert done.returncode == 3 and 'TRAPPED' not in done.stdout, done.stdout + done.stderr
    assert f'perf-prof: {name}={folder} is ignored' in done.stderr and '--user' not in done.stderr


def test_files_are_read_as_who_runs_it(copy, run, secret):
    recording = run(copy(capabilities=TOO_MANY), 'report', secret)
    assert recording.returncode and 'Permission denied' in recording.stderr


def test_files_are_written_as_who_runs_it(copy, run, secret):
    done = run(copy(capabilities=TOO_MANY), 'stat', '-e', 'task-clock:u', '-o', secret, '--', 'true')
    assert done.returncode and 'Permission denied' in done.stderr and secret.read_text() == SECRET


def test_a_command_has_none(copy, run, secret):
    done = run(copy(capabilities=TOO_MANY), 'stat', '-e', 'task-clock:u', '--', 'cat', secret)
    assert done.returncode and SECRET not in done.stdout and 'Permission denied' in done.stderr


@pytest.mark.parametrize('mode', [0o4755, 0o2755, 0o6755])
@pytest.mark.parametrize('args', [['python', '-e', 'cpu-clock', 's.py'], ['stat', '--', 'id'], ['version']],
                         ids=lambda args: args[0])
def test_setuid_is_refused(copy, run, folder, mode, args):
    (folder / 's.py').write_text('print("RAN")\ndef __sample__(e): pass\n')
    done = run(copy(mode), *args)
    assert done.returncode == 1 and done.stdout == ''
    assert 'does not run setuid or setgid' in done.stderr and 'chmod ug-s' in done.stderr


def test_setuid_root_does_not_believe_in_sudo(copy, run, folder):
    done = run(copy(0o4755), 'stat', '-o', folder / 'out', '--', 'id', env={'SUDO_UID': '0', 'SUDO_GID': '0'})
    assert done.returncode == 1 and not (folder / 'out').exists()


WATCH = """
import sys
pids = set()
def cpu_clock(e):
    pids.add(e._pid)
def __interval__():
    with open('/proc/self/status') as f:
        print({line.split()[1] for line in f if line.startswith(('CapPrm', 'CapEff'))})
    sys.exit(3)
"""


def test_cap_perfmon_alone_watches_the_machine(copy, run, folder):
    """What the manual gives is enough: every CPU is opened, and the script has nothing of it."""
    (folder / 's.py').write_text(WATCH)
    done = run(copy(capabilities='cap_perfmon+ep'), 'python', '-e', 'cpu-clock', '-i', '50', folder / 's.py')
    assert done.returncode == 3, done.stderr
    assert "{'0000000000000000'}" in done.stdout and 'user space only' not in done.stderr
