# SPDX-License-Identifier: Apache-2.0
"""The package perf_prof of the build folder: what can be imported, and what its types are called."""
import glob
import os
import re
import sys

import pytest

from frame import requires
from frame.session import ran
from test_pyperf_package import page_blocks

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@pytest.fixture
def run(build):
    """run(CODE): what it prints, in a Python that finds the build folder's packages."""
    folder = os.path.join(build, 'python')
    if not os.path.isdir(os.path.join(folder, 'perf_prof')):
        pytest.skip('needs a build with Python')

    def start(code, *flags):
        done = ran([sys.executable, *flags, '-c', code], cwd='/', env={**os.environ, 'PYTHONPATH': folder})
        assert done.returncode == 0, done.stderr
        return done.stdout
    return start


def test_version(run):
    with open(os.path.join(ROOT, 'meson.build')) as f:
        version = f.read().split("version: '")[1].split("'")[0]
    assert run('import perf_prof; print(perf_prof.__version__)') == version + '\n'


@pytest.mark.parametrize('code, shown', [
    ('import perf_prof as p; print(p.PerfEvent, p.Frame, set(p.__all__) <= set(dir(p)))',
     "<class 'perf_prof.PerfEvent'> <class 'perf_prof.Frame'> True"),
    # an event cannot be unpickled without a run
    ('import perf_prof\ntry: perf_prof._restore("x", 1, 0, b"", None, None)\nexcept ValueError as e: print("ValueError")', 'ValueError'),
    # nothing of the module is global: import it anew, and both work
    ('import sys, perf_prof; one = perf_prof.PerfEvent\n'
     'for name in [n for n in sys.modules if n.startswith("perf_prof")]: del sys.modules[name]\n'
     'import perf_prof; print(one is perf_prof.PerfEvent, one.__name__)', 'False PerfEvent'),
    # perf_prof.raw is pyperf under another name, and their errors are not mixed up
    ('import pyperf, perf_prof.raw as raw\n'
     'print(set(pyperf.__all__) == set(raw.__all__), raw.Event.__module__, raw.Sample.__module__, raw.Error.__module__)\n'
     'try: raw.parse("no such event")\n'
     'except raw.Error as e: print(isinstance(e, pyperf.Error))', 'True perf_prof.raw perf_prof.raw perf_prof.raw\nFalse'),
])
def test_what_it_says(run, code, shown):
    assert run(code) == shown + '\n'


@pytest.mark.live
def test_raw_counts(run):
    assert run('from perf_prof import raw\n'
               'print(raw.measure("page-faults", lambda: bytearray(1 << 20))["page-faults"].value > 200)') == 'True\n'


def test_importing_takes_little(run):
    """What takes long to import is imported once it is needed."""
    heavy = 'asyncio', 'subprocess', 'inspect', 'json', 'html', 'duckdb', 'pandas', 'IPython'
    assert run(f'import sys, perf_prof; print([name for name in {heavy} if name in sys.modules])') == '[]\n'


RIGHT = '''
import perf_prof, pyperf
r = perf_prof.profile(pid=1, seconds=0.5, call_graph="dwarf", sort=["comm"])
print(r.flame_graph().svg(), r.rows["self"], perf_prof.stat(command=["true"], events="cycles")["cycles"])
print(perf_prof.report("x", than=1).tables[0].info, perf_prof.list("sched:*")[0]["name"], perf_prof.check().keys())
with perf_prof.open("x") as s:
    print(s.pl(), s.losses["count"], s.stacks.flame_graph().svg(), [batch.arrow() for batch in s], r.diff(r).folded)
    print(s.aggregate("_cpu").losses.df(), s.stream("cpu-clock").df())
attr = pyperf.perf_event_attr()
attr.kprobe_func = "vfs_read"
attr.uprobe_path = b"/bin/sh"
'''
WRONG = (
    'perf_prof.profile(colour=1)', 'perf_prof.syscalls(perins=3)', 'perf_prof.report(command="x")', 'perf_prof.proflie()',
    'pyperf.Event("cpu-clock").no_such_method()',
    '[r.ip for r in pyperf.Ring(pyperf.Event("cpu-clock")) if not isinstance(r, (pyperf.Lost, pyperf.Sample))]',
)
OF_STRICT = re.compile(r'/block\d+\.py:.*\[(no-untyped-def|no-untyped-call|type-arg|no-any-return|misc)\]$')


@pytest.mark.deep
@pytest.mark.slow
def test_checked_types(build, tmp_path):
    """A checker takes both packages, what is right and the code of docs/pyperf.md, and finds each wrong line."""
    reason = requires.why_not('program:mypy')
    if reason or not os.path.isdir(os.path.join(build, 'python/perf_prof')):
        pytest.skip(reason or 'needs a build with Python')
    (tmp_path / 'right.py').write_text(RIGHT)
    (tmp_path / 'wrong.py').write_text('\n'.join(['import perf_prof, pyperf', *WRONG, '']))
    for i, (_, block) in enumerate(page_blocks()):
        (tmp_path / f'block{i}.py').write_text(block)
    done = ran(['mypy', '--strict', *glob.glob(os.path.join(build, 'python/perf_prof/*.py')),
                *(os.path.join(build, 'python', name) for name in ('pyperf', 'perf_prof_pytest')), *tmp_path.glob('*.py')], cwd=tmp_path,
               env={**os.environ, 'MYPYPATH': os.path.join(build, 'python')})
    errors = [line for line in done.stdout.splitlines() if ': error: ' in line and not OF_STRICT.search('/' + line)]
    assert [re.sub(r':.*: error:.*', '', line) + ':' + line.split(':')[1] for line in errors] == [
        f'wrong.py:{n}' for n in range(2, 2 + len(WRONG))], done.stdout
