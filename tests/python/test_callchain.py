# SPDX-License-Identifier: Apache-2.0
"""Call chains in a script: which parts, what a frame is, and that no name is a wrong one.
Against perf's own they are compared in tests/live/test_callchains.py."""
import contextlib
import json
import os
import re
import shutil
import subprocess

import pytest

from frame import requires
from frame.session import READY, Session

for word in ('tracefs', 'root'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))

CALLS = 'syscalls:sys_enter_getppid/comm ~ "callers*"{}/'
FORKS = 'sched:sched_process_fork/comm ~ "callers*"{}/'
SHOW = READY + """
import json
def __sample__(e):
    print('chain', json.dumps(e._callchain), flush=True)
"""


@pytest.fixture(scope='session')
def callers(build, prof):
    built = subprocess.run([prof, 'version', '--build-options'], capture_output=True, text=True)
    if 'elfutils: no' in built.stdout:
        pytest.skip('needs a build with elfutils')
    path = os.path.join(build, 'tests/helpers/callers')
    if not os.path.exists(path):
        pytest.skip('needs the helper callers')
    return path


class Program:
    """callers, waiting for go()."""

    def __init__(self, *argv):
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = int(self.process.stdout.readline().split()[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def go(self):
        out, _ = self.process.communicate(b'x', timeout=20)
        assert self.process.returncode == 0
        return out


def chains(prof, folder, program, event, *options, script=SHOW, then=None):
    """What a script prints of a program's events."""
    with Program(*program) as one, \
            Session(prof, folder, script, '-e', event, '-i', '50', *options) as session:
        session.wait_for('ready')
        one.go()
        session.wait_for('chain')
        if then:
            then()
        ended = session.stop()
    assert ended.code == 0 and ended.stderr == ''
    return ended.stdout


def parsed(text):
    return [json.loads(line) for line in re.findall(r'^chain (.*)$', text, re.M)]


@pytest.mark.parametrize('options, kernel, user', [
    (['-g'], True, False),
    (['-g', '--user-callchain'], True, True),
    (['--user-callchain'], True, True),
    (['--kernel-callchain'], True, False),
    (['-g', '--user-callchain', '--no-kernel-callchain'], False, True),
    (['-g', '--kernel-callchain', '--no-user-callchain'], True, False),
])
def test_the_options_choose_the_parts(prof, callers, tmp_path, options, kernel, user):
    out = chains(prof, tmp_path, [callers, '--wait', '--children', '3'], FORKS.format(''), *options)
    assert len(parsed(out)) == 3
    for chain in parsed(out):
        assert any(f['kernel'] for f in chain) is kernel
        assert any(not f['kernel'] for f in chain) is user
        assert not kernel or 'kernel_clone' in [f['symbol'] for f in chain]
        assert [f['kernel'] for f in chain] == sorted((f['kernel'] for f in chain), reverse=True)


@pytest.mark.parametrize('attrs, depth', [('/stack', None), ('/max-stack=3', 3),
                                          ('/stack/max-stack=2', 2)])
def test_the_attributes_of_one_event(prof, callers, tmp_path, attrs, depth):
    other = 'sched:sched_process_exit/comm == "nobody"/'
    out = chains(prof, tmp_path, [callers, '--wait', '--children', '3'],
                 FORKS.format(attrs) + ',' + other)
    assert len(parsed(out)) == 3
    for chain in parsed(out):
        assert all(f['kernel'] for f in chain)
        assert len(chain) == depth if depth else len(chain) > 3


KEEP = READY + """
import json
kept = []
def __sample__(e):
    kept.append(e)
    print('chain', json.dumps(e._callchain), flush=True)
def __exit__():
    for e in kept:
        print('chain', json.dumps(e._callchain), flush=True)
"""


@pytest.mark.parametrize('options, attrs', [(['--call-graph', 'dwarf'], ''), (['--call-graph=dwarf,4096'], ''),
                                            ([], '/stack=dwarf')])
def test_callers_without_frame_pointers(prof, callers, tmp_path, options, attrs):
    """Also of events that the script keeps, when their process is gone."""
    out = chains(prof, tmp_path, [callers + '_bare', '--wait', '3'], CALLS.format(attrs), *options, script=KEEP)
    assert len(parsed(out)) == 6
    for chain in parsed(out):
        assert [f['symbol'] for f in chain][:4] == ['inner', 'middle', 'outer', 'main']
        assert not any(f['kernel'] for f in chain) and chain[-1]['symbol'] == '_start'


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
    out = chains(prof, tmp_path, [callers, '--wait', '50'], CALLS.format(''), '--user-callchain',
                 script=FRAMES)
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


@pytest.mark.parametrize('order', [[], ['--order']])
def test_events_that_are_kept_keep_their_names(prof, callers, tmp_path, order):
    """Their processes are gone, and so is the file that they ran."""
    program = shutil.copy(callers, tmp_path / 'callers_copy')

    def gone():
        os.unlink(program)

    out = chains(prof, tmp_path, [program, '--wait', '--children', '5'], CALLS.format(''),
                 '--user-callchain', *order, script=KEPT, then=gone)
    assert re.search(r"5 exit \[\('inner', 'middle', 'outer', 'main'\)\]", out)
    assert re.search(r"atexit \[\('inner', 'middle', 'outer', 'main'\)\]", out)


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
    out = chains(prof, tmp_path, [callers, '--wait', '--children', '5'], CALLS.format(''),
                 '--user-callchain', script=FORKED)
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
    told = '' if how == 'deleted' else f'perf-prof: {program} is not the file that was sampled .*\n'
    assert ended.code == 0 and re.fullmatch(told, ended.stderr), ended.stderr
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


def test_a_process_in_a_mount_namespace_of_its_own(prof, callers, tmp_path):
    """Its program lies at a path that leads elsewhere for us."""
    if not shutil.which('unshare'):
        pytest.skip('needs unshare')
    inside = tmp_path / 'inside'
    inside.mkdir()
    (inside / 'callers_inside').write_text('not a program')
    shell = (f'mount -t tmpfs none {inside} && cp {callers} {inside}/callers_inside && '
             f'exec {inside}/callers_inside --wait --linger 2')
    with contextlib.ExitStack() as stack:
        one = stack.enter_context(Program('unshare', '-m', 'sh', '-c', shell))
        session = stack.enter_context(Session(prof, tmp_path, SHOW, '-e', CALLS.format(''),
                                              '--user-callchain', '-i', '50'))
        session.wait_for('ready')
        one.process.stdin.write(b'x')
        one.process.stdin.flush()
        session.wait_for('(?s)(chain.*){2}')
        ended = session.stop()
    for chain in parsed(ended.stdout):
        assert chain[0]['dso'] == str(inside / 'callers_inside')
        assert [f['symbol'] for f in chain[:4]] == ['inner', 'middle', 'outer', 'main']
