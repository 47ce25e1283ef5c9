# SPDX-License-Identifier: Apache-2.0
"""Command line tests declared in TOML: pytest collects each [[case]] of a file.

    [[case]]
    name = "an event that does not exist"
    cmd = ["{prof}", "python", "-e", "sched:sched_wakeupp", "s.py"]   # or a shell's line
    files = {"s.py" = "def __sample__(e): pass"}     # into the folder where cmd runs
    requires = ["tracefs"]       # else skipped; see frame/requires.py
    exit = 2                     # or a list; 0 if not given
    fault = ["sched_wakeupp", "did you mean"]        # the one message on stderr

Cases that differ in a few keys are rows of a [[table]]; its other keys are those of each row:

    [[table]]
    exit = 2
    columns = ["name", "cmd", "stderr.match"]       # a text where a list belongs is a list of one, [] nothing
    rows = [
      ["an event that does not exist", "{prof} stat -e nope true", "nope"],
    ]

Further keys:
    each = {level = [0, 1]}      a test per value; {level} stands for it everywhere
    env, stdin                   of the command; stdin is /dev/null if not given
    user = "nobody"              run as nobody, without any capability
    paranoid = 2                 kernel.perf_event_paranoid while it runs
                                 (with either, or a requirement of the kernel, it is a `live` test)
    signals = [{send = "INT", on = "ready", after = 0.5}]
                                 sent to the command alone, in order: once stdout shows the
                                 pattern `on`, then `after` seconds later
    within = 1.0                 seconds from the last signal to the end (three times that under ASan)
    timeout = 60                 seconds; a command that takes longer fails
    stdout, stderr               {match = [...], not = [...], exact = "...", empty = true}
    slow = true                  left out under sanitizers
    deep = true                  it takes long: `make test-deep` runs it, not `make test`
    soak = true                  it holds on a machine at rest alone: `make test-soak`
    alone = true                 it needs the machine to itself; so does one with `paranoid`

{prof}, {storm}, {build}, {root} and {tmp} stand for paths, {recorded.NAME} for that of a recording (frame/recorded.py). Patterns are regular
expressions, searched for with ^ and $ at lines. A command that exits with 0 writes
nothing to stderr, unless the case says something of stderr. No command may die of a
signal, and none may print what a sanitizer found."""
import contextlib
import copy
import fcntl
import itertools
import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import time

import pytest

try:
    import tomllib
except ImportError:         # Python < 3.11
    import tomli as tomllib

from . import recorded, requires

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KEYS = {'name', 'cmd', 'files', 'requires', 'exit', 'fault', 'each', 'env', 'stdin', 'user',
        'paranoid', 'signals', 'within', 'timeout', 'stdout', 'stderr', 'slow', 'deep', 'soak', 'alone'}
STREAM_KEYS = {'match', 'not', 'exact', 'empty'}
SIGNAL_KEYS = {'send', 'on', 'after'}
DROPPED_ENV = ('VIRTUAL_ENV', 'PYTHONPATH', 'PYTHONHOME', 'PYTHONSTARTUP', 'PYTHONDONTWRITEBYTECODE')
SANITIZER = re.compile(r'(Address|Leak|UndefinedBehavior)Sanitizer|runtime error:')
# Of the machine, not of the test: the kernel lowers its limit when interrupts take long, and throttles what is above it.
RATE_LOWERED = re.compile(r'^perf-prof: \S+: \d+ samples a second instead of \d+: .*perf_event_max_sample_rate.*\n'
                          r'|^perf-prof: \S+ throttled \d+ times?, .*\n|^perf-prof: throttled \d+ times?: .*\n', re.M)
SANITIZED_SLOWDOWN = 3
LOCK = f'/tmp/perf-prof-tests-{os.getuid()}.lock'


class Bad(Exception):
    """The case itself is wrong."""


class Mismatch(Exception):
    """The command did something else than the case says."""


def expand(value, names):
    """`value` with {name} replaced in all its strings; other braces stay."""
    if isinstance(value, str):
        for name, text in names.items():
            value = value.replace('{%s}' % name, str(text))
        return value
    if isinstance(value, list):
        return [expand(v, names) for v in value]
    if isinstance(value, dict):
        return {expand(k, names): expand(v, names) for k, v in value.items()}
    return value


def number(value):
    """`paranoid = "{level}"` is a number once it is expanded."""
    return int(value) if isinstance(value, str) else value


def check_keys(case):
    def refuse(given, known, where):
        for key in given:
            if key not in known:
                raise Bad(f"{case.get('name', 'a case without a name')}: "
                          f"unknown key '{key}' in {where}; known: {', '.join(sorted(known))}")
    refuse(case, KEYS, 'the case')
    for stream in ('stdout', 'stderr'):
        refuse(case.get(stream, {}), STREAM_KEYS, stream)
    for sig in case.get('signals', []):
        refuse(sig, SIGNAL_KEYS, 'signals')
    for key in ('name', 'cmd'):
        if key not in case:
            raise Bad(f"{case.get('name', 'a case')}: has no {key}")
    if 'fault' in case and case.get('exit', 0) == 0:
        raise Bad(f"{case['name']}: a fault without an exit code")


def variants(case):
    """The cases that `each` makes of one, named by their values."""
    each = case.get('each', {})
    rest = {k: v for k, v in case.items() if k != 'each'}
    for values in itertools.product(*each.values()):
        names = dict(zip(each, values))
        one = expand(rest, names)
        if names and one['name'] == case['name']:
            one['name'] += ' [' + ', '.join(str(v) for v in values) + ']'
        yield one


def cases_of(table):
    """The rows of a table as cases."""
    shared = {k: v for k, v in table.items() if k not in ('columns', 'rows')}
    for row in table['rows']:
        if len(row) != len(table['columns']):
            raise Bad(f"{row[0]}: {len(row)} values, but {len(table['columns'])} columns")
        case = copy.deepcopy(shared)
        for column, value in zip(table['columns'], row):
            *stream, key = column.split('.')
            if value == [] and key in ('match', 'not', 'exact', 'fault'):
                continue
            where = case.setdefault(stream[0], {}) if stream else case
            where[key] = [value] if key in ('match', 'not', 'fault') and isinstance(value, str) else value
        yield case


def load(path):
    with open(path, 'rb') as f:
        doc = tomllib.load(f)
    defaults = doc.pop('defaults', {})
    cases = [*doc.pop('case', []), *itertools.chain.from_iterable(map(cases_of, doc.pop('table', [])))]
    if doc:
        raise Bad(f'unknown tables: {", ".join(doc)}')
    for case in cases:
        case = {**defaults, **case}
        check_keys(case)
        yield from variants(case)


# ---------------------------------------------------------------- running

alone = True        # nothing else of the tests runs; tests/conftest.py says so for each test


@contextlib.contextmanager
def paranoid_level(level):
    """For a while; None leaves it as it is. The level is the whole machine's, so who sets it is marked
    `alone`; two runs of the tests at a time take turns."""
    if level is None:
        yield
        return
    assert alone, 'a test that sets kernel.perf_event_paranoid has to be marked `alone`'
    with open(LOCK, 'a') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with open(requires.PARANOID) as f:
            before = f.read()
        try:
            write_level(level)
            yield
        finally:
            write_level(before)


def write_level(level):
    with open(requires.PARANOID, 'w') as f:
        f.write(str(level))


class Output:
    """Collects a stream; others wait for a pattern in it."""

    def __init__(self, stream):
        self.data = b''
        self.changed = threading.Condition()
        self.open = True
        self.thread = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self.thread.start()

    def _read(self, stream):
        while True:
            piece = os.read(stream.fileno(), 65536)
            with self.changed:
                self.data += piece
                self.open = bool(piece)
                self.changed.notify_all()
            if not piece:
                return

    def wait_for(self, pattern, deadline, since=0):
        """Until the pattern is in what came, from byte `since` on."""
        compiled = re.compile(pattern.encode(), re.M)
        with self.changed:
            while not compiled.search(self.data, since):
                left = deadline - time.monotonic()
                if not self.open or left <= 0:
                    return False
                self.changed.wait(left)
        return True

    def text(self):
        self.thread.join(2)
        return self.data.decode('utf-8', 'replace')


def environment(case):
    env = {k: v for k, v in os.environ.items() if k not in DROPPED_ENV}
    env.update({'LC_ALL': 'C.UTF-8', 'PYTHONDONTWRITEBYTECODE': '1'})
    env.update(case.get('env', {}))
    # CPython keeps memory until its end; and what changed its ids can't look for leaks.
    if 'ASAN_OPTIONS' in env and ('user' in case or 'python' in str((case['cmd'], case.get('files')))):
        env['ASAN_OPTIONS'] += ':detect_leaks=0'
    return env


def argv_of(case):
    argv = case['cmd'] if isinstance(case['cmd'], list) else ['/bin/sh', '-c', case['cmd']]
    return requires.as_nobody(argv) if case.get('user') == 'nobody' else argv


def deliver(case, process, out, deadline):
    """Sends the signals; returns when the last was sent."""
    sent = None
    for sig in case.get('signals', []):
        if 'on' in sig and not out.wait_for(sig['on'], deadline):
            raise Mismatch(f"stdout never showed /{sig['on']}/, so no SIG{sig['send']} was sent")
        time.sleep(sig.get('after', 0))
        sent = time.monotonic()
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(getattr(signal, f"SIG{sig['send']}"))
    return sent


class Run:
    """One command at work: exit code, texts, seconds since the last signal."""

    def __init__(self, case, folder):
        deadline = time.monotonic() + case.get('timeout', 60)
        stdin = case.get('stdin')
        self.process = subprocess.Popen(
            argv_of(case), cwd=folder, env=environment(case), stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True)
        self.out, self.err = Output(self.process.stdout), Output(self.process.stderr)
        self.trouble, self.seconds = None, None
        try:
            if stdin is not None:
                with contextlib.suppress(BrokenPipeError):
                    self.process.stdin.write(stdin.encode())
                    self.process.stdin.close()
            sent = deliver(case, self.process, self.out, deadline)
            self.process.wait(max(deadline - time.monotonic(), 0.1))
            self.seconds = sent and time.monotonic() - sent
        except subprocess.TimeoutExpired:
            self.trouble = f"still running after {case.get('timeout', 60)} s"
        except Mismatch as mismatch:
            self.trouble = str(mismatch)
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.code = self.process.wait()
        self.stdout, self.stderr = self.out.text(), self.err.text()
        self.process.stdout.close()
        self.process.stderr.close()


# ---------------------------------------------------------------- judging

def judge_stream(name, text, want):
    for pattern in want.get('match', []):
        if not re.search(pattern, text, re.M):
            yield f'{name} lacks /{pattern}/'
    for pattern in want.get('not', []):
        if re.search(pattern, text, re.M):
            yield f'{name} has /{pattern}/'
    if 'exact' in want and text != want['exact']:
        yield f"{name} is not exactly {want['exact']!r}"
    if want.get('empty') and text:
        yield f'{name} is not empty'


def judge_fault(case, stderr):
    """One message, begun by the program's name, that holds all patterns."""
    messages = re.findall(r'^perf-prof: ', stderr, re.M)
    if len(messages) != 1:
        yield f'{len(messages)} messages on stderr, not one'
    if re.search(r'^Traceback ', stderr, re.M):
        yield 'stderr has a traceback'
    yield from judge_stream('stderr', stderr, {'match': case['fault']})


def without_lowered_rates(stderr):
    """Without what the kernel's limit of samples, which the kernel itself lowers, makes perf-prof say."""
    return RATE_LOWERED.sub('', stderr)


def judge(case, run):
    """All that is wrong, as texts."""
    of_limits = any(words in str(case.get('stderr')) for words in ('instead of', 'throttled'))
    stderr = run.stderr if of_limits else without_lowered_rates(run.stderr)
    allowed = case.get('exit', 0)
    allowed = allowed if isinstance(allowed, list) else [allowed]
    if run.trouble:
        yield run.trouble
    elif run.code < 0 or (run.code > 128 and run.code not in allowed):
        number_ = -run.code if run.code < 0 else run.code - 128
        yield f'died of signal {number_} (exit code {run.code})'
    elif run.code not in allowed:
        yield f'exit code {run.code}, not {" or ".join(map(str, allowed))}'
    if SANITIZER.search(stderr):
        yield 'a sanitizer found something'
    within = case.get('within', float('inf')) * (SANITIZED_SLOWDOWN if 'ASAN_OPTIONS' in os.environ else 1)
    if run.seconds and run.seconds > within:
        yield f'ended {run.seconds:.2f} s after the signal, not within {within} s'
    yield from judge_stream('stdout', run.stdout, case.get('stdout', {}))
    yield from judge_stream('stderr', stderr, case.get('stderr', {}))
    if 'fault' in case:
        yield from judge_fault(case, stderr)
    elif allowed == [0] and 'stderr' not in case and stderr:
        yield 'stderr is not empty'


# ---------------------------------------------------------------- pytest

def reachable(program, folder):
    """`program`, or a copy of it, where nobody can run it."""
    done = subprocess.run(requires.as_nobody(['test', '-x', program]), capture_output=True)
    if done.returncode == 0:
        return program
    copy = os.path.join(folder, '.program', os.path.basename(program))
    os.makedirs(os.path.dirname(copy), exist_ok=True)
    shutil.copy2(program, copy)
    os.chmod(os.path.dirname(copy), 0o755)
    return copy


def write_files(files, folder):
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w') as f:
            f.write(text)
        if text.startswith('#!'):
            os.chmod(path, 0o755)


def make_accessible(folder):
    os.chmod(folder, 0o777)
    for path, names, members in os.walk(folder):
        for name in names + members:
            mode = os.stat(os.path.join(path, name)).st_mode
            more = 0o055 if stat.S_ISDIR(mode) or mode & 0o100 else 0o044
            os.chmod(os.path.join(path, name), stat.S_IMODE(mode) | more)


class Case(pytest.Item):
    def __init__(self, *, case, **kw):
        super().__init__(**kw)
        self.case = case
        for marker in ('slow', 'deep', 'soak'):
            if case.get(marker):
                self.add_marker(marker)
        if case.get('alone') or 'paranoid' in case:
            self.add_marker('alone')
        if any(map(requires.of_the_kernel, self.requirements())):
            self.add_marker('live')

    def requirements(self):
        words = list(self.case.get('requires', []))
        if 'user' in self.case:
            words.append('nobody')
        if 'paranoid' in self.case:
            words.append('paranoid')
        if recorded.NAME.search(str(self.case)):
            words += ['tracefs', 'root']
        return words

    def runtest(self):
        for word in self.requirements():
            reason = requires.why_not(word)
            if reason:
                pytest.skip(reason)
        build = os.path.abspath(self.config.getoption('--build'))
        prof = os.path.join(build, 'perf-prof')
        folder = tempfile.mkdtemp(prefix='perf-prof-cli-')
        try:
            if 'user' in self.case and os.path.exists(prof):
                prof = reachable(prof, folder)
            names = {f'recorded.{name}': recorded.path(name, build) for name in recorded.NAME.findall(str(self.case))}
            case = expand(self.case, {
                **names,
                'prof': prof, 'build': build, 'root': ROOT, 'tmp': folder,
                'storm': os.path.join(build, 'tests/helpers/storm')})
            write_files(case.get('files', {}), folder)
            if 'user' in case:
                make_accessible(folder)
            with paranoid_level(number(case.get('paranoid'))):
                run = Run(case, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        wrong = list(judge(case, run))
        if wrong:
            raise Mismatch(describe(case, run, wrong))

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, (Mismatch, OSError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, 0, self.name


def describe(case, run, wrong):
    def block(title, text):
        return f'--- {title}\n{text}' + ('' if text.endswith('\n') or not text else '\n')
    cmd = case['cmd'] if isinstance(case['cmd'], str) else ' '.join(map(repr, case['cmd']))
    return ('\n'.join(wrong) + f'\n--- command (exit code {run.code})\n{cmd}\n'
            + block('stdout', run.stdout) + block('stderr', run.stderr))


class File(pytest.File):
    def collect(self):
        seen = set()
        try:
            for case in load(self.path):
                for word in case.get('requires', []):
                    requires.why_not(word)
                if case['name'] in seen:
                    raise Bad(f"two cases are called '{case['name']}'")
                seen.add(case['name'])
                yield Case.from_parent(self, name=case['name'], case=case)
        except (Bad, ValueError) as bad:
            raise self.CollectError(f'{self.path}: {bad}') from None
