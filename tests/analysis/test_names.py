# SPDX-License-Identifier: Apache-2.0
"""Names of functions, and stacks, as they are shown. Work is page faults, so that each sample is known."""
import os
import platform
import re
import shutil
import subprocess

import pytest

from frame.analyses import compiled, of_faults
from frame.hints import hints

pytestmark = [pytest.mark.live, pytest.mark.slow]

CART = 'shop::Cart<std::pair<int, long>, std::vector<long, std::allocator<long> > >::add'
TEMPLATES = '''
static volatile char *page;
void add(int n) __asm__("_ZN4shop4CartISt4pairIilESt6vectorIlSaIlEEE3addEv");
__attribute__((noinline)) void add(int n) { while (n--) { *page = 1; page += 4096; } }
int main(void)
{
	page = pages(400);
	add(400);
}
'''

TWO_PLACES = '''
static volatile char *page;
static __attribute__((noinline)) void touch(int n)
{
	for (; n > 0; n -= 2) {
		page[0] = 1;
		page[4096] = 1;
		page += 8192;
	}
}
int main(void)
{
	page = pages(400);
	touch(200);
	touch(200);
}
'''
# touch() of this file and that of another one
TWO_FILES = '''
static __attribute__((noinline)) void touch(volatile char *page, int n) { while (n--) { *page = 1; page += 4096; } }
#ifdef OTHER
void other(volatile char *page) { touch(page, 100); }
#else
void other(volatile char *page);
int main(void)
{
	volatile char *page = pages(400);
	touch(page, 300);
	other(page + 300 * 4096);
}
#endif
'''
# rbp leads to frames whose return addresses are nothing
GARBAGE = '''
static unsigned long frames[3][2];
int main(void)
{
	volatile char *page = pages(400);
	frames[0][0] = (unsigned long)&frames[1];
	frames[1][0] = (unsigned long)&frames[2];
	for (unsigned long n = 0; n < 400; n++, page += 4096) {
		frames[0][1] = 0x5a5a00001000 + n * 4096;
		frames[1][1] = 0x5b5b00001000 + n * 4096;
		__asm__ volatile("push %%rbp\\n mov %0, %%rbp\\n movb $1, (%1)\\n pop %%rbp" :: "r"(&frames[0]), "r"(page) : "memory");
	}
}
'''


def test_on_a_terminal_template_arguments_go_before_the_method(prof, tmp_path):
    pytest.importorskip('pyte', reason='needs python3-pyte')
    from frame.screen import Screen
    job = compiled(tmp_path / 'a/folder/with/a/name/that/no/terminal/has/any/room/for', TEMPLATES)
    path = of_faults(prof, job, to=tmp_path / 'job.data')

    def shown(*options, columns=80):
        with Screen([prof, 'report', path, '--rows', '2', *options], lines=60, columns=columns) as screen:
            screen.ended()
            return screen.text

    text = shown()
    assert re.search(r'^ *[\d.]+ +[\d.]+ shop::Cart<…>::add +…/(.*/)?job$', text, re.M), text
    assert re.search(r'^    [0-9a-f]{16} shop::Cart<…>::add\+0x\w+ \(…/job\) …/job\.c:4$', text, re.M), text
    assert f'{CART} ' in shown('--full', columns=400)


def stacks(text):
    """[(share, [functions, innermost first])] of the hottest stacks."""
    found = []
    for line in text.partition('hottest stacks\n')[2].splitlines():
        head, frame = re.match(r' *([\d.]+)%  \S', line), re.match(r'    [0-9a-f ]{16} (\S+?)(\+0x\w+)?( |$)', line)
        if head:
            found.append((float(head[1]), []))
        elif frame:
            found[-1][1].append(frame[1])
    return found


def test_stacks_that_differ_only_within_functions_are_one(once, analyse):
    """Without names, they differ by address."""
    path = once(TWO_PLACES)
    [(share, frames)] = [s for s in stacks(analyse('report', path).text) if 'touch' in s[1]]
    [table] = analyse('report', '--json', path).lines
    [row] = [r for r in table['rows'] if r['function'] == 'touch']
    assert frames[0] == 'touch' and share == pytest.approx(row['self'], abs=0.01) and row['count'] == 400
    bare = once(TWO_PLACES, '-s', '-fno-asynchronous-unwind-tables')
    shares = [s for s, _ in stacks(analyse('report', '--rows', '100', bare).text) if s > 10]
    assert len(shares) >= 2 and sum(shares) == pytest.approx(share, abs=5), (shares, share)


def test_stacks_are_their_lines(once, analyse):
    """Calls at two lines are two stacks; the innermost function, at several lines, has none."""
    through = TWO_PLACES.replace('touch(200);', 'through(200);').replace(
        'int main', 'static __attribute__((noinline)) void through(int n) { touch(n); page += 0; }\nint main')
    text = analyse('report', once(through)).text.partition('hottest stacks\n')[2]
    shown = re.findall(r'^ *([\d.]+)%.*\n.* touch\S+ \(\S+\)(.*)\n(?:.* through.*\n)?.* main\S+ \S+ \S+job\.c:(\d+)$', text, re.M)
    assert len(shown) == 2 and {line for *_, line in shown} == {'15', '16'} and not any(leaf for _, leaf, _ in shown), text
    assert float(shown[0][0]) == pytest.approx(float(shown[1][0]), abs=1), text


def test_static_functions_with_one_name_have_a_row_each(faults, analyse, tmp_path):
    (tmp_path / 'other.c').write_text('#define OTHER\n' + TWO_FILES)
    path = faults(TWO_FILES, tmp_path / 'other.c')
    text = analyse('report', path).text
    starts = [int(line.split()[0], 16) for line in
              subprocess.run(['nm', tmp_path / 'job'], capture_output=True, text=True).stdout.splitlines() if line.endswith(' t touch')]
    shown = dict(re.findall(r'^ *[\d.]+ +[\d.]+ +touch \((\w+\.c), (0x\w+)\) ', text, re.M))
    assert set(shown) == {'job.c', 'other.c'} and sorted(int(a, 16) for a in shown.values()) == sorted(starts), text
    assert len([s for s in stacks(text) if s[1][0] == 'touch']) == 2
    [table] = analyse('report', '--json', path).lines
    assert {r['address']: r['count'] for r in table['rows'] if r['function'] == 'touch'} == {shown['job.c']: 300, shown['other.c']: 100}
    [table] = analyse('report', '--json', '--sort', 'symbol', path).lines
    assert [r['count'] for r in table['rows'] if r['function'] == 'touch'] == [400]


PARTS = '''
static inline __attribute__((always_inline)) void part(volatile char *page, int n) { while (n--) { *page = 1; page += 4096; } }
static __attribute__((noinline)) void whole(volatile char *page)
{
	part(page, 100);
	for (int n = 0; n < 300; n++)
		page[(100 + n) * 4096] = 1;
}
int main(void)
{
	volatile char *page = pages(400);
	whole(page);
}
'''


@pytest.mark.deep
@pytest.mark.parametrize('by', ['symbol', 'comm,symbol', 'symbol,cpu'])
def test_a_function_includes_what_is_inlined_into_it_whatever_else_a_row_is(once, analyse, by):
    path = once(PARTS)
    [table] = analyse('report', '--json', '--sort', by, path).lines
    wholes = [r for r in table['rows'] if r['function'] == 'whole']
    assert sum(r['count'] for r in wholes) == 400 and 'part' not in {r['function'] for r in table['rows']}, table
    assert sum(p['count'] for r in wholes for p in r['inlined'] if p['function'] == 'part') == 100, table
    assert ' part (inlined)' in analyse('report', '--sort', by, path).text
    [table] = analyse('report', '--json', '--sort', by, '--inline-rows', path).lines
    assert sum(r['count'] for r in table['rows'] if r['function'] == 'whole') == 300


@pytest.mark.skipif(platform.machine() != 'x86_64', reason='needs x86-64')
def test_a_chain_that_ends_in_garbage_ends_in_one_frame(faults, analyse, tmp_path):
    path = faults(GARBAGE)
    [(_, frames)] = [s for s in stacks(analyse('report', path).text) if s[1][-1] == '[broken]' and 'main' in s[1]]
    assert frames == ['main', '[broken]']
    [table] = analyse('report', '--json', path, '--flame-graph', 'f.folded').lines
    rows = {r['function']: r for r in table['rows']}
    assert rows['[broken]']['self'] == 0 and rows['[broken]']['total'] >= rows['main']['self'] > 50
    assert re.search(r'^job;\[broken\];main 4\d\d$', (tmp_path / 'f.folded').read_text(), re.M)


# ---- source lines ------------------------------------------------------------------------

def lines_of(text):
    """{line: (self, total, source)} of --annotate."""
    rows = re.findall(r'^(?: *([\d.]+) +([\d.]+))? +(\d+)  (.*)$', text.partition('source lines of ')[2], re.M)
    return {int(n): (float(s or 0), float(t or 0), source) for s, t, n, source in rows}


def test_the_source_lines_of_a_function_with_their_shares(once, analyse):
    path = once(TWO_PLACES)
    source = TWO_PLACES.splitlines()
    first, second = (1 + source.index(f'\t\tpage[{n}] = 1;') for n in (0, 4096))
    got = analyse('report', '--than', '30', '--annotate', 'touch', path)
    lines = lines_of(got.text)
    [table, annotated] = analyse('report', '--json', '--annotate', 'touch', path).lines
    [row] = [r for r in table['rows'] if r['function'] == 'touch']
    assert lines[first][:2] == lines[second][:2] and 2 * lines[first][0] == pytest.approx(row['self'], abs=0.02)
    assert lines[first + 2] == (0, 0, ' ' * 16 + 'page += 8192;')
    assert [(r['line'], r['source'].strip()) for r in annotated['rows']] == [(n, source[n - 1].strip()) for n in (first, second)]
    assert annotated['function'] == 'touch' and annotated['file'] == str(path.parent / 'job.c') and 'newer' not in annotated


def test_source_lines_of_several_functions(once, analyse):
    """Those that call have what they call in their total."""
    path = once(TWO_PLACES, '-O0')
    tables = analyse('report', '--json', '--annotate', 'touch', '--annotate', 'main', path).lines
    assert [t.get('function') for t in tables] == [None, 'touch', 'main']
    bad = analyse('report', '--annotate', 'touch', '--annotate', 'mian', path, code=1)
    assert '--annotate mian: no sample of the recording is in a function with this name; did you mean main?' in bad.err
    assert 'source lines of touch' in bad.text
    calls = [row for row in lines_of(analyse('report', '--annotate', 'main', path).text).values() if row[2].strip() == 'touch(200);']
    assert [self for self, _, _ in calls] == [0, 0] and calls[0][1] == calls[1][1] > 30


def test_names_as_wide_as_asked_for(once, analyse):
    """In a pipe, too."""
    path = once(TEMPLATES)
    whole, narrow = analyse('report', path).text, analyse('report', '--width', '70', path).text
    assert f'{CART} ' in whole and CART not in narrow and re.search(r'^[ \d.]+ shop::Cart<…>::add ', narrow, re.M), narrow
    assert max(map(len, whole.splitlines())) > 70 >= max(len(line) for line in narrow.partition('hottest stacks')[0].splitlines()[1:])
    assert analyse('report', '--width', '70', '--full', path).text == whole
    assert CART in [row['function'] for row in analyse('report', '--json', path).lines[0]['rows']]
    bad = analyse('report', '--width', '12', path, code=2)
    assert bad.err.startswith('perf-prof: --width 12: expected a number of columns, 40 to 10000'), bad.err


def test_source_that_is_newer_or_gone(prof, faults, analyse, tmp_path):
    path = faults(TWO_PLACES)
    with_capstone(prof)
    text = analyse('report', '--no-inline', '--annotate', 'touch', path).text
    assert 'source lines are not looked up with --no-inline\n' in text and 'build the program' not in text
    (tmp_path / 'job.c').write_text('int other;\n')
    assert '/job.c (newer than the program: its lines may be others now)\n' in analyse('report', '--annotate', 'touch', path).text
    (tmp_path / 'job.c').unlink()
    gone = analyse('report', '--annotate', 'touch', path).text
    assert '/job.c (not shown: No such file or directory)\n' in gone and all(lines_of(gone))
    (tmp_path / 'job.c').mkdir()
    assert '/job.c (not shown: not a regular file)\n' in analyse('report', '--annotate', 'touch', path).text


@pytest.mark.parametrize('symbol, names', [
    ('_ZN4shop4CartISt4pairIilESt6vectorIlSaIlEEE3addEv', [CART, 'shop::Cart<…>::add', '…::Cart<…>::add', 'Cart::add', 'add']),
    ('_ZNK4shop4CartclEi', ['operator()', 'shop::Cart::operator()', 'Cart::operator()(int) const']),
    ('_ZNK4shop4CartltERKS0_', ['operator<', 'shop::Cart::operator<(shop::Cart const&) const']),
    ('_ZNKR4shop4Cart12run_operatorEi', ['run_operator', 'Cart::run_operator(int) const &']),
])
def test_a_function_is_named_as_the_terminal_and_nm_show_it(once, analyse, symbol, names):
    path = once(re.sub('"_Z.*"', f'"{symbol}"', TEMPLATES))
    for name in names:
        assert lines_of(analyse('report', '--annotate', name, path).text)[4][0] > 50


MIXERS = """
static volatile char *page;
void few(int n) __asm__("_ZN5MixerIjLi4EE3mixEv");
void many(int n) __asm__("_ZN5MixerImLi8EE3mixEv");
__attribute__((noinline)) void few(int n) { while (n--) { *page = 1; page += 4096; } }
__attribute__((noinline)) void many(int n) { while (n--) { *page = 2; page += 4096; } }
int main(void)
{
	page = pages(400);
	few(100);
	many(300);
}
"""


def test_a_name_with_arguments_is_the_function_with_these_arguments(once, analyse):
    path = once(MIXERS)
    for name, line in {'Mixer<unsigned int, 4>::mix': '*page = 1', 'Mixer<unsigned long, 8>::mix': '*page = 2',
                       'Mixer<…, 4>::mix': '*page = 1', 'Mixer<unsigned int, …>::mix': '*page = 1',
                       '…::Mixer<…int…>::mix': '*page = 1', 'Mixer<unsigned int, 4>::mix() const': '*page = 1'}.items():
        got = analyse('report', '--annotate', name, path).text      # with no message on stderr
        assert line in max(lines_of(got).values())[2], (name, got)
    for name in 'mix', 'Mixer::mix', 'Mixer<…>::mix':
        got = analyse('report', '--annotate', name, path, before=['env'])
        assert '*page = 2' in max(lines_of(got.text).values())[2], got.text
        assert 'the hottest of 2 functions with this name is shown' in got.err, got.err


def perf_without_build_ids(job):
    """perf's recording of a program, whose files are known by their inodes: what ours has if the kernel found no build id, too."""
    perf = shutil.which('perf')
    if not perf or subprocess.run([perf, 'version'], capture_output=True).returncode:
        pytest.skip('needs perf')
    path = job.parent / 'perf.data'
    subprocess.run([perf, 'record', '-B', '-N', '-e', 'page-faults:u', '-c', '1', '-g', '-o', path, '--', job], check=True,
                   capture_output=True, timeout=60)
    return path


@pytest.mark.parametrize('reason', ['the file now has the build id', 'what is there now is not what was mapped (inode'])
def test_a_program_that_was_rebuilt_since_the_recording_is_reported(prof, faults, analyse, tmp_path, reason):
    path = faults(TWO_PLACES)
    if 'inode' in reason:
        path = perf_without_build_ids(tmp_path / 'job')
    assert 'touch' in analyse('report', path).text and 'not the file' not in hints([prof, 'report', path])
    old = (tmp_path / 'job').open('rb')         # keeps its inode from being used again
    (tmp_path / 'job').unlink()
    compiled(tmp_path, TWO_PLACES, '-O2')
    with old:
        told, got = hints([prof, 'report', path]), analyse('report', path)
        assert f'perf-prof: {tmp_path}/job is not the file that was sampled (-v says why), so its functions' in told
        assert 'perf buildid-cache --add FILE' in told and '[unknown]' in got.text and got.err == ''
        assert hints([prof, 'report', '-q', path]) == ''
        told = analyse('report', '-v', path, before=['env']).err
        assert 'its functions have no names' in told and 'not the file' not in told
        if path.name == 'perf.data':
            assert reason in told


UNNAMED = '''
#define WORK(name) static __attribute__((noinline)) void name(volatile char *page, int n) { while (n--) { *page = 1; page += 4096; } }
WORK(much)
#ifdef LATER
static __attribute__((noinline)) void nothing(volatile char *page) { *page = *page + 1; }
#endif
WORK(little)
int main(int argc, char **argv)
{
	volatile char *page = pages(500);
#ifdef LATER
	nothing(page);
#endif
	much(page, 300);
	if (argc == 1)
		little(page + 300 * 4096, 100);
}
'''


def test_functions_of_a_stripped_program_are_told_apart(prof, faults, analyse, tmp_path):
    """Their ranges are those in the unwind table, and their names are their addresses."""
    path = faults(UNNAMED, '-Wl,--build-id')
    [table] = analyse('report', '--json', path).lines
    named = {row['function']: row for row in table['rows']}
    symbols = subprocess.run(['nm', tmp_path / 'job'], capture_output=True, text=True, check=True).stdout
    address = {name: f'job+{int(at, 16):#x}' for at, name in re.findall(r'^(\w+) t (much|little)$', symbols, re.M)}
    whole = (tmp_path / 'job').read_bytes()
    subprocess.run(['strip', tmp_path / 'job'], check=True)
    [table] = analyse('report', '--json', path).lines
    rows = {row['function']: row for row in table['rows']}
    for name in 'much', 'little':
        assert {**rows[address[name]], 'function': name} == named[name], rows
    got = analyse('report', path)
    assert re.search(r'^9\d % of the samples are in functions without a name, such as ' + re.escape(address['much']) +
                     rf': {tmp_path}/job has no symbols for them; ', got.text, re.M), got.text
    assert (f'{address["much"]}', ) == tuple(stacks(got.text)[0][1][:1])
    stripped = (tmp_path / 'job').read_bytes()
    (tmp_path / 'job').write_bytes(whole)
    assert 'without a name' not in analyse('report', path).text
    (tmp_path / 'job').write_bytes(stripped)
    with_capstone(prof)
    assert re.search(r'^ *\d+\.\d+ .* (movb|strb) .*', analyse('report', '--annotate', address['much'], path).text, re.M)


CALLED = '''
#define TWICE __attribute__((noinline)) static
TWICE void touch(volatile char *page, int n) { if (n) { *page = 1; touch(page + 4096, n - 1); page[0]++; } }
TWICE void one(volatile char *page) { touch(page, 30); page[0]++; }
TWICE void two(volatile char *page) { touch(page + 30 * 4096, 10); page[0]++; }
int main(void)
{
	volatile char *page = pages(500);
	one(page);
	two(page);
	return page[0] == 77;
}
'''


def test_callers_of_a_function(once, analyse):
    """However deep it recurses, a caller has one stack."""
    path = once(CALLED)
    text = analyse('report', '--callers', 'touch', path).text
    share = float(re.search(r'^callers of touch, ([\d.]+) %$', text, re.M)[1])
    found = stacks(text.replace(f'callers of touch, {share:.2f} %', 'hottest stacks'))
    assert [frames[:2] for _, frames in found] == [['touch', 'one'], ['touch', 'two']]
    assert found[0][0] == pytest.approx(3 * found[1][0], abs=0.1) and sum(s for s, _ in found) == pytest.approx(share, abs=0.02)
    assert [len(stacks(analyse('report', '--stacks', n, path).text)) for n in ('1', '3')] == [1, 3]       # many, by depth
    assert len(stacks(analyse('report', '--stacks', 'all', path).text)) > len(stacks(analyse('report', path).text)) == 5
    assert len(stacks(analyse('report', '--stacks', '2', path).text)) == 2
    assert 'stacks' not in analyse('report', '--stacks', '0', path).text
    text = analyse('report', '--stacks', '0', '--callers', 'touch', path).text
    assert re.search(r'\ncallers of touch, \d+\.\d\d %\n', text) and not re.search(r'%  job$', text, re.M)


SHAPES = '''
#define OWN __attribute__((noinline))
struct Circle { OWN void area(volatile char *page) { for (int i = 0; i < 30; i++) page[i * 4096] = 1; page[0]++; } };
template<class T> struct Square { OWN void area(volatile char *page) { for (int i = 0; i < 10; i++) page[i * 4096] = 1; page[0]++; } };
int main()
{
	volatile char *page = pages(500);
	Circle().area(page);
	Square<int>().area(page + 100 * 4096);
	Square<char>().area(page + 200 * 4096);
	return page[0] == 77;
}
'''


def test_which_functions_have_the_name(once, analyse):
    """--callers: all of these; their shares are said. With arguments only the one that has them."""
    path = once(SHAPES, '-O0', by='g++')
    said = r'^callers of {}, ([\d.]+) %\n3 functions have this name: (.*)$'
    for options in (), ('--tree',):
        share, names = re.search(said.format('area'), analyse('report', '--callers', 'area', *options, path).text,
                                 re.M).groups()
        found = {name: float(part) for name, part in re.findall(r'(\S+) ([\d.]+) %', names)}
        assert set(found) == {'Circle::area', 'Square<int>::area', 'Square<char>::area'} and list(found)[0] == 'Circle::area'
        assert sum(found.values()) == pytest.approx(float(share), abs=0.03)
        assert found['Circle::area'] == pytest.approx(3 * found['Square<int>::area'], abs=0.1)
    text = analyse('report', '--callers', 'Square::area', path).text
    assert '\n2 functions have this name: Square<' in text and 'Circle' not in text.split('callers of')[1]
    text = analyse('report', '--callers', 'Square<int>::area', path).text
    assert '\ncallers of Square<int>::area, ' in text and 'have this name' not in text


def test_callers_of_a_function_that_is_not_there_and_what_is_below_main(analyse, once):
    path = once(CALLED)
    for command in ('report', path), ('page-faults', '-q', '-I', path), ('profile', '-e', 'page-faults:u', '-I', path):
        for options in (), ('--tree',):
            got = analyse(command[0], '--callers', 'tuoch', *options, *command[1:], code=1)
            assert re.search(r'--callers tuoch: no sample of .* is in a function with this name; did you mean touch\?$', got.err, re.M)
            assert '\ncallers of tuoch, 0.00 %\n' in got.text and 'hottest stacks' not in got.text and 'call tree' not in got.text
    got = analyse('report', '--callers', 'nothing_like_that', path, code=1)
    assert 'expected a name from the table; namespaces and arguments may be left out\n' in got.err
    for command in ('report', path), ('page-faults', '-q', '-I', path):
        functions = {row['function'] for row in analyse(command[0], '--below', 'main', '--json', *command[1:]).lines[0]['rows']}
        assert {'touch', 'one', 'two'} <= functions and 'main' not in functions


def test_rows_by_line_say_why_there_are_none(once, analyse):
    told = 'of the samples are in programs without source lines: build them with -g'
    assert told in analyse('report', '--sort', 'line', once(UNNAMED, '-g0')).text
    assert told not in analyse('report', '--sort', 'line', '--dso', 'job', once(TWO_PLACES)).text


@pytest.mark.deep
@pytest.mark.parametrize('link', ['-Wl,--build-id', '-Wl,--build-id=none'])
def test_addresses_are_compared_in_the_same_build_only(prof, analyse, tmp_path, link):
    def diff(before, after):
        [table] = analyse('diff', '--json', before, after).lines
        rows = [row for row in table['rows'] if row['dso'] == 'job' and row['before'] + row['after'] > 10]
        return rows, {row['verdict'] for row in rows}
    job, later = (compiled(tmp_path / folder, UNNAMED, '-s', link, *more) for folder, more in (('one', []), ('other', ['-DLATER'])))
    first, again, changed = (of_faults(prof, one, to=tmp_path / name) for one, name in ((job, 'first'), (job, 'again'), (later, 'changed')))
    some = of_faults(prof, job, 'x', to=tmp_path / 'some')       # little() does not run
    rows, verdicts = diff(first, again)
    assert verdicts == {'unclear'} and len([row for row in rows if row['before'] > 10 and row['after'] > 10]) == 2, rows
    for verdict, pair in ('gone', (again, some)), ('new', (some, again)):
        rows, _ = diff(*pair)
        assert [row['verdict'] for row in rows if 0 in (row['before'], row['after'])] == [verdict], rows
        assert 'not compared' not in analyse('diff', *pair).text
    rows, verdicts = diff(first, changed)
    assert len(rows) == 4 and verdicts == {'not compared'}, rows
    assert all(row['function'].startswith('job+0x') and 0 in (row['before'], row['after']) for row in rows), rows
    text = analyse('diff', first, changed).text
    assert re.search(r'^not compared: functions without a name in one of the two', text, re.M)


def test_a_program_that_was_rebuilt_has_no_verdicts(prof, faults, analyse, tmp_path):
    paths = []
    for options in [], ['-DLATER']:
        paths.append(tmp_path / f'{len(paths)}.data')
        faults(UNNAMED, '-Wl,--build-id', *options).rename(paths[-1])
    [table] = analyse('diff', '--json', *paths).lines
    rows = [row for row in table['rows'] if row['dso'] == 'job' and row['before'] + row['after'] > 10]
    assert {(row['function'], row['verdict']) for row in rows} == {(name, 'not compared') for name in ('[unknown]', 'much', 'little')}, rows
    assert 'is not the file that was sampled' in hints([prof, 'diff', *paths])


@pytest.mark.parametrize('flag', ['-gdwarf-4', '-gdwarf-5'])
def test_source_that_was_compiled_by_a_relative_path(prof, analyse, tmp_path, flag):
    compiled(tmp_path / 'sub', TWO_PLACES)
    subprocess.run(['gcc', '-O1', flag, '-include', 'sub/known.h', '-fno-omit-frame-pointer', '-o', 'job', './sub/job.c'], check=True,
                   cwd=tmp_path)
    path = of_faults(prof, tmp_path / 'job', to=tmp_path / 'job.data')
    lines = analyse('report', '--annotate', 'touch', path).text
    assert f'\n{tmp_path}/sub/job.c\n' in lines and any(source.strip() == 'page[0] = 1;' for _, _, source in lines_of(lines).values())
    [table] = analyse('report', '--json', '--sort', 'line', path).lines
    first = 1 + TWO_PLACES.splitlines().index('\t\tpage[0] = 1;')
    assert f'{tmp_path}/sub/job.c:{first}' in [row['line'] for row in table['rows']]


CLONES = [
    # whole, part, what is asked for, what is shown, and whether the part is shown, too
    ('one.constprop.0', 'one.cold', 'one', 'one.constprop.0 and one.cold', True),
    ('two.constprop.0.isra.0', 'two.part.3.lto_priv.0', 'two', 'two.constprop.0.isra.0 and two.part.3.lto_priv.0', True),
    ('three.llvm.77', 'three.cold.1', 'three.llvm.77', 'three.llvm.77', False),
    ('_ZN4Cart3addEi.isra.0.cold', '_ZN4Cart3addEi', 'add', 'Cart::add', True),
    ('four', 'four.other.0', 'four', 'four', False),
]


def test_clones_of_a_function_are_annotated_together(once, analyse):
    source = ['static volatile char *page;']
    for i, (whole, part, *_) in enumerate(CLONES):
        for name, symbol in (f'whole{i}', whole), (f'part{i}', part):
            source += [f'void {name}(int n) __asm__("{symbol}");',
                       f'__attribute__((noinline)) void {name}(int n) {{ while (n--) {{ *page = 1; page += 4096; }} }}']
    calls = ' '.join(f'whole{i}(300); part{i}(100);' for i in range(len(CLONES)))
    path = once('\n'.join([*source, f'int main(void) {{ page = pages(2500); {calls} }}', '']))
    for i, (_, _, asked, shown, together) in enumerate(CLONES):
        text = analyse('report', '--annotate', asked, path).text
        assert re.search(f'^source lines of {shown}, ', text, re.M), text
        lines = [line for line, (share, _, _) in lines_of(text).items() if share > 1]
        assert lines == ([4 * i + 3, 4 * i + 5] if together else [4 * i + 3]), text


def test_versions_of_symbols_may_be_left_out(faults, analyse, tmp_path):
    path = faults(CALLED)
    symbols = ['--redefine-sym', 'one=one@@V_2.17', '--redefine-sym', 'two=two@plt']
    subprocess.run(['objcopy', *symbols, tmp_path / 'job'], check=True)
    for name in 'one', 'one@@V_2.17':
        assert re.search(r'^source lines of one@@V_2\.17, ', analyse('report', '--annotate', name, path).text, re.M)
        assert re.search(r'^callers of one@@V_2\.17, ', analyse('report', '--callers', name, path).text, re.M)
        [table] = analyse('report', '--json', '--below', name, path).lines
        assert {row['function'] for row in table['rows']} & {'one@@V_2.17', 'two@plt'} == {'two@plt'}
    assert 'did you mean two@plt?' in analyse('report', '--callers', 'two', path, code=1).err       # a stub is another function


LAMBDAS = '''
static volatile char *page;
int main()
{
	page = pages(400);
	auto apart = [](int n) __attribute__((noinline)) { while (n--) { *page = 1; page += 4096; } };
	auto inlined = [](int n) __attribute__((always_inline)) { while (n--) { *page = 1; page += 4096; } };
	apart(200);
	inlined(200);
}
'''


@pytest.mark.deep
@pytest.mark.parametrize('compiler', ['g++', 'clang++'])
def test_a_lambda_has_one_spelling_inlined_or_not(once, analyse, compiler):
    if not shutil.which(compiler):
        pytest.skip(f'needs {compiler}')
    [table] = analyse('report', '--json', '--inline-rows', once(LAMBDAS, by=compiler)).lines
    rows = {row['function']: row['count'] for row in table['rows'] if 'main' in row['function']}
    assert rows['main::{lambda at job.cc:6}'] == rows['main::{lambda at job.cc:7}'] == 200, rows


# ---- instructions ------------------------------------------------------------------------

def instructions_of(text):
    """{address: (self, total, text)} of --annotate without source."""
    rows = re.findall(r'^(?: *([\d.]+) +([\d.]+))? +0x([0-9a-f]+)  (.*)$', text.partition('instructions of ')[2], re.M)
    return {int(at, 16): (float(s or 0), float(t or 0), text) for s, t, at, text in rows}


def with_capstone(prof):
    if 'libcapstone: no' in subprocess.run([prof, 'version', '--build-options'], capture_output=True, text=True).stdout:
        pytest.skip('needs a perf-prof with libcapstone')


def objdump(program, function):
    """{address: mnemonic}"""
    if not shutil.which('objdump'):
        pytest.skip('needs objdump')
    text = subprocess.run(['objdump', '-d', '--no-show-raw-insn', program], capture_output=True, text=True, check=True).stdout
    body = text.partition(f'<{function}>:\n')[2].partition('\n\n')[0]
    return {int(at, 16): word for at, word in re.findall(r'^ *([0-9a-f]+):\t(\S+)', body, re.M)}


def test_instructions_of_a_function_without_source(prof, once, analyse):
    with_capstone(prof)
    path = once(TWO_PLACES, '-g0')
    got = instructions_of(analyse('report', '--annotate', 'touch', path).text)
    theirs = objdump(path.parent / 'job', 'touch')
    assert set(got) <= set(theirs) and len(got) >= 5
    for at, (_, _, text) in got.items():            # AT&T: objdump leaves out suffixes that operands imply
        assert text.startswith(theirs[at][:3]), (text, theirs[at])
    stores = [row for row in got.values() if row[1]]
    assert [row[2][:4] for row in stores] == (['movb'] * 2 if platform.machine() == 'x86_64' else ['strb'] * 2)
    [table, annotated] = analyse('report', '--json', '--annotate', 'touch', path).lines
    [row] = [r for r in table['rows'] if r['function'] == 'touch']
    assert [r[0] for r in stores] == [pytest.approx(row['self'] / 2, abs=0.01)] * 2
    assert [r['address'] for r in annotated['rows']] == [at for at, r in got.items() if r[1]]
    assert annotated['function'] == 'touch' and 'file' not in annotated
    callers = instructions_of(analyse('report', '--annotate', 'main', once(TWO_PLACES, '-g0', '-O0')).text)
    calls = [r for r in callers.values() if r[1] > 30]
    assert len(calls) == 2 and all(r[0] == 0 and re.match(r'(callq?|bl) .* <touch>$', r[2]) for r in calls)


def test_hot_lines_have_their_hottest_instructions(prof, once, analyse):
    with_capstone(prof)
    path = once(TWO_PLACES)
    [_, annotated] = analyse('report', '--json', '--annotate', 'touch', path).lines
    theirs, source = objdump(path.parent / 'job', 'touch'), TWO_PLACES.splitlines()
    assert len(annotated['rows']) == 2
    for line in annotated['rows']:
        assert 'address' not in line and line['source'] == source[line['line'] - 1].replace('\t', ' ' * 8)
        [insn] = line['instructions']
        assert set(insn) == {'self', 'total', 'address', 'instruction'}
        assert (insn['self'], insn['total']) == (line['self'], line['total']) and insn['instruction'][:3] == theirs[insn['address']][:3]
    shown = re.findall(r'^ *([\d.]+) +[\d.]+ +\| 0x([0-9a-f]+)  (.*)$', analyse('report', '--annotate', 'touch', path).text, re.M)
    insns = [line['instructions'][0] for line in annotated['rows']]
    assert [(int(at, 16), text) for _, at, text in shown] == [(i['address'], i['instruction']) for i in insns]
    [_, annotated] = analyse('report', '--json', '--annotate', 'main', once(TWO_PLACES, '-O0')).lines
    calls = [i for line in annotated['rows'] if line['source'].strip() == 'touch(200);' for i in line['instructions']]
    assert len(calls) == 2 and all(i['self'] == 0 and re.match(r'(callq?|bl) .* <touch>$', i['instruction']) for i in calls), calls


RETURNS = '''volatile int sink;
__attribute__((noinline)) void callee(void) { sink++; }
__attribute__((noinline)) void caller(void)
{
	callee();
	sink = 5;
}
int main(void) { caller(); return 0; }
'''


@pytest.mark.skipif(not os.path.exists('/sys/kernel/tracing/uprobe_events'), reason='needs uprobes')
def test_a_return_probe_is_in_the_line_of_the_call(analyse, tmp_path):
    """Its address is where the function returns to, which may be the next line, or the next function."""
    compiled(tmp_path, RETURNS)
    probe = f'uretprobe:callee@"{tmp_path}/job"'
    live = analyse('trace', '-q', '-g', '-e', probe, '--', './job').text
    assert re.search(r'\n +[0-9a-f]+ caller\+0x\w+ \(\S+/job\) \S+/job\.c:5\n', live)
    analyse('record', '-q', '-g', '-o', 'in', '-e', probe, '--', './job')
    assert re.search(r' caller\+0x\w+\n +\S+/job\.c:5\n', analyse('script', '-I', 'in', '-F', 'event,ip,sym,symoff,srcline').text)
    assert re.search(r'\n +[0-9a-f]+ caller\+0x\w+ .* \S+/job\.c:5\n', analyse('trace', '-q', '-I', 'in').text)
