# SPDX-License-Identifier: Apache-2.0
"""The runner of declared cases: each kind of mismatch must be found."""
import json
import os
import re

import pytest

pytest_plugins = ['pytester']
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

LOWERED = ('perf-prof: profile: 500 samples a second instead of 999: the limit is kernel.perf_event_max_sample_rate, '
           'which the kernel lowers')
GOOD = {
    'a lowered rate is the machine\'s': f'cmd = "echo \'{LOWERED}\' >&2"',
    'what is throttled by a lowered rate is the machine\'s': 'cmd = "echo \'perf-prof: throttled 4 times: samples come too fast\' >&2"',
    'one message beside a lowered rate': f'cmd = "echo \'{LOWERED}\' >&2; echo perf-prof: a >&2; exit 1"\n'
                                         'exit = 1\nfault = ["a$"]',
    'a lowered rate can be asked for': f'cmd = "echo \'{LOWERED}\' >&2"\nstderr = {{match = ["500 samples a second instead of"]}}',
    'exit code': 'cmd = ["sh", "-c", "exit 3"]\nexit = 3',
    'one of several codes': 'cmd = "exit 2"\nexit = [1, 2]',
    'stdout': 'cmd = "echo hello"\nstdout = {match = ["^hel"], not = ["x"], exact = "hello\\n"}',
    'fault': 'cmd = "echo perf-prof: oh, bad: do this >&2; exit 1"\nexit = 1\nfault = ["do this"]',
    'files': 'cmd = ["cat", "a/b"]\nfiles = {"a/b" = "x{y}"}\nstdout = {exact = "x{y}"}',
    'stdin': 'cmd = "cat"\nstdin = "abc"\nstdout = {exact = "abc"}',
    'env': 'cmd = "echo $A"\nenv = {A = "b"}\nstdout = {exact = "b\\n"}',
    'signal': 'cmd = ["sh", "-c", "trap \'exit 4\' INT; echo ready; while :; do sleep 0.01; done"]\n'
              'signals = [{send = "INT", on = "ready"}]\nwithin = 1.0\nexit = 4',
    'each': 'cmd = "exit {n}"\neach = {n = [0, 0]}'.replace('0, 0', '0'),
    'an allowed code above 128': 'cmd = "exit 130"\nexit = 130',
}

BAD = {
    'exit code': ('cmd = "exit 1"', 'exit code 1, not 0'),
    'signal death': ('cmd = ["sh", "-c", "kill -SEGV $$"]', 'died of signal 11'),
    'signal death in a shell': ('cmd = "sh -c \'kill -SEGV $$\'; exit $?"\nexit = 1', 'died of signal 11'),
    'missing text': ('cmd = "echo a"\nstdout = {match = ["b"]}', 'stdout lacks /b/'),
    'unwanted text': ('cmd = "echo a"\nstdout = {not = ["a"]}', 'stdout has /a/'),
    'exact': ('cmd = "echo a"\nstdout = {exact = "a"}', 'not exactly'),
    'noise on stderr': ('cmd = "echo a >&2"', 'stderr is not empty'),
    'no message': ('cmd = "exit 1"\nexit = 1\nfault = []', '0 messages'),
    'two messages': ('cmd = "echo perf-prof: a >&2; echo perf-prof: b >&2; exit 1"\nexit = 1\n'
                     'fault = ["a"]', '2 messages'),
    'hang': ('cmd = "sleep 20"\ntimeout = 0.3', 'still running after'),
    'no cue': ('cmd = "exit 0"\nsignals = [{send = "INT", on = "ready"}]', 'never showed'),
    'late': ('cmd = ["sh", "-c", "trap : INT; echo ready; sleep 1; sleep 0.3"]\n'
             'signals = [{send = "INT", on = "ready"}]\nwithin = 0.2', 'after the signal'),
    'sanitizer': ('cmd = "echo a.c:1: runtime error: overflow >&2"\nstderr = {}', 'sanitizer'),
    'unknown key': ('cmd = "true"\nexits = 1', "unknown key 'exits'"),
    'unknown requirement': ('cmd = "true"\nrequires = ["luck"]', "unknown requirement 'luck'"),
    'fault without a code': ('cmd = "true"\nfault = ["a"]', 'without an exit code'),
}


@pytest.fixture
def run_cases(pytester, monkeypatch):
    """run_cases({name: text}): the result of files that have a case each, which is called as its file."""
    monkeypatch.delenv('PYTEST_ADDOPTS', raising=False)

    def run(files):
        pytester.makeconftest(open(os.path.join(ROOT, 'tests/conftest.py')).read()
                              .replace('os.path.dirname(os.path.abspath(__file__))',
                                       repr(os.path.join(ROOT, 'tests')), 1))
        pytester.makefile('.toml', **{name: f'[[case]]\nname = {json.dumps(name)}\n{text}\n' for name, text in files.items()})
        return pytester.runpytest_subprocess('-p', 'no:cacheprovider', '--continue-on-collection-errors')
    return run


def test_good(run_cases):
    table = ('cmd = "true"\n[[table]]\nexit = 3\ncolumns = ["name", "cmd", "stdout.match"]\n'
             'rows = [["a", "echo a; exit 3", "a"], ["b", "exit 3", []]]')
    run_cases({**GOOD, 'table': table}).assert_outcomes(passed=len(GOOD) + 3)


def test_bad(run_cases):
    bad = {**BAD, 'row': ('cmd = "true"\n[[table]]\ncolumns = ["name", "cmd"]\nrows = [["r"]]', '1 values, but 2 columns')}
    said = run_cases({name: text for name, (text, _) in bad.items()}).stdout.str()
    assert 'INTERNALERROR' not in said
    _, *parts = re.split(r'^_+ (?:ERROR collecting )?(.*?)(?:\.toml)? _+$', said, flags=re.M)
    told = dict(zip(parts[::2], parts[1::2]))
    assert not {name: told.get(name) for name, (_, words) in bad.items() if words not in told.get(name, '')}


def test_requirement_skips_with_its_reason(run_cases):
    run_cases({'c': 'cmd = "false"\nrequires = ["kernel>=99.0"]'}).assert_outcomes(skipped=1)
