# SPDX-License-Identifier: Apache-2.0
"""perf-prof diff on recordings: functions that changed are told, others are not."""
import json
import os
import re
import shutil
import subprocess

import jsonschema
import pytest

from conftest import CORPUS, ROOT

PROGRAM = '''
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sink;
#define WORK(name) __attribute__((noinline)) void name(unsigned long n) { while (n--) sink += n; }
WORK(quick_part)
WORK(slow_part)
WORK(other_part)
int main(int argc, char **argv)
{
	unsigned long slow = strtoul(argv[1], NULL, 10);
	for (clock_t end = clock() + CLOCKS_PER_SEC / 1000 * (argc > 2 ? atoi(argv[2]) : 600); clock() < end;) {
		unsigned long k = 1 + rand() % 9;   // no round as long as the one before
		quick_part(600000 * k);         // and each long beside the time from sample to sample
		slow_part(20 * slow * k);
		other_part(400000 * k);
	}
}
'''
SHORT = '10000', '100'      # its arguments: 100 ms
CHAINS, CLOCK, SEVERAL, TRACE = (os.path.join(CORPUS, f'{name}.data') for name in ('chains', 'clock', 'several', 'trace'))


def run(folder, *words, **more):
    return subprocess.run(list(map(str, words)), cwd=folder, capture_output=True, text=True, timeout=60, **more)


def compile_in(folder, name, text, *flags):
    (folder / f'{name}.c').write_text(text)
    subprocess.run(['gcc', *flags, '-o', name, f'{name}.c'], cwd=folder, check=True)


def record(prof, folder, *words):
    done = run(folder, prof, 'record', *words)
    if done.returncode:
        pytest.skip(done.stderr.strip())


@pytest.fixture(scope='module')
def recordings(prof, tmp_path_factory):
    """Of the same program with slow_part taking 1/6, 1/6 and 1/2 of its time; and slower.data of a copy of it."""
    folder = tmp_path_factory.mktemp('diff')
    compile_in(folder, 'work', PROGRAM, '-O0')
    shutil.copy(folder / 'work', folder / 'work-new')
    for name, program, slow in (('a', 'work', 10000), ('same', 'work', 10000), ('slower', 'work', 50000), ('renamed', 'work-new', 50000)):
        record(prof, folder, '-o', f'{name}.data', '-m', '16M', '-g', '-F', '1997', '--', folder / program, slow)
    return folder


def differ(prof, folder):
    def diff(*args):
        done = run(folder, prof, 'diff', *args)
        assert done.returncode == 0 and not done.stderr, done
        return done.stdout
    return diff


@pytest.fixture
def compare(prof, recordings):
    """perf-prof diff of recordings made here."""
    return differ(prof, recordings)


@pytest.fixture
def diff(prof, tmp_path):
    """perf-prof diff of files that the test writes."""
    return differ(prof, tmp_path)


def rows_of(text):
    return {row['function']: row for row in json.loads(text)['rows']}


@pytest.mark.deep
@pytest.mark.live
def test_what_changed_comes_first(compare, prof, recordings):
    """In JSON of the schema of tables, with the shares of report; of a clock with the time, which says what shares cannot: the
    others take as long as before."""
    told = json.loads(compare('--json', 'a.data', 'slower.data'))
    rows = {row['function']: row for row in told['rows']}
    assert told['rows'][0]['function'] == 'slow_part'
    slow = rows['slow_part']
    assert slow['verdict'] == 'grew' and slow['marked'] is True
    assert 10 < slow['before'] < 24 and 40 < slow['after'] < 60
    assert slow['low'] < 100 / 3 < slow['high'] or abs(slow['change'] - 100 / 3) < 8
    for row in rows['quick_part'], rows['other_part']:
        less = row.get('after_time', 0) - row.get('before_time', 0)
        assert row['verdict'] in ('shrank', 'same time', 'more time') and row['change'] < 0
        assert {'shrank': less <= 0, 'same time': 'after_time' in row, 'more time': less > 0}[row['verdict']], row
        assert row.get('marked') is not (row['verdict'] == 'same time' or None), row
    with open(os.path.join(ROOT, 'docs', 'table.schema.json'), encoding='utf-8') as file:
        jsonschema.validate(told, json.load(file))
    report = rows_of(run(recordings, prof, 'report', '--json', 'slower.data').stdout)
    total = rows_of(compare('--json', '--total', 'a.data', 'slower.data'))
    for name in ('slow_part', 'quick_part', 'other_part', 'main'):
        if name != 'main':
            assert rows[name]['after'] == pytest.approx(report[name]['self'], abs=0.01)
        assert total[name]['after'] == pytest.approx(report[name]['total'], abs=0.01)
    clock = told['before_event'] in ('cpu-clock', 'task-clock')
    assert all(('before_time' in row, 'after_time' in row) == (clock, clock) for row in told['rows']), told
    assert (' before(ms)    after ' in compare('a.data', 'slower.data')) == clock
    if clock:
        slow, quick = (rows[name]['after_time'] / rows[name]['before_time'] for name in ('slow_part', 'quick_part'))
        assert 2 < slow / quick < 10, rows    # 5; neighbours of the machine may make a whole run slower
    compare('--flame-graph', 'out.svg', 'a.data', 'slower.data')
    found = re.search(r'<title>slow_part \(.*; \+(\d+\.\d+) points\)</title>', (recordings / 'out.svg').read_text())
    assert found and 20 < float(found[1]) < 45


@pytest.mark.parametrize('half', [[1], [1, 2]])
def test_the_cause_has_most_of_both_profiles(diff, tmp_path, half):
    """Nearly only one function, and four times the work, which no share shows."""
    for name, times in (('a', 1), ('more', 4)):
        for i in half:
            of_a_command(tmp_path / f'{name}{i}', ' time=command inlined=no', hash=times * 900 + i, parse=times * 100 + i)
    a, more = ([f'{name}{i}' for i in half] for name in ('a', 'more'))
    table = json.loads(diff('--json', *a, '--vs', *more))
    cause = table['rows'][0]
    assert cause['function'] == 'hash' and cause['marked'] and table['changed'] >= 1
    assert cause['verdict'] == 'more time'
    assert 0 < cause['time_low'] < cause['time_change'] < cause['time_high']
    assert cause['time_change'] == cause['after_time'] - cause['before_time']
    assert 0 < table['time_low'] < table['after_time'] - table['before_time'] < table['time_high']
    assert [row for row in table['rows'] if row.get('time_low', 0) > 10e6][0] == cause         # the recipe for CI
    less = json.loads(diff('--json', *more, '--vs', *a))
    assert less['rows'][0]['verdict'] == 'less time' and less['time_high'] < 0
    assert less['rows'][0]['time_low'] == -cause['time_high'] and less['rows'][0]['time_high'] == -cause['time_low']
    text = diff('--rows', '1', *a, '--vs', *more)
    assert re.search(rf' \+{cause["time_change"] / 1e6:.3f} +{cause["time_low"] / 1e6:.3f} +{cause["time_high"] / 1e6:.3f} +'
                     rf'{cause["verdict"]} +hash', text), text
    assert re.match(r'\d+ changed \(self time, 99 % confidence\)\n.*, more time\)\n', text), text
    for row in json.loads(diff('--json', *a, '--vs', *a))['rows']:
        assert row['verdict'] == 'unclear' and row['time_low'] < row['time_change'] == 0 < row['time_high'], row


def test_folded_stacks_say_the_same(diff, prof, tmp_path):
    run(tmp_path, prof, 'convert', CLOCK, '-o', 'clock.folded', check=True)
    last = (tmp_path / 'clock.folded').read_text().splitlines()[-1]
    assert re.fullmatch(r'# samples=\d+ alike=[\d.]+ weight=\d+ event=\S+( builds=\S+)? inlined=(yes|no)', last), last
    for others in (r'^(.*)\s+?(\d+(?:\.\d*)?)$', r'^(.*) (\d+)$'):     # flamegraph.pl and speedscope skip it
        assert not re.match(others, last)
    rows = json.loads(diff('--json', '-q', '--rows', '0', CLOCK, 'clock.folded'))['rows']
    assert rows and all(row['before'] == pytest.approx(row['after'], abs=0.05) for row in rows), rows


@pytest.mark.live
def test_inlined_functions_are_part_of_their_function(diff, prof, tmp_path):
    compile_in(tmp_path, 'in', PROGRAM.replace('WORK(slow_part)', '''
static inline __attribute__((always_inline)) unsigned long heart(unsigned long n) { return n * n; }
__attribute__((noinline)) void slow_part(unsigned long n) { while (n--) sink += heart(n); }'''), '-O0', '-g')
    record(prof, tmp_path, '-q', '-o', 'in.data', '-g', '--', './in', '50000', '300')
    rows, apart = (rows_of(diff('--json', *options, 'in.data', 'in.data')) for options in ([], ['--inline-rows']))
    assert 'heart' not in rows and apart['heart']['before'] > 1
    assert rows['slow_part']['after'] == pytest.approx(apart['slow_part']['after'] + apart['heart']['after'])
    run(tmp_path, prof, 'convert', '-q', '-I', 'in.data', '--to', 'folded', '-o', 'in.folded', check=True)
    for sides in ('in.data', 'in.folded'), ('in.folded', 'in.data'):   # which have neither files nor what was inlined
        folded = rows_of(diff('--json', *sides))
        assert all(row['before'] == pytest.approx(row['after'], abs=0.01) and not row['dso'] for row in folded.values()), folded
    assert folded['heart']['before'] == folded['heart']['after'] == pytest.approx(apart['heart']['before'])


def test_only_the_same_event_is_compared(diff, prof, tmp_path):
    done = run(tmp_path, prof, 'diff', CHAINS, TRACE)
    assert done.returncode == 2 and not done.stdout
    assert re.search(r'chains.data has samples of cpu-clock, \S*trace.data of all events: .*--different-events', done.stderr), done
    asked = json.loads(diff('--json', '--different-events', CHAINS, TRACE))
    assert (asked['before_event'], asked['after_event']) == ('cpu-clock', 'all events')
    assert 'before_time' not in asked and not any('time_low' in row for row in asked['rows'])
    chosen = json.loads(diff('--json', CHAINS, SEVERAL))      # not the first of the second one
    assert chosen['after_event'] == chosen['before_event'] == 'cpu-clock'


@pytest.mark.skipif(not shutil.which('jq'), reason='needs jq')
def test_the_gate_in_a_script(prof, tmp_path):
    """The lines of docs/diff.md: red if a function takes longer, and if there is nothing to compare."""
    with open(os.path.join(ROOT, 'docs/diff.md')) as f:
        line, = re.findall(r'^(perf-prof diff --json .*\n.*)$', f.read(), re.M)
    for name, ms in (('a', 900), ('same', 901), ('slower', 2700)):
        of_a_command(tmp_path / name, ' time=command inlined=no', hash=ms, parse=300)
    for program, old, new, passes in ((prof, 'a', 'same', True), (prof, 'a', 'slower', False), (prof, 'nosuch', 'a', False),
                                      ('/nosuch/program', 'a', 'same', False)):
        asked = line.replace('perf-prof', str(program)).replace('old.data', old).replace('new.data', new)
        done = subprocess.run(asked, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert (done.returncode == 0) == passes, done


@pytest.mark.live
def test_a_program_that_was_renamed(compare):
    """It is the same; with --no-ignore-files another one; by --ignore-files names alone count."""
    found, by_name = (compare('--json', *options, 'a.data', 'renamed.data') for options in ([], ['--ignore-files']))
    assert {'before': 'work', 'after': 'work-new'} in json.loads(found)['renamed']
    assert rows_of(found)['slow_part']['dso'] == 'work-new'
    for slow in rows_of(found)['slow_part'], rows_of(by_name)['slow_part']:
        assert slow['verdict'] == 'grew' and 10 < slow['before'] < 24 and 40 < slow['after'] < 60
    assert 'work before and work-new after are taken for the same file, as both have functions of the same names; ' \
           '--no-ignore-files keeps them apart' in compare('a.data', 'renamed.data').splitlines()
    assert 'ignore-files' not in compare('a.data', 'slower.data')
    assert 'renamed' not in json.loads(compare('--json', 'a.data', 'slower.data'))
    text = compare('--no-ignore-files', 'a.data', 'renamed.data')
    assert re.search(r'^ .* gone +slow_part +work$', text, re.M) and re.search(r'^ .* new +slow_part +work-new$', text, re.M)
    assert '--ignore-files' not in compare('--ignore-files', 'a.data', 'renamed.data')


TWO = '''#include <stdint.h>
__attribute__((noinline)) void compress(uint64_t n) { volatile uint64_t s = 1; while (n--) s = s * 3; }
__attribute__((noinline)) void OWN(uint64_t n) { volatile uint64_t s = 1; while (n--) s = s * 5; }
int main(void) { for (int i = 0; i < 100; i++) { compress(50000); OWN(400000); } }
'''


@pytest.mark.live
def test_programs_with_a_function_in_common_are_two(diff, prof, tmp_path):
    """It has little of their time, before and after."""
    for name in 'pack', 'wrap':
        compile_in(tmp_path, name, TWO, '-O1', '-g', '-fno-omit-frame-pointer', f'-DOWN=own_{name[0]}')
        record(prof, tmp_path, '-q', '-o', f'{name[0]}.data', '-g', '-F', '1997', '--', f'./{name}')
    found = json.loads(diff('--json', 'p.data', 'w.data'))
    assert 'renamed' not in found and rows_of(json.dumps(found))['own_p']['verdict'] == 'gone', found


LEAF = 'void leaf(unsigned long n) { volatile unsigned long s = 1; while (n--) s = s * 3; }'
CALLS = 'void leaf(unsigned long n);\nint main(void) { for (int i = 0; i < 100; i++) leaf(1000000); }'


@pytest.mark.live
def test_main_is_not_new_if_a_function_without_frame_pointer_hid_it(diff, prof, tmp_path):
    (tmp_path / 'leaf.c').write_text(LEAF)
    (tmp_path / 'main.c').write_text(CALLS)
    for name, how in (('with', '-fno-omit-frame-pointer'), ('without', '-fomit-frame-pointer')):
        (tmp_path / name).mkdir()
        subprocess.run(f'gcc -O1 -fno-omit-frame-pointer -c main.c && gcc -O1 {how} -c leaf.c && gcc -o {name}/job main.o leaf.o',
                       shell=True, cwd=tmp_path, check=True)
        record(prof, tmp_path, '-q', '--call-graph', 'fp', '-F', '1997', '-o', f'{name}.data', '--', f'./{name}/job')
    rows = rows_of(diff('--json', '--total', 'without.data', 'with.data'))
    assert rows['main']['before'] < 10 < 80 < rows['main']['after']
    assert rows['main']['before'] > 0 or rows['main']['verdict'] != 'new', rows


@pytest.mark.live
def test_names_of_files_are_valid_json(prof, recordings):
    path = os.fsencode(recordings / 'work') + b'\xff'
    shutil.copy(recordings / 'work', path)
    subprocess.run([prof, 'record', '-q', '-m', '16M', '-o', 'bytes.data', '-g', '-F', '1997', '--', path, *SHORT], cwd=recordings,
                   check=True, timeout=60)
    done = subprocess.run([prof, 'diff', '--json', 'a.data', 'bytes.data'], cwd=recordings, capture_output=True, timeout=60, check=True)
    assert len(json.loads(done.stdout.decode('utf-8'))['renamed']) == 1


def folded(path, **stacks):
    path.write_text(''.join(f'main;{name} {weight}\n' for name, weight in stacks.items()))


def test_lambdas_are_the_same_on_other_lines(diff, tmp_path):
    """If as many are there, in the order of their lines; else by name."""
    def rows(before, after):
        for name, stacks in (('before', before), ('after', after)):
            folded(tmp_path / f'{name}.folded', **stacks)
        rows = rows_of(diff('--json', 'before.folded', 'after.folded'))
        return {name: (row['before'], row['after']) for name, row in rows.items() if name != 'main'}

    assert rows({'f::{lambda at a.cc:5}': 10, 'f::{lambda at a.cc:9}': 20, 'g::{lambda at a.cc:30}::run': 70},
                {'f::{lambda at b.cc:9}': 20, 'f::{lambda at b.cc:13}': 30, 'g::{lambda at b.cc:34}::run': 50}) == {
        'f::{lambda at b.cc:9}': (10, 20), 'f::{lambda at b.cc:13}': (20, 30), 'g::{lambda at b.cc:34}::run': (70, 50)}
    assert rows({'f::{lambda at a.cc:9}': 40, 'f::{lambda at a.cc:10}': 60},     # 10 is after 9
                {'f::{lambda at a.cc:10}': 40, 'f::{lambda at a.cc:11}': 60}) == {
        'f::{lambda at a.cc:10}': (40, 40), 'f::{lambda at a.cc:11}': (60, 60)}
    assert rows({'f::{lambda at a.cc:5}': 40, 'f::{lambda at a.cc:9}': 60}, {'f::{lambda at a.cc:9}': 100}) == {
        'f::{lambda at a.cc:5}': (40, 0), 'f::{lambda at a.cc:9}': (60, 100)}
    assert rows({'f::{lambda at a.cc:5}': 100}, {'g::{lambda at a.cc:5}': 100}) == {
        'f::{lambda at a.cc:5}': (100, 0), 'g::{lambda at a.cc:5}': (0, 100)}
    assert rows({'f::{lambda at a': 50, 'f::{lambda at :': 50}, {'f::{lambda at }': 100}) == {
        'f::{lambda at a': (50, 0), 'f::{lambda at :': (50, 0), 'f::{lambda at }': (0, 100)}


def test_lambdas_are_the_same_in_pictures(diff, tmp_path):
    folded(tmp_path / 'before.folded', **{'f::{lambda at a.cc:5}': 40, 'g': 60})
    folded(tmp_path / 'after.folded', **{'f::{lambda at a.cc:7}': 50, 'g': 50})
    diff('before.folded', 'after.folded', '--flame-graph', 'lambda.svg')
    text = (tmp_path / 'lambda.svg').read_text()
    assert 'f::{lambda at a.cc:7} (50 samples, 50.00%; +10.00 points)' in text and 'a.cc:5' not in text


def shares_of(diff, tmp_path, before, after):
    """Those of both sides, and the line below the table about places."""
    for name, stacks in (('before', before), ('after', after)):
        folded(tmp_path / f'{name}.folded', **stacks)
    found = json.loads(diff('--json', 'before.folded', 'after.folded'))
    told = re.findall(r'^(\d+) functions? (?:is|are) on another line than before: compared by name, and shown '
                      r'with the place in AFTER$', diff('before.folded', 'after.folded'), re.M)
    assert [int(n) for n in told] == ([found['other_places']] if 'other_places' in found else [])
    return {row['function']: (row['before'], row['after']) for row in found['rows'] if row['function'] != 'main'}, *map(int, told)


def test_python_functions_are_the_same_on_other_lines(diff, tmp_path):
    """If as many of the name are there in that file, in the order of their lines; else by name."""
    assert shares_of(diff, tmp_path,
                     {'run (a.py:3)': 10, 'run (b.py:3)': 20, 'A.<lambda> (a.py:9)': 30, 'A.<lambda> (a.py:10)': 40},
                     {'run (a.py:5)': 20, 'run (b.py:3)': 10, 'A.<lambda> (a.py:10)': 40, 'A.<lambda> (a.py:11)': 30}) == ({
                         'run (a.py:5)': (10, 20), 'run (b.py:3)': (20, 10), 'A.<lambda> (a.py:10)': (30, 40),
                         'A.<lambda> (a.py:11)': (40, 30)}, 3)
    assert shares_of(diff, tmp_path, {'run (a.py:3)': 40, 'run (a.py:9)': 60}, {'run (a.py:9)': 100}) == ({
        'run (a.py:3)': (40, 0), 'run (a.py:9)': (60, 100)},)
    assert shares_of(diff, tmp_path, {'run (a.py:3)': 40, 'run (a.py:x)': 60}, {'run (a.py:)': 40, '(a.py:4)': 60}) == ({
        'run (a.py:3)': (40, 0), 'run (a.py:x)': (60, 0), 'run (a.py:)': (0, 40), '(a.py:4)': (0, 60)},)


def test_one_side_from_a_pipe(diff, prof, tmp_path):
    """Also from a named one, whose writer waits for a reader, and loses what it writes when that one goes."""
    source = os.path.join(CORPUS, 'pipe.data')
    os.mkfifo(tmp_path / 'pipe')
    with subprocess.Popen(['sh', '-c', 'exec cat "$0" > pipe', source], cwd=tmp_path, stderr=subprocess.PIPE) as writer:
        assert len(json.loads(diff('--json', 'pipe', source))['rows']) > 2
        assert writer.wait(20) == 0 and not writer.stderr.read()
    done = run(tmp_path, 'sh', '-c', f'cat {source} | {prof} diff --json {source} -')
    assert done.returncode == 0 and not done.stderr and rows_of(done.stdout) == rows_of(diff('--json', source, source)), done


@pytest.mark.parametrize('magic', [b'PERFFILE', b'PERFILE2'])
def test_recordings_of_before_linux_3_3(diff, tmp_path, magic):
    with open(SEVERAL, 'rb') as f:
        (tmp_path / 'old.data').write_bytes(magic + f.read()[8:])
    assert len(json.loads(diff('--json', 'old.data', 'old.data'))['rows']) > 2


@pytest.mark.parametrize('option, value, dso', [
    ('--dso', 'das*', 'dash'), ('--comm', 'true', 'true'), ('--comm', 's?', 'dash'), ('--dso', '[kernel]', '[kernel.kallsyms]')])
def test_only_some_tasks_and_files(diff, option, value, dso):
    def rows(*args):
        return {(row['function'], row['dso']): row for row in json.loads(diff('--json', *args, CLOCK, CLOCK))['rows']}

    for mode in [], ['--total']:
        whole, some = rows(*mode), rows(*mode, option, value)
        if option == '--dso':
            assert some and set(some) <= {key for key in whole if key[1] == dso}, (whole, some)
        else:
            assert some and some != whole and set(some) <= set(whole) and (value == 'true') != ('dash' in {name for _, name in some}), some
        assert mode or option == '--comm' or all(row == whole[key] for key, row in some.items()), (whole, some)


def test_what_is_left_out(diff):
    def told(*args):
        return diff(*args, CLOCK, CLOCK)

    table = json.loads(told('--json', '--dso', 'dash'))
    assert table['before_left_out_percent'] == pytest.approx(100 - sum(row['before'] for row in table['rows']))
    assert table['after_left_out_percent'] == table['before_left_out_percent']
    shown = f'{100 - table["before_left_out_percent"]:.2f} % of them shown'
    assert told('--dso', 'dash').count(shown) == 2 and '--dso leaves out' not in told('--dso', 'dash')
    out = f'{table["before_left_out_percent"]:.2f} %'
    assert f'--dso leaves out the samples in other files ({out} before, {out} after), also those that the shown functions called\n' in \
        told('--total', '--dso', 'dash')
    assert 'of them shown' not in told() and 'left_out' not in told('--json')


@pytest.mark.parametrize('args, answer', [
    (['--dso', 'dahs', CLOCK, CHAINS], '--dso dahs: no sample of either recording is in a file with this name; did you mean dash?'),
    (['--comm', 'nothing', CLOCK, CHAINS],
     'no sample of either recording is of a task with this name; perf-prof report --sort comm shows their tasks'),
    (['--comm', 'sh', CLOCK, 'in.folded'], '--comm and --dso select samples of recordings, and in.folded has folded stacks')])
def test_tasks_and_files_without_samples(prof, tmp_path, args, answer):
    (tmp_path / 'in.folded').write_text('m;f 1\n')
    done = run(tmp_path, prof, 'diff', *args)
    assert done.returncode and answer in done.stderr and not done.stdout, done


@pytest.mark.live
def test_time_off_cpus_is_not_compared(prof, recordings):
    done = run(recordings, prof, 'profile', '-q', '--off-cpu', '--record', 'off.data', '--', './work', *SHORT)
    if done.returncode:
        pytest.skip(done.stderr.strip())
    for pair, answer in ((['a.data', 'off.data'], 'off.data also has'), (['off.data', 'off.data'], 'off.data and off.data also have')):
        told = run(recordings, prof, 'diff', *pair)
        if 'a.data' in pair and told.returncode == 2:      # of another event, on a machine with a PMU
            continue
        assert (f'{answer} the time off CPUs, which is not compared; `perf-prof profile --off-cpu -I FILE '
                '--flame-graph FILE.folded` writes it, and `perf-prof diff --total` compares such files\n') in told.stdout, told
    told = run(recordings, prof, 'diff', '--different-events', 'off.data', 'off.data', '--vs', 'a.data')
    assert '\noff.data and 1 more also have the time off CPUs' in told.stdout, told
    run(recordings, prof, 'profile', '-q', '--off-cpu', '-I', 'off.data', '--flame-graph', 'off.folded', check=True)
    text = (recordings / 'off.folded').read_text()
    total = sum(int(line.rpartition(' ')[2]) for line in text.splitlines() if line[0] != '#')
    assert re.search(rf'\n# weight={total}( builds=\S+)? unit=ns\n\Z', text)


def of_a_command(path, mark, **ms):
    """1000 samples of 1 ms each for a second"""
    path.write_text(''.join(f'{name} {n * 1000000}\n' for name, n in ms.items()) +
                    f'# samples={sum(ms.values())} alike={sum(ms.values())} weight={sum(ms.values()) * 1000000} event=python{mark}\n')


def test_folded_stacks_of_a_command_are_compared_by_time(diff, tmp_path):
    names = [f'{side}{i}.folded' for side in 'ab' for i in range(1, 5)]
    sides = [*names[:4], '--vs', *names[4:]]

    def write(mark, times=1):
        for i, name in enumerate(names):
            of_a_command(tmp_path / name, mark, same=1000 + i % 4, more=(500 if i < 4 else 2000) + i % 3)
            (tmp_path / name).write_text((tmp_path / name).read_text() * times)
        return rows_of(diff('--json', *sides))
    rows = write(' time=command inlined=no')
    assert rows['more']['verdict'] == 'grew' and 1.4e9 < rows['more']['time_low'] < 1.5e9 < rows['more']['time_high'] < 1.6e9
    assert rows['same']['verdict'] == 'same time' and rows['same']['time_low'] < 0 < rows['same']['time_high']
    # of other profiles, and of two runs in one file, only shares say something
    for mark, times in ('', 1), (' time=command inlined=no', 2):
        assert {name: row['verdict'] for name, row in write(mark, times).items()} == {'more': 'grew', 'same': 'shrank'}


def test_elapsed_times_of_a_command(prof, tmp_path):
    """They are not compared with times on CPUs."""
    for i, name in enumerate(['a1', 'a2', 'b1', 'b2', 'cpu']):
        of_a_command(tmp_path / name, ' time=command inlined=no', same=1000 + i, more=500 if i < 2 else 2000)
        if name != 'cpu':
            (tmp_path / name).write_text((tmp_path / name).read_text().replace('event=python', 'event=python-elapsed'))
    told = run(tmp_path, prof, 'diff', 'a1', 'a2', '--vs', 'b1', 'b2')
    assert '\nelapsed time of a run 1500.500 ms before, 3002.500 ms after (+100.1 %, more time)\n' in told.stdout, told
    told = run(tmp_path, prof, 'diff', 'a1', 'cpu')
    assert told.returncode == 2 and 'shares of different events are not comparable' in told.stderr, told


def of_times(folder, *runs):
    """Folded stacks of time, one file for each run."""
    for i, run in enumerate(runs):
        folded(folder / f'time{i}.folded', **run)
        with open(folder / f'time{i}.folded', 'a') as file:
            file.write(f'# weight={sum(run.values())} unit=ns\n')
    return [f'time{i}.folded' for i in range(len(runs))]


SAME = {'f': 1000, 'g': 1000}


@pytest.mark.parametrize('before, after, verdicts', [
    ([SAME, SAME], [{'f': 1000, 'g': 1001}], {'f': None, 'g': None}),
    ([SAME], [{'f': 1000, 'g': 5000}] * 2, {'f': None, 'g': None}),
    ([SAME, SAME], [{'f': 1000, 'g': 1001}] * 2, {'f': 'unclear', 'g': 'unclear'}),
    ([SAME] * 5, [{'f': 1000, 'g': 1010}] * 5, {'f': 'unclear', 'g': 'unclear'}),
    ([SAME] * 5, [{'f': 1000, 'g': 1500}] * 5, {'f': 'same time', 'g': 'grew'}),
    ([SAME] * 5, [SAME] * 4 + [{**SAME, 'rare': 1}], {'f': 'unclear', 'g': 'unclear', 'rare': 'unclear'}),
    ([SAME] * 5, [SAME] * 4 + [{**SAME, 'rare': 900}], {'f': 'unclear', 'g': 'unclear', 'rare': 'unclear'}),
    ([SAME] * 5, [{**SAME, 'always': 900}] * 5, {'f': 'same time', 'g': 'same time', 'always': 'new'})])
def test_times_differ_from_run_to_run(diff, tmp_path, before, after, verdicts):
    files = of_times(tmp_path, *before, *after)
    files = [str(tmp_path / name) for name in files]
    args = [*files[:len(before)], '--vs', *files[len(before):]]
    rows = rows_of(diff('--json', *args))
    assert {name: row.get('verdict') for name, row in rows.items()} == verdicts
    if None in verdicts.values():
        assert ': one run of a side does not show how much runs differ; compare several of each: ' \
            'BEFORE... --vs AFTER...' in diff('--total', *args)


@pytest.mark.parametrize('stack, end, shown', [
    ('{};main;nap', '# weight=1000 unit=ns', {'main', 'nap'}),
    ('{};main;nap', '# samples=1000 alike=1000 weight=1000 event=cpu-clock inlined=no', {'main', 'nap'}),
    ('{};main;nap', '# of another tool', {'old', 'sleepy', 'main', 'nap'}),
    ('{}', '# weight=1000 unit=ns', {'old', 'sleepy'}),
    ('{};main;[woken by x]', '# weight=1000 unit=ns', {'old', 'sleepy', 'main', '[woken by x]'})])
def test_a_program_at_the_root_is_no_function(diff, tmp_path, stack, end, shown):
    """Those of another name would be gone and new."""
    for name in 'old', 'sleepy':
        for i in '12':
            (tmp_path / (name + i)).write_text(f'{stack.format(name)} 1000\n{end}\n')
    old1, old2, new1, new2 = (str(tmp_path / name) for name in ('old1', 'old2', 'sleepy1', 'sleepy2'))
    found = json.loads(diff('--json', '--total', old1, old2, '--vs', new1, new2))
    assert {row['function'] for row in found['rows']} == shown
    assert found.get('changed', 0) == (2 if 'old' in shown and 'another' not in end else 0)


def nameless(path, builds, ms):
    """Samples of functions without names."""
    lines = f'job;main;app+0x10;app+0x30 1000000000\njob;main;app+0x10;app+0x20 {ms * 1000000}\njob;main;named 1000000000\n'
    path.write_text(lines + f'# samples={2000 + ms} alike={2000 + ms} weight={(2000 + ms) * 1000000} event=cpu-clock{builds} inlined=no\n')
    return str(path)


@pytest.mark.parametrize('before, after, compared', [
    (' builds=app:ab12,dash:77', ' builds=dash:78,app:ab12', True), (' builds=app:ab12', ' builds=app:ab13', False),
    ('', '', False), (' builds=app:ab12', '', False), (' builds=other:ab12', ' builds=other:ab12', False)])
def test_functions_without_names_in_folded_stacks(diff, prof, tmp_path, before, after, compared):
    """They are compared in the same build."""
    a, b = nameless(tmp_path / 'a', before, 500), nameless(tmp_path / 'b', after, 3000)
    found = json.loads(diff('--json', '-q', a, b))
    verdicts = [row['verdict'] for row in found['rows'] if row['function'] == 'app+0x20']
    assert verdicts == (['grew'] if compared else ['not compared'] * 2)
    told = [line for line in diff('-q', '--total', a, b).splitlines() if line.startswith('not compared')]
    assert [line[:119] for line in told] == ([] if compared else [
        'not compared: functions without a name in one of the two (the largest: 60 % of the samples before, 80 % after): the pro'])
    # stacks of several files keep the builds that are the same in all of them
    both = run(tmp_path, prof, 'flame-graph', a, b, '/dev/stdout').stdout
    assert (' builds=app:ab12 ' in both) == compared


@pytest.mark.live
def test_folded_stacks_have_the_builds_of_functions_without_names(prof, diff, tmp_path):
    # not a copy of `work`, which has its build id: its names would be found
    compile_in(tmp_path, 'bare', PROGRAM.replace('quick_part', 'other_name'), '-O0', '-s', '-Wl,--build-id')
    build = run(tmp_path, 'readelf', '-n', 'bare').stdout.split('Build ID: ')[1].split()[0]
    record(prof, tmp_path, '-q', '-o', 'bare.data', '--', './bare', *SHORT)
    run(tmp_path, prof, 'convert', '-q', '-I', 'bare.data', '--to', 'folded', '-o', 'a.folded', check=True)
    run(tmp_path, prof, 'profile', '-q', '--flame-graph', 'b.folded', '--', './bare', *SHORT, check=True)
    for name in 'a.folded', 'b.folded':
        assert f'bare:{build}' in (tmp_path / name).read_text().splitlines()[-1].split(' builds=')[1].split()[0].split(',')
    rows = [row for name, row in rows_of(diff('-q', '--json', 'a.folded', 'b.folded')).items() if name.startswith('bare+0x')]
    assert rows and 'not compared' not in {row.get('verdict') for row in rows}


def test_a_recording_after_folded_stacks_of_time_is_not_time(diff, tmp_path):
    times = of_times(tmp_path, SAME, SAME, SAME)
    for before in [times[0], TRACE], [TRACE, times[0]]:
        assert 'before_time' not in json.loads(diff('--json', *before, '--vs', *times[1:]))


def test_a_run_without_samples_is_left_out(prof, tmp_path):
    """It was short, or the machine busy. The others are compared as without it."""
    of_times(tmp_path, *[SAME] * 3, *[{'f': 1000, 'g': 3000}] * 2)
    (tmp_path / 'none.folded').write_text('')
    before, after = [f'time{i}.folded' for i in range(3)], [f'time{i}.folded' for i in (3, 4)]
    plain = run(tmp_path, prof, 'diff', '--json', *before, '--vs', *after)
    for more in (['none.folded', *before, '--vs', *after], [*before, '--vs', 'none.folded', after[0], 'none.folded', after[1]],
                 [*before, 'none.folded', '--vs', *after, 'none.folded']):
        told = run(tmp_path, prof, 'diff', '--json', *more)
        assert told.returncode == 0 and json.loads(told.stdout) == json.loads(plain.stdout)
        said = 'perf-prof: none.folded: it has no samples, or none that match the options'
        assert told.stderr.splitlines().count(f'{said}, and is left out') == more.count('none.folded')
    for sides in ([*before, '--vs', 'none.folded', 'none.folded'], ['none.folded', '--vs', *after]):
        told = run(tmp_path, prof, 'diff', *sides)
        assert told.returncode == 1 and not told.stdout and told.stderr.splitlines()[-1] == said, told


def test_weights_of_a_side_beyond_64_bits(prof, tmp_path):
    half, whole = {'f': 1 << 63}, {'f': (1 << 64) - 600}
    small, *large = of_times(tmp_path, SAME, half, half, whole)
    for sides in [*large[:2], '--vs', small], [small, '--vs', *large[:2]]:
        told = run(tmp_path, prof, 'diff', *sides)
        assert told.returncode == 1 and not told.stdout and told.stderr == \
            f'perf-prof: {large[1]}: the numbers of the files up to here add up to more than 18446744073709551615\n'
    told = run(tmp_path, prof, 'diff', '--json', small, large[2])
    assert rows_of(told.stdout)['f']['time_change'] == (1 << 63) - 1


@pytest.mark.live
@pytest.mark.slow       # strace, below which sanitizers do not look for leaks
def test_the_kernels_symbols_are_read_once(prof, recordings):
    """Not for each recording: it is most of the time that a small one takes."""
    if not shutil.which('strace'):
        pytest.skip('there is no strace')
    reads = []
    for names in (['a.data', 'same.data'], ['a.data', 'same.data', '--vs', 'a.data', 'slower.data']):
        done = run(recordings, 'strace', '-f', '-y', '-e', 'trace=read', '-o', 'reads', prof, 'diff', '-q', *names)
        if done.returncode:
            pytest.skip(done.stderr.strip())
        reads.append((recordings / 'reads').read_text().count('</proc/kallsyms>'))
    if not reads[0]:
        pytest.skip('the addresses of the kernel are hidden, or its symbols are not needed')
    assert reads[0] == pytest.approx(reads[1], rel=0.1), reads
