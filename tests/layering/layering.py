#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the order of the rooms: `layering.py [ROOT [BUILD]]` prints what breaks it, exit code 1.

Rooms are the folders of src/ that the table of src/README.md names, with their floors. A sub-room is a folder
in a room ("symbols/jail"); what stands in the room itself is above its sub-rooms. Nothing includes from a
higher floor, nor, in the objects of a build, calls what is defined there; no circle of rooms comes about.
Every source has a licence line."""
import os
import re
import subprocess
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..'))
ROW = re.compile(r'^\| (\d+)(?:\.(\d+))? \| `([a-z/]+)` \|', re.M)
TOP = 99   # within a room, above its sub-rooms
# Programs without a suffix (tests/run, tools/…) are known by their first line.
SOURCES = ('.c', '.h', '.py', '.pyi', '.build', '.toml', 'Makefile', 'meson_options.txt')
SKIPPED_FOLDERS = ('.git', '__pycache__', 'subprojects', 'corpus', 'crashes', 'node_modules', 'readers', 'debian')
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', re.M)
SPDX = 'SPDX-License-Identifier:'


def floors():
    """{room: (floor, place among the sub-rooms)}, from the one table."""
    with open(os.path.join(ROOT, 'src/README.md'), encoding='utf-8') as f:
        return {room: (int(floor), int(place) if place else TOP) for floor, place, room in ROW.findall(f.read())}


FLOOR = floors()


def room_of(path):
    """The room of a path below src/: the sub-room, if its folder is one; None."""
    parts = path.split('/')
    for n in (2, 1):
        if len(parts) > n and '/'.join(parts[:n]) in FLOOR:
            return '/'.join(parts[:n])
    return None


def is_above(other, room):
    """Whether `room` may not use it: a higher floor, or a sub-room that is not below it in the same room."""
    if other.split('/')[0] == room.split('/')[0]:
        return FLOOR[other] > FLOOR[room]
    return FLOOR[other][0] > FLOOR[room][0]


def named(room):
    return f'{room} (floor {FLOOR[room][0]}' + (f'.{FLOOR[room][1]})' if FLOOR[room][1] != TOP else ')')


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


def included_paths(root, path, text):
    """(line, path below src/) of each include that names a room, "room/x.h" or relative."""
    for match in INCLUDE.finditer(text):
        name = match.group(1)
        line = text.count('\n', 0, match.start()) + 1
        near = os.path.normpath(os.path.join(os.path.dirname(path), name))
        if os.path.exists(os.path.join(root, near)):
            if near.startswith('src' + os.sep) and near.count(os.sep) > 1:
                yield line, near[len('src/'):]
        elif '/' in name and (name.split('/')[0] in FLOOR
                              or os.path.isdir(os.path.join(root, 'src', name.split('/')[0]))):
            yield line, name


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
        if not path.startswith('src' + os.sep) or not path.endswith(('.c', '.h')):
            continue
        room = room_of(path[len('src/'):])
        if not room:
            yield f'{path}: stands in no room that src/README.md names'
            continue
        for line, name in included_paths(root, path, text_of(root, path)):
            other = room_of(name)
            if not other:
                yield f'{path}:{line}: includes {name}, which is in no room'
            elif is_above(other, room):
                yield f'{path}:{line}: {named(room)} includes from {named(other)}'
            elif other.split('/')[0] != room.split('/')[0]:
                edges.setdefault(room.split('/')[0], set()).add(other.split('/')[0])
    found = circle(edges)
    if found:
        yield f'rooms include each other in a circle: {" -> ".join(found)}'


def check_table(root):
    """Each folder of src/ is a room, and each room is a folder."""
    there = {os.path.dirname(path)[len('src/'):] for path in files(root)
             if path.startswith('src' + os.sep) and path.endswith(('.c', '.h'))}
    for room in sorted(FLOOR.keys() - there):
        yield f'src/README.md: {room} is no folder of src/ with sources'
    for folder in sorted(there - FLOOR.keys()):
        yield f'src/{folder}: src/README.md does not name it'


# ---- calls ----------------------------------------------------------------------------

OBJECT = re.compile(r'^(.*\.c\.o):[0-9a-f]* *([A-Za-z]) (\w+)$', re.M)


def sources():
    """{name of its object: source below src/}, as meson names objects: '/' is '_' there."""
    return {path.replace(os.sep, '_'): path[len('src/'):] for path in files(ROOT) if path.startswith('src' + os.sep)}


def objects(build):
    """{object: its source below src/} of what the program and the modules are made of."""
    names, found = sources(), {}
    for folder, _, members in os.walk(build):
        inside = os.path.relpath(folder, build).split(os.sep)
        if inside[0] not in ('src', 'python', 'perf-prof.p'):
            continue
        for name in members:
            if name.endswith('.c.o'):
                base = name[:-len('.o')].replace('.._', '')
                room = '_'.join(inside[:-1]) + '_' if inside[0] == 'src' else ''
                if room + base in names:
                    found[os.path.join(folder, name)] = names[room + base]
    return found


def check_calls(build):
    defined, used = {}, set()
    source_of = objects(build)
    out = subprocess.run(['nm', '-A', *source_of], capture_output=True, text=True, check=True).stdout
    for path, kind, name in OBJECT.findall(out):
        if kind == 'U':
            used.add((source_of[path], name))
        elif kind.isupper():
            defined[name] = source_of[path]
    for source, name in sorted(used):
        if name in defined and room_of(source) and room_of(defined[name]) and \
                is_above(room_of(defined[name]), room_of(source)):
            yield f'src/{source} uses {name} of src/{defined[name]}, which is above it'


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


def check(root):
    return list(check_rooms(root)) + list(check_files(root))


def main(argv):
    root = os.path.normpath(argv[0]) if argv else ROOT
    problems = check(root) + list(check_table(root)) + (list(check_calls(argv[1])) if len(argv) > 1 else [])
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
