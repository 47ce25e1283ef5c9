# SPDX-License-Identifier: Apache-2.0
"""The commands of perf-prof as functions, in this process: rows, text, stacks, errors, and the ends of runs."""
import gc
import html
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from frame import requires
from known import PATIENCE, RECORDING

CALL = 'getppid(110)' if os.uname().machine == 'x86_64' else 'getppid(173)'
STACKS = os.path.join(os.path.dirname(RECORDING), 'amd64-7-chains.data')
PYTHON = 'def hot():\n    for i in range(12000000): i * i\nhot()\n'


def children_of(parent):
    """{pid: name}"""
    found = {}
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/stat') as file:
                name, rest = file.read().partition('(')[2].rsplit(')', 1)
        except OSError:
            continue
        if int(rest.split()[1]) == parent:
            found[int(pid)] = name
    return found


def handles_signals(pid):
    """Whether it has a handler for SIGINT: perf-prof has when all is open."""
    with open(f'/proc/{pid}/status') as status:
        caught = next(line.split()[1] for line in status if line.startswith('SigCgt'))
    return int(caught, 16) >> (signal.SIGINT - 1) & 1


def stacks_of(result):
    """[(frames, weight)], the outermost first."""
    lines = (line.rpartition(' ') for line in result.folded.splitlines())
    return [(tuple(frames.split(';')), int(weight)) for frames, _, weight in lines if weight.isdigit()]


# ---- what there is -----------------------------------------------------------------

def test_a_function_for_each_command(perf_prof, prof):
    rows = map(json.loads, subprocess.run([prof, 'help', '--json'], capture_output=True, text=True, check=True).stdout.splitlines())
    names = {row['command'] for row in rows}
    assert {'profile', 'syscalls', 'stat', 'check'} <= names
    for name in names - {'python', 'sql', 'help', 'version'}:
        name = name.replace('-', '_')
        assert name in dir(perf_prof) and callable(getattr(perf_prof, name)), name
    for name in 'python', 'help', 'version', 'no_such_thing':
        with pytest.raises(AttributeError, match=f'no attribute {name!r}'):
            getattr(perf_prof, name)
    assert perf_prof.profile is perf_prof.profile


def test_help_is_the_commands(perf_prof):
    text = inspect.getdoc(perf_prof.syscalls)
    assert text.startswith('Measure how long system calls take') and '\nthan\n' in text and 'Print each duration above TIME' in text
    assert '\njson\n' not in text and '\noutput\n' not in text
    parameters = inspect.signature(perf_prof.syscalls).parameters
    assert {'command', 'pids', 'seconds', 'call_graph', 'exit_n'} <= set(parameters) and 'output' not in parameters
    assert 'output' in inspect.signature(perf_prof.record).parameters
    assert list(inspect.signature(perf_prof.report).parameters)[0] == 'operands'


def test_importing_the_package_imports_none_of_it(run):
    assert run('import sys, perf_prof; print(sorted(n for n in sys.modules if n.startswith("perf_prof.")))') == \
        "['perf_prof._frames', 'perf_prof._keywords', 'perf_prof._native', 'perf_prof.sessions', 'perf_prof.stacks']\n"


# ---- results -----------------------------------------------------------------------

def test_the_rows_of_a_recording(perf_prof, prof):
    result = perf_prof.report(STACKS)
    line = json.loads(subprocess.run([prof, 'report', '--json', STACKS], capture_output=True, text=True, check=True).stdout)
    assert result.tables[0].to_pylist() == line['rows'] and len(result) == len(line['rows'])
    assert result.rows.columns == tuple(column['name'] for column in line['columns'])
    assert result.rows['function'].to_pylist() == [row.get('function') for row in line['rows']]
    assert [result.rows[name].type for name in ('self', 'count', 'function')] == ['float64', 'int64', 'text']
    assert result.tables[0].info['samples'] == line['samples'] and result.tables[0].units['self'] == '%'
    assert result.returncode is None and result.notes == [] and 'report' in repr(result)


def test_the_text_is_that_of_the_command(perf_prof, prof):
    def words(text):
        return [line.split() for line in text.splitlines()]
    text = subprocess.run([prof, 'report', '--sort', 'dso', STACKS], capture_output=True, text=True, check=True).stdout
    mine = perf_prof.report(STACKS, sort='dso').table()
    assert words(mine) == words(text)[:len(words(mine))] and len(words(mine)) > 2
    assert str(perf_prof.report(STACKS, sort='dso')) == mine
    shown = perf_prof.report(STACKS, sort='dso')._repr_html_()
    assert re.fullmatch('<pre style="font-family: monospace; white-space: pre;[^"]*">(.*)</pre>.*', shown, re.S)[1] == html.escape(mine)


@pytest.mark.parametrize('perins', [False, True])
def test_histograms_are_below_their_table(perf_prof, prof, perins):
    """As the command prints them."""
    events = ['sched:sched_switch//key=prev_pid/', 'sched:sched_switch//key=next_pid/alias=in/']
    words = [prof, 'latency', '-I', RECORDING, '--hist', *(f'-e{event}' for event in events), *['--perins'] * perins]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    expected = text[text.index('\ndurations of '):].replace(' (--json shows all)', '')
    result = perf_prof.latency(input=RECORDING, hist=True, events=events, perins=perins)
    assert str(result).endswith(expected) and '#|' in expected and html.escape(expected) in result._repr_html_()
    assert 'durations of' not in str(perf_prof.latency(input=RECORDING, events=events, perins=perins))


def test_columns_of_lists(perf_prof, reader):
    pyarrow = reader('pyarrow')
    batch = perf_prof._native._batch(('a', 'b', 'c', 'd'), ('text', 'int64', 'float64', 'uint64'),
                                     (['x', None, 'y'], [1, -2, None], [1, 2.5, None], [2 ** 64 - 1, 0, None]))
    table = pyarrow.record_batch(batch)
    table.validate(full=True)
    assert table.to_pylist() == batch.to_pylist() and table['d'][0].as_py() == 2 ** 64 - 1
    assert memoryview(batch['c'][:2]).format == 'd' and batch['c'].to_pylist() == [1.0, 2.5, None]
    empty = perf_prof._native._batch(('a', 'b'), ('text', 'float64'), ([], []))
    assert pyarrow.record_batch(empty).num_rows == len(empty) == 0
    for wrong, kind in (((('a',), ('bool',), ([],)), ValueError), ((('a',), ('int64',), ([2 ** 63],)), OverflowError),
                        ((('a',), ('int64',), ('xyz',)), ValueError), ((('a', 'b'), ('int64', 'text'), ([1], [])), ValueError),
                        ((('a',), ('text',), ([1],)), TypeError), ((('a',), ('uint64',), ([-1],)), OverflowError),
                        ((('a',), (), ()), ValueError), (((1,), ('text',), ([],)), TypeError)):
        with pytest.raises(kind):
            perf_prof._native._batch(*wrong)


def test_a_number_above_2_to_63_makes_its_column_unsigned(perf_prof):
    from perf_prof.results import batch_of
    types = {'n': 'int64', 'text': 'text'}
    assert batch_of([{'n': 1}], types)['n'].type == 'int64'
    assert batch_of([{'n': 1}, {'n': 2 ** 63, 'text': 'x'}, {}], types).to_pylist() == [
        {'n': 1, 'text': None}, {'n': 2 ** 63, 'text': 'x'}, {'n': None, 'text': None}]
    rows = batch_of([{'a': 1, 'b': 'x'}, {'a': 2.5, 'c': [1]}])
    assert rows.columns == ('a', 'b', 'c') and [rows[name].type for name in 'abc'] == ['float64', 'text', 'text']


@pytest.mark.parametrize('option, value, word', [
    ('interval', 1.5, '--interval=1500'), ('interval', '500ms', '--interval=500'), ('than', 0.005, '--than=5000000ns'), ('than', '40us', '--than=40000ns')])
def test_spans_of_time_are_seconds(perf_prof, option, value, word):
    assert perf_prof.analyses.plan(perf_prof.analyses.COMMANDS['waits'], (), {option: value}).words[1] == word


def test_a_span_that_is_none(perf_prof):
    for value, kind in ('5parsecs', TypeError), ('5', TypeError), (True, TypeError), (0, ValueError), ('1us', ValueError):
        with pytest.raises(kind, match=f'interval={value!r}' if kind is TypeError else 'interval='):
            perf_prof.waits(interval=value)


def test_counts_of_user_space_have_the_name_that_was_asked(perf_prof):
    counts = perf_prof.results.Counts(['stat'], '{"events": [{"event": "page-faults:u", "value": 7}]}')
    assert counts['page-faults'] == counts['page-faults:u'] == 7 and 'page-faults' in counts and 'cycles' not in counts


def test_intervals(perf_prof):
    whole = perf_prof.top(input=RECORDING, events='sched:sched_switch')
    parts = perf_prof.top(input=RECORDING, events='sched:sched_switch', interval='1ms')
    assert len(parts.tables) > 1 and parts.rows.columns == ('time', *whole.rows.columns)
    assert len(parts) == sum(map(len, parts.tables))
    column = whole.rows.columns[1]
    assert sum(parts.rows[column].to_pylist()) == sum(whole.rows[column].to_pylist())


def test_events_as_rows(perf_prof):
    result = perf_prof.script(RECORDING)
    with perf_prof.open(RECORDING) as recording:
        events = [event for event in recording.events() if event._lost is None]
    assert result.rows['_event'].to_pylist() == [event._event for event in events]
    assert result.rows['_time'].to_pylist() == [event._time for event in events]
    assert len(result.table().splitlines()) == len(events) + 1


def test_a_result_can_be_pickled(perf_prof):
    import pickle
    result = perf_prof.report(STACKS)
    again = pickle.loads(pickle.dumps((result.rows.to_pylist(), result)))
    assert again[1].rows.to_pylist() == again[0] and again[1].folded == result.folded and str(again[1]) == str(result)


# ---- pictures ----------------------------------------------------------------------

def test_flame_graph(perf_prof, prof, tmp_path):
    result = perf_prof.report(STACKS)
    subprocess.run([prof, 'report', '-q', '--flame-graph', tmp_path / 'r.folded', STACKS], check=True, capture_output=True)
    assert result.folded == (tmp_path / 'r.folded').read_text()
    assert [';'.join(frames) + f' {weight}' for frames, weight in stacks_of(result)] == \
        [line for line in result.folded.splitlines() if line[0] != '#']
    picture = result.flame_graph(title='the <title>')
    picture.save(tmp_path / 'p.svg')
    assert (tmp_path / 'p.svg').read_text() == picture.svg() and 'the &lt;title&gt;' in picture.svg()
    picture.save(tmp_path / 'p.folded')
    assert sorted((tmp_path / 'p.folded').read_text().splitlines()) == sorted(result.folded.splitlines())
    shown = picture._repr_html_()
    assert shown.startswith('<iframe srcdoc="') and 'sandbox="allow-scripts"' in shown and '<svg' not in shown
    half = ''.join(f'{";".join(frames)} 1\n' for frames, _ in stacks_of(result))
    changed = result.flame_graph(before=half).svg()
    assert changed != result.flame_graph(before=result).svg()
    (tmp_path / 'half.folded').write_text(half)
    for path in tmp_path / 'half.folded', str(tmp_path / 'half.folded'):
        assert result.flame_graph(before=path).svg() == changed
    with pytest.raises(FileNotFoundError, match='nosuch.folded'):
        result.flame_graph(before='nosuch.folded')
    with pytest.raises(TypeError, match='before=5: expected a result'):
        result.flame_graph(before=5)
    with pytest.raises(RuntimeError, match='^before, line 1: expected folded stacks'):
        result.flame_graph(before='no\nnumbers\n').svg()
    with pytest.raises(FileNotFoundError, match='nowhere'):
        picture.save(tmp_path / 'nowhere' / 'p.svg')


def test_a_picture_in_a_notebook_is_as_high_as_its_names(perf_prof):
    """And a few deep stacks do not make it higher."""
    from perf_prof._display import picture_html
    from perf_prof.results import FlameGraph

    def frame(folded):
        return re.search('style="border: 0; width: 100%; max-width: 1200px; height: auto; aspect-ratio: 1200 / ([0-9]+)"></iframe>$',
                         picture_html(FlameGraph(folded).svg(), 'the <title>'))[1]
    deep = ';'.join(f'f{i}' for i in range(100))
    assert frame('a;b;c 1000\n') == frame(f'a;b;c 1000\na;{deep} 1\n') == str(40 + 3 * 17 + 30)
    assert frame(f'a;{deep} 1000\n') == str(40 + 101 * 17 + 30)
    assert html.escape('<div>the &lt;title&gt;</div>') in picture_html(FlameGraph('a 1\n').svg(), 'the <title>')


@pytest.mark.live
def test_an_empty_flame_graph_names_no_file(perf_prof, storm_of):
    result = perf_prof.profile(pids=storm_of(1).pid, seconds=0.1)        # which waits
    assert not result.folded and 'there were no samples with a stack: the flame graph is empty' in result.notes


def test_stacks_of_events(perf_prof):
    result = perf_prof.script(STACKS)
    assert sum(weight for _, weight in stacks_of(result)) == len(result) - result.rows['_stack'].null_count > 0
    assert {';'.join(frames[1:]) for frames, _ in stacks_of(result)} == set(result.rows['_stack'].to_pylist()) - {None}
    assert '<svg' in result.flame_graph().svg()


@pytest.mark.live
def test_a_recording_is_a_file(perf_prof, storm, live, tmp_path):
    path = tmp_path / 'r.data'
    result = perf_prof.record(command=[storm, 'getppid', '50'], events='syscalls:sys_enter_getppid', output=path)
    assert result.returncode == 0 and len(perf_prof.script(path)) == 50 and len(result) == 0
    result = perf_prof.trace(command=[storm, 'getppid', '50'], events='syscalls:sys_enter_getppid', call_graph=True)
    assert result.rows['_event'].to_pylist() == ['syscalls:sys_enter_getppid'] * 50
    assert {frames[0] for frames, _ in stacks_of(result)} == {'storm'} and sum(weight for _, weight in stacks_of(result)) == 50
    same = perf_prof.diff(*[STACKS] * 2)
    assert len(same) and set(same.rows['change'].to_pylist()) <= {0.0, None}
    perf_prof.convert(STACKS, to='folded', output=tmp_path / 'c.folded')
    perf_prof.flame_graph(tmp_path / 'c.folded', output=tmp_path / 'c.svg')
    assert '<svg' in (tmp_path / 'c.svg').read_text()


# ---- errors ------------------------------------------------------------------------

@pytest.mark.parametrize('call, error, text', [
    (lambda p: p.profile(colour=1), TypeError, r'profile\(\): unknown parameter colour='),
    (lambda p: p.top(input=RECORDING, events='sched:sched_switch').flame_graph(), ValueError, 'call_graph=True collects them'),
    (lambda p: p.rundelay(input=RECORDING), ValueError, 'lacks; record with `perf-prof record -a -e sched:[a-z_,:]+`$'),
    (lambda p: p.profile(pidss=1), TypeError, r'profile\(\): unknown parameter pidss=; did you mean pids='),
    (lambda p: p.profile(command='./no-such-program'), FileNotFoundError, r'\./no-such-program: there is no such program'),
    (lambda p: p.profile(cgroup='no-such-group'), FileNotFoundError, 'cgroup=no-such-group: there is no control group of this name below'),
    (lambda p: p.profile(json=True), TypeError, 'without json='),
    (lambda p: p.report(RECORDING, output='x'), TypeError, 'without output='),
    (lambda p: p.profile('x'), TypeError, 'with names only'),
    (lambda p: p.report(command='x'), TypeError, 'starts no command'),
    (lambda p: p.profile(inherit=3), TypeError, 'inherit=3: expected True or False'),
    (lambda p: p.profile(pids=[None]), TypeError, 'pids=None: expected a number'),
    (lambda p: p.profile(command=[]), ValueError, 'expected a program'),
    (lambda p: p.profile(pids='x'), ValueError, '^pids=x: unexpected "x"'),
    (lambda p: p.profile(pids=2147483646), ProcessLookupError, r'Errno 3\] pids=2147483646: there is no such process'),
    (lambda p: p.stat(tids=2147483646), ProcessLookupError, 'tids=2147483646: there is no such thread'),
    (lambda p: p.dump(pids=2147483646), ProcessLookupError, 'there is no process 2147483646'),
    (lambda p: p.profile(cpus=60000), ValueError, '^cpus=60000: .*use cpus='),
    (lambda p: p.profile(python=True, cpus=0, command='true'), ValueError,
     '^cpus: it needs samples .*: leave it out, or use python=False$'),
    (lambda p: p.profile(samples=True, command='true'), TypeError, 'without samples='),
    (lambda p: p.top(seconds=1), ValueError, r'expected events=EVENT.*perf_prof\.list\(\)'),
    (lambda p: p.profile(seconds=0), ValueError, '^seconds=0: expected a number of seconds above 0'),
    (lambda p: p.report(RECORDING, sort='x'), ValueError, 'sort=x'),
    (lambda p: p.top(input=RECORDING, events='sched:sched_swich'), ValueError, 'sched_switch'),
    (lambda p: p.report(RECORDING + '.none'), FileNotFoundError, 'No such file'),
    (lambda p: p.stat(command=['no-such-program-here']), FileNotFoundError, 'there is no such program'),
    (lambda p: p.stat(command=['/']), PermissionError, 'cannot execute /'),
    (lambda p: p.stat(command=['true'], events='no-such-event'), ValueError, '^events: there is no event named "no-such-event"'),
    (lambda p: p.stat(command=['ls', 5]), TypeError, r"command=\['ls', 5\]: its item 1 is 5: expected a str or a path"),
    (lambda p: p.stat(command=5), TypeError, 'command=5: expected a list'),
    (lambda p: p.stat(command=''), ValueError, "command='': expected"),
    (lambda p: p.profile(pids=-1), ValueError, 'such as 0-3,7$'),
    (lambda p: p.dump(), ValueError, r'such as dump\(1234\)$'),
    (lambda p: p.convert(RECORDING, to='foo'), ValueError, '^to=foo: there is no such format; expected one of folded, '),
])
@pytest.mark.live
def test_errors(perf_prof, call, error, text):
    with pytest.raises(error, match=text):
        call(perf_prof)


OPTIONS = {'pids': 'pids', 'p': 'pids', 'cpus': 'cpus', 'C': 'cpus', 'o': 'output', 'c': 'count', 'call-graph': 'call_graph',
           'no-fork': 'no_fork'}


@pytest.mark.parametrize('text, expected', [
    ('-p 12: there is no such process; `pgrep -p 1` finds it', 'pids=12: there is no such process; `pgrep -p 1` finds it'),
    ('--pids x: unexpected', 'pids=x: unexpected'), ('top: --pids x', 'top: pids= x'),
    ('leave -C out, or use --no-gil', 'leave cpus= out, or use gil=False'), ('use -C 0-1 (or --gil)', 'use cpus=0-1 (or gil=True)'),
    ('x: --no-fork with --gil, --other', 'x: no_fork= with gil=True, --other'),
    ('mount -o remount, sh -c x; profile/-c 5 -p/', 'mount -o remount, sh -c x; profile/-c 5 -p/'),
    ('more (--call-graph dwarf), -p PID, or -- COMMAND', 'more (call_graph=dwarf), pids=PID, or command=COMMAND'),
    ('a task (-p, -t, -C) (-p PID)', 'a task (pids=, -t, cpus=) (pids=PID)'), ('-p', 'pids='), ('', ''), ('a - b -- c -x --', 'a - b -- c -x --'),
])
def test_options_in_texts_are_parameters(perf_prof, text, expected):
    from perf_prof._parameters import Parameter, in_python
    known = {**{option: Parameter(name, False, ['dwarf']) for option, name in OPTIONS.items()}, 'gil': Parameter('gil', True)}
    assert in_python(text, known, True) == expected
    if text.startswith('--pids x'):
        assert in_python(text, known) == 'pids= x: unexpected'


def test_help_has_parameters_and_no_options(perf_prof):
    from perf_prof.analyses import COMMANDS
    for name in 'profile', 'top', 'task_state', 'stat', 'dump', 'record':
        text = re.sub('`[^`]*`', '', getattr(perf_prof, name).__doc__)
        options = COMMANDS[name].options.values()
        words = [f'--{one.name}' for one in options] + [f'-{one.key}' for one in options if one.key]
        assert not re.findall(rf'(?<![\w/-])(?:{"|".join(map(re.escape, words))})(?![\w/-])', text), text
        names = list(inspect.signature(getattr(perf_prof, name)).parameters)
        assert 'pids' in names and not {'event', 'cgroups', 'mmap_pages', 'p', 'C'} & set(names)


def test_what_a_damaged_recording_has_is_with_the_error(perf_prof, tmp_path):
    with open(STACKS, 'rb') as file:
        data = file.read()
    (tmp_path / 'cut.data').write_bytes(data[:len(data) // 2])
    with pytest.raises(RuntimeError) as caught:
        perf_prof.report(tmp_path / 'cut.data')
    assert 0 < caught.value.result.tables[0].info['samples'] < perf_prof.report(STACKS).tables[0].info['samples']


@pytest.mark.live
def test_who_may_not(folder):
    """As a user who may not trace the machine."""
    for word in 'root', 'nobody':
        if requires.why_not(word):
            pytest.skip(requires.why_not(word))
    code = ('import perf_prof\n'
            'try: perf_prof.syscalls(seconds=1)\n'
            'except PermissionError as e: print("PermissionError", e)\n')
    done = subprocess.run(requires.as_nobody(['env', f'PYTHONPATH={folder}', '/usr/bin/python3', '-c', code]),
                          capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode:
        pytest.skip('needs a build and a Python that nobody can read')
    assert done.stdout.startswith('PermissionError'), done


# ---- live --------------------------------------------------------------------------

@pytest.mark.live
def test_a_command(perf_prof, storm, live):
    result = perf_prof.syscalls(command=[storm, 'getppid', '700'])
    rows = {row['call']: row for row in result.rows.to_pylist()}
    assert rows[CALL]['calls'] == 700 and rows[CALL]['comm'] == 'storm' and result.returncode == 0
    assert result.tables[0].info['lost'] == 0 and CALL in result.table()


@pytest.mark.live
def test_outliers(perf_prof, live):
    result = perf_prof.syscalls(command='sleep 0.05', than='40ms')
    assert any(one['duration'] >= 40_000_000 and 'sleep' in one['what'] for one in result.slow)
    assert result.tables[0].name == 'syscalls'


@pytest.mark.live
@pytest.mark.soak       # beside much other load, not one stack is read while it lives
def test_python_functions_of_a_command(perf_prof, live):
    result = perf_prof.profile(command=[sys.executable, '-c', PYTHON], python=True)
    assert result.rows['function'].to_pylist()[0] == 'hot' and result.tables[0].info['samples'] > 0
    assert any(frames[-1].startswith('hot') for frames, _ in stacks_of(result))


@pytest.mark.live
def test_the_command_writes_where_python_does(run, live):
    """Its stdout is ours; its stderr becomes sys.stderr's; the result is its own."""
    code = ('import io, sys, perf_prof\n'
            'sys.stderr = io.StringIO()\n'
            'r = perf_prof.stat(command="echo out; echo err >&2; echo perf-prof: mine >&2; exit 3", events="page-faults")\n'
            'print(r.returncode, r["page-faults"] > 0, repr(sys.stderr.getvalue()))\n')
    assert run(code) == "out\n3 True 'err\\n'\n"


@pytest.mark.live
def test_counts(perf_prof):
    counts = perf_prof.stat(command=['true'], events=['page-faults:u', 'task-clock:u'], repeat=3)
    assert list(counts) == counts.keys() == ['page-faults:u', 'task-clock:u'] and counts['page-faults:u'] > 10
    assert dict(counts.items())['task-clock:u'] > 0 and counts.elapsed > 0 and 'task-clock:u' in counts
    assert counts.rows['event'].to_pylist() == list(counts) and counts.data[0]['runs'] == 3
    with pytest.raises(KeyError, match='page-faults:u, task-clock:u'):
        counts['cycles']


def test_a_reason_of_many_counts_is_shown_once(perf_prof):
    from perf_prof.results import Counts
    events = [{'event': 'page-faults', 'value': 5}, *({'event': name, 'why': 'there is no <counter>'} for name in ('cycles', 'branches'))]
    counts = Counts(['stat'], json.dumps({'events': events}))
    table = 'event        value\npage-faults  5\ncycles       -\nbranches     -'
    assert str(counts) == f'{table}\ncycles, branches: there is no <counter>'
    assert f'>{table}</pre><p>cycles, branches: there is no &lt;counter&gt;</p>' in counts._repr_html_()
    assert counts.rows['why'].to_pylist() == [None, *['there is no <counter>'] * 2]


@pytest.mark.live
def test_features_and_list(perf_prof, prof):
    features = perf_prof.check()
    known = json.loads(subprocess.run([prof, 'check', '--json'], capture_output=True, text=True, check=True).stdout)
    assert {name: features[name] for name in features} == {one['name']: one['works'] for one in known['features']}
    assert features.kernel == os.uname().release and features['software'] is True
    wrong = [name for name in features if not features[name]]
    if wrong:
        assert not perf_prof.check(wrong[0])[wrong[0]]
    with pytest.raises(ValueError, match='no-such-feature'):
        perf_prof.check('no-such-feature')
    assert {'kind': 'software', 'name': 'page-faults'}.items() <= perf_prof.list('page-faults')[0].items()


# ---- the ends of runs --------------------------------------------------------------

@pytest.mark.parametrize('name, counts, notes', [
    ('rundelay', (3, 1, 2), ['not counted: 3 periods whose beginning or end the kernel did not report']),
    ('task-state', (9, 0, 1), ['not counted: 1 period whose beginning or end the kernel did not report']), ('rundelay', (9, 0, 0), []),
    ('syscalls', (1, 0, 2), ['incomplete calls: 1 still running at the end, 2 already running at the start']), ('syscalls', (0, 0, 0), []),
])
def test_what_is_not_in_the_rows_is_noted(perf_prof, name, counts, notes):
    """As the command says it below its table."""
    from perf_prof import results
    table = results.Table({'table': name, 'columns': [], 'rows': [],
                           'counts': dict(zip(('open', 'restarted', 'unbegun'), counts))})
    assert results.uncounted([table], False) == notes
    assert results.uncounted([table], True) == ([] if name == 'syscalls' else notes)


# Without every other switch, there are periods without a beginning or an end.
INCOMPLETE = 'sched:sched_switch/next_pid&1/,sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_process_exit'


@pytest.fixture(scope='module')
def incomplete(prof, tmp_path_factory):
    if reason := requires.root() or requires.tracefs():
        pytest.skip(reason)
    path = tmp_path_factory.mktemp('incomplete') / 'r.data'
    subprocess.run([prof, 'record', '-q', '-a', '-m', '16M', '-o', path, '-e', INCOMPLETE, '--', 'sleep', '0.2'], check=True, timeout=60)
    return path


@pytest.mark.live
def test_results_have_these_notes(prof, perf_prof, incomplete):
    text = subprocess.run([prof, 'rundelay', '-I', incomplete], capture_output=True, text=True, check=True, timeout=60).stdout
    told = [line for line in text.splitlines() if line.startswith('not counted: ')]
    assert told and told == [note for note in perf_prof.rundelay(input=incomplete).notes if note.startswith('not counted')]


@pytest.mark.parametrize('source', ['rundelay', 'task-state'])
@pytest.mark.live
def test_what_is_not_among_the_events_is_noted(perf_prof, incomplete, source):
    with perf_prof.open(incomplete, source) as s:
        for _ in s:
            pass
        assert re.fullmatch(source + r': [1-9]\d* periods? (is|are) not among the events: the kernel did not report the beginning or the end',
                            next(note for note in s.notes if 'not among' in note))


@pytest.mark.live
def test_numbers_of_numpy(perf_prof, live, reader):
    numpy = reader('numpy')
    for pid in numpy.int64(os.getpid()), numpy.array([os.getpid()]):
        began = time.monotonic()
        result = perf_prof.rundelay(pids=pid, seconds=numpy.float32(0.1))
        assert result.returncode is None and result.tables[0].name == 'rundelay' and time.monotonic() - began >= 0.1


KILLED = """
import os, signal, threading, time, perf_prof
def kill():
    while not (children := open(f'/proc/self/task/{os.getpid()}/children').read().split()): time.sleep(0.01)
    while 'perf-prof' not in open(f'/proc/{children[0]}/comm').read(): time.sleep(0.01)
    os.kill(int(children[0]), signal.SIGKILL)
threading.Thread(target=kill).start()
try:
    print(perf_prof.syscalls(command=['sleep', '3']))
except RuntimeError as error:
    print(error)
"""


@pytest.mark.live
def test_a_killed_perf_prof_is_an_error(run, live):
    assert run(KILLED) == 'perf-prof was ended by SIGKILL\n'


INTERRUPTED = inspect.getsource(handles_signals) + """
import os, signal, sys, threading, time, perf_prof
from perf_prof import _command
def interrupt(run):
    while not handles_signals(run.process.pid): time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)
class Run(_command.Run):
    is_watched = False
    def _follow(self):
        if not self.is_watched:
            self.is_watched = True
            threading.Thread(target=interrupt, args=(self,), daemon=True).start()
        super()._follow()
_command.Run = Run
"""


@pytest.mark.parametrize('arguments, answer', [('cpus=0', 'task-state'), ('cpus=0, seconds=1000', 'interrupted')])
@pytest.mark.live
def test_ctrl_c(run, live, arguments, answer):
    """A run without an end of its own ends with its result, as the command does; others are stopped."""
    out = run(INTERRUPTED + f'try: print(perf_prof.task_state({arguments}).tables[0].name)\n'
              'except KeyboardInterrupt: print("interrupted")\n'
              'try: os.waitpid(-1, os.WNOHANG)\nexcept ChildProcessError: print("no child")\n')
    assert out == f'{answer}\nno child\n'


@pytest.mark.parametrize('call', ['task_state', 'stat'])
@pytest.mark.live
def test_a_run_does_not_outlive_its_python(folder, live, wait_for, call):
    python = subprocess.Popen([sys.executable, '-c', f'import perf_prof; perf_prof.{call}(cpus=0)'],
                              env={**os.environ, 'PYTHONPATH': folder})
    wait_for(lambda: any(name == 'perf-prof' for name in children_of(python.pid).values()))
    child, = children_of(python.pid)
    python.kill()
    python.wait()
    wait_for(lambda: not os.path.exists(f'/proc/{child}/exe'))


def test_no_descriptor_stays_open(perf_prof):
    def look():
        return set(os.listdir('/proc/self/fd'))
    perf_prof.report(STACKS)
    gc.collect()    # sessions of other tests
    before = look()
    perf_prof.report(STACKS).flame_graph().svg()
    perf_prof.stat(command=['true'], events='page-faults:u')
    with pytest.raises(ValueError):
        perf_prof.report(STACKS, sort='x')
    assert not look() - before


@pytest.mark.live
def test_a_program_that_ignores_the_ends_of_children(run, live):
    assert run('import signal, perf_prof\n'
               'signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n'
               'r = perf_prof.stat(command="exit 3", events="page-faults")\n'
               'print(r.returncode, r["page-faults"] > 0, perf_prof.task_state(cpus=0, seconds=0.1).tables[0].name)\n'
               'try: perf_prof.stat(command="true", events="no-such-event")\n'
               'except RuntimeError as e: print(e)\n'
               ).startswith('None True task-state\nevents: there is no event named')


# ---- where the program is ----------------------------------------------------------

def test_the_program_is_the_packages_own(perf_prof, prof):
    from perf_prof import _command
    assert os.path.realpath(_command.program()) == os.path.realpath(prof)


def test_never_one_of_the_path_or_of_the_current_folder(run, folder, tmp_path):
    """A copy of the package elsewhere has no program."""
    for place in tmp_path / 'perf-prof', tmp_path / 'bin' / 'perf-prof', tmp_path / 'python' / 'perf-prof':
        place.parent.mkdir(exist_ok=True)
        place.write_text('#!/bin/sh\necho wrong program\n')
        place.chmod(0o755)
    subprocess.run(['cp', '-r', os.path.join(folder, 'perf_prof'), tmp_path / 'python' / 'perf_prof'], check=True)
    done = subprocess.run([sys.executable, '-c', 'import perf_prof; print(perf_prof.list("page-faults"))'], cwd=tmp_path,
                          env={**os.environ, 'PYTHONPATH': str(tmp_path / 'python'), 'PATH': f'{tmp_path}/bin:{os.environ["PATH"]}'},
                          capture_output=True, text=True)
    assert done.returncode == 1 and 'FileNotFoundError' in done.stderr and 'wrong program' not in done.stdout, done


# ---- notebooks ---------------------------------------------------------------------

SHELL = """
import sys, types, perf_prof
shown = []
display = types.ModuleType('IPython.display')
display.display = shown.append
sys.modules['IPython'], sys.modules['IPython.display'] = types.ModuleType('IPython'), display
class InteractiveShell:     # what IPython has between the magic and the cell
    def register_magic_function(self, function, kind, name):
        assert (kind, name) == ('cell', 'perf_prof')
        self.magic = function
    def run_cell(self, cell):
        self.run_code(compile(cell, '<ipython-input-1>', 'exec'))
    def run_code(self, code):
        exec(code, self.user)
shell = InteractiveShell()
shell.user = {}
perf_prof.load_ipython_extension(shell)
"""


@pytest.mark.live
def test_a_cell_that_takes_no_time(run, live):
    assert run(SHELL + 'for i in range(20): shell.magic("", "x = 1")\nprint(len(shown), "<svg" in shown[-1].svg())') == '20 True\n'


@pytest.mark.live
@pytest.mark.soak     # a starved program has no samples
def test_what_runs_a_cell_is_in_no_stack_of_it(run, live):
    """Neither in the table, nor in stacks and pictures. The cell's names are the shell's, and a picture is shown."""
    out = run(SHELL + f'result = shell.magic("-F 500 -g", {PYTHON!r})\n'
              'names = set(result.rows["function"].to_pylist())\n'
              'print("hot" in names, sorted(n for n in names if "Interactive" in n or "perf_prof" in n))\n'
              'print({line.split(";")[1] for line in result.folded.splitlines() if line.rpartition(";")[2].startswith("hot")})\n'
              'print("run_code" in str(result), "run_code" in result.folded)\n'
              'print(result.rows["function"].to_pylist()[0], result.tables[0].info["samples"] > 0, "hot" in shell.user)\n'
              'print(type(shown[0]).__name__, "hot" in shown[0].svg())\n')
    assert out == "True []\n{'<module> (<ipython-input-1>:1)'}\nFalse False\nhot True True\nFlameGraph True\n"


@pytest.mark.parametrize('line, command', [
    ('-- sleep 1', ['sleep', '1']), ('sleep 1', ['sleep', '1']), ('-F 500 sleep 1', ['sleep', '1']), ('--no-python sleep', ['sleep']),
    *((f'{options} ./job', ['./job']) for options in ('-g', '-F999', '-vq', '-gv', '-gF 999', '--call-graph', '--call-graph dwarf,4096',
                                                     '-g fp', '--freq=999', '--freq 999', '--no-inline', '-C 0 -N 5')),
])
def test_the_magic_starts_no_command(run, line, command):
    assert run(SHELL + f'try: shell.magic({line!r}, "ran = 1")\nexcept ValueError as e: print(e)\nprint("ran" in shell.user)') == (
        f'%%perf_prof {line}: it profiles the cell and starts no command: expected only options of `perf-prof profile`; '
        f'perf_prof.profile(command={command!r}) profiles a command\nFalse\n')
