# SPDX-License-Identifier: Apache-2.0
"""The commands of perf-prof and their options, as `perf-prof help --json` writes them: which functions there are, and with
which parameters. The build reads this file, too (stubs.py): it imports nothing of the package."""
import json
from typing import Any, Dict, List, NamedTuple, Tuple

# What functions are called now that had another name; the old one goes with 0.3.0.
OLD_NAMES = {'counts': 'stat', 'features': 'check'}
# Commands without a function: they are about the command line.
LEFT_OUT = 'python', 'sql', 'help', 'version'
# Options whose parameters have the names that Session has. The option's own name and the singular are accepted, too, until 0.3.0.
SHOWN = {'event': 'events', 'cgroups': 'cgroup', 'mmap_pages': 'ring'}
OTHER_NAMES = {'pid': 'pids', 'tid': 'tids', 'cpu': 'cpus', **SHOWN}
FIXED = 'json', 'with_text', 'full', 'csv', 'csv_safe', 'field_separator', 'samples'


class Option(NamedTuple):
    """A row of a command's table of options."""
    name: str
    key: str         # its letter, or ''
    parameter: str
    kind: str        # flag, count, number, size, text, texts, file, choice
    value: str
    negatable: bool
    help: str

    @property
    def joins(self) -> bool:
        """Whether a list is one value, with commas."""
        return self.value == 'LIST' or '[,' in self.value and self.kind != 'texts'


class Command(NamedTuple):
    name: str
    function: str
    summary: str
    usage: str
    description: List[str]
    groups: List[Tuple[str, List[Option]]]
    options: Dict[str, Option]       # by parameter

    @property
    def watches(self) -> bool:
        """Whether it can start a command."""
        return 'COMMAND' in self.usage and self.name not in LEFT_OUT

    @property
    def prints_json(self) -> bool:
        return 'json' in self.options

    def takes(self, option: Option) -> bool:
        """Whether it is a parameter: how a result is printed, and where, is not for the caller to choose."""
        return option.parameter not in FIXED and not (option.name == 'output' and self.prints_json)


def _option(row: Dict[str, Any]) -> Option:
    parameter = row['name'].replace('-', '_').lower()
    return Option(row['name'], row.get('key', ''), SHOWN.get(parameter, parameter), row['kind'], row.get('value', ''), row['negatable'],
                  row['help'])


def read(path: str) -> Dict[str, Command]:
    """The commands of such a file, by the name of their function."""
    found = {}
    with open(path, encoding='utf-8') as lines:
        for line in lines:
            row = json.loads(line)
            groups = [(group['title'], [_option(one) for one in group['options']]) for group in row['groups']]
            name = row['command'].replace('-', '_')
            if row['command'] not in LEFT_OUT:
                found[name] = Command(row['command'], name, row['summary'], row['usage'], row['description'], groups,
                                      {option.parameter: option for _, options in groups for option in options})
    return found
