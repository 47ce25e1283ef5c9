# SPDX-License-Identifier: Apache-2.0
"""What the programs of suite `peers` share: checks that tell as TAP what they compared."""
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from frame import crashes  # noqa: E402


class Skip(Exception):
    pass


class Checks:
    """So many of them, one after the other; `code` is what the program ends with."""

    def __init__(self, count):
        self.number = self.code = 0
        print(f'1..{count}')

    def check(self, title, function, *args):
        """function(*args) returns what it compared, and raises Skip or AssertionError."""
        self.number += 1
        try:
            print(f'ok {self.number} - {title}: {function(*args)}', flush=True)
        except Skip as reason:
            print(f'ok {self.number} - {title} # SKIP {str(reason).splitlines()[0]}', flush=True)
        except AssertionError as error:
            self.code = 1
            print(f'not ok {self.number} - {title}\n# ' + str(error).replace('\n', '\n# '), flush=True)


def lacks_root_or_perf():
    lacking = os.geteuid() or not shutil.which('perf')
    if lacking:
        print('1..0 # SKIP needs root and perf')
    return lacking


def run(main):
    sys.exit(crashes.run(main, sys.argv[1:]))
