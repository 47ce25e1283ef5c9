# SPDX-License-Identifier: Apache-2.0
import os
import re
import subprocess

import pytest

import browser


@pytest.fixture(scope='session')
def picture(build):
    """Runs the helper that draws made-up data; told: a pattern of what it says."""
    def run(*args, stdin='', told=''):
        done = subprocess.run([os.path.join(build, 'tests/helpers/picture'), *map(str, args)],
                              input=stdin, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert re.fullmatch(told, done.stderr), done.stderr
    return run


@pytest.fixture(scope='session')
def html(prof):
    """.html is a part of this build."""
    told = subprocess.run([prof, 'version', '--build-options'], capture_output=True, text=True).stdout
    if '.html pictures: yes' not in told:
        pytest.skip('this build has no .html: node, or what tools/install-web fetches, was not there')


@pytest.fixture(scope='session')
def chromium(html):
    if not browser.program():
        pytest.skip('there is no chromium')
    b = browser.Browser()
    yield b
    b.close()
