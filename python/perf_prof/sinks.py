# SPDX-License-Identifier: Apache-2.0
"""Datasets in files, for more events than fit into memory.

Rows wait in memory until there are enough for a row group of their event. A file has the name .NAME.parquet.partial until
it is complete: pyarrow leaves out names that begin with a dot, patterns such as *.parquet those that end otherwise.
So a process that is killed leaves only whole files to readers.
"""
import datetime
import functools
import importlib
import itertools
import os
import re
import select
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Set, Union

from . import _native
from .sessions import Path, Recording, Time, _nanoseconds
from .stacks import folded_name

ROW_GROUP = 1 << 16        # rows
MEMORY = 24 << 20          # bytes of rows that wait, of all events together
CHUNKS = 64                # batches of one event that wait: many small ones take more memory than their bytes
OPEN_FILES = 64
WHOLE = 1 << 12            # rows: a batch of one event that is kept as it is, not copied
MAX_BYTES, MAX_SECONDS = 128 << 20, 300.0
STACK_BITS = 24            # of a stack's number in a session; its table has room for fewer
NAME = 200                 # bytes of a folder's name; file systems take 255


class Written(NamedTuple):
    """What parquet() wrote. lost: the number of lost events in its rows."""
    files: int
    rows: int
    lost: int
    bytes: int


def _pyarrow(module: str = 'pyarrow') -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f'{module}: {error}; perf_prof.sinks.parquet needs it: pip install pyarrow') from error


def _folder_name(key: str, value: str) -> str:
    """KEY=VALUE as datasets have it, escaped as in URLs. A long value is cut: the column _event has it whole."""
    return f'{key}=' + re.sub('%.?$', '', urllib.parse.quote(value, safe='')[:NAME])


def _file_names(run: str) -> Iterator[str]:
    """Names that no other run takes: time and `run`, by which those of one run are found."""
    for number in itertools.count(1):
        yield f'{datetime.datetime.now(datetime.timezone.utc):%Y%m%dT%H%M%S}-{run}-{number}.parquet'


class _File:
    """A Parquet file that gets its name when it is complete."""

    def __init__(self, folder: str, names: Iterator[str], schema: Any) -> None:
        name = next(names)
        self.path, self.hidden = os.path.join(folder, name), os.path.join(folder, f'.{name}.partial')
        os.makedirs(folder, exist_ok=True)
        self.file = open(self.hidden, 'xb')
        self.used = 0.0
        parquet, types = _pyarrow('pyarrow.parquet'), _pyarrow().types
        text = [field.name for field in schema if types.is_dictionary(field.type)]
        encoding = {name: 'DELTA_BINARY_PACKED' for name in ('_time', '_realtime') if name in schema.names} or None
        try:
            self.writer = parquet.ParquetWriter(self.file, schema, compression='zstd', use_dictionary=text, column_encoding=encoding,
                                                coerce_timestamps='us', allow_truncated_timestamps=True)   # Spark reads no ns
        except BaseException:
            self.abandon()
            raise

    def write(self, table: Any) -> None:
        """Writes a row group."""
        self.used = time.monotonic()
        try:
            self.writer.write_table(table, row_group_size=len(table))
        except BaseException as error:
            self.abandon()
            raise self._named(error)

    def finish(self) -> int:
        """Its size."""
        try:
            self.writer.close()
            size = self.file.tell()
            self.file.flush()
            os.fsync(self.file.fileno())    # a name must not come before its bytes, even if the power fails
            self.file.close()
            os.rename(self.hidden, self.path)
        except BaseException as error:
            self.abandon()
            raise self._named(error)
        return size

    def abandon(self) -> None:
        try:
            self.file.close()
        except OSError:     # what waits in it does not fit, either
            pass
        os.unlink(self.hidden)

    def _named(self, error: BaseException) -> BaseException:
        """With the path, which errors of write(2) lack."""
        if not isinstance(error, OSError) or error.filename:
            return error
        return OSError(error.errno, error.strerror or str(error), self.path)


class _Part:
    """The rows of one event: those that wait, and the file that has those before."""

    def __init__(self, event: str) -> None:
        self.event = event
        self.file: Optional[_File] = None
        self.waiting: List[Any] = []
        self.rows = self.bytes = 0
        self.deadline = 0.0

    def add(self, batch: Any) -> None:
        self.waiting.append(batch)
        self.rows += len(batch)
        self.bytes += batch.nbytes
        if len(self.waiting) > CHUNKS:
            self.waiting = self._table().combine_chunks().to_batches()
            self.bytes = sum(one.nbytes for one in self.waiting)

    def _table(self) -> Any:
        return _pyarrow().Table.from_batches(self.waiting).unify_dictionaries()

    def take(self) -> Any:
        table = self._table()
        self.waiting, self.rows, self.bytes = [], 0, 0
        return table


class _StackFiles:
    """The stacks of a session in tables of their own. Numbers of different sessions differ: a random one stands before."""

    def __init__(self, session: _native.Session, folder: str, host: str, names: Iterator[str]) -> None:
        self.session, self.folder, self.host, self.names = session, folder.rstrip('/'), host, names
        self.first = int.from_bytes(os.urandom(5), 'big') >> 1 << STACK_BITS
        self.written: Set[int] = set()

    def number(self, rows: Any) -> Any:
        """The rows with numbers that no other session has."""
        at = rows.schema.get_field_index('_stack')
        columns = list(rows.columns)
        columns[at] = self._whole(rows['_stack'])
        return _pyarrow().RecordBatch.from_arrays(columns, schema=rows.schema.set(at, _pyarrow().field('_stack', columns[at].type)))

    def _whole(self, numbers: Any) -> Any:
        return _pyarrow('pyarrow.compute').add(numbers.cast(_pyarrow().int64()), self.first)

    def write(self, day: str, last: bool) -> Iterator[int]:
        """Writes the stacks that came since; gives the bytes of each file. Before the last time, those whose names are known."""
        compute, pyarrow = _pyarrow('pyarrow.compute'), _pyarrow()
        settled = self.session._stack_settled(last)
        stacks, frames = map(pyarrow.record_batch, self.session._stack_tables(last))
        new = {stack for stack in stacks['stack'].unique().to_pylist() if last or stack < settled} - self.written
        if not new:
            return
        stacks = stacks.filter(compute.and_(compute.is_in(stacks['stack'], pyarrow.array(sorted(new), pyarrow.int32())),
                                            compute.is_valid(stacks['frame'])))      # null: memory was short
        chosen = frames.take(stacks['frame'])
        columns = {name: chosen[name] for name in ('symbol', 'dso', 'offset', 'file')}
        table = pyarrow.table({'_stack': self._whole(stacks['stack']), 'depth': stacks['depth'], **columns,
                               'line': chosen['line'].cast(pyarrow.int32()), 'kernel': chosen['kernel'].cast(pyarrow.bool_()),
                               'inlined': chosen['inlined'].cast(pyarrow.bool_())})
        yield self._file('frames', day, table)
        yield self._file('stacks', day, self._folded(stacks, frames))
        self.written |= new

    def _folded(self, stacks: Any, frames: Any) -> Any:
        names = [folded_name(*row) for row in zip(*(frames[name].to_pylist() for name in ('symbol', 'kernel', 'inlined')))]
        texts: Dict[int, List[str]] = {}
        for stack, frame in zip(stacks['stack'].to_pylist(), stacks['frame'].to_pylist()):
            texts.setdefault(stack, []).append(names[frame])
        return _pyarrow().table({'_stack': self._whole(_pyarrow().array(list(texts), _pyarrow().int64())),
                                 'folded': [';'.join(reversed(text)) for text in texts.values()]})

    def _file(self, name: str, day: str, table: Any) -> int:
        file = _File(os.path.join(f'{self.folder}-{name}', _folder_name('host', self.host), f'date={day}'), self.names,
                     table.schema)
        file.write(table)
        return file.finish()


class _Dataset:
    """Batches by event and day, in files; and the stacks of `source`, if it has any."""

    def __init__(self, folder: str, host: str, day: Optional[str], max_bytes: int, max_seconds: float,
                 source: Optional[_native.Session] = None) -> None:
        self.run = os.urandom(6).hex()
        self.names = _file_names(self.run)
        self.stacks = _StackFiles(source, folder, host, self.names) if source and '_stack' in source.columns else None
        self.stacks_deadline = time.monotonic() + max_seconds
        self.folder, self.host, self.fixed_day = folder, host, day
        self.max_bytes, self.max_seconds = max_bytes, max_seconds
        self.parts: Dict[str, _Part] = {}
        self.files = self.rows = self.lost = self.bytes = 0
        self.day = self._today()

    def _today(self) -> str:
        return self.fixed_day or datetime.datetime.now(datetime.timezone.utc).date().isoformat()

    def add(self, batch: _native.Batch) -> None:
        rows = _pyarrow().record_batch(batch)
        if self.stacks:
            rows = self.stacks.number(rows)
        self.rotate()
        self.rows += len(rows)
        self.lost += _pyarrow('pyarrow.compute').sum(rows['_lost']).as_py() or 0
        for event, some in _by_event(rows).items():
            part = self.parts.setdefault(event, _Part(event))
            if not part.rows and not part.file:
                part.deadline = time.monotonic() + self.max_seconds
            part.add(some)
            if part.rows >= ROW_GROUP:
                self._write(part)
        while sum(part.bytes for part in self.parts.values()) > MEMORY:
            self._write(max(self.parts.values(), key=lambda part: part.bytes))

    def _write(self, part: _Part) -> None:
        table = part.take()
        if not part.file:
            self._make_room()
            part.file = _File(os.path.join(self.folder, _folder_name('host', self.host), f'date={self.day}',
                                           _folder_name('event', part.event)), self.names, table.schema)
        try:
            part.file.write(table)
        except BaseException:
            part.file = None
            raise
        if part.file.file.tell() >= self.max_bytes:
            self._finish(part)

    def _make_room(self) -> None:
        """Finishes the file that was not written for longest if too many are open."""
        writing = [part for part in self.parts.values() if part.file]
        if len(writing) >= OPEN_FILES:
            self._finish(min(writing, key=lambda part: part.file.used if part.file else 0))

    def _finish(self, part: _Part) -> None:
        if part.rows:
            self._write(part)
        file, part.file = part.file, None
        if file:
            self.bytes += file.finish()
            self.files += 1
        if not part.rows:
            self.parts.pop(part.event, None)

    def rotate(self) -> None:
        """Finishes the files that are old enough, and all at the end of a day."""
        today, now = self._today(), time.monotonic()
        for part in list(self.parts.values()):
            if part.deadline <= now or today != self.day:
                self._finish(part)
        if self.stacks and (self.stacks_deadline <= now or today != self.day):
            self._write_stacks()
        self.day = today

    def _write_stacks(self, last: bool = False) -> None:
        for size in self.stacks.write(self.day, last) if self.stacks else ():
            self.files += 1
            self.bytes += size
        self.stacks_deadline = time.monotonic() + self.max_seconds

    def wait_ms(self) -> int:
        """How long nothing has to be done."""
        now = time.monotonic()
        deadlines = [part.deadline for part in self.parts.values()] + [self.stacks_deadline] * (self.stacks is not None)
        return max(0, int(1000 * min((deadline - now for deadline in deadlines), default=1.0)) + 1)

    def finish(self) -> None:
        """Finishes all. After an error the others are finished all the same: their rows are good."""
        first: Optional[BaseException] = None
        for finish in [functools.partial(self._finish, part) for part in self.parts.values()] + [functools.partial(self._write_stacks, True)]:
            try:
                finish()
            except OSError as error:
                first = first or error
        if first:
            raise first


def _by_event(rows: Any) -> Dict[str, Any]:
    """The rows of each event, in memory of their own: any part of a batch keeps all of it alive."""
    compute = _pyarrow('pyarrow.compute')
    names = rows['_event']
    counts = sorted((one['values'], one['counts']) for one in compute.value_counts(names.indices).to_pylist())
    if len(counts) == 1 and len(rows) >= WHOLE:
        return {names.dictionary[counts[0][0]].as_py(): rows}
    rows = _with_columns(rows, _own_dictionary)
    order, at, parts = compute.array_sort_indices(names.indices), 0, {}    # stable
    for code, count in counts:
        some = compute.take(rows, order.slice(at, count), boundscheck=False)
        parts[names.dictionary[code].as_py()] = _with_columns(some, _small_dictionary)
        at += count
    return parts


def _with_columns(rows: Any, change: Callable[[Any], Any]) -> Any:
    is_dictionary = _pyarrow().types.is_dictionary
    return _pyarrow().RecordBatch.from_arrays([change(one) if is_dictionary(one.type) else one for one in rows.columns], schema=rows.schema)


def _own_dictionary(column: Any) -> Any:
    return _pyarrow().DictionaryArray.from_arrays(column.indices, _pyarrow().concat_arrays([column.dictionary]))


def _small_dictionary(column: Any) -> Any:
    """Without the texts of other rows, where they are many."""
    if len(column.dictionary) <= len(column):
        return column
    return column.cast(column.type.value_type).dictionary_encode().cast(column.type)


def _text(name: str, value: Any, meaning: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f'{name}={value!r}: expected {meaning}')
    if not value or '\0' in value:
        raise ValueError(f'{name}={value!r}: expected {meaning}')
    return value


def _day(value: Union[None, str, datetime.date]) -> Optional[str]:
    if value is None:
        return None
    if isinstance(value, datetime.date):
        return f'{value:%Y-%m-%d}'
    try:
        return datetime.date.fromisoformat(_text('date', value, 'a day such as "2026-01-31"')).isoformat()
    except ValueError:
        raise ValueError(f'date={value!r}: expected a day such as "2026-01-31"') from None


def _limit(name: str, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f'{name}={value!r}: expected a number')
    if not 0 < value < 1 << 48:
        raise ValueError(f'{name}={value!r}: expected a number above 0')
    return value


def _dataset(source: _native.Session, folder: Path, host: Optional[str], date: Union[None, str, datetime.date], max_bytes: int,
             max_seconds: Time) -> _Dataset:
    if not isinstance(source, _native.Session):
        raise TypeError(f'{source!r}: expected a perf_prof.Session, or what perf_prof.open() returns')
    if isinstance(source, Recording) and (host is None or date is None):
        missing = 'host' if host is None else 'date'
        raise ValueError(f'{missing}=None: expected the {"name of the machine" if host is None else "day"} of the recording')
    host = _text('host', os.uname().nodename if host is None else host, 'the name of a machine')
    _pyarrow('pyarrow.parquet')
    iter(source)    # complains if it is closed
    return _Dataset(os.fsdecode(folder), host, _day(date), _limit('max_bytes', max_bytes),
                    _limit('max_seconds', _nanoseconds(max_seconds, 'max_seconds') / 1e9), source)


def _fill(dataset: _Dataset, source: _native.Session) -> None:
    """With all batches. The files that are complete stay after an error."""
    ready = select.poll()
    ready.register(source.fileno(), select.POLLIN)
    # The files belong to a thread of their own: there Ctrl-C interrupts nothing half-way.
    with ThreadPoolExecutor(1, 'perf_prof.sinks') as writer:
        try:
            while True:
                batch = source._take()
                if batch is False:
                    break
                if batch is not None:
                    writer.submit(dataset.add, batch).result()
                    continue
                ready.poll(dataset.wait_ms())
                writer.submit(dataset.rotate).result()
        finally:
            writer.submit(dataset.finish).result()


def parquet(source: _native.Session, folder: Path, *, host: Optional[str] = None, date: Union[None, str, datetime.date] = None,
            max_bytes: int = MAX_BYTES, max_seconds: Time = MAX_SECONDS) -> Written:
    """Writes all batches of a session or recording to a Parquet dataset, and returns what it wrote.

    folder       the dataset: files FOLDER/host=HOST/date=DAY/event=EVENT/*.parquet. Lost events are rows of event=lost:CAUSE
    host         default: the name of this machine; required for a recording, which may come from another machine
    date         default: the day (UTC) on which the rows are written; required for a recording
    max_bytes    a file is complete when it has at least this size (at most a row group more)
    max_seconds  or at this age. If the process is killed, rows that are not in a complete file are lost

    If the session's fields name _realtime, it is written in microseconds, which Spark can read.

    Call stacks are in two more datasets: FOLDER-stacks has a row for each stack, as folded text (_stack, folded), and
    FOLDER-frames has a row for each of its frames (_stack, depth, symbol, ...).

    Any number of processes may write into one folder. It needs pyarrow. After an error of the session, or
    Ctrl-C, all rows that were read are written. OSError has the path of a file that could not be written.
    """
    dataset = _dataset(source, folder, host, date, max_bytes, max_seconds)
    _fill(dataset, source)
    return Written(dataset.files, dataset.rows, dataset.lost, dataset.bytes)
