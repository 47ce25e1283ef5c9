# SPDX-License-Identifier: Apache-2.0
"""The call stacks of a session: Session.stacks."""
import collections
import contextlib
import importlib
import os
import threading
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, Union

from . import _native
from ._frames import Frames as Rows
from ._frames import library
from ._keywords import deprecated

if TYPE_CHECKING:
    from .results import FlameGraph

# Any: a column of another library, such as df["_stack"]
Counts = Union[_native.Batch, _native.Column, Mapping[Optional[int], int], Iterable[_native.Batch], Any]
Weights = Union[None, str, _native.Column, Any]
LISTS = 'to_pylist', 'to_list', 'tolist'    # methods of such columns: pyarrow, Polars and pandas, NumPy
COUNT = 'count()'       # a column of aggregates


class Frames:
    """The frames of a session so far: all its Stacks have the same."""

    def __init__(self) -> None:
        self.frames: List[_native.Frame] = []
        self.lock = threading.Lock()

    def to(self, session: _native.Session, last: int) -> List[_native.Frame]:
        """Those up to the number `last`, at least."""
        with self.lock:
            if last >= len(self.frames):
                self.frames += session._stack_frames(len(self.frames))
        return self.frames


class Stacks(Rows):
    """The call stacks of a session or recording, by their numbers in the column _stack.

    stacks[3] is a tuple of frames, innermost first; they are dicts of addr, symbol, offset, kernel, dso, file, line and
    inlined. The names of a stack are looked up when you read it, the rest when the session ends; all stay valid after it.
    """

    def __init__(self, session: _native.Session, frames: Frames) -> None:
        session._stack_count()   # complains if it has none
        self._session = session
        self._frames = frames

    def __len__(self) -> int:
        return self._session._stack_count()

    def __getitem__(self, stack: int) -> Tuple[_native.Frame, ...]:
        if isinstance(stack, bool) or not hasattr(stack, '__index__'):
            raise TypeError(f'stacks[{stack!r}]: expected a number from the column _stack')
        number = stack.__index__()
        if not 0 <= number < len(self):
            raise IndexError(f'stacks[{number}]: there are {len(self)} stacks')
        return self._get(number, True)

    def _get(self, number: int, patient: bool) -> Tuple[_native.Frame, ...]:
        """patient: waits for names that come late."""
        numbers = self._session._stack(number, patient)
        frames = self._frames.to(self._session, max(numbers, default=-1))
        return tuple(frames[one] for one in numbers if one >= 0)   # -1: memory was short

    def __iter__(self) -> Iterator[Tuple[_native.Frame, ...]]:
        self._session._stack_settled(True)      # once, not for each
        for number in range(len(self)):
            yield self._get(number, False)

    def __repr__(self) -> str:
        return f'<{len(self)} call stacks>'

    def tables(self) -> Tuple[_native.Batch, _native.Batch]:
        """Two batches: all stacks (stack, depth, frame), and their frames (frame, addr, symbol, ...)."""
        return self._session._stack_tables(True)

    def arrow(self) -> Any:
        """One pyarrow.Table: a row for each frame of each stack, with its depth (0: innermost)."""
        pyarrow = library('pyarrow', 'stacks.arrow()')
        stacks, frames = (pyarrow.table(one) for one in self.tables())
        rows = frames.take(stacks['frame'])      # frames are in the order of their numbers
        for at, name in enumerate(('stack', 'depth')):
            rows = rows.add_column(at, name, stacks[name])
        return rows

    def df(self) -> Any:
        """The same as a pandas.DataFrame."""
        library('pandas', 'stacks.df()', 'pandas pyarrow')
        return self.arrow().unify_dictionaries().to_pandas()

    def pl(self) -> Any:
        """The same as a polars.DataFrame."""
        polars = library('polars', 'stacks.pl()')
        stacks, frames = (polars.DataFrame(one) for one in self.tables())
        rows = stacks.join(frames, on='frame', how='left', maintain_order='left')
        return rows.select('stack', 'depth', 'frame', *frames.columns[1:])

    def to_arrow(self) -> Any:
        deprecated('stacks.to_arrow()', 'stacks.arrow()')
        return self.arrow()

    def _sampled(self) -> Mapping[Optional[int], int]:
        """How often each stack was sampled. Of a session that nobody has read, this reads all batches."""
        stats = self._session.stats()
        if stats['batches'] == stats['waiting'] and not self._session.closed:
            with contextlib.suppress(StopIteration, ValueError):     # ValueError: its batches go elsewhere
                while True:
                    next(self._session)
        return {number: self._session._stack_samples(number) for number in range(len(self))}

    def folded(self, counts: Counts = None, *, weights: Weights = None) -> str:
        """Lines "main;work;read 12" for flame graphs: the outermost function first, then how often the stack occurred.

        counts    a batch, several (such as a session or an aggregate), a column _stack (of a batch, or of Polars, pandas,
                  pyarrow or NumPy), or a dict such as collections.Counter: stack -> number. Rows without a stack are left out.
                  Default: all samples so far; if nobody has read the session, it is read to its end
        weights   the column that is added instead of 1 for each row: its name, or of one batch batch["_period"]. Default: "count()"
                  in the batches of an aggregate that has it
        """
        lines: Dict[str, int] = collections.Counter()
        if counts is None and weights is not None:
            raise TypeError(f'weights={weights!r}: expected counts that have this column, such as a batch or the session')
        # of a running session, this takes until its end
        counted: Mapping[Optional[int], int] = self._sampled() if counts is None else _counted(counts, weights)
        self._session._stack_settled(True)
        for stack, count in counted.items():
            if stack is not None:
                if not 0 <= stack < len(self):
                    raise IndexError(f'stacks[{stack}]: there are {len(self)} stacks')
                names = [folded_name(frame['symbol'], frame['kernel'], frame['inlined']) for frame in self._get(stack, False)]
                lines[';'.join(reversed(names))] += count
        return ''.join(f'{line} {count}\n' for line, count in sorted(lines.items()))

    def flame_graph(self, counts: Counts = None, *, weights: Weights = None, title: str = '', unit: str = '',
                    before: 'Union[None, str, os.PathLike[str], FlameGraph]' = None) -> 'FlameGraph':
        """A flame graph of the stacks. counts, weights: as for folded(). before: the folded stacks of another run, or the path of a
        file of them; colours show the change since that run."""
        from .results import FlameGraph
        return FlameGraph(self.folded(counts, weights=weights), title, unit, before)


def _counted(counts: Counts, weights: Weights) -> Mapping[Optional[int], int]:
    if isinstance(counts, Mapping):
        return counts
    if isinstance(counts, _native.Batch) or _is_column(counts):
        return _of_rows(counts, weights)
    if not (weights is None or isinstance(weights, str)):
        raise TypeError(f'weights={weights!r}: expected the name of a column, because there are several batches')
    total: Dict[Optional[int], int] = collections.Counter()
    for batch in counts if hasattr(counts, '__iter__') else (counts,):
        if not isinstance(batch, _native.Batch):
            raise TypeError(f'folded({type(counts).__name__}): expected a batch, several batches, a column such as batch["_stack"], '
                            'or a dict from stacks to numbers')
        for stack, count in _of_rows(batch, weights).items():
            total[stack] += count
    return total


def _is_column(value: Any) -> bool:
    return any(hasattr(value, name) for name in LISTS) or (hasattr(value, '__arrow_c_array__') and not hasattr(value, 'columns'))


def _listed(name: str, column: Any) -> List[Any]:
    """The values of a column of any library. Where numbers have no other way to be missing, they are NaN."""
    if isinstance(column, _native.Column):
        return column.to_pylist()
    method = next((getattr(column, one) for one in LISTS if hasattr(column, one)), None)
    if method is None and hasattr(column, '__arrow_c_array__'):
        method = importlib.import_module('pyarrow').array(column).to_pylist
    values = method() if method else None
    if not isinstance(values, list) or any(isinstance(value, (list, dict, str)) for value in values):
        raise TypeError(f'{name}={type(column).__name__}: expected a column of numbers, such as batch["_stack"]')
    return [None if value is None or value != value else int(value) if value == int(value) else value for value in values]


def _of_rows(rows: Any, weights: Weights) -> Mapping[Optional[int], int]:
    if isinstance(rows, _native.Batch):
        weights = COUNT if weights is None and COUNT in rows.columns else weights
        weights = rows[weights] if isinstance(weights, str) else weights
        rows = rows['_stack']
    if isinstance(weights, str):
        raise TypeError(f'weights={weights!r}: expected a column, because there is no batch that has this one')
    if weights is None:
        return collections.Counter(_listed('counts', rows))
    total: Dict[Optional[int], int] = collections.Counter()
    for stack, weight in zip(_listed('counts', rows), _listed('weights', weights)):
        total[stack] += weight or 0
    return total


def folded_name(symbol: Optional[str], kernel: bool, inlined: bool) -> str:
    """As in folded stacks, where lines and semicolons separate; the marks are those that `perf-prof flame-graph` reads."""
    if symbol is None or symbol == 'Unknown':
        return '[unknown]'
    return symbol.replace(';', ':').replace('\n', ' ') + ('_[k]' if kernel else '_[i]' if inlined else '')
