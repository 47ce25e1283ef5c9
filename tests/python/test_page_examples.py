# SPDX-License-Identifier: Apache-2.0
"""What the manual tells of functions and names in a script."""
import pytest

pytestmark = pytest.mark.live('tracefs', 'root')


def write(folder, name, text):
    (folder / name).write_text(text)
    return name


def lines(done):
    return done.stdout.splitlines()[1:]


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


def test_a_counter_named_like_an_event(python, tmp_path):
    name = write(tmp_path, 's.py', 'sched = 0\nprofile = {}\ndef __sample__(e): print("seen")\n')
    assert lines(python(name)) == ['seen']
