# SPDX-License-Identifier: Apache-2.0
"""Functions that are called for the events of a session: Session.run(). Their names are those of scripts for `perf-prof python`."""
import inspect
import math
import select
import time
import types
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from . import _native
from ._handlers import Handlers
from ._keywords import warn

Function = Callable[..., object]
ROWS = 1024                 # with an interval: so many events, then a look at the clock
MAX_EMPTY = 1000            # calls of __interval__() in a gap of a recording
CALLED = {'__interval__', '__lost__', '__sample__', '__batch__'}


class Callbacks(Handlers):
    """The functions of a module or an object, for the events of a session."""

    texts = {
        'type': '{name} is a {type}; expected def {usage}',
        'async': '{name}() is an async def: nothing would await it; expected def {usage}',
        'yield': '{name}() has a yield, so its body would never run; expected def {usage}',
        'keywords': '{name}{takes.signature} cannot be called with {least} argument{s}; expected def {usage}',
        'count': '{name}{takes.signature} cannot be called with {least} argument{s}; expected def {usage}',
        'both': '{event}: there are both {word}(event) and {name}(batch) for it; leave one of them out',
        'its': '',
    }
    usages = {'__lost__': '__lost__(start, end)'}
    pythons = {'__getattr__', '__dir__', '__enter__', '__exit__', '__del__', '__call__', '__set_name__'}.union(
        *map(dir, (object, int, float, str, list, dict, type, types.ModuleType, types.GeneratorType)))

    def __init__(self, session: Any, source: object) -> None:
        if isinstance(source, type):
            raise TypeError(f'{source.__qualname__} is a class: make an object of it: run({source.__qualname__}())')
        if isinstance(source, dict):
            raise TypeError('run() got a dict; expected a module, such as sys.modules[__name__], or an object')
        self.source, self.is_module = source, isinstance(source, types.ModuleType)
        self.words: Dict[str, str] = {name: word for name, (word, _) in session._tables.items()}
        # of an object, these are its constructor, and the end of a with block
        ends = ({'__init__'} if self.is_module else set()) | (set() if hasattr(type(source), '__enter__') else {'__exit__'})
        super().__init__(list(self.words.items()), CALLED | ends)
        self.init, self.exit, self.interval, self.lost = (
            self.callbacks[f'__{name}__'] for name in ('init', 'exit', 'interval', 'lost'))
        self.single: Dict[str, Function] = {}
        batches: Dict[str, Tuple[Function, List[str]]] = {}
        for (event, _), chosen in zip(self.events, self.chosen):
            if chosen and chosen[2]:
                batches.setdefault(chosen[1], (chosen[0], []))[1].append(event)
            elif chosen:
                self.single[event] = chosen[0]
        self.batches = list(batches.values())
        if not (self.single or self.batches or self.interval or self.lost):
            raise ValueError(self.nothing(f'{getattr(source, "__name__", None) or type(source).__name__} has no function'))
        slips = [(near, f'{meant}(), for {self.events[number][0]}') for near, meant, number in self.unused(True)]
        for name, what in slips + [(name, f'{meant}()') for name, meant in self.misspelt()]:
            warn(f'{name}() is not called: did you mean {what}?', UserWarning)

    def get(self, name: str) -> object:
        return vars(self.source).get(name) if self.is_module else getattr(self.source, name, None)

    def functions(self) -> List[str]:
        """Properties are not asked."""
        if self.is_module:
            return [name for name, value in vars(self.source).items() if callable(value) and not isinstance(value, type)]
        found = ((name, inspect.getattr_static(self.source, name, None)) for name in dir(self.source))
        return [name for name, value in found if (callable(value) or isinstance(value, (staticmethod, classmethod)))
                and not isinstance(value, type)]

    def nearest(self, wanted: str, names: List[str]) -> Optional[str]:
        return _native._nearest(wanted, names)


class Runner:
    """Delivers the batches of a session to callbacks."""

    def __init__(self, session: Any, ended: List[bool], calls: Callbacks, interval: Optional[float], recorded: bool) -> None:
        self.session, self.calls = session, calls
        self.interval, self.recorded = interval if calls.interval else None, recorded
        self.singles = {name: (function, session._part((name,), False)) for name, function in calls.single.items()}
        self.batched = [(function, session._part(tuple(names), True)) for function, names in calls.batches]
        self.ended = ended              # not empty: a callback has called close()
        self.before: Optional[_native.Batch] = None     # the batch before this one, for __lost__()
        self.deadline: Optional[float] = None           # seconds of the monotonic clock, or ns of the recording's
        if self.interval and not recorded:
            self.deadline = time.monotonic() + self.interval

    # ---- waiting

    def batches(self) -> Iterator[_native.Batch]:
        ready: Optional[select.poll] = None
        while True:
            batch = self.session._take()
            if batch is False:
                return
            if batch is not None:
                yield batch
                continue
            if ready is None:
                ready = select.poll()
                try:
                    ready.register(self.session.fileno(), select.POLLIN)
                except ValueError:      # closed meanwhile: nothing is to be waited for
                    continue
            ready.poll(None if self.deadline is None or self.recorded else max(0, math.ceil((self.deadline - time.monotonic()) * 1000)))
            self.tick()

    def tick(self) -> None:
        """Calls __interval__() when it is time."""
        if self.deadline is None or self.recorded or not self.interval or not self.calls.interval:
            return
        now = time.monotonic()
        if now >= self.deadline and not self.ended:
            self.deadline += self.interval
            if self.deadline <= now:
                self.deadline = now + self.interval
            self.calls.interval()

    # ---- rows

    def slices(self, batch: _native.Batch) -> Iterator[_native.Batch]:
        """Parts between which there may be an interval."""
        if not self.interval:
            yield batch
        elif self.recorded:
            yield from self._recorded(batch)
        else:
            for at in range(0, len(batch), ROWS):
                yield batch[at:at + ROWS]
                self.tick()

    def _recorded(self, batch: _native.Batch) -> Iterator[_native.Batch]:
        """By the clock of the recording."""
        assert self.interval and self.calls.interval
        ns, begin = int(self.interval * 1e9), 0
        for at, when in enumerate(batch['_time']):
            if when is None:
                continue
            self.deadline = when + ns if self.deadline is None else self.deadline
            if when < self.deadline:
                continue
            if at > begin:
                yield batch[begin:at]
                begin = at
            for _ in range(MAX_EMPTY):
                if when < self.deadline or self.ended:
                    break
                self.deadline += ns
                self.calls.interval()
            if when >= self.deadline:
                self.deadline = when + ns
        if begin < len(batch):
            yield batch[begin:]

    def start_of(self, batch: _native.Batch, row: int) -> int:
        """When the last event before that row happened on its CPU; 0: not known."""
        cpu = batch[row].get('_cpu')
        if cpu is None or '_time' not in batch.columns:
            return 0
        for rows in (batch[:row], self.before):
            if rows is None:
                continue
            cpus, times = rows['_cpu'], rows['_time']
            for at in range(len(rows) - 1, -1, -1):
                if cpus[at] == cpu and times[at] is not None:
                    return int(times[at])
        return 0

    def tell(self, batch: _native.Batch, row: int) -> None:
        """A loss, as __lost__() of scripts gets it."""
        assert self.calls.lost
        loss = batch[row]
        cause, when = loss._event[len('lost:'):], loss.get('_time') or 0
        words: Tuple[Any, ...] = (when, 0) if cause in ('tail', 'stop') else (self.start_of(batch, row), when)
        if self.calls.lost_takes > 2:
            words += {'count': loss._lost, 'cpu': loss.get('_cpu', -1), 'cause': cause},
        self.calls.lost(*words)

    def single(self, batch: _native.Batch) -> None:
        """Calls the functions for single events, in the order of the events."""
        names, lost, ended = batch['_event'].to_pylist(), self.calls.lost, self.ended
        steps: Dict[str, Tuple[Function, Callable[[], object]]] = {}
        present = set(names)
        for name in present:
            if name in self.singles:
                function, part = self.singles[name]
                steps[name] = function, iter(self.session._rows(part, batch)).__next__
        if len(steps) == len(present):       # nearly always: there are no losses
            for function, take in map(steps.__getitem__, names):
                function(take())
                if ended:
                    return
            return
        for row, name in enumerate(names):
            if name in steps:
                function, take = steps[name]
                function(take())
            elif lost and name not in self.calls.words:
                self.tell(batch, row)
            if ended:
                return

    def deliver(self, batch: _native.Batch) -> None:
        if self.singles or (self.calls.lost and batch['_lost'].null_count < len(batch)):
            self.single(batch)
        for function, part in self.batched:
            rows = None if self.ended else self.session._rows(part, batch)
            if rows is not None:
                function(rows)
        self.before = batch

    def run(self) -> None:
        for batch in self.batches():
            for part in self.slices(batch):
                if self.ended:
                    return
                self.deliver(part)
            if self.ended:
                return


def _end(session: Any, calls: Callbacks, close: Callable[[Any], None]) -> None:
    try:
        try:
            close(session)
        finally:
            session._unclaim()      # once it is closed: nobody takes what this one has left
    finally:
        if calls.exit:
            calls.exit()


def _prepare(session: Any, ended: List[bool], source: object, interval: Optional[float], recorded: bool) -> Runner:
    calls = Callbacks(session, source)
    if calls.interval and interval is None:
        warn('__interval__() is not called: run(..., interval=SECONDS) calls it', UserWarning)
    if interval is not None and recorded and '_time' not in session.columns:
        raise ValueError('interval: the session has no column _time: name it in fields')
    return Runner(session, ended, calls, interval, recorded)


def run(session: Any, source: object, interval: Optional[float], recorded: bool) -> None:
    """What Session.run() does."""
    iter(session)   # complains if it is closed, or its batches go elsewhere
    claim = session._claim('run')
    if not claim:
        raise ValueError('the session is in run() already')
    try:
        runner = _prepare(session, claim.ended, source, interval, recorded)
    except BaseException:
        session._unclaim()
        raise
    calls = runner.calls
    try:
        try:
            if calls.init:
                calls.init()
        except BaseException:
            calls.exit = None       # nothing has begun
            raise
        runner.run()
    except BaseException:
        _end(session, calls, _native.Session.close)     # which does not wait for names of stacks
        raise
    _end(session, calls, type(session).close)
