# SPDX-License-Identifier: Apache-2.0
"""The cell magic %%perf_prof: profiles a cell of a notebook."""
import contextlib
import importlib
import os
import shlex
from typing import Any, Iterator, List, Sequence

from . import _command
from .analyses import COMMANDS, Plan, collect
from .results import Result

# Says that all is open, and then keeps the run going until its stdin ends.
SIGNAL = '/bin/sh', '-c', 'echo; read line || :'


@contextlib.contextmanager
def watching(words: Sequence[str]) -> Iterator[List[Result]]:
    """Profiles this process meanwhile; then the list has the result. words: options of `perf-prof profile`."""
    python = [] if any(word in ('--python', '--no-python') for word in words) else ['--python']
    words = ['profile', f'--pids={os.getpid()}', *python, '--json', '--with-text', *words]
    found: List[Result] = []
    folded = _command.memory('stacks')
    try:
        with _command.Run([*words, f'--flame-graph=/dev/fd/{folded}'], SIGNAL, [folded], pipes=True) as run, \
                _command.readable_by(run.process.pid):
            assert run.process.stdin and run.process.stdout
            begun = os.read(run.process.stdout.fileno(), 1)   # nothing: it has ended, and collect() says why
            if begun:
                yield found
            run.process.stdin.close()
            run.wait()
            found.append(collect(Plan(COMMANDS['profile'], list(words), [], False, False, True), run, folded))
            if not begun:
                raise RuntimeError('perf-prof ended before the cell began')
    finally:
        os.close(folded)


def within_cell(folded: str) -> str:
    """The stacks without the functions of IPython that run the cell."""
    last = 'InteractiveShell.run_code ('
    lines = []
    for line in folded.splitlines():
        frames = line.split(';')
        at = max((i for i, frame in enumerate(frames) if frame.startswith(last)), default=-1)
        lines.append(';'.join(frames[at + 1:]) if at + 1 < len(frames) else line)
    return '\n'.join(lines)


def register(shell: Any) -> None:
    def perf_prof(line: str, cell: str) -> Result:
        """Profiles the cell: its Python functions, with file and line, as a table and as a flame graph.

        %%perf_prof [OPTIONS]    options of `perf-prof profile`, such as -F 999 or --no-python -g
        """
        with watching(shlex.split(line)) as found:
            shell.run_cell(cell)
        result = found[0]
        display = importlib.import_module('IPython.display').display   # it is there: it called us
        result.folded = within_cell(result.folded or '')
        display(result.flame_graph(title='%%perf_prof'))
        return result
    shell.register_magic_function(perf_prof, 'cell', 'perf_prof')
