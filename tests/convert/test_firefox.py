# SPDX-License-Identifier: Apache-2.0
"""convert --to firefox: loaded by the Firefox Profiler's own front end on the command line."""
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter

import pytest

from conftest import READERS

pytestmark = pytest.mark.slow     # other programs read what `tests/cli/convert.toml` writes under sanitizers

CLI = os.path.join(READERS, 'node_modules', '@firefox-devtools', 'profiler-cli', 'dist', 'profiler-cli.js')


# It looks ten times whether its daemon is there, each 50 ms, and gives up: too early on a busy machine. Here it waits twice as
# long each time, for most of a minute in all.
PATIENT = '''
const before = globalThis.setTimeout;
let looked = 0;
globalThis.setTimeout = (f, ms, ...rest) => before(f, ms === 50 ? 50 * 2 ** looked++ : ms, ...rest);
'''


class Cli:
    def __init__(self, folder):
        with open(os.path.join(folder, 'patient.js'), 'w') as f:
            f.write(PATIENT)
        self.env = {**os.environ, 'PROFILER_CLI_SESSION_DIR': os.path.join(folder, 'sessions'), 'HOME': folder,
                    'NODE_OPTIONS': f'--require {folder}/patient.js'}

    def __call__(self, *args):
        done = subprocess.run(['node', CLI, *[str(a) for a in args]], capture_output=True, text=True, timeout=90, env=self.env)
        assert done.returncode == 0, done
        return done.stdout


@pytest.fixture
def cli():
    """The reader; its session is ended."""
    if not shutil.which('node') or not os.path.exists(CLI):
        pytest.skip('there is no profiler-cli (tools/install-readers)')
    runs = subprocess.run(['node', CLI, '--version'], capture_output=True, text=True)
    if runs.returncode:
        pytest.skip('profiler-cli does not run on this node')
    with tempfile.TemporaryDirectory(prefix='fx') as folder:     # a short name: it has a socket in it
        reader = Cli(folder)
        yield reader
        subprocess.run(['node', CLI, 'stop', '--all'], env=reader.env, capture_output=True, timeout=60)


@pytest.fixture
def profile(convert):
    def read(*args):
        return json.loads(convert('--to', 'firefox', *args))
    return read


def stack_of(profile, row):
    """Names of functions, innermost first."""
    shared, names = profile['shared'], []
    while row is not None:
        function = shared['frameTable']['func'][shared['stackTable']['frame'][row]]
        names.append(shared['stringArray'][shared['funcTable']['name'][function]])
        row = shared['stackTable']['prefix'][row]
    return names


def tables(profile):
    yield from profile['shared'].items()
    for thread in profile['threads']:
        yield 'samples', thread['samples']
        yield 'markers', thread['markers']


@pytest.mark.parametrize('name', ['chains', 'several', 'trace', 'ours', 'zstd', 'big32'])
def test_columns_are_of_one_length(profile, recording, name):
    """And parents come before their children."""
    read = profile(recording(name).path)
    parents = read['shared']['stackTable']['prefix']
    assert all(parent is None or parent < i for i, parent in enumerate(parents)) and (name != 'chains' or len(parents) > 20)
    for table, columns in tables(read):
        if table != 'stringArray':
            assert {len(c) for c in columns.values() if isinstance(c, list)} <= {columns['length']}, table


@pytest.mark.parametrize('name', ['chains', 'buildid', 'clock'])
def test_each_sample_is_at_its_time(profile, recording, name):
    his = recording(name)
    mine = profile(his.path)
    start = his.samples[0].time
    found = Counter()
    for thread in mine['threads']:
        for time, stack in zip(thread['samples']['time'], thread['samples']['stack']):
            if stack is not None:
                found[thread['pid'], thread['tid'], round(time * 1e6)] += 1
    assert found == Counter((str(s.pid), s.tid, s.time - start) for s in his.samples)


def weights(profile):
    return [w for thread in profile['threads'] for w in thread['samples']['weight']]


@pytest.mark.parametrize('name', ['chains', 'several', 'clock'])
def test_samples_weigh_what_they_stand_for(profile, prof, recording, name):
    """Of a clock ms, those of its samples' periods."""
    path = recording(name).path
    script = subprocess.run([prof, 'script', '-F', 'event,period', path], capture_output=True, text=True, check=True).stdout
    periods = [int(p) for p in re.findall(r'^ *(\d+) +cpu-clock\S*: *$', script, re.M)]
    got = profile('-e', 'cpu-clock*', path)
    assert periods and {t['samples']['weightType'] for t in got['threads']} == {'tracing-ms'}
    assert sorted(w for w in weights(got) if w) == pytest.approx(sorted(p / 1e6 for p in periods), abs=2e-6)


def test_weights_of_other_events_are_parts_of_all(profile, prof, recording):
    """As the front end knows no unit for them, so many samples of the usual weight."""
    path = recording('several').path
    got = profile('-e', 'page-faults*', path)
    assert {t['samples']['weightType'] for t in got['threads']} == {'samples'}
    assert sum(weights(got)) == pytest.approx(sum(w > 0 for w in weights(got)), abs=1e-4)


def test_tracepoints_are_markers(profile, recording):
    his = recording('several')
    mine = profile(his.path)
    strings = mine['shared']['stringArray']
    names = Counter()
    for thread in mine['threads']:
        for name, data in zip(thread['markers']['name'], thread['markers']['data']):
            names[strings[name]] += 1
            assert data['type'] == strings[name]
            if strings[name] == 'sched:sched_switch':
                assert re.match(r'(prev_comm=|\S+:\d+ \[).* ==> ', strings[data['fields']])
    wanted = Counter(s.event.rstrip(':') for s in his.samples if s.event.startswith('sched:'))
    assert names['sched:sched_switch'] == wanted['sched:sched_switch'] > 0
    assert {schema['name'] for schema in mine['meta']['markerSchema']} == set(names)


@pytest.mark.live
def test_a_thread_that_sleeps_uses_no_cpu(profile, record):
    """Work, a sleep, work: the CPU's column says so, whatever else kept the thread from the CPU."""
    script = 'import time\nwhile time.process_time() < 0.2: pass\ntime.sleep(0.6)\nwhile time.process_time() < 0.3: pass\n'
    mine = profile(record('-e', 'task-clock', '-F', '1000', '--', '/usr/bin/python3', '-c', script))
    thread = max(mine['threads'], key=lambda t: t['samples']['length'])['samples']
    gaps = [i for i, (a, b) in enumerate(zip(thread['time'], thread['time'][1:]), 1) if b - a > 500]
    assert any(thread['stack'][i] is None and thread['threadCPUDelta'][i] == 0 for i in gaps)
    assert 100 < sum(thread['threadCPUDelta']) / 1e6 < 600


@pytest.mark.deep
@pytest.mark.parametrize('name', ['chains', 'several', 'trace', 'ours'])
def test_the_profiler_loads_it(convert, recording, cli, tmp_path, name):
    his = recording(name)
    path = tmp_path / 'out.firefox.json'
    convert(his.path, '-o', path)
    assert 'Session started' in cli('load', path)
    info = cli('profile', 'info')
    threads = len({(s.pid, s.tid) for s in his.samples})
    assert re.search(rf'This profile contains {threads} threads?\b', info), info
    assert 'Symbolicated: yes' in cli('profile', 'meta')


def test_the_profiler_finds_functions(convert, profile, recording, cli, tmp_path):
    path = tmp_path / 'out.firefox.json'
    convert(recording('chains').path, '-o', path)
    with open(path) as file:
        mine = json.load(file)
    busiest = max(mine['threads'], key=lambda t: t['samples']['length'])
    leaves = [stack_of(mine, row)[0] for row in busiest['samples']['stack'] if row is not None]
    cli('load', path)
    cli('thread', 'select', f't-{mine["threads"].index(busiest)}')
    said = cli('thread', 'samples')
    weight = sum(w for row, w in zip(busiest['samples']['stack'], busiest['samples']['weight']) if row is not None)
    shown = re.search(r'\((\d+) running samples\)', said)       # which it rounds
    assert leaves and shown and abs(int(shown.group(1)) - weight) <= 0.5, said
    assert all(name in said for name in leaves if name != '[unknown]')
