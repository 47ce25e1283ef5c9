# SPDX-License-Identifier: Apache-2.0
"""Linux perf events in Python.

perf_prof.raw is the system call perf_event_open(2) itself, with classes that use it: the module that is also
distributed by itself as pyperf.

PerfEvent and Frame are the types of what the functions of a script for `perf-prof python` get.
"""
import typing as _typing

from ._native import Batch, Column, Event, Frame, PerfEvent, __version__, _restore, concat  # noqa: F401
from .sessions import Aggregate, Recording, Session, open
from .stacks import Stacks

if _typing.TYPE_CHECKING:
    from . import sinks

__all__ = ['Aggregate', 'Batch', 'Column', 'Event', 'Frame', 'PerfEvent', 'Recording', 'Session', 'Stacks', 'concat', 'open', 'sinks',
           '__version__']


def __getattr__(name: str) -> _typing.Any:
    """perf_prof.sinks, which takes a while to import and few need."""
    if name == 'sinks':
        import importlib
        return importlib.import_module('.sinks', __name__)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__() -> _typing.List[str]:
    return sorted({*globals(), 'sinks'})
