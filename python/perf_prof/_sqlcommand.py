# SPDX-License-Identifier: Apache-2.0
"""The command `perf-prof sql`: prints what a query answers. Its options are read in C (src/python/sql_options.c)."""
import contextlib
import csv
import decimal
import json
import math
import os
import re
import signal
import socket
import sys
import threading
import time
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence

from . import _native
from ._environment import said_for_command
from .sql import Query

# What a terminal would not show as it is; src/base/escape.c has the same.
_HIDDEN = re.compile('[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]')


def _escape(text: str) -> str:
    return _HIDDEN.sub(lambda found: ''.join(f'\\x{byte:02x}' for byte in found[0].encode(errors='surrogateescape')), text)


def _text(value: Any) -> str:
    if value is None:
        return 'NULL'
    if isinstance(value, float):
        return f'{value:.6g}' if abs(value) < 1e6 else f'{value:.1f}'
    if isinstance(value, bytes):
        return value.hex(' ')
    return _escape(str(value))


def _plain(value: Any) -> Any:
    """For JSON, which knows no NaN, and neither bytes nor times."""
    value = float(value) if isinstance(value, decimal.Decimal) else value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, bytes):
        return value.hex()
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _print_table(names: Sequence[str], rows: Sequence[Sequence[Any]], first: bool) -> None:
    cells = [[_text(value) for value in row] for row in rows]
    heads = [_escape(name) for name in names]
    right = [any(isinstance(row[i], (int, float)) for row in rows) for i in range(len(names))]
    widths = [max(map(len, column)) for column in zip(heads, *cells)]
    if not first:
        print()
    for line in [heads, *cells]:
        print('  '.join(text.rjust(width) if number else text.ljust(width)
                        for text, width, number in zip(line, widths, right)).rstrip())


def _print_json(names: Sequence[str], rows: Sequence[Sequence[Any]], first: bool) -> None:
    print(json.dumps([dict(zip(names, map(_plain, row))) for row in rows]))


def _print_csv(names: Sequence[str], rows: Sequence[Sequence[Any]], first: bool) -> None:
    def shown(text: str) -> str:
        return _escape(text) if terminal else text

    terminal = sys.stdout.isatty()
    writer = csv.writer(sys.stdout, lineterminator='\n')
    if first:
        writer.writerow(map(shown, names))
    writer.writerows([None if value is None else shown(str(_plain(value))) for value in row] for row in rows)


def _unique(names: Sequence[str]) -> List[str]:
    """count, count_2: objects of JSON have each key once."""
    return [name if names[:i].count(name) == 0 else f'{name}_{names[:i + 1].count(name)}' for i, name in enumerate(names)]


_FORMATS: Dict[str, Callable[[Sequence[str], Sequence[Sequence[Any]], bool], None]] = {
    'text': _print_table, 'json': _print_json, 'csv': _print_csv,
}


class _Losses:
    """Reports lost events when they have become more."""

    def __init__(self, session: _native.Session) -> None:
        self.session, self.told = session, 0

    def tell(self) -> None:
        stats = self.session.stats()
        if stats['lost'] > self.told:
            print(f'perf-prof: {stats["delivered"]} events delivered, {stats["lost"]} lost', file=sys.stderr)
        self.told = stats['lost']


class Signals:
    """The first signal ends a live run, whose answer then comes; the second one, and the first while a recording is read,
    ends the process. timeout(1) sends each twice: that is one. DuckDB may have the main thread, which runs Python's
    handlers, for long: so another thread waits for the signals. Made before the
    session: that opens events already to learn what the kernel can do."""

    def __init__(self, recording: bool) -> None:
        self.recording = recording
        self.first: Optional[float] = None
        self.session: Optional[_native.Session] = None
        self.here, self.there = socket.socketpair()
        self.there.setblocking(False)
        caught = [number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) is not signal.SIG_IGN]
        for number in caught:
            signal.signal(number, lambda number, frame: None)
        if caught:
            signal.set_wakeup_fd(self.there.fileno(), warn_on_full_buffer=False)
            threading.Thread(target=self._wait, daemon=True).start()

    def end(self, session: _native.Session) -> None:
        """Ends this session from now on, and now if a signal has come."""
        self.session = session
        if self.first is not None:
            session.close()

    def _wait(self) -> None:
        self.here.recv(1)
        if self.recording:
            os._exit(130)
        self.first = time.monotonic()
        if self.session:
            self.session.close()
        while self.here.recv(1):
            if time.monotonic() - self.first > 0.5:
                os._exit(130)


@contextlib.contextmanager
def _to_stdout() -> Iterator[None]:
    """A write that fails is reported as such: the words of the error alone could be about any file."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno, f'cannot write to stdout: {os.strerror(error.errno or 0)}') from None


def _answer(query: Query, interval: float, show: Callable[[Sequence[str], Sequence[Sequence[Any]], bool], None], losses: _Losses) -> None:
    first = True
    for names, rows in query.each(interval, query.rows) if interval else [query.whole(query.rows)]:
        with _to_stdout():
            show(_unique(names), rows, first)
            sys.stdout.flush()
        losses.tell()
        first = False
    if first:     # it ended within the first interval, without events
        names, rows = query.rows()
        with _to_stdout():
            show(names, rows, True)
            sys.stdout.flush()


def check() -> None:
    """Raises ImportError if DuckDB is missing."""
    from .sql import _duckdb
    with said_for_command():
        _duckdb()


def run(signals: Signals, session: _native.Session, text: str, interval_ms: int, form: str, job: bool, verbose: int) -> int:
    """The exit code. The caller prints what it raises."""
    signals.end(session)
    sys.stdout.reconfigure(errors='backslashreplace')   # type: ignore[attr-defined]
    query, losses = Query(session, text), _Losses(session)
    try:
        _answer(query, interval_ms / 1000, _FORMATS[form], losses)
        if job:
            query.drain()
    except query.duckdb.Error as error:
        raise RuntimeError('\n'.join(map(_escape, str(error).split('\n')))) from None
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)    # Python's own flush at the end would complain
    losses.tell()
    notes: List[str] = session.notes if verbose > 0 or (verbose == 0 and sys.stderr.isatty()) else []
    for note in notes:
        print(f'perf-prof: {_escape(note)}', file=sys.stderr)
    if query.failure:
        raise query.failure
    return session.returncode or 0
