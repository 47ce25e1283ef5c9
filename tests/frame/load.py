# SPDX-License-Identifier: Apache-2.0
"""Other work beside the tests, for `tests/run --load`: twice as many busy loops as there are CPUs, and one that
writes to the disk. A test that fails beside it fails on somebody's machine without it."""
import os
import signal
import subprocess
import tempfile
import time

# They end with whoever started them, $2, however that ended (and be it before they have begun).
BUSY = 'while kill -0 "$2"; do i=0; while [ $i -lt 10000 ]; do i=$((i + 1)); done; done 2>/dev/null'
WRITES = 'while kill -0 "$2"; do dd if=/dev/zero of="$1" bs=1M count=16 conv=fsync; done >/dev/null 2>&1'


class Load:
    """As a context."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix='load-of-perf-prof-')
        path, pid = os.path.join(self.folder.name, 'written'), str(os.getpid())
        scripts = [BUSY] * (2 * len(os.sched_getaffinity(0))) + [WRITES]
        self.processes = [subprocess.Popen(['sh', '-c', script, 'sh', path, pid], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                           start_new_session=True) for script in scripts]
        return self

    def __exit__(self, *_):
        for process in self.processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._wait_for_their_children()
        self.folder.cleanup()

    def _wait_for_their_children(self):
        """A dd in the middle of its fsync is gone only after it, and may make its file until then."""
        for process in self.processes:
            while True:
                try:
                    os.killpg(process.pid, 0)
                except ProcessLookupError:
                    break
                time.sleep(0.01)
