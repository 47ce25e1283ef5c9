# SPDX-License-Identifier: Apache-2.0
"""`perf-prof convert --to parquet`. Its options are read in C (src/export/convert.c)."""
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
    written = sinks.parquet(session, folder, host=host, date=date)
    if written.lost:
        print(f'perf-prof: {written.rows} rows written; {written.lost} events were lost', file=sys.stderr)
