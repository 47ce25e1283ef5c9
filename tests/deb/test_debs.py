# SPDX-License-Identifier: Apache-2.0
"""The packages in a clean root of Debian, without a compiler: installed, run, upgraded and purged."""
import glob
import os
import re
import shutil
import subprocess

import pytest

from conftest import NAMES, PLACE, ROOT, done_well
from frame import requires

with open(os.path.join(ROOT, 'debian/changelog')) as changelog:
    PACKAGED = re.match(r'perf-prof \((.*)\)', changelog.readline()).group(1)
VERSION = PACKAGED.partition('-')[0]
NEWER = f'{PACKAGED}+newer'
# Packs $1 into $2 with a higher version, of itself and where it depends on the others.
REPACK = '''dpkg-deb -R "$1" "$2" && sed -i 's/^Version: .*/Version: {0}/; s/(= [^)]*)/(= {0})/g' "$2/DEBIAN/control" &&
dpkg-deb --root-owner-group -z0 -b "$2" "$3"'''.format(NEWER)


def perf_events():
    if requires.why_not('events'):
        pytest.skip(requires.why_not('events'))


def test_four_packages(debs):
    assert sorted(os.path.basename(path).split('_')[0] for path in glob.glob(f'{debs}/*.deb')) == sorted(NAMES)


def test_lintian_has_no_word(debs):
    if not shutil.which('lintian') or not debs.startswith(os.path.join(PLACE, 'built')):
        pytest.skip('needs lintian of the system that has built the packages')
    changes, = glob.glob(f'{debs}/*.changes')
    assert done_well(['lintian', '--allow-root', '--fail-on', 'error,warning', changes]) == ''


def test_no_compiler_came(root):
    assert root.run('command -v cc gcc clang || true') == ''


def test_the_program_counts(root):
    perf_events()
    assert 'task-clock' in root.run('perf-prof stat -e task-clock -- true 2>&1')


def test_the_program_reads_a_recording(root):
    with open(os.path.join(ROOT, 'tests/data/perfdata/amd64-5.10-chains.data'), 'rb') as f:
        done = subprocess.run(root.argv('cat >/tmp/r && perf-prof report -i /tmp/r && perf-prof version && rm /tmp/r'), stdin=f,
                              capture_output=True, text=True)
    assert done.returncode == 0 and 'samples' in done.stdout and f'perf-prof {VERSION}' in done.stdout, done.stderr


def test_scripts_run(root):
    """In the system's Python, and in the embedded one."""
    folder = '/usr/lib/python3/dist-packages'
    told = 'import perf_prof, pyperf; print(perf_prof.__file__, pyperf.__file__)'
    assert root.run(f"python3 -c '{told}'").split() == [f'{folder}/perf_prof/__init__.py', f'{folder}/pyperf/__init__.py']
    perf_events()
    told = 'import perf_prof; print(perf_prof.stat(command=["true"], events="task-clock")["task-clock"] > 0)'
    assert root.run(f"python3 -c '{told}' 2>&1") == 'True\n'
    script = 'import pyperf\ndef __sample__(event): pass\ndef __exit__(): print(pyperf.__file__)'
    told = root.run(f"echo '{script}' >s.py; perf-prof python -e task-clock s.py -- true 2>&1; rm s.py")
    assert told.splitlines()[-1] == f'{folder}/pyperf/__init__.py'


def test_pages_and_completion(root):
    pages = 'man1/perf-prof.1', 'man1/perf-prof-waits.1', 'man3/pev_event_open.3', 'man7/perfevent.7'
    root.run('ls ' + ' '.join(f'/usr/share/man/{page}.gz' for page in pages))
    root.run('grep -q "complete .* perf-prof" /usr/share/bash-completion/completions/perf-prof; '
             'ls /usr/share/zsh/site-functions/_perf-prof /usr/share/fish/vendor_completions.d/perf-prof.fish')


def test_the_library_has_its_links(root):
    assert root.run('readlink -e /usr/lib/*/libperfevent.so').strip().endswith(f'/libperfevent.so.{VERSION}')
    root.run('ls /usr/include/perfevent.h /usr/lib/*/libperfevent.a /usr/lib/*/pkgconfig/libperfevent.pc')


def test_upgrade_and_purge_beside_a_recorder(root, debs, tmp_path):
    """The last one: it takes the packages away. A recorder that runs meanwhile ends its recording well."""
    for number, path in enumerate(glob.glob(f'{debs}/*.deb')):
        done_well(['sh', '-c', REPACK, 'sh', path, tmp_path / str(number), tmp_path / f'{number}.deb'])
        with open(tmp_path / f'{number}.deb', 'rb') as f:
            subprocess.run(root.argv(f'cat >/debs/newer-{number}.deb'), stdin=f, check=True)
    root.run('apt-get -q -y install /debs/newer-*.deb')
    assert set(root.run("dpkg-query -Wf '${Version}\\n' " + ' '.join(NAMES)).split()) == {NEWER}
    root.run('perf-prof version; python3 -c "import perf_prof, pyperf"')
    assert '/usr/bin/perf-prof' in root.files() - root.before

    recorder = None
    if not requires.why_not('events'):
        recorder = subprocess.Popen(root.argv("exec perf-prof record -o kept -e task-clock -- sh -c 'echo begun; read word'"),
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert recorder.stdout.readline() == 'begun\n'
    root.run('apt-get -q -y purge ' + ' '.join(NAMES))
    if recorder:
        out, err = recorder.communicate('end\n', timeout=60)
        assert recorder.returncode == 0, err
        assert root.run('head -c 8 kept; rm kept') == 'PERFILE2'
    assert root.run('command -v perf-prof || true') == ''
    assert root.files() ^ root.before == set()
