#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the order of the rooms: `layering.py [ROOT]` prints what breaks it, exit code 1.

A room is a folder of src/. It includes from rooms of its own level or lower, and no
circle of rooms comes about. Every source has a licence line and at most 800 lines."""
import os
import re
import sys

# The one table: room -> level.
LEVEL = {
    'base': 0,
    'perfevent': 1,
    'perfdata': 2, 'symbols': 2, 'tasks': 2, 'tracefmt': 2, 'expr': 2,
    'stream': 3,
    'report': 4,
    'analysis': 5, 'convert': 5, 'script': 5, 'keeper': 5,
    'cli': 6,
}
MAX_LINES = 800
# Programs without a suffix (tests/run, tools/…) are known by their first line.
SOURCES = ('.c', '.h', '.py', '.pyi', '.build', '.toml', 'Makefile', 'meson_options.txt')
SKIPPED_FOLDERS = ('.git', '__pycache__', 'subprojects', 'corpus', 'crashes', 'node_modules', 'readers')
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', re.M)
SPDX = 'SPDX-License-Identifier:'


def files(root):
    for folder, names, members in os.walk(root):
        names[:] = sorted(n for n in names if n not in SKIPPED_FOLDERS
                          and not (folder == root and n.startswith('build')))
        for name in sorted(members):
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                yield os.path.relpath(path, root)


def text_of(root, path):
    with open(os.path.join(root, path), encoding='utf-8', errors='replace') as f:
        return f.read()


def included_rooms(root, path, text):
    """(line, room) of each include that names a room, "room/x.h" or relative."""
    for match in INCLUDE.finditer(text):
        name = match.group(1)
        line = text.count('\n', 0, match.start()) + 1
        near = os.path.normpath(os.path.join(os.path.dirname(path), name))
        if os.path.exists(os.path.join(root, near)):
            parts = near.split(os.sep)
            if parts[0] == 'src' and len(parts) > 2:
                yield line, parts[1]
        elif '/' in name and (name.split('/')[0] in LEVEL
                              or os.path.isdir(os.path.join(root, 'src', name.split('/')[0]))):
            yield line, name.split('/')[0]


def circle(edges):
    """A circle of rooms as a list, or None."""
    done = set()

    def visit(room, path):
        if room in path:
            return path[path.index(room):] + [room]
        if room in done:
            return None
        for other in sorted(edges.get(room, ())):
            found = visit(other, path + [room])
            if found:
                return found
        done.add(room)
        return None

    for room in sorted(edges):
        found = visit(room, [])
        if found:
            return found
    return None


def check_rooms(root):
    edges = {}
    for path in files(root):
        parts = path.split(os.sep)
        if parts[0] != 'src' or not path.endswith(('.c', '.h')):
            continue
        room = parts[1] if len(parts) > 2 else None
        if room not in LEVEL:
            yield f'{path}: stands in no room that tests/layering knows'
            continue
        for line, other in included_rooms(root, path, text_of(root, path)):
            if other not in LEVEL:
                yield f'{path}:{line}: includes from {other}, which is no room'
            elif LEVEL[other] > LEVEL[room]:
                yield (f'{path}:{line}: {room} (level {LEVEL[room]}) includes from '
                       f'{other} (level {LEVEL[other]})')
            elif other != room:
                edges.setdefault(room, set()).add(other)
    found = circle(edges)
    if found:
        yield f'rooms include each other in a circle: {" -> ".join(found)}'


def check_files(root):
    for path in files(root):
        name = os.path.basename(path)
        if not name.endswith(SOURCES) and '.' in name:
            continue
        text = text_of(root, path)
        if not name.endswith(SOURCES) and not text.startswith('#!'):
            continue
        if SPDX not in '\n'.join(text.splitlines()[:6]):
            yield f'{path}: no {SPDX} line at its head'
        lines = text.count('\n')
        if lines > MAX_LINES:
            yield f'{path}: {lines} lines, more than {MAX_LINES}'


def check(root):
    return list(check_rooms(root)) + list(check_files(root))


def main(argv):
    root = argv[0] if argv else os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..')
    problems = check(os.path.normpath(root))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
