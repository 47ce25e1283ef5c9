# SPDX-License-Identifier: Apache-2.0
"""perf-prof list of a CPU that is not this one: its PMU by tests/helpers/amd_pmu.c, its names by
libpfm4, which takes the word of LIBPFM_FORCE_PMU for what the CPU is."""
import json
import os
import re
import shutil
import subprocess

import pytest

from frame import declared, requires


@pytest.fixture
def amd(prof, build):
    """Runs perf-prof on that CPU: (exit code, stdout, stderr)."""
    if 'asan' in os.path.basename(build):
        pytest.skip('needs a preloaded library before the sanitizers')
    env = {**os.environ, 'LD_PRELOAD': os.path.join(build, 'tests/helpers/amd_pmu.so'),
           'LIBPFM_FORCE_PMU': 'amd64_fam17h_zen1'}

    def run(*args):
        done = subprocess.run([prof, *args], env=env, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr
    return run


def need_libpfm(prof):
    done = subprocess.run([prof, 'version', '--build-options'], capture_output=True, text=True, timeout=60)
    if not re.search(r'libpfm4: yes', done.stdout):
        pytest.skip('needs a build with libpfm4')


def counted(text):
    """Names of events that `stat -x;` counted."""
    return re.findall(r'^;;([^;]+);[0-9.]+;[^;]*;counted;\d', text, re.M)


@pytest.mark.live
def test_what_the_kernel_refuses_is_not_supported(amd):
    code, out, err = amd('list', 'hardware', 'cache')
    rows = dict(re.findall(r'^  (\S+)(?: +[a-z-]+)? +(yes|no)$', out, re.M))
    assert (code, err) == (0, '') and 'rgument' not in out
    assert (rows['cpu-cycles'], rows['stalled-cycles-backend']) == ('yes', 'no')
    assert (rows['L1-dcache-loads'], rows['LLC-loads'], rows['node-stores']) == ('yes', 'no', 'no')
    events = {e['name']: e for e in json.loads(amd('list', '--json', 'cache')[1])['events']}
    assert events['L1-dcache-loads']['opens'] and 'why' not in events['L1-dcache-loads']
    assert events['node-stores']['why'] == events['LLC-loads']['why'] == 'not supported here'


@pytest.mark.live
def test_names_of_the_vendor_are_found_by_a_glob(prof, amd):
    need_libpfm(prof)
    code, out, err = amd('list', 'retired_mmx*')
    assert (code, err) == (0, '')
    assert re.search(r'^  RETIRED_MMX_FP_INSTRUCTIONS  ', out, re.M)
    assert re.search(r'^  RETIRED_MMX_FP_INSTRUCTIONS:SSE_INSTR$', out, re.M)
    assert 'RETIRED_MMX_FP_INSTRUCTIONS:SSE_INSTR' in amd('list', 'vendor')[1]
    # there are hundreds: only who asks gets them
    assert 'RETIRED' not in amd('list')[1]


@pytest.mark.live
def test_each_name_of_the_vendor_can_be_counted(prof, amd):
    need_libpfm(prof)
    names = [e['name'] for e in json.loads(amd('list', '--json', 'vendor')[1])['events']]
    assert len(names) > 100
    code, _, err = amd('stat', '-x;', '-e', ','.join(names[::20]), '--', 'true')
    assert code == 0 and 'not counted' not in err
    assert counted(err) == names[::20]


@pytest.mark.live
def test_modifiers_of_a_vendor_name_stand_once(prof, amd):
    need_libpfm(prof)
    given = ['RETIRED_INSTRUCTIONS', 'RETIRED_INSTRUCTIONS:u', 'RETIRED_INSTRUCTIONS:k', 'RETIRED_UOPS:u:k']
    code, _, err = amd('stat', '-x;', '-e', ','.join(given), '--', 'true')
    assert code == 0
    assert counted(err) == given[:3] + ['RETIRED_UOPS']


@pytest.mark.alone
@pytest.mark.live
def test_a_letter_that_privilege_adds_has_its_colon(prof, build, amd, tmp_path):
    """What a user may not count in the kernel is counted in user space, and its name says so."""
    need_libpfm(prof)
    for word in ('nobody', 'paranoid'):
        reason = requires.why_not(word)
        if reason:
            pytest.skip(reason)
    for path in (tmp_path, *tmp_path.parents):
        if str(path).startswith('/tmp/'):
            os.chmod(path, 0o755)
    program, pmu = [shutil.copy(os.path.join(build, name), tmp_path)
                    for name in ('perf-prof', 'tests/helpers/amd_pmu.so')]
    names = ['RETIRED_INSTRUCTIONS', 'RETIRED_MMX_FP_INSTRUCTIONS:SSE_INSTR', 'cycles', 'cycles:D']
    with declared.paranoid_level(2):
        done = subprocess.run(requires.as_nobody(
            ['env', f'LD_PRELOAD={pmu}', 'LIBPFM_FORCE_PMU=amd64_fam17h_zen1', program, 'stat', '-x;',
             '-e', ','.join(names), '--', 'true']), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert counted(done.stderr) == [*(n + ':u' for n in names[:3]), 'cycles:Du']


def test_a_kind_of_which_there_is_none_says_so(prof):
    done = subprocess.run([prof, 'list', 'vendor'], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert bool(done.stdout) != ('list: no events of the kind vendor on this machine: libpfm4' in done.stderr), done
