# SPDX-License-Identifier: Apache-2.0
"""Each command that docs/README.md lists has -h, a manual page, a page in docs/ that shows what it prints, and
an example that the tests run."""
import glob
import os
import re
import subprocess

import pytest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..')


def read(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as f:
        return f.read()


ROWS = [(name, 'docs/' + page)
        for name, page in re.findall(r'^\| \[`([a-z-]+)`\]\(([a-z-]+\.md)\) \|', read('docs/README.md'), re.M)]
COMMANDS = ['python', 'sql', 'trace', 'profile', 'top', 'task-state', 'kvm-exit', 'page-faults', 'syscalls', 'rundelay', 'latency', 'migrations', 'waits',
            'record', 'report', 'script', 'diff', 'convert', 'stat', 'flame-graph',
            'dump']


# {command: the options that -h explains}
USUAL = {name.replace('_', '-'): usual for path in glob.glob(os.path.join(ROOT, 'src/**/*.c'), recursive=True)
         for name, usual in re.findall(r'^const struct command (\w+)_command = \{\n(?:.*\n)?\t\.usual = "(.*)"', read(path), re.M)}


def test_all_are_listed(prof):
    known = subprocess.run([prof, 'help'], capture_output=True, text=True).stdout
    assert sorted(name for name, _ in ROWS) == sorted(COMMANDS)
    assert len(USUAL) >= 19 and set(USUAL) <= set(COMMANDS)
    assert all(re.search(rf'^ +{name} ', known, re.M) for name in COMMANDS), known


@pytest.mark.parametrize('name, page', ROWS)
def test_help_and_manual(prof, name, page):
    told, all_of_it = (subprocess.run([prof, name, word], capture_output=True, text=True) for word in ('-h', '--help-all'))
    assert told.returncode == 0 and told.stdout.startswith(f'perf-prof {name} - ')
    assert len(told.stdout.splitlines()) <= 40, told.stdout     # one screen
    assert all_of_it.returncode == 0 and all_of_it.stdout.startswith(f'perf-prof {name} - ')
    options = re.findall(r'"name":"([a-zA-Z-]+)"', subprocess.run([prof, 'help', '--json', name], capture_output=True, text=True).stdout)
    usual = USUAL.get(name, '').split()
    assert set(usual) <= set(options) and all(re.search(rf'--(\[no-\])?{option}\b', told.stdout) for option in usual)
    text = subprocess.run([prof, 'help', '--man', name], capture_output=True, text=True).stdout
    assert text.startswith('.') and '.SH DESCRIPTION' in text and '.SH EXAMPLES' in text


def blocks(text):
    """Fenced and indented blocks of a page, as lines."""
    fenced = re.findall(r'^```\w*\n(.*?)^```', text, re.M | re.S)
    return [block.splitlines() for block in fenced + re.findall(r'(?:^ {4}.*\n)+', text, re.M)]


@pytest.mark.parametrize('name, page', ROWS)
def test_page_and_example(name, page):
    """The command at a prompt, and further down in the same block something that was printed."""
    shown = [lines[i + 1:] for lines in blocks(read(page)) for i, line in enumerate(lines)
             if re.match(rf' *[$#] perf-prof {name}\b', line)]
    assert any(re.match(r' *[^$# ]', line) for lines in shown for line in lines), page
    run = re.compile(rf"perf-prof {name}\b|'perf-prof', '{name}'")
    examples = [path for path in glob.glob(os.path.join(ROOT, 'examples/*')) if os.path.isfile(path)]
    assert any(run.search(read(path)) for path in examples)
