# SPDX-License-Identifier: Apache-2.0
"""Which Python a command uses, for its messages."""
import contextlib
import os
import sys
from typing import Iterator


def _ignored() -> str:
    """What to say about $VIRTUAL_ENV: root runs no code that the environment chooses (src/base/capabilities.h)."""
    named = os.environ.get('VIRTUAL_ENV')
    if not named or os.geteuid() or os.path.realpath(named) == os.path.realpath(sys.prefix):
        return ''
    return f'; root ignores $VIRTUAL_ENV ({named})'


@contextlib.contextmanager
def said_for_command() -> Iterator[None]:
    """An ImportError also says in which Python the package is missing, and how to choose another one."""
    try:
        yield
    except ImportError as error:
        raise ImportError(f'{error}; this Python is {sys.executable}{_ignored()}; --venv DIR uses that of a virtual environment') from error
