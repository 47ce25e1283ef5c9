# SPDX-License-Identifier: Apache-2.0
"""Batches as text, and batches, text and pictures as HTML for notebooks."""
import datetime
import html
import re
from typing import Any, Iterable, List

from ._native import Batch

ROWS = 20
ABOVE = 40      # of a picture, above the highest box with a name: room for the title
# A picture is as wide as its frame. One sees its base first, which is at the bottom (column-reverse), below a title that stays.
PICTURE = ('<!DOCTYPE html><style>html{overflow:hidden}'
           'body{margin:0;height:100vh;overflow:auto;display:flex;flex-direction:column-reverse}'
           'svg{flex:none;width:100%;height:auto}svg>text:first-of-type{display:none}'
           'div{position:fixed;top:0;left:0;right:0;padding:.4vw;background:#fff;font:1.3vw monospace;text-align:center}</style>')


def _time_of_day(ns: int) -> str:
    return f'{datetime.datetime.fromtimestamp(ns // 10 ** 9, datetime.timezone.utc):%Y-%m-%d %H:%M:%S}.{ns % 10 ** 9:09}'


def batch_html(batch: Batch) -> str:
    def cells(values: Iterable[Any], tag: str) -> str:
        return ''.join(f'<{tag}>{html.escape("" if value is None else str(value))}</{tag}>' for value in values)

    values = batch[:ROWS].to_pylist()
    for name in batch.columns:
        for row in values if batch[name].type == 'timestamp' else ():
            row[name] = None if row[name] is None else _time_of_day(row[name])
    rows = ''.join(f'<tr>{cells(row.values(), "td")}</tr>' for row in values)
    more = f'<p>{len(batch)} rows; the first {ROWS} are shown</p>' if len(batch) > ROWS else f'<p>{len(batch)} rows</p>'
    return f'<table><thead><tr>{cells(batch.columns, "th")}</tr></thead><tbody>{rows}</tbody></table>{more}'


def batch_text(batch: Batch, without: str = '') -> str:
    """All rows, with the values as they are. without: a column that is left out."""
    names = [name for name in batch.columns if name != without]
    rows: List[List[str]] = [names]
    rows += [['-' if row[name] is None else str(row[name]) for name in names] for row in batch.to_pylist()]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return '\n'.join('  '.join(map(str.ljust, row, widths)).rstrip() for row in rows)


def text_html(text: str) -> str:
    """Text with columns. Styles of notebooks (.jp-OutputArea-output pre) would take another font, and break its lines."""
    return f'<pre style="font-family: monospace; white-space: pre; overflow-x: auto">{html.escape(text)}</pre>'


def lines_html(lines: Iterable[str]) -> str:
    return ''.join(f'<p>{html.escape(line)}</p>' for line in lines)


def picture_html(svg: str, title: str) -> str:
    """A flame graph in a frame as wide as the notebook, up to its natural width, and as high as its highest box with a name: one
    scrolls to what is above, so a few deep stacks make no empty space."""
    width, height = re.findall(r' viewBox="0 0 (\d+) (\d+)"', svg)[0]
    named = [int(y) for y in re.findall(r'<rect x="[^"]*" y="(\d+)"[^>]*/><text', svg)]
    seen = int(height) - max(min(named, default=0) - ABOVE, 0)
    page = f'{PICTURE}<div>{html.escape(title)}</div>{svg[svg.index("<svg"):]}'
    return (f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts" '
            f'style="border: 0; width: 100%; max-width: {width}px; height: auto; aspect-ratio: {width} / {seen}"></iframe>')
