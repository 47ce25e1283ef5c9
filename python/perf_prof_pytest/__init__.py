# SPDX-License-Identifier: Apache-2.0
"""The fixture perf_counts for pytest, which loads this module where pip installed perf_prof; elsewhere, a conftest.py has
pytest_plugins = ["perf_prof_pytest"].

    def test_few_faults(perf_counts):
        with perf_counts("instructions", "page-faults") as counts:
            work()
        assert counts["page-faults"] < 100
"""
import contextlib
from typing import Any, Callable, ContextManager, Dict, Iterator

import pytest

MISSING = 'there is no PMU', 'tracefs is not mounted'       # what raw.parse() says of names that may be right elsewhere


def _open(raw: Any, event: str, stack: contextlib.ExitStack) -> Any:
    """Starts to count it, without the kernel's part where this user may not have that. Skips the test if it cannot be had."""
    try:
        raw.parse(event)
    except raw.Error as error:
        if not isinstance(error, raw.DeniedError) and not any(text in error.said for text in MISSING):
            raise       # a wrong name is an error of the test
        pytest.skip(f'{event}: {error}')
    try:
        return stack.enter_context(raw.measure(event, inherit=1))
    except raw.DeniedError:
        pass
    except raw.Error as error:
        pytest.skip(f'{event}: {error}')
    try:
        return stack.enter_context(raw.measure(event, inherit=1, exclude_kernel=1, exclude_hv=1))
    except raw.Error as error:
        pytest.skip(f'{event}: {error}')


@contextlib.contextmanager
def _counting(*events: str) -> Iterator[Dict[str, int]]:
    import perf_prof.raw as raw      # not above: pytest loads this module in every run
    counts: Dict[str, int] = {}
    with contextlib.ExitStack() as stack:
        measured = [_open(raw, event, stack) for event in events]
        yield counts
    for name, count in (item for one in measured for item in one.items()):
        if not count.time_running:
            pytest.skip(f'{name}: it was never on a counter, because others use them')
        counts[name] = round(count.estimate().value)


@pytest.fixture
def perf_counts() -> Callable[..., ContextManager[Dict[str, int]]]:
    """with perf_counts(EVENT, ...) as counts: after the block, counts[EVENT] is the number of events of this thread, and of
    threads and processes that it has started. The test is skipped where an event cannot be counted."""
    return _counting
