# SPDX-License-Identifier: Apache-2.0
"""Recordings of the corpus, what perf says of them, and perf-prof convert."""
import os
import re
import shutil
import subprocess
import sys
from collections import namedtuple

import pytest

from frame.declared import without_lowered_rates

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CORPUS = os.path.join(ROOT, 'tests', 'data', 'perfdata')
READERS = os.path.join(HERE, 'readers')
collect_ignore = ['readers']

Sample = namedtuple('Sample', 'comm pid tid cpu time period event')


class Recording:
    """A file of the corpus, and what `perf script` said of it."""

    def __init__(self, name):
        self.path = os.path.join(CORPUS, name + '.data')
        with open(os.path.join(CORPUS, name + '.script'), encoding='utf-8') as script:
            found = re.findall(r'^ *(.*?) +(-?\d+)/(-?\d+) +(?:\[(\d+)\] +)?(\d+)\.(\d+): +(\d+) +(\S+?):? *$',
                               script.read(), re.M)
        self.samples = [Sample(comm, int(pid), int(tid), int(cpu or 0), int(s) * 10**9 + int(ns), int(period), event)
                        for comm, pid, tid, cpu, s, ns, period, event in found]

    def chains(self):
        """Of each sample with a call chain, how many addresses it has."""
        with open(os.path.splitext(self.path)[0] + '.chains', encoding='utf-8') as chains:
            return [len(line.split()) - 1 for line in chains]


@pytest.fixture
def recording():
    return Recording


@pytest.fixture
def convert(prof, tmp_path):
    def run(*args, check=0, errors='', stdin=None):
        done = subprocess.run([prof, 'convert', *[str(a) for a in args]], cwd=tmp_path, capture_output=True,
                              timeout=60, stdin=stdin or subprocess.DEVNULL)
        stderr = without_lowered_rates(done.stderr.decode())
        assert done.returncode == check, done
        assert re.search(errors, stderr) if errors else not stderr, stderr
        return done.stdout
    return run


@pytest.fixture
def record(prof, tmp_path):
    """record(WORD...): the recording, made here."""
    def run(*words):
        done = subprocess.run([prof, 'record', '-m', '16M', '-o', tmp_path / 'perf.data', *words], capture_output=True, text=True, timeout=60)
        if done.returncode:
            pytest.skip(done.stderr.strip())
        return tmp_path / 'perf.data'
    return run


def schema(name, message, folder):
    """The class of a message, made of our copy of its format's schema."""
    protobuf = pytest.importorskip('google.protobuf.descriptor_pb2', reason='there is no python3-protobuf')
    from google.protobuf import descriptor_pool, message_factory
    if not shutil.which('protoc'):
        pytest.skip('there is no protoc')
    out = os.path.join(folder, 'schema')
    subprocess.run(['protoc', '-I', os.path.join(ROOT, 'src', 'export'), '-o', out, name], check=True)
    pool = descriptor_pool.DescriptorPool()
    with open(out, 'rb') as file:
        for one in protobuf.FileDescriptorSet.FromString(file.read()).file:
            pool.Add(one)
    found = pool.FindMessageTypeByName(message)
    if hasattr(message_factory, 'GetMessageClass'):
        return message_factory.GetMessageClass(found)
    return message_factory.MessageFactory(pool).GetPrototype(found)


@pytest.fixture(scope='session')
def built_with_protobuf(prof):
    said = subprocess.run([prof, 'version', '--build-options'], capture_output=True, text=True).stdout
    if re.search(r'protobuf-c: no$', said, re.M):
        pytest.skip('this perf-prof was built without protobuf-c')


@pytest.fixture(scope='session')
def profile_message(tmp_path_factory, built_with_protobuf):
    return schema('profile.proto', 'perftools.profiles.Profile', str(tmp_path_factory.mktemp('profile')))


sys.path.insert(0, HERE)
