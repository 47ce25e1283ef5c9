# SPDX-License-Identifier: Apache-2.0
"""--sampling-limit and --usage-self."""
import os
import re
import time

import pytest

from frame import requires
from frame.session import EVENT, READY, Session, Storm

for word in ('tracefs', 'root'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))

SCRIPT = READY + """
times = []
def __sample__(e): times.append((e._cpu, e._time))
def __exit__():
    first = {}
    for cpu, time in times:
        first.setdefault(cpu, time)
    within = [t for cpu, t in times if t - first[cpu] < 10**9]
    print('count', len(times))
    print('within', len(within))
"""


def counted(prof, storm, folder, *args):
    cpu = max(os.sched_getaffinity(0))
    with Storm(storm, '--cpu', cpu, 'getppid', 20000) as one, \
            Session(prof, folder, SCRIPT, '-v', '-i', '50', '-m', '16M', '-e', EVENT, '-p',
                    str(one.pid), *args) as session:
        session.wait_for('ready')
        one.run()
        time.sleep(0.5)
        ended = session.stop()
    assert ended.code == 0
    return ended


@pytest.mark.parametrize('order', [[], ['--order']])
def test_sampling_limit(prof, storm, tmp_path, order):
    ended = counted(prof, storm, tmp_path, '--sampling-limit', '100', *order)
    assert ended.number('within') == 100
    told = int(re.search(r'(\d+) events were dropped by --sampling-limit', ended.stderr).group(1))
    assert ended.number('count') + told == 20000 and ended.lost == 0


def test_usage_self(prof, storm, tmp_path):
    ended = counted(prof, storm, tmp_path, '--usage-self', '100')
    told = re.findall(r'^perf-prof: self: CPU ([\d.]+) %, resident ([\d.]+) MiB$', ended.stderr, re.M)
    assert told and all(float(cpu) <= 400 and 5 < float(mib) < 1000 for cpu, mib in told)
