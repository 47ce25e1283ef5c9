# SPDX-License-Identifier: Apache-2.0
"""Runs each libFuzzer target of build-fuzz/tests/fuzz for a while, as many at a time as
there are CPUs. From the same corpus, a short run takes the same inputs each time, as far as it gets:
a commit passes or it does not. Others are for the hour of `make fuzz`.

New inputs go to build-fuzz/corpus/NAME, and start from tests/fuzz/corpus/NAME (seeds,
kept in git) and tests/fuzz/crashes/NAME (what was once found; a crash lands there, is
kept, and fails every later run until it is mended)."""
import glob
import os
import re
import subprocess
import time

from .build import execute
from .result import FAILED, PASSED, Result

ENV = {
    'ASAN_OPTIONS': 'detect_leaks=1:allocator_may_return_null=1',
    'UBSAN_OPTIONS': 'halt_on_error=1:print_stacktrace=1',
    'LSAN_OPTIONS': 'print_suppressions=0:suppressions='
                    + os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lsan.supp'),
}
# Seeds and dictionaries of others.
SHARED = {'replay': ('fuzz/corpus/perfdata', 'data/perfdata'), 'params': ('fuzz/corpus/inlines',)}
WORDS = {'replay': 'perfdata'}
MAX_LEN = 1 << 17       # two records of the largest size


class Target:
    def __init__(self, root, path, program):
        self.name = os.path.basename(program)
        short = self.name[len('fuzz_'):]
        self.program = program
        self.log = os.path.join(path, f'{self.name}.log')
        self.corpus = os.path.join(path, 'corpus', short)
        self.crashes = os.path.join(root, 'tests/fuzz/crashes', short)
        self.seeds = [d for d in (os.path.join(root, 'tests/fuzz/corpus', short),
                                  *(os.path.join(root, 'tests', d) for d in SHARED.get(short, ())))
                      if os.path.isdir(d)]
        self.dictionary = os.path.join(root, 'tests/fuzz', f'{WORDS.get(short, short)}.dict')

    def start(self, seconds, *options):
        os.makedirs(self.corpus, exist_ok=True)
        os.makedirs(self.crashes, exist_ok=True)
        argv = [self.program, f'-max_total_time={seconds}', f'-max_len={MAX_LEN}', '-timeout=10',
                '-rss_limit_mb=1024', '-print_final_stats=1', '-verbosity=1',
                f'-artifact_prefix={self.crashes}/', *options]
        if os.path.exists(self.dictionary):
            argv.append(f'-dict={self.dictionary}')
        argv += [self.corpus, self.crashes] + self.seeds
        with open(self.log, 'w') as log:
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=subprocess.STDOUT,
                                            env={**os.environ, **ENV})
        self.deadline = time.monotonic() + seconds + 120

    def result(self, suite):
        """None while it runs."""
        code = self.process.poll()
        if code is None:
            if time.monotonic() < self.deadline:
                return None
            self.process.kill()
            code = self.process.wait()
        with open(self.log, errors='replace') as log:
            text = log.read()
        if code == 0:
            units = re.search(r'number_of_executed_units:\s*(\d+)', text)
            if units and int(units.group(1)) > 0:
                return Result(suite, f'{self.name} ({units.group(1)} inputs)', PASSED)
        return Result(suite, self.name, FAILED, f'exit code {code}; inputs that crash are kept in '
                      + os.path.relpath(self.crashes), text)


# In the short form of a test run these get more time than the others: there are many.
LONGER, LONG, SHORT = ('fuzz_decode', 'fuzz_spec', 'fuzz_perfdata'), 8, 3


def run(suite, root, path, seconds):
    if seconds > 60:
        execute('build of all fuzzers', ['ninja', '-C', path, 'all-fuzzers'], root)
    programs = sorted(p for p in glob.glob(os.path.join(path, 'tests/fuzz/fuzz_*'))
                      if os.path.isfile(p) and os.access(p, os.X_OK))
    waiting = [Target(root, path, p) for p in programs]
    running = []
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            target = waiting.pop(0)
            if seconds > 60:
                target.start(seconds)
            else:
                target.start(min(seconds, LONG if target.name in LONGER else SHORT), '-seed=1')
            running.append(target)
        for target in list(running):
            result = target.result(suite)
            if result:
                running.remove(target)
                if os.path.isdir(target.crashes) and not os.listdir(target.crashes):
                    os.rmdir(target.crashes)
                yield result
        time.sleep(0.2)
