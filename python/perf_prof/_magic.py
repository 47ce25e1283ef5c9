# SPDX-License-Identifier: Apache-2.0
"""The cell magic %%perf_prof: profiles a cell of a notebook."""
import importlib
import os
import shlex
from typing import Any, List, Sequence

from . import _command
from .analyses import COMMANDS, Plan, collect
from .results import Result

# Says that all is open, and then keeps the run going until its stdin ends.
SIGNAL = '/bin/sh', '-c', 'echo; read line || :'


class Watch:
    """`with Watch(WORDS) as w: ...` profiles this process meanwhile; then there is w.result. WORDS: options of
    `perf-prof profile`."""
    result: Result

    def __init__(self, words: Sequence[str]) -> None:
        python = [] if any(word in ('--python', '--no-python') for word in words) else ['--python']
        self.words = ['profile', f'--pids={os.getpid()}', *python, '--json', '--with-text', *words]

    def __enter__(self) -> 'Watch':
        self.folded = _command.memory('stacks')
        try:
            self.run = _command.Run([*self.words, f'--flame-graph=/dev/fd/{self.folded}'], SIGNAL, [self.folded], pipes=True)
        except BaseException:
            os.close(self.folded)
            raise
        self.reader = _command.readable_by(self.run.process.pid)
        self.reader.__enter__()
        assert self.run.process.stdout
        if not os.read(self.run.process.stdout.fileno(), 1):   # it has ended
            self.__exit__()
            raise RuntimeError('perf-prof ended at once')
        return self

    def __exit__(self, *exception: Any) -> None:
        plan = Plan(COMMANDS['profile'], self.words, [], False, False, True)
        try:
            with self.run:
                assert self.run.process.stdin
                self.run.process.stdin.close()
                self.run.wait()
                self.result = collect(plan, self.run, self.folded)
        finally:
            self.reader.__exit__(None, None, None)
            os.close(self.folded)


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
        words: List[str] = shlex.split(line)
        with Watch(words) as watched:
            shell.run_cell(cell)
        display = importlib.import_module('IPython.display').display   # it is there: it called us
        watched.result.folded = within_cell(watched.result.folded or '')
        display(watched.result.flame_graph(title='%%perf_prof'))
        return watched.result
    shell.register_magic_function(perf_prof, 'cell', 'perf_prof')
