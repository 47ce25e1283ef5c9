# SPDX-License-Identifier: Apache-2.0
"""tools/wheels --cross: the wheel for aarch64, built here and run by qemu, with Debian's packages of that machine."""
import glob
import os
import re
import zipfile

import pytest

from conftest import PYTHON, need, tag_of, version_of
from frame import house
from vm import archive, cross

RECORDING = os.path.join(house.ROOT, 'tests/data/perfdata/amd64-6.12-several.data')


@pytest.mark.soak     # two builds, one of them emulated in part
def test_aarch64(source, tmp_path):
    need('program:qemu-aarch64')
    if 'abi3' not in tag_of(version_of(PYTHON)):
        pytest.skip(f'needs a {PYTHON} from 3.11 on')
    try:
        path, root = cross.cross_file(house.ROOT)
    except archive.Unavailable as missing:
        pytest.skip(str(missing))
    made = house.run(source / 'tools/wheels', '--find-links', house.HOUSE, '--cross', path, tmp_path / 'made', PYTHON).split()
    assert all(re.search(r'/perf_prof(_pyperf)?-[\d.]+-cp311-abi3-manylinux_\d+_\d+_aarch64\.whl$', name) for name in made), made
    for name in made:
        with zipfile.ZipFile(name) as wheel:
            wheel.extractall(tmp_path / 'unpacked')
    os.mkdir(tmp_path / 'unpacked/bin')
    program = str(tmp_path / 'unpacked/bin/perf-prof')
    os.rename(glob.glob(str(tmp_path / 'unpacked/*.data/scripts/perf-prof'))[0], program)
    os.chmod(program, 0o755)
    emulated = 'qemu-aarch64', '-L', root
    assert 'sched:sched_switch' in house.run(*emulated, program, 'report', '-I', RECORDING)
    code = ('import platform, pyperf, perf_prof\n'
            f'print(platform.machine(), sum(map(len, perf_prof.open({RECORDING!r}))) > 0, pyperf.paranoid() is not None)')
    assert house.run(*emulated, '-E', f'PYTHONPATH={tmp_path}/unpacked', os.path.join(root, 'usr/bin/python3'), '-c',
                     code) == 'aarch64 True True\n'
