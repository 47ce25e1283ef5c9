# SPDX-License-Identifier: Apache-2.0
"""Rows for other libraries: .pl(), .df() and .arrow() of sessions, batches, aggregates and results.

Lost events are no rows in these, and the columns that only such rows fill are left out: `losses` of a session has them.
"""
import importlib
import itertools
from typing import Any, Iterator, List

from . import _native
from ._keywords import warn

LOST = '_lost'


def library(name: str, method: str, needs: str = '') -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f'{error}; {method} needs it: pip install {needs or name}') from error


class Frames:
    """The methods."""

    def pl(self) -> Any:
        """All events as a polars.DataFrame."""
        return pl(self)

    def df(self) -> Any:
        """All events as a pandas.DataFrame."""
        return df(self)

    def arrow(self) -> Any:
        """All events as a pyarrow.Table."""
        return arrow(self)


def without_losses(batch: _native.Batch) -> _native.Batch:
    """The rows that are no losses."""
    lost = batch[LOST]
    if lost.null_count == len(batch):
        return batch
    parts, at = [batch[:0]], 0
    for is_event, rows in itertools.groupby(lost, lambda value: value is None):
        n = sum(1 for _ in rows)
        parts += [batch[at:at + n]] * is_event
        at += n
    return _native.concat(parts)


class _Nothing:
    """What has the columns of a session or the like, and no rows."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def __arrow_c_stream__(self, requested_schema: Any = None) -> object:
        if isinstance(self.source, _native.Session):
            return _native._stream(self.source, [])
        return self.source.__arrow_c_stream__()


def _no_rows(source: Any) -> Any:
    quantiles = getattr(source, '_quantiles', None)
    return quantiles.batch(source._empty()) if quantiles else _Nothing(source)


def _parts(source: Any) -> Iterator[Any]:
    """What has the rows, for Arrow."""
    if isinstance(source, _native.Batch):
        yield without_losses(source) if LOST in source.columns else source
    elif hasattr(source, 'rows'):
        yield source.rows
    else:
        lost, empty = 0, True
        for batch in source:
            lost += sum(number or 0 for number in batch[LOST]) if batch[LOST].null_count < len(batch) else 0
            empty = False
            yield without_losses(batch)
        if empty:
            yield _no_rows(source)
        if lost:
            warn(f'{lost} events were lost, and are not in the rows: `losses` says when and why', UserWarning)


def _unneeded(source: Any) -> List[str]:
    """Columns that are about lost events alone. Aggregates have names of events only if these are a key."""
    if LOST not in getattr(source, 'columns', ()) or hasattr(source, 'rows'):
        return []
    return [LOST] if getattr(source, '_names_events', True) else ['_event', LOST]


def pl(source: Any) -> Any:
    polars = library('polars', '.pl()')
    frames = [polars.DataFrame(part) for part in _parts(source)]
    return (polars.concat(frames) if len(frames) > 1 else frames[0]).drop(_unneeded(source))


def arrow(source: Any) -> Any:
    pyarrow = library('pyarrow', '.arrow()')
    tables = [pyarrow.table(part) for part in _parts(source)]
    return (pyarrow.concat_tables(tables) if len(tables) > 1 else tables[0]).drop(_unneeded(source))


def df(source: Any) -> Any:
    for name in 'pyarrow', 'pandas':    # before anything is read
        library(name, '.df()', 'pandas pyarrow')
    return arrow(source).unify_dictionaries().to_pandas()
