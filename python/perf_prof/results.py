# SPDX-License-Identifier: Apache-2.0
"""Results of the functions of perf_prof.analyses: rows for Arrow, text, stacks, flame graphs."""
import html
import json
import os
import re
import tempfile
from collections import Counter
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import _command, _native
from ._frames import Frames
from ._keywords import deprecated
from ._display import batch_text, lines_html, picture_html, text_html

# Types of columns by the kinds of docs/json.md.
KINDS = {'text': 'text', 'integer': 'int64', 'hex': 'uint64', 'number': 'float64', 'percent': 'float64', 'duration': 'int64',
         'time': 'int64'}
MOST = (1 << 63) - 1     # of int64
HEIGHT = 600             # of a page in a notebook, in pixels
NS = 'waits', 'rundelay', 'task-state', 'syscalls'     # commands whose stacks weigh ns

Row = Dict[str, Any]


# ---- rows --------------------------------------------------------------------------

def _type_of(values: Iterable[Any]) -> str:
    """The type of a column with these values."""
    kinds = {type(value) for value in values if value is not None}
    if kinds and kinds <= {int, bool}:
        return 'uint64' if any(value is not None and value > MOST for value in values) else 'int64'
    return 'float64' if kinds and kinds <= {int, float, bool} else 'text'


def _as_text(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def batch_of(rows: Sequence[Row], types: Optional[Mapping[str, str]] = None) -> _native.Batch:
    """A batch of dicts. types: of the columns; default: as the values are."""
    names = list(types) if types is not None else list(dict.fromkeys(name for row in rows for name in row))
    lists, kinds = [], []
    for name in names:
        values = [row.get(name) for row in rows]
        kind = types[name] if types is not None else _type_of(values)
        if kind == 'int64' and _type_of(values) == 'uint64':
            kind = 'uint64'
        lists.append([_as_text(value) for value in values] if kind == 'text' else values)
        kinds.append(kind)
    return _native._batch(tuple(names), tuple(kinds), tuple(lists))


def _flat(values: Mapping[str, Any], before: str = '') -> Iterator[Tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f'{before}{name}_')
        else:
            yield before + name, value


def _folded(frames: Iterable[Row], name: str) -> str:
    """A stack as folded text: the outermost function first. A semicolon in a name would divide it."""
    return ';'.join(frame.get(name, '[unknown]').replace(';', ':') for frame in reversed(list(frames)))


def _event_row(event: Row) -> Row:
    """An event of trace and script: common columns as those of Session, then its fields."""
    row = {f'_{name}': value for name, value in event.items() if name not in ('fields', 'stack')}
    row.update(event.get('fields', {}))
    if 'stack' in event:
        row['_stack'] = _folded(event['stack'], 'symbol')
    return row


def _thread_rows(process: Row) -> Iterator[Row]:
    """A row for each thread of dump, with its stack as folded text: the outermost function first."""
    for thread in process['threads']:
        yield {'pid': process['pid'], **{name: value for name, value in thread.items() if name != 'frames'},
               'stack': _folded(thread.get('frames', ()), 'function')}


def _rows_of(data: Iterable[Row]) -> Iterator[Row]:
    for one in data:
        if isinstance(one.get('event'), str):
            yield _event_row(one)
        elif 'threads' in one:
            yield from _thread_rows(one)
        elif isinstance(one.get('events'), list):
            time = {'time': one['time']} if 'time' in one else {}
            for event in one['events']:
                yield {**time, **dict(_flat(event))}
        else:
            yield dict(_flat(one))


def _fold(events: Iterable[Row]) -> Optional[str]:
    """The stacks of events as folded text, by task; None: there are none."""
    counts = Counter(f'{event.get("comm", "")};{_folded(event["stack"], "symbol")}' for event in events if event.get('stack'))
    return ''.join(f'{stack} {count}\n' for stack, count in counts.items()) or None


class Arrow(Frames):
    """Something with rows: it has Arrow's PyCapsule interface, and a notebook shows it as a table."""
    rows: _native.Batch

    def __arrow_c_schema__(self) -> object:
        return self.rows.__arrow_c_schema__()

    def __arrow_c_array__(self, requested_schema: Optional[object] = None) -> Tuple[object, object]:
        return self.rows.__arrow_c_array__(requested_schema)

    def __len__(self) -> int:
        return len(self.rows)

    def __getstate__(self) -> Dict[str, Any]:
        """For pickle: batches are made again."""
        return {**self.__dict__, '_batch': None}

    def table(self) -> str:
        raise NotImplementedError

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        return text_html(self.table())

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """In IPython."""
        printer.text(self.table())

    def _what(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f'<perf_prof.{self._what()}>'


class Table(Arrow):
    """One table of a result.

    name, columns   as in its JSON (docs/json.md)
    rows            a batch: polars.DataFrame(table) and the like read it without a copy
    info            the other members: time, lost, samples, ...
    """

    def __init__(self, line: Row) -> None:
        self.name: str = line['table']
        self._columns: List[Row] = line['columns']
        self.columns = tuple(column['name'] for column in self._columns)
        self.units = {column['name']: column['unit'] for column in self._columns if 'unit' in column}
        self.info = {name: value for name, value in line.items() if name not in ('table', 'columns', 'rows', 'text')}
        self._rows: List[Row] = line['rows']
        self._text: str = line.get('text', '')
        self._batch: Optional[_native.Batch] = None

    @property
    def types(self) -> Dict[str, str]:
        return {column['name']: KINDS[column['kind']] for column in self._columns}

    @property
    def rows(self) -> _native.Batch:   # type: ignore[override]
        if self._batch is None:
            self._batch = batch_of(self._rows, self.types)
        return self._batch

    def to_pylist(self) -> List[Row]:
        """The rows as dicts, as in JSON: empty cells are left out, and a function may have `inlined`."""
        return [dict(row) for row in self._rows]

    def table(self) -> str:
        """The text, as the command prints it."""
        return self._text or batch_text(self.rows)

    def _what(self) -> str:
        return f'Table {self.name}: {len(self._rows)} rows, {len(self.columns)} columns'


# ---- pictures --------------------------------------------------------------------------

def _folded_text(before: Any) -> Optional[str]:
    """Folded stacks: as they are, of a result, or from a file. Only a path is one line without a number at its end."""
    if before is None:
        return None
    if isinstance(before, (Result, FlameGraph)):
        return before.folded if isinstance(before, Result) else before._folded
    if not isinstance(before, (str, os.PathLike)):
        raise TypeError(f'before={before!r}: expected a result, a flame graph, folded stacks as a str, or the path of a file of them')
    if isinstance(before, str) and (not before or '\n' in before or re.search(r' \d+$', before)):
        return before
    with open(before, encoding='utf-8', errors='backslashreplace') as file:
        return file.read()


class FlameGraph:
    """A flame graph of folded stacks. A notebook shows it; save() writes it.

    before   the folded stacks of another run, or the path of a file of them; colours show the change since that run
    """

    def __init__(self, folded: str, title: str = '', unit: str = '',
                 before: Union[None, str, 'os.PathLike[str]', 'Result', 'FlameGraph'] = None) -> None:
        self._folded, self.title, self.unit, self.before = folded, title, unit, _folded_text(before)

    @property
    def folded(self) -> str:
        deprecated('flame_graph().folded', 'folded of the result')
        return self._folded

    def _draw(self, path: str, environ: Optional[Dict[str, str]] = None) -> None:
        files = []
        try:
            for text in (self._folded, self.before):
                if text is not None:
                    files.append(_command.memory('stacks'))
                    with open(os.dup(files[-1]), 'w', encoding='utf-8') as file:
                        file.write(text)
                    os.lseek(files[-1], 0, os.SEEK_SET)
            words = ['flame-graph', *([f'--title={self.title}'] if self.title else []),
                     *([f'--unit={self.unit}'] if self.unit else []),
                     *([f'--before=/dev/fd/{files[1]}'] if len(files) > 1 else []), f'--output={path}', f'/dev/fd/{files[0]}']
            with _command.Run(words, files=files, environ=environ) as run:
                run.wait()
                if run.process.returncode:
                    text = (run.messages() or [''])[-1]
                    for fd, name in zip(files, ('folded', 'before')):
                        text = text.replace(f'/dev/fd/{fd}:', f'{name}, line ')
                    _command.raise_refusal(_command.Refusal(run.process.returncode, text))
        finally:
            for fd in files:
                os.close(fd)

    def save(self, path: Union[str, 'os.PathLike[str]']) -> None:
        """Writes it to a file: .svg, .html, .speedscope.json or .folded."""
        self._draw(os.fspath(path))

    def _picture(self, suffix: str) -> str:
        # to a folder of ours, so not as the user who ran sudo
        environ = {name: value for name, value in os.environ.items() if not name.startswith('SUDO_')}
        with tempfile.TemporaryDirectory(prefix='perf-prof-') as folder:
            path = os.path.join(folder, f'picture.{suffix}')
            self._draw(path, environ)
            with open(path, encoding='utf-8') as file:
                return file.read()

    def svg(self) -> str:
        """As an SVG picture."""
        return self._picture('svg')

    def html(self) -> str:
        """As a page: zoom and search."""
        return self._picture('html')

    def _repr_html_(self) -> str:
        try:
            page = self.html()
        except ValueError:   # perf-prof was built without pages
            return picture_html(self.svg(), self.title)
        return (f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts" width="100%" height="{HEIGHT}" '
                'style="border: 0"></iframe>')

    def __repr__(self) -> str:
        return f'<perf_prof.FlameGraph of {len(self._folded.splitlines())} stacks>'


# What info["counts"] has, and the rows have not.
UNCOUNTED = {'open': 'still running at the end', 'gone': 'ended with their task', 'unbegun': 'already running at the start', 'restarted': 'begun again before their end'}
PERIODS = 'rundelay', 'task-state'      # some are always running at the end


def uncounted(tables: Iterable[Table], started: bool) -> List[str]:
    """What the command prints below such a table. started: a command, which always ends within a call."""
    notes = []
    for table in tables:
        counts = table.info.get('counts')
        if not isinstance(counts, dict) or table.name not in (*PERIODS, 'syscalls'):
            continue
        if table.name in PERIODS:
            n = counts['restarted'] + counts['unbegun']
            notes += [f'not counted: {n} period{"s" * (n != 1)} whose beginning or end the kernel did not report'] * bool(n)
        elif not started:
            parts = [f'{counts[name]} {text}' for name, text in UNCOUNTED.items() if counts.get(name)]
            notes += [f'incomplete calls: {", ".join(parts)}'] * bool(parts)
    return notes


# ---- results ---------------------------------------------------------------------------

def _documents(text: str) -> Tuple[List[Row], List[str]]:
    """The JSON objects of an output, and the lines between them."""
    decoder, at, found, lines = json.JSONDecoder(), 0, [], []
    while at < len(text):
        if text[at] == '{':
            try:
                one, at = decoder.raw_decode(text, at)
                found.append(one)
                at += text[at:at + 1] == '\n'
                continue
            except ValueError:   # a run that was ended in the middle of it
                pass
        end = text.find('\n', at)
        end = len(text) if end < 0 else end
        lines.append(text[at:end])
        at = end + 1
    return found, lines


class Result(Arrow):
    """What a command found.

    rows         its table as a batch: polars.DataFrame(result) and the like read it without a copy
    tables       all its tables, where it has several
    table()      the text, as the command prints it
    slow         durations above than=, as dicts with what, time, duration (ns), ...
    folded       its stacks as text, "main;work;read 12", the outermost function first; None: there are none
    flame_graph()
                 a picture of the stacks
    data         all that the command wrote, as dicts
    notes        hints and warnings of the run, such as lost events
    returncode   exit status of the command that was watched; None: there was none
    """

    def __init__(self, words: Sequence[str], output: str, interval: bool = False, folded: Optional[str] = None) -> None:
        self.words = list(words)
        self.returncode: Optional[int] = None
        self.data, lines = _documents(output)
        self.folded = _fold(self.data) if folded is None else folded
        self.tables = [Table(one) for one in self.data if 'table' in one]
        self.slow = [one for one in self.data if 'slow' in one]
        self.notes = [line[len(_command.OURS):] for line in lines if line.startswith(_command.OURS)]
        self._lines = [line for line in lines if not line.startswith(_command.OURS)]
        self._interval = interval
        self._batch: Optional[_native.Batch] = None

    @property
    def is_complete(self) -> bool:
        """Whether what there is cannot come from a run that failed."""
        return False

    def _make_rows(self) -> _native.Batch:
        if not self.tables:
            return batch_of(list(_rows_of(one for one in self.data if 'slow' not in one)))
        first = self.tables[0]
        if not self._interval:
            return first.rows
        rows = [{'time': table.info.get('time'), **row} for table in self.tables if table.name == first.name
                for row in table.to_pylist()]
        return batch_of(rows, {'time': 'text', **first.types})

    @property
    def rows(self) -> _native.Batch:   # type: ignore[override]
        if self._batch is None:
            self._batch = self._make_rows()
        return self._batch

    def table(self) -> str:
        """The text, as the command prints it."""
        if self.tables:
            return '\n'.join(table.table() for table in self.tables)
        return '\n'.join(self._lines) if not self.data else batch_text(self.rows)

    @property
    def stacks(self) -> List[Tuple[Tuple[str, ...], int]]:
        deprecated('stacks of a result', 'folded')
        lines = (line.rpartition(' ') for line in self.folded_or_raise().splitlines())
        return [(tuple(frames.split(';')), int(weight)) for frames, _, weight in lines if weight.isdigit()]

    def folded_or_raise(self) -> str:
        """Its stacks; ValueError: there are none."""
        if self.folded is None:
            raise ValueError(f'{self.words[0]}: no stacks were collected; call_graph=True collects them')
        return self.folded

    def diff(self, before: 'Result', **options: Any) -> 'Result':
        """What has changed since another result, by their stacks. options: parameters of perf_prof.diff()."""
        from .analyses import function
        return function('diff')(before, self, **options)   # type: ignore[no-any-return]

    def flame_graph(self, *, title: Optional[str] = None, unit: Optional[str] = None,
                    before: Union[None, str, 'os.PathLike[str]', 'Result', FlameGraph] = None) -> FlameGraph:
        """A flame graph of the stacks. before: another result, with whose stacks they are compared, or folded stacks, or the path
        of a file of them."""
        text, folded = self.folded_or_raise(), _folded_text(before)
        info = self.tables[0].info if self.tables else {}
        clock = 'clock' in str(info.get('event', '')) or 'off_cpu' in info or self.words[0] in NS
        return FlameGraph(text, f'perf-prof {self.words[0]}' if title is None else title,
                          ('ns' if clock else '') if unit is None else unit, folded)

    def _repr_html_(self) -> str:
        return super()._repr_html_() + lines_html(self.notes)

    def _what(self) -> str:
        tables = ', '.join(f'{table.name}: {len(table)} rows' for table in self.tables) or f'{len(self.data)} objects'
        return f'{type(self).__name__} of {self.words[0]}: {tables}'


class Counts(Result):
    """Counts of events, also by name: counts["page-faults"] is a number, or None if it was not counted.

    events    what is known of each, as dicts (docs/stat.schema.json)
    elapsed   seconds; for several runs, their mean
    """

    @property
    def is_complete(self) -> bool:
        return bool(self.data)

    @property
    def events(self) -> List[Row]:
        return [event for one in self.data for event in one['events']]

    @property
    def elapsed(self) -> Optional[float]:
        mean = self.data[0].get('elapsed_s', {}).get('mean') if self.data else None
        return None if mean is None else float(mean)

    def _reasons(self) -> List[str]:
        """Why events were not counted and the like: a line for each reason, which may be that of many events."""
        names: Dict[str, List[str]] = {}
        for event in self.events:
            if 'why' in event:
                names.setdefault(event['why'], []).append(event['event'])
        return [f'{", ".join(dict.fromkeys(events))}: {why}' for why, events in names.items()]

    def _counts(self) -> str:
        return batch_text(self.rows, without='why') if self.data else super().table()

    def table(self) -> str:
        """The rows as text, and below them the reasons."""
        return '\n'.join([self._counts(), *self._reasons()])

    def _repr_html_(self) -> str:
        return text_html(self._counts()) + lines_html([*self._reasons(), *self.notes])

    def keys(self) -> List[str]:
        return list(dict.fromkeys(event['event'] for event in self.events))

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, name: object) -> bool:
        return name in self.keys() or f'{name}:u' in self.keys()

    def __getitem__(self, name: str) -> Optional[float]:
        found = [event for event in self.events if event['event'] == name]
        # without privilege, the kernel's part is left out, and the name says so
        found = found or [event for event in self.events if event['event'] == f'{name}:u']
        if not found:
            raise KeyError(f'no event {name!r}; there are: {", ".join(self.keys())}')
        if len(found) > 1:
            raise ValueError(f'{name} has {len(found)} counts, such as one for each CPU: see rows')
        value = found[0].get('value')
        return None if value is None else float(value) if isinstance(value, float) else int(value)

    def items(self) -> List[Tuple[str, Optional[float]]]:
        return [(name, self[name]) for name in self.keys()]

    def values(self) -> List[Optional[float]]:
        return [self[name] for name in self.keys()]


class Features(Result):
    """What this user can use on this machine: features["hardware"] is True or False; the rows say why not.

    user, kernel, perf_event_paranoid
    """

    @property
    def features(self) -> List[Row]:
        return list(self.data[0]['features']) if self.data else []

    def _make_rows(self) -> _native.Batch:
        return batch_of(self.features)

    def __getattr__(self, name: str) -> Any:
        if name in ('user', 'uid', 'kernel', 'perf_event_paranoid') and self.data:
            return self.data[0].get(name)
        raise AttributeError(name)

    def keys(self) -> List[str]:
        return [feature['name'] for feature in self.features]

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, name: object) -> bool:
        return name in self.keys()

    def __getitem__(self, name: str) -> bool:
        for feature in self.features:
            if feature['name'] == name:
                return bool(feature['works'])
        raise KeyError(f'no feature {name!r}; there are: {", ".join(self.keys())}')


def listed(result: Result) -> List[Row]:
    """The events of `list`, as dicts."""
    return [event for one in result.data for event in one['events']]
