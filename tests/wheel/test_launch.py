# SPDX-License-Identifier: Apache-2.0
"""perf-prof as pip installs it: only `python` and `sql` start an interpreter, its environment's, with no more rights than the
script has. build-wheel/env is such an environment."""
import os
import re
import shutil
import signal
import subprocess

import pytest

from frame import requires
from frame.build import packages_of

PYTHON = '/usr/bin/python3'
COUNT = ('import os, sys\n'
         'def __sample__(event): pass\n'
         'def __exit__(): print("in", sys.executable, *sys.argv[1:])\n')


def need(*words):
    for word in words:
        if requires.why_not(word):
            pytest.skip(requires.why_not(word))


@pytest.fixture(scope='session')
def installed(build):
    if not os.path.exists(os.path.join(build, 'pyvenv.cfg')):
        pytest.skip('needs an environment as --build, as build-wheel/env of tests/run')
    return build


@pytest.fixture
def environment(installed, tmp_path):
    """One of its own, to change: with the same files."""
    path = tmp_path / 'env'
    subprocess.run([PYTHON, '-m', 'venv', '--without-pip', path], check=True)
    shutil.copy(os.path.join(installed, 'bin/perf-prof'), path / 'bin')
    packages = path / packages_of(PYTHON)
    shutil.copytree(os.path.join(installed, packages_of(PYTHON), 'perf_prof'), packages / 'perf_prof')
    return path


@pytest.fixture
def start(tmp_path):
    """start(ENVIRONMENT, WORD...): the finished perf-prof, in an empty folder with s.py."""
    folder = tmp_path / 'cwd'
    folder.mkdir()
    (folder / 's.py').write_text(COUNT)

    def run(env, *words, script=None, environ=None, **kwargs):
        if script:
            (folder / 's.py').write_text(script)
        return subprocess.run([os.path.join(env, 'bin/perf-prof'), *map(str, words)], cwd=folder, capture_output=True, text=True,
                              timeout=120, env={**os.environ, **(environ or {})}, **kwargs)
    run.folder = folder
    return run


SOFTWARE = 'python', '-e', 'cpu-clock/freq=1000/', '-N', '1', 's.py'
BUSY = '--', 'sh', '-c', 'while :; do :; done'


def test_the_script_runs_in_the_environment(installed, start):
    need('root')
    done = start(installed, *SOFTWARE, 'a b', '--', *BUSY[1:])
    assert (done.returncode, done.stderr) == (0, '')
    assert done.stdout.splitlines()[-1].startswith(f'in {installed}/bin/python3') and done.stdout.rstrip().endswith(' a b')


def test_it_sees_packages_of_the_environment(environment, start):
    need('root')
    (environment / packages_of(PYTHON) / 'only_here.py').write_text('what = 7\n')
    done = start(environment, *SOFTWARE, *BUSY, script='import only_here\n' + COUNT + 'print(only_here.what)\n')
    assert done.returncode == 0 and '7\n' in done.stdout, done


def test_the_process_stays_the_same(installed, start):
    """Its name in events, and the signals that a program it starts gets: as without Python in between."""
    need('root')
    status = 'grep -E "^SigIgn" /proc/self/status; while :; do :; done'
    done = start(installed, *SOFTWARE, '--', 'sh', '-c', status,
                 script=COUNT + 'print(open("/proc/self/comm").read().strip(), os.getppid())\n')
    assert done.returncode == 0 and f'perf-prof {os.getpid()}\n' in done.stdout, done
    ignored = int(re.search(r'SigIgn:\s*(\w+)', done.stdout).group(1), 16)
    assert not ignored & (1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1)


@pytest.mark.parametrize('words', [('version', '--build-options'), ('stat', '-e', 'task-clock', '--', 'true'),
                                   ('python', '-h'), ('python', '-e', 'cpu-clock', '--no-such-option', 's.py'),
                                   ('sql', '-h'), ('sql', '-e', 'cpu-clock'), ('sql', '-e', 'cpu-clock', '--json', '--csv', 'from events')])
def test_no_other_command_starts_python(environment, start, words):
    """Nor does help, nor a wrong option."""
    (environment / packages_of(PYTHON) / 'trap.pth').write_text(f'import os; open({str(start.folder / "trap")!r}, "w")\n')
    start(environment, *words)
    assert not (start.folder / 'trap').exists()


@pytest.mark.parametrize('how', ['sudo', '--user'])
def test_packages_do_not_run_before_rights_are_dropped(environment, start, how):
    need('root')
    trap = start.folder / 'trap'
    (environment / packages_of(PYTHON) / 'trap.pth').write_text(f'import os; open({str(trap)!r}, "w")\n')
    user = ('--user', 'nobody') if how == '--user' else ()
    done = start(environment, 'python', '-e', 'cpu-clock', *user, 's.py',
                 environ={'SUDO_UID': '65534', 'SUDO_GID': '65534'} if how == 'sudo' else None)
    assert done.returncode == 1 and 'sudo perf-prof record -e EVENT -o - | perf-prof python -I - script.py' in done.stderr
    assert not trap.exists()


QUERY = 'select count(*) > 0 as some from events'


def test_sql_does_not_run_packages_before_rights_are_dropped(environment, start):
    need('root')
    trap = start.folder / 'trap'
    (environment / packages_of(PYTHON) / 'trap.pth').write_text(f'import os; open({str(trap)!r}, "w")\n')
    done = start(environment, 'sql', '-e', 'cpu-clock', QUERY, environ={'SUDO_UID': '65534', 'SUDO_GID': '65534'})
    assert done.returncode == 1 and "sudo perf-prof record -e EVENT -o - | perf-prof sql -I - 'QUERY'" in done.stderr
    os.chown(environment / 'bin', 65534, -1)
    done = start(environment, 'sql', '-e', 'cpu-clock', QUERY)
    assert done.returncode == 1 and 'belongs to user 65534' in done.stderr
    assert not trap.exists()


def test_sql_without_duckdb(installed, start):
    need('root')
    done = start(installed, 'sql', '-e', 'cpu-clock', QUERY)
    assert done.returncode == 1 and 'pip install perf-prof[sql]' in done.stderr, done


def test_sql_in_the_environment(environment, start):
    need('root', 'arrow')
    readers = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../session/readers/python')
    for name in (name for name in os.listdir(readers) if 'duckdb' in name):
        os.symlink(os.path.join(readers, name), environment / packages_of(PYTHON) / name)
    done = start(environment, 'sql', '-e', 'cpu-clock/freq=1000/', '--csv', '-N', '1', QUERY, *BUSY)
    assert (done.returncode, done.stdout, done.stderr) == (0, 'some\nTrue\n', ''), done
    done = start(environment, 'sql', '-e', 'cpu-clock', '--json', QUERY, '--', 'sh', '-c', 'exit 3')
    assert done.returncode == 3 and '[{"some": ' in done.stdout, done


def test_what_the_message_advises_works(installed, start):
    need('root', 'tracefs')
    program = os.path.join(installed, 'bin/perf-prof')
    done = subprocess.run(['sh', '-c', f'{program} record -e sched:sched_switch -o - -- sh -c "sleep 0.01; sleep 0.01" | '
                           f'{program} python -I - s.py'], cwd=start.folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and '\nin ' in done.stdout, done


@pytest.mark.parametrize('place', ['', 'bin', 'lib', packages_of(PYTHON)])
def test_root_runs_no_packages_of_another_user(environment, start, place):
    need('root')
    trap = start.folder / 'trap'
    (environment / packages_of(PYTHON) / 'trap.pth').write_text(f'import os; open({str(trap)!r}, "w")\n')
    os.chown(environment / place, 65534, -1)
    done = start(environment, *SOFTWARE)
    assert done.returncode == 1 and f'{os.path.join(environment, place).rstrip("/")} belongs to user 65534' in done.stderr
    assert not trap.exists()


def test_nothing_comes_from_the_current_directory_or_as_root_from_the_environment(installed, start):
    need('root')
    for folder in (start.folder, start.folder / 'elsewhere'):
        (folder / 'perf_prof').mkdir(parents=True)
        (folder / 'perf_prof/__init__.py').write_text('print("wrong package")\n')
        (folder / 'sitecustomize.py').write_text('print("wrong customization")\n')
    done = start(installed, 'python', '-v', *SOFTWARE[1:], *BUSY, environ={'PYTHONPATH': str(start.folder / 'elsewhere')})
    assert done.returncode == 0 and 'wrong' not in done.stdout + done.stderr, done
    assert 'PYTHONPATH=' in done.stderr and 'is ignored' in done.stderr


def test_another_environment_without_perf_prof(installed, start, tmp_path):
    need('root')
    other = tmp_path / 'other'
    subprocess.run([PYTHON, '-m', 'venv', '--without-pip', other], check=True)
    done = start(installed, 'python', '-e', 'cpu-clock', '--venv', other, 's.py')
    assert done.returncode == 1 and 'cannot load perf_prof' in done.stderr and 'install perf-prof' in done.stderr
    done = start(installed, 'python', '-e', 'cpu-clock', '--venv', tmp_path / 'none', 's.py')
    assert done.returncode == 2 and f'--venv {tmp_path}/none' in done.stderr


def test_without_its_python(environment, start):
    for name in os.listdir(environment / 'bin'):
        if name.startswith('python'):
            os.unlink(environment / 'bin' / name)
    (environment / 'pyvenv.cfg').unlink()
    done = start(environment, *SOFTWARE)
    assert done.returncode == 1 and ('there is no python3' in done.stderr or 'cannot load perf_prof' in done.stderr), done
