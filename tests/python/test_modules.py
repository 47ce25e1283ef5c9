# SPDX-License-Identifier: Apache-2.0
"""What can stand as the script, where it is looked up, and what it can import."""
import functools
import os
import subprocess

import pytest

from frame import requires
from frame.session import ran

live = pytest.mark.live('tracefs', 'root')

PYTHON = '/usr/bin/python3'
OLD = 'old.cpython-36m-x86_64-linux-gnu.so'
SEEN = "def __sample__(e): print('seen', flush=True)\n"
SHOW = "import sys\nprint('name', __name__, 'file', __file__)\n" + SEEN
C_MODULE = '''
#include <Python.h>
static PyObject *sample(PyObject *self, PyObject *event)
{
	PyObject *pid = PyObject_GetAttrString(event, "_pid");
	if (!pid)
		return NULL;
	printf("seen %s\\n", PyLong_Check(pid) ? "pid" : "?");
	fflush(stdout);
	Py_DECREF(pid);
	Py_RETURN_NONE;
}
static PyMethodDef methods[] = { { "__sample__", sample, METH_O, NULL }, { NULL } };
static struct PyModuleDef def = { PyModuleDef_HEAD_INIT, "@NAME", NULL, @SIZE, methods };
PyMODINIT_FUNC PyInit_@NAME(void)
{
	return @MADE(&def);
}
'''


@functools.lru_cache(None)
def ask(code):
    """What the Python that is embedded says."""
    return ran([PYTHON, '-c', 'import sys, sysconfig; print(' + code + ')'], check=True).stdout.strip()


def version():
    return ask('"%d.%d" % sys.version_info[:2]')


def suffix():
    return ask('sysconfig.get_config_var("EXT_SUFFIX")')


def compile_c(folder, source, file):
    subprocess.run(['cc', '-shared', '-fPIC', '-w', '-I' + ask('sysconfig.get_path("include")'), '-o', file,
                    '-x', 'c', source], cwd=folder, check=True)


def build_c(folder, name, file, old=False):
    """A plain C extension module; old: made in one phase."""
    source = C_MODULE.replace('@NAME', name).replace('@SIZE', '-1' if old else '0')
    source = source.replace('@MADE', 'PyModule_Create' if old else 'PyModuleDef_Init')
    (folder / 'module.c').write_text(source)
    compile_c(folder, 'module.c', file)


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


def loaded(done):
    """The path that the first line of stdout names."""
    first = done.stdout.splitlines()[0]
    assert first.startswith('Loaded module: '), done
    return first[len('Loaded module: '):]


@pytest.fixture
def python(replay):
    """Where the events come from is the same to all of this."""
    return replay


# ---- files ----------------------------------------------------------------------------

@pytest.mark.parametrize('typed, file, name', [
    ('s.py', 's.py', 's'), ('./s.py', 's.py', 's'), ('{}/s.py', 's.py', 's'),
    ('sub/s.py', 'sub/s.py', 's'), ('my-script.v2.py', 'my-script.v2.py', 'my_script_v2'),
    ('tool', 'tool', 'tool'), ('s', 's.py', 's'),
    ('pack', 'pack/__init__.py', 'pack'), ('pack/', 'pack/__init__.py', 'pack'),
    ('sub/pack', 'sub/pack/__init__.py', 'pack'), ('pack/part.py', 'pack/part.py', 'part'),
    ('pack.part', 'pack/part.py', 'pack.part'),
])
def test_files_and_names(python, tmp_path, typed, file, name):
    write(tmp_path, {file: SHOW})
    if typed == 'pack.part':
        write(tmp_path, {'pack/__init__.py': ''})
    done = python(typed.format(tmp_path))
    assert loaded(done) == str(tmp_path / file)
    assert done.stdout.splitlines()[1:] == [f'name {name} file {tmp_path / file}', 'seen']


def test_nothing_is_imported_that_the_script_does_not_ask_for(python, tmp_path):
    """Modules of the standard library would be most of the time that a start takes."""
    (tmp_path / 's.py').write_text(
        'import sys\nhere = set(sys.modules)\nimport subprocess\n'
        'bare = subprocess.run([sys.executable, "-I", "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True)\n'
        'def __init__():\n    print("more:", *sorted(here - set(bare.stdout.split())))\n    sys.exit()\n'
        'def __sample__(e): pass\n')
    assert python('s.py').stdout.splitlines()[1] == 'more: _perf_prof_finder _perf_prof_handlers _perf_prof_loader perf_prof s'


def test_a_file_without_an_extension_and_its_shebang(python, tmp_path, prof):
    write(tmp_path, {'watch': f'#!/usr/bin/env -S perf-prof python -I {python.source[1]} -N 1\n' + SHOW})
    (tmp_path / 'watch').chmod(0o755)
    env = {**os.environ, 'PATH': os.path.dirname(prof) + ':' + os.environ['PATH']}
    done = ran(['./watch'], cwd=tmp_path, env=env)
    assert done.stdout.splitlines()[1:] == [f'name watch file {tmp_path}/watch', 'seen']
    assert not done.stderr and not (tmp_path / '__pycache__').exists()


def test_a_shell_hands_over_a_script_by_descriptor(python):
    done = ran(['bash', '-c', f'{python.prof} python -I {python.source[1]} -N 1 '
                '<(echo "def __sample__(e): print(1+1)")'])
    assert done.stdout.splitlines()[1] == '2' and done.returncode == 0


def test_bytecode(python, tmp_path):
    write(tmp_path, {'s.py': SEEN})
    subprocess.run([PYTHON, '-c', 'import py_compile; py_compile.compile("s.py", "t.pyc")'], cwd=tmp_path, check=True)
    assert python('t.pyc').stdout.splitlines()[1:] == ['seen']
    assert python('t').stdout.splitlines()[1:] == ['seen']


def test_bytecode_beside_a_script_is_not_read(python, tmp_path):
    write(tmp_path, {'s.py': SEEN, 'other.py': SEEN.replace('seen', 'stale')})
    code = ('import py_compile, importlib.util as u\n'
            'py_compile.compile("other.py", u.cache_from_source("s.py"), '
            'invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)')
    subprocess.run([PYTHON, '-c', code], cwd=tmp_path, check=True)
    assert python('s.py').stdout.splitlines()[1:] == ['seen']


@pytest.mark.parametrize('old', [False, True])
@pytest.mark.parametrize('file', ['plain.so', 'plain.abi3.so', 'plain{}', 'json.so'])
def test_c_modules(python, tmp_path, file, old):
    """By their file and by their name; also one that is called as a standard module."""
    file, name = file.format(suffix()), file[:file.index('.') if '.' in file else 5]
    build_c(tmp_path, name, file, old)
    for typed in (file, *[name] * (name != 'json')):
        done = python(typed)
        assert loaded(done) == str(tmp_path / file)
        assert done.stdout.splitlines()[1:] == ['seen pid']


# ---- names and folders ----------------------------------------------------------------

@pytest.mark.parametrize('name', ['io', 'json', 'os', 'sys', 'perf_prof', 'types', 'code'])
def test_scripts_named_like_standard_modules(python, tmp_path, name):
    write(tmp_path, {f'{name}.py': 'import io, json, os, sys, types\n'
                     'print(json.dumps([1]), io.StringIO("x").read(), os.sep, types.SimpleNamespace(a=1))\n'
                     'print(__name__)\n' + SEEN})
    for typed in (f'{name}.py', name):
        done = python(typed)
        assert loaded(done) == str(tmp_path / f'{name}.py')
        assert done.stdout.splitlines()[1:] == ['[1] x / namespace(a=1)', f'script_{name}', 'seen']


def test_a_name_is_looked_up_here_and_then_on_the_path(python, tmp_path):
    site = tmp_path / 'venv/lib' / f'python{version()}' / 'site-packages'
    subprocess.run([PYTHON, '-m', 'venv', '--without-pip', tmp_path / 'venv'], check=True)
    write(site, {'both.py': SEEN, 'there.py': SEEN, 'pack/__init__.py': '', 'pack/mod.py': SEEN})
    write(tmp_path / 'cwd', {'both.py': SEEN, 'two/__init__.py': SEEN, 'two.py': SEEN})
    here = str(tmp_path / 'cwd')
    for name, want in (('both', f'{here}/both.py'), ('two', f'{here}/two/__init__.py'), ('there', f'{site}/there.py'), ('pack.mod', f'{site}/pack/mod.py')):
        assert loaded(python('--venv', str(tmp_path / 'venv'), name, cwd=here)) == want


def test_an_environment_of_another_python(python, tmp_path):
    venv, own = tmp_path / 'venv', f'python{version()}'
    subprocess.run([PYTHON, '-m', 'venv', '--without-pip', venv], check=True)
    write(tmp_path, {'s.py': SEEN})
    assert loaded(python('--venv', str(venv), 's.py'))
    (venv / 'lib' / own).rename(venv / 'lib/python3.1')
    done = python('--venv', str(venv), 's.py', check=2)
    assert f'perf-prof: --venv {venv}: there is no {venv}/lib/{own}: this perf-prof runs Python {version()}, and' in done.stderr
    assert f'make one with `{own} -m venv DIR`, or install perf-prof into this one with pip' in done.stderr


def test_the_folder_comes_before_what_was_installed(python, tmp_path):
    write(tmp_path, {'s.py': 'import sys\nprint(*sys.path, sep="\\n")\n' + SEEN})
    path = python('s.py').stdout.splitlines()[1:-1]
    here = path.index(str(tmp_path))
    assert all('-packages' not in p for p in path[:here])
    assert all('-packages' in p for p in path[here + 1:])


@live
@pytest.mark.parametrize('typed', ['{}/sub/s.py', 'pack.mod'])
def test_nothing_else_of_the_working_directory_can_be_imported(python, tmp_path, typed):
    venv = tmp_path / 'venv'
    subprocess.run([PYTHON, '-m', 'venv', '--without-pip', venv], check=True)
    text = ('import sys, os, json\ntry:\n    import helper\nexcept ImportError:\n    print("no helper")\n'
            'print("" in sys.path, os.getcwd() in sys.path, "." in sys.path)\n' + SEEN)
    write(tmp_path, {'sub/s.py': text})
    write(venv / 'lib' / f'python{version()}' / 'site-packages', {'pack/__init__.py': '', 'pack/mod.py': text})
    planted = 'print("planted", flush=True)\n'
    write(tmp_path, {f'cwd/{name}.py': planted for name in
                     ('json', 'helper', 'site', 'sitecustomize', 'usercustomize', 'encodings', 'perf_prof',
                      'importlib', 're', 'difflib', 'signal')})
    done = python('--venv', str(venv), typed.format(tmp_path), cwd=tmp_path / 'cwd', env={'PYTHONPATH': str(tmp_path / 'cwd')})
    assert done.stdout.splitlines()[1:] == ['no helper', 'False False False', 'seen']


def test_a_linked_script_has_both_folders(python, tmp_path):
    write(tmp_path, {'real/s.py': 'import there, here\nprint(there.x, here.x, __file__)\n' + SEEN,
                     'real/there.py': 'x = 1\n', 'bin/here.py': 'x = 2\n'})
    (tmp_path / 'bin/s.py').symlink_to('../real/s.py')
    assert python('bin/s.py').stdout.splitlines()[1] == f'1 2 {tmp_path}/bin/s.py'


def test_a_path_that_is_no_utf8(python, tmp_path):
    folder = os.fsencode(tmp_path) + b'/caf\xe9'
    os.mkdir(folder)
    with open(folder + b'/s.py', 'w') as f:
        f.write(SEEN)
    done = subprocess.run([python.prof, 'python', *python.source, '-N', '1', folder + b'/s.py'], capture_output=True, timeout=20)
    assert done.stdout == b'Loaded module: ' + folder + b'/s.py\nseen\n' and not done.stderr


PRINTED = {
    'encodings': ({'s.py': b'# -*- coding: latin-1 -*-\nprint(ascii("\xe9"))\n' + SEEN.encode()}, [r"'\xe9'", 'seen']),
    'parts of a package': ({'s/__init__.py': 'from .part import word\nfrom s import part\n'
                                             'def __sample__(e): print(word, part.__name__)\n',
                            's/part.py': 'word = "part"\n'}, ['part s.part']),
    'its folder comes behind the standard library': (
        {'s.py': 'import json, helper\nprint(helper.x, json.dumps({}))\n' + SEEN, 'helper.py': 'x = "helper"\n',
         'json.py': 'raise SystemExit("json.py beside the script was loaded")\n'}, ['helper {}', 'seen']),
    'pickles of its classes': ({'s.py': 'import pickle\nclass Row:\n    pass\n'
                                        'def __sample__(e): print(type(pickle.loads(pickle.dumps(Row()))) is Row)\n'}, ['True']),
    'perf_prof and PerfEvent without an import, in what it imports and before its own text has ended': (
        {'helper.py': 'def of(e: PerfEvent): return isinstance(e, PerfEvent)\n',
         's.py': 'print(PerfEvent is perf_prof.PerfEvent)\nimport helper\nimport perf_prof as p\nfrom perf_prof import PerfEvent as P\n'
                 'print(PerfEvent is P is p.PerfEvent)\n'
                 'def __sample__(e: PerfEvent): print(helper.of(e), isinstance(e, PerfEvent))\n'}, ['True', 'True', 'True True']),
}


@pytest.mark.parametrize('files, printed', PRINTED.values(), ids=PRINTED)
def test_what_a_script_has(python, tmp_path, files, printed):
    write(tmp_path, files)
    assert python('s').stdout.splitlines()[1:] == printed


# ---- the first line -------------------------------------------------------------------

# What a script's own text may do with sys.stdout; it prints "one" and then "two".
PRINTERS = {
    'print': 'print("one")\nprint("two")\n',
    'flushed': 'print("one", flush=True)\nprint("two", flush=True)\n',
    'bytes': 'import sys\nsys.stdout.buffer.write(b"one\\n")\nsys.stdout.buffer.flush()\nprint("two")\n',
    'the first one': 'import sys\nprint("one", file=sys.__stdout__)\nprint("two")\n',
    'kept': 'import sys\nout = sys.stdout\nsys.stdout = sys.stderr\nprint("one\\ntwo", file=out)\n',
    'detached': 'import codecs, sys\nprint("one")\n'
                'sys.stdout = codecs.getwriter("utf8")(sys.stdout.detach())\nprint("two")\n',
    'another encoding': 'import sys\nprint("one")\nsys.stdout.reconfigure(encoding="ascii")\nprint("two")\n',
    'a package': None,
}


@pytest.mark.parametrize('how', PRINTERS)
def test_the_first_line_comes_first(python, tmp_path, how):
    write(tmp_path, {'s.py': (PRINTERS[how] or '') + 'def __sample__(e): pass\n'})
    script = 's.py'
    if how == 'a package':
        script = 'pack.mod'
        write(tmp_path, {'pack/__init__.py': 'print("one")\n', 'pack/mod.py': 'print("two")\n' + SEEN})
    done = python(script)
    assert loaded(done) == str(tmp_path / script.replace('pack.mod', 'pack/mod.py'))
    assert done.stdout.splitlines()[1:3] == ['one', 'two']


@pytest.mark.parametrize('end, code', [('raise ValueError("x")', 1), ('sys.exit(3)', 3), ('import nosuchmodule', 1)])
def test_what_did_not_load_is_not_called_loaded(python, tmp_path, end, code):
    write(tmp_path, {'s.py': 'import sys\nprint("one")\n' + end + '\n' + SEEN})
    assert python('s.py', check=code).stdout == 'one\n'


def test_text_stays_in_its_order(python, tmp_path):
    write(tmp_path, {'s.py': 'import os\nprint("one", flush=True)\nos.system("echo two")\nprint("three", flush=True)\nos._exit(4)\n' + SEEN})
    assert python('s.py', check=4).stdout.splitlines() == [f'Loaded module: {tmp_path}/s.py', 'one', 'two', 'three']


def test_a_child_of_its_text_prints_its_own_only(python, tmp_path):
    """Its output is not held back: it may outlive the text."""
    write(tmp_path, {'s.py': 'import os\nprint("one", flush=True)\npid = os.fork()\nif not pid:\n'
                     '    print("child", flush=True)\n    os._exit(0)\nos.waitpid(pid, 0)\n' + SEEN})
    assert python('s.py').stdout.splitlines() == [f'Loaded module: {tmp_path}/s.py', 'one', 'child', 'seen']


def test_a_thread_of_its_text_prints_all(python, tmp_path):
    write(tmp_path, {'s.py': 'import threading\ndef say():\n    for i in range(20000): print(i, flush=True)\n'
                     't = threading.Thread(target=say)\nt.start()\n'
                     'def __sample__(e): pass\ndef __exit__(): t.join()\n'})
    done = python('s.py')
    assert loaded(done) == f'{tmp_path}/s.py'
    assert done.stdout.splitlines()[1:] == [str(i) for i in range(20000)]


def test_what_is_held_back_is_bounded(python, tmp_path):
    """A text that never ends prints, as a loop that was meant as a program."""
    write(tmp_path, {'s.py': 'while True: print("x" * 1000)\n'})
    run = subprocess.Popen([python.prof, 'python', *python.source, 's.py'], cwd=tmp_path,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    with run:
        assert run.stdout.readline() == f'Loaded module: {tmp_path}/s.py\n'
        assert run.stdout.readline() == 'x' * 1000 + '\n'
        run.stdout.close()      # nobody reads: the end of the run
        assert run.wait(60) == 0


# ---- what root does not take from the environment --------------------------------------

@live
@pytest.mark.parametrize('name', ['PYTHONPATH', 'PYTHONHOME', 'VIRTUAL_ENV'])
def test_root_says_what_it_ignores(python, tmp_path, name):
    write(tmp_path, {'s.py': SEEN, 'away/helper.py': '', 'm.py': 'import helper\n' + SEEN, 'v.py': 'raise ValueError\n'})
    env = {name: str(tmp_path / 'away')}
    said = f'perf-prof: {name}={tmp_path}/away is ignored'
    assert python('s.py', env=env).stderr == ''
    assert python('-q', 's.py', env=env).stderr == ''
    assert said in python('-v', 's.py', env=env, check=None).stderr
    assert said not in python('-v', 's.py', check=None).stderr
    missing = python('m.py', env=env, check=1)
    assert f'{name}={tmp_path}/away is ignored' in missing.stderr
    assert '--venv DIR' in missing.stderr
    assert 'ignored' not in python('v.py', env=env, check=1).stderr
    write(tmp_path, {'i.py': 'def __init__(): import helper\n' + SEEN, 'e.py': 'def __sample__(e): import helper\n'})
    for typed, code in ('i.py', 1), ('e.py', 1), ('helper', 2):
        assert python(typed, env=env, check=code).stderr.count(f'{name}={tmp_path}/away is ignored') == 1


# ---- tracebacks -----------------------------------------------------------------------

def trace(done):
    """stderr from the traceback on, ours left out."""
    return [line for line in done.stderr.splitlines() if not line.startswith('perf-prof: ')]


@pytest.mark.parametrize('text, lines', [
    ('x = 1\nx += "a"\n', ['  File "{}/s.py", line 2, in <module>', '    x += "a"']),
    ('def f():\n    return nothing\nf()\n', ['  File "{}/s.py", line 3, in <module>', '    f()',
                                             '  File "{}/s.py", line 2, in f', '    return nothing']),
    ('import helper\n', ['  File "{}/s.py", line 1, in <module>', '    import helper',
                         '  File "{}/helper.py", line 1, in <module>', '    1 / 0']),
    ('import broken\n', ['  File "{}/s.py", line 1, in <module>', '    import broken', '  File "{}/broken.py", line 1', '    x = (']),
    ('import nosuch\n', ['  File "{}/s.py", line 1, in <module>', '    import nosuch']),
    ('def __sample__(e):\n    raise ValueError(1)\n', ['  File "{}/s.py", line 2, in __sample__',
                                                       '    raise ValueError(1)']),
    ('def __init__():\n    raise ValueError(1)\n' + SEEN, ['  File "{}/s.py", line 2, in __init__',
                                                           '    raise ValueError(1)']),
])
def test_tracebacks_begin_in_the_script(python, tmp_path, text, lines):
    write(tmp_path, {'s.py': text, 'helper.py': '1 / 0\n', 'broken.py': 'x = (\n'})
    done = python('s.py', check=None)
    got = [line for line in trace(done) if set(line.strip()) - set('~^')]
    assert got[0] == 'Traceback (most recent call last):'
    assert got[1:-1] == [line.format(tmp_path) for line in lines]
    assert 'loader' not in done.stderr and 'frozen' not in done.stderr


def test_a_syntax_error_shows_its_line_alone(python, tmp_path):
    write(tmp_path, {'s.py': 'def f():\n    count +=\n'})
    done = python('s.py', check=1)
    assert trace(done) == [f'  File "{tmp_path}/s.py", line 2', '    count +=', '            ^', 'SyntaxError: invalid syntax']
    assert done.stdout == ''


# ---- what can't be loaded -------------------------------------------------------------

def fault(python, typed, *words):
    done = python(typed, check=2)
    assert done.stdout == ''
    assert done.stderr.count('perf-prof: ') == 1 and 'Traceback' not in done.stderr
    for word in words:
        assert word in done.stderr, done.stderr


MISTAKES = [      # files that are there, what is typed, and what is said
    ({}, 'nosuch', ['nosuch: there is no such script or module', 'nosuch/__init__.py', 'nosuch.py', 'nosuch@SUFFIX', '@HERE',
                    '/usr/lib/python3']),
    ({}, 'nosuch.py', ['there is no such script in @HERE']), ({}, 'sub/nosuch.py', ['there is no such script in @HERE/sub']),
    ({}, '', ['empty']),
    ({'counter.py': SEEN}, 'countr.py', ['did you mean ', 'counter']), ({'counter.py': SEEN}, 'countr', ['did you mean ', 'counter']),
    ({'counter.py': SEEN}, './countr.py', ['did you mean ', 'counter']), ({'counter2.py': SEEN}, 'counter', ['did you mean ', 'counter']),
    ({'m.py': SEEN, 'm.abi3.so': ''}, 'm', ['m.abi3.so: cannot load it']),      # as `import` does: the compiled one
    ({'d/one.py': SEEN}, 'd', ['d: is a folder without __init__.py', 'one.py']), ({'d/one.py': SEEN}, 'd/', ['d/: is a folder', 'one.py']),
    ({'my.pyx': SEEN}, 'my.pyx', ['my.pyx', 'Cython', 'setup.py build_ext --inplace']),
    ({'my.pyx': SEEN}, 'my', ['my.pyx is there', 'Cython']),
    ({OLD: ''}, 'old', [f'built for {OLD[4:-3]}', 'Python @VERSION', '@SUFFIX']),
    ({OLD: ''}, OLD, [f'built for {OLD[4:-3]}', 'Python @VERSION', '@SUFFIX']),
    ({'s.py': b'\x7fELF\2\1\1'}, 's.py', ['s.py', 'binary program']), ({'tool': b'x = 1\0\n'}, 'tool', ['tool', 'NUL byte at offset 5']),
    ({}, '/dev/zero', ['/dev/zero', 'NUL byte']), ({}, '/proc/self/mem', ['/proc/self/mem: cannot read it: Input/output error']),
    ({'s.pyc': b'\x33\r\r\n' + bytes(12)}, 's.pyc', ['s.pyc', 'no bytecode of Python @VERSION']),
    ({'s.pyc': b''}, 's.pyc', ['s.pyc', 'no bytecode']),
]


@pytest.mark.parametrize('files, typed, words', MISTAKES, ids=[typed for _, typed, _ in MISTAKES])
def test_what_cannot_be_loaded(python, tmp_path, files, typed, words):
    write(tmp_path, files)
    fault(python, typed, *(word.replace('@HERE', str(tmp_path)).replace('@SUFFIX', suffix()).replace('@VERSION', version())
                           for word in words))


def test_the_whole_name_of_one_of_two_files(python, tmp_path):
    write(tmp_path, {'both.py': SEEN, 'both/__init__.py': SEEN})
    for typed in 'both.py', 'both/__init__.py':
        assert loaded(python(typed)) == str(tmp_path / typed)


def test_libraries_that_are_no_modules(python, tmp_path):
    build_c(tmp_path, 'right', 'wrong.so')
    fault(python, 'wrong.so', 'wrong.so: is no Python module', 'PyInit_wrong()', 'renamed from right.so')
    write(tmp_path, {'none.c': 'int x;\n', 'text.so': 'text\n',
                     'undef.c': 'void gone(void);\nvoid *PyInit_undef(void) { gone(); return 0; }\n'})
    compile_c(tmp_path, 'none.c', 'none.so')
    compile_c(tmp_path, 'undef.c', 'undef.so')
    fault(python, 'none.so', 'none.so: is no Python module', 'some other shared library')
    fault(python, 'text.so', "text.so: cannot load it")
    fault(python, 'undef.so', "undef.so: cannot load it", 'undefined symbol: gone')


def test_modules_that_cython_makes(python, tmp_path):
    """One that works, and one that fails and has its own traceback."""
    if requires.why_not('program:cython3'):
        pytest.skip(requires.why_not('program:cython3'))
    write(tmp_path, {'works.pyx': 'cdef int count = 0\ndef __sample__(event):\n    global count\n    count += 1\n'
                                  'def __interval__():\n    print(f"Events: {count}")\n', 'fails.pyx': 'import nosuchmodule\n'})
    for name in 'works', 'fails':
        subprocess.run(['cython3', '-3', f'{name}.pyx'], cwd=tmp_path, check=True)
        compile_c(tmp_path, f'{name}.c', f'{name}{suffix()}')
    done = python('-i', '50', 'works', events=0)
    assert loaded(done) == f'{tmp_path}/works{suffix()}' and done.stdout.count('\nEvents: ') > 10
    done = python('fails', check=1)
    assert "No module named 'nosuchmodule'" in done.stderr and 'loader' not in done.stderr


def test_text_that_is_no_utf8(python, tmp_path):
    write(tmp_path, {'s.py': b'x = "\xff"\n'})
    done = python('s.py', check=1)
    assert 'SyntaxError' in done.stderr and 's.py' in done.stderr and 'loader' not in done.stderr
