# SPDX-License-Identifier: Apache-2.0
"""report of recordings that are in the tree: members of groups, rows by keys, and names that no sample has."""
import pathlib
import re
import struct

import pytest

DATA = pathlib.Path(__file__).parents[1] / 'data/perfdata'
CHAINS = DATA / 'amd64-7-chains.data'
INSTRUCTIONS, CYCLES = (0, 1), (0, 0)       # type and config


@pytest.fixture
def tables(analyse):
    """Those of `report --json`, in order."""
    return lambda *args: analyse('report', '--json', *args, before=['env']).lines


@pytest.mark.parametrize('path', sorted(DATA.glob('*group.data')), ids=lambda path: path.name)
def test_groups_of_other_kernels_and_machines(tables, path):
    """Against what the perf that recorded it said of each sample; a member alone has the same sum."""
    got = [t for t in tables(path) if 'counts' in t]
    words = path.with_suffix('.script').read_text(encoding='utf-8', errors='replace')
    assert got
    for table in got:
        for event, count in table['counts'].items():
            periods = re.findall(rf'[: ] *(\d+) +{re.escape(event)}:', words)
            assert periods and sum(map(int, periods)) == count, event
            assert '/' in event or [(t['weight'], 'counts' in t) for t in tables('-e', event, path)] == [(count, False)], event


def changed(path, out, *attrs, user=False):
    """The recording as if these were its first events' types and configs."""
    data = path.read_bytes()
    size, at = struct.unpack_from('<QQ', data, 16)
    for i, (kind, config) in enumerate(attrs):
        old = data[at + i * size:at + (i + 1) * size - 16]
        new = bytearray(old)
        struct.pack_into('<I', new, 0, kind)
        struct.pack_into('<Q', new, 8, config)
        if user:
            new[40] |= 1 << 5                   # exclude_kernel
        assert data.count(old) >= 1
        data = data.replace(old, bytes(new))
    out.write_bytes(data)
    return out


def test_known_pairs_have_a_ratio(tmp_path, tables, analyse):
    """As no machine has to have cycles: a recording of other events, which is told that they are those."""
    path = DATA / 'amd64-7-group.data'
    assert not any('insn_per_cycle' in row for row in tables(path)[0]['rows'])
    [table] = tables(changed(path, tmp_path / 'ipc.data', CYCLES, INSTRUCTIONS))
    other = next(c['name'] for c in table['columns'] if c['name'].endswith('_count'))
    assert any(row['count'] for row in table['rows'])
    for row in table['rows']:
        assert row.get('insn_per_cycle') == (pytest.approx(row[other] / row['count']) if row['count'] else None)
    text = analyse('report', tmp_path / 'ipc.data', before=['env']).text
    assert re.search(r'^ *self% +total% .*insn per cycle .*function +dso$', text, re.M), text


def test_kernel_rows_of_a_users_event_are_explained(tmp_path, tables, analyse):
    assert 'skid' not in tables(CHAINS)[0] and 'skid' not in analyse('report', CHAINS).text
    path = changed(CHAINS, tmp_path / 'u.data', CYCLES, user=True)
    [table], [same] = tables(path), analyse('profile', '--json', '-I', path, before=['env']).lines
    assert 0 < table['skid'] == same['skid'] <= table['samples']
    assert re.search(rf"^{table['skid']} of {table['samples']} samples are in the kernel, though \S+ counts user space only: "
                     r'the CPU is a little late to stop, .*\(skid\)$', analyse('report', path, before=['env']).text, re.M)


@pytest.mark.parametrize('sort, column', [('total', 'total'), ('dso', 'self')])
def test_rows_are_sorted(tables, sort, column):
    [table] = tables('--sort', sort, CHAINS)
    values = [row[column] for row in table['rows'] if 'whole' not in row]
    assert len(values) > 2 and values == sorted(values, reverse=True)
    other = [row['self' if column == 'total' else 'total'] for row in table['rows']]
    assert other != sorted(other, reverse=True)


def test_all_rows(analyse):
    assert re.search(r'^\.\.\. \d+ more \(--rows 0 shows all\)$', analyse('report', '--rows', '2', CHAINS).text, re.M)
    assert ' more (' not in analyse('report', '--rows', '0', CHAINS).text


def test_the_kernel_is_a_file_with_brackets(tables):
    """Though [kernel] as a glob is one letter."""
    [whole] = tables(CHAINS)[:1]
    own = lambda table: {row['function']: row['self'] for row in table['rows'] if row['dso'] == '[kernel.kallsyms]' and row['self']}
    for name in '[kernel]', '[kernel.kallsyms]', '*kallsyms]':
        [table] = tables('--dso', name, CHAINS)[:1]
        assert own(table) == own(whole) and {row['dso'] for row in table['rows']} == {'[kernel.kallsyms]'}, name


@pytest.mark.parametrize('words, answer', [
    (('--comm', 'ehco'), '--comm ehco: no sample of the recording is of a task with this name; did you mean echo?'),
    (('--dso', '/x/dahs'), '--dso /x/dahs: no sample of the recording is in a file with this name; did you mean dash?'),
    (('--dso', 'libnothing.so'), 'is in a file with this name; --sort dso shows their files'),
])
def test_names_that_no_sample_has(analyse, words, answer):
    assert answer in analyse('report', *words, CHAINS, code=1).err
