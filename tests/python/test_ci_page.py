# SPDX-License-Identifier: Apache-2.0
"""docs/ci.md: its job, run by the commands that stand there, on a recording of the corpus."""
import os
import re
import shutil

import pytest

from frame.session import ran

live = pytest.mark.live('tracefs', 'root')

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def blocks():
    """{name in the first line: text} of the page's blocks."""
    with open(os.path.join(ROOT, 'docs/ci.md')) as f:
        found = re.findall(r'^```\w+\n# (\S+)\n(.*?)^```$', f.read(), re.M | re.S)
    return dict(found)


def steps():
    """(name, commands) of the job, from behind the one that installs."""
    text = blocks()['.github/workflows/scripts.yml']
    found = re.findall(r'^      - name: (.*)\n        run: \|\n((?:          .*\n)+)', text, re.M)
    names = [name for name, _ in found]
    return [(name, re.sub(r'^ {10}', '', run, flags=re.M)) for name, run in found[names.index('Install perf-prof') + 1:]]


class Checkout:
    """A repository as the page wants it, with perf-prof installed."""

    def __init__(self, prof, build, folder):
        if not os.path.isdir(os.path.join(build, 'python')):
            pytest.skip('needs a build with Python')
        self.folder, self.env = folder, {**os.environ, 'PATH': f'{os.path.dirname(prof)}:/usr/bin:/bin'}
        os.mkdir(folder / 'tests')
        (folder / 'wakeups.py').write_text(blocks()['wakeups.py'])

    def run(self, commands):
        """As GitHub does: bash -e."""
        return ran(['bash', '--noprofile', '--norc', '-e', '-o', 'pipefail', '-c', commands], cwd=self.folder, env=self.env)

    def job(self):
        """Name of the step that failed, and what it said; or None."""
        for name, commands in steps():
            done = self.run(commands)
            if done.returncode:
                told = self.folder / 'job.err'
                return name, done.stdout + done.stderr + (told.read_text() if told.exists() else '')
        return None

    def run_block(self, name):
        done = self.run(blocks()[name])
        assert (done.returncode, done.stderr) == (0, ''), done


@pytest.fixture
def checkout(prof, build, tmp_path):
    one = Checkout(prof, build, tmp_path)
    shutil.copy(os.path.join(ROOT, 'tests/data/perfdata/trace.data'), tmp_path / 'tests/job.data')
    one.run_block('expected')
    return one


def test_the_job_passes(checkout):
    assert len(steps()) == 3
    assert len((checkout.folder / 'tests/job.txt').read_text().splitlines()) > 3
    assert checkout.job() is None


@pytest.mark.parametrize('old, new, step', [
    ('+= 1', '+= 2', 'The script says'),
    ('since[event.pid] = event._time', 'since[event.nosuch] = event._time', 'The script says'),
    ('since[event.pid] = event._time', 'since[event.pid] = event._time; event.nosuch', 'Nothing was lost'),
    ('def __exit__', 'def __init__(): raise ValueError\ndef __exit__', 'The script says'),
])
def test_a_mistake_makes_it_fail(checkout, old, new, step):
    text = (checkout.folder / 'wakeups.py').read_text()
    assert old in text
    (checkout.folder / 'wakeups.py').write_text(text.replace(old, new))
    failed = checkout.job()
    assert failed and failed[0].startswith(step), failed


def test_a_damaged_recording_makes_it_fail(checkout):
    path = checkout.folder / 'tests/job.data'
    path.write_bytes(path.read_bytes()[:-20000])
    assert checkout.job()


@live
def test_the_recording_is_made_as_the_page_says(prof, build, tmp_path):
    one = Checkout(prof, build, tmp_path)
    (tmp_path / 'job').write_text('#!/bin/sh\nsleep 0.1\n')
    os.chmod(tmp_path / 'job', 0o755)
    one.run_block('once')
    one.run_block('expected')
    assert re.search(r' us$', (tmp_path / 'tests/job.txt').read_text(), re.M)
