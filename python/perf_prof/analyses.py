# SPDX-License-Identifier: Apache-2.0
"""The commands of perf-prof as functions: one for each, with the same options.

A function runs perf-prof as a child process. It needs the same rights as the command, and has the same messages. The file
commands.jsonl, which the program itself wrote (`perf-prof help --json`), lists the commands and their options.
"""
import inspect
import operator
import os
import re
import signal
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, NoReturn, Optional, Sequence, Tuple, Union

from . import _command
from ._keywords import deprecated, near, refuse
from ._options import OLD_NAMES, OTHER_NAMES, SHOWN, Command, Option, read
from ._parameters import Parameter, Parameters, in_python
from .results import Counts, Features, Result, listed, uncounted
from .sessions import _command as _command_words
from .sessions import _nanoseconds

# Their samples have a place, so there is a flame graph even without call_graph.
PLACED = 'profile', 'report', 'page-faults'
WIDTH = 100


COMMANDS = read(os.path.join(os.path.dirname(__file__), 'commands.jsonl'))


# ---- parameters to words ------------------------------------------------------------

def _word(parameter: str, value: Any) -> str:
    """One value as text."""
    value = _plain(value)
    if isinstance(value, bool) or not isinstance(value, (str, int, float, os.PathLike)):
        raise TypeError(f'{parameter}={value!r}: expected a number, a str or a path, or a list of these')
    if isinstance(value, float):
        return format(value, '.9f').rstrip('0').rstrip('.')
    return str(value) if isinstance(value, int) else os.fsdecode(value)


def _plain(value: Any) -> Any:
    """A number of NumPy as one of Python."""
    if isinstance(value, (int, float, str, os.PathLike)) or hasattr(value, '__iter__'):
        return value
    return operator.index(value) if hasattr(value, '__index__') else float(value) if hasattr(value, '__float__') else value


def _flag(option: Option, value: Any) -> List[str]:
    if not isinstance(value, bool):
        raise TypeError(f'{option.parameter}={value!r}: expected True or False')
    if not value and option.negatable:
        return [f'--no-{option.name}']
    return [f'--{option.name}'] if value else []


# How many ns are 1 in the option's own unit, by its placeholder.
SPANS = {'MS': 10 ** 6, 'TIME': 1}
SECONDS = 'seconds', 'last'     # options that are in seconds


def _span(option: Option, value: Any) -> str:
    """Seconds, or a text such as "5ms", in the option's unit."""
    number, rest = divmod(_nanoseconds(value, option.parameter), SPANS[option.value])
    if rest:
        raise ValueError(f'{option.parameter}={value!r}: expected whole milliseconds')
    return f'{number}ns' if option.value == 'TIME' else str(number)     # a bare number may be another unit


def _words_of(option: Option, value: Any) -> List[str]:
    """The option with that value, as words of a command line."""
    value = _plain(value)
    if option.value in SPANS:
        return [f'--{option.name}={_span(option, value)}']
    if option.name in SECONDS and isinstance(value, str) and value[-1:].isalpha():
        value = _nanoseconds(value, option.parameter) / 1e9
    if option.kind == 'flag':
        return _flag(option, value)
    if option.kind == 'choice' and isinstance(value, bool):
        return [f'--{option.name}'] if value else []
    if option.kind == 'count':
        if isinstance(value, bool) or not isinstance(value, int):
            value = int(_flag(option, value) != [])
        return [f'--{option.name}'] * value
    many = not isinstance(value, (str, os.PathLike)) and hasattr(value, '__iter__')
    texts = [_word(option.parameter, one) for one in value] if many else [_word(option.parameter, value)]
    if many and option.joins:
        texts = [','.join(texts)]
    unit = 'B' if isinstance(value, int) and (option.kind == 'size' or option.parameter == 'ring') else ''
    return [f'--{option.name}={text}{unit}' for text in texts]


def _refuse_unknown(command: Command, parameter: str) -> NoReturn:
    """What the command itself says about such an option, which has the nearest name."""
    others = ['command'] * command.watches
    if near(parameter, [*others, *command.options]) in others:     # which are no options
        refuse(command.function, parameter, others, command.function)
    with _command.Run([command.name, f'--{parameter.replace("_", "-")}', '-h']) as run:
        run.wait()
        text = (run.messages() or [f'{command.name}: unknown option --{parameter}'])[-1].replace('unknown option', 'unknown parameter')
    text = re.sub('--([a-z][a-zA-Z-]*)', lambda match: SHOWN.get(match[1].replace('-', '_'), match[1].replace('-', '_')) + '=', text)
    text = re.sub('`perf-prof .*` lists them', f'help(perf_prof.{command.function}) lists them', text)
    raise TypeError(text.replace(f'{command.name}: ', f'{command.function}(): ', 1))


def _find(command: Command, parameter: str) -> Option:
    option = command.options.get(parameter)
    if not option and parameter in OTHER_NAMES:
        option = command.options.get(OTHER_NAMES[parameter])
        if option:
            deprecated(f'{parameter}=', f'{OTHER_NAMES[parameter]}=')
    if not option:
        _refuse_unknown(command, parameter)
    if not command.takes(option):
        raise TypeError(f'{command.function}(): the result has rows and text, without {parameter}=')
    return option


def _to_start(command: Command, value: Union[None, str, Sequence[Any]]) -> List[str]:
    if value is None:
        return []
    if not command.watches:
        raise TypeError(f'{command.function}() starts no command')
    return _command_words(value) or []


def _folds(command: Command, options: Mapping[str, Any]) -> bool:
    """Whether the stacks are to be collected. Of diff they are those of two runs, and trace would not print its events."""
    return ('flame_graph' in command.options and 'flame_graph' not in options and command.name not in ('diff', 'trace')
            and (command.name in PLACED or bool(options.get('call_graph'))))


# ---- running -------------------------------------------------------------------------

def parameters_of(command: Command, given: Sequence[str] = ()) -> Parameters:
    """The parameters by options, with the names that the caller has given them."""
    used = {OTHER_NAMES.get(name, name): name for name in given}
    found = {}
    for option in command.options.values():
        name = used.get(option.parameter, option.parameter)
        for word in filter(None, (option.name, option.key)):
            found[word] = Parameter(name, option.kind in ('flag', 'count') or (option.kind == 'choice' and word == option.key),
                                    [value.split('[')[0] for value in option.value.split('|')])
    return found


class Plan(NamedTuple):
    """What is to be run: the words for perf-prof, and the command that it starts."""
    command: Command
    words: List[str]
    start: List[str]
    endless: bool
    interval: bool
    folds: bool
    given: Sequence[str] = ()
    files: Sequence[int] = ()       # the stacks of results among the operands; they are closed after the run

    def named(self, text: str) -> str:
        """Without the paths of these files."""
        names = {str(fd): f'result {number}' for number, fd in enumerate(self.files, 1)}
        return re.sub(r'/dev/fd/(\d+)', lambda match: names.get(match[1], match[0]), text)


def _operand(value: Any, files: List[int]) -> str:
    """A path, or a result as a file of its folded stacks."""
    if isinstance(value, Result):
        stacks = value.folded_or_raise()
        files.append(_command.memory('stacks'))
        with os.fdopen(os.dup(files[-1]), 'w', encoding='utf-8') as file:
            file.write(stacks)
        return f'/dev/fd/{files[-1]}'
    word = _word('argument', value)
    return './' * word.startswith('-') + word       # a file's name may begin like an option


def plan(command: Command, operands: Sequence[Any], options: Mapping[str, Any]) -> Plan:
    given = {name: value for name, value in options.items() if value is not None}
    start = _to_start(command, given.pop('command', None))
    words = [command.name]
    for name, value in given.items():
        words += _words_of(_find(command, name), value)
    if operands and command.watches:
        raise TypeError(f'{command.function}() has parameters with names only, such as command=')
    files: List[int] = []
    try:
        words += [_operand(one, files) for one in operands]
    except BaseException:
        for fd in files:
            os.close(fd)
        raise
    if command.prints_json:
        words += ['--json'] + ['--with-text'] * ('with_text' in command.options)
    ends = start or command.name not in WATCHING or any(given.get(name) for name in ('seconds', 'input'))
    return Plan(command, words, start, not ends, bool(given.get('interval')), _folds(command, given), list(given), files)


WATCHING = tuple(command.name for command in COMMANDS.values() if command.watches)


def failure(run: _command.Run, result: Result) -> Optional[_command.Refusal]:
    """Why the run failed; None: it did not. With a command, the exit code is that command's."""
    code, messages = run.code, run.messages()
    if code is not None and code < 0 and code != -signal.SIGINT:     # perf-prof was killed; a command's code would be 128 + N
        return _command.Refusal(code, messages[-1] if messages else '')
    if code == 0 or (run.watches and (not messages or result.is_complete)) or (code is None and (result.data or not messages)):
        return None
    return _command.Refusal(code or 1, messages[-1] if messages else '')


def collect(plan: Plan, run: _command.Run, folded: int) -> Result:
    """The result of a run that has ended, or an exception."""
    kind = {'stat': Counts, 'check': Features}.get(plan.command.name, Result)
    result = kind(plan.words, plan.named(run.output()), plan.interval, _command.content(folded) if folded >= 0 else None)
    result.returncode = run.code if plan.start else None
    refusal = failure(run, result)
    if refusal:
        refusal = _command.Refusal(refusal.code, plan.named(refusal.text))
    result.notes += [] if plan.interval else uncounted(result.tables, bool(plan.start))
    result.notes += [text for text in map(plan.named, run.messages()) if not refusal or text != refusal.text]
    parameters = parameters_of(plan.command, plan.given)
    result.notes = [in_python(text.replace(f'/dev/fd/{folded}: ', '', 1), parameters) for text in result.notes]
    if refusal and not (plan.command.name == 'check' and result.data):   # its exit code is about the features
        _command.raise_refusal(refusal, result, parameters)
    return result


def execute(plan: Plan) -> Result:
    folded = _command.memory('stacks') if plan.folds else -1
    words = plan.words + [f'--flame-graph=/dev/fd/{folded}'] * plan.folds
    try:
        with _command.Run(words, plan.start, [*plan.files, *[folded] * plan.folds], plan.endless,
                          prints=plan.command.prints_json) as run:
            run.wait()
            return collect(plan, run, folded)
    finally:
        for fd in [*plan.files, *[folded] * plan.folds]:
            os.close(fd)


# ---- functions ------------------------------------------------------------------------

def _wrap(text: str, indent: str) -> str:
    import textwrap
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def _document(command: Command) -> Iterator[str]:
    """The lines of the docstring: what -h prints, with Python's names."""
    parameters = parameters_of(command)
    yield command.summary[0].upper() + command.summary[1:] + '.'
    for text in command.description:
        yield '\n' + _wrap(in_python(text, parameters), '')
    yield '\nThe parameters are the options of `perf-prof %s`:' % command.name
    if command.watches:
        yield '\ncommand\n' + _wrap('A program to start and watch: a list, or a str for the shell.', ' ' * 8)
    for title, options in command.groups:
        shown = [option for option in options if command.takes(option)]
        if shown:
            yield f'\n{title}:'
        for option in shown:
            values = 'True or False' if option.kind == 'flag' else 'a number' if option.kind == 'count' else option.value
            values = 'SECONDS, or a str such as "5ms"' if option.value in SPANS else values
            text = in_python(option.help, parameters).replace('MS milliseconds', 'so many seconds')
            yield f'\n{option.parameter}\n' + _wrap(f'({values}) {text}', ' ' * 8)


def _signature(command: Command) -> inspect.Signature:
    named = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
             for name in ['command'] * command.watches + [name for name, option in command.options.items()
                                                          if command.takes(option)]]
    operands = [] if command.watches else [inspect.Parameter('operands', inspect.Parameter.VAR_POSITIONAL)]
    returns = {'stat': Counts, 'check': Features}.get(command.name, Result)
    return inspect.Signature(operands + named, return_annotation=returns)


def _old(name: str, new: str) -> Callable[..., Any]:
    made = function(new)

    def call(*operands: Any, **options: Any) -> Any:
        deprecated(f'{name}()', f'{new}()')
        return made(*operands, **options)
    call.__name__ = call.__qualname__ = name
    call.__module__, call.__doc__ = 'perf_prof', f'{new}(), until 0.3.0.'
    return call


def function(name: str) -> Callable[..., Any]:
    """The function of that name. KeyError: there is none."""
    if name in OLD_NAMES:
        return _old(name, OLD_NAMES[name])
    command = COMMANDS[name]

    def call(*operands: Any, **options: Any) -> Any:
        result = execute(plan(command, operands, options))
        return listed(result) if command.name == 'list' else result
    call.__name__ = call.__qualname__ = name
    call.__module__ = 'perf_prof'
    call.__doc__ = '\n'.join(_document(command))
    call.__signature__ = _signature(command)   # type: ignore[attr-defined]
    return call
