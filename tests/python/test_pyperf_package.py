# SPDX-License-Identifier: Apache-2.0
"""pyperf as a package: pip, the stubs, help(), the page in docs/."""
import ast
import os
import re
import shutil
import sys

import pytest

from frame import house, requires
from frame.session import ran

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, 'docs/pyperf.md')


def stub(name):
    with open(os.path.join(ROOT, 'python/pyperf', name)) as f:
        return ast.parse(f.read())


def members(body):
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name, node
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id, node


def shown(o):
    return {name for name in vars(o) if not name.startswith('__')}


def test_stub_has_all_names(pyperf):
    declared = dict(members(stub('_pyperf.pyi').body))
    real = shown(pyperf._pyperf)
    assert real - set(declared) == set()
    assert {n for n in declared if not n.startswith('_')} - real == set()
    closing = set(dict(members(declared['_Closing'].body)))
    for name, node in declared.items():
        if not isinstance(node, ast.ClassDef) or name in ('_Closing', '_HasFileno', '_Text'):
            continue
        inside = set(dict(members(node.body)))
        missing = shown(getattr(pyperf._pyperf, name)) - inside - closing
        assert missing == set(), name
        wrong = {n for n in inside if not hasattr(getattr(pyperf._pyperf, name), n)}
        assert wrong - {'asked', 'said', 'remedy', 'at', '__iter__'} == set(), name


def test_stub_of_the_constructor_has_every_field(pyperf):
    node = dict(members(stub('_pyperf.pyi').body))['perf_event_attr']
    init = dict(members(node.body))['__init__']
    assert [a.arg for a in init.args.kwonlyargs] == list(pyperf.perf_event_attr().asdict())


def test_all_names_are_there(pyperf):
    for name in pyperf.__all__:
        assert hasattr(pyperf, name), name
    assert {'Event', 'Comm', 'Mmap', 'PERF_TYPE_SOFTWARE', 'PR_TASK_PERF_EVENTS_ENABLE', 'HW_BREAKPOINT_W'} <= set(pyperf.__all__)
    assert len(pyperf.__all__) == len(set(pyperf.__all__))


def test_help_teaches(pyperf):
    import pydoc
    text = pydoc.plain(pydoc.render_doc(pyperf))
    for words in ('perf_event_open(attr, pid=0, cpu=-1, group_fd=-1, flags=0)', 'with pyperf.measure',
                  'class Ring', 'follow(self', 'samples a second, with freq', 'PERF_SAMPLE_IP'):
        assert words in text, words
    for name in pyperf.__all__:
        o = getattr(pyperf, name)
        assert isinstance(o, int) or o.__doc__, name


@pytest.mark.live
def test_docstring_of_the_module(pyperf):
    import doctest
    results = doctest.testmod(pyperf)
    assert results.attempted >= 10 and results.failed == 0


def page_blocks():
    with open(PAGE, encoding='utf-8') as f:
        text = f.read()
    return re.findall(r'(?:<!-- needs ([\w ]+) -->\n)?```python\n(.*?)```', text, re.S)


@pytest.mark.parametrize('needs, block', page_blocks())
@pytest.mark.live
def test_block_of_the_page(pyperf, build, needs, block):
    for word in needs.split():
        reason = requires.why_not(word)
        if reason:
            pytest.skip(reason)
    done = ran([sys.executable, '-W', 'error', '-c', block], env={**os.environ, 'PYTHONPATH': os.path.join(build, 'python')})
    assert done.returncode == 0 and done.stdout and not done.stderr, done.stderr


# ---------------------------------------------------------------- make install, pip

def run(argv, env=None, **kwargs):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(('PYTHON', 'PIP_', 'VIRTUAL_ENV', 'LD_PRELOAD'))}
    done = ran(argv, timeout=300, env={**kept, 'CFLAGS': '-O0', **(env or {})}, **kwargs)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope='module')
def venv(tmp_path_factory):
    """The Python of a fresh environment; pip finds meson-python for it."""
    reason = house.why_not() or requires.why_not('program:git')
    if reason:
        pytest.skip(reason)
    return house.environment('/usr/bin/python3', str(tmp_path_factory.mktemp('venv') / 'v'))


@pytest.fixture(scope='module')
def checkout(tmp_path_factory):
    """The project's files: an installation leaves its traces there, not in ours."""
    return house.checkout(str(tmp_path_factory.mktemp('checkout') / 'c'))


USE = ('import pyperf; m = pyperf.measure("page-faults", lambda: bytearray(1 << 20));'
       'print(m["page-faults"].value > 200, pyperf.__file__)')


@pytest.mark.deep
@pytest.mark.slow
def test_pip_install(venv, checkout):
    house.pip(venv, 'install', os.path.join(checkout, 'python'))
    assert house.run(venv, '-c', USE).startswith(f'True {os.path.dirname(os.path.dirname(venv))}')
    files = house.run(venv, '-m', 'pip', 'show', '-f', 'perf-prof-pyperf')
    for name in ('pyperf/__init__.py', 'pyperf/_pyperf.pyi', 'pyperf/py.typed', 'pyperf/_pyperf.'):
        assert name in files


@pytest.mark.deep
@pytest.mark.slow
def test_sdist_builds_by_itself(venv, checkout, tmp_path):
    house.pip(venv, 'install', '--require-hashes', '-r', house.LOCK)
    archive = house.sdist(venv, os.path.join(checkout, 'python'), str(tmp_path / 'sdist'))
    house.pip(venv, 'install', '--force-reinstall', archive)
    assert house.run(venv, '-c', USE).startswith('True')


# ---------------------------------------------------------------- the other pyperf

@pytest.fixture
def mixed(build, pyperf, tmp_path):
    """What is there after both distributions were installed, ours last."""
    shutil.copytree(os.path.dirname(pyperf.__file__), tmp_path / 'pyperf', ignore=shutil.ignore_patterns('*.p'))
    (tmp_path / 'pyperf/_runner.py').write_text('class Runner: pass\n')
    return str(tmp_path)


def in_mixed(mixed, code):
    return ran([sys.executable, '-c', code], cwd='/', env={**os.environ, 'PYTHONPATH': mixed})


@pytest.mark.live
def test_import_names_the_clash(mixed):
    done = in_mixed(mixed, USE)
    assert done.stdout.startswith('True') and 'RuntimeWarning: pyperf of perf-prof: the distribution "pyperf"' in done.stderr
    assert 'perf_prof.raw' in done.stderr


def test_what_only_the_other_has_names_the_clash(mixed):
    done = in_mixed(mixed, 'import pyperf; pyperf.Runner()')
    assert done.returncode == 1 and "AttributeError: pyperf of perf-prof has no 'Runner'" in done.stderr


def test_raw_names_the_clash_too(mixed, pyperf):
    """It is told where `import pyperf` imports the other one."""
    raw = os.path.join(os.path.dirname(pyperf.__file__), '../perf_prof/raw')
    shutil.copytree(raw, os.path.join(mixed, 'perf_prof/raw'), ignore=shutil.ignore_patterns('*.p'))
    done = in_mixed(mixed, 'import perf_prof.raw')
    assert done.returncode == 0 and 'RuntimeWarning: perf_prof.raw: `import pyperf` does not' in done.stderr
    assert 'use perf_prof.raw' not in done.stderr
    assert in_mixed(mixed, 'import warnings; warnings.simplefilter("error"); import perf_prof.raw').returncode == 0
    os.unlink(os.path.join(mixed, 'pyperf/_pyperf.pyi'))
    assert in_mixed(mixed, 'import perf_prof.raw').stderr == ''


@pytest.mark.slow
@pytest.mark.live
def test_make_install(pyperf, build, prof, tmp_path):
    """It is installed where the embedded Python looks, and a script of perf-prof can import it."""
    if not os.path.exists(os.path.join(build, 'build.ninja')):
        pytest.skip('needs a build folder of meson')
    run(['meson', 'install', '-C', build, '--no-rebuild', '--quiet', '--destdir', str(tmp_path)])
    found = [folder for folder, _, files in os.walk(tmp_path) if '_pyperf.pyi' in files]
    assert sorted(os.path.relpath(folder, os.path.commonpath(found)) for folder in found) == ['perf_prof/raw', 'pyperf']
    found.sort(key=lambda folder: not folder.endswith('pyperf'))
    run([sys.executable, '-c', USE], env={'PYTHONPATH': os.path.dirname(found[0])})
    target = '/' + os.path.relpath(os.path.dirname(found[0]), tmp_path)
    with open(os.path.join(build, 'meson-logs/meson-log.txt')) as log:
        said = re.search(r'modules for Python \S+ go to (\S+)', log.read())
    assert said.group(1) == target


def test_import_from_the_sources():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../python')
    done = ran([sys.executable, '-c', 'import pyperf'], env={'PYTHONPATH': folder})
    assert done.returncode == 1
    assert done.stderr.endswith('ImportError: pyperf is not built in this folder: build it (make) and use build/python, or '
                                'install it (pip install ./python)\n')


@pytest.mark.live('tracefs', 'root')
def test_import_in_a_script_of_perf_prof(pyperf, build, prof, tmp_path):
    script = tmp_path / 'uses_pyperf.py'
    # perf-prof takes no PYTHONPATH; what is installed, it finds
    script.write_text('import os, sys\n'
                      f'sys.path.append({os.path.join(build, "python")!r})\n'
                      'import pyperf\n'
                      'counted = []\n'
                      'def __sample__(event):\n'
                      '    if counted: return\n'
                      '    with pyperf.measure("page-faults") as m: bytearray(64 << 20)\n'
                      '    counted.append(m["page-faults"].value > 0)\n'
                      '    print("counted", counted[0])\n'
                      '    os.kill(os.getpid(), 2)\n')
    out = run([prof, 'python', '-e', 'sched:sched_wakeup', str(script)])
    assert 'counted True' in out
