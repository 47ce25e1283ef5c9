# SPDX-License-Identifier: Apache-2.0
"""tools/wheels, and the source distribution that the wheels are made of: what is in them, and what pip does with it."""
import glob
import os
import platform
import re
import subprocess
import sys
import zipfile

import pytest

from conftest import NEWEST, OWN, PYTHON, PYTHONS, need, tag_of
from frame import house

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RECORDING = os.path.join(TESTS, 'data/perfdata/amd64-6.12-several.data')
MOST_BYTES = 8 << 20
# All that `import perf_prof` may bring in besides its own modules: what every Python has and most programs import anyway.
IMPORTS = 'collections, contextlib, errno, functools, importlib, select, threading, types, typing, warnings'
# What every glibc system has: auditwheel's own list, as far as it matters here.
SYSTEM = re.compile(r'(libc|libm|libz|libpthread|libdl|ld-linux-.*)\.so\.\d+')
VERSIONS = list(PYTHONS)


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


@pytest.mark.parametrize('version', VERSIONS)
def test_name_and_size(wheels, version):
    for wheel in wheels[tag_of(version)], wheels['pyperf'][tag_of(version)]:
        name = os.path.basename(wheel)
        found = re.fullmatch(rf'perf_prof(?:_pyperf)?-[\d.]+-{tag_of(version)}-(?:\w+\.)*manylinux_2_(\d+)_{platform.machine()}(\.\w+)*\.whl', name)
        assert found, name
        assert int(found.group(1)) <= int(platform.libc_ver()[1].split('.')[1])
        assert os.path.getsize(wheel) <= MOST_BYTES
        with zipfile.ZipFile(wheel) as archive:
            modules = [name for name in archive.namelist() if re.search(r'/_(native|pyperf)\.\S+\.so$', name)]
        assert modules and ('abi3' not in tag_of(version) or all(name.endswith('.abi3.so') for name in modules)), modules


def test_libraries_are_inside_and_the_program_is_one(wheels, tmp_path):
    with zipfile.ZipFile(wheels[tag_of(OWN)]) as archive:
        archive.extractall(tmp_path)
    inside = {os.path.basename(path) for path in elf_files(tmp_path)}
    assert {'perf-prof'} < inside
    for path in elf_files(tmp_path):
        assert [n for n in needed(path) if n not in inside and not SYSTEM.fullmatch(n)] == [], path
    script, = glob.glob(str(tmp_path / '*.data/scripts/*'))
    assert script in set(elf_files(tmp_path)), 'the program became a script'
    assert not glob.glob(str(tmp_path / '*.scripts'))
    licences = {os.path.basename(path) for path in glob.glob(str(tmp_path / '*.dist-info/licenses/*'))}
    assert {'NOTICE', 'GPL-2', 'GPL-3', 'LGPL-2.1', 'LGPL-3'} <= licences or not os.path.exists('/usr/share/common-licenses')


@pytest.mark.parametrize('version', VERSIONS)
def test_the_command(install, version, tmp_path):
    """It loads the libraries of the wheel, not the system's, and runs a script in this Python."""
    program = os.path.join(install(version), 'bin/perf-prof')
    serves = '3.11 or later' if 'abi3' in tag_of(version) else version
    assert f'{serves} ({os.path.realpath(install(version))}' in house.run(program, 'version', '--build-options')
    traced = house.run('sh', '-c', f'LD_TRACE_LOADED_OBJECTS=1 {program}')
    assert 'not found' not in traced and re.search(r'libdw\S* => \S+/perf_prof\.libs/libdw', traced)
    script = tmp_path / 's.py'
    script.write_text('import sys\ndef __sample__(e): pass\ndef __exit__(): print("ran in", *sys.version_info[:2])\n')
    assert 'ran in ' + version.rstrip('t').replace('.', ' ') in house.run(program, 'python', '-I', RECORDING, script)


@pytest.mark.parametrize('version', VERSIONS)
def test_the_package(install, version):
    """In free-threaded Pythons, importing perf_prof turns the GIL on, and says so."""
    python = os.path.join(install(version), 'bin/python')
    out = house.run(python, '-c', 'import perf_prof, perf_prof.raw as raw\n'
                    'print(perf_prof.__file__, raw.measure("page-faults", lambda: bytearray(1 << 20))["page-faults"].value > 200)')
    assert out.startswith(install(version)) and out.endswith(' True\n')
    more = (f'import sys, {IMPORTS}; there = set(sys.modules); import perf_prof\n'
            'print(*(name for name in set(sys.modules) - there if name.partition(".")[0] != "perf_prof"))')
    assert house.run(python, '-c', more) == '\n'
    has_gil = 'import sys, perf_prof; print(getattr(sys, "_is_gil_enabled", lambda: True)())'
    assert house.run(python, '-W', 'ignore', '-c', has_gil) == 'True\n'


@pytest.mark.parametrize('version', VERSIONS)
def test_pyperf(wheels, version, tmp_path):
    python = house.environment(PYTHONS[version], tmp_path / 'v')
    house.pip(python, 'install', wheels['pyperf'][tag_of(version)])
    measured = 'import pyperf; print(pyperf.measure("page-faults", lambda: bytearray(1 << 20))["page-faults"].value > 200)'
    assert house.run(python, '-c', measured) == 'True\n'


def test_sessions_and_commands_in_python(installed):
    """perf_prof takes the program that was installed with it."""
    python = os.path.join(installed, 'bin/python')
    assert house.run(python, '-c', f'import perf_prof\ns = perf_prof.open({RECORDING!r})\n'
                     'print(sum(len(batch) for batch in s) > 10)') == 'True\n'
    assert 'sched:sched_switch' in house.run(python, '-c', f'import perf_prof; print(perf_prof.report({RECORDING!r}))')
    need('root', 'tracefs')
    calls = [python, '-c', 'import os\nfor _ in range(1000): os.getppid()']
    assert house.run(python, '-c', 'import perf_prof\nwith perf_prof.Session("syscalls:sys_enter_getppid", '
                     f'command={calls!r}, ring="16M") as s: print(sum(len(batch) for batch in s))') == '1000\n'


def test_threads(install):
    """Those that watch no program: in the newest Python, as its threads are the most its own."""
    sys.path.insert(0, os.path.join(TESTS, 'session'))
    import thread_checks
    python = os.path.join(install(NEWEST), 'bin/python')
    for name, check in thread_checks.CHECKS.items():
        if check not in thread_checks.LIVE:
            out = house.run(python, '-W', 'ignore', thread_checks.__file__, name, 'no storm', RECORDING)
            assert out.startswith(f'{name}: ok')


def files(folder):
    return {os.path.relpath(path, folder) for path in glob.glob(f'{folder}/**', recursive=True) if '__pycache__' not in path}


@pytest.mark.parametrize('name, part, says', [('manylinux_2_99', 1, 'not a supported wheel on this platform'), ('', 2, 'is invalid')],
                         ids=['of another system', 'half'])
def test_what_pip_refuses(wheels, tmp_path, name, part, says):
    """It says why, and leaves nothing."""
    python = house.environment(PYTHON, tmp_path / 'v')
    with open(wheels[tag_of(OWN)], 'rb') as f:
        content = f.read()
    bad = tmp_path / re.sub(r'manylinux_2_\d+', name or r'\g<0>', os.path.basename(wheels[tag_of(OWN)]))
    bad.write_bytes(content[:len(content) // part])
    before = files(tmp_path / 'v')
    done = subprocess.run([python, '-m', 'pip', 'install', bad], capture_output=True, text=True, env=house.environ())
    assert done.returncode == 1 and says in done.stderr and 'Traceback' not in done.stderr, done
    assert files(tmp_path / 'v') == before


@pytest.mark.parametrize('without, says', [('PKG_CONFIG_LIBDIR', 'this is missing: libtraceevent'), ('CC', 'there is no C compiler')])
def test_a_build_names_what_is_missing(tmp_path, without, says):
    need('program:meson')
    if house.why_not() or not OWN:
        pytest.skip(house.why_not() or f'needs a {PYTHON} with headers, venv and ensurepip')
    done = subprocess.run([house.environment(PYTHON, tmp_path / 'v'), '-m', 'pip', 'wheel', '--no-deps', '-w', tmp_path,
                           f'--config-settings=build-dir={tmp_path}/build', house.ROOT],
                          capture_output=True, text=True, env=house.environ(**{without: '/nowhere'}))
    assert done.returncode == 1 and says in done.stdout + done.stderr, done
    assert '`tools/install-deps build` installs all' in done.stdout + done.stderr


def test_uninstalling_leaves_nothing(wheels, tmp_path):
    python = house.environment(PYTHON, tmp_path / 'v')
    before = files(tmp_path / 'v')
    house.pip(python, 'install', wheels[tag_of(OWN)])
    assert {name for name in files(tmp_path / 'v') - before if name.startswith('bin/')} == {'bin/perf-prof'}
    house.pip(python, 'uninstall', '-y', 'perf-prof')
    assert files(tmp_path / 'v') == before
