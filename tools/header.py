# SPDX-License-Identifier: Apache-2.0
"""What the public headers declare, and the comment that stands over each declaration."""
import os
import re
from dataclasses import dataclass, field

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INCLUDE = os.path.join(ROOT, 'include')
UMBRELLA = os.path.join(INCLUDE, 'perfevent.h')


@dataclass
class Declaration:
    kind: str               # function, type, constant
    name: str               # "pev_ring_begin", "struct pev_ring", "PEV_RING_DEFAULT_PAGES"
    text: str               # as it stands there, without PEV_API and comments behind it
    header: str             # "perfevent/ring.h"
    doc: list = field(default_factory=list)     # lines of the comment
    also: list = field(default_factory=list)    # functions under the same comment


def parts():
    """Paths of the headers that <perfevent.h> is made of, in its order."""
    with open(UMBRELLA) as f:
        names = re.findall(r'^#include "(perfevent/\w+\.h)"', f.read(), re.M)
    return [os.path.join(INCLUDE, name) for name in ['perfevent/api.h'] + names]


def comment_lines(text):
    """The lines of a comment without its stars, common indentation kept relative."""
    lines = re.sub(r'^/\*+|\*/$', '', text.strip()).split('\n')
    lines = [lines[0].strip()] + [re.sub(r'^\s*\* ?', '', line).rstrip() for line in lines[1:]]
    lines = [re.sub(r'^-{4,} ?| ?-{4,}$', '', line) for line in lines]
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


TOKEN = re.compile(r'''
    (?P<blank>\n[ \t]*(?=\n))
  | (?P<comment>/\*.*?\*/)
  | (?P<define>^\#define[ ]+(?P<macro>PEV_\w+)[^\n]*)
  | (?P<skip>^\#[^\n]*)
  | (?P<function>^PEV_API\b.*?;)
  | (?P<type>^(?:struct|union|enum)[ ]+(?P<tag>pev_\w+)[ ]*(?:\{(?:[^\n]*\}|.*?^\})[ ]*)?;)
  | (?P<other>\n|[ \t]+|[^\n])
''', re.X | re.M | re.S)


def declarations(path):
    """All of one header, in its order."""
    name = os.path.relpath(path, INCLUDE)
    found, doc, run = [], [], []
    with open(path) as f:
        text = f.read()
    fresh_line = True       # nothing but white space on this line so far
    for token in TOKEN.finditer(text):
        kind, value = token.lastgroup, token.group()
        if token.group('define'):
            kind = 'define'
        elif token.group('type'):
            kind = 'type'
        if kind == 'blank':
            doc, run = [], []
        elif kind == 'comment':
            if fresh_line:
                doc, run = comment_lines(value), []
            elif found and not found[-1].doc and found[-1].kind == 'function':
                found[-1].doc = comment_lines(value)
        elif kind in ('function', 'type', 'define'):
            item = make(kind, token, name, doc)
            if kind == 'function':
                run.append(item)
                for other in run:
                    other.also = [r.name for r in run]
            found.append(item)
        fresh_line = value.endswith('\n') or (fresh_line and not value.strip())
    return found


def make(kind, token, header, doc):
    value = token.group()
    if kind == 'function':
        text = re.sub(r'^PEV_API\s+', '', value)
        return Declaration('function', re.search(r'\b(pev_\w+)\(', text).group(1), text, header,
                           list(doc))
    if kind == 'define':
        return Declaration('constant', token.group('macro'), value, header, list(doc))
    return Declaration('type', f'{value.split()[0]} {token.group("tag")}', value, header, list(doc))


def everything():
    """name -> Declaration; a type that is declared twice by its definition."""
    found = {}
    for path in parts():
        for item in declarations(path):
            if item.name not in found or '{' in item.text:
                found[item.name] = item
    return found


def functions():
    return {name: item for name, item in everything().items() if item.kind == 'function'}


def enumerators():
    """Names inside of enums."""
    names = []
    for item in everything().values():
        if item.name.startswith('enum '):
            body = re.sub(r'/\*.*?\*/', '', item.text[item.text.index('{'):], flags=re.S)
            names += re.findall(r'\bPEV_\w+', body)
    return names
