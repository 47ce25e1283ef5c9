# SPDX-License-Identifier: Apache-2.0
"""Wheels of tools/wheels, made once of what the source distribution has: for /usr/bin/python3, with which most is tried, and
for the oldest and the newest Python of this machine; those from 3.11 on share one. Not optimized, as compiling takes most of the time."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tarfile

import pytest

from frame import house, requires

PYTHON = '/usr/bin/python3'
CANDIDATES = ('/usr/bin/python3.[0-9]*', '/usr/local/bin/python3.[0-9]*',
              os.path.expanduser('~/.pyenv/versions/3.*/bin/python3'), '/opt/python/*/bin/python3')
ASK = ('import os, sys, sysconfig, venv, ensurepip; v = sys.version_info\n'
       'there = os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))\n'
       'print("%d.%d%s" % (*v[:2], "t" * bool(sysconfig.get_config_var("Py_GIL_DISABLED"))) if v >= (3, 9) and there else "")')
# What a script prints that ran.
COUNT = ('import os, sys\n'
         'def __sample__(event): pass\n'
         'def __exit__(): print("in", sys.executable, *sys.argv[1:])\n')


def version_of(python):
    """None without what builds extension modules."""
    done = subprocess.run([python, '-c', ASK], capture_output=True, text=True)
    return done.stdout.strip() or None if done.returncode == 0 else None


def tag_of(version):
    """Of the wheel that serves it: one for all that have the GIL, from 3.11 on."""
    tag = 'cp' + version.replace('.', '')
    return 'cp311-abi3' if tag[-1] != 't' and int(tag[3:]) >= 11 else f'{tag.rstrip("t")}-{tag}'


def pythons():
    """{version: path}: the oldest, that of PYTHON, and the newest."""
    found = [path for pattern in CANDIDATES for path in glob.glob(pattern) if re.fullmatch(r'python3(\.\d+t?)?', os.path.basename(path))]
    known = {version_of(path): path for path in found}
    known.pop(None, None)
    ordered = sorted(known, key=lambda version: ([int(n) for n in re.findall(r'\d+', version)], version))
    known[OWN] = PYTHON
    return {version: known[version] for version in ordered if version in (ordered[0], OWN, ordered[-1])} if OWN else {}


OWN = version_of(PYTHON)
PYTHONS = pythons()
NEWEST = list(PYTHONS)[-1] if PYTHONS else None


def need(*words):
    for word in words:
        if requires.why_not(word):
            pytest.skip(requires.why_not(word))


@pytest.fixture(scope='session')
def source(tmp_path_factory):
    """The folder that the source distribution unpacks to."""
    need('program:patchelf', 'program:git', 'program:meson')
    if house.why_not() or not OWN:
        pytest.skip(house.why_not() or f'needs a {PYTHON} with headers, venv and ensurepip')
    folder = tmp_path_factory.mktemp('wheels')
    tools = house.environment(sys.executable, folder / 'tools')
    house.pip(tools, 'install', '--require-hashes', '-r', house.LOCK)
    with tarfile.open(house.sdist(tools, house.checkout(str(folder / 'checkout')), folder / 'sdist')) as archive:
        archive.extractall(folder)
    shutil.rmtree(folder / 'checkout')
    source, = folder.glob('perf_prof-*')
    return source


@pytest.fixture(scope='session')
def wheels(source):
    """{tag: wheel}, and those of pyperf."""
    builders = {tag_of(version): path for version, path in reversed(PYTHONS.items())}
    made = house.run(source / 'tools/wheels', '--find-links', house.HOUSE, source.parent / 'made', *builders.values(), CFLAGS='-O0 -g0').split()
    return dict(zip(builders, made[:len(builders)]), pyperf=dict(zip(builders, made[len(builders):])))


@pytest.fixture(scope='session')
def install(wheels, tmp_path_factory):
    """install(VERSION): the folder of an environment with the wheel; always the same."""
    done = {}

    def get(version):
        if version not in done:
            done[version] = tmp_path_factory.mktemp('env') / 'v'
            house.pip(house.environment(PYTHONS[version], done[version]), 'install', wheels[tag_of(version)])
        return str(done[version])
    return get


@pytest.fixture(scope='session')
def installed(install):
    """That of /usr/bin/python3."""
    return install(OWN)


@pytest.fixture(scope='session')
def below(installed):
    """Where an environment has its packages."""
    return os.path.relpath(glob.glob(f'{installed}/lib/python3*/site-packages')[0], installed)


@pytest.fixture
def environment(installed, below, tmp_path):
    """One to change, with the same files."""
    path = tmp_path / 'env'
    subprocess.run([PYTHON, '-m', 'venv', '--without-pip', path], check=True)
    shutil.copy(os.path.join(installed, 'bin/perf-prof'), path / 'bin')
    for name in glob.glob(f'{installed}/{below}/perf_prof*'):
        shutil.copytree(name, path / below / os.path.basename(name))
    return path


@pytest.fixture
def start(tmp_path):
    """start(ENVIRONMENT, WORD...): the finished perf-prof, in an empty folder with s.py."""
    folder = tmp_path / 'cwd'
    folder.mkdir()
    (folder / 's.py').write_text(COUNT)

    def run(env, *words, script=None, environ=None, before=(), **kwargs):
        if script:
            (folder / 's.py').write_text(script)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(('PYTHON', 'VIRTUAL_ENV'))}
        return subprocess.run([*before, os.path.join(env, 'bin/perf-prof'), *map(str, words)], cwd=folder, capture_output=True,
                              text=True, timeout=120, env={**kept, **(environ or {})}, **kwargs)
    run.folder = folder
    return run
