# SPDX-License-Identifier: Apache-2.0
"""What `make release` makes, as far as it is quickly made: the program in one file in roots without a libc, the package's spec,
the recorder's unit, release notes, pages in source archives."""
import importlib.machinery
import importlib.util
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time

import pytest

from frame import house, requires

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RECORDING = os.path.join(ROOT, 'tests/data/perfdata/amd64-6.12-several.data')
SPEC = os.path.join(ROOT, 'packaging/perf-prof.spec')


def need(*words):
    for word in words:
        if requires.why_not(word):
            pytest.skip(requires.why_not(word))


def run(*argv, **more):
    return subprocess.run([str(a) for a in argv], capture_output=True, text=True, timeout=120, **more)


@pytest.fixture
def build(request):
    return os.path.abspath(request.config.getoption('--build'))


@pytest.fixture(scope='module')
def release():
    loader = importlib.machinery.SourceFileLoader('release', os.path.join(ROOT, 'tools/release'))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('release', loader))
    loader.exec_module(module)
    return module


@pytest.fixture
def inside(build, tmp_path):
    """inside(WORD...): perf-prof in a root that has nothing but it, a recording, users and the kernel's folders."""
    need('root', 'unshare')
    for name in 'etc', 'tmp', 'dev', 'proc', 'sys':
        (tmp_path / name).mkdir()
    (tmp_path / 'etc/passwd').write_text('somebody:x:4711:4711::/:/perf-prof\n')
    (tmp_path / 'etc/nsswitch.conf').write_text('passwd: systemd sss\ngroup: systemd\n')
    (tmp_path / 'dev/null').touch()
    shutil.copy(os.path.join(build, 'perf-prof'), tmp_path)
    shutil.copy(RECORDING, tmp_path / 'recording')
    mounts = ' && '.join(f'mount --rbind /{name} {tmp_path}/{name}' for name in ('proc', 'sys', 'dev/null'))
    enter = f'{mounts} && exec chroot {tmp_path} /perf-prof "$@"'
    return lambda *words: run('unshare', '-m', 'sh', '-c', enter, 'sh', *words)


@pytest.mark.parametrize('words, code, shown', [
    (('version',), 0, r'perf-prof \d'),
    (('report', '-I', '/recording'), 0, 'samples of'),
    (('script', '-I', '/recording', '--json'), 0, '"event"'),
    (('profile', '-e', 'cpu-clock', '--flame-graph', '/tmp/f.svg', '--', '/perf-prof', 'help', '--json'), 0, ''),
    (('stat', '-e', 'task-clock', '--', '/perf-prof', 'version'), 0, 'task-clock'),
    (('check', '--user', 'somebody'), 0, r'somebody \(uid 4711\)'),
    (('python', '-I', '/recording', 's.py'), 1, r'\.deb or wheel'),
], ids=lambda value: value[0] if isinstance(value, tuple) else '')
def test_it_runs_where_there_is_no_libc(inside, words, code, shown):
    if '-e' in words:
        need('events')
    done = inside(*words)
    assert done.returncode == code and re.search(shown, done.stdout + done.stderr), done


def test_licences_of_libraries_are_installed(build):
    if not os.path.exists('/usr/share/common-licenses'):
        pytest.skip('needs the texts of licences that Debian has')
    with open(os.path.join(build, 'meson-info/intro-installed.json')) as f:
        assert {'NOTICE', 'GPL-2', 'GPL-3', 'LGPL-2.1', 'LGPL-3'} <= {os.path.basename(path) for path in json.load(f).values()}


@pytest.fixture
def unit(build, tmp_path):
    """The installed unit, of the program that was built."""
    with open(os.path.join(build, 'perf-prof-recorder.service')) as f:
        text = re.sub(r'^(ExecStart=)\S+', rf'\1{build}/perf-prof', f.read(), flags=re.M)
    path = tmp_path / 'perf-prof-recorder.service'
    path.write_text(re.sub('^Documentation=.*\n', '', text, flags=re.M))     # its manual page is not installed here
    return path


def test_systemd_takes_the_unit(unit):
    need('program:systemd-analyze')
    done = run('systemd-analyze', 'verify', unit)
    assert (done.returncode, done.stdout + done.stderr) == (0, ''), done
    done = run('systemd-analyze', 'security', '--offline=true', '--threshold=40', unit)
    assert done.returncode == 0, done.stdout[-300:]


def test_the_unit_records(unit, tmp_path):
    """With its capabilities and no others."""
    need('root', 'events', 'program:setpriv')
    text = unit.read_text()
    allowed = re.findall(r'CAP_(\w+)', ' '.join(re.findall('^CapabilityBoundingSet=(.*)', text, re.M)))
    command = shlex.split(re.search('^ExecStart=(.*)', text, re.M)[1].replace('${STATE_DIRECTORY}', str(tmp_path)))
    caps = ','.join(['-all', *(f'+{name.lower()}' for name in allowed)])
    limited = ['setpriv', '--no-new-privs', '--bounding-set', caps, '--', *command]
    with subprocess.Popen(limited, stderr=subprocess.PIPE, text=True, env={**os.environ, 'HOME': str(tmp_path)}) as recorder:
        deadline = time.monotonic() + 60
        while not os.path.exists(tmp_path / 'perf.data') and recorder.poll() is None and time.monotonic() < deadline:
            with open(f'/proc/{recorder.pid}/status') as f:
                handled = int(re.search(r'SigCgt:\s*(\w+)', f.read())[1], 16) >> signal.SIGUSR2 - 1 & 1
            if handled:
                recorder.send_signal(signal.SIGUSR2)    # a dump, once something was sampled
        recorder.terminate()
        errors = recorder.communicate(timeout=60)[1]
    assert (recorder.returncode, errors) == (0, ''), errors
    done = run(command[0], 'report', '-I', tmp_path / 'perf.data')
    assert done.returncode == 0 and '99 Hz' in done.stdout, done


@pytest.mark.parametrize('how, packages', [((), 4), (('--with', 'static'), 1)], ids=['native', 'static'])
def test_the_spec(release, how, packages):
    need('program:rpmspec')
    done = run('rpmspec', *how, '-q', '--qf', '%{name} %{version}\n', SPEC)
    rows = [line.split() for line in done.stdout.splitlines()]
    assert done.returncode == 0 and len(rows) == packages and {row[1] for row in rows} == {release.version_of(ROOT)}, done


def test_rpmlint_finds_no_error():
    need('program:rpmlint')
    done = run('rpmlint', '-r', SPEC.replace('.spec', '.rpmlintrc'), SPEC)
    assert done.returncode == 0 and ' 0 errors' in done.stdout, done.stdout


def test_notes(release, tmp_path):
    assert len(release.notes(ROOT, release.version_of(ROOT)).splitlines()) > 3
    text = '# Changelog\n\n## 2.0.0 - 2027-01-01\n\n- New.\n\n## 1.0.0 - 2026-01-01\n\n- Old.\n\n## 0.9.0 - now\n'
    (tmp_path / 'CHANGELOG.md').write_text(text)
    assert release.notes(tmp_path, '2.0.0') == '# perf-prof 2.0.0\n\n- New.\n'
    assert release.notes(tmp_path, '1.0.0') == '# perf-prof 1.0.0\n\n- Old.\n'
    for version in '0.9.0', '3.0.0':
        with pytest.raises(SystemExit, match=version):
            release.notes(tmp_path, version)


def test_what_programs_get_of_the_environment(release, monkeypatch):
    for name in 'CFLAGS', 'DEB_BUILD_OPTIONS', 'PYTHONPATH', 'https_proxy', 'PIP_INDEX_URL':
        monkeypatch.setenv(name, 'x')
    got = {line.partition('=')[0] for line in release.run('env', TZ='UTC').splitlines()}
    assert {'PATH', 'TZ', 'https_proxy', 'PIP_INDEX_URL'} <= got and not {'CFLAGS', 'DEB_BUILD_OPTIONS', 'PYTHONPATH'} & got


def test_pythons_of_wheels(release, tmp_path, monkeypatch):
    """Beside the system's: those in PATH that run, and have what a build needs."""
    for name, does in ('python3.9', 'echo /opt/3.9'), ('python3.10', 'exit 1'):
        (tmp_path / name).write_text(f'#!/bin/sh\n{does}\n')
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv('PATH', str(tmp_path), prepend=os.pathsep)
    own = os.path.basename(os.path.realpath('/usr/bin/python3'))
    assert release.pythons() == ['/usr/bin/python3', '/opt/3.9'][:1 if own == 'python3.9' else 2]


def test_what_no_commit_has_is_not_released(tmp_path):
    need('program:git')
    source = house.checkout(str(tmp_path / 'source'))
    (tmp_path / 'source/src/new.c').touch()
    done = run(os.path.join(source, 'tools/release'), tmp_path / 'out')
    assert done.returncode == 1 and 'src/new.c' in done.stderr and not os.path.exists(tmp_path / 'out'), done
    os.unlink(tmp_path / 'source/src/new.c')
    for name in 'out', 'out.part':
        (tmp_path / name).mkdir()
        done = run(os.path.join(source, 'tools/release'), tmp_path / 'out')
        assert done.returncode == 1 and f'{tmp_path}/{name} is there already' in done.stderr, done
        (tmp_path / name).rmdir()


def test_a_source_archive_needs_no_node(build, tmp_path):
    """Its pages are those of the build."""
    need('program:node', 'program:meson')
    if not os.path.exists(os.path.join(ROOT, 'web/node_modules/.installed')):
        pytest.skip('needs what tools/install-web fetches')
    source = tmp_path / 'source'
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*house.BUILT))
    entries = [os.path.join(ROOT, 'web', name) for name in ('flame.js', 'heat.js')]
    done = run('node', os.path.join(ROOT, 'web/bundle.mjs'), '--dist', *entries,
               env={**os.environ, 'MESON_DIST_ROOT': str(source)})
    assert done.returncode == 0, done
    done = run('meson', 'setup', tmp_path / 'b', source, '-Dhtml=enabled', '-Dpython=disabled')
    assert done.returncode == 0, done.stdout
    assert run('ninja', '-C', tmp_path / 'b', 'web/flame_page.c', 'web/heat_page.c').returncode == 0
    for name in 'flame_page.c', 'heat_page.c':
        assert (tmp_path / 'b/web' / name).read_bytes() == open(os.path.join(build, 'web', name), 'rb').read()
