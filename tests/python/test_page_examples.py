# SPDX-License-Identifier: Apache-2.0
"""Examples of the manual that this command is true to, as printed; those with a profiler
or of some length have a file of their own."""
import json
import os
import re
import subprocess

import pytest

from frame import requires

for word in ('tracefs', 'root'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))

WAKEUP, SWITCH = 'sched:sched_wakeup', 'sched:sched_switch'
TICK = "\n_print = print\ndef print(*args): _print(*args, flush=True)\n"


def write(folder, name, text):
    (folder / name).write_text(text)
    return name


def lines(done):
    return done.stdout.splitlines()[1:]


ANALYZER = '''
n = 0
def __sample__(event):
    global n
    n += 1
def __interval__():
    print('tick', n, flush=True)
def __exit__():
    print('events', n > 0)
'''


@pytest.mark.parametrize('line', [
    '-e sched:sched_wakeup counter.py',
    '-e sched:sched_wakeup,sched:sched_switch -i 1000 analyzer.py',
    '-e sched:sched_wakeup/pid>1000/ -C 0-3 filter_events.py',
    '-e sched:sched_wakeup -g callstack.py',
    '-e sched:sched_wakeup//stack/ analyzer.py',
    '-e sched:sched_wakeup -i 1000 -- analyzer.py --threshold 100 --output result.txt',
])
def test_command_lines(prof, tmp_path, line):
    if '-C 0-3' in line and requires.why_not('cpus>=4'):
        line = line.replace('-C 0-3', '-C 0-%d' % (len(os.sched_getaffinity(0)) - 1))
    argv = line.split()
    at = argv.index('--') if '--' in argv else len(argv)
    name = next(w for w in argv if w.endswith('.py'))
    write(tmp_path, name, ANALYZER)
    done = subprocess.run([prof, 'python', *argv[:at][:2], '-N', '3', *argv[2:]], cwd=tmp_path,
                          capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, ''), done
    assert done.stdout.startswith(f'Loaded module: {tmp_path}/{name}\n')
    assert lines(done)[-1] == 'events True'


def test_the_library_example(python, tmp_path):
    name = write(tmp_path, 's.py', TICK + '''
from collections import defaultdict, Counter

events = Counter()

def __sample__(event):
    events[event._event] += 1

def __interval__():
    for name, count in events.most_common():
        print(f"{name}: {count}")
    events.clear()
''')
    done = python('-i', '100', name, event=f'{WAKEUP},{SWITCH}', until='^sched:sched_wakeup: [1-9]')
    assert all(re.fullmatch(r'sched:sched_(wakeup|switch): [1-9]\d*', line) for line in lines(done))


def test_the_example_that_saves_its_state(python, tmp_path):
    name = write(tmp_path, 's.py', '''
import json

stats = {'total': 0, 'by_cpu': {}}

def __sample__(event):
    stats['total'] += 1
    cpu = str(event._cpu)
    stats['by_cpu'][cpu] = stats['by_cpu'].get(cpu, 0) + 1

def __exit__():
    with open('stats.json', 'w') as f:
        json.dump(stats, f, indent=2)
    print(f"Stats saved to stats.json")
''')
    assert lines(python(name, events=20)) == ['Stats saved to stats.json']
    with open(tmp_path / 'stats.json') as f:
        stats = json.load(f)
    assert stats['total'] == 20 == sum(stats['by_cpu'].values())


def test_the_aliases_of_one_event(python, tmp_path):
    event = 'sched:sched_wakeup//alias=wakeup1/,sched:sched_wakeup//alias=wakeup2/'
    name = write(tmp_path, 's.py', '''
seen = set()
def sched__wakeup1(event):
    seen.add(('one', event._event))

def sched__wakeup2(event):
    seen.add(('two', event._event))

def __exit__(): print(sorted(seen))
''')
    assert lines(python(name, event=event, events=20)) == \
        ["[('one', 'sched:wakeup1'), ('two', 'sched:wakeup2')]"]
    name = write(tmp_path, 's.py', 'seen = set()\ndef __sample__(event): seen.add(event._event)\n'
                 'def __exit__(): print(sorted(seen))\n')
    assert lines(python(name, event=event, events=20)) == ["['sched:wakeup1', 'sched:wakeup2']"]


def test_the_event_of_the_default_handler(python, tmp_path):
    name = write(tmp_path, 's.py', f'''
seen = set()
def sched__sched_wakeup(event): seen.add('own')
def __sample__(event): seen.add(event._event)
def __exit__(): print(sorted(seen))
''')
    done = python(name, event=f'{WAKEUP},{SWITCH}', events=500)
    assert lines(done) == ["['own', 'sched:sched_switch']"]


def test_dashes_dots_and_colons_become_underscores(python, tmp_path):
    name = write(tmp_path, 's.py', 'def sched__a_b_c(event): print(event._event)\n')
    assert lines(python(name, event='sched:sched_wakeup//alias=a-b.c/')) == ['sched:a-b.c']


def test_frames_of_the_page(python, tmp_path):
    name = write(tmp_path, 's.py', '''
import io, contextlib
def __sample__(e):
    for f in e._callchain:
        assert list(f) == ['addr', 'symbol', 'offset', 'kernel', 'dso'], f
        assert [type(v).__name__ for v in f.values()] == ['int', 'str', 'int', 'bool', 'str']
        assert f['kernel'] is True and (f['dso'] == '[kernel.kallsyms]' or f['dso'].startswith('[')), f
    print(len(e._callchain) > 1)
''')
    for args, event in ((['-g'], WAKEUP), ([], WAKEUP + '//stack/')):
        assert lines(python(*args, name, event=event)) == ['True']
    name = write(tmp_path, 's.py', 'def __sample__(e): print("_callchain" in e, e.get("_callchain", []))\n')
    assert lines(python(name)) == ['False []']


HEAD = r'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6} '
LINE = r' *\S.* +-?\d+ [.dbnNpHhsZz0-9a-f]{4} \[\d{3}\] \d+\.\d{6}: sched:sched_wakeup: comm=.* pid=\d+ prio=\d+ target_cpu=\d{3}'
FRAME = r'    [0-9a-f]{16} \S+\+0x[0-9a-f]+ \(\S+\)'


@pytest.mark.parametrize('call, head, frames', [
    ('print()', True, True), ('print(timestamp=False)', False, True), ('print(callchain=False)', True, False),
    ('print(False, False)', False, False), ('print(timestamp=True, callchain=True)', True, True)])
def test_print(python, tmp_path, call, head, frames):
    name = write(tmp_path, 's.py', f'def __sample__(e): e.{call}\n')
    first, *rest = lines(python('-g', name))
    assert re.fullmatch((HEAD if head else '') + LINE, first), first
    assert bool(rest) == frames and all(re.fullmatch(FRAME, line) for line in rest), rest


def test_help_of_the_module(python, tmp_path):
    name = write(tmp_path, 's.py', '''
import perf_prof, sys, pydoc
text = pydoc.plain(pydoc.render_doc(perf_prof.PerfEvent))
for word in ('get(', 'keys(', 'values(', 'items(', 'to_dict(', 'print(', '_pid', '_callchain', '__hash__',
             '__len__', '__contains__', '__iter__', '__getitem__'):
    assert word in text, word
help(perf_prof.PerfEvent)
def __sample__(e): pass
''')
    done = python(name)
    assert 'class PerfEvent' in done.stdout and 'timestamp=True, callchain=True' in done.stdout


def test_the_order_of_the_callbacks(python, tmp_path):
    name = write(tmp_path, 's.py', '''
import os, signal
calls = []
def __init__(): calls.append('init')
def __sample__(e):
    if 'sample' not in calls: calls.append('sample')
def __interval__():
    if 'interval' not in calls:
        calls.append('interval')
        os.kill(os.getpid(), signal.SIGUSR2)
def __print_stat__(indent):
    calls.append(f'stat {indent}')
    print('ready', flush=True)
def __exit__():
    calls.append('exit')
    print([c for c in calls if c != 'sample'], 'sample' in calls)
''')
    done = python('-i', '50', name, until='^ready')
    assert lines(done)[-1] == "['init', 'interval', 'stat 4', 'exit'] True"


def test_an_exception_does_not_end_the_run(python, tmp_path):
    name = write(tmp_path, 's.py', '''
n = 0
def sched__sched_wakeup(e):
    global n
    n += 1
    raise ValueError('boom')
def __exit__(): print('handled', n)
''')
    done = python(name, events=20, check=None)
    assert done.returncode == 1 and lines(done) == ['handled 20']     # 1: no call returned
    assert done.stderr.count('ValueError: boom') == 3


def test_a_counter_named_like_an_event(python, tmp_path):
    name = write(tmp_path, 's.py', 'sched = 0\nprofile = {}\ndef __sample__(e): print("seen")\n')
    assert lines(python(name)) == ['seen']
