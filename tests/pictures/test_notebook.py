# SPDX-License-Identifier: Apache-2.0
"""A flame graph as a notebook shows it: all of it can be seen, in a window of any width."""
import os
import subprocess
import sys

import pytest

import browser

pytestmark = pytest.mark.live

DRAW = """
import sys
from perf_prof._display import picture_html
from perf_prof.results import FlameGraph
deep = ';'.join(f'f{i}' for i in range(100))
picture = picture_html(FlameGraph(f'main;run 990\\nmain;{deep} 10\\n').svg(), 'the title')
# without the sandbox, the test can look into the frame
sys.stdout.write('<!DOCTYPE html>' + picture.replace('sandbox="allow-scripts"', ''))
"""


@pytest.fixture(scope='module')
def notebook(build, tmp_path_factory):
    folder = os.path.join(build, 'python')
    if not os.path.isdir(os.path.join(folder, 'perf_prof')):
        pytest.skip('needs a build with Python')
    done = subprocess.run([sys.executable, '-c', DRAW], env={**os.environ, 'PYTHONPATH': folder}, capture_output=True, text=True)
    if 'ImportError' in done.stderr:
        pytest.skip(f'perf_prof was not built for {sys.version.split()[0]}')
    assert done.returncode == 0, done.stderr
    path = tmp_path_factory.mktemp('notebook') / 'page.html'
    path.write_text(done.stdout)
    return path


@pytest.fixture(scope='module')
def window():
    if not browser.program():
        pytest.skip('there is no chromium')
    found = browser.Browser()
    yield found
    found.close()


FRAME = 'document.querySelector("iframe")'
INSIDE = f'{FRAME}.contentDocument'


@pytest.mark.parametrize('width', [700, 1000, 1600])
def test_nothing_is_cut(window, notebook, width):
    page = window.open(notebook, width=width)
    left, top, right, bottom = page.box(FRAME)
    assert right - left == min(1200, width - 16)                        # 16: the margin of the page
    scale = (right - left) / 1200
    assert abs(bottom - top - (40 + 2 * 17 + 30) * scale) < 2           # main and run have names; above them is the deep stack
    page.run(f'window.boxes = [...{INSIDE}.querySelectorAll("g rect")].map(r => r.getBoundingClientRect())')
    assert page.run('boxes.length') == 102
    assert page.run(f'boxes.every(b => b.left >= 0 && b.right <= {INSIDE}.body.clientWidth)')
    assert page.run(f'{INSIDE}.body.scrollWidth <= {INSIDE}.body.clientWidth')
    assert page.run(f'Math.max(...boxes.map(b => b.bottom)) <= {INSIDE}.body.clientHeight')      # its base is seen
    page.run(f'{INSIDE}.body.scrollTo(0, -1e6)')
    assert page.run(f'Math.min(...[...{INSIDE}.querySelectorAll("g rect")].map(r => r.getBoundingClientRect().top)) >= 0')
    assert page.run(f'{INSIDE}.querySelector("div").getBoundingClientRect().top') == 0           # the title stays
