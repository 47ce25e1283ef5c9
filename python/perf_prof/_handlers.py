# SPDX-License-Identifier: Apache-2.0
"""Finds the functions that are called by name, in a script for `perf-prof python` or in what Session.run() gets, and checks them:
one that cannot work is an error at once, not once per event. It is compiled into the program, too, so it imports nothing."""
TYPE_CHECKING = False       # typing and __future__ take long to import
if TYPE_CHECKING:
    from typing import Any, Callable, Collection, Dict, Iterable, Iterator, List, NoReturn, Optional, Sequence, Set, Tuple
    Function = Callable[..., object]

REST, REST_BATCH = '__sample__', '__batch__'
CALLBACKS = {               # usage, least and most arguments
    '__init__': ('__init__()', 0, 0), '__exit__': ('__exit__()', 0, 0), '__interval__': ('__interval__()', 0, 0),
    '__print_stat__': ('__print_stat__(indent)', 1, 1), '__lost__': ('__lost__(lost_start, lost_end)', 2, 3),
    REST: (f'{REST}(event)', 1, 1), REST_BATCH: (f'{REST_BATCH}(batch)', 1, 1),
}
ANY = 1 << 31               # so many arguments
VARARGS, GENERATOR, ASYNC = 0x4, 0x20, 0x280    # bits of code.co_flags, which the module inspect documents
SHOWN = 8                   # events that a message names


class Arguments:
    """Which arguments a function takes."""

    def __init__(self, function: 'Function') -> None:
        code: Any = None if isinstance(function, type) else getattr(function, '__code__', None)
        inner = code or getattr(getattr(function, 'func', None), '__code__', None)      # of a functools.partial
        self.function, self.code, self.flags = function, code, inner.co_flags if inner else 0
        if not code:
            self._ask_inspect()
            return
        made: Any = function
        self.most = code.co_argcount - hasattr(made, '__func__')        # without the self of a bound method
        self.least = self.most - len(getattr(made, '__defaults__', None) or ())       # extension modules may lack it
        self.keywords = code.co_kwonlyargcount - len(getattr(made, '__kwdefaults__', None) or ())
        if self.flags & VARARGS:        # what functools.wraps() is given to wrap takes no more than before
            wrapped = getattr(made, '__wrapped__', None)
            self.most = Arguments(wrapped).most if callable(wrapped) else ANY

    def _ask_inspect(self) -> None:
        import inspect      # takes long to import, and few need it
        self.least, self.most, self.keywords = 0, ANY, 0
        try:
            parameters = inspect.signature(self.function).parameters.values()
        except Exception:       # functions in C have none; annotations may name what is not there
            self.most = -1
            return
        some = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        self.least = sum(p.default is p.empty for p in some)
        self.most = ANY if any(p.kind is p.VAR_POSITIONAL for p in parameters) else len(some)
        self.keywords = sum(p.kind is p.KEYWORD_ONLY and p.default is p.empty for p in parameters)

    @property
    def known(self) -> bool:
        return self.most >= 0 or self.code is not None

    @property
    def where(self) -> str:
        return f'{self.code.co_filename}:{self.code.co_firstlineno}: ' if self.code else ''

    @property
    def signature(self) -> str:
        import inspect
        try:
            return str(inspect.signature(self.function))
        except Exception:
            return '(...)'

    def __str__(self) -> str:
        if self.most == ANY:
            return f'{self.least} or more arguments'
        return f'{self.least} to {self.most} arguments' if self.least != self.most else f'{self.most} argument{"s" * (self.most != 1)}'


class Handlers:
    """The functions for a run. texts: what is said of those that cannot work; pythons: names that Python itself calls."""

    texts: 'Dict[str, str]'
    pythons: 'Collection[str]' = ('__getattr__', '__dir__')
    usages: 'Dict[str, str]' = {}

    def __init__(self, events: 'Sequence[Tuple[str, str]]', called: 'Collection[str]') -> None:
        """events: names, and the words of which their functions are named. called: which of CALLBACKS."""
        self.events = events
        self.callbacks: Dict[str, Optional[Function]] = {}
        self.lost_takes = 0
        for name, (usage, least, most) in CALLBACKS.items():
            self.callbacks[name] = self.find(name, self.usages.get(name, usage), least, most) if name in called else None
        words = {word for _, word in events}
        # of each event: the function, its name, whether it takes batches, whether it is the event's own; None: there is none
        self.chosen = [self._choose(event, word, words) for event, word in events]

    def get(self, name: str) -> object:
        """What has that name; None: nothing."""
        raise NotImplementedError

    def functions(self) -> 'Iterable[str]':
        """The names of all functions."""
        raise NotImplementedError

    def nearest(self, wanted: str, names: 'List[str]') -> 'Optional[str]':
        """The most similar of these names, if it is similar enough to be suggested."""
        raise NotImplementedError

    def is_variable(self, name: str) -> bool:
        """Some names of events are ordinary words: `cycles = 0` is a variable."""
        return '__' not in name

    # ---- finding

    def _refuse(self, kind: str, name: str, usage: str, least: int, takes: 'Arguments') -> 'NoReturn':
        raise TypeError(self.texts[kind].format(name=name, usage=usage, least=least, s='s' * (least != 1), takes=takes))

    def find(self, name: str, usage: str, least: int = 1, most: int = 1) -> 'Optional[Function]':
        function: Any = self.get(name)
        if function is None or (not callable(function) and self.is_variable(name)):
            return None
        if not callable(function):
            raise TypeError(self.texts['type'].format(name=name, usage=usage, type=type(function).__name__))
        takes = Arguments(function)
        for kind, wrong in (('async', takes.flags & ASYNC), ('yield', takes.flags & GENERATOR), ('keywords', takes.keywords > 0),
                            ('count', takes.known and (takes.least > most or takes.most < least))):
            if wrong:
                self._refuse(kind, name, usage, least, takes)
        if name == '__lost__':
            self.lost_takes = min(takes.most, most) if takes.known else least
        return function     # type: ignore[no-any-return]

    def _choose(self, event: str, word: str, words: 'Set[str]') -> 'Optional[Tuple[Function, str, bool, bool]]':
        name, own = f'{word}__batch', True
        single = self.find(word, f'{word}(event)')
        batch = self.find(name, f'{name}(batch)') if name not in words else None
        if not (single or batch):
            word, name, own, single, batch = REST, REST_BATCH, False, self.callbacks[REST], self.callbacks[REST_BATCH]
        if single and batch:
            raise ValueError(self.texts['both'].format(event=event, word=word, name=name))
        return (single, word, False, own) if single else (batch, name, True, own) if batch else None

    # ---- what was probably meant

    def _uncalled(self) -> 'List[str]':
        called = {name for _, word in self.events for name in (word, f'{word}__batch')}
        return [name for name in self.functions() if name not in called and not name.startswith('_')]

    def _near(self, word: str, uncalled: 'List[str]', short: bool) -> 'Optional[Tuple[str, str]]':
        """(a function that is not called, the name that it should have). short: sched_wakeup() for sched__sched_wakeup()."""
        system, _, rest = word.partition('__')
        if short and rest in uncalled:
            return rest, word
        for name in word, f'{word}__batch':
            near = self.nearest(name, uncalled)
            if near:
                return near, name
        return None

    def nothing(self, what: str) -> str:
        """That there is no function for any event."""
        for name, meant in self.misspelt():
            return f'{what} for any event; {self.texts["its"]}{name}() is not called: did you mean {meant}()?'
        uncalled = self._uncalled()
        for _, word in self.events[:SHOWN]:
            near = self._near(word, uncalled, True)
            if near:
                return f'{what} for any event; {self.texts["its"]}{near[0]}() is not called: did you mean {word}()?'
        names = ', '.join(f'{word}(event)' for _, word in self.events[:SHOWN])
        return f'{what} for any event; define {REST}(event) or {names}{", ..." if len(self.events) > SHOWN else ""}'

    def unused(self, short: bool) -> 'Iterator[Tuple[str, str, int]]':
        """(function that is not called, what was meant, number of the event) of events without a function of their own."""
        uncalled = self._uncalled()
        for number, chosen in enumerate(self.chosen):
            near = None if chosen and chosen[3] else self._near(self.events[number][1], uncalled, short)
            if near:
                yield (*near, number)

    def misspelt(self) -> 'Iterator[Tuple[str, str]]':
        """Functions such as __smaple__(), and what was meant."""
        for name in self.functions():
            if name.startswith('__') and name not in CALLBACKS and name not in self.pythons:
                meant = self.nearest(name, list(CALLBACKS))
                if meant:
                    yield name, meant
