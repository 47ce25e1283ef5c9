# SPDX-License-Identifier: Apache-2.0
"""README.md is short, docs/README.md names every page, and every example has its page, and no link in a page is broken."""
import glob
import os
import re

import pytest

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..'))
PAGES = sorted(os.path.relpath(path, ROOT) for pattern in ('*.md', 'docs/*.md', 'src/*.md', 'python/*.md')
               for path in glob.glob(os.path.join(ROOT, pattern)))


def read(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as f:
        return f.read()


def prose(text):
    """Without blocks of code and code in a line: what looks like a link there is none."""
    text = re.sub(r'^```.*?^```$', '', text, flags=re.M | re.S)
    text = re.sub(r'^ {4}.*$', '', text, flags=re.M)
    return re.sub(r'\[`([^`\n]*)`\]', r'[\1]', text)


def anchors(text):
    """Of the headings, as GitHub makes them."""
    headings = re.findall(r'^#+ (.*)$', re.sub(r'^```.*?^```$', '', text, flags=re.M | re.S), re.M)
    return {re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-') for heading in headings}


def links(path):
    return re.findall(r'\]\(([^)\s]+)\)', re.sub(r'`[^`\n]*`', '', prose(read(path))))


@pytest.mark.parametrize('path', PAGES)
def test_links_resolve(path):
    broken = []
    for link in links(path):
        if re.match(r'https?://', link):
            continue
        name, _, anchor = link.partition('#')
        target = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
        if not os.path.exists(os.path.join(ROOT, target)) or anchor and anchor not in anchors(read(target)):
            broken.append(link)
    assert broken == []


def test_readme_is_short():
    assert len(read('README.md').splitlines()) <= 120


def test_index_names_every_page():
    linked = {link.partition('#')[0] for link in links('docs/README.md')}
    assert {os.path.basename(path) for path in glob.glob(os.path.join(ROOT, 'docs/*.md'))} - linked == {'README.md'}


def test_every_example_is_named():
    linked = {*links('docs/examples.md'), *links('docs/c-library.md')}
    files = glob.glob(os.path.join(ROOT, 'examples/*.*')) + glob.glob(os.path.join(ROOT, 'examples/c/*.c'))
    assert {'../' + os.path.relpath(path, ROOT) for path in files} - linked == set()
