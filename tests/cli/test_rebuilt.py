# SPDX-License-Identifier: Apache-2.0
"""A recording of this machine whose programs and libraries have another build now, as after an update of the C library."""
import os
import platform
import re
import struct
import subprocess

import pytest

from frame.hints import hints

HERE = os.path.dirname(__file__)
MMAP2, HAS_BUILD_ID = 10, 1 << 14


def hostname(name):
    """As perf writes it."""
    return struct.pack('<I', 64) + name.encode().ljust(64, b'\0')


def build_ids(data):
    at, size = struct.unpack_from('<QQ', data, 40)
    end = at + size
    while at < end:
        kind, misc, size = struct.unpack_from('<IHH', data, at)
        if kind == MMAP2 and misc & HAS_BUILD_ID:
            yield data[at + 44:at + 64]
        at += size


@pytest.fixture(scope='module')
def rebuilt(tmp_path_factory):
    if platform.machine() != 'x86_64' or len(platform.node()) > 63:
        pytest.skip('needs x86_64, where the recording is from, and a short name of the host')
    with open(os.path.join(HERE, '../data/perfdata/buildid.data'), 'rb') as f:
        data = f.read()
    found = set(build_ids(data))
    assert len(found) == 6 and hostname('vm') in data
    for one in found:
        data = data.replace(one, one[::-1])
    path = tmp_path_factory.mktemp('rebuilt') / 'x.data'
    path.write_bytes(data.replace(hostname('vm'), hostname(platform.node())))
    return path


@pytest.mark.parametrize('command', [['report'], ['script'], ['diff'], ['convert', '--to', 'pprof', '-o', os.devnull]],
                         ids=lambda command: command[0])
def test_that_files_changed_is_a_hint(prof, rebuilt, command):
    argv = [prof, *command, *(2 * [rebuilt] if command == ['diff'] else ['-I', rebuilt])]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == ''
    assert re.search(r'perf-prof: /usr/\S+ and \d other files? are not the files that were sampled \(-v says why\)', hints(argv))
    assert hints([*argv, '-q']) == ''
    told = subprocess.run([*argv, '-v'], capture_output=True, text=True, timeout=60).stderr
    assert len(re.findall(r'^perf-prof: /usr/.*: the file now has the build id .*; its functions have no names', told, re.M)) >= 2
