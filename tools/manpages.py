#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the manual pages of libperfevent: `manpages.py SECTION VERSION OUT PAGE...`

A page is a text file, man/man3/NAME.page: a head of `key: value` lines, then the body.

    name: pev_ring_begin - read records in the ring
    functions: pev_ring_begin pev_ring_next          those of the page, in its order
    types: struct pev_ring                           whose definitions it shows
    see: pev_ring_map(3) perfevent-rings(7)

    First paragraphs of DESCRIPTION.

    ## NOTES
    Words in `backquotes` are bold. Lines indented by four stand as they are; `- ` begins
    an item.

Prototypes, definitions and what is said of each function come from the headers, so that they
can't say something else. NAME.c beside the page is a whole program: its EXAMPLE. Functions
other than the page's own get a page that refers to it (.so)."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import header  # noqa: E402


# Where a page says nothing else.
RETURN_VALUE = (
    'Functions that can fail return 0, or a value of 0 or more, and a negative error number else, '
    'where nothing else is said above. Those with a `struct pev_error *` say there what was asked, '
    'what the kernel said and what to do; it may be NULL.')


class BadPage(Exception):
    pass


# ---------------------------------------------------------------- roff

def plain(text):
    """Text that roff leaves as it is."""
    text = text.replace('\\', '\\e').replace('-', '\\-').replace("'", '\\(aq')
    text = text.replace('^', '\\(ha').replace('~', '\\(ti')
    return '\\&' + text if text.startswith('.') else text


BOLD = re.compile(r'`([^`]+)`|\b(pev_\w+\(\))|\b([\w-]+\([1-8]\))|(?<![\w-])(-E[A-Z0-9]{3,})\b')


def inline(text):
    """Backquoted words, functions, pages and errors in bold."""
    out, at = '', 0
    for match in BOLD.finditer(text):
        out += plain(text[at:match.start()]).replace('\\-', '-')
        out += f'\\fB{plain(next(g for g in match.groups() if g))}\\fP'
        at = match.end()
    out += plain(text[at:]).replace('\\-', '-')
    return out.replace('\\&', '', 1) if out.startswith('\\&\\f') else out


def literal(lines):
    """Lines as they stand, tabs as eight columns."""
    yield '.PP'
    yield '.RS 4'
    yield '.EX'
    for line in lines:
        yield plain(line.expandtabs(8)) or '\\&'
    yield '.EE'
    yield '.RE'


def paragraph(lines, indent=4):
    """What a paragraph of the body, or of a comment, becomes."""
    if all(line.startswith(' ' * indent) for line in lines):
        yield from literal([line[indent:] for line in lines])
        return
    rest = []
    for line in lines:
        if line.startswith('- ') or not rest:
            rest.append(line)
        else:
            rest[-1] += ' ' + line.strip()
    for text in rest:
        if text.startswith('- '):
            yield '.IP \\(bu 2'
            yield inline(text[2:])
        else:
            yield '.PP'
            yield inline(text)


def paragraphs(lines):
    """Splits at empty lines, and where indented lines begin or end."""
    found = []
    for line in lines + ['']:
        if not line.strip():
            if found:
                yield found
            found = []
            continue
        item = bool(found) and found[0].startswith('- ')
        if found and not item and line.startswith('  ') != found[0].startswith('  '):
            yield found
            found = []
        if found and line.startswith('- ') and not item:
            yield found
            found = []
        found.append(line)


def prose(lines, indent=4):
    for lines in paragraphs(lines):
        yield from paragraph(lines, indent)


# ---------------------------------------------------------------- pages

def comment(doc):
    """A comment of the header: what is indented in it is a table or a program."""
    return prose([('    ' + line.strip('\n')) if line.startswith('  ') else line
                  for line in (re.sub(r'^ {0,2}(?=- )', '', line) for line in doc)])


class Page:
    def __init__(self, path, section):
        self.path = path
        self.section = section
        self.head, self.sections = self.read(path)
        self.name, dash, self.summary = self.head.get('name', '').partition(' - ')
        if self.name != os.path.basename(path)[:-len('.page')] or not dash:
            raise BadPage(f'{path}: `name:` has to be "FILE - summary"')
        self.functions = self.head.get('functions', '').split()
        self.types = [t for t in re.split(r' *, *', self.head.get('types', '')) if t]
        self.see = self.head.get('see', '').split()
        example = path[:-len('page')] + 'c'
        self.example = example if os.path.exists(example) else None

    @staticmethod
    def read(path):
        """({key: value}, [(title, lines)]); the first title is DESCRIPTION."""
        head, sections = {}, [('DESCRIPTION', [])]
        with open(path) as f:
            top, _, body = f.read().partition('\n\n')
        for line in top.split('\n'):
            if line.startswith('#'):
                continue
            key, colon, value = line.partition(':')
            if not colon or key not in ('name', 'functions', 'types', 'see'):
                raise BadPage(f'{path}: {line!r} is no line of a head')
            head[key] = (head.get(key, '') + ' ' + value).strip()
        for line in body.rstrip('\n').split('\n'):
            if line.startswith('## '):
                sections.append((line[3:], []))
            else:
                sections[-1][1].append(line)
        return head, sections

    def roff(self, known, version):
        yield '.\\" SPDX-License-Identifier: Apache-2.0'
        yield (f'.\\" Written by tools/manpages.py from {os.path.basename(self.path)} '
               'and the headers.')
        yield (f'.TH {plain(self.name)} {self.section} "" "libperfevent {version}" '
               '"libperfevent"')
        yield '.SH NAME'
        names = self.functions or [self.name]
        yield ', '.join(plain(n) for n in names) + ' \\- ' + plain(self.summary).replace('\\-', '-')
        if self.functions:
            yield from self.synopsis(known)
        for title, lines in self.sections:
            yield f'.SH {title}'
            if lines == ['@attr-fields']:
                yield from attr_fields()
                continue
            yield from prose(lines)
            if title == 'DESCRIPTION':
                yield from self.described(known)
        if self.functions and not any(t == 'RETURN VALUE' for t, _ in self.sections):
            yield '.SH RETURN VALUE'
            yield inline(RETURN_VALUE)
        if self.example:
            yield '.SH EXAMPLE'
            yield '.EX'
            for line in program(self.example):
                yield plain(line.expandtabs(8)) or '\\&'
            yield '.EE'
        yield '.SH SEE ALSO'
        see = self.see + ([] if self.name == 'perfevent' else ['perfevent(7)'])
        for name, section in re.findall(r'(\S+)\((\d)\)', ' '.join(see)):
            last = f'{name}({section})' == see[-1]
            yield f'.BR {plain(name)} ({section}){"" if last else ","}'

    def synopsis(self, known):
        yield '.SH SYNOPSIS'
        yield '.nf'
        yield '.B #include <perfevent.h>'
        yield '.PP'
        for name in self.functions:
            if name not in known:
                raise BadPage(f'{self.path}: the header has no {name}')
            text = re.sub(r'\s+', ' ', known[name].text)
            start, args = re.match(r'(.*?\b' + name + r'\()(.*)', text).groups()
            line, lines = start, []
            for arg in re.split(r'(?<=,) (?![^(]*\) ?\()', args):
                if len(line) + len(arg) > 76:
                    lines.append(line.rstrip())
                    line = ' ' * min(len(start), 30)
                line += arg + ' '
            for line in lines + [line.rstrip()]:
                yield '.B "' + plain(line).replace('"', '\\(dq') + '"'
        yield '.fi'

    def described(self, known):
        """Types, then functions under their comments, each comment once."""
        for name in self.types:
            if name not in known:
                raise BadPage(f'{self.path}: the header has no {name}')
            item = known[name]
            if not item.doc and '{' not in item.text:
                continue
            yield f'.SS {plain(name)}'
            yield from comment(item.doc)
            if '{' in item.text:
                yield from literal(item.text.split('\n'))
        told = []
        for name in self.functions:
            doc = known[name].doc
            if name in told:
                continue
            same = [n for n in self.functions if n == name or (doc and known[n].doc == doc)]
            told += same
            yield '.PP'
            yield ', '.join(f'\\fB{plain(n)}\\fP()' for n in same)
            yield '.RS 4'
            lines = list(comment(doc))
            yield from lines[1:] if lines[:1] == ['.PP'] else lines
            yield '.RE'


ROW = re.compile(r"""^\t(?:\w+\((?:\d+,\s*)?(?P<macro>\w+)|\{\s*"(?P<name>\w+)"),
                    \s*(?:"(?P<since>[\d.]+)",)?(?P<what>(?:\s*"(?:[^"\\\\]|\\\\.)*")+)""", re.M | re.X)


def attr_fields():
    """The rows of src/perfevent/attr/attr_fields.c."""
    with open(os.path.join(header.ROOT, 'src/perfevent/attr/attr_fields.c')) as f:
        text = f.read()
    macro = re.search(r'define AUX_ACTION\(.*?"([\d.]+)"', text).group(1)
    table = text[text.index(' fields[] = {'):]
    for row in ROW.finditer(table[:table.index('\n};')]):
        yield '.TP'
        yield (f'\\fB{plain(row["macro"] or row["name"])}\\fP  (Linux '
               f'{row["since"] or macro})')
        yield inline(''.join(re.findall(r'"((?:[^"\\]|\\.)*)"', row['what'])).replace('\\"', '"'))


def program(path):
    """Lines of an example, without the licence line."""
    with open(path) as f:
        lines = f.read().rstrip('\n').split('\n')
    return lines[1:] if 'SPDX' in lines[0] else lines


def write(folder, name, lines):
    with open(os.path.join(folder, name), 'w') as f:
        f.write('\n'.join(lines) + '\n')


def main(argv):
    section, version, out, *paths = argv
    os.makedirs(out, exist_ok=True)
    for old in os.listdir(out):
        os.unlink(os.path.join(out, old))
    known = header.everything()
    pages = [Page(path, section) for path in paths if path.endswith('.page')]
    owners = {}
    for page in pages:
        for name in page.functions:
            if name in owners:
                raise BadPage(f'{page.path}: {name} is in {owners[name]}, too')
            owners[name] = page.name
        write(out, f'{page.name}.{section}', page.roff(known, version))
    for name, owner in owners.items():
        if name != owner:
            write(out, f'{name}.{section}', [f'.so man{section}/{owner}.{section}'])


if __name__ == '__main__':
    try:
        main(sys.argv[1:])
    except BadPage as bad:
        sys.exit(f'manpages: {bad}')
