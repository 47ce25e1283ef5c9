# SPDX-License-Identifier: Apache-2.0
"""The installed tree: headers in both languages, both libraries, pkg-config."""
import json
import os
import re

import pytest

import header
from conftest import C, ROOT, run

CXX = ['c++', '-std=c++17', '-O2', '-Wall', '-Wextra', '-Wpedantic', '-Werror']
PROGRAM = '''#include <perfevent.h>
int main(void)
{
	struct perf_event_attr attr;
	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	return attr.config == PERF_COUNT_SW_TASK_CLOCK ? 0 : 1;
}
'''


def version():
    with open(os.path.join(ROOT, 'meson.build')) as f:
        return re.search(r"version: '([\d.]+)'", f.read()).group(1)


def test_debian_packages_have_this_version():
    with open(os.path.join(ROOT, 'debian/changelog')) as f:
        assert re.match(r'perf-prof \(([\d.]+)-\d+\) ', f.readline()).group(1) == version()


@pytest.mark.parametrize('name', ['perfevent.h'] + [os.path.relpath(p, header.INCLUDE)
                                                    for p in header.parts()])
@pytest.mark.parametrize('language', ['c', 'c++'])
def test_each_header_compiles_alone(installed, tmp_path, name, language):
    """In both languages, without a warning, twice included."""
    compiler = [*C, '-std=c11'] if language == 'c' else CXX
    source = tmp_path / ('x.c' if language == 'c' else 'x.cc')
    source.write_text(f'#include <{name}>\n#include <{name}>\nint main(void) {{ return 0; }}\n')
    # Not as a system header: those are not warned about.
    done = run([*compiler, '-fsyntax-only', f'-I{installed.include}', source])
    assert done.returncode == 0, done.stderr


def test_pkg_config(installed):
    done = run(['pkg-config', '--modversion', 'libperfevent'], installed.env)
    assert done.stdout.strip() == version()
    assert '-lperfevent' in installed.flags('--libs')
    assert installed.flags('--libs').count('-lpfm') == 0


def test_shared(installed, tmp_path):
    (tmp_path / 'x.c').write_text(PROGRAM)
    program = installed.compile(tmp_path / 'x.c', tmp_path / 'x')
    assert 'libperfevent.so.0' in run(['readelf', '-d', program]).stdout
    assert installed.run(program).returncode == 0


def test_static(installed, tmp_path):
    (tmp_path / 'x.c').write_text(PROGRAM)
    program = installed.compile(tmp_path / 'x.c', tmp_path / 'x', static=True)
    assert 'libperfevent' not in run(['readelf', '-d', program]).stdout
    assert installed.run(program).returncode == 0


@pytest.mark.parametrize('static', [False, True])
def test_from_cxx(installed, tmp_path, static):
    (tmp_path / 'x.cc').write_text(PROGRAM)
    program = installed.compile(tmp_path / 'x.cc', tmp_path / 'x', tuple(CXX), static)
    assert installed.run(program).returncode == 0


def test_soname_and_links(installed):
    so = os.path.join(installed.lib, f'libperfevent.so.{version()}')
    assert 'SONAME' in run(['readelf', '-d', so]).stdout
    assert re.search(r'SONAME.*\[libperfevent\.so\.0\]', run(['readelf', '-d', so]).stdout)
    for link in ('libperfevent.so', 'libperfevent.so.0'):
        assert os.path.realpath(os.path.join(installed.lib, link)) == os.path.realpath(so)


def test_every_name_in_the_archive_is_ours(installed):
    """Who links statically must not meet names like `fail` in it."""
    done = run(['nm', '-g', '--defined-only', os.path.join(installed.lib, 'libperfevent.a')])
    names = [line.split()[2] for line in done.stdout.splitlines() if len(line.split()) == 3]
    assert [n for n in names if not n.startswith('pev_')] == []


def test_no_writable_data_is_shared(installed):
    """No state outside of objects: only what libpfm's set-up needs, once per process."""
    done = run(['objdump', '-t', os.path.join(installed.lib, 'libperfevent.a')])
    found = re.findall(r' O (?:\.data|\.bss|\.data\.rel(?:\.local)?)\t\S+ (?:\.hidden )?(\w+)',
                       done.stdout)
    assert set(found) <= {'once', 'pfm'}


def hints(prefix, python='lib/python3.11/site-packages'):
    below = {'bin/perf-prof', 'lib/libperfevent.so', 'lib/libperfevent.so.0', 'lib/pkgconfig/libperfevent.pc',
             f'{python}/pyperf/__init__.py', 'share/man/man1/perf-prof.1'}
    done = run([os.path.join(ROOT, 'tools/install-hints')],
               text_in=json.dumps({f'/build/{name}': f'{prefix}/{name}' for name in below}))
    assert (done.returncode, done.stderr) == (0, '')
    return done.stdout


@pytest.mark.parametrize('prefix', ['/usr', '/usr/local'])
def test_a_usual_prefix_needs_no_words(prefix):
    assert hints(prefix) == ''


@pytest.mark.parametrize('prefix', ['/opt/perf $prof', '/home/me/.local', '/usr/local/perf-prof'])
def test_another_prefix_is_told_with_what_to_export(prefix, tmp_path):
    exports = re.findall(r'^    (export .*?)  +# .*$', hints(prefix), re.M)
    assert len(exports) == 4
    shell = 'PATH=/bin LD_LIBRARY_PATH= PKG_CONFIG_PATH=/before; unset PYTHONPATH; ' + '; '.join(exports) + \
        '; for v in "$PATH" "$LD_LIBRARY_PATH" "$PKG_CONFIG_PATH" "$PYTHONPATH"; do echo "$v"; done'
    assert run(['sh', '-c', shell]).stdout.splitlines() == [
        f'{prefix}/bin:/bin', f'{prefix}/lib', f'{prefix}/lib/pkgconfig:/before',
        f'{prefix}/lib/python3.11/site-packages']


def test_what_is_installed_here_is_in_the_words(build):
    """The names that the tool looks for are those that meson installs."""
    done = run(['meson', 'introspect', build, '--installed'])
    if done.returncode:
        pytest.skip('needs meson')
    installed = list(json.loads(done.stdout).values())
    for end in '/bin/perf-prof', '/libperfevent.so', '/libperfevent.pc':
        assert [path for path in installed if path.endswith(end)], end
