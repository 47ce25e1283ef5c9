# SPDX-License-Identifier: Apache-2.0
"""Several suites at a time. Most tests wait more than they compute (for the kernel, above all, which opens and closes
an event when all its CPUs have passed a point of rest), so more of them run than there are CPUs. A suite (frame/suites.py) gives parts that may run beside those of any other once its
build is there; when all parts of all suites have ended, what may not run beside anything (tests
marked `alone`). Each suite gets its line when it is over."""
import os
import queue
import threading
import time
import traceback

from . import execute
from .build import BuildFailed
from .result import FAILED, Result

TICK = 0.5      # how often who watches sees what runs, in seconds


class State:
    """Of a suite while it runs."""

    def __init__(self, suite):
        self.suite, self.results, self.seconds = suite, [], 0.0
        self.left = None        # parts that have not ended; None: its build isn't there


class Schedule:
    def __init__(self, context, plan, tally, jobs):
        self.context, self.tally = context, tally
        self.states = [State(suite) for suite in plan]
        self.parts = queue.PriorityQueue()      # (place of the suite, of the part, state, part)
        self.changed = threading.Condition()
        self.running, self.stopped = {}, False
        self.threads = [threading.Thread(target=self.worker, daemon=True) for _ in range(jobs)]
        self.threads.append(threading.Thread(target=self.builder, daemon=True))

    def run(self):
        """All suites; KeyboardInterrupt ends what runs before it goes on to the caller."""
        try:
            for thread in self.threads:
                thread.start()
            self.watch()
            for state in self.states:
                if state.left == 0:             # else it was reported
                    self.by_itself(state)
        finally:
            self.stopped = True
            execute.end_all()

    def watch(self):
        """Until all parts have ended; reports the suites for which nothing else is to come."""
        while True:
            with self.changed:
                self.changed.wait_for(self.over, TICK)
                self.tally.progress(', '.join(sorted(self.running.values())))
                for state in self.states:
                    if state.left == 0 and not self.has_more(state):
                        self.report(state)
                if self.over():
                    return

    def over(self):
        return all(state.left in (0, -1) for state in self.states)

    def has_more(self, state):
        return state.suite.runner.has_rest()

    def report(self, state):
        state.left = -1
        if not state.results:
            state.results = [Result(state.suite.name, '(suite)', FAILED, reason='no test ran')]
        self.tally.end(state.suite.name, state.results, state.seconds)

    def by_itself(self, state):
        self.tally.progress(f'{state.suite.name} (alone)')
        self.attempt(state, lambda: state.suite.runner.rest(self.context))
        self.report(state)

    def attempt(self, state, part):
        """Runs a part; trouble with the part itself is a failure, too."""
        begin = time.monotonic()
        try:
            results = list(part())
        except execute.Ended:
            return
        except Exception:       # of the frame itself
            results = [Result(state.suite.name, '(frame)', FAILED, output=traceback.format_exc())]
        with self.changed:
            state.seconds += time.monotonic() - begin
            state.results = state.results + results

    def worker(self):
        while not self.stopped:
            try:
                _, _, state, part = self.parts.get(timeout=TICK)
            except queue.Empty:
                continue
            me = threading.get_ident()
            self.running[me] = state.suite.name
            self.attempt(state, part)
            with self.changed:
                del self.running[me]
                state.left -= 1
                self.changed.notify_all()

    def builder(self):
        """Builds what the suites need, in their order, while those run whose build is there."""
        for at, state in enumerate(self.states):
            kind = state.suite.runner.kind
            try:
                if kind:
                    self.running['build'] = f'building {kind}'
                    self.context.builds.get(kind)
                parts = state.suite.runner.parts(self.context)
            except BuildFailed as failed:
                parts = []
                state.results = [Result(state.suite.name, failed.what, FAILED, output=failed.output)]
            except execute.Ended:
                return
            except Exception:
                parts = []
                state.results = [Result(state.suite.name, '(frame)', FAILED, output=traceback.format_exc())]
            with self.changed:
                self.running.pop('build', None)
                state.left = len(parts)
                self.changed.notify_all()
            for number, part in enumerate(parts):
                self.parts.put((at, number, state, part))


def jobs(tier):
    """Of tests that mostly wait: two for each CPU. Those of DEEP wait longest (for guests, compilers, other programs)."""
    return (3 if tier == 'deep' else 2) * len(os.sched_getaffinity(0))
