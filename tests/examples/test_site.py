# SPDX-License-Identifier: Apache-2.0
"""make site: mkdocs has no warning, each page is in the navigation, the program draws the pictures, and words are found."""
import glob
import json
import os
import shutil
import subprocess

import pytest

from frame import requires

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..'))


@pytest.mark.deep
@pytest.mark.slow
def test_site(prof, tmp_path):
    reason = requires.why_not('program:mkdocs')
    if reason:
        pytest.skip(reason)
    theme = subprocess.run(['/usr/bin/python3', '-c', 'import mkdocs.utils, pymdownx; print(mkdocs.utils.get_theme_names())'],
                           capture_output=True, text=True)
    if 'material' not in theme.stdout:
        pytest.skip(f'needs mkdocs-material and pymdownx ({(theme.stdout + theme.stderr).strip()[-80:]})')
    shutil.copy2(prof, tmp_path / 'perf-prof')
    done = subprocess.run([os.path.join(ROOT, 'tools/site'), tmp_path], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, ''), done
    site = tmp_path / 'site'
    with open(os.path.join(ROOT, 'mkdocs.yml'), encoding='utf-8') as f:
        nav = f.read()
    for path in glob.glob(os.path.join(ROOT, 'docs/*.md')):
        name = os.path.basename(path)
        assert f'docs/{name}' in nav
        assert os.path.exists(site / 'docs' / ('index.html' if name == 'README.md' else name[:-3] + '.html'))
    for picture in 'flame.svg', 'change.svg', 'heat.svg':
        assert '<rect' in (site / 'docs' / picture).read_text() and picture in (site / 'docs/pictures.html').read_text()
    found = json.loads((site / 'search/search_index.json').read_text())['docs']
    assert any('debuginfod' in page['text'] for page in found)
