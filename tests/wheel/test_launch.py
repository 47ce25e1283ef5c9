# SPDX-License-Identifier: Apache-2.0
"""perf-prof as pip installs it: only `python` and `sql` start an interpreter, its environment's, with no more rights than the
script has. What holds of any perf-prof is tested elsewhere."""
import os
import re
import shutil
import signal
import subprocess

import pytest

from conftest import COUNT, PYTHON, need
from frame import requires

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
READERS = os.path.join(TESTS, 'session/readers/python')
RECORDING = os.path.join(TESTS, 'data/perfdata/amd64-6.12-several.data')
SOFTWARE = 'python', '-e', 'cpu-clock/freq=1000/', '-N', '1', 's.py'
WORK = 'i=0; while [ $((i+=1)) -lt 99999 ]; do :; done'
BUSY = '--', 'sh', '-c', 'while :; do :; done'
QUERY = 'select count(*) > 0 as some from events'
READ = 'python', '-I', RECORDING, 's.py'


def lend(environment, below, *names):
    """Packages that were fetched for the tests of sessions, in an environment."""
    need('arrow')
    for name in os.listdir(READERS):
        if name.partition('.')[0].partition('-')[0].strip('_') in names:
            os.symlink(os.path.join(READERS, name), environment / below / name)


@pytest.fixture
def trap(environment, below, start):
    """A file that is written when a Python of the environment starts."""
    path = start.folder / 'trap'
    (environment / below / 'trap.pth').write_text(f'import os; open({str(path)!r}, "w")\n')
    return path


def test_the_script_runs_in_the_environment(installed, start):
    need('root')
    done = start(installed, *SOFTWARE, 'a b', '--', *BUSY[1:])
    assert (done.returncode, done.stderr) == (0, '')
    assert done.stdout.splitlines()[-1].startswith(f'in {installed}/bin/python3') and done.stdout.rstrip().endswith(' a b')


def test_packages_of_the_environment(environment, below, start):
    """Those that site finds, too, and extension modules; pyperf is another distribution."""
    (environment / below / 'only_here.py').write_text('what = 7\n')
    (environment / below / 'more.pth').write_text(str(start.folder / 'elsewhere'))
    (start.folder / 'elsewhere').mkdir()
    (start.folder / 'elsewhere/further.py').write_text('what = 8\n')
    lend(environment, below, 'numpy')
    script = ('import sys, only_here, further, numpy, perf_prof.raw\nprint(only_here.what, further.what, numpy.arange(3).sum())\n'
              'print(perf_prof.__file__, "site" in sys.modules)\ntry: import pyperf\nexcept ImportError: print("no pyperf")\n')
    done = start(environment, *READ, script=script + COUNT)
    assert done.returncode == 0 and '7 8 3\n' in done.stdout, done
    assert f'{environment}/{below}/perf_prof/__init__.py True\nno pyperf\n' in done.stdout, done


def test_another_environment(environment, below, start, tmp_path):
    """--venv says which, VIRTUAL_ENV does not; it has to have perf_prof."""
    other = tmp_path / 'other'
    subprocess.run([PYTHON, '-m', 'venv', '--without-pip', other], check=True)
    done = start(environment, *READ, environ={'VIRTUAL_ENV': str(other)})
    assert done.returncode == 0 and f'in {environment}/bin/python3' in done.stdout, done
    done = start(environment, 'python', '-I', RECORDING, '--venv', other, 's.py')
    assert done.returncode == 1 and 'cannot load perf_prof' in done.stderr and 'install the wheel of perf-prof' in done.stderr
    for name in os.listdir(environment / below):
        if name.startswith('perf_prof'):
            os.symlink(environment / below / name, other / below / name)
    done = start(environment, 'python', '-I', RECORDING, '--venv', other, 's.py')
    assert done.returncode == 0 and f'in {other}/bin/python3' in done.stdout, done
    done = start(environment, 'python', '-I', RECORDING, '--venv', tmp_path / 'none', 's.py')
    assert done.returncode == 2 and f'--venv {tmp_path}/none' in done.stderr


def test_the_package_of_another_version(environment, below, start):
    package = environment / below / 'perf_prof'
    shutil.rmtree(package)
    package.mkdir()
    (package / '_native.py').write_text('__version__, _main = "0.0.1", None\n')
    done = start(environment, *READ)
    assert done.returncode == 1 and 'has perf_prof 0.0.1, and this program is perf-prof ' in done.stderr, done


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
                                   ('help', '--man', 'python'), ('report', '-I', RECORDING), ('python', '-h'), ('sql', '-h'),
                                   ('python', '-e', 'cpu-clock', '--no-such-option', 's.py'), ('sql', '-e', 'cpu-clock'),
                                   ('sql', '-e', 'cpu-clock', '--json', '--csv', 'from events')], ids=' '.join)
def test_no_other_command_starts_python(environment, start, trap, words):
    """Nor does help, nor a wrong option."""
    start(environment, *words)
    assert not trap.exists()
    start(environment, *READ)
    assert trap.exists()


@pytest.mark.parametrize('how', ['sudo', '--user'])
def test_packages_do_not_run_before_rights_are_dropped(environment, start, trap, how):
    need('root')
    user = ('--user', 'nobody') if how == '--user' else ()
    sudo = {'SUDO_UID': '65534', 'SUDO_GID': '65534'} if how == 'sudo' else {}
    done = start(environment, 'python', '-e', 'cpu-clock', *user, 's.py', environ=sudo)
    assert done.returncode == 1 and 'sudo perf-prof record -e EVENT -o - | perf-prof python -I - script.py' in done.stderr
    if sudo:
        done = start(environment, 'sql', '-e', 'cpu-clock', QUERY, environ=sudo)
        assert done.returncode == 1 and "sudo perf-prof record -e EVENT -o - | perf-prof sql -I - 'QUERY'" in done.stderr
    assert not trap.exists()


def test_what_the_message_advises_works(installed, start):
    need('root', 'tracefs')
    program = os.path.join(installed, 'bin/perf-prof')
    done = subprocess.run(['sh', '-c', f'{program} record -e sched:sched_switch -o - -- sh -c "sleep 0.01; sleep 0.01" | '
                           f'{program} python -I - s.py'], cwd=start.folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and '\nin ' in done.stdout, done


@pytest.mark.parametrize('command', ['python', 'sql'])
@pytest.mark.parametrize('place', ['', 'bin', 'lib', 'packages', 'libraries'])
def test_root_runs_no_packages_of_another_user(environment, below, start, trap, place, command):
    need('root')
    path = {'packages': environment / below, 'libraries': next((environment / below / 'perf_prof.libs').iterdir())}.get(
        place, environment / place)
    os.chown(path, 65534, -1)
    done = start(environment, *(SOFTWARE if command == 'python' else ('sql', '-e', 'cpu-clock', QUERY)))
    assert done.returncode == 1 and f'{path} belongs to user 65534' in done.stderr
    assert not trap.exists()


def test_a_path_that_looks_like_a_pattern_is_one_path(environment, below, start, trap):
    need('root')
    odd = environment.with_name('v[1]*?')
    environment.rename(odd)
    os.chown(odd / below, 65534, -1)
    done = start(odd, *SOFTWARE)
    assert done.returncode == 1 and f'{odd}/{below} belongs to user 65534' in done.stderr, done
    assert not trap.exists()


def test_an_ordinary_user_runs_any_packages(environment, start, tmp_path):
    """As itself: with root's packages, and with its own."""
    need('root', 'nobody')
    for path in (tmp_path, *tmp_path.parents):
        if path.stat().st_mode & 0o055 != 0o055 and path.stat().st_uid == os.getuid() and path.name:
            path.chmod(path.stat().st_mode | 0o055)
    for owner in 0, requires.NOBODY:
        os.chown(environment, owner, -1)
        done = start(environment, *READ, script=COUNT + 'print(os.getuid())\n', before=requires.as_nobody([]))
        assert done.returncode == 0 and f'{requires.NOBODY}\n' in done.stdout and f'in {environment}/bin' in done.stdout, done


def test_nothing_comes_from_the_current_directory_or_as_root_from_the_environment(installed, start):
    need('root')
    for folder in (start.folder, start.folder / 'elsewhere'):
        (folder / 'perf_prof').mkdir(parents=True)
        (folder / 'perf_prof/__init__.py').write_text('print("wrong package")\n')
        (folder / 'sitecustomize.py').write_text('print("wrong customization")\n')
    done = start(installed, 'python', '-v', *SOFTWARE[1:], *BUSY, environ={'PYTHONPATH': str(start.folder / 'elsewhere')})
    assert done.returncode == 0 and 'wrong' not in done.stdout + done.stderr, done
    assert 'PYTHONPATH=' in done.stderr and 'is ignored' in done.stderr


def test_without_its_python(environment, start):
    """The system's is taken, which has a perf_prof only where `make install` put one."""
    for name in os.listdir(environment / 'bin'):
        if name.startswith('python'):
            os.unlink(environment / 'bin' / name)
    (environment / 'pyvenv.cfg').unlink()
    done = start(environment, *SOFTWARE)
    if done.returncode == 0:
        assert re.search(r'^in /usr/(local/)?bin/python3', done.stdout, re.M), done
    else:
        assert done.returncode == 1 and ('there is no python3' in done.stderr or 'cannot load perf_prof' in done.stderr), done


@pytest.fixture
def prefix(environment, below, tmp_path):
    """A folder with a program and its packages, for a Python elsewhere, as of `pip install --user`."""
    path = tmp_path / 'prefix'
    shutil.copytree(environment / below, path / below)
    (path / 'bin').mkdir()
    shutil.copy(environment / 'bin/perf-prof', path / 'bin')
    return path


def test_the_python_for_which_pip_installed_it(prefix, below, start):
    """Not another that is called python3."""
    name = os.path.basename(os.path.dirname(below))
    assert re.search(rf'\(/usr(/local)?/bin/{name}, of its environment\)', start(prefix, 'version', '--build-options').stdout)
    for beside in 'python3', name:
        (prefix / 'bin' / beside).symlink_to(PYTHON)
    assert f'({prefix}/bin/{name}, of its environment)' in start(prefix, 'version', '--build-options').stdout


def test_root_uses_no_libraries_of_another_user(prefix, below, start):
    need('root')
    path = next((prefix / below / 'perf_prof.libs').iterdir())
    os.chown(path, 65534, -1)
    done = start(prefix, *SOFTWARE)
    assert done.returncode == 1 and f'{path} belongs to user 65534' in done.stderr, done


def test_sql(environment, below, start):
    done = start(environment, 'sql', '-I', RECORDING, QUERY)
    assert done.returncode == 1 and 'SQL needs DuckDB: pip install duckdb' in done.stderr, done
    lend(environment, below, 'duckdb')
    done = start(environment, 'sql', '-I', RECORDING, '--csv', QUERY)
    assert (done.returncode, done.stdout, done.stderr) == (0, 'some\nTrue\n', ''), done
    need('root')
    done = start(environment, 'sql', '-e', 'cpu-clock', '--json', QUERY, '--', 'sh', '-c', 'exit 3')
    assert done.returncode == 3 and '[{"some": ' in done.stdout, done


@pytest.mark.parametrize('end, code, says', [
    ('sys.exit(3)', 3, ''), ('1 / 0', 1, 'ZeroDivisionError'), ('os.kill(os.getpid(), 9)', -9, ''), ('import nowhere', 1, 'nowhere')])
def test_how_a_script_ends(installed, start, end, code, says):
    """In the process that was started, and is told of the place in the script."""
    done = start(installed, *READ, script=f'import os, sys\n{end}\n')
    assert done.returncode == code and says in done.stderr and ('s.py' in done.stderr) == bool(says), done


@pytest.mark.parametrize('words, shown', [
    (('record', '-q', '-e', 'cpu-clock', '-o', 'out', '--', 'true'), ''),
    (('profile', '-q', '-e', 'cpu-clock', '--flame-graph', 'f.svg', '--', 'sh', '-c', WORK), '%'),
    (('stat', '-e', 'task-clock', '--', 'true'), 'task-clock'),
    (('report', '-I', RECORDING), 'sched:sched_switch'),
    (('convert', '-I', RECORDING, '--to', 'pprof', '-o', 'out'), ''),
    (('help', 'record'), 'perf-prof record'),
    (('help', '--man', 'record'), '.SH EXAMPLES'),
    (('help', '--json'), '{'),
    (('list',), 'cpu-clock'),
    (('trace', '-h'), 'perf-prof trace - '),
], ids=lambda value: ' '.join(value[:2]) if isinstance(value, tuple) else '')
def test_commands(installed, start, words, shown):
    """The program is whole: its texts, pages, and libraries."""
    if words[0] in ('record', 'profile', 'stat'):
        need('root')
    done = start(installed, *words)
    assert done.returncode == 0 and shown in done.stdout + done.stderr, done
    if '-o' in words:
        assert os.path.getsize(start.folder / 'out') > 100
    if 'f.svg' in words:
        assert '<svg' in (start.folder / 'f.svg').read_text()
