# SPDX-License-Identifier: Apache-2.0
"""The cell magic %%perf_prof: profiles a cell of a notebook."""
import importlib
import os
import shlex
from typing import Any, Callable, Optional, Sequence, Tuple

from . import _command
from ._options import Option
from .analyses import COMMANDS, Plan, collect
from .results import Result

# Says that all is open, and then keeps the run going until its stdin ends.
SIGNAL = '/bin/sh', '-c', 'echo; read line || :'
# Stacks begin below what runs the code of a cell; with another shell than IPython's, below what calls the shell.
RUNNERS = 'InteractiveShell.run_code', 'register.<locals>.perf_prof.<locals>.run_cell'
# What is not of the cell: to prepare it, to show its exceptions, and the profiling.
OTHERS = 'InteractiveShell.run_cell', 'InteractiveShell.showtraceback', '_profile_meanwhile'


def _last_option(word: str) -> Tuple[Optional[Option], bool]:
    """The option that may have a value, and whether that is the next word and not a part of this one. None: it is unknown."""
    options = COMMANDS['profile'].options.values()
    if word.startswith('--'):
        name, equals, _ = word[2:].partition('=')
        return next((one for one in options if name in (one.name, f'no-{one.name}')), None), not equals
    option, rest = None, word[1:]
    while rest:
        option, rest = next((one for one in options if one.key == rest[0]), None), rest[1:]
        if option is None or option.kind not in ('flag', 'count', 'choice'):
            break
    return option, not rest


def _takes_next(word: str, following: str) -> bool:
    """Whether the command reads the next word as the value of that one. True for an unknown option, which it refuses."""
    option, is_next = _last_option(word)
    if option is None or not is_next:
        return is_next
    if option.kind == 'choice':
        return following.partition(',')[0] in [choice.partition('[')[0] for choice in option.value.split('|')]
    return option.kind not in ('flag', 'count')


def _refuse_command(words: Sequence[str]) -> None:
    """A word that is neither an option nor the value of one would begin a command."""
    at = 0
    while at < len(words):
        word = words[at]
        if word in ('-', '--') or not word.startswith('-'):
            command = list(words[at + (word == '--'):])
            raise ValueError(f'%%perf_prof {shlex.join(words)}: it profiles the cell and starts no command: expected only options of '
                             f'`perf-prof profile`; perf_prof.profile(command={command!r}) profiles a command')
        at += 1 + _takes_next(word, ''.join(words[at + 1:at + 2]))


def _refuse_own(words: Sequence[str]) -> None:
    """What prints a help, or has a file that the magic needs for itself."""
    for word in words:
        if word in ('-h', '--help'):
            raise ValueError(f'%%perf_prof {word}: help(perf_prof.profile) shows the options')
        if word.partition('=')[0] == '--flame-graph':
            raise ValueError(f'%%perf_prof {word}: the flame graph is shown below the cell; _.flame_graph().save("FILE.svg") writes it')


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
            try:
                shell.run_cell(cell)
            except RuntimeError as error:
                if 'event loop is already running' not in str(error):
                    raise
                raise ValueError('%%perf_prof: the cell has await outside of a function, which it cannot run: put that into an async '
                                 'function, and call asyncio.run() in a thread') from None
        words = shlex.split(line)
        _refuse_command(words)
        _refuse_own(words)
        result = _profile_meanwhile(words, run_cell)
        display = importlib.import_module('IPython.display').display   # it is there: it called us
        display(result.flame_graph(title='%%perf_prof'))
        return result
    shell.register_magic_function(perf_prof, 'cell', 'perf_prof')
