# SPDX-License-Identifier: Apache-2.0
"""perf_prof.concat(): one batch of several."""
import os

import pytest

from known import CORPUS, RECORDING

FIELDS = ['_time', '_cpu', '_comm', 'prev_comm', 'next_pid']


@pytest.fixture
def batches(perf_prof):
    """Of two recordings: other texts, and rows without some values."""
    found = []
    for name in 'amd64-6.12-several.data', 'amd64-5.10-several.data':
        with perf_prof.open(os.path.join(CORPUS, name), fields=FIELDS) as recording:
            found += recording
    return found


def rows_of(batches):
    return [row for batch in batches for row in batch.to_pylist()]


def test_rows_are_those_of_the_batches(perf_prof, batches):
    one, other = batches
    parts = [other[7:30], one, other[:0], one[5:6], other]
    whole = perf_prof.concat(parts)
    assert type(whole) is perf_prof.Batch and whole.columns == one.columns
    assert whole.to_pylist() == rows_of(parts) and len(set(whole['prev_comm'])) > 5
    for name in whole.columns:
        assert whole[name].null_count == sum(part[name].null_count for part in parts)
    rows = rows_of([other])
    del one, other, parts
    batches.clear()
    assert whole[-len(rows):].to_pylist() == rows       # it is a copy


def test_one_or_none(perf_prof, batches):
    assert perf_prof.concat(batches[:1]).to_pylist() == rows_of(batches[:1])
    assert perf_prof.concat(batch for batch in batches).to_pylist() == rows_of(batches)
    assert len(perf_prof.concat([batches[0][3:3]])) == 0


def test_consumers(perf_prof, batches, reader):
    table = reader('pyarrow').record_batch(perf_prof.concat(batches + batches))
    table.validate(full=True)
    assert table.to_pylist() == rows_of(batches + batches)


def test_what_it_cannot_join(perf_prof, batches):
    with perf_prof.open(RECORDING, fields=['_time']) as recording:
        fewer = list(recording)
    with pytest.raises(ValueError, match=r"same columns; one has .*next_pid.*, another \('_time', '_event', '_lost'\)"):
        perf_prof.concat(batches + fewer)
    with pytest.raises(ValueError, match='no batches'):
        perf_prof.concat([])
    for wrong in [1], [batches[0], 'x'], 5, batches[0]:
        with pytest.raises(TypeError):
            perf_prof.concat(wrong)
