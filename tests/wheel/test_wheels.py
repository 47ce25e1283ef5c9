# SPDX-License-Identifier: Apache-2.0
"""tools/wheels: a wheel for each Python of this machine, installed by its pip; and the source distribution."""
import glob
import os
import platform
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

from frame import house, requires

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MOST_BYTES = 8 << 20
# All that `import perf_prof` may bring in besides its own modules: what every Python has and most programs import anyway.
IMPORTS = 'collections, contextlib, errno, functools, importlib, select, threading, types, typing, warnings'
CANDIDATES = ('/usr/bin/python3', '/usr/bin/python3.[0-9]*', '/usr/local/bin/python3.[0-9]*',
              os.path.expanduser('~/.pyenv/versions/3.*/bin/python3'), '/opt/python/*/bin/python3')
ASK = ('import os, sys, sysconfig, venv, ensurepip; v = sys.version_info\n'
       'there = os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))\n'
       'print("%d.%d%s" % (*v[:2], "t" * bool(sysconfig.get_config_var("Py_GIL_DISABLED"))) if v >= (3, 9) and there else "")')
# What every glibc system has: auditwheel's own list, as far as it matters here.
SYSTEM = re.compile(r'(libc|libm|libz|libpthread|libdl|ld-linux-.*)\.so\.\d+')


def pythons():
    """{version: path} of those that extension modules can be built for."""
    found = {}
    for pattern in CANDIDATES:
        for path in sorted(glob.glob(pattern)):
            if re.fullmatch(r'python3(\.\d+t?)?', os.path.basename(path)):
                done = subprocess.run([path, '-c', ASK], capture_output=True, text=True)
                version = done.stdout.strip()
                if done.returncode == 0 and version:
                    found.setdefault(version, path)
    return found


PYTHONS = pythons()


@pytest.fixture(scope='module')
def wheels(tmp_path_factory):
    """{version of Python: wheel}."""
    if house.why_not() or requires.why_not('program:patchelf'):
        pytest.skip(house.why_not() or requires.why_not('program:patchelf'))
    out = tmp_path_factory.mktemp('wheels')
    made = house.run(os.path.join(house.ROOT, 'tools/wheels'), '--find-links', house.HOUSE, out, *PYTHONS.values()).split()
    return dict(zip(PYTHONS, made))


@pytest.fixture(scope='module')
def installed(wheels, tmp_path_factory):
    """installed(VERSION): the folder of an environment with the wheel."""
    done = {}

    def install(version):
        if version not in done:
            folder = str(tmp_path_factory.mktemp('env') / 'v')
            house.pip(house.environment(PYTHONS[version], folder), 'install', wheels[version])
            done[version] = folder
        return done[version]
    return install


@pytest.fixture(scope='module')
def tools(tmp_path_factory):
    """A Python with meson-python."""
    if house.why_not() or requires.why_not('program:git'):
        pytest.skip(house.why_not() or requires.why_not('program:git'))
    python = house.environment(sys.executable, str(tmp_path_factory.mktemp('tools') / 'v'))
    house.pip(python, 'install', '--require-hashes', '-r', house.LOCK)
    return python


def elf_files(folder):
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(where, name)
            with open(path, 'rb') as f:
                if f.read(4) == b'\x7fELF':
                    yield path


def needed(path):
    out = subprocess.run(['readelf', '-d', path], capture_output=True, text=True, check=True).stdout
    return re.findall(r'\(NEEDED\).*\[(.*)\]', out)


@pytest.mark.parametrize('version', PYTHONS)
def test_name_and_size(wheels, version):
    name = os.path.basename(wheels[version])
    tag = version.replace('.', '')
    found = re.fullmatch(rf'perf_prof-[\d.]+-cp{tag.rstrip("t")}-cp{tag}-(\w+\.)*manylinux_2_(\d+)_{platform.machine()}(\.\w+)*\.whl', name)
    assert found, name
    assert int(found.group(2)) <= int(platform.libc_ver()[1].split('.')[1])
    assert os.path.getsize(wheels[version]) <= MOST_BYTES


def test_libraries_are_inside_and_the_program_is_one(wheels, tmp_path):
    with zipfile.ZipFile(next(iter(wheels.values()))) as archive:
        archive.extractall(tmp_path)
    inside = {os.path.basename(path) for path in elf_files(tmp_path)}
    assert {'perf-prof'} < inside
    for path in elf_files(tmp_path):
        assert [n for n in needed(path) if n not in inside and not SYSTEM.fullmatch(n)] == [], path
    script, = glob.glob(str(tmp_path / '*.data/scripts/*'))
    assert script in set(elf_files(tmp_path)), 'the program became a script'
    assert not glob.glob(str(tmp_path / '*.scripts'))


@pytest.mark.parametrize('version', PYTHONS)
def test_the_package(installed, version):
    python = os.path.join(installed(version), 'bin/python')
    out = house.run(python, '-c', 'import perf_prof, perf_prof.raw as raw\n'
                    'print(perf_prof.__file__, raw.measure("page-faults", lambda: bytearray(1 << 20))["page-faults"].value > 200)')
    assert out.startswith(installed(version)) and out.endswith(' True\n')
    assert house.run(python, '-c', 'import perf_prof; print(perf_prof.features()["software"])') == 'True\n'
    more = (f'import sys, {IMPORTS}; there = set(sys.modules); import perf_prof\n'
            'print(*(name for name in set(sys.modules) - there if name.partition(".")[0] != "perf_prof"))')
    assert house.run(python, '-c', more) == '\n'


@pytest.mark.parametrize('version', PYTHONS)
def test_the_command(installed, version, tmp_path):
    """It loads the libraries of the wheel, not the system's, and runs a script in this Python."""
    program = os.path.join(installed(version), 'bin/perf-prof')
    assert f'{version} ({os.path.realpath(installed(version))}' in house.run(program, 'version', '--build-options')
    traced = house.run('sh', '-c', f'LD_TRACE_LOADED_OBJECTS=1 {program}')
    assert 'not found' not in traced and re.search(r'libdw\S* => \S+/perf_prof\.libs/libdw', traced)
    script = tmp_path / 's.py'
    script.write_text('import sys\ndef __sample__(e): pass\ndef __exit__(): print("ran in", *sys.version_info[:2])\n')
    reason = requires.why_not('root')
    if reason:
        pytest.skip(reason)
    out = house.run(program, 'python', '-e', 'cpu-clock', '-N', '1', script, '--', 'sh', '-c', 'while :; do :; done')
    assert 'ran in ' + version.rstrip('t').replace('.', ' ') in out


@pytest.mark.parametrize('version', PYTHONS)
def test_threads(installed, storm, version):
    """In free-threaded Pythons, importing perf_prof turns the GIL on, and says so."""
    python, program = os.path.join(installed(version), 'bin/python'), os.path.join(TESTS, 'session/thread_checks.py')
    sys.path.insert(0, os.path.dirname(program))
    import thread_checks
    for name, check in thread_checks.CHECKS.items():
        if check not in thread_checks.LIVE or not (requires.root() or requires.tracefs()):
            out = house.run(python, '-W', 'ignore', program, name, storm, os.path.join(TESTS, 'data/perfdata/amd64-6.12-several.data'))
            assert out.startswith(f'{name}: ok')
    has_gil = 'import sys, perf_prof; print(getattr(sys, "_is_gil_enabled", lambda: True)())'
    assert house.run(python, '-W', 'ignore', '-c', has_gil) == 'True\n'


def test_the_source_distribution_builds_by_itself(tools, tmp_path):
    archive = house.sdist(tools, house.checkout(str(tmp_path / 'checkout')), str(tmp_path / 'sdist'))
    shutil.rmtree(tmp_path / 'checkout')
    python = house.environment(sys.executable, str(tmp_path / 'v'))
    house.pip(python, 'install', f'--config-settings=build-dir={tmp_path}/build', archive)
    assert house.run(python, '-c', 'import perf_prof; print(perf_prof.__file__)').startswith(str(tmp_path / 'v'))
    assert 'perf-prof' in house.run(tmp_path / 'v/bin/perf-prof', 'version')
