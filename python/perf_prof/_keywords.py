# SPDX-License-Identifier: Apache-2.0
"""What a function says about a parameter that it does not have. Python before 3.13 offers no near name."""
import functools
from typing import Any, Callable, NoReturn, Optional, Sequence, Type, TypeVar, cast

Function = TypeVar('Function', bound=Callable[..., Any])


def near(name: str, known: Sequence[str]) -> Optional[str]:
    """The one that was probably meant."""
    import difflib      # takes long to import, and few need it
    found = difflib.get_close_matches(name, known, 1)
    return found[0] if found else None


def warn(text: str, category: Type[Warning]) -> None:
    """About the line that called the package: Python shows a warning once for each line."""
    import sys
    import warnings
    level, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_globals.get('__name__', '').partition('.')[0] == __name__.partition('.')[0]:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, level)


def deprecated(old: str, new: str) -> None:
    """Warns of a name that is there for one release more."""
    warn(f'{old} is now {new}, and goes with 0.3.0', DeprecationWarning)


def refuse(function: str, name: str, known: Sequence[str], described: str) -> NoReturn:
    meant = near(name, known)
    rest = f'did you mean {meant}=?' if meant else f'help(perf_prof.{described}) lists them'
    raise TypeError(f'{function}(): unknown parameter {name}=; {rest}')


def checked(function: Function) -> Function:
    """The same function, with such a message."""
    code = function.__code__
    known = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    offered = [name for name in known if name != 'self']
    described = function.__qualname__.replace('.__init__', '').replace('_Batches', 'Session')

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        for name in kwargs:
            if name not in known:
                refuse(described.rpartition('.')[2], name, offered, described)
        return function(*args, **kwargs)
    return cast(Function, call)
