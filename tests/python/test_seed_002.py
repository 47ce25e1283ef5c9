# SPDX-License-Identifier: Apache-2.0
"""seed_002.md names a test for each promise of the manual: each of them exists."""
import ast
import functools
import os
import re
import subprocess

import pytest

from frame import declared, requires

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = os.path.join(TESTS, 'python/seed_002.md')
SECTIONS = ('Overview', 'Basic usage', 'Kinds of modules', 'Examples of command lines',
            "The script's arguments", 'Shebang', 'Sources of events', 'Callbacks',
            "Fields of a tracepoint's event", 'Ways to the fields', '`_callchain`', 'Types of the fields',
            'The module perf_prof', 'Statistics and output', 'The template', 'Ways to work', 'Examples',
            'Performance and Cython', 'With other commands')
# What may be waited for; a part that is done leaves this list, and with it its rows.
WAITING = ('part 4', 'part 5')


def rows():
    """(section, promise, the tests) of each row."""
    section = None
    with open(TABLE) as f:
        for line in f:
            if line.startswith('## '):
                section = line[3:].strip()
            elif line.startswith('| ') and not line.startswith('| Promise '):
                cells = line.strip().strip('|').rsplit(' | ', 1)
                assert len(cells) == 2, line
                yield section, cells[0].strip(), [t.strip() for t in cells[1].split('; ')]


ROWS = list(rows())


@functools.lru_cache(None)
def functions(path):
    with open(os.path.join(TESTS, path)) as f:
        return {node.name for node in ast.parse(f.read()).body
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}


@functools.lru_cache(None)
def cases(path):
    return {re.sub(r' \[.*\]$', '', case['name']) for case in declared.load(os.path.join(TESTS, path))}


def why_not(test):
    """None if the test is there."""
    waiting = re.fullmatch(r'waiting: (.+)', test)
    if waiting:
        return None if waiting.group(1) in WAITING else 'not waited for'
    node = re.fullmatch(r'((?:\w+/)?test_\w+\.py)::(test_\w+)', test)
    declared_ = re.fullmatch(r'((?:\w+/)?\w+\.toml): (.+)', test)
    unit = re.fullmatch(r'(unit|live)/test_(\w+): (\w+)', test)
    if node:
        path = node.group(1) if '/' in node.group(1) else 'python/' + node.group(1)
        if not os.path.exists(os.path.join(TESTS, path)):
            return 'no such file'
        return None if node.group(2) in functions(path) else 'no such function'
    if declared_:
        path = declared_.group(1) if '/' in declared_.group(1) else 'cli/' + declared_.group(1)
        return None if declared_.group(2) in cases(path) else 'no such case'
    if unit:
        with open(os.path.join(TESTS, unit.group(1), f'test_{unit.group(2)}.c')) as f:
            text = f.read()
        found = re.search(rf'^static void {unit.group(3)}\(void \*\*state\)', text, re.M)
        return None if found else 'no such test'
    return None if test == 'vm/suite.py: the guests run the table of checks' else 'names no test'


def test_it_is_whole():
    assert tuple(dict.fromkeys(section for section, _, _ in ROWS)) == SECTIONS
    assert len(ROWS) > 160
    assert len({(section, promise) for section, promise, _ in ROWS}) == len(ROWS), 'a promise twice'
    assert all(tests and all(tests) for _, _, tests in ROWS)


@pytest.mark.parametrize('test', sorted({test for _, _, tests in ROWS for test in tests}))
def test_the_test_is_there(test):
    if test.startswith('test_seed_scripts.py') and why_not(test) == 'no such file':
        pytest.skip('needs the examples of test_seed_scripts.py, which come with the sources')
    assert why_not(test) is None


def test_made_up_tests_are_not():
    for test in ('test_events.py::test_nothing', 'test_nothing.py::test_it', 'run.toml: nothing',
                 'unit/test_tracefmt: nothing', 'waiting: better days', 'soon', ''):
        assert why_not(test), test


def test_the_template(prof):
    """Line by line what the page shows, but for what is said here to be more."""
    if requires.why_not('tracefs'):
        pytest.skip(requires.why_not('tracefs'))
    done = subprocess.run([prof, 'python', '-e', 'sched:sched_wakeup', 'help'], capture_output=True, text=True)
    page = PAGE.splitlines()
    lines = iter(done.stdout.splitlines())
    missing = [line for line in page if line not in lines]
    assert not missing, 'in this order'
    for function in ('__print_stat__(indent)', '__lost__(lost_start, lost_end)'):
        assert re.search(r'^# \[OPTIONAL\] Delete .*\ndef ' + re.escape(function) + ':$', done.stdout, re.M)


PAGE = '''\
# =============================================================================
# Python Script Template for perf-prof python
# =============================================================================
#
# Save this template to a .py file and customize as needed.
# Functions marked [OPTIONAL] can be safely deleted if not needed.
#
# PerfEvent object fields:
#
#   Tracepoint events (-e sys:name):
#   _pid, _tid    : Process/thread ID (int)
#   _time         : Event timestamp in nanoseconds (int)
#   _cpu          : CPU number (int)
#   _period       : Sample period (int)
#   common_type, common_flags, common_preempt_count, common_pid : trace_entry fields
#   _realtime     : Wall clock time in ns since Unix epoch (int, lazy computed)
#                   Note: Has drift, only for display, not for latency calc
#   _callchain    : Call stack list (when -g or stack attribute is set, lazy computed)
#   <field>       : Event-specific fields (int/str/bytes, lazy computed)
#
# PerfEvent access methods:
#   event.field or event['field']  - Access field value
#   event.get(field, default=None) - Get field with default fallback
#   'field' in event               - Check if field exists
#   len(event)                     - Number of fields
#   event.keys(), event.values(), event.items()  - Dict-like access
#   for field, value in event      - Iterate over fields
#   event.print(timestamp=True, callchain=True)  - Print in perf-prof format
#   event.to_dict()                - Convert to regular Python dict
#   str(event), repr(event)        - String representations
#   hash(event)                    - Hash of entire perf event
#
# =============================================================================

# Import other modules as needed (examples)
# import json
# import time
# from collections import defaultdict, Counter

# Global variables for statistics
event_count = 0

# [OPTIONAL] Delete if no initialization needed
def __init__():
    """Called once before event processing starts."""
    pass

# [OPTIONAL] Delete if no cleanup/summary needed
def __exit__():
    """Called once before program exit."""
    pass

# [OPTIONAL] Delete if -i interval not used
def __interval__():
    """Called at each -i interval."""
    pass

# Event-specific handler (higher priority than __sample__)
def sched__sched_wakeup(event):
    """
    Handler for sched:sched_wakeup
    event is a PerfEvent object with lazy field evaluation.

    Event-specific fields:
        comm : str
        pid : int
        prio : int
        target_cpu : int
    """
    global event_count
    event_count += 1

    # Access common fields
    pid = event._pid
    time_ns = event._time

    # Access event-specific fields
    # comm = event.comm
    # target_cpu = event.target_cpu

    # Example: print event
    # event.print()

# [OPTIONAL] Delete if using event-specific handlers for all events
def __sample__(event):
    """
    Default handler for events without specific handlers.
    event is a PerfEvent object. The _event field has format 'sys:name' or 'sys:alias'.
    """
    global event_count
    event_count += 1

    event_name = event._event
    cpu = event._cpu

    # Example: print event
    # event.print()
'''
