# SPDX-License-Identifier: Apache-2.0
"""Every block of code in README.md and docs/ runs here as it stands there, or a line above it says why not.

    ```python    a whole program; one that begins with `# NAME.py` is that file, and a command of the page takes it
    ```sh        commands
    ```console   commands at the prompts $ and #, and what they printed
    ```text      output, or the form of a line

Above a block, <!-- not run: REASON --> is a skipped test with that reason, <!-- tested by FILE --> names a test that reads the
page, <!-- fails --> says that its last command fails. Programs, processes and recordings that the pages name are there: see
`Place`. What takes seconds on a page takes tenths of them here. What a command prints is not compared."""
import ast
import glob
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

from frame import requires
from frame.declared import DROPPED_ENV

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..'))
HERE = os.path.dirname(os.path.abspath(__file__))
READERS = os.path.join(ROOT, 'tests/session/readers/python')
PAGES = ['README.md', *sorted(os.path.relpath(path, ROOT) for path in glob.glob(os.path.join(ROOT, 'docs/*.md')))]
KILOBYTES = 12
RUN = 'python', 'sh', 'console'
# Of the program that the blocks measure.
NAMES = 'job job-old job-new server program old new draw spin work hang known cart'.split()
SHORTER = (('-i 1000 ', '-i 100 '), ('sleep 1; kill', 'sleep 2; kill'), (r'\bsleep [1-9]\d*\b(?!; kill)', 'sleep 0.2'),
           (r'--seconds [\d.]+', '--seconds 0.3'), (r'seconds=[\d.]+', 'seconds=0.3'), (r'--than \d+ms/trigger', '--than 1us/trigger'),
           (r"(?<=['\" ])/(srv|data)/", r'./\1/'))
# What a machine may lack, by what is said then.
LACKING = {
    r"No module named '(polars|pandas|pyarrow|duckdb|numpy)'": 'tools/install-readers',
    'this kernel has no kprobes|event_source/devices/kprobe/type': 'kprobes',
    'has no such hardware counter': 'hardware counters',
    r'built without \.html': 'make html',
    r'\b(perf|jq): command not found': 'perf and jq',
}
SCRIPT = 'def __sample__(event): pass\ndef __interval__(): print("still here")\n'
FILES = {'script.py': SCRIPT, 'my_script.py': SCRIPT, 'job.py': 'print(sum(range(3000000)))\n',
         'Makefile': 'all check:\n\t./app\n'}
# perf-prof as the blocks call it: what would run until Ctrl-C ends by itself.
WRAPPER = '''#!/bin/bash
words=" $* "
case "$1" in
record|profile|task-state|rundelay|syscalls|latency|migrations|waits|kvm-exit|page-faults|top|trace|stat|python|sql)
	[[ "$words" =~ ' -- '|' -I'|' --overwrite '.*' -N 1 '|' --seconds '|' help '|' -h ' ]] || set -- "$1" --seconds 0.3 "${@:2}" ;;
esac
[ "$1" = sql ] && set -- sql --venv %s "${@:2}"
exec %s "$@"
'''


class Block:
    def __init__(self, page, number, line, language, text, why):
        self.page, self.line, self.language, self.text = page, line, language, text
        self.why = why      # 'not run: ...', 'tested by ...', 'fails' or ''
        self.id = f'{page}-{number}'
        named = re.match(r'# ([\w./-]+\.(?:py|sql))\n', text)
        self.file = named and named[1]

    def commands(self):
        """What a shell runs."""
        if self.language == 'sh':
            return self.text
        found = re.findall(r'^[#$] (\S(?:.*\\\n)*.*)$', self.text, re.M)
        return '\n'.join(found)


def blocks(page):
    with open(os.path.join(ROOT, page), encoding='utf-8') as f:
        text = f.read()
    found = re.finditer(r'(?:^ *<!-- ((?:fails|not run|tested by)[^\n]*) -->\n)?^( *)```(\w*)\n(.*?)^ *```$', text, re.M | re.S)
    return [Block(page, n, text[:m.start(3)].count('\n') + 1, m[3], re.sub(f'^{m[2]}', '', m[4], flags=re.M), m[1] or '')
            for n, m in enumerate(found, 1)]


BLOCKS = [block for page in PAGES for block in blocks(page)]


@pytest.mark.parametrize('page', PAGES)
def test_page_is_short_and_its_blocks_are_known(page):
    path = os.path.join(ROOT, page)
    assert os.path.getsize(path) <= KILOBYTES << 10
    with open(path, encoding='utf-8') as f:
        rest = re.sub(r'^ *```.*?^ *```$', '', f.read(), flags=re.M | re.S)
    assert '```' not in rest and not re.search(r'\n\n    \S', rest), 'a block that is not fenced'
    of_page = [block for block in BLOCKS if block.page == page]
    for block in of_page:
        where = f'{page}:{block.line}'
        if block.language not in (*RUN, 'text'):
            tested = re.match(r'tested by (\S+)', block.why)
            assert tested, where
        tested = re.match(r'tested by (\S+)', block.why)
        if tested:
            with open(os.path.join(ROOT, tested[1]), encoding='utf-8') as f:
                assert os.path.basename(page) in f.read(), where
        if block.language == 'python':
            ast.parse(block.text)
        if block.language == 'console':
            assert block.commands(), where
        if block.language == 'text':
            assert not re.search(r'^([$#] perf-prof|import) ', block.text, re.M), f'{where}: not only output'
        if block.file and not block.why:
            taken = any(block.file in other.commands() for other in of_page if other is not block)
            assert taken, f'{where}: no command takes {block.file}'


class Place:
    """A folder with all that the blocks of a page name."""

    def __init__(self, folder, page, prof, program, recordings, venv):
        self.folder, self.env = folder, {k: v for k, v in os.environ.items() if k not in DROPPED_ENV}
        os.makedirs(folder / 'bin')
        wrapper = folder / 'bin/perf-prof'
        wrapper.write_text(WRAPPER % (venv, prof))
        wrapper.chmod(0o755)
        for name in NAMES:
            os.link(program, folder / name)     # probes of one are probes of all
        shutil.copy2(program.with_name('app'), folder)
        for path in recordings.iterdir():
            shutil.copy2(path, folder / path.name)
        for name, text in FILES.items():
            (folder / name).write_text(text)
        shutil.copy2(os.path.join(ROOT, 'examples/counter.py'), folder)
        for block in blocks(page):
            if block.file:
                path = folder / block.file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text)
        self.env.update(PATH=f'{folder}/bin:{os.environ["PATH"]}', LC_ALL='C.UTF-8', HOME=str(folder),
                        PYTHONPATH=f'{os.path.dirname(prof)}/python:{READERS}')


@pytest.fixture(scope='session')
def program(tmp_path_factory):
    reason = requires.why_not('program:g++')
    if reason:
        pytest.skip(reason)
    path = tmp_path_factory.mktemp('job') / 'job'
    flags = ['-g', '-O1', '-fno-omit-frame-pointer', '-pthread']
    subprocess.run(['gcc', *flags, '-o', path, os.path.join(HERE, 'job.c')], check=True)
    subprocess.run(['g++', *flags, '-o', path.with_name('app'), os.path.join(HERE, 'shop.cc')], check=True)
    return path


@pytest.fixture(scope='session')
def recordings(prof, program, tmp_path_factory):
    """perf.data of the whole machine with all that commands look at; the others of the program alone."""
    for reason in requires.root(), requires.tracefs():
        if reason:
            pytest.skip(reason)
    folder = tmp_path_factory.mktemp('recordings')
    whole = ['-a', '-e', 'profile/-F 997 -g/,sched:*,raw_syscalls:*,page-faults/-g/']
    alone = ['-g', '-e', 'cpu-clock']
    for names, words in (('perf.data sched.data slow.data'.split(), whole), ('job.data old.data new.data'.split(), alone)):
        record = [prof, 'record', '-q', '--no-buildid-cache', '-m', '16M', *words, '-o', folder / names[0]]
        subprocess.run([*record, '--', program], check=True)
        for name in names[1:]:
            shutil.copy2(folder / names[0], folder / name)
    return folder


@pytest.fixture(scope='session')
def processes(program):
    """{kind: process} of those that the pages watch by id."""
    script = 'import time\ndef parse(): return sum(range(20000))\nwhile True: parse(), time.sleep(0.002)'
    started = {'program': subprocess.Popen([program, 'serve']), 'python': subprocess.Popen(['/usr/bin/python3', '-c', script])}
    yield started
    for process in started.values():
        process.send_signal(signal.SIGKILL)
        process.wait()


@pytest.fixture(scope='session')
def duckdb_venv(tmp_path_factory):
    """An environment of the embedded Python with the DuckDB that tools/install-readers fetched."""
    path = tmp_path_factory.mktemp('env') / 'v'
    subprocess.run(['/usr/bin/python3', '-m', 'venv', '--without-pip', path], check=True)
    packages, = path.glob('lib/python3*/site-packages')
    for found in glob.glob(f'{READERS}/*duckdb*'):
        os.symlink(found, packages / os.path.basename(found))
    return path


@pytest.fixture(scope='session')
def place(tmp_path_factory, prof, program, recordings, duckdb_venv):
    made = {}

    def get(page):
        if page not in made:
            made[page] = Place(tmp_path_factory.mktemp(page.replace('/', '-')), page, prof, program, recordings, duckdb_venv)
        return made[page]
    return get


def for_here(text, processes):
    """With ids of processes that exist, and shorter."""
    for pattern, shorter in SHORTER:
        text = re.sub(pattern, shorter, text)

    def pid(match):
        line = text[text.rfind('\n', 0, match.start()) + 1:match.end()]
        kind = 'python' if re.search(r'\bdump\b|--python|--idle|--gil|--tasks', line) else 'program'
        return match[1] + str(processes[kind].pid)
    return re.sub(r'((?:-p |pid=|pids=|dump |dump --native ))(?:\d+|PID|\$\(pgrep -o nginx\))(?!\w)', pid, text)


TO_RUN = [b for b in BLOCKS if b.language in RUN and not b.why.startswith('tested')]


@pytest.mark.live
@pytest.mark.deep
@pytest.mark.slow
@pytest.mark.parametrize('block', TO_RUN, ids=lambda block: block.id)
def test_block_runs(block, place, processes):
    if block.why.startswith('not run'):
        pytest.skip(block.why)
    if block.file:
        return          # a command of the page takes it
    here = place(block.page)
    os.makedirs(here.folder / 'srv/old/logs', exist_ok=True)
    text = for_here(block.text if block.language == 'python' else block.commands(), processes)
    argv = [sys.executable, '-c', text] if block.language == 'python' else ['bash', '-e', '-o', 'pipefail', '-c', text]
    done = subprocess.run(argv, cwd=here.folder, env=here.env, capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL)
    as_said = (done.returncode != 0) == (block.why == 'fails')
    for pattern, need in () if as_said else LACKING.items():
        if re.search(pattern, done.stderr):
            pytest.skip(f'needs {need}')
    said = f'{block.page}:{block.line}\n{text}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}'
    assert as_said and 'Traceback' not in done.stderr, said


def test_c_of_attr_md_compiles(tmp_path):
    reason = requires.why_not('program:gcc')
    if reason:
        pytest.skip(reason)
    block, = (b for b in BLOCKS if b.page == 'docs/attr.md' and b.language == 'c')
    (tmp_path / 'attr.c').write_text(f'''#include <perfevent.h>
int f(int type, int config, struct pev_target target, struct pev_error err)
{{
struct pev_event *ev;
int rc;
{block.text}
return rc;
}}
''')
    subprocess.run(['gcc', '-fsyntax-only', '-I', os.path.join(ROOT, 'include'), tmp_path / 'attr.c'], check=True)
