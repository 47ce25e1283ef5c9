# SPDX-License-Identifier: Apache-2.0
"""The tree keeps its order; and on made-up trees the check fails as it should."""
import os

import pytest

import layering

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEAD = '/* SPDX-License-Identifier: Apache-2.0 */\n'


def test_rooms():
    assert list(layering.check_rooms(ROOT)) == []
    assert list(layering.check_table(ROOT)) == []


def test_licence_lines():
    assert list(layering.check_files(ROOT)) == []


def tree(tmp_path, sources):
    for path, text in sources.items():
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(HEAD + text)
    return str(tmp_path)


def test_a_clean_tree_passes(tmp_path):
    assert layering.check(tree(tmp_path, {
        'src/base/a.h': '',
        'src/stream/b.c': '#include "base/a.h"\n#include <perfevent.h>\n#include <linux/types.h>\n',
        'src/cli/c.c': '#include "stream/b.h"\n#include "cli/d.h"\n',
    })) == []


BAD = {
    'upward': ({'src/base/a.c': '#include "stream/b.h"\n'}, 'a.c:2: base (floor 0) includes from stream (floor 4)'),
    'upward with brackets': ({'src/base/a.c': '# include <cli/b.h>\n'}, 'includes from cli'),
    'upward, relative': ({'src/cli/b.h': '', 'src/base/a.c': '#include "../cli/b.h"\n'},
                         'includes from cli'),
    'circle on one level': ({'src/symbols/a.c': '#include "tasks/a.h"\n',
                             'src/tasks/b.c': '#include "symbols/a.h"\n'},
                            'circle: symbols -> tasks -> symbols'),
    'unknown room': ({'src/cellar/a.c': ''}, 'stands in no room'),
    'include from an unknown room': ({'src/cellar/x': '', 'src/base/a.c': '#include "cellar/a.h"\n'},
                                     'which is in no room'),
    'file outside the rooms': ({'src/a.c': ''}, 'stands in no room'),
}


@pytest.mark.parametrize('name', BAD)
def test_a_made_up_tree_fails(tmp_path, name):
    sources, told = BAD[name]
    problems = layering.check(tree(tmp_path, sources))
    assert len(problems) == 1 and told in problems[0], problems


@pytest.mark.parametrize('name', ['a.c', 'a.h', 'a.py', 'meson.build', 'Makefile', 'run'])
def test_a_missing_licence_line_fails(tmp_path, name):
    (tmp_path / name).write_text('#!/bin/sh\n')
    assert layering.check(str(tmp_path)) == [f'{name}: no SPDX-License-Identifier: line at its head']
