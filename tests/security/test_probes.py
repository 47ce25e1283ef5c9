# SPDX-License-Identifier: Apache-2.0
"""Probes in files that belong to other users."""
import os
import pathlib
import re

import pytest

from security.conftest import CALLER, helper, link, running, wait_until

pytestmark = pytest.mark.live('tracefs')

UPROBES = pathlib.Path('/sys/kernel/tracing/uprobe_events')


@pytest.mark.skipif(not UPROBES.exists(), reason='needs uprobes')
def test_a_link_swapped_after_its_file_was_searched_leads_the_kernel_nowhere_else(prof, build, folder):
    """It resolves the path of a definition again: an offset of one program would be inside an instruction of another one."""
    swapped = link(folder / 'app', helper(build, folder), CALLER)
    with running(prof, 'trace', '-e', f'uprobe:main@{swapped}', '-p', str(os.getpid())) as run:
        def definitions():
            return re.findall(rf'p:perf_prof_\d+_{run.pid}_\S+ (\S+):0x', UPROBES.read_text())
        wait_until(lambda: definitions() or run.poll() is not None)
        assert all(re.fullmatch(r'/proc/self/fd/\d+', path) for path in definitions()) and definitions()
