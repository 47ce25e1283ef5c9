# SPDX-License-Identifier: Apache-2.0
"""The table that `make bench` prints. A row with a limit is judged: its ratio to a floor or peer of the
same run or, for memory and losses, its value. A row that can't be measured says why."""
import collections

# name: of the samples; of: name of the floor or peer; called: what the target calls that; limit: of
# the ratio, or of the value where there is no `of`.
Row = collections.namedtuple('Row', 'title name of called limit unit',
                             defaults=(None, '', None, 'ns'))

MET, MISSED, SHOWN, SKIPPED, FAILED = 'met', 'MISSED', '', 'skipped', 'NOT MEASURED'


def shown(ratio):
    return f'{ratio:.{4 if ratio < 0.1 else 2}f}'


def judged(row, samples):
    """The row as a dict, which is what --json writes."""
    got = {'row': row.title, 'unit': row.unit, 'ratio_of': row.called, 'target': row.limit,
           'value': None, 'ratio': None, 'verdict': SHOWN, 'note': samples.notes.get(row.name, '')}
    if row.name in samples.values:
        got['value'] = samples.median(row.name)
    missing = samples.why_not(row.name, row.of)
    if missing:
        got['note'], lacks = missing
        got['verdict'] = SKIPPED if lacks else FAILED
        return got
    if row.of:
        got['ratio'] = samples.ratio(row.name, row.of)
    if row.limit is not None:
        # a ratio as it is printed: what follows is noise
        judged_by = float(shown(got['ratio'])) if row.of else got['value']
        got['verdict'] = MET if judged_by <= row.limit else MISSED
    return got


def target(got):
    if got['target'] is None:
        return f'   x {got["ratio_of"]}' if got['ratio_of'] else ''
    return f'<= {got["target"]:g}' + (f'x {got["ratio_of"]}' if got['ratio_of'] else f' {got["unit"]}')


def line(got):
    ratio = '' if got['ratio'] is None else shown(got['ratio'])
    value = '' if got['value'] is None else f'{got["value"]:.1f} {got["unit"]:<3}'
    note = f'  ({got["note"]})' if got['note'] else ''
    return (f'{got["row"]:<44}{value:>13}{ratio:>9}  {target(got):<30}'
            f'{got["verdict"]}{note}').rstrip()


class Table:
    """Rows as they come."""

    def __init__(self):
        self.rows = []

    def head(self):
        print(f'{"":<44}{"measured":>13}{"ratio":>9}  {"target":<30}verdict', flush=True)

    def add(self, rows, samples):
        for row in rows:
            self.rows.append(judged(row, samples))
            print(line(self.rows[-1]), flush=True)

    def count(self, verdict):
        return sum(row['verdict'] == verdict for row in self.rows)

    def close(self):
        """The last line, and whether nothing was missed and nothing went wrong."""
        met, missed = self.count(MET), self.count(MISSED)
        text = f'{met} of {met + missed} targets met, {missed} missed'
        for verdict, words in ((FAILED, 'not measured'), (SKIPPED, 'skipped')):
            n = self.count(verdict)
            text += f', {n} row{"" if n == 1 else "s"} {words}' if n or verdict == SKIPPED else ''
        return text, not missed and not self.count(FAILED)
