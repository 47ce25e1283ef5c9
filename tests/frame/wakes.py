# SPDX-License-Identifier: Apache-2.0
"""Some 2,000 wakeups a second: a machine may have next to none of its own; and CPUs that are never idle."""
import os
import subprocess
import sys

# By a task each: of what wakes up out of the idle task some kernels tell nobody (seen on 6.18).
WAKES = """
import os, time
there, back = os.pipe(), os.pipe()
if not os.fork():
    os.close(there[1])
    while os.read(there[0], 1):
        os.write(back[1], b'x')
    os._exit(0)
while os.getppid() == int(os.environ['TESTER']):
    time.sleep(0.002)
    for _ in range(2):
        os.write(there[1], b'x')
        os.read(back[0], 1)
"""


# Whoever wants the CPU has it at once.
SPINS = """
import os
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
os.write(1, b'x')
while os.getppid() == int(os.environ['TESTER']):
    for _ in range(1000000):
        pass
"""


class Awake:
    """Keeps these CPUs from being idle, as a context: of the idle task some kernels tell nobody."""

    def __init__(self, cpus):
        self.cpus = cpus

    def __enter__(self):
        self.processes = [subprocess.Popen(['taskset', '-c', str(cpu), sys.executable, '-S', '-c', SPINS],
                                           env={'TESTER': str(os.getpid())}, stdout=subprocess.PIPE) for cpu in self.cpus]
        for process in self.processes:
            process.stdout.read(1)      # it spins
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()
            process.stdout.close()


TOLD = 'TESTS_ARE_WOKEN'       # in the environment of those for whom it is done


class Waker:
    """A process that wakes another and is woken by it, as a context; it ends with its parent, too. One is enough for all
    pytests of a run of the tests."""

    def __enter__(self):
        self.process = None
        if TOLD not in os.environ:
            self.process = subprocess.Popen([sys.executable, '-S', '-c', WAKES], env={'TESTER': str(os.getpid())})
            os.environ[TOLD] = '1'
        return self

    def __exit__(self, *_):
        if self.process:
            del os.environ[TOLD]
            self.process.kill()
            self.process.wait()
