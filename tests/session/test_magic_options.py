# SPDX-License-Identifier: Apache-2.0
"""What %%perf_prof refuses: the cell does not run."""
import pytest


class Shell:
    """As much of IPython's as the magic needs."""

    def __init__(self, run_cell):
        self.run_cell = run_cell

    def register_magic_function(self, function, kind, name):
        self.magic = function


@pytest.mark.parametrize('line, message', [
    ('-h', r'help\(perf_prof.profile\)'), ('--help', r'help\(perf_prof.profile\)'),
    ('--no-such-option', '^profile: unknown option --no-such-option; `perf-prof profile --help-all` lists them$'),
    ('--flame-graph x.svg', r'flame_graph\(\).save'), ('-F 99 --flame-graph=x.svg', r'flame_graph\(\).save'),
])
def test_refused_words(perf_prof, line, message):
    from perf_prof import _magic
    shell = Shell(pytest.fail)
    _magic.register(shell)
    with pytest.raises(ValueError, match=message):
        shell.magic(line, 'x = 1')


def test_await_outside_of_a_function(perf_prof):
    from perf_prof import _magic

    def run_cell(cell):
        raise RuntimeError('This event loop is already running')
    shell = Shell(run_cell)
    _magic.register(shell)
    with pytest.raises(ValueError, match='the cell has await outside of a function'):
        shell.magic('', 'await x')
