# SPDX-License-Identifier: Apache-2.0
"""What a session refuses, and what it says then."""
import io

import pytest

from known import RECORDING

SWITCH = 'sched:sched_switch'

WRONG = [
    ({'events': 'sched:sched_swich'}, ValueError, 'did you mean sched:sched_switch'),
    ({'events': []}, ValueError, r'events=\[\]: expected'),
    ({'events': 5}, TypeError, 'events=5: expected a str'),
    ({'events': [SWITCH, None]}, TypeError, 'expected a str or a list'),
    ({'events': 'rundelay/--thn 5ms/'}, ValueError, 'did you mean --than'),
    ({'events': 'a\0b'}, ValueError, 'NUL'),
    ({'fields': ['prevcomm']}, ValueError, r'prevcomm; did you mean prev_comm\?.*next_prio'),
    ({'fields': 3}, TypeError, 'fields=3'),
    ({'filter': 'prev_pd > 0'}, ValueError, r'filter prev_pd > 0: .*did you mean prev_pid\?'),
    ({'filter': 'prev_pid >'}, ValueError, 'ends too early'),
    ({'filter': 7}, TypeError, 'filter=7'),
    ({'pids': 'a'}, ValueError, '^pids=a: unexpected "a"'),
    ({'pids': []}, ValueError, r'^pids=\[\]: expected at least one number$'),
    ({'pids': [1, 'x']}, TypeError, 'pids='),
    ({'pids': 2147483646}, ProcessLookupError, 'pids=2147483646: there is no such process'),
    ({'tids': 2147483646}, ProcessLookupError, 'tids=2147483646: there is no such thread'),
    ({'pid': 1, 'pids': 1}, TypeError, 'pids= and pid= are the same'),
    ({'cpus': [60000]}, ValueError, '^cpus=60000: .*use cpus='),
    ({'callchains': 'dwarf,x'}, ValueError, '^callchains=dwarf,x'),
    ({'cgroup': 'no-such-group'}, FileNotFoundError, 'cgroup=no-such-group: there is no control group of this name below'),
    ({'cgroup': 'no/such-group'}, FileNotFoundError, 'cgroup=no/such-group: there is no such control group: .*expected a path below'),
    ({'ring': 'x'}, ValueError, '^ring=x: expected'),
    ({'buffer': True}, TypeError, 'buffer=True'),
    ({'seconds': 0}, ValueError, 'seconds=0: expected a number above 0'),
    ({'seconds': '1'}, TypeError, """seconds='1': expected a number of seconds, or a str such as "5ms"$"""),
    ({'order': 'yes'}, TypeError, "order='yes': expected True or False"), ({'inherit': 2}, TypeError, 'inherit=2: expected True or False'),
    ({'events': 'profile/-Z/'}, ValueError, r'expected: options of profile: -F HZ, .*, -g, --call-graph '),
    ({'command': []}, ValueError, 'expected a program'),
    ({'command': ''}, ValueError, "command='': expected a line for the shell"),
    ({'command': ['sleep', 1]}, TypeError, r"command=\['sleep', 1\]: its item 1 is 1: expected a str or a path"),
    ({'command': 5}, TypeError, 'command=5: expected a list'),
    ({'pids': -1}, ValueError, 'such as 0-3,7$'),
    ({'command': ['/etc/passwd']}, PermissionError, 'cannot execute'),
    ({'command': './no-such-program 5'}, FileNotFoundError, r'\./no-such-program: there is no such program'),
    ({'bogus': 1}, TypeError, r'^Session\(\): unknown parameter bogus=; help\(perf_prof.Session\) lists them'),
    ({'second': 1}, TypeError, r'^Session\(\): unknown parameter second=; did you mean seconds=\?'),
]


@pytest.mark.parametrize('kwargs, kind, message', WRONG, ids=lambda value: str(value)[:40] if isinstance(value, dict) else '')
@pytest.mark.live
def test_wrong(perf_prof, live, kwargs, kind, message):
    with pytest.raises(kind, match=f'(?s){message}'):
        perf_prof.Session(**{'events': SWITCH, **kwargs})


@pytest.mark.parametrize('use, message', [
    (lambda p: p.open(RECORDING, field='_time'), r'open\(\): unknown parameter field=; did you mean fields=\?'),
    (lambda p: p.open(RECORDING, self=1), r'open\(\): unknown parameter self=; help\(perf_prof.open\) lists them'),
    (lambda p: p.open(RECORDING).stream(SWITCH, bufer=1), r'stream\(\): unknown parameter bufer=; did you mean buffer=\?'),
    (lambda p: p.open(RECORDING).aggregate(keys='_pid'), r'aggregate\(\): unknown parameter keys=; did you mean key=\?'),
    (lambda p: p.open(RECORDING).aggregate(x=1), r'aggregate\(\): unknown parameter x=; help\(perf_prof.Session.aggregate\) lists them'),
    (lambda p: p.open(RECORDING).run(p, intervall=1), r'run\(\): unknown parameter intervall=; did you mean interval=\?'),
    (lambda p: p.open(RECORDING).sql('from events', intervall=1), r'sql\(\): unknown parameter intervall=; did you mean interval=\?'),
])
def test_wrong_names(perf_prof, use, message):
    with pytest.raises(TypeError, match=f'^{message}'):
        use(perf_prof)


@pytest.mark.parametrize('line', ['exit 3', './no-such-program || true', '"./no such program"', 'A=/no/such ./no-such-program', '/bin/sh -c true'])
def test_lines_that_only_the_shell_understands(perf_prof, line):
    assert perf_prof.sessions._command(line) == ['/bin/sh', '-c', line]


@pytest.mark.parametrize('source, kind, message', [
    ('/no/such/file', FileNotFoundError, 'cannot read /no/such/file'),
    (b'', RuntimeError, '<bytes>'), (b'PERFILE2 and then nothing', RuntimeError, '<bytes>'),
    (3.5, TypeError, '3.5: expected a path'), (io.StringIO('text'), TypeError, 'reading bytes'),
])
def test_wrong_recording(perf_prof, source, kind, message):
    with pytest.raises(kind, match=message):
        perf_prof.open(source)


def test_wrong_time(perf_prof):
    with pytest.raises(TypeError, match='time=5: expected a str "START,END"'):
        perf_prof.open(RECORDING, time=5)


@pytest.mark.live
def test_a_session_begins_once(perf_prof, live):
    with perf_prof.Session(SWITCH) as s, pytest.raises(RuntimeError, match='begun already'):
        s.__init__(SWITCH)


def test_a_session_that_did_not_begin(perf_prof):
    s = perf_prof.Session.__new__(perf_prof.Session)
    for use in lambda: next(s), lambda: iter(s), s.stats, lambda: s.columns, s.fileno, s.__arrow_c_stream__:
        with pytest.raises(ValueError, match='has not begun'):
            use()
    s.close()


@pytest.mark.parametrize('name', ['Batch', 'Column', 'Event'])
def test_objects_are_not_made_by_hand(perf_prof, name):
    with pytest.raises(TypeError):
        getattr(perf_prof, name)()
