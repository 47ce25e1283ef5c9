# SPDX-License-Identifier: Apache-2.0
"""The fixture perf_counts, in a pytest of its own."""
import os
import subprocess
import sys

import pytest

from frame import nokernel
from known import PATIENCE

COUNTS = '''
import mmap
import os
import sys

import pytest

def test_nothing_is_imported_before_the_fixture_is_used():
    assert "perf_prof" not in sys.modules

def test_counts(perf_counts):
    with perf_counts("page-faults:u", "task-clock:u") as counts:
        with mmap.mmap(-1, 50 << 12) as memory:
            for page in range(50):
                memory[page << 12] = 1
    assert 50 <= counts["page-faults:u"] < 1000 and counts["task-clock:u"] > 0

def test_a_wrong_name(perf_counts):
    with perf_counts("page-fault"):
        pass

def test_a_pmu_that_is_not_there(perf_counts):
    with perf_counts("none_such/event=1/"):
        pass

@pytest.mark.skipif(os.geteuid() != 0, reason="becomes nobody")
def test_tracepoints_that_this_user_may_not_read(perf_counts):
    os.seteuid(65534)
    try:
        with perf_counts("sched:sched_switch"):
            pass
    finally:
        os.seteuid(0)
'''


def output_of(folder, tmp_path, *runner):
    """What pytest prints of these tests."""
    (tmp_path / 'conftest.py').write_text('pytest_plugins = ["perf_prof_pytest"]\n')
    (tmp_path / 'test_it.py').write_text(COUNTS)
    env = {**os.environ, 'PYTHONPATH': folder, 'PYTEST_DISABLE_PLUGIN_AUTOLOAD': '1'}
    return subprocess.run([sys.executable, *runner, '-m', 'pytest', '-p', 'no:cacheprovider', '-rs', tmp_path], cwd=tmp_path, env=env,
                          capture_output=True, text=True, timeout=PATIENCE).stdout


@pytest.mark.live
def test_fixture_for_pytest(folder, tmp_path):
    text = output_of(folder, tmp_path)
    assert '1 failed, 2 passed, 2 skipped' in text and "no event named" in text and 'none_such/event=1/: ' in text


def test_fixture_for_pytest_skips_what_cannot_be_counted(folder, tmp_path):
    text = output_of(folder, tmp_path, nokernel.__file__, sys.executable)
    assert '1 failed, 1 passed, 3 skipped' in text and 'page-faults:u: ' in text
