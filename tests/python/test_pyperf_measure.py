# SPDX-License-Identifier: Apache-2.0
"""pyperf.measure(), and what it and its neighbours say about wrong arguments."""
import errno
import os
import threading

import pytest

from test_pyperf import PAGES, touch


@pytest.mark.live
def test_measure(pyperf):
    with pyperf.measure('cpu-clock,{task-clock,page-faults}') as counts:      # a group of two PMUs of the kernel
        touch()
    assert list(counts) == ['cpu-clock', 'task-clock', 'page-faults'] and all(count.value for count in counts.values())
    assert PAGES <= counts['page-faults'].value < PAGES + 100
    with counts:                # again
        pass
    assert counts['page-faults'].value < 100


@pytest.mark.live
def test_measure_is_not_over(pyperf):
    with pyperf.measure('page-faults') as counts:
        touch(100)
        assert 'read()' in repr(counts)
        with pytest.raises(KeyError, match='not over'):
            counts['page-faults']
        before = counts.read()
        assert 100 <= before['page-faults'].value < 1000
        touch(100)
    assert counts['page-faults'].value >= before['page-faults'].value + 100
    assert counts.read() == counts and 'read()' not in repr(counts)
    with pytest.raises(KeyError, match="no count of an event 'nosuch': there are 'page-faults'"):
        counts['nosuch']
    with pytest.raises(KeyError, match="did you mean 'page-faults'"):
        counts['page-fault']


@pytest.mark.live
def test_measure_a_function(pyperf):
    counts = pyperf.measure(['page-faults', pyperf.perf_event_attr(type=1, config=9)], lambda: touch() or 'done')
    assert counts.result == 'done' and counts['page-faults'].value >= PAGES
    assert counts['dummy'].value == 0
    assert pyperf.measure('task-clock', divmod, 7, 2).result == (3, 1)


def test_measure_names_what_is_wrong(pyperf):
    with pytest.raises(TypeError, match=r'measure\(events=5\): expected the names of events'):
        pyperf.measure(5)
    with pytest.raises(pyperf.Error, match='foo'):
        pyperf.measure('foo')
    with pytest.raises(TypeError, match='takes a function'):
        pyperf.measure('task-clock', None, 5)


def test_a_period_and_a_frequency_are_one_field(pyperf):
    with pytest.raises(ValueError, match='sample_freq=1000 and sample_period=3 are one field'):
        pyperf.Event('page-faults', sample_freq=1000, sample_period=3)
    with pytest.raises(ValueError, match='sample_freq=100 and sample_period=0 are one field'):
        pyperf.Event('page-faults', sample_freq=100, sample_period=0)
    with pytest.raises(ValueError, match='one field'):
        pyperf.perf_event_attr(sample_freq=1000, sample_period=3)


def test_ioc_names_a_wrong_descriptor(pyperf):
    with open('/dev/null') as file, pytest.raises(pyperf.Error, match='not the descriptor of a perf event') as refusal:
        pyperf.ioc(file, pyperf.PERF_EVENT_IOC_ENABLE, 0)
    assert f'descriptor {refusal.value.asked.rsplit()[-1]}' in str(refusal.value) and refusal.value.errno == errno.ENOTTY
    for operation in pyperf.PERF_EVENT_IOC_ENABLE, pyperf.PERF_EVENT_IOC_ID:
        with pytest.raises(pyperf.Error, match='descriptor 9999: .*the descriptor is not open') as refusal:
            pyperf.ioc(9999, operation, 0)
        assert refusal.value.errno == errno.EBADF


@pytest.mark.live
def test_measure_inherit_and_threads(pyperf):
    def work():
        thread = threading.Thread(target=touch)
        thread.start()
        thread.join()
    assert pyperf.measure('page-faults', work)['page-faults'].value < PAGES
    assert pyperf.measure('page-faults', work, inherit=1)['page-faults'].value >= PAGES


@pytest.mark.live
def test_measure_leaves_nothing_open(pyperf):
    before = len(os.listdir('/proc/self/fd'))
    with pytest.raises(ZeroDivisionError):
        pyperf.measure('page-faults,cpu-clock', lambda: 1 / 0)
    with pytest.raises(pyperf.Error):
        pyperf.measure(['page-faults', pyperf.perf_event_attr(type=4242)], touch)
    assert len(os.listdir('/proc/self/fd')) == before
