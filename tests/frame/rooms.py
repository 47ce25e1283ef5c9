#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Lines of code by room, and how many more than at the last landing: neither blank lines nor comments count.

    tests/frame/rooms.py             the table; .ci/run prints it
    tests/frame/rooms.py --update    writes tests/rooms.txt, which the next landing is compared with"""
import os
import re
import subprocess
import sys
from collections import Counter

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LANDED = os.path.join(ROOT, 'tests/rooms.txt')
COMMENTS = re.compile(r'/\*.*?\*/|^\s*//[^\n]*', re.S | re.M)


def lines(path):
    with open(path, errors='replace') as f:
        text = f.read()
    if path.endswith(('.c', '.h')):
        text = COMMENTS.sub('', text)
    return sum(bool(line.strip()) and not (line.lstrip().startswith('#') and not path.endswith(('.c', '.h')))
               for line in text.split('\n'))


def room(path):
    parts = path.split('/')
    return '/'.join(parts[:2]) if parts[0] in ('src', 'tests') and len(parts) > 2 else parts[0]


def count():
    names = subprocess.run(['git', 'ls-files', 'src', 'include', 'python', 'tests'], cwd=ROOT, capture_output=True, text=True,
                           check=True).stdout.split('\n')
    rooms = Counter()
    for name in names:
        if re.search(r'\.[ch]$', name) or (not name.startswith(('src', 'include')) and re.search(r'\.(py|toml)$', name)):
            path = os.path.join(ROOT, name)
            rooms[room(name)] += lines(path) if os.path.exists(path) else 0
    return rooms


def landed():
    if not os.path.exists(LANDED):
        return Counter()
    with open(LANDED) as f:
        return Counter({name: int(n) for name, n in (line.split() for line in f)})


def main(argv):
    now, before = count(), landed()
    if argv == ['--update']:
        with open(LANDED, 'w') as f:
            f.writelines(f'{name} {now[name]}\n' for name in sorted(now))
        return 0
    print('lines of code, and the change since the last landing:')
    for name in sorted(set(now) | set(before)):
        if now[name] != before[name]:
            print(f'{now[name]:8} {now[name] - before[name]:+7}  {name}')
    for name in ('src', 'tests'):
        total, was = (sum(n for room, n in rooms.items() if room.split('/')[0] == name) for rooms in (now, before))
        print(f'{total:8} {total - was:+7}  {name} in all')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
