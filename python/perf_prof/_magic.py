# SPDX-License-Identifier: Apache-2.0
"""The cell magic %%perf_prof: profiles a cell of a notebook."""
import importlib
import os
import shlex
from typing import Any, Callable, Sequence

from . import _command
from .analyses import COMMANDS, Plan, collect
from .results import Result

# Says that all is open, and then keeps the run going until its stdin ends.
SIGNAL = '/bin/sh', '-c', 'echo; read line || :'
# Stacks begin below what runs the code of a cell; with another shell than IPython's, below what calls the shell.
RUNNERS = 'InteractiveShell.run_code', 'register.<locals>.perf_prof.<locals>.run_cell'
# What is not of the cell: to prepare it, to show its exceptions, and the profiling.
OTHERS = 'InteractiveShell.run_cell', 'InteractiveShell.showtraceback', '_profile_meanwhile'


def _refuse_command(words: Sequence[str]) -> None:
    """A word is the value of the option before it, if that can have one. Otherwise it would begin a command."""
    flags = {name for option in COMMANDS['profile'].options.values() if option.kind in ('flag', 'count')
             for name in (f'--{option.name}', f'--no-{option.name}', f'-{option.key}')}
    for at, word in enumerate(words):
        before = words[at - 1] if at else ''
        is_value = before.startswith('-') and before not in flags and '=' not in before
        if word == '--' or not (word.startswith('-') or is_value):
            command = list(words[at + (word == '--'):])
            raise ValueError(f'%%perf_prof {shlex.join(words)}: it profiles the cell and starts no command: expected only options of '
                             f'`perf-prof profile`; perf_prof.profile(command={command!r}) profiles a command')


def _profile_meanwhile(words: Sequence[str], run_cell: Callable[[], None]) -> Result:
    """Profiles this process while a cell runs. words: options of `perf-prof profile`."""
    if '--no-python' not in words:
        words = ['--python', *(f'--without={name}' for name in OTHERS), *words]
    words = ['profile', f'--pids={os.getpid()}', '--json', '--with-text', *(f'--below={name}' for name in RUNNERS), *words]
    folded = _command.memory('stacks')
    try:
        with _command.Run([*words, f'--flame-graph=/dev/fd/{folded}'], SIGNAL, [folded], pipes=True) as run, \
                _command.readable_by(run.process.pid):
            assert run.process.stdin and run.process.stdout
            begun = os.read(run.process.stdout.fileno(), 1)   # nothing: it has ended, and collect() says why
            if begun:
                run_cell()
            run.process.stdin.close()
            run.wait()
            result = collect(Plan(COMMANDS['profile'], list(words), [], False, False, True), run, folded)
            if not begun:
                raise RuntimeError('perf-prof ended before the cell began')
            return result
    finally:
        os.close(folded)


def register(shell: Any) -> None:
    def perf_prof(line: str, cell: str) -> Result:
        """Profiles the cell: its Python functions, with file and line, as a table and as a flame graph.

        %%perf_prof [OPTIONS]    options of `perf-prof profile`, such as -F 999 or --no-python -g
        """
        def run_cell() -> None:
            shell.run_cell(cell)
        words = shlex.split(line)
        _refuse_command(words)
        result = _profile_meanwhile(words, run_cell)
        display = importlib.import_module('IPython.display').display   # it is there: it called us
        display(result.flame_graph(title='%%perf_prof'))
        return result
    shell.register_magic_function(perf_prof, 'cell', 'perf_prof')
