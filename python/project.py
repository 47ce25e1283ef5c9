#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""For meson.build: `version` and `sources` print what it needs, `dist` completes a source distribution.

The C sources stand elsewhere in the project (../src, ../include); a source distribution carries copies of them in
csrc/, so that it builds by itself."""
import glob
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
COMPILED = 'src/perfevent/**/*.c', 'src/pyperf/*.c', 'src/base/textfile.c'
COPIED = (*COMPILED, 'meson.build', 'include/**/*.h', 'src/perfevent/**/*.h', 'src/pyperf/*.h',
          'src/base/nearest.[ch]', 'src/base/now.h', 'src/base/room.h', 'src/base/textfile.h')


def root():
    carried = os.path.join(HERE, 'csrc')
    return carried if os.path.isdir(carried) else os.path.dirname(HERE)


def found(patterns):
    for pattern in patterns:
        yield from sorted(glob.glob(os.path.join(root(), pattern), recursive=True))


def version():
    with open(os.path.join(root(), 'meson.build')) as f:
        print(re.search(r"version: '(.*)'", f.read()).group(1))


def sources():
    print(root(), *found(COMPILED), sep='\n')


def dist():
    for path in found(COPIED):
        to = os.path.join(os.environ['MESON_DIST_ROOT'], 'csrc', os.path.relpath(path, root()))
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copyfile(path, to)


if __name__ == '__main__':
    {'version': version, 'sources': sources, 'dist': dist}[sys.argv[1]]()
