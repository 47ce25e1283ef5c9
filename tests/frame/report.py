# SPDX-License-Identifier: Apache-2.0
"""What people read of a run: a line per suite, details, and the closing line."""
import shutil
import sys

from .result import FAILED, PASSED, SKIPPED

TAIL = 60       # lines of a failure's output that are shown


def closing_line(passed, failed, skipped):
    return f'{passed} passed, {failed} failed, {skipped} skipped'


def tail(text, lines=TAIL):
    rows = text.rstrip().splitlines()
    if len(rows) > lines:
        rows = [f'... {len(rows) - lines} lines before'] + rows[-lines:]
    return rows


class Tally:
    def __init__(self, verbose=False):
        self.results = []
        self.verbose = verbose

    def count(self, status, results=None):
        return sum(r.status == status for r in (self.results if results is None else results))

    @property
    def failed(self):
        return self.count(FAILED)

    def progress(self, text):
        """What runs, in a line that the next one replaces; for who watches."""
        if sys.stdout.isatty():
            print(f'\r\x1b[K{text[:shutil.get_terminal_size().columns - 1]}', end='', flush=True)

    def end(self, name, results, seconds):
        counts = [f'{self.count(s, results):>4} {s}' for s in (PASSED, FAILED, SKIPPED)]
        self.progress('')
        print(f'{name:<14}{"  ".join(counts)}  {seconds:7.1f} s', flush=True)
        self.results += results
        if self.verbose:
            for r in results:
                print(f'    {r.status:<8} {r.name}{"  (" + r.reason + ")" if r.reason else ""}')

    def details(self):
        """Skips by reason, so that one missing thing is one paragraph; then failures."""
        skips = {}
        for r in self.results:
            if r.status == SKIPPED:
                skips.setdefault(r.reason or 'no reason given', []).append(f'{r.suite}: {r.name}')
        for reason, names in skips.items():
            print(f'\nskipped: {reason}')
            for name in names:
                print(f'    {name}')
        for r in self.results:
            if r.status == FAILED:
                self.told(f'FAILED {r.suite}: {r.name}{" - " + r.reason if r.reason else ""}', r.output)

    @staticmethod
    def told(title, output):
        print(f'\n{title}')
        for line in tail(output):
            print(f'    {line}')

    def close(self, summary=None):
        """Prints the closing line, or writes it to the file `summary`. The exit code."""
        line = closing_line(*(self.count(s) for s in (PASSED, FAILED, SKIPPED)))
        print(flush=True)
        if summary:
            with open(summary, 'w') as out:
                print(line, file=out)
        else:
            print(line, flush=True)
        return 1 if self.failed or not self.count(PASSED) else 0
