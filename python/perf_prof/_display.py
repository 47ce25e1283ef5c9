# SPDX-License-Identifier: Apache-2.0
"""Batches as text, and as HTML for notebooks."""
import html
from typing import Any, Iterable, List

from ._native import Batch

ROWS = 20


def batch_html(batch: Batch) -> str:
    def cells(values: Iterable[Any], tag: str) -> str:
        return ''.join(f'<{tag}>{html.escape("" if value is None else str(value))}</{tag}>' for value in values)

    rows = ''.join(f'<tr>{cells(row.values(), "td")}</tr>' for row in batch[:ROWS].to_pylist())
    more = f'<p>{len(batch)} rows; the first {ROWS} are shown</p>' if len(batch) > ROWS else f'<p>{len(batch)} rows</p>'
    return f'<table><thead><tr>{cells(batch.columns, "th")}</tr></thead><tbody>{rows}</tbody></table>{more}'


def batch_text(batch: Batch) -> str:
    """All rows, with the values as they are."""
    rows: List[List[str]] = [list(batch.columns)]
    rows += [['-' if value is None else str(value) for value in row.values()] for row in batch.to_pylist()]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return '\n'.join('  '.join(map(str.ljust, row, widths)).rstrip() for row in rows)
