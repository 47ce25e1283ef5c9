# SPDX-License-Identifier: Apache-2.0
"""pip, with nothing but the packages that tools/install-wheel-tools fetched."""
import glob
import os
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOUSE = os.path.join(ROOT, 'tests/wheel/house')
LOCK = os.path.join(ROOT, 'tools/wheel-tools.txt')
BUILT = 'build', 'build-*', '.git', 'node_modules', 'house', 'readers', '__pycache__', '.mesonpy*', 'perf.data*'


def why_not():
    if not os.path.exists(os.path.join(HOUSE, '.fetched')):
        return 'needs what tools/install-wheel-tools fetches'
    return None if shutil.which('ninja') else 'needs the program ninja'


def environ(**more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(('PYTHON', 'PIP_', 'VIRTUAL_ENV', 'LD_PRELOAD'))}
    return {**kept, 'PIP_NO_INDEX': '1', 'PIP_FIND_LINKS': HOUSE, 'PIP_DISABLE_PIP_VERSION_CHECK': '1', **more}


def run(*argv, cwd='/', **more):
    done = subprocess.run([str(a) for a in argv], capture_output=True, text=True, timeout=1800, cwd=cwd, env=environ(**more))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def pip(python, *words, **more):
    return run(python, '-m', 'pip', '-q', '--no-input', *words, **more)


def environment(python, folder):
    run(python, '-m', 'venv', folder)
    return os.path.join(folder, 'bin/python')


def checkout(folder):
    """The project's files as one commit, which a source distribution is made from."""
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*BUILT))
    run('git', 'init', '-q', cwd=folder)
    run('git', 'add', '-A', cwd=folder)
    run('git', '-c', 'user.name=t', '-c', 'user.email=t@example.org', 'commit', '-q', '-m', 'all', cwd=folder)
    return folder


def sdist(tools, source, out):
    """The archive that meson-python makes of the folder `source`. tools: a Python that has meson-python."""
    os.makedirs(out)
    run(tools, '-c', f'import mesonpy; mesonpy.build_sdist({str(out)!r})', cwd=source,
        PATH=os.path.dirname(tools) + os.pathsep + os.environ['PATH'])
    archive, = glob.glob(os.path.join(out, '*.tar.gz'))
    return archive
