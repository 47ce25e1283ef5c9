# SPDX-License-Identifier: Apache-2.0
"""What any user may do beside a profile of the whole machine neither stops nor delays it: neighbours.py, a second each."""
import pytest

import neighbours

LATE = 10      # s: an interval that waited for a stranger's file came later


@pytest.fixture
def place(build):
    one = neighbours.Place(build)
    yield one
    one.close()


@pytest.mark.parametrize('attack', neighbours.ATTACKS, ids=lambda attack: attack.__name__)
def test_intervals_and_the_end_come_in_time(build, place, attack):
    profile = neighbours.Profile(build, '-i', '200')
    try:
        turns = neighbours.take_turns(place, profile, 2, [attack])
    finally:
        ended = profile.stop()
    assert profile.process.returncode == 0, profile.messages
    assert ended < LATE and neighbours.latest(profile, turns) < LATE
    assert profile.intervals and turns[0].memory < 512 << 20
