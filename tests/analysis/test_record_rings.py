# SPDX-License-Identifier: Apache-2.0
"""record: the size of rings, read from the mappings of the recorder by the command that it runs."""
import os

import pytest

pytestmark = pytest.mark.live


@pytest.mark.parametrize('event, wanted', [('raw_syscalls:sys_enter', 8 << 20), ('cpu-clock', 1 << 20)])
def test_rings_for_events_that_are_all_recorded_are_larger(analyse, event, wanted):
    memory = os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE')
    while wanted > 1 << 20 and wanted * os.cpu_count() > memory // 64:
        wanted //= 2

    maps = analyse('record', '-q', '-a', '-o', 'r.data', '-e', event, '--', 'sh', '-c', 'cat /proc/$PPID/maps').text
    found = [line.split()[0].split('-') for line in maps.splitlines() if line.endswith('[perf_event]')]
    sizes = {int(end, 16) - int(start, 16) - os.sysconf('SC_PAGE_SIZE') for start, end in found}
    assert wanted in sizes, maps
