# SPDX-License-Identifier: Apache-2.0
"""--hide-pmu: a PMU is away for whoever looks. Also where there is none, a source of events that is there
can be hidden the same way."""
import os
import shutil
import subprocess
import sys

import pytest
from frame import build, hide_pmu, requires

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

OPENER = '''
import ctypes, errno, os, struct, sys
from frame import kernel
def opened(kind, config=0, size=64, **fields):
    attr = ctypes.create_string_buffer(struct.pack('=IIQQQQQ', kind, size, config, fields.get('freq', 0), 0, 0,
                                                   1 | 1 << 5 | 1 << 6 | (1 << 10 if 'freq' in fields else 0)), 128)
    fd = ctypes.CDLL(None, use_errno=True).syscall(kernel.SYSCALL.get(os.uname().machine, 241), attr, 0, -1, -1, 0)
    if fd >= 0:
        os.close(fd)
    return 'opens' if fd >= 0 else errno.errorcode[ctypes.get_errno()]
'''


def inside(kept, code, **more):
    """What code prints, in a process from which all but `kept` was hidden."""
    if requires.why_not('root') or requires.why_not('unshare') or not shutil.which('cc'):
        pytest.skip('needs root, a mount namespace and a C compiler')
    hidden = (f'from frame import hide_pmu\nfolder = hide_pmu.hide({kept!r})\nimport subprocess, sys\n'
              f'sys.exit(subprocess.run([sys.executable, "-c", {OPENER + code!r}]).returncode)')
    done = subprocess.run([sys.executable, '-B', '-c', hidden], cwd=TESTS, capture_output=True, text=True, **more)
    assert (done.returncode, done.stderr) == (0, ''), done
    return done.stdout.split()


def number(pmu):
    try:
        with open(os.path.join(hide_pmu.DEVICES, pmu, 'type')) as f:
            return int(f.read())
    except OSError:
        pytest.skip(f'needs the PMU {pmu}')


@pytest.mark.parametrize('kind', [0, 3, 4, 1000], ids=['hardware', 'cache', 'raw', 'no such PMU'])
def test_hardware_is_away(kind):
    assert inside(hide_pmu.KEPT, f'print(opened({kind}))') == ['ENOENT']


def test_the_rest_is_there():
    assert inside(hide_pmu.KEPT, 'print(opened(1), opened(1, 9))') == ['opens', 'opens']


def test_sysfs_has_what_is_kept():
    seen = inside(hide_pmu.KEPT, f'print(*sorted(os.listdir({hide_pmu.DEVICES!r})))')
    assert seen == sorted(set(hide_pmu.KEPT) & set(os.listdir(hide_pmu.DEVICES))) and 'software' in seen
    assert inside(hide_pmu.KEPT, f'print(open("{hide_pmu.DEVICES}/software/type").read())') == ['1']


@pytest.mark.parametrize('pmu', ['uprobe', 'msr'])
def test_a_pmu_that_is_there_can_be_hidden(pmu):
    """By its number, which it opens with before: the kernel knows it, the processes inside don't."""
    code = f'print(opened({number(pmu)}, 0) == "ENOENT", os.path.exists("{hide_pmu.DEVICES}/{pmu}"))'
    assert inside(hide_pmu.KEPT, code) == ['False', 'True']
    kept = tuple(set(hide_pmu.KEPT) - {pmu})
    assert inside(kept, code) == ['True', 'False']
    assert os.path.isdir(os.path.join(hide_pmu.DEVICES, pmu)), 'outside nothing changes'


def test_what_is_wrong_before_is_said_before():
    """The kernel answers, in its own order."""
    assert inside(hide_pmu.KEPT, 'print(opened(0, size=8), opened(0, freq=1 << 40))') == ['E2BIG', 'EINVAL']


def test_other_system_calls_work():
    assert inside(hide_pmu.KEPT, 'libc = ctypes.CDLL(None)\nprint(libc.syscall(39) == os.getpid())' if
                  os.uname().machine == 'x86_64' else 'print(True)') == ['True']


@pytest.mark.parametrize('why', [None] if shutil.which('perf') else [])
def test_perf_sees_none(why):
    code = ('import subprocess\ndone = subprocess.run(["perf", "stat", "-x,", "-e", "cycles,instructions", "true"], '
            'capture_output=True, text=True)\nprint(done.stderr.count("not supported"))')
    assert inside(hide_pmu.KEPT, code) == ['2']


def test_builds_are_not_hidden_from(monkeypatch):
    """A sanitized program, which a build runs, must be the first to be loaded."""
    monkeypatch.setenv('LD_PRELOAD', '/nowhere/hide_pmu.so')
    assert build.execute('nothing', ['sh', '-c', 'echo "[$LD_PRELOAD]"'], '.') == '[]\n'
