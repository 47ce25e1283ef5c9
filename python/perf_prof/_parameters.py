# SPDX-License-Identifier: Apache-2.0
"""Messages and help texts of the command line, as they are for a caller in Python: with parameters for options."""
import re
from typing import Dict, Mapping, Match, NamedTuple, Sequence

# Programs whose own options a message may name, as in "mount -o remount".
FOREIGN = 'apt', 'docker', 'mount', 'node', 'ps', 'python3', 'sh', 'sysctl', 'ulimit', 'unshare'
# An option, and what may be its value: a number, a placeholder such as PID, a text in quotes.
OPTION = re.compile(r"""(?<![\w/.=-])(?:--(?P<no>no-)?(?P<name>[a-z][\w-]*)|-(?P<key>[A-Za-z]))(?![\w/-])
                        (?P<join>[ =](?=[0-9"'<]|[A-Z]{2}|[A-Z](?!\w)))?""", re.VERBOSE)
# What only a shell's user can do, and what it is in Python.
PHRASES = (
    (re.compile(r': is the \$\(\.\.\.\) before it empty\?'), lambda match: ''),
    (re.compile(r'`perf-prof ([a-z][\w-]*) (?:-h|--help-all)`'), lambda match: _help(match)),
    (re.compile(r': perf-prof dump PID$'), lambda match: ', such as dump(1234)'),
    (re.compile(r'^stat (?=-e: )'), lambda match: ''),
    (re.compile(r'`perf-prof (?!python`|sql`|help`|version`)([a-z][\w-]*)`'), lambda match: f'perf_prof.{_function(match[1])}()'),
    (re.compile(r'a bare number is ns'), lambda match: 'a number is in seconds'),
    (re.compile(r'-e ([a-z][\w:*-]*)$'), lambda match: f'events="{match[1]}"'),
    (re.compile(r"; record with ((?:-a )?(?:-g )?-e (?:'[^']*'|\S+))$"),
     lambda match: f'; record with `perf-prof record {match[1]}`'),
)


def _help(match: Match[str]) -> str:
    """An option that is unknown was written as one, such as in a notebook's cell."""
    if 'unknown option' in match.string:
        return match[0]
    return f'help(perf_prof.{_function(match[1])})'


def _function(command: str) -> str:
    return command.replace('-', '_')


class Parameter(NamedTuple):
    name: str
    is_flag: bool = False
    values: Sequence[str] = ()       # words that may be its value


Parameters = Mapping[str, Parameter]     # by name and key of the option


def _is_foreign(before: str) -> bool:
    words = before.split()
    return bool(words) and before.endswith(' ') and words[-1].lstrip('(') in FOREIGN


def _parameter(match: Match[str], parameters: Parameters, leads: bool) -> str:
    """What stands for an option. A NUL: the blank behind it is to go, since its value follows."""
    no, name = match['no'] or '', match['name']
    whole = parameters.get(no + name) if name else None          # an option may begin with no-
    found = whole or parameters.get(name or match['key'])
    if found is None or _is_foreign(match.string[:match.start()]):
        return match[0]
    rest = match.string[match.end():]
    word = re.match(r' ([\w-]+)', rest)
    valued = bool(word and word[1] in found.values)
    if (found.is_flag and not valued) or (no and not whole):
        return f'{found.name}={not no}{match["join"] or ""}'
    if match['join'] or rest.startswith(':'):
        return found.name + '=' * bool(match['join'])
    valued |= leads and match.start() == 0 and rest.startswith(' ')
    return f'{found.name}=' + '\0' * valued


def in_python(text: str, parameters: Parameters, leads: bool = False) -> str:
    """The text with parameters. What is in backquotes is a command line, and stays. leads: an option that it begins with has a
    value, as in "--pids x: expected a number": it is an error."""
    text, mark, own = text.partition('expected: options of ')      # of a source, in an event list
    for phrase, instead in PHRASES if leads else ():
        text = phrase.sub(instead, text)
    parts = re.split('(`[^`]*`)', text)
    for i in range(0, len(parts), 2):
        part = OPTION.sub(lambda match: _parameter(match, parameters, leads and not i), parts[i]).replace('\0 ', '')
        parts[i] = re.sub(r'(?<!\S)-- (?=[A-Z])', 'command=', part)
    return ''.join(parts) + mark + own


def translated(error: BaseException, parameters: Parameters) -> BaseException:
    """The same exception with such a message."""
    if isinstance(error, OSError):
        more = () if error.filename is None else (error.filename,)
        return type(error)(error.errno, in_python(str(error.strerror), parameters, True), *more)
    return type(error)(in_python(str(error), parameters, True))


SESSION: Dict[str, Parameter] = {
    **dict.fromkeys(('event', 'e'), Parameter('events')), **dict.fromkeys(('pids', 'p'), Parameter('pids')),
    **dict.fromkeys(('tids', 't'), Parameter('tids')), **dict.fromkeys(('cpus', 'C'), Parameter('cpus')),
    **dict.fromkeys(('cgroups', 'cgroup'), Parameter('cgroup')), **dict.fromkeys(('mmap-pages', 'm'), Parameter('ring')),
    **dict.fromkeys(('call-graph', 'g'), Parameter('callchains', True, ('auto', 'fp', 'dwarf'))), 'container': Parameter('container'),
    'buffer': Parameter('buffer'), 'filter': Parameter('filter'), 'seconds': Parameter('seconds'), 'time': Parameter('time'),
    'order': Parameter('order', True), 'inherit': Parameter('inherit', True),
}


def _written(used: Mapping[str, str]) -> Parameters:
    """The parameters of a session. used: other names, by those in SESSION, that the caller has written."""
    return {option: one._replace(name=used.get(one.name, one.name)) for option, one in SESSION.items()}


def of_session(error: BaseException, used: Mapping[str, str]) -> BaseException:
    """What a session has refused."""
    return translated(error, _written(used))


def note_of_session(text: str, used: Mapping[str, str]) -> str:
    """What a session notes."""
    return in_python(text, _written(used))
