# SPDX-License-Identifier: Apache-2.0
"""What any user may do beside a profile of the whole machine neither stops nor delays it: neighbours.py, twice each."""
import pytest

import neighbours
from security.conftest import wait_until

pytestmark = pytest.mark.live

LATE = 30      # s: an interval that waited for a stranger's file would come later, one on a busy machine does not


@pytest.fixture
def place(build):
    one = neighbours.Place(build)
    yield one
    one.close()


@pytest.mark.parametrize('attack', neighbours.ATTACKS, ids=lambda attack: attack.__name__)
def test_intervals_and_the_end_come_in_time(build, place, attack):
    profile, memory = neighbours.Profile(build, '-i', '200'), 0
    try:
        for _ in range(2):
            attack(place)
            seen = len(profile.intervals)
            wait_until(lambda: len(profile.intervals) > seen + 3, LATE)
            memory = max(memory, profile.memory())
            place.stop()
    finally:
        ended = profile.stop()
    assert profile.process.returncode == 0 and ended < LATE, profile.messages
    assert 0 < memory < 512 << 20
