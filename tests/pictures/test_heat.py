# SPDX-License-Identifier: Apache-2.0
"""Heat maps: brushing tells counts and quantiles of what is selected."""
import csv
import xml.etree.ElementTree as ElementTree

import pytest

SECOND = 1_000_000_000


@pytest.fixture
def drawn(picture, tmp_path):
    def draw(suffix, pairs):
        picture('heat', tmp_path / f'out.{suffix}', stdin=''.join(f'{t} {v}\n' for t, v in pairs))
        return tmp_path / f'out.{suffix}'
    return draw


def two_seconds():
    """A second of 10 us with a call of 20 ms in it, then one of 100 us; out of order."""
    pairs = [(7 * SECOND + i * 1_000_000, 10_000) for i in range(999)]
    pairs += [(7 * SECOND + 500_500_000, 20_000_000)]
    pairs += [(8 * SECOND + i * 1_000_000, 100_000) for i in range(1000)]
    return pairs[1000:] + pairs[:1000]


def of(page, name):
    return page.run(f'document.getElementById("of-{name}").textContent')


@pytest.mark.live
def test_all_then_a_selection_then_zoom(chromium, drawn):
    page = chromium.open(drawn('html', two_seconds()))
    page.until('document.getElementById("of-count")')
    assert of(page, 'count') == '2,000'
    assert of(page, 'max').endswith(' ms')
    left, top, right, bottom = page.box('document.querySelector("#brush .overlay")')
    shown = page.run('(d => d.spans * d.step)(JSON.parse(document.getElementById("data").textContent))')
    middle = left + (right - left) * SECOND / shown
    page.drag(left + 1, top + 1, middle - 3, bottom - 1)
    page.until('document.getElementById("of-of all").textContent !== "100.00%"')
    # a span at the edge more or less
    assert 980 <= int(of(page, 'count').replace(',', '')) <= 1000
    value, unit = of(page, 'p50').split()
    assert unit == 'us' and float(value) == pytest.approx(10, rel=0.01)
    assert of(page, 'max').endswith(' ms')
    page.click('document.getElementById("zoom")')
    page.until('document.getElementById("zoom").disabled')
    # what is shown is now all that a brush can reach
    assert 980 <= int(of(page, 'count').replace(',', '')) <= 1000
    painted = page.run('(() => { const c = document.querySelector("canvas"); const d = c.getContext("2d")'
                       '.getImageData(0, 0, c.width, c.height).data; let n = 0; '
                       'for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n })()')
    assert painted > 1000
    page.click('document.getElementById("reset")')
    page.until('document.getElementById("of-count").textContent === "2,000"')
    assert page.complaints() == []


@pytest.mark.live
def test_the_pointer_is_told_a_count(chromium, drawn):
    page = chromium.open(drawn('html', [(0, 1000)] * 5 + [(3 * SECOND, 1200)]))
    page.until('document.getElementById("of-count")')
    left, top, right, bottom = page.box('document.querySelector("#brush .overlay")')
    # 1000 in a range from 1000 / 1.2 to 1200 * 1.2, on a scale of powers
    page.mouse('mouseMoved', left + 1, bottom - (bottom - top) / 3)
    page.until('document.getElementById("hover").textContent.endsWith(": 5")')
    assert page.complaints() == []


@pytest.mark.live
def test_names_and_extremes(chromium, drawn):
    page = chromium.open(drawn('html', [(0, 0), (2**64 - 1, 2**64 - 1), (5, 1)]))
    page.until('document.getElementById("of-count").textContent === "3"')
    assert page.run('document.querySelectorAll("b").length') == 0
    assert page.complaints() == []
    page = chromium.open(drawn('html', []))
    page.until('document.getElementById("of-count").textContent === "0"')
    assert page.complaints() == []


def test_csv_has_all(drawn):
    with open(drawn('csv', two_seconds())) as f:
        rows = list(csv.DictReader(f))
    assert sum(int(r['count']) for r in rows) == 2000
    times = sorted({int(r['time_ns']) for r in rows})
    assert times[0] <= 7 * SECOND and times[-1] <= 9 * SECOND
    step = min(b - a for a, b in zip(times, times[1:]))
    assert 2 * SECOND / step <= 512
    for row in rows:
        assert int(row['low']) <= int(row['high'])
    first = [r for r in rows if int(r['time_ns']) + step <= 8 * SECOND]
    assert all(int(r['low']) <= 10_000 <= int(r['high']) or int(r['low']) <= 20_000_000 <= int(r['high'])
               for r in first)


def test_svg_is_well_formed(drawn):
    root = ElementTree.parse(drawn('svg', two_seconds())).getroot()
    titles = [t.text for t in root.iter('{http://www.w3.org/2000/svg}title')]
    assert sum(int(t.rsplit(': ', 1)[1]) for t in titles) == 2000
    ElementTree.parse(drawn('svg', []))
