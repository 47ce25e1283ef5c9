# SPDX-License-Identifier: Apache-2.0
"""Terms and modifiers of perf events in event lists: cpu/event=0x76,umask=0/u, cycles/period=1000/.

What sysfs says of PMUs is made up in a mount namespace, in the shape of an AMD machine's; behind its
`cpu` stands the PMU of software events, which every machine has: event=0 is the CPU clock, 2 are
page faults. So its events count and are sampled wherever the tests run."""
import json
import re
import subprocess

import pytest

from frame.session import ran

pytestmark = pytest.mark.live('root', 'unshare')

DEVICES = '/sys/bus/event_source/devices'
AMD = {
    'cpu/type': '1',
    'cpu/format/event': 'config:0-7,32-35', 'cpu/format/umask': 'config:8-15',
    'cpu/format/inv': 'config:23', 'cpu/format/edge': 'config:18', 'cpu/format/cmask': 'config:24-31',
    'cpu/events/cpu-cycles': 'event=0x00', 'cpu/events/cache-misses': 'event=0x02',
    'amd_df_0/type': '1', 'amd_df_0/format/event': 'config:0-7', 'amd_df_0/cpumask': '0',
    'amd_df_1/type': '1', 'amd_df_1/format/event': 'config:0-7', 'amd_df_1/cpumask': '0',
}
FAULTS = ('import mmap\n'
          'for _ in range(20):\n    m = mmap.mmap(-1, 100 * mmap.PAGESIZE)\n'
          '    for i in range(100):\n        m[i * mmap.PAGESIZE] = 1\n    m.close()\n')


@pytest.fixture(scope='module')
def sysfs(tmp_path_factory):
    root = tmp_path_factory.mktemp('sysfs')
    for path, text in AMD.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text + '\n')
    return root


@pytest.fixture
def run(prof, sysfs, tmp_path):
    """perf-prof on the made-up machine."""
    (tmp_path / 'faults.py').write_text(FAULTS)

    def one(*args, check=0):
        done = ran(['unshare', '-m', 'sh', '-c', f'mount --bind {sysfs} {DEVICES} && exec "$@"',
                    'sh', prof, *map(str, args)], cwd=tmp_path,
                   timeout=120, stdin=subprocess.DEVNULL)
        assert done.returncode == check, done
        return done
    one.folder = tmp_path
    return one


def handlers(done):
    return re.findall(r'^def (?!__)(\w+)\(event\)', done.stdout, re.M)


@pytest.mark.parametrize('text, names', [
    ('cpu/cpu-cycles/', ['cpu_cpu_cycles']),
    ('cpu/cpu-cycles/u', ['cpu_cpu_cycles_u']),
    ('cpu/cpu-cycles/:u', ['cpu_cpu_cycles_u']),
    ('cpu/event=0x00,umask=0/', ['cpu_event_0x00_umask_0']),
    ('cpu/event=0x2,umask=0/k,context-switches', ['cpu_event_0x2_umask_0_k', 'context_switches']),
    ('cpu/event=0,umask=0,cmask=0/alias=mine/', ['mine']),
    ('cpu/event=0,umask=0/u/alias=mine/', ['mine']),
    ('cpu/"event=0,umask=0"/alias=mine/', ['mine']),
    ("cpu/event=0,name='a, b'/,cs", ['a__b', 'cs']),
    ('cpu/cache-misses,period=7/', ['cpu_cache_misses_period_7']),
    ('amd_df/event=0/', ['amd_df_event_0']),
    ('df_typo/event=0/', None),
    ('cpu-clock/period=100000/', ['cpu_clock']),
    ('cpu-clock/freq=99,max-stack=5/ku', ['cpu_clock_uk']),
    ('cpu-clock:u/freq=99/', ['cpu_clock_u']),
    ('cpu-clock/freq=99/u/alias=clock/', ['clock']),
    ('cpu-clock/cpu==0/', ['cpu_clock']),
    ('cpu-clock/pid==5,cs', ['cpu_clock', 'cs']),
    ('cpu-clock//period=9/,cs', ['cpu_clock', 'cs']),
])
def test_names(run, text, names):
    done = run('python', '-e', text, 'help', check=0 if names else 2)
    assert handlers(done) == (names or []), done


@pytest.mark.parametrize('text, said, caret', [
    ('cpu/nonsense=1/', 'no such term', 4),
    ('cpu/event=0,nonsense/', 'no such term', 12),
    ('cpu/event=0/Q', 'unknown attribute', 12),
    ('cpu', 'is a PMU', 0),
    ('cpu-clock/perod=5/', 'no term "perod"', 10),
    ('cpu-clock/freq=99,period=5/ku', 'freq=99 and period=5', 18),
    ('cpu-clock/period=5/ux', 'unknown attribute', 19),
    ('cpu-clock/alias=x/', 'in the place of the filter', 10),
    ('sched:sched_switch//u/', 'modifiers are for perf events', 20),
])
def test_mistakes_have_their_place(run, text, said, caret):
    err = run('python', '-e', text, 'help', check=2).stderr
    lines = err.splitlines()
    assert said in err and lines[2].index('^') == caret + 2, err


SCRIPT = '''
import json
seen = {}
def __sample__(e):
    seen.setdefault(e._event, []).append(e.period)
def __exit__():
    print(json.dumps({k: [len(v), min(v), max(v)] for k, v in seen.items()}))
'''
LIST = 'cpu/event=0x2,umask=0,period=1/u,cpu-clock/period=100000/,cpu/cpu-cycles,freq=500/'
NAMES = ['cpu/event=0x2,umask=0,period=1/u', 'cpu-clock', 'cpu/cpu-cycles,freq=500/']


def counted(done):
    return json.loads(done.stdout.splitlines()[-1])


def test_live_and_recorded_are_alike(run):
    (run.folder / 's.py').write_text(SCRIPT)
    run('record', '-e', LIST, '-m', '4M', '--', '/usr/bin/python3', 'faults.py')
    seen = counted(run('python', '-I', 'perf.data', 's.py'))
    assert sorted(seen) == sorted(NAMES)
    assert seen[NAMES[0]][0] >= 2000 and seen[NAMES[0]][1:] == [1, 1]
    assert seen[NAMES[1]][1:] == [100000, 100000]
    for name in NAMES:      # each can be asked for by what it was recorded as
        assert list(counted(run('python', '-I', 'perf.data', '-e', name, 's.py'))) == [name]
    traced = run('trace', '-e', 'cpu/event=0x2,umask=0,period=1/u', '-m', '4M', '--', '/usr/bin/python3', 'faults.py')
    lines = re.findall(r': cpu/event=0x2,umask=0,period=1/u: ', traced.stdout)
    assert len(lines) >= 2000, traced.stdout[:1000]


def test_stat_takes_the_same_list(run):
    out = run('stat', '-e', 'cpu/event=0x2,umask=0/u,cpu-clock/period=100000/', '--', '/usr/bin/python3', 'faults.py').stderr
    assert re.search(r'^ *\d+,\d{3} +cpu/event=0x2,umask=0/u', out, re.M) and 'cpu-clock' in out, out


WORDS = r'''
import io, re, sys
words = set()
def __sample__(e):
    old, sys.stdout = sys.stdout, io.StringIO()
    e.print(timestamp=False, callchain=False)
    text, sys.stdout = sys.stdout.getvalue(), old
    words.add((e._event, re.sub(r'\d+ ', 'N ', text.splitlines()[0].split(': ', 1)[1]), tuple(e.keys())[:6]))
def __exit__():
    for w in sorted(words):
        print(w)
'''


@pytest.mark.parametrize('events', [
    "profile/-F 499/,cpu-clock//alias=mine/,task-clock/name='a b'/", 'profile/-F 499 --exclude-kernel/,cpu-clock:u,task-clock',
    'cpu/cpu-cycles/u,cpu/event=0x3,umask=0,period=1/,cpu-clock:uGH,task-clock:GH'])
def test_a_script_says_the_same_of_both(run, events):
    """Names of handlers and events, and what is counted, as the recording was made."""
    (run.folder / 'w.py').write_text(WORDS)
    workload = ['/usr/bin/python3', 'faults.py']
    run('record', '-e', events, '-m', '4M', '--', *workload)
    recorded = run('python', '-I', 'perf.data', 'w.py').stdout
    traced = run('trace', '-e', events, '-m', '4M', '--', *workload).stdout
    said = {re.sub(r'\d+ ', 'N ', text) for text in re.findall(r'^(?! ).*\] \d+\.\d+: (?:[^:]+(?::\w+)?): (\d+ .+)$', traced, re.M)}
    words = eval('[' + ','.join(recorded.splitlines()[1:]) + ']')
    assert {w[1].split(': ', 1)[-1] for w in words} == said and ('GH' in events or 'GH' not in recorded)
    assert handlers(run('python', '-I', 'perf.data', 'help')) == handlers(run('python', '-e', events, 'help'))
