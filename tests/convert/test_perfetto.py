# SPDX-License-Identifier: Apache-2.0
"""convert --to perfetto: read back by Perfetto's own schema, and the rules its importer has."""
import base64
import json
import os
import re
import shutil
import subprocess
from collections import Counter

import pytest

from frame import corpus

from conftest import HERE, READERS, ROOT

pytestmark = pytest.mark.slow     # other programs read what `tests/cli/convert.toml` writes under sanitizers

DUMP = os.path.join(HERE, 'perfetto_dump.py')


@pytest.fixture(scope='module')
def dump():
    """dump(WORD...): the answer of perfetto_dump.py, one process for all as it takes long to begin."""
    packages = os.path.join(READERS, 'python')
    if not os.path.isdir(os.path.join(packages, 'perfetto')):
        pytest.skip("Perfetto's schema is not there (tools/install-readers)")
    with subprocess.Popen(['/usr/bin/python3', '-B', DUMP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, 'PYTHONPATH': packages}) as process:
        def ask(*words):
            process.stdin.write(json.dumps(list(map(str, words))) + '\n')
            process.stdin.flush()
            return json.loads(process.stdout.readline())
        yield ask
        process.stdin.close()


class Trace:
    """Packets, with what they refer to by number put in; each has to be there before."""

    def __init__(self, packets):
        self.packets = packets
        self.tables = {}
        self.samples, self.ftrace, self.instants, self.threads = [], [], [], {}
        self.tracks = {}
        assert packets[0]['sequence_flags'] == 1 and 'timestamp' not in packets[0]
        for packet in packets:
            self.take(packet)

    def take(self, packet):
        for table, rows in packet.get('interned_data', {}).items():
            for row in rows:
                known = self.tables.setdefault(table, {})
                assert int(row['iid']) > 0 and row['iid'] not in known
                known[row['iid']] = row
        for kind in ('perf_sample', 'ftrace_events', 'track_event', 'track_descriptor', 'process_tree'):
            if kind in packet:
                getattr(self, 'take_' + kind)(packet[kind], int(packet.get('timestamp', 0)))

    def text(self, table, iid):
        return base64.b64decode(self.tables[table][iid]['str']).decode()

    def stack(self, iid):
        """Outermost first."""
        names = []
        for id in self.tables['callstacks'][iid]['frame_ids']:
            frame = self.tables['frames'][id]
            mapping = self.tables['mappings'][frame['mapping_id']]
            assert self.text('mapping_paths', mapping['path_string_ids'][0])
            name = frame.get('function_name_id')
            names.append(self.text('function_names', name) if name else hex(int(frame['rel_pc'])))
        return names

    def take_perf_sample(self, sample, time):
        iid = sample.get('callstack_iid')
        self.samples.append({**sample, 'time': time, 'stack': self.stack(iid) if iid else []})

    def take_ftrace_events(self, bundle, time):
        for event in bundle['event']:
            self.ftrace.append({**event, 'cpu': bundle['cpu']})

    def take_track_descriptor(self, track, time):
        assert track['uuid'] not in self.tracks and time
        self.tracks[track['uuid']] = track.get('thread', track.get('process'))

    def take_process_tree(self, tree, time):
        for thread in tree['threads']:
            self.threads.setdefault(thread['tid'], []).append(thread['name'])

    def take_track_event(self, event, time):
        notes = {}
        for note in event.get('debug_annotations', []):
            value = next((note[k] for k in ('uint_value', 'int_value', 'string_value') if k in note), None)
            notes[self.tables['debug_annotation_names'][note['name_iid']]['name']] = value
        iid = event.get('callstack_iid')
        self.instants.append({'name': self.tables['event_names'][event['name_iid']]['name'], 'time': time,
                              'tid': int(self.tracks[event['track_uuid']].get('tid', 0)), 'notes': notes,
                              'stack': self.stack(iid) if iid else []})


@pytest.fixture
def trace(convert, dump, built_with_protobuf, tmp_path):
    def read(*args):
        path = tmp_path / 'out.pftrace'
        convert('--to', 'perfetto', '-o', path, *args)
        return Trace(dump(path)['packet'])
    return read


def test_our_schema_is_a_part_of_theirs(dump, tmp_path, built_with_protobuf):
    descriptor = pytest.importorskip('google.protobuf.descriptor_pb2', reason='there is no python3-protobuf')
    out = tmp_path / 'schema'
    subprocess.run(['protoc', '-I', os.path.join(ROOT, 'src', 'export'), '-o', out, 'perfetto.proto'], check=True)
    file = descriptor.FileDescriptorSet.FromString(out.read_bytes()).file[0]
    ours = {}

    def walk(message, prefix):
        name = f'{prefix}.{message.name}'
        ours['message ' + name] = {f.name: [f.number, f.type, f.type_name.lstrip('.') or None]
                                   for f in message.field}
        for enum in message.enum_type:
            ours[f'enum {name}.{enum.name}'] = {v.name: v.number for v in enum.value}
        for nested in message.nested_type:
            walk(nested, name)

    for message in file.message_type:
        walk(message, file.package)
    assert len(ours) > 40
    theirs = dump('--schema', *ours)
    for name, fields in ours.items():
        for field, what in fields.items():
            assert theirs[name].get(field) == what, (name, field)


def rows_of(path, event):
    """(time, fields) of each event, as the format's own text of sched_switch has them."""
    done = subprocess.run(['perf', 'script', '--ns', '-i', path, '-F', 'tid,cpu,time,event,trace'],
                          capture_output=True, text=True)
    if done.returncode:
        pytest.skip('there is no perf')
    found = re.findall(r'^ *(-?\d+) +\[(\d+)\] +(\d+)\.(\d{9}): +(\S+): +(.*)$', done.stdout, re.M)
    return [(int(tid), int(cpu), int(s) * 10**9 + int(ns), text.strip())
            for tid, cpu, s, ns, name, text in found if name == event]


@pytest.mark.deep
@pytest.mark.parametrize('name', ['several', 'trace', 'zstd', 'ours'])
def test_switches_are_what_perf_prints(trace, recording, name):
    his = recording(name)
    mine = [e for e in trace(his.path).ftrace if 'sched_switch' in e]
    theirs = rows_of(his.path, 'sched:sched_switch')
    assert len(mine) == len(theirs) > 0
    for event, (tid, cpu, time, text) in zip(mine, theirs):
        switch = event['sched_switch']
        assert (int(event['timestamp']), event['cpu']) == (time, cpu)
        assert event['pid'] == tid % 2**32
        before, after = text.split(' ==> ')
        assert re.match(rf'(prev_comm=)?{re.escape(switch["prev_comm"])}\b', before)
        assert re.search(rf'\b{switch.get("prev_pid", 0)}\b', before)
        assert re.match(rf'(next_comm=)?{re.escape(switch["next_comm"])}\b', after)
        assert re.search(rf'\b{switch.get("next_pid", 0)}\b', after)


@pytest.mark.deep
@pytest.mark.parametrize('name', ['chains', 'buildid', 'clock', 'several'])
def test_each_sample_is_in_it(trace, recording, name):
    his = recording(name)
    samples = [s for s in his.samples if s.event.startswith('cpu-clock')]
    mine = trace(his.path)
    assert [(s['time'], s.get('pid', 0), s.get('tid', 0), s.get('cpu', 0)) for s in mine.samples] == \
           [(s.time, s.pid, s.tid, s.cpu) for s in samples]
    assert sum(len(s['stack']) > 0 for s in mine.samples) > 0


def test_stacks_are_as_long_as_perfs(trace, recording):
    his = recording('chains')
    mine = trace(his.path, '--no-inline')
    assert len(mine.samples) == len(his.chains())
    for sample, length in zip(mine.samples, his.chains()):
        stack = sample['stack']                             # garbage at its end is one frame
        assert len(stack) == length or (stack[0] == '[broken]' and len(stack) < length)
    names = {s['stack'][-1] for s in mine.samples}
    assert '__rcu_read_unlock' in names or not corpus.by_this_kernel('chains', shutil.which('perf') or 'perf'), names


def test_the_counter_is_the_sum_of_periods(trace, recording):
    his = recording('clock')
    sums = Counter()
    for sample, theirs in zip(trace(his.path).samples, his.samples):
        sums[theirs.cpu] += theirs.period
        assert int(sample['timebase_count']) == sums[theirs.cpu]


def test_other_events_are_instants_of_their_threads(trace, recording):
    his = recording('several')
    mine = trace(his.path)
    faults = [s for s in his.samples if s.event.startswith('page-faults')]
    found = [e for e in mine.instants if e['name'].startswith('page-faults')]
    assert [(e['tid'], e['time']) for e in found] == [(s.tid, s.time) for s in faults] and found


@pytest.mark.live
def test_fields_of_other_tracepoints(trace, record):
    events = trace(record('-e', 'syscalls:sys_enter_kill', '--', '/usr/bin/python3', '-c',
                          'import os\nfor n in range(5): os.kill(os.getpid(), 0)')).instants
    assert [e['name'] for e in events] == ['syscalls:sys_enter_kill'] * 5
    assert all(int(e['notes']['pid']) == e['tid'] and int(e['notes']['sig'] or 0) == 0 for e in events)


@pytest.mark.live
def test_a_name_that_changes_is_told(trace, record):
    """Tracepoints with stacks alone are a profile, too."""
    mine = trace(record('-g', '-e', 'sched:sched_process_exec,sched:sched_process_exit', '--', '/bin/sh', '-c', 'sh -c : ; exec true'))
    assert ['sh', 'true'] in [[n for n in names if n in ('sh', 'true')] for names in mine.threads.values()]
    execs = sum('sched_process_exec' in e for e in mine.ftrace)
    assert execs >= 2 and len(mine.samples) == execs + sum('sched_process_exit' in e for e in mine.ftrace)
    assert sum(any('exec' in name for name in s['stack']) for s in mine.samples) >= execs


def test_the_machine_and_both_clocks(trace, recording):
    packets = trace(recording('trace').path).packets
    system = next(p['system_info'] for p in packets if 'system_info' in p)
    assert system['utsname']['machine'] == 'x86_64' and re.match(r'\d+\.\d+', system['utsname']['release'])
    clocks = [p['clock_snapshot']['clocks'] for p in packets if 'clock_snapshot' in p]
    assert all(sorted(c['clock_id'] for c in both) == [1, 6] for both in clocks)


@pytest.mark.live
def test_a_recording_made_in_a_pid_namespace(trace, prof, build, tmp_path):
    """Fields have the kernel's own ids, samples those of the namespace: each task has one."""
    works = shutil.copy(os.path.join(build, 'tests/helpers/works'), tmp_path / 'namespaced')
    number = os.getpid() % 1000000          # works of other tests have a second thread, too
    tasks = 'namespaced', f'second{number}'
    switched = '||'.join(f'{who}_comm=="{comm}"' for who in ('prev', 'next') for comm in tasks)
    events = (f'sched:sched_switch/{switched}/,sched:sched_process_fork/child_comm=="namespaced"/,'
              f'sched:sched_process_exit/comm=="namespaced"||comm=="{tasks[1]}"/')     # not all that the machine does
    done = subprocess.run(['unshare', '-p', '-f', '--mount-proc', prof, 'record', '-q', '-a', '-m', '16M', '-e', events,
                           '-o', tmp_path / 'perf.data', '--', works, 'turns', str(number)],
                          capture_output=True, text=True, timeout=60)
    if done.returncode:
        pytest.skip(done.stderr.strip())
    made = trace(tmp_path / 'perf.data')
    switches = [e for e in made.ftrace if 'sched_switch' in e]
    theirs = [e for e in switches if e['sched_switch']['prev_comm'] in tasks and 0 < e['pid'] < 2**31]
    assert len(theirs) > 10 and all(e['pid'] == e['sched_switch']['prev_pid'] for e in theirs)
    ids = {e['pid'] for e in theirs}
    assert len(ids) == 3 and max(ids) < 100
    # born while it was recorded, so known from the first switch on; the first one was there before
    assert {e['sched_switch']['next_pid'] for e in switches if e['sched_switch']['next_comm'] in tasks} >= ids - {min(ids)}
    gone = [e for e in made.ftrace if 'sched_process_exit' in e and e['sched_process_exit']['comm'] in tasks]
    assert {e['sched_process_exit']['pid'] for e in gone} == ids
