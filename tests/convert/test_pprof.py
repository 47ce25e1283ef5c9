# SPDX-License-Identifier: Apache-2.0
"""convert --to pprof: read back by the format's schema, and by pprof itself where there is Go."""
import gzip
import os
import re
import shutil
import subprocess
from collections import Counter

import pytest

from vm.archive import CACHE

pytestmark = pytest.mark.slow     # other programs read what `tests/cli/convert.toml` writes under sanitizers


class Profile:
    """A profile with its strings put in."""

    def __init__(self, message, data):
        self.raw = raw = message.FromString(gzip.decompress(data))
        self.strings = raw.string_table
        self.types = [(self.strings[t.type], self.strings[t.unit]) for t in raw.sample_type]
        self.functions = {f.id: f for f in raw.function}
        self.locations = {loc.id: loc for loc in raw.location}
        self.mappings = {m.id: m for m in raw.mapping}

    def labels(self, sample):
        return {self.strings[label.key]: self.strings[label.str] if label.str else label.num
                for label in sample.label}

    def names(self, sample):
        """Functions, innermost first; of an address without one its number."""
        names = []
        for id in sample.location_id:
            lines = self.locations[id].line
            names += [self.strings[self.functions[line.function_id].name] for line in lines] or \
                     [hex(self.locations[id].address)]
        return names

    def check(self):
        """What the schema's comments ask for."""
        assert self.strings[0] == ''
        for table in (self.raw.function, self.raw.location, self.raw.mapping):
            ids = [row.id for row in table]
            assert 0 not in ids and len(ids) == len(set(ids))
        for sample in self.raw.sample:
            assert len(sample.value) == len(self.types)
            assert all(id in self.locations for id in sample.location_id)
        for loc in self.raw.location:
            assert loc.mapping_id == 0 or loc.mapping_id in self.mappings
            assert all(line.function_id in self.functions for line in loc.line)
            mapping = self.mappings.get(loc.mapping_id)
            assert not mapping or mapping.memory_start <= loc.address < mapping.memory_limit


@pytest.fixture
def profile(convert, profile_message):
    def read(*args):
        profile = Profile(profile_message, convert('--to', 'pprof', *args))
        profile.check()
        return profile
    return read


def key(sample):
    comm = '<...>' if sample.comm.startswith(':') else sample.comm     # nobody knows who that was
    return sample.event.split('/')[0].rstrip(':'), comm, sample.pid, sample.tid


@pytest.mark.parametrize('name', ['chains', 'buildid', 'clock', 'zstd', 'pipe', 'several', 'trace'])
def test_each_sample_is_in_it(profile, recording, name):
    his = recording(name)
    mine = profile(his.path)
    events = list(dict.fromkeys(s.event for s in his.samples))
    counts, sums = Counter(), Counter()
    for sample in mine.raw.sample:
        labels = mine.labels(sample)
        for (kind, unit), value in zip(mine.types, sample.value):
            if not value:
                continue
            event = re.sub('_samples$', '', kind)
            if len(events) == 1:
                event = events[0]
            counted = kind.endswith('samples') or kind.startswith('sched:')
            row = event.split('/')[0], labels['comm'], labels['pid'], labels['tid']
            (counts if counted else sums)[row] += value
    assert counts == Counter(key(s) for s in his.samples)
    wanted = Counter()
    for sample in his.samples:
        if not sample.event.startswith('sched:'):
            wanted[key(sample)] += sample.period
    assert sums == wanted


def test_stacks_are_as_long_as_perfs(profile, recording):
    his = recording('chains')
    mine = profile(his.path, '--no-inline')
    depths, broken = Counter(), Counter()
    for sample in mine.raw.sample:
        cut = mine.names(sample)[-1:] == ['[broken]']       # garbage at the end is one frame
        (broken if cut else depths)[len(sample.location_id)] += sample.value[0]
    longer = Counter(his.chains())
    longer.subtract(depths)
    assert min(longer.values()) >= 0 and sum(broken.values()) == sum(longer.values())
    for n in range(1, max(broken, default=0) + 1):
        assert sum(c for depth, c in broken.items() if depth >= n) <= sum(c for depth, c in longer.items() if depth >= n)


def test_a_clock_is_in_nanoseconds(profile, recording):
    mine = profile(recording('chains').path)
    assert mine.types == [('samples', 'count'), ('cpu', 'nanoseconds')]
    assert mine.strings[mine.raw.default_sample_type] == 'cpu'
    assert (mine.raw.period, mine.strings[mine.raw.period_type.unit]) == (500000, 'nanoseconds')


def test_build_ids_are_the_recordings(profile, recording):
    his = recording('buildid')
    mine = profile(his.path)
    said = subprocess.run(['perf', 'buildid-list', '-i', his.path], capture_output=True, text=True).stdout
    if not said:
        pytest.skip('there is no perf')
    wanted = {path: id for id, path in re.findall(r'^(\w+) (\S+)$', said, re.M)}
    found = {mine.strings[m.filename]: mine.strings[m.build_id] for m in mine.raw.mapping if m.build_id}
    assert found and all(wanted[path] == id for path, id in found.items() if path in wanted)
    assert set(found) & set(wanted)


def test_time_and_tasks_can_be_chosen(profile, recording):
    his = recording('chains')
    some = his.samples[2:5]
    mine = profile(his.path, '--time', f'{some[0].time / 1e9:.9f},{some[-1].time / 1e9:.9f}')
    assert sum(s.value[0] for s in mine.raw.sample) == 3
    assert mine.raw.duration_nanos == some[-1].time - some[0].time
    tid = his.samples[-1].tid
    mine = profile(his.path, '-t', tid)
    assert sum(s.value[0] for s in mine.raw.sample) == sum(s.tid == tid for s in his.samples)


@pytest.mark.live
def test_inlined_calls_are_lines_of_one_address(profile, record, tmp_path):
    program = tmp_path / 'inlined'
    (tmp_path / 'inlined.c').write_text(
        'static volatile unsigned long sink;\n'
        'static inline __attribute__((always_inline)) void inner_part(void) { for (int i = 0; i < 1000; i++) sink += i; }\n'
        '__attribute__((noinline)) void outer_part(void) { inner_part(); sink++; }\n'
        'int main(void) { for (int i = 0; i < 200000; i++) outer_part(); }\n')
    subprocess.run(['gcc', '-O1', '-g', '-fno-omit-frame-pointer', '-o', program, program.with_suffix('.c')], check=True)
    mine = profile(record('-g', '-F', '1000', '--', program))
    both = [loc for loc in mine.raw.location if len(loc.line) == 2]
    names = {tuple(mine.strings[mine.functions[line.function_id].name] for line in loc.line) for loc in both}
    assert ('inner_part', 'outer_part') in names
    files = {mine.strings[mine.functions[line.function_id].filename] for loc in both for line in loc.line}
    assert any(name.endswith('inlined.c') for name in files)
    assert mine.strings[mine.raw.mapping[0].filename] == str(program)
    assert mine.raw.mapping[0].has_inline_frames


@pytest.mark.deep
@pytest.mark.slow      # go builds the tool first, once for a machine
@pytest.mark.parametrize('name', ['chains', 'several', 'trace', 'big64'])
def test_pprof_reads_it(convert, recording, built_with_protobuf, tmp_path, name):
    if not shutil.which('go'):
        pytest.skip('there is no Go, whose pprof reads it')
    path = tmp_path / 'out.pb.gz'
    convert(recording(name).path, '-o', path)
    env = {**os.environ, 'HOME': str(tmp_path), 'PPROF_TMPDIR': str(tmp_path), 'GOFLAGS': '-mod=mod',
           'GOCACHE': os.path.join(CACHE, 'go')}
    done = subprocess.run(['go', 'tool', 'pprof', '-symbolize=none', '-top', path], capture_output=True, text=True,
                          timeout=300, env=env)
    assert done.returncode == 0 and '100% of' in done.stdout, done
