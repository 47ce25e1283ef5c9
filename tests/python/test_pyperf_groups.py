# SPDX-License-Identifier: Apache-2.0
"""Groups of pyperf whose events are of several software PMUs: all count at once."""
import pytest

from test_pyperf import touch

PAIRS = [('task-clock', 'page-faults'), ('page-faults', 'task-clock'), ('cpu-clock', 'page-faults')]


@pytest.mark.parametrize('events', PAIRS)
class TestClocksAndFaults:
    """Events of several software PMUs: newer kernels start a member late whose leader is on already."""

    AGAIN = 20

    def check(self, counts):
        assert 100 <= counts['page-faults'] < 1000
        assert all(counts.values())

    def test_group(self, pyperf, events):
        for _ in range(self.AGAIN):
            with pyperf.Group(*events) as group:
                group.begin()
                touch(100)
                self.check({name: count.value for name, count in group.end().items()})

    @pytest.mark.parametrize('disabled', (0, 1))
    def test_by_hand(self, pyperf, events, disabled):
        for _ in range(self.AGAIN):
            with pyperf.Event(events[0], disabled=disabled) as leader, \
                    pyperf.Event(events[1], group=leader, disabled=disabled) as member:
                if disabled:
                    leader.enable()
                    member.enable()
                touch(100)
                self.check({event.label: event.read().value for event in (leader, member)})

    def test_measure(self, pyperf, events):
        for _ in range(self.AGAIN):
            with pyperf.measure('{%s}' % ','.join(events)) as counts:
                touch(100)
            self.check({name: count.value for name, count in counts.items()})
