# SPDX-License-Identifier: Apache-2.0
"""perf-prof check: each row against a program that opens the same by itself, as root, as
nobody at each level of paranoia, and with CAP_PERFMON alone."""
import errno
import json
import os
import shutil
import subprocess

import pytest

from frame import declared, requires

pytestmark = pytest.mark.live

SWITCH_ID = '/sys/kernel/tracing/events/sched/sched_switch/id'


def need(*words):
    for word in words:
        reason = requires.why_not(word)
        if reason:
            pytest.skip(reason)


def as_root(argv):
    return argv


def with_perfmon(argv):
    return ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--inh-caps=-all,+perfmon',
            '--ambient-caps=-all,+perfmon', '--bounding-set=-all,+perfmon', '--'] + argv


WHO = {'root': as_root, 'nobody': requires.as_nobody, 'perfmon': with_perfmon}
MATRIX = [('root', 2)] + [('nobody', level) for level in (-1, 0, 1, 2)] + [('perfmon', 2)]


@pytest.fixture
def programs(build, tmp_path):
    """perf-prof and opens where everybody may run them."""
    folder = tmp_path
    for path in (folder, *folder.parents):
        if str(path).startswith('/tmp/'):
            os.chmod(path, 0o755)
    return [shutil.copy(os.path.join(build, name), folder)
            for name in ('perf-prof', 'tests/helpers/opens')]


def checked(argv):
    done = subprocess.run(argv, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def truth(argv):
    out = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    rows = (line.split() for line in out.splitlines())
    return {name: (int(code), user_only == '1') for name, code, user_only in rows}


def switch_id():
    with open(SWITCH_ID) as f:
        return f.read().strip()


def names_of(code):
    """All of them: 95 is EOPNOTSUPP and ENOTSUP."""
    return {name for name in dir(errno) if name.startswith('E') and getattr(errno, name) == code}


def compare(features, opened):
    said = {f['name']: f for f in features}
    wrong = []
    for name, (code, user_only) in opened.items():
        row = said[name]
        if name == 'user-read' and 'faster here' in row.get('said', ''):
            continue    # offered, and not taken: opens measures nothing
        if (row['works'], row['user_space_only']) != (code == 0, user_only):
            wrong.append((name, row, code, user_only))
        elif code and row['errno'] not in names_of(code) | ({'EACCES'} if code == errno.EPERM else set()):
            wrong.append((name, row, code, user_only))
    assert not wrong
    assert set(opened) == set(said)


@pytest.mark.alone
@pytest.mark.parametrize('who, level', MATRIX)
def test_each_row_is_what_opening_says(programs, who, level):
    need('root', 'tracefs', 'nobody', 'paranoid')
    prof, opens = programs
    with declared.paranoid_level(level):
        result = checked(WHO[who]([prof, 'check', '--json']))
        opened = truth(WHO[who]([opens, switch_id()]))
    assert result['uid'] == (0 if who == 'root' else 65534)
    assert result['perf_event_paranoid'] == level
    compare(result['features'], opened)


@pytest.mark.alone
@pytest.mark.parametrize('level', [-1, 0, 1, 2])
def test_user_nobody_is_what_nobody_sees(programs, level):
    need('root', 'nobody', 'paranoid')
    prof, _ = programs
    with declared.paranoid_level(level):
        theirs = checked(requires.as_nobody([prof, 'check', '--json']))
        ours = checked([prof, 'check', '--user', 'nobody', '--json'])
        by_uid = checked([prof, 'check', '--user', '65534', '--json'])
    assert ours == theirs
    assert by_uid == theirs


@pytest.mark.alone
def test_capabilities_do_not_reach_the_other_user(programs):
    need('root', 'nobody', 'paranoid')
    prof, _ = programs
    keep = ['setpriv', '--inh-caps=+perfmon', '--ambient-caps=+perfmon', '--']
    with declared.paranoid_level(2):
        result = checked(keep + [prof, 'check', '--user', 'nobody', '--json'])
    works = {f['name']: f['works'] for f in result['features']}
    assert works['user-side'] and not works['cpu'] and not works['kernel-side']


@pytest.mark.alone
def test_expectations_by_level(programs):
    """What perf_event_open(2) documents, so that both programs can't be wrong together."""
    need('root', 'nobody', 'paranoid')
    prof, _ = programs
    expected = {-1: {'cpu', 'kernel-side', 'tracepoint', 'tracepoint-raw'},
                0: {'cpu', 'kernel-side', 'tracepoint'}, 1: {'kernel-side', 'tracepoint'}, 2: set()}
    for level, allowed in expected.items():
        with declared.paranoid_level(level):
            result = checked(requires.as_nobody([prof, 'check', '--json']))
        works = {f['name'] for f in result['features'] if f['works']}
        assert works & expected[-1] == allowed, level
        assert 'user-side' in works and 'uprobe' not in works
        assert all(f['remedy'] for f in result['features'] if not f['works'])
