# SPDX-License-Identifier: Apache-2.0
"""Flame graphs: what a person does with the page, and what a hostile name can't do to it."""
import os
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

FOLDED = '''main;run;read 30
main;run;read;copy 10
main;run;write 50
main;idle 10
'''
BEFORE = '''main;run;read 10
main;run;write 10
main;gone 80
'''
HOSTILE = [
    '</script><script>document.title="owned"</script>',
    '<img src=x onerror=document.title="owned">',
    '"]};document.title="owned";//',
    "'-alert(1)-'", '<!--<script>', '\u2028\u2029', '__proto__', 'constructor', '{{7*7}}', ']]>', '&lt;', '\\u0061"',
]


def shown(name):
    """Line separators are escaped as controls are."""
    return name.replace('\u2028\u2029', r'\xe2\x80\xa8\xe2\x80\xa9')


def frame(name):
    return f'document.querySelector({("g.frame[name=" + quoted(name) + "]")!r})'


def quoted(name):
    return '"' + name.replace('\\', '\\\\').replace('"', '\\"') + '"'


def width(page, name):
    left, _, right, _ = page.box(frame(name) + '.querySelector("rect")')
    return right - left


@pytest.fixture
def drawn(picture, tmp_path):
    def draw(suffix, folded=FOLDED, before=None, told=''):
        (tmp_path / 'in.folded').write_text(folded)
        args = ['flame', tmp_path / f'out.{suffix}', tmp_path / 'in.folded']
        if before:
            (tmp_path / 'before.folded').write_text(before)
            args.append(tmp_path / 'before.folded')
        picture(*args, told=told)
        return tmp_path / f'out.{suffix}'
    return draw


@pytest.mark.live
def test_widths_are_weights(chromium, drawn):
    page = chromium.open(drawn('html'))
    page.until(frame('copy'))
    whole = width(page, 'main')
    for name, share in [('run', 0.9), ('read', 0.4), ('write', 0.5), ('idle', 0.1), ('copy', 0.1)]:
        assert width(page, name) == pytest.approx(share * whole, abs=2), name
    assert page.complaints() == []


@pytest.mark.live
def test_a_click_zooms_and_reset_goes_back(chromium, drawn):
    page = chromium.open(drawn('html'))
    page.until(frame('read'))
    whole, before = width(page, 'main'), width(page, 'read')
    page.click(frame('read') + '.querySelector("rect")')
    page.until('document.getElementById("zoomed").textContent.includes("read (40 samples, 40.00%")')
    assert width(page, 'read') == pytest.approx(whole, abs=2)
    assert width(page, 'copy') == pytest.approx(whole / 4, abs=2)
    assert page.run(frame('idle') + ' === null')      # no part of it
    page.click('document.getElementById("reset")')
    page.until(frame('idle'))
    assert width(page, 'read') == pytest.approx(before, abs=2)
    assert page.run('document.getElementById("zoomed").textContent') == ''
    assert page.complaints() == []


@pytest.mark.parametrize('term,matched', [
    ('read', '1 frames, 40.00%'),
    ('RE', '1 frames, 40.00%'),
    ('/^(copy|idle)$/', '2 frames, 20.00%'),
    ('/(/', '0 frames, 0.00%'),
    ('(', '0 frames, 0.00%'),
    ('main', '1 frames, 100.00%'),
])
@pytest.mark.live
def test_search_marks_and_counts(chromium, drawn, term, matched):
    page = chromium.open(drawn('html'))
    page.until(frame('copy'))
    page.click('document.getElementById("search")')
    page.type(term)
    page.until(f'document.getElementById("matched").textContent === {matched!r}')
    marked = page.run('[...document.querySelectorAll("g.frame rect")]'
                      '.filter(r => r.getAttribute("fill") === "#e600e6").length')
    assert marked == int(matched.split()[0])
    page.call('Input.dispatchKeyEvent', type='keyDown', key='Escape', code='Escape',
              windowsVirtualKeyCode=27)
    page.until('document.getElementById("matched").textContent === ""')
    assert page.complaints() == []


@pytest.mark.live
def test_the_pointer_is_told_numbers(chromium, drawn):
    page = chromium.open(drawn('html'))
    page.until(frame('write'))
    left, top, right, bottom = page.box(frame('write'))
    page.mouse('mouseMoved', (left + right) / 2, (top + bottom) / 2)
    page.until('document.getElementById("details").textContent === "write (50 samples, 50.00%)"')


@pytest.mark.parametrize('depth', [3, 100])
@pytest.mark.live
def test_its_base_is_seen_first_and_its_head_stays(chromium, drawn, depth):
    """However deep it is: what is wide is at the base."""
    page = chromium.open(drawn('html', ';'.join(f'f{i}' for i in range(depth)) + ' 1\n'))
    page.until(frame('f0'))
    seen = page.run('innerHeight')
    _, top, _, bottom = page.box(frame('f0'))
    assert 0 < top < bottom <= seen and page.run('scrollY > 0') == (depth == 100)
    for place in 0, 1e6:
        page.run(f'scrollTo(0, {place})')
        assert page.box('document.getElementById("head")')[1] == 0
    page.run('scrollTo(0, 0)')
    assert page.box(frame(f'f{depth - 1}'))[1] >= page.box('document.getElementById("head")')[3]


@pytest.mark.live
def test_difference_of_two(chromium, drawn):
    page = chromium.open(drawn('html', before=BEFORE))
    page.until(frame('read'))
    told = page.run('Object.fromEntries([...document.querySelectorAll("g.frame")]'
                    '.map(g => [g.getAttribute("name"), g.querySelector("title").textContent]))')
    assert told['read'] == 'read (40 samples, 40.00%; +30.00 points)'
    assert told['main'] == 'main (100 samples, 100.00%; +0.00 points)'
    assert told['idle'] == 'idle (10 samples, 10.00%; +10.00 points)'
    assert 'gone' not in told
    red = page.run(frame('run') + '.querySelector("rect").getAttribute("fill")')
    assert red.startswith('hsl(5,')
    assert page.complaints() == []


@pytest.mark.live
def test_names_are_text_and_nothing_else(chromium, drawn):
    folded = ''.join(f'main;{name};leaf 10\n' for name in HOSTILE)
    page = chromium.open(drawn('html', folded))
    page.until(frame('leaf'))
    names = set(page.run('[...document.querySelectorAll("g.frame")].map(g => g.getAttribute("name"))'))
    for name in HOSTILE:
        assert shown(name) in names or ';' in name, name
    assert page.run('document.title') == 'picture <b>of</b> made-up data'
    assert page.run('document.querySelectorAll("img, b, iframe").length') == 0
    assert page.run('document.querySelector("h1").textContent') == 'picture <b>of</b> made-up data'
    assert page.complaints() == []


@pytest.mark.live
def test_no_script_but_its_own_runs(chromium, drawn):
    """The policy holds also where something did become markup."""
    path = drawn('html')
    text = path.read_text()
    path.write_text(text.replace('<noscript>', '<script>document.title = "owned"</script><noscript>', 1))
    page = chromium.open(path)
    page.until(frame('read'))
    assert page.run('document.title') == 'picture <b>of</b> made-up data'
    assert any('Content Security Policy' in c for c in page.complaints())


@pytest.mark.live
def test_nothing_and_much(chromium, drawn, tmp_path):
    page = chromium.open(drawn('html', '', told='perf-prof: .*: the flame graph is empty\n'))
    page.until('document.getElementById("chart").textContent === "There are no stacks."')
    deep = ';'.join(f'f{i}' for i in range(1000))
    wide = ''.join(f'main;w{i};x{i % 7} {i + 1}\n' for i in range(20000))
    page = chromium.open(drawn('html', f'{deep} 100000000\n{wide}'))
    page.until(frame('f999'))
    assert page.complaints() == []


def test_svg_is_well_formed(drawn):
    folded = FOLDED + ''.join(f'main;{name} 10\n' for name in HOSTILE) + 'main;\ufffe\uffff 5\n'
    root = ElementTree.parse(drawn('svg', folded)).getroot()
    space = '{http://www.w3.org/2000/svg}'
    titles = [t.text for t in root.iter(f'{space}title')]
    assert f'write (50 samples, {100 * 50 / (105 + 10 * len(HOSTILE)):.2f}%)' in titles
    for name in HOSTILE:
        if ';' not in name:
            assert any(t.startswith(shown(name) + ' (') for t in titles), name
    assert not list(root.iter(f'{space}script'))
    # no box is over its parent's edge
    for rect in root.iter(f'{space}rect'):
        if rect.get('x'):
            assert 10 - 0.1 <= float(rect.get('x'))
            assert float(rect.get('x')) + float(rect.get('width')) <= 1190.1


@pytest.mark.live
def test_svg_shows_in_a_browser(chromium, drawn, tmp_path):
    page = chromium.open(drawn('svg'))
    assert page.run('document.documentElement.tagName') == 'svg'
    assert page.run('document.querySelectorAll("g").length') == 6


@pytest.mark.live
def test_a_profile_as_a_page(chromium, prof, inlined, tmp_path):
    """The whole way: samples, symbols, inlined functions, page, search, click."""
    if os.geteuid():
        pytest.skip('needs root')
    path = tmp_path / 'out.html'
    done = subprocess.run([prof, 'profile', '-F', '997', '-g', '--flame-graph', path, '-q', '--', inlined, '500'],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    told = dict(re.findall(r'^(shop::.*) (\d+)$', done.stdout, re.M))
    page = chromium.open(path)
    page.until('document.querySelectorAll("g.frame").length > 3')
    page.click('document.getElementById("search")')
    for name, ns in told.items():
        page.type(name)
        share = 100 * int(ns) / sum(map(int, told.values()))
        page.until('document.getElementById("matched").textContent.startsWith("1 frames, ") && Math.abs(parseFloat('
                   f'document.getElementById("matched").textContent.split(", ")[1]) - {share}) <= 3')
        page.call('Input.dispatchKeyEvent', type='keyDown', key='Escape', code='Escape', windowsVirtualKeyCode=27)
        page.until('document.getElementById("matched").textContent === ""')
    page.click(frame('shop::day') + '.querySelector("rect")')
    page.until('document.getElementById("zoomed").textContent.startsWith("zoomed: shop::day")')
    whole = width(page, 'shop::day')
    assert width(page, 'shop::Till<int, 45>::pay') == pytest.approx(0.6 * whole, rel=0.1)
    assert page.run(frame('shop::serve<shop::Till<short, 25> >') + ' === null')
    assert page.complaints() == []
