# SPDX-License-Identifier: Apache-2.0
"""tests/seed_table.md says where each part of the Go package `perf` is here: what it names
is in the headers, and the tests that it names are there and run."""
import os
import re

import pytest

import header
from conftest import C, ROOT, run

TABLE = os.path.join(ROOT, 'tests/seed_table.md')
# A row each of what it may not lack.
ASKED_FOR = ('MaxStack Supported Event.HasRecord OpenWithFlags ErrDisabled Event.SetOutput '
             'GroupCount.PrintValues AllHardwareCounters AllCaches CPUMode CommRecord.WasExec '
             'SampleRecord.ExactIP SwitchRecord.Out SwitchCPUWideRecord.Preempted SetFilter '
             'ModifyAttributes Attr{Label}').split()


def rows():
    """(names there, ours, the test) of each row."""
    with open(TABLE) as f:
        for line in f:
            cells = [c.strip() for c in line.strip().strip('|').split(' | ')]
            if line.startswith('| `'):
                assert len(cells) == 3, line
                yield (re.findall(r'`([^`]+)`', cells[0]),
                       re.findall(r'`([^`]+)`', cells[1].split(' - ')[0]), cells[2])


ROWS = list(rows())


def test_it_is_whole():
    names = [name for there, _, _ in ROWS for name in there]
    assert len(names) == len(set(names)) > 450
    assert set(ASKED_FOR) <= set(names)
    assert all(ours for _, ours, _ in ROWS), 'what has no counterpart has to say so'


@pytest.fixture(scope='module')
def kernel_words():
    """What the kernel's headers define here."""
    source = ('#include <perfevent.h>\n#include <linux/hw_breakpoint.h>\n')
    words = set()
    for option in ('-dM', '-P'):
        done = run([*C[:1], '-E', option, '-x', 'c', f'-I{header.INCLUDE}', '-'], text_in=source)
        assert done.returncode == 0, done.stderr
        words |= set(re.findall(r'\b(?:PERF|HW)_\w+', done.stdout))
    return words


def attr_fields():
    with open(os.path.join(ROOT, 'src/perfevent/attr_fields.c')) as f:
        return set(re.findall(r'\w+', f.read()))


def why_not(ours, known, kernel):
    """None if the library or the kernel's headers have it."""
    member = re.fullmatch(r'(struct pev_\w+)\.(\w+)', ours)
    if member:
        item = known.get(member.group(1))
        text = re.sub(r'/\*.*?\*/', '', item.text, flags=re.S) if item else ''
        # A member, in whatever list: "uint32_t pid, tid;"
        found = re.search(rf'[ *,]{member.group(2)}(?:\[\w+\])?[,;]', text)
        return None if found else 'no such member'
    if ours.startswith('attr.'):
        return None if ours[5:] in attr_fields() else 'no such field'
    if ours.startswith('examples/'):
        return None if os.path.exists(os.path.join(ROOT, ours)) else 'no such file'
    if ours.startswith(('PERF_', 'HW_')):
        return None if ours in kernel else 'the kernel has none'
    return None if ours in known else 'not in the header'


def test_what_is_ours_is_in_the_headers(kernel_words):
    known = header.everything()
    missing = [(name, why_not(name, known, kernel_words)) for _, ours, _ in ROWS for name in ours]
    assert [m for m in missing if m[1]] == []


def test_made_up_names_are_not(kernel_words):
    known = header.everything()
    for name in ('pev_nothing', 'struct pev_mmap.nothing', 'struct pev_nothing.pid', 'attr.nothing',
                 'PERF_NOTHING', 'examples/c/nothing.c'):
        assert why_not(name, known, kernel_words), name


@pytest.mark.parametrize('where', sorted({test for _, _, test in ROWS}))
def test_the_test_is_there(where):
    path, name = re.fullmatch(r'((?:unit|live|python|package)/test_\w+): (\w+)', where).groups()
    base = os.path.join(ROOT, 'tests', path)
    if os.path.exists(base + '.c'):
        with open(base + '.c') as f:
            text = f.read()
        assert re.search(rf'^static void {name}\(void \*\*state\)', text, re.M)
        assert re.search(rf'cmocka_unit_test\w*\({name}\b', text), 'it is not run'
        folder, program = path.split('/test_')
        with open(os.path.join(ROOT, 'tests', folder, 'meson.build')) as f:
            assert f"'{program}'" in f.read(), 'it is not built'
    else:
        with open(base + '.py') as f:
            assert re.search(rf'^(?:async )?def {name}\(', f.read(), re.M)
