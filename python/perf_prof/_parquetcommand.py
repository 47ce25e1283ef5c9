# SPDX-License-Identifier: Apache-2.0
"""`perf-prof convert --to parquet`. Its options are read in C (src/export/convert.c)."""
import os
import shlex
import signal
import sys
from typing import Any

from . import _native, sinks
from ._environment import said_for_command


def check() -> None:
    """Raises ImportError if pyarrow is missing."""
    with said_for_command():
        sinks._pyarrow('pyarrow.parquet')
        pyarrow = sinks._pyarrow()
    # its own allocators keep 30 MiB that were given back, and are not faster here
    pyarrow.set_memory_pool(pyarrow.system_memory_pool())


def run(session: _native.Session, folder: str, host: str, date: str) -> None:
    """The caller prints what it raises. What was read before is written."""
    def end(number: int, frame: Any) -> None:
        raise KeyboardInterrupt
    for number in signal.SIGINT, signal.SIGTERM:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)   # past `ulimit -f`, write(2) then fails, and the error has the path
    dataset = sinks._dataset(session, folder, host, date, sinks.MAX_BYTES, sinks.MAX_SECONDS)
    try:
        sinks._fill(dataset, session)
    except BaseException:
        if dataset.files:
            print(f'perf-prof: complete files stay: {dataset.files}; {_removal(dataset)}', file=sys.stderr)
        raise
    if dataset.lost:
        print(f'perf-prof: {dataset.rows} rows written; {dataset.lost} events were lost', file=sys.stderr)


def _removal(dataset: sinks._Dataset) -> str:
    """How to remove its files: the command, unless a name would break it, or the terminal."""
    folder = dataset.folder.rstrip('/')
    folders = [one for one in (folder, f'{folder}-frames', f'{folder}-stacks') if os.path.isdir(one)]
    words = ' '.join(shlex.quote(one if one[0] == '/' else f'./{one}') for one in folders)     # also those called ! or -x
    if not words or not words.isprintable():
        return f'remove those with -{dataset.run}- in their names before you convert again'
    return f'to remove them before you convert again: find -H {words} -name "*-{dataset.run}-*" -delete'
