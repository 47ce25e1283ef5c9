# SPDX-License-Identifier: Apache-2.0
"""What is built resists: the program, the library and the Python module, as readelf sees them."""
import glob
import json
import os
import platform
import re
import subprocess

import pytest

from conftest import ROOT, run

X86 = pytest.mark.skipif(platform.machine() != 'x86_64', reason='needs x86-64')
FLAGS = '-fstack-protector-strong', '-fstack-clash-protection', '-fcf-protection', '-D_FORTIFY_SOURCE=3'


def readelf(path, *options):
    done = run(['readelf', '-W', *options, path], {'LC_ALL': 'C'})
    assert done.returncode == 0, done.stderr
    return done.stdout


def built(build):
    module = glob.glob(os.path.join(build, 'python/pyperf/_pyperf*.so'))
    return {'program': os.path.join(build, 'perf-prof'),
            'library': os.path.join(build, 'src/perfevent/libperfevent.so'),
            **({'module': module[0]} if module else {})}


@pytest.fixture(params=['program', 'library', 'module'])
def binary(build, request):
    found = built(build)
    if request.param not in found:
        pytest.skip('needs a build with the module pyperf')
    return found[request.param]


def test_full_relro(binary):
    """The table of addresses of functions is filled at the start, and read-only from then on."""
    assert re.search(r'^ +GNU_RELRO ', readelf(binary, '-l'), re.M)
    assert re.search(r'\(FLAGS_1\) .*\bNOW\b', readelf(binary, '-d'))


def test_no_memory_is_both_writable_and_executable(binary):
    flags = re.findall(r'^ +(LOAD|GNU_STACK) .* ([R ][W ][E ]) +0x\w+$', readelf(binary, '-l'), re.M)
    assert {kind for kind, _ in flags} == {'LOAD', 'GNU_STACK'}
    assert not [kind for kind, flag in flags if 'W' in flag and 'E' in flag]
    assert '(TEXTREL)' not in readelf(binary, '-d')


def test_the_program_lies_anywhere(build):
    assert re.search(r'Type: +DYN ', readelf(built(build)['program'], '-h'))
    assert re.search(r'\(FLAGS_1\) .*\bPIE\b', readelf(built(build)['program'], '-d'))


def called(binary):
    return set(re.findall(r' UND (\w+)', readelf(binary, '--dyn-syms')))


def test_stacks_have_guards(binary):
    assert '__stack_chk_fail' in called(binary)


def test_libc_checks_the_sizes_that_the_compiler_knows(binary):
    assert [name for name in called(binary) if re.fullmatch(r'__\w+_chk', name)]


def takes(flag):
    """Whether this compiler and libc do."""
    source = '#include <features.h>\n'
    if flag.startswith('-D_FORTIFY_SOURCE'):
        source += f'_Static_assert(__USE_FORTIFY_LEVEL == {flag[-1]}, "");\n'
    return subprocess.run(['cc', '-Werror', '-O2', '-U_FORTIFY_SOURCE', flag, '-c', '-x', 'c', '-', '-o', '/dev/null'],
                          input=source, capture_output=True, text=True).returncode == 0


@pytest.mark.parametrize('flag', FLAGS)
def test_every_source_is_compiled_with_it(build, flag):
    if not takes(flag):
        pytest.skip(f'needs a compiler and a libc that take {flag}')
    with open(os.path.join(build, 'compile_commands.json')) as f:
        commands = {os.path.relpath(os.path.join(c['directory'], c['file']), ROOT): c['command'].split()
                    for c in json.load(f)}
    ours = {path: command for path, command in commands.items() if path.startswith(('src/', 'python/'))}
    assert len(ours) > 300
    assert [path for path, command in ours.items() if flag not in command] == []


def words_of(binary, name):
    """The first bytes of an exported function."""
    place = re.search(rf'^ +\d+: (\w+) .* {name}\b', readelf(binary, '--dyn-syms'), re.M)
    for offset, start, size in re.findall(r'^ +LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+)', readelf(binary, '-l'), re.M):
        within = int(place.group(1), 16) - int(start, 16)
        if 0 <= within < int(size, 16):
            with open(binary, 'rb') as f:
                f.seek(int(offset, 16) + within)
                return f.read(4)
    raise AssertionError(f'{name} is in no segment')


@X86
def test_functions_begin_where_jumps_may_land(build):
    if not takes('-fcf-protection'):
        pytest.skip('needs a compiler that takes -fcf-protection')
    assert words_of(built(build)['library'], 'pev_event_open') == b'\xf3\x0f\x1e\xfa'     # endbr64


@X86
def test_large_frames_touch_each_page(build):
    """orq $0, (%rsp): the probe of -fstack-clash-protection; the program has frames of more than a page."""
    with open(built(build)['program'], 'rb') as f:
        assert f.read().count(b'\x48\x83\x0c\x24\x00') > 10
