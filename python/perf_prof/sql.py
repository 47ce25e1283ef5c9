# SPDX-License-Identifier: Apache-2.0
"""SQL over sessions and recordings, by DuckDB: Session.sql(), Recording.sql(), and the command `perf-prof sql`.

A query is planned before the session is read: DuckDB binds it to tables without rows, and its syntax tree says which tables
and columns it names. Then only these are sampled and decoded. A column whose name is nowhere in the query can only matter
where a query means "all columns" (a star and its kin, see _names_all()): then nothing is left out.
"""
import contextlib
import importlib
import json
import math
import re
import select
import time
import warnings
import weakref
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple, TypeVar

from . import _native
from .sessions import Recording, Time, _Batches, _nanoseconds

EVENTS, LOST = 'events', 'lost'                 # the tables that are always there
EXTRA = '_realtime', '_period'                  # columns that are there if a query names them
LOST_COLUMNS = '_time', '_cpu', '_event', '_lost'
SOURCE, RESULT = 'perf_prof\tsource', 'perf_prof\tresult'     # in no name of an event: control characters are escaped there
PIP = 'pip install duckdb'


Answer = Tuple[List[str], List[Tuple[Any, ...]]]
T = TypeVar('T')


def _is_old(duckdb: Any) -> bool:
    """Before 2.0, that is in Python before 3.11, it needs pyarrow to read a stream more than once."""
    return int(duckdb.__version__.split('.')[0]) < 2


def _duckdb() -> Any:
    try:
        duckdb = importlib.import_module('duckdb')
        if _is_old(duckdb):
            importlib.import_module('pyarrow')
    except ImportError as error:
        raise ImportError(f'{error}; SQL needs DuckDB: {PIP}'
                          + (' pyarrow' if getattr(error, 'name', '') == 'pyarrow' else '')) from error
    return duckdb


# ---- what a query names -----------------------------------------------------------------


class _Named(NamedTuple):
    """texts: all texts of the query's syntax tree, in lower case, columns among them; None: any column may be needed."""
    tables: Set[str]
    texts: Optional[Set[str]]
    once: bool         # nothing is read twice


def _nodes(tree: Any) -> Iterator[Dict[str, Any]]:
    if isinstance(tree, dict):
        yield tree
    if isinstance(tree, (dict, list)):
        for part in tree.values() if isinstance(tree, dict) else tree:
            yield from _nodes(part)


def _texts(tree: Any) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree.casefold()
    elif isinstance(tree, (dict, list)):
        for part in tree.values() if isinstance(tree, dict) else tree:
            yield from _texts(part)


def _names_all(tree: Any) -> bool:
    """Whether the query uses columns that it does not name: *, COLUMNS(), natural joins, pivots, columns by position, a whole
    row as a value, or SQL in a text."""
    tables = {str(node.get(key)).casefold() for node in _nodes(tree) for key in ('table_name', 'alias') if 'sample' in node}
    for node in _nodes(tree):
        kind = str(node.get('type', ''))
        names = node.get('column_names')
        if kind in ('STAR', 'PIVOT', 'SHOW_REF', 'POSITIONAL_REFERENCE') or node.get('ref_type') in ('NATURAL', 'POSITIONAL'):
            return True
        if kind == 'TABLE_FUNCTION' and 'query' in str(node.get('function', {}).get('function_name')):
            return True
        if node.get('column_name_alias') or (kind == 'COLUMN_REF' and (not names or str(names[-1]).casefold() in tables)):
            return True
    return False


def _named(db: Any, query: str) -> Optional[_Named]:
    """None: the syntax tree does not say."""
    (text,), = db.execute('select json_serialize_sql(?)', [query]).fetchall()
    tree = json.loads(text)
    if tree.get('error') or len(tree.get('statements', ())) != 1:
        return None
    tables = [str(node['table_name']).casefold() for node in _nodes(tree) if node.get('type') == 'BASE_TABLE']
    once = len(tables) == 1 and not any(node.get('cte_map', {}).get('map') for node in _nodes(tree))
    return _Named(set(tables), None if _names_all(tree) else set(_texts(tree)), once)


# ---- tables -----------------------------------------------------------------------------


class _Source:
    """What DuckDB scans: batches that are there, or, once, all that the session will have."""

    def __init__(self, session: _native.Session) -> None:
        self.session = session
        self.batches: List[_native.Batch] = []
        self.live = False

    def __arrow_c_schema__(self) -> object:
        return self.session.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        return _native._stream(self.session, None if self.live else self.batches)


class _Table(NamedTuple):
    names: List[str]            # first its own, then short ones
    columns: Dict[str, int]     # of the session
    event: Optional[str]        # None: events, or lost


def _short_names(events: Sequence[str]) -> Dict[str, List[str]]:
    """sched_switch for sched:sched_switch, where no other event has that name."""
    short = {event: {event.split('/')[0], event.split('/')[0].split(':', 1)[-1]} for event in events}
    taken = [name.casefold() for names in short.values() for name in names] + [EVENTS, LOST]
    full = {event.casefold() for event in events}
    return {event: sorted(name for name in names if name and name.casefold() not in full and taken.count(name.casefold()) == 1)
            for event, names in short.items()}


def _own_name(column: str, event: str) -> str:
    return column[len(event) + 1:] if column.startswith(f'{event}.') else column


def _tables(session: _native.Session) -> List[_Table]:
    everything = {name: i for i, name in enumerate(session.columns)}
    events = {name: columns for name, (_, columns) in session._tables.items()}
    short = _short_names(list(events))
    tables = [_Table([event] + short[event], {_own_name(name, event): at for name, at in columns.items()}, event)
              for event, columns in events.items()]
    tables.append(_Table([EVENTS], {name: at for name, at in everything.items() if name != '_lost'}, None))
    tables.append(_Table([LOST], {name: at for name, at in everything.items() if name in LOST_COLUMNS}, None))
    return tables


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _view(table: _Table, columns: Sequence[str]) -> str:
    """The table as a query. Columns of the source go by position: DuckDB's names do not tell upper from lower case."""
    at, used, shown = {name: f'c{i}' for i, name in enumerate(columns)}, set(), []
    for name, i in table.columns.items():
        plain, n = name, 1
        while plain.casefold() in used:
            n += 1
            plain = f'{name}_{n}'
        used.add(plain.casefold())
        # DuckDB's functions do not take ns with a time zone
        value = f"c{i} at time zone 'UTC'" if name.rpartition('.')[2] == '_realtime' else f'c{i}'
        shown.append(f'{value} as {_quote(plain)}')
    is_null = 'is not null' if table.names[0] == LOST else 'is null'
    where = f'{at["_event"]} = {_literal(table.event)}' if table.event else f'{at["_lost"]} {is_null}'
    return f'select {", ".join(shown)} from {_quote(SOURCE)} as source({", ".join(at.values())}) where {where}'


# ---- a query over a session -------------------------------------------------------------


class Query:
    """A query, bound to the tables of a session that nobody has read yet; or else to all its columns."""

    def __init__(self, session: _native.Session, text: str) -> None:
        if isinstance(text, str) and not text.strip():
            raise ValueError(f'{text!r}: expected a query, such as "select count(*) from events"')
        if not isinstance(text, str):
            raise TypeError(f'{text!r}: expected a query, such as "select count(*) from events"')
        self.duckdb = _duckdb()
        self.session, self.text = session, text
        self.source = _Source(session)
        self.results = 0
        self.ready: Optional[select.poll] = None
        self.failure: Optional[Exception] = None
        # Names in queries are not variables of Python, and functions that are not there are not fetched from the network.
        self.db = self.duckdb.connect(config={name: 'false' for name in (
            'python_enable_replacements', 'autoinstall_known_extensions', 'autoload_known_extensions')})
        # in a notebook without ipywidgets, DuckDB has no progress bar and refuses to change that
        if self.db.execute("select current_setting('enable_progress_bar')").fetchall()[0][0]:
            self.db.execute('set enable_progress_bar = false')
        self.once = self._plan()

    def _plan(self) -> bool:
        everything = [name for name in self.session.columns if name != '_lost']
        more = [name for name in EXTRA if re.search(rf'\b{name}\b', self.text) and name not in everything]
        if more:
            self.session._choose(None, everything + more)
            everything += more
        tables = _tables(self.session)
        self._show(tables)
        shape = self._shape(tables)
        try:
            named = _named(self.db, self.text)
        except self.duckdb.Error:
            return False
        if not named:
            return False
        self._narrow(tables, named)
        if self._shape(_tables(self.session), named) != shape:     # no query is known for which this is so
            self.session._choose(None, everything)
            self._show(_tables(self.session))
        return named.once

    def _show(self, tables: List[_Table]) -> None:
        self._register()
        columns = self.session.columns
        for table in tables:
            for name in table.names:
                self.db.execute(f'create or replace temp view {_quote(name)} as {_view(table, columns)}')

    def _register(self) -> None:
        source: Any = self.source
        if _is_old(self.duckdb):
            source = importlib.import_module('pyarrow').RecordBatchReader.from_stream(source)
            source = source if self.source.live else source.read_all()
        self.db.register(SOURCE, source)

    def _shape(self, tables: List[_Table], named: Optional[_Named] = None) -> Any:
        """Names and types of the result. Raises what is wrong with the query."""
        try:
            if named:
                self._show(tables)
            statements = self.db.extract_statements(self.text)
            if len(statements) != 1:
                raise ValueError(f'{self.text}: expected one query, and these are {len(statements)} statements')
            if statements[0].type not in (self.duckdb.StatementType.SELECT, self.duckdb.StatementType.MULTI):
                raise ValueError(f'{self.text}: expected a query, such as "select count(*) from events"')
            return self._bound()
        except self.duckdb.Error as error:
            if named:
                return None
            known = ', '.join(min(table.names, key=len) for table in tables)
            nameless = '\n\nThe recording has no names of its tracepoints, perhaps because it was cut off: its tables are called tracepoint_ID.'
            known += nameless * bool(re.search(r'\btracepoint_\d+', known))
            known = f'\n\nTables: {known}' if isinstance(error, self.duckdb.CatalogException) else ''
            absent = [name for name in EXTRA if f'"{name}" not found' in str(error)]
            known += ''.join(f'\n\nA session has {name} if its fields=[...] name it.' for name in absent)
            raise ValueError(f'{error}{known}') from None

    def _bound(self) -> Any:
        try:
            relation = self.db.sql(self.text)
        except self.duckdb.Error:
            self.db.execute(self.text)      # the same error, with its place
            raise
        return relation.columns, [str(one) for one in relation.types]

    def _narrow(self, tables: List[_Table], named: _Named) -> None:
        used = [table for table in tables if any(name.casefold() in named.tables for name in table.names)]
        if not used:
            return
        columns = self.session.columns
        events = None
        if all(table.event or table.names[0] == LOST for table in used) and any(table.event for table in used):
            events = [table.event for table in used if table.event]
            events = None if any('\\x' in event for event in events) else events      # not the name that the session has
        # without a common column, sessions have all of them
        fields = {'_event': None}
        for table in used:
            for name, at in table.columns.items():
                if named.texts is None or name.casefold() in named.texts or columns[at].casefold() in named.texts:
                    fields[columns[at]] = None
        self.session._choose(events, [name for name in fields if name != '_lost'])

    def relation(self) -> Any:
        """The result over what the source has now, as a relation of DuckDB. It replaces the one before."""
        self.db.execute(f'drop table if exists {_quote(f"{RESULT} {self.results}")}')
        self._register()
        self.results += 1
        name = _quote(f'{RESULT} {self.results}')
        self.db.execute(f'create temp table {name} as\n{self.text}')
        relation = self.db.table(name)
        if _is_old(self.duckdb):
            weakref.finalize(relation, id, self.db)     # otherwise nothing keeps the connection
        return relation

    def rows(self) -> Answer:
        """The same, as names and rows."""
        self._register()
        result = self.db.execute(self.text)
        return [one[0] for one in result.description], result.fetchall()

    def _collect(self, deadline: Optional[float]) -> bool:
        """Takes batches until then. False: there will be no more."""
        if not self.ready and not self.session.closed:
            ready = select.poll()
            with contextlib.suppress(ValueError):   # closed meanwhile: nothing is to be waited for
                ready.register(self.session.fileno(), select.POLLIN)
                self.ready = ready
        self.source.batches = []
        while True:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return True
            batch = self.session._take()
            if batch is False:
                return False
            if batch is None and self.ready:
                self.ready.poll(None if left is None else math.ceil(left * 1000))
            elif batch is None:
                return False
            else:
                self.source.batches.append(batch)

    def whole(self, answer: Callable[[], T]) -> T:
        """The answer over all that the session has until it ends. What was read before an error counts; `failure` is that error."""
        try:
            if self.once:
                self.source.live = True
            else:
                self._collect(None)
        except (OSError, RuntimeError) as error:
            self.failure = error
        result = _interruptible(answer)
        try:
            self.session._take()    # reports what ended the stream
        except (OSError, RuntimeError) as error:
            self.failure = error
        return result

    def drain(self) -> None:
        """Waits for the end of the session: a query with a limit does not."""
        while self._collect(time.monotonic() + 1):
            pass

    def each(self, seconds: float, answer: Callable[[], T]) -> Iterator[T]:
        """The answer of each interval, and of the rest."""
        more, deadline = True, time.monotonic()
        while more:
            deadline = max(deadline + seconds, time.monotonic())
            more = self._collect(deadline)
            if more or self.source.batches:
                yield answer()


def _interruptible(answer: Callable[[], T]) -> T:
    """A signal that a handler raised for ends the stream, which is an error for DuckDB; what was raised comes here."""
    try:
        return answer()
    except Exception:
        try:
            time.sleep(0.001)
        except KeyboardInterrupt:
            raise KeyboardInterrupt from None
        raise


def run(session: _Batches, text: str, interval: Optional[Time]) -> Any:
    """What Session.sql() returns."""
    recorded = isinstance(session, Recording)
    if recorded and interval is not None:
        raise ValueError(f'interval={interval!r}: a recording is asked once, over all its events')
    seconds = _nanoseconds(interval, 'interval') / 1e9
    if session.closed:
        iter(session)   # says so
    session.stats()     # complains in a fork
    if not session._claim('sql'):
        raise ValueError('the recording has been read, at least in part: open() it again' if recorded
                         else 'sql() has been called for this session already, and its query reads all events')
    try:
        if recorded and not session._choose(None, [name for name in session.columns if name != '_lost']):
            raise ValueError('the recording has been read, at least in part: open() it again')
        query = Query(session, text)
    except BaseException:
        session._unclaim()
        raise
    if not seconds:
        result = query.whole(query.relation)
        if query.failure:
            raise query.failure
        lost = session.stats()['lost']
        if lost:
            warnings.warn(f'{lost} events were lost, and the answer lacks them: the table `lost` has the times, stats() the causes', UserWarning, 4)
        return result
    return query.each(seconds, query.relation)
