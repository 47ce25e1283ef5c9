# SPDX-License-Identifier: Apache-2.0
"""Batches and sessions in the hands of others: NumPy, pyarrow, Polars, DuckDB, and who only knows buffers."""
import collections
import gc
import os

import pytest

from known import EVENT, RECORDING

FIELDS = ['_time', '_cpu', '_tid', '_comm', 'prev_pid', 'next_pid', 'common_type']


@pytest.fixture
def batch(perf_prof):
    """All rows of a recording."""
    with perf_prof.open(RECORDING, 'sched:sched_switch', fields=FIELDS) as s:
        return next(s)


def test_buffers(batch):
    column = batch['_time']
    view = memoryview(column)
    assert (view.format, view.itemsize, view.ndim, view.shape, view.readonly) == ('Q', 8, 1, (len(batch),), True)
    assert view.tolist() == column.to_pylist() == list(column)
    assert memoryview(batch['_cpu']).format == 'i' and memoryview(batch['common_type']).format == 'H'
    part = batch[3:7]
    del batch, column
    gc.collect()
    assert view.tolist()[3:7] == part['_time'].to_pylist()     # the view keeps the memory
    with pytest.raises(BufferError, match='_comm'):
        memoryview(part['_comm'])
    with pytest.raises(TypeError):
        view[0] = 1


def test_rows_and_slices(batch):
    assert len(batch[:5]) == 5 and len(batch[5:5]) == 0 and len(batch[-3:]) == 3
    assert batch[2:9][1:3].to_pylist() == batch.to_pylist()[3:5]
    assert batch[-1].to_dict() == batch.to_pylist()[-1] and batch['_tid'][-1] == batch[-1]._tid
    assert batch['_tid'][2:4].to_pylist() == batch[2:4]['_tid'].to_pylist()
    for wrong in len(batch), -len(batch) - 1:
        with pytest.raises(IndexError):
            batch[wrong]
        with pytest.raises(IndexError):
            batch['_tid'][wrong]
    with pytest.raises(ValueError, match='step 1, not 2'):
        batch[::2]
    with pytest.raises(KeyError, match='no column .nothing.; there are: _time, '):
        batch['nothing']
    with pytest.raises(TypeError):
        batch[1.5]
    assert batch.columns[0] == '_time' and f'{len(batch)} rows' in repr(batch) and '_comm' in repr(batch['_comm'])
    assert batch['_comm'].type == 'text' and batch['common_type'].type == 'uint16' and batch['_lost'].null_count == len(batch)


def test_html(batch):
    html = batch._repr_html_()
    assert html.count('<tr>') == 21 and f'{len(batch)} rows' in html and f'<td>{batch[0]._comm}</td>' in html


def test_numpy(batch, reader):
    numpy = reader('numpy')
    times = numpy.asarray(batch['_time'])
    assert times.dtype == numpy.uint64 and not times.flags.owndata and not times.flags.writeable
    assert int(times.sum()) == sum(batch['_time'].to_pylist())
    assert numpy.array(batch['_cpu'], dtype='f8').dtype == numpy.float64
    assert numpy.array(batch['_cpu']).flags.owndata
    names = numpy.asarray(batch['_comm'])
    assert names.dtype == object and list(names) == batch['_comm'].to_pylist()


def test_pyarrow(batch, reader):
    pyarrow = reader('pyarrow')
    table = pyarrow.record_batch(batch)
    table.validate(full=True)
    assert table.to_pylist() == batch.to_pylist()
    assert table['_time'].buffers()[1].address == reader('numpy').asarray(batch['_time']).ctypes.data
    part = pyarrow.record_batch(batch[10:20])
    part.validate(full=True)
    assert part.to_pylist() == batch.to_pylist()[10:20]
    column = pyarrow.array(batch['_comm'][1:3])
    names = batch['_comm'].to_pylist()[1:3]
    assert column.to_pylist() == names
    schema = pyarrow.schema(batch)
    assert schema.field('_time').type == pyarrow.uint64() and schema.field('_comm').type.value_type == pyarrow.string()
    # children outlive their batch
    del table, part
    gc.collect()
    assert column.to_pylist() == names


def test_pyarrow_reads_a_session(perf_prof, reader):
    """The stream keeps it alive."""
    pyarrow = reader('pyarrow')
    s = perf_prof.open(RECORDING)
    assert pyarrow.schema(s).names == list(s.columns)
    batches = pyarrow.RecordBatchReader.from_stream(s)
    with pytest.raises(ValueError, match='once'):
        s.__arrow_c_stream__()
    del s
    gc.collect()
    table = batches.read_all()
    table.validate(full=True)
    assert len(table) == 339


@pytest.mark.live
def test_a_consumer_that_holds_the_gil(run, live):
    """The other thread can only close the session where the stream lets go of the lock."""
    assert run(f'''
import ctypes, sys, threading, perf_prof
sys.setswitchinterval(1000)
class Stream(ctypes.Structure): pass
class Array(ctypes.Structure): _fields_ = [('words', ctypes.c_int64 * 16)]
Next = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))
Stream._fields_ = [('get_schema', ctypes.c_void_p), ('get_next', Next)]
s = perf_prof.Session({EVENT!r}, filter='common_pid < 0')
capsule = s.__arrow_c_stream__()
get = ctypes.pythonapi.PyCapsule_GetPointer
get.restype, get.argtypes = ctypes.POINTER(Stream), [ctypes.py_object, ctypes.c_char_p]
stream, begun, out = get(capsule, b'arrow_array_stream'), threading.Event(), Array()
thread = threading.Thread(target=lambda: begun.wait() and s.close())
thread.start()
begun.set()
print(stream.contents.get_next(stream, out), s.closed, set(out.words))
thread.join()
''') == '0 True {0}\n'


def test_capsules_that_nobody_takes(batch):
    for _ in range(1000):
        batch.__arrow_c_array__()
        batch.__arrow_c_schema__()
        batch['_comm'].__arrow_c_array__()


def test_a_capsule_is_taken_once(batch, reader):
    """Whoever takes it a second time gets an error of its own, as the structure is marked released."""
    pyarrow = reader('pyarrow')
    schema, array = batch.__arrow_c_array__()
    rows = pyarrow.RecordBatch._import_from_c_capsule(schema, array)
    with pytest.raises(pyarrow.ArrowInvalid, match='released'):
        pyarrow.RecordBatch._import_from_c_capsule(*batch.__arrow_c_array__()[:1], array)
    with pytest.raises(pyarrow.ArrowInvalid, match='released'):
        pyarrow.RecordBatch._import_from_c_capsule(schema, batch.__arrow_c_array__()[1])
    assert rows.to_pylist() == batch.to_pylist()
    del schema, array
    assert rows.to_pylist() == batch.to_pylist()


def test_a_consumer_that_releases_late_or_never(run, reader):
    """After the session, in another thread, or when the interpreter ends; or it is killed with it."""
    packages = os.path.dirname(os.path.dirname(reader('pyarrow').__file__))
    assert run(f'''
import ctypes, gc, sys, threading, perf_prof
sys.path.append({packages!r})
import pyarrow
with perf_prof.open({RECORDING!r}) as s:
    stream = pyarrow.RecordBatchReader.from_stream(s)
    rows = stream.read_next_batch()
never = perf_prof.open({RECORDING!r}).__arrow_c_stream__()
batch = next(perf_prof.open({RECORDING!r}))
capsules, column = batch.__arrow_c_array__(), rows['_comm']
ctypes.pythonapi.Py_IncRef(ctypes.py_object(capsules))      # for ever
expected = column.to_pylist()
late = [rows, stream]
del s, rows, stream, batch
thread = threading.Thread(target=late.clear)
thread.start()
thread.join()
gc.collect()
print(column.to_pylist() == expected, len(expected) > 100)
''') == 'True True\n'


def test_an_error_reaches_the_consumer(perf_prof, reader):
    pyarrow = reader('pyarrow')
    with open(RECORDING, 'rb') as f:
        data = f.read()
    with perf_prof.open(data[:len(data) // 2]) as s:
        with pytest.raises(Exception, match='<bytes>'):
            pyarrow.RecordBatchReader.from_stream(s).read_all()


def test_polars_and_duckdb(perf_prof, reader):
    polars, duckdb, pyarrow = map(reader, ('polars', 'duckdb', 'pyarrow'))
    with perf_prof.open(RECORDING) as s:
        frame = polars.concat([polars.DataFrame(batch) for batch in s])
    assert frame['_time'].is_sorted()
    with perf_prof.open(RECORDING) as s:
        events = pyarrow.RecordBatchReader.from_stream(s)       # noqa: F841
        counts = duckdb.sql('select _event, count(*) from events group by 1').fetchall()
        del events
    assert dict(counts) == dict(frame.group_by('_event').len().rows()) and len(counts) > 2


def test_pandas(perf_prof, batch, reader):
    pandas = reader('pandas')
    frame = pandas.DataFrame.from_arrow(batch)
    assert list(frame.columns) == list(batch.columns) and len(frame) == len(batch)
    assert str(frame['_time'].dtype) == 'uint64' and frame['_time'].tolist() == batch['_time'].to_pylist()
    assert str(frame['_comm'].dtype) == 'category' and frame['_comm'].tolist() == batch['_comm'].to_pylist() and frame['_lost'].isna().all()


def test_pandas_takes_columns_and_batches(batch, reader):
    """Without from_arrow(), too."""
    pandas = reader('pandas')
    for name in batch.columns:
        values = batch[name].to_pylist()
        series = pandas.Series(batch[name])
        assert series.isna().tolist() == [value is None for value in values] and series.dropna().tolist() == [v for v in values if v is not None], name
    frame = pandas.DataFrame(batch)
    assert tuple(frame.columns) == batch.columns and len(frame) == len(batch)
    assert len(pandas.DataFrame({'tid': batch['_tid']})) == len(batch)


def test_what_is_no_table_says_so(perf_prof, reader):
    with perf_prof.open(RECORDING) as s, pytest.raises(TypeError, match=r'session\.df\(\), session\.pl\(\)'):
        reader('pandas').DataFrame(s)


def test_numpy_sees_nulls(perf_prof, reader):
    numpy = reader('numpy')
    batch = perf_prof._native._batch(('n', 't', 'f'), ('int32', 'timestamp', 'float64'), ([1, None], [5, None], [0.5, None]))
    for name in batch.columns:
        array = numpy.asarray(batch[name])
        assert not (numpy.isnat if name == 't' else numpy.isnan)(array[0]) and (numpy.isnat if name == 't' else numpy.isnan)(array[1])
        with pytest.raises(BufferError, match='without nulls'):
            memoryview(batch[name])
    assert numpy.asarray(batch['n'][:1]).dtype == 'int32'


def test_a_batch_can_be_pickled(batch):
    import pickle
    again = pickle.loads(pickle.dumps(batch))
    assert again.to_pylist() == batch.to_pylist() and [again[n].type for n in again.columns] == [batch[n].type for n in batch.columns]


def test_pandas_reads_sessions_and_aggregates(perf_prof, reader):
    """Without going through another package's own types, too."""
    pandas, pyarrow = reader('pandas'), reader('pyarrow')
    with perf_prof.open(RECORDING) as s:
        rows = [row for batch in s for row in batch.to_pylist()]
    with perf_prof.open(RECORDING) as s:
        frame = pandas.DataFrame.from_arrow(s)
    assert frame['_time'].tolist() == [row['_time'] for row in rows]
    assert frame.groupby('_event', observed=True).size().to_dict() == collections.Counter(row['_event'] for row in rows)
    with perf_prof.open(RECORDING) as s:
        again = pyarrow.RecordBatchReader.from_stream(s).read_all().to_pandas()
    pandas.testing.assert_frame_equal(frame, again)
    with perf_prof.open(RECORDING) as s:
        sums = pandas.DataFrame.from_arrow(s.aggregate('_event', {'n': 'count()'}))
    assert dict(zip(sums['_event'], sums['n'])) == collections.Counter(row['_event'] for row in rows)


def test_pandas_of_tables(perf_prof, reader):
    """What the functions of the commands return."""
    pandas = reader('pandas')
    result = perf_prof.report(RECORDING)
    for of in result, result.tables[0]:
        frame = pandas.DataFrame.from_arrow(of)
        assert len(frame) == len(of.rows) > 0 and list(frame.columns) == list(of.rows.columns)
