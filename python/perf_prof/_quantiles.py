# SPDX-License-Identifier: Apache-2.0
"""Quantiles in aggregates: quantile(EXPR, Q). The session counts a histogram; its rows become one for each key."""
import re
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import _native

BUCKETS = 32            # for each power of two: a quantile is within 1.6 % of a value
HIDDEN = '_quantile'    # the histogram's column
LOW, HIGH = f'{HIDDEN}_low', f'{HIDDEN}_high'
QUANTILE = re.compile(r'\s*quantile\s*\((?P<what>.*),\s*(?P<share>[^,()]*)\)\s*', re.DOTALL)
Pairs = Tuple[Tuple[str, str], ...]
Row = Dict[str, Any]


class Quantiles(NamedTuple):
    """keys: names of columns. values: the functions of the others. shares: of quantiles. names: the columns in their order."""
    keys: Sequence[str]
    values: Dict[str, str]
    shares: Dict[str, float]
    names: Sequence[str]

    def columns(self, given: Sequence[str]) -> Tuple[str, ...]:
        """What of the histogram's columns stays, and the quantiles."""
        return (*(name for name in given if name not in self.values and name not in (HIDDEN, LOW, HIGH)), *self.names)

    def batch(self, histogram: _native.Batch) -> _native.Batch:
        columns = self.columns(histogram.columns)
        groups: Dict[Tuple[Any, ...], List[Row]] = {}
        first = [name for name in columns if name not in self.names]
        for row in histogram.to_pylist():
            groups.setdefault(tuple(row[name] for name in first), []).append(row)
        rows = [{**rows[0], **self._row(rows)} for rows in groups.values()]
        types = tuple(histogram[LOW if name in self.shares else name].type for name in columns)
        return _native._batch(columns, types, tuple([row[name] for row in rows] for name in columns), histogram._names_events)

    def _row(self, rows: List[Row]) -> Row:
        found: Row = {}
        for name, function in self.values.items():
            values = [row[name] for row in rows if row[name] is not None]
            found[name] = {'min': min, 'max': max}.get(function, sum)(values) if values else None
        buckets = sorted((row[LOW], row[HIGH], row[HIDDEN]) for row in rows if row[LOW] is not None)
        for name, share in self.shares.items():
            found[name] = _quantile(buckets, share)
        return found


def _quantile(buckets: List[Tuple[int, int, int]], share: float) -> Optional[int]:
    """The middle of the bucket that has it."""
    left = share * sum(count for _, _, count in buckets)
    for low, high, count in buckets:
        left -= count
        if left <= 0:
            return (low + high) // 2
    return None


def planned(keys: Pairs, values: Pairs) -> Tuple[Pairs, Optional[Quantiles]]:
    """The values that the session is to count, and what makes quantiles of them; None: there are none."""
    found = {name: match for name, match in ((name, QUANTILE.fullmatch(text)) for name, text in values) if match}
    if not found:
        return values, None
    shares = {name: _share(name, match['share']) for name, match in found.items()}
    what = {match['what'].strip() for match in found.values()}
    others = tuple((name, text) for name, text in values if name not in found)
    if len(what) > 1 or any('histogram' in text for _, text in others):
        raise ValueError(f'values={dict(values)!r}: the quantiles of an aggregate are of one expression, and beside them there is no '
                         'histogram()')
    histogram = (HIDDEN, f"histogram({what.pop()}, 'loglinear', {BUCKETS})")
    functions = {name: text.strip().partition('(')[0].strip() for name, text in others}
    return (*others, histogram), Quantiles([name for name, _ in keys], functions, shares, [name for name, _ in values])


def _share(name: str, text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1
    if not 0 <= share <= 1:
        raise ValueError(f'values={name}: quantile(EXPR, {text.strip()}): expected a share from 0 to 1, such as 0.99')
    return share
