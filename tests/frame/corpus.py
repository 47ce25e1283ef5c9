# SPDX-License-Identifier: Apache-2.0
"""perf-prof script held against perf script, on the recordings of tests/data/perfdata.

    PYTHONPATH=tests python3 -m frame.corpus build/perf-prof     the table: a row for each

Each recording lies beside the words of a perf (README.md there): the fields of its samples, the
text of its tracepoints, the addresses of its call chains."""
import json
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'data', 'perfdata')
LINE = re.compile(r' *(.*?) +(-?\d+)/(-?\d+) +(?:\[(\d+)\] +)?(\d+)\.(\d{9,}): +(\d+) +(.+?): *$')
FRAME = re.compile(r'\t *([0-9a-f]+) (.*?)(\+0x[0-9a-f]+)? \((.*)\)$')
NAMED_BY = re.compile(r':-?\d+|<\.\.\.>')
TIMEOUT = 60


def names():
    return sorted(f[:-5] for f in os.listdir(DATA) if f.endswith('.data'))


def recorded_by():
    """{name: (recorder, kernel, machine)}, of README.md."""
    with open(os.path.join(DATA, 'README.md')) as f:
        rows = [[cell.strip() for cell in line.strip().strip('|').split('|')] for line in f
                if line.startswith('| `')]
    return {row[0].strip('`'): row[1:4] for row in rows if len(row) == 6}


@dataclass
class Row:
    name: str
    events: int = 0
    checked: list = field(default_factory=list)
    differences: list = field(default_factory=list)

    @property
    def equal(self):
        return self.events > 0 and self.checked and not self.differences


def path_of(name, kind='data'):
    return os.path.join(DATA, f'{name}.{kind}')


def bytes_of(name):
    with open(path_of(name), 'rb') as f:
        return f.read()


def words(name, kind):
    """Lines of a perf's words; None: it has none of that kind."""
    if not os.path.exists(path_of(name, kind)):
        return None
    with open(path_of(name, kind), errors='surrogateescape') as f:
        return f.read().splitlines()


def run(argv):
    done = subprocess.run(argv, capture_output=True, text=True, errors='surrogateescape', timeout=TIMEOUT,
                          stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout.splitlines(), done.stderr


def ours(prof, name, *args):
    code, lines, err = run([prof, 'script', '-q', *args, path_of(name)])
    if code or err:
        raise AssertionError(f'{name}: exit code {code}: {err}')
    return lines


def differ(row, what, mine, his):
    """Two multisets of lines or tuples."""
    row.checked.append(what)
    if mine == his:
        return
    mine, his = Counter(mine), Counter(his)
    for side, more in (('perf-prof', mine - his), ('perf', his - mine)):
        row.differences += [f'{what}: only {side}: {one}' for one in list(more.elements())[:3]]


# ---- the fields of each sample ------------------------------------------------------------

def nanoseconds(name, second, rest):
    """A perf of 32 bits takes the seconds off in 32 bits: what it prints behind the dot has the rest."""
    whole = int(second) * 10**9
    return int(rest) + (whole % 2**32 if name.startswith(('i386', 'armhf')) else whole)


def event_of(name, text):
    """perf knows nothing of an alias of ours, and has modifiers of its own making."""
    return '' if name == 'ours' else text


def fields(name, lines, of_perf):
    rows = []
    for line in lines:
        found = LINE.match(line)
        if not found:
            raise AssertionError(f'{name}: {line!r}')
        comm, pid, tid, cpu, second, rest, period, event = found.groups()
        time = nanoseconds(name, second, rest) if of_perf else int(second) * 10**9 + int(rest)
        rows.append((time, int(pid), int(tid), cpu and int(cpu), int(period), event_of(name, event), comm))
    return sorted(rows, key=lambda row: (row[:3], row[5:6], row[4], row[6]))


def compare_fields(row, prof):
    his = fields(row.name, words(row.name, 'script'), True)
    mine = fields(row.name, ours(prof, row.name, '--ns', '-F', 'comm,pid,tid,time,period,event'
                                 + (',cpu' if any(one[3] is not None for one in his) else '')), False)
    row.events = len(mine)
    if len(mine) == len(his):   # a task that perf does not know (any more), it calls by its number
        his = [(*h[:6], m[6]) if NAMED_BY.fullmatch(h[6]) else h for m, h in zip(mine, his)]
    differ(row, 'fields', mine, his)


# ---- text of tracepoints, call chains -----------------------------------------------------

def compare_traces(row, prof):
    def split(lines, of_perf):
        pairs = (line.strip().split(': ', 1) for line in lines if '=' in line)
        return sorted((nanoseconds(row.name, *when.split('.')) if of_perf else int(when.replace('.', '')),
                       text.strip()) for when, text in pairs)
    his = words(row.name, 'trace')
    if his is not None:
        lines = ours(prof, row.name, '--ns', '-F', 'time,trace,-ip')
        differ(row, 'trace', split(lines, False), split(his, True))


def compare_chains(row, prof):
    """By addresses, as they were sampled: without what is found by registers and stack."""
    his = words(row.name, 'chains')
    if his is None:
        return
    his = sorted((int(time), tuple(int(ip, 16) for ip in ips)) for time, *ips in map(str.split, his))
    mine = []
    for line in ours(prof, row.name, '--json', '--no-inline', '-F', 'time,callchain'):
        sample = json.loads(line)
        stack = [frame for frame in sample.get('stack', ()) if 'dwarf' not in row.name or frame['kernel']]
        if stack:
            mine.append((sample['time'], tuple(frame['addr'] for frame in stack)))
    differ(row, 'chains', sorted(mine), his)


# ---- places ---------------------------------------------------------------------------------

def is_by_unwind_table(m):
    """A name that we have from there, as the file has no symbol: FILE+0xADDRESS of the function."""
    begin = re.fullmatch(re.escape(os.path.basename(m[4])) + r'\+0x([0-9a-f]+)', m[2])
    return bool(begin and m[3]) and (int(begin[1], 16) + int(m[3], 16) - int(m[1], 16)) % 4096 == 0


def same_frame(mine, his):
    """Of several names for one place perf and we may take different ones: then the offsets are
    alike. A caller whose last instruction is the call, perf takes for what comes behind it."""
    if mine == his:
        return True
    m, h = FRAME.match(mine), FRAME.match(his)
    if not m or not h or m[1] != h[1]:
        return False
    if h[2] == '[unknown]' and is_by_unwind_table(m):
        return m[4] == h[4]
    return m[4] == h[4] and (m[3] == h[3] or h[3] == '+0x0')


def has_offsets(perf):
    """Whether this perf prints where in its file a user's frame is: until 6.4. Later it is the address, with
    `-F +dsoff` both."""
    _, (line, *_), _ = run([perf, 'version'])
    return tuple(map(int, re.search(r'(\d+)\.(\d+)', line).groups())) < (6, 4)


def with_offset(line):
    """Such a line, made of one with both."""
    found = re.match(r'\t *[0-9a-f]+((?: .*)? \(.*)\+0x([0-9a-f]+)\)$', line)
    return f'\t{found[2]:>16}{found[1]})' if found else re.sub(r'( \(.*)\+0x[0-9a-f]+\)$', r'\1)', line)


def kernel_build_id(perf, *args):
    _, lines, _ = run([perf, 'buildid-list', *args])
    return next((line.split()[0] for line in lines if 'kernel.kallsyms' in line or len(line.split()) == 1), None)


def by_this_kernel(name, perf):
    """By its build id: two builds of one release have their functions at other places."""
    here = kernel_build_id(perf, '-k')
    return bool(here) and kernel_build_id(perf, '-i', path_of(name)) == here


def compare(prof, name):
    row = Row(name)
    compare_fields(row, prof)
    compare_traces(row, prof)
    compare_chains(row, prof)
    return row


# ---- the table ----------------------------------------------------------------------------

def main(argv):
    if len(argv) != 1:
        print(__doc__)
        return 2
    by, bad = recorded_by(), 0
    print(f'{"file":<28}{"recorded by":<18}{"kernel":<23}{"machine":<22}{"events":>7}  equal to perf script')
    for name in names():
        row = compare(os.path.abspath(argv[0]), name)
        who, kernel, machine = by.get(name, ('?', '?', '?'))
        verdict = 'yes' if row.equal else 'NO'
        print(f'{name + ".data":<28}{who:<18}{kernel:<23}{machine:<22}{row.events:>7}  {verdict} '
              f'({", ".join(row.checked)})')
        for difference in row.differences[:5]:
            print('    ' + difference)
        bad += not row.equal
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
