# SPDX-License-Identifier: Apache-2.0
"""run() and sql() want all events of a session, and a query changes its columns: one of them at a time."""
import threading
import types

import pytest

from known import PATIENCE, RECORDING
from thread_checks import at_once

SWITCH = 'sched:sched_switch'
COUNT = 'select count(*) from sched_switch'


def module(**functions):
    made = types.ModuleType('callbacks')
    vars(made).update(functions)
    return made


@pytest.fixture
def running(perf_prof):
    """running(CHECK): what CHECK of a recording returned in another thread while run() was about to read it; and the number of
    its events that came."""
    def start(check):
        seen, found, s = [], [], perf_prof.open(RECORDING)

        def init():
            thread = threading.Thread(target=lambda: found.append(check(s)), daemon=True)
            thread.start()
            thread.join(PATIENCE)
        s.run(module(__init__=init, __sample__=seen.append))
        return found[0], len(seen)
    return start


def error_of(function):
    with pytest.raises(Exception) as error:
        function()
    return error.type, str(error.value)


def test_no_query_while_it_runs(perf_prof, running):
    with perf_prof.open(RECORDING) as s:
        want = sum(len(batch) for batch in s)
    (kind, text), events = running(lambda s: error_of(lambda: s.sql(COUNT)))
    assert kind is RuntimeError and text == 'sql(): the events of this session go to its run(): open() it again'
    assert events == want


def test_no_run_while_a_query_reads(perf_prof, reader):
    reader('duckdb')
    s = perf_prof.open(RECORDING)
    (want,), = s.sql(COUNT).fetchall()
    with pytest.raises(RuntimeError, match=r'run\(\): the events of this session go to its sql\(\): open\(\) it again'):
        s.run(module(__sample__=print))
    assert want > 0


def test_one_of_them_gets_the_events(perf_prof, reader):
    reader('duckdb')
    with perf_prof.open(RECORDING, SWITCH) as s:
        want = sum(len(batch) for batch in s)
    for _ in range(20):
        s, seen = perf_prof.open(RECORDING), []
        found = at_once(lambda: s.sql(COUNT).fetchall()[0][0], lambda: s.run(module(sched__sched_switch=seen.append)) or len(seen))
        # run() may end before the query begins, and closes the session
        refused = [error for error in found if isinstance(error, RuntimeError) or 'session is closed' in str(error)]
        assert len(refused) == 1 and want in found, found


def test_a_query_that_was_refused_leaves_the_session_free(perf_prof, reader):
    reader('duckdb')
    s, seen = perf_prof.open(RECORDING), []
    with pytest.raises(ValueError):
        s.sql('select nothing from nowhere')
    s.run(module(__sample__=seen.append))
    assert seen


def test_parts_of_other_columns(perf_prof):
    """The rows of a part are those of batches with the columns that the session had."""
    s = perf_prof.open(RECORDING)
    part = s._part((SWITCH,), True)
    assert s._choose([SWITCH], ['prev_comm'])
    with pytest.raises(TypeError, match='expected a batch of the session, with the columns that it had'):
        s._rows(part, next(s))
