# SPDX-License-Identifier: Apache-2.0
"""Call chains in a script: which parts, what a frame is, and that no name is a wrong one.
Against perf's own they are compared in tests/live/test_callchains.py."""
import json
import os
import re
import shutil
import subprocess

import pytest

from frame.session import READY, Program, Session

pytestmark = pytest.mark.live('tracefs', 'root')

CALLS = 'syscalls:sys_enter_getppid/comm ~ "callers*"{}/'
FORKS = 'sched:sched_process_fork/comm ~ "callers*"{}/'
SHOW = READY + """
import json
def __sample__(e):
    print('chain', json.dumps(e._callchain), flush=True)
"""


@pytest.fixture(scope='session')
def callers(helper, need):
    need('elfutils')
    return helper('callers')


def chains(prof, folder, program, event, *options, script=SHOW, then=None):
    """What a script prints of a program's events."""
    with Program(*program) as one, Session(prof, folder, script, '-e', event, '-i', '50', *options) as session:
        session.wait_for('ready')
        one.go()
        one.end()
        session.wait_for('chain')
        if then:
            then()
        ended = session.stop()
    assert ended.code == 0 and ended.stderr == ''
    return ended.stdout


def parsed(text):
    return [json.loads(line) for line in re.findall(r'^chain (.*)$', text, re.M)]


@pytest.mark.parametrize('options, attrs, kernel, user, depth', [
    ('-g', '', True, False, None), ('-g --user-callchain', '', True, True, None), ('--user-callchain', '', True, True, None),
    ('--kernel-callchain', '', True, False, None), ('-g --user-callchain --no-kernel-callchain', '', False, True, None),
    ('-g --kernel-callchain --no-user-callchain', '', True, False, None),
    ('', '/stack', True, False, None), ('', '/max-stack=3', True, False, 3), ('', '/stack/max-stack=2', True, False, 2)])
def test_options_and_attributes_choose_the_parts(prof, callers, tmp_path, options, attrs, kernel, user, depth):
    out = chains(prof, tmp_path, [callers, '--wait', '--children', '3'],
                 FORKS.format(attrs) + ',sched:sched_process_exit/comm == "nobody"/', *options.split())
    assert len(parsed(out)) == 3
    for chain in parsed(out):
        assert any(f['kernel'] for f in chain) is kernel
        assert any(not f['kernel'] for f in chain) is user
        assert not kernel or depth or 'kernel_clone' in [f['symbol'] for f in chain]
        assert [f['kernel'] for f in chain] == sorted((f['kernel'] for f in chain), reverse=True)
        assert len(chain) == depth if depth else user or len(chain) > 3


@pytest.mark.parametrize('options, event', [
    (['-g', '--no-kernel-callchain'], CALLS.format('')),
    (['--no-kernel-callchain'], CALLS.format('/stack')),
])
def test_options_that_leave_nothing(prof, tmp_path, options, event):
    with Session(prof, tmp_path, SHOW, '-e', event, *options) as session:
        assert session.process.wait(20) == 2
        assert re.search('no-kernel-callchain.*--user-callchain', session.err.text())


FRAMES = READY + """
import copy, json, pickle
seen, lists, all_frames = {}, [], {}
def refused(function):
    try:
        function()
    except TypeError:
        return True
    return False
def __sample__(e):
    chain = e._callchain
    assert type(chain) is list and chain is not e._callchain
    assert all(a is b for a, b in zip(chain, e._callchain))
    chain.append('of our own')
    assert 'of our own' not in e._callchain
    for frame in e._callchain:
        assert isinstance(frame, dict) and list(frame) == ['addr', 'symbol', 'offset', 'kernel', 'dso']
        assert [type(v) for v in frame.values()] == [int, str, int, bool, str]
        assert all_frames.setdefault(tuple(frame.values()), frame) is frame
        assert refused(lambda: frame.__setitem__('addr', 1))
        assert refused(lambda: frame.__delitem__('addr'))
        assert refused(lambda: frame.update(addr=1)) and refused(lambda: frame.update({}))
        assert refused(frame.clear) and refused(frame.popitem)
        assert refused(lambda: frame.pop('addr')) and refused(lambda: frame.setdefault('x', 1))
        assert refused(lambda: frame.__ior__({})) and refused(lambda: frame.__init__(x=1))
        assert refused(lambda: type(frame)())
        plain = dict(frame)
        assert frame == plain and not frame != plain and frame.copy() == plain
        assert type(frame.copy()) is type(frame | {}) is type(copy.copy(frame)) is dict
        assert type(copy.deepcopy(frame)) is type(pickle.loads(pickle.dumps(frame))) is dict
        assert pickle.loads(pickle.dumps(frame)) == plain and json.loads(json.dumps(frame)) == plain
        assert repr(frame) == repr(plain) and {frame: 1}[frame] == 1
    lists.append([id(f) for f in e._callchain])
    print('chain', len(lists), flush=True)
def __exit__():
    print('same', len({tuple(ids) for ids in lists}), 'of', len(lists))
"""


def test_frames_are_shared_and_cannot_be_changed(prof, callers, tmp_path):
    out = chains(prof, tmp_path, [callers, '--wait', '50'], CALLS.format(''), '--user-callchain', script=FRAMES)
    assert 'same 1 of 50' in out


KEPT = """
import atexit
kept, calls = [], 0
def names(events):
    return sorted({tuple(f['symbol'] for f in e._callchain[:4]) for e in events})
def __sample__(e):
    kept.append(e)
def __interval__():
    global calls
    calls += 1
    print('ready' if calls == 1 else 'chain' if len(kept) == 5 else '', flush=True)
def __exit__():
    print(len(kept), 'exit', names(kept))
atexit.register(lambda: print('atexit', names(kept)))
"""


@pytest.mark.parametrize('kind, attrs, options', [
    ('', '', ['--user-callchain']), ('', '', ['--user-callchain', '--order']), ('_bare', '', ['--call-graph=dwarf,4096']),
    ('_bare', '/stack=dwarf', [])])
def test_events_that_are_kept_keep_their_names(prof, callers, tmp_path, kind, attrs, options):
    """Their processes are gone, and so is the file that they ran; also of a program without frame pointers."""
    program = shutil.copy(callers + kind, tmp_path / 'callers_copy')
    out = chains(prof, tmp_path, [program, '--wait', '--children', '5'], CALLS.format(attrs), *options, script=KEPT,
                 then=lambda: os.unlink(program))
    for where in '5 exit', 'atexit':
        assert f"{where} [('inner', 'middle', 'outer', 'main')]" in out


FORKED = READY + """
import os
def __sample__(e):
    pid = os.fork()
    if pid == 0:
        print('chain', [f['symbol'] for f in e._callchain[:4]], flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
"""


def test_a_child_of_the_script_finds_names_itself(prof, callers, tmp_path):
    """It has neither the rings nor what the parent has read of them later."""
    out = chains(prof, tmp_path, [callers, '--wait', '--children', '5'], CALLS.format(''), '--user-callchain', script=FORKED)
    assert out.count("chain ['inner', 'middle', 'outer', 'main']") == 5


SLOW = READY + """
import os, time
def __sample__(e):
    while not os.path.exists('go'):
        time.sleep(0.01)
    print('chain', [f['symbol'] for f in e._callchain if not f['kernel']][:4], flush=True)
"""


@pytest.mark.parametrize('how', ['deleted', 'replaced', 'rewritten'])
def test_another_file_gives_no_name(prof, callers, tmp_path, how):
    """The program is gone from its path before anybody looked at it."""
    program = shutil.copy(callers, tmp_path / 'callers_copy')
    other = tmp_path / 'callers_other'
    shutil.copy(callers, other)
    with open(other, 'r+b') as f:                  # other names for the same addresses
        data = f.read()
        f.seek(0)
        f.write(re.sub(rb'\0(inner|middle|outer)\0', lambda m: m.group(0).upper(), data))
    with Program(program, '--wait', '1') as one, \
            Session(prof, tmp_path, SLOW, '-e', CALLS.format(''), '--user-callchain', '-i',
                    '50') as session:
        session.wait_for('ready')
        one.go()
        one.end()
        if how == 'deleted':
            os.unlink(program)
        elif how == 'replaced':
            os.rename(other, program)
        else:
            with open(other, 'rb') as source, open(program, 'r+b') as target:
                target.write(source.read())
        (tmp_path / 'go').touch()
        session.wait_for('chain')
        ended = session.stop()
    assert ended.code == 0 and ended.stderr == ''
    assert "chain ['Unknown', 'Unknown', 'Unknown', 'Unknown']" in ended.stdout


def test_exec_forgets_what_was_mapped(prof, callers, build, tmp_path):
    """The two programs lie at the same fixed addresses."""
    static = os.path.join(build, 'tests/helpers/callers_static')
    shell = f'read x; exec {static} 2'
    with subprocess.Popen(['sh', '-c', shell], stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL) as one, \
            Session(prof, tmp_path, SHOW, '-e', CALLS.format(''), '--user-callchain', '-i', '50',
                    '-p', str(one.pid)) as session:
        session.wait_for('ready')
        one.stdin.write(b'x\n')
        one.stdin.flush()
        session.wait_for('(?s)(chain.*){2}')
        ended = session.stop()
    for chain in parsed(ended.stdout):
        assert [f['symbol'] for f in chain[:4]] == ['inner', 'middle', 'outer', 'main']
        assert chain[0]['dso'] == static
