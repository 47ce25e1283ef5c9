# SPDX-License-Identifier: Apache-2.0
"""For meson.build: `stubs.py COMMANDS` prints the types of the functions that perf_prof makes of these commands, for editors
and type checkers."""
import sys

from _options import OLD_NAMES, OTHER_NAMES, read

HEAD = '''\
# SPDX-License-Identifier: Apache-2.0
# Made by python/perf_prof/stubs.py of `perf-prof help --json`.
import os
from typing import Any, Dict, Iterable, List, Optional, Sequence, Union

from .results import Counts, Features, Result

Path = Union[str, 'os.PathLike[str]']
Number = Union[int, str]
Many = Union[float, Path, Iterable[Union[float, Path]]]
Texts = Union[Path, Iterable[Path]]
'''
TYPES = {'flag': 'bool', 'count': 'Union[bool, int]', 'number': 'Number', 'size': 'Number', 'text': 'Many', 'texts': 'Texts',
         'file': 'Path', 'choice': 'Union[bool, str]'}
RETURNS = {'stat': 'Counts', 'check': 'Features', 'list': 'List[Dict[str, Any]]'}


def parameters(command):
    """Their types, by name."""
    found = {'command': 'Union[str, Sequence[Path]]'} if command.watches else {}
    found.update((name, 'Union[float, str]' if option.value in ('MS', 'TIME') else TYPES[option.kind]) for name, option in command.options.items() if command.takes(option))
    found.update({name: found[option] for name, option in OTHER_NAMES.items() if option in found})
    return found


commands = read(sys.argv[1])
print(HEAD)
print(f'__all__ = {[*commands, *OLD_NAMES]!r}\n')
for name, command in commands.items():
    named = ', '.join(f'{parameter}: Optional[{kind}] = None' for parameter, kind in parameters(command).items())
    first = '*' if command.watches else '*operands: Union[int, Path, Result]'
    print(f"def {name}({first}, {named}) -> {RETURNS.get(name, 'Result')}: ...")
for old, name in OLD_NAMES.items():
    print(f'{old} = {name}')
