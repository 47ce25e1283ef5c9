# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="has-type"
"""Linux perf events in Python.

Session and open() read events as batches of columns. profile(), syscalls(), rundelay(), ... run the commands of perf-prof:
dir(perf_prof) lists them all.

perf_prof.raw has the system call perf_event_open(2) and classes that use it. The same module is also distributed alone,
as pyperf.

The functions of a script for `perf-prof python` get events of the type PerfEvent, whose call chains have frames of the
type Frame.
"""
import typing as _typing

try:
    from ._native import Batch, Column, Event, Frame, PerfEvent, __version__, _restore, concat  # noqa: F401
except ModuleNotFoundError as _error:
    if _error.name != f'{__name__}._native':
        raise
    import os as _os
    import sys as _sys
    _built = sorted(_name for _name in _os.listdir(_os.path.dirname(__file__)) if _name.startswith('_native.') and _name.endswith('.so'))
    raise ImportError(f'perf_prof in {_os.path.dirname(__file__)} was built for another Python ({", ".join(_built) or "none"}); this is '
                      f'{_sys.implementation.cache_tag}: build it with this one (meson setup -Dpython-bin=PATH, or pip install .)') from None
from .sessions import Aggregate, Recording, Session, Stream, open
from .stacks import Stacks

if _typing.TYPE_CHECKING:
    from . import _functions, analyses, results, sinks
    from ._functions import *   # noqa: F403

__all__ = ['Aggregate', 'Batch', 'Column', 'Event', 'Frame', 'PerfEvent', 'Recording', 'Session', 'Stacks', 'Stream', 'analyses', 'concat',
           'open', 'results', 'sinks', '__version__']
if _typing.TYPE_CHECKING:   # what pyright takes for exported; (mypy 1.0 does not know its type yet)
    __all__ += _functions.__all__

_LATE = ('analyses', 'results', 'sinks')


if not _typing.TYPE_CHECKING:     # to a checker, every name would be there
    def __getattr__(name: str) -> _typing.Any:
        """Modules that are slow to import and seldom needed, and the commands of perf-prof as functions."""
        import importlib
        if name in _LATE:
            return importlib.import_module(f'.{name}', __name__)
        if not name.startswith('_'):
            analyses = importlib.import_module('.analyses', __name__)
            if name in analyses.COMMANDS or name in analyses.OLD_NAMES:
                return globals().setdefault(name, analyses.function(name))
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__() -> _typing.List[str]:
    import importlib
    return sorted({*globals(), *_LATE, *importlib.import_module('.analyses', __name__).COMMANDS})


def load_ipython_extension(shell: _typing.Any) -> None:
    """%load_ext perf_prof: the cell magic %%perf_prof."""
    from ._magic import register
    register(shell)
