#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/notices.py MAP OUT: copies into OUT what the licences of libraries ask to be shipped with a program that contains them: the
copyright file of the Debian package of each archive in the linker's map, as SOURCE-PACKAGE.copyright. Elsewhere: nothing."""
import os
import re
import shutil
import subprocess
import sys


def said(*argv):
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def archives(path):
    """Of libraries that something was linked from."""
    with open(path) as f:
        members = f.read().split('\n\n', 2)[1]
    return sorted({os.path.realpath(found) for found in re.findall(r'^(/\S+\.a)\(', members, re.M)})


def package_of(file):
    """Debian's package with the file, whose path may be a pattern."""
    return said('dpkg', '-S', file).splitlines()[0].rsplit(': ', 1)[0].split(',')[0]


def copy(files, out):
    """The names of the copies."""
    if not shutil.which('dpkg'):
        return []
    found = {}
    for package in map(package_of, files):
        found[said('dpkg-query', '-W', '-f', '${source:Package}', package)] = package.partition(':')[0]
    for source, package in found.items():
        shutil.copyfile(f'/usr/share/doc/{package}/copyright', os.path.join(out, f'{source}.copyright'))
    return sorted(f'{source}.copyright' for source in found)


if __name__ == '__main__':
    os.makedirs(sys.argv[2], exist_ok=True)
    copy(archives(sys.argv[1]), sys.argv[2])
