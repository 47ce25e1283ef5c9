# SPDX-License-Identifier: Apache-2.0
"""Recordings that gzip has compressed as a whole: read as what they were, and damage said."""
import gzip
import os
import subprocess
import zlib

import pytest

from frame.session import ran
from test_foreign import R, Foreign, attr, sample

N, SIZE = 2000, len(sample(12, 0))
SCRIPT = 'n = 0\ndef __sample__(e):\n    global n\n    n += 1\ndef __exit__():\n    print("samples", n)\n'


@pytest.fixture
def recording(need, prof, tmp_path):
    need('zlib')
    return Foreign(prof, tmp_path)


def a_recording(recording, layout='file'):
    """Its bytes."""
    records = [sample(12, 1000 + 7 * i, ip=0x400100 + i * 31 % 977) for i in range(N)]
    recording.write([(attr(0, 0), [12], 'cycles')], records)
    data = recording.path.read_bytes()
    if layout == 'pipe':
        event = attr(0, 0)
        data = b'PERFILE2' + R.pack('Q', 16) + R.record(64, 0, event + R.pack('Q', 12)) + R.comm(500, 'first', 900) + \
            R.mmap2(500, '/bin/first', 901) + b''.join(records)
        recording.path.write_bytes(data)
    return data


def compressed(recording, data):
    recording.path = recording.folder / 'x.data.gz'
    recording.path.write_bytes(data)


def samples(text):
    return len(text.splitlines())


@pytest.mark.parametrize('layout', ['file', 'pipe'])
def test_all_readers_read_it(recording, layout):
    data = a_recording(recording, layout)
    plain = {args: recording(*args) for args in (('script',), ('report',), ('report', '--json'), ('convert', '--to', 'folded'),
                                                 ('convert', '--to', 'speedscope'))}
    assert samples(plain['script',]) >= N
    compressed(recording, gzip.compress(data))
    for args, text in plain.items():
        assert recording(*args) == text.replace('x.data', 'x.data.gz')
    (recording.folder / 's.py').write_text(SCRIPT)
    assert recording('python', 's.py', '-I').endswith(f'\nsamples {N}\n')
    with open(recording.path, 'rb') as pipe:
        through = subprocess.run(['cat'], stdin=pipe, stdout=subprocess.PIPE, check=True)
        done = subprocess.run([recording.prof, 'script', '-I', '-'], input=through.stdout, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr, samples(done.stdout)) == (0, b'', samples(plain['script',]))


def test_members_one_behind_the_other(recording):
    data = a_recording(recording)
    text = recording('script')
    pieces = [data[at:at + 10000] for at in range(0, len(data), 10000)]
    assert len(pieces) > 5
    compressed(recording, gzip.compress(b'') + b''.join(map(gzip.compress, pieces)) + bytes(512))
    assert recording('script') == text


@pytest.mark.parametrize('layout', ['file', 'pipe'])
def test_a_cut_one_is_read_as_far_as_it_goes(recording, layout):
    data = a_recording(recording, layout)
    whole = gzip.compress(data)
    for part in (0.9, 0.5):
        compressed(recording, whole[:int(len(whole) * part)])
        there = len(zlib.decompressobj(31).decompress(recording.path.read_bytes()))
        text = recording('script', check=1, errors=f'the gzip file is truncated here; only {there} bytes could be unpacked')
        assert there / SIZE * 0.9 < samples(text) <= there / SIZE
    compressed(recording, whole[:-4])       # nothing but the length is missing
    assert N <= samples(recording('script', check=1, errors='the gzip file is truncated here')) < N + 3
    compressed(recording, whole[:40])
    recording('script', check=1, errors='the gzip file is truncated here')


def test_a_cut_one_is_said_once(recording):
    """In a recording of perf-prof: not that its recorder was killed, too."""
    event = attr(0, 0)
    recording.path = recording.folder / 'x.data'
    recording.path.write_bytes(b'PERFILE2' + R.pack('Q', 16) + R.record(64, 0, event + R.pack('Q', 12)) +
                               R.record(80, 0, R.pack('Q', 5) + R.string('perf-prof 1') + bytes(4)) + R.comm(500, 'first', 900) +
                               b''.join(sample(12, 1000 + 7 * i) for i in range(N)))
    whole = recording.path.read_bytes()
    recording('script', errors='the recording has no end')
    for at in (0, 5, 40):                   # between two records, within a head, within one
        there = len(whole) - 1000 * SIZE + at
        compressed(recording, gzip.compress(whole[:there])[:-8])
        done = ran([recording.prof, 'script', recording.path])
        *summary, said = done.stderr.splitlines()
        assert done.returncode == 1 and f'the gzip file is truncated here; only {there} bytes' in said, done
        assert summary == ([f'perf-prof: {N - 1000} events delivered, 1 lost at least'] if at else []), done


def test_damage_is_said_and_what_comes_before_it_is_read(recording):
    data = a_recording(recording)
    whole = bytearray(gzip.compress(data))
    whole[-8] ^= 1                          # of the check sum
    compressed(recording, whole)
    text = recording('script', check=1, errors=f'gzip file is damaged here .incorrect data check.; only {len(data)} bytes')
    assert N <= samples(text) < N + 3
    compressed(recording, gzip.compress(data) + b'something else')
    assert samples(recording('script', check=1, errors='gzip file is damaged here .incorrect header check.')) == samples(text)
    whole = bytearray(gzip.compress(data))
    for at in range(20, len(whole), len(whole) // 12):
        hurt = bytearray(whole)
        hurt[at] ^= 0x55
        compressed(recording, hurt)
        done = subprocess.run([recording.prof, 'script', recording.path], capture_output=True, timeout=60)
        assert done.returncode == 1 and b'gzip' in done.stderr, (at, done)


def test_what_is_no_recording_within(recording):
    for data, said in ((b'PERFILE2' + bytes(200), 'a header of 0 bytes'), (b'', 'it has 0 bytes'),
                       (gzip.compress(bytes(100)), 'compressed by gzip twice'), (b'text\n' * 10, 'this is text'),
                       (b'\x0a\x04\x08\x01\x10\x02\x12\x07\x08\x01' + bytes(20), 'protobuf, as a profile of pprof')):
        compressed(recording, gzip.compress(data))
        recording('report', check=1, errors=said)


@pytest.mark.live
def test_there_has_to_be_room(recording):
    """A file system of 1 MiB in place of /var/tmp."""
    if os.geteuid():
        pytest.skip('needs root, for a mount namespace')
    compressed(recording, gzip.compress(bytes(16 << 20)))
    assert recording.path.stat().st_size < 100000
    done = ran(['unshare', '--mount', 'sh', '-ec', 'exec 9<"$1"; mount -t tmpfs -o size=1m none /var/tmp; '
                'exec "$0" report -I /proc/self/fd/9', recording.prof, recording.path])
    assert done.returncode == 1 and 'has more than 0 MiB, which is half of what is free in /var/tmp: unpack it with gunzip' \
        in done.stderr, done
