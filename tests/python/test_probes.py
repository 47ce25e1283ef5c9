# SPDX-License-Identifier: Apache-2.0
"""Probes in event lists: arguments as fields, filters on them, and nothing left behind."""
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

from frame.session import ran, until

pytestmark = pytest.mark.live('tracefs', 'root')

UPROBES = '/sys/kernel/tracing/uprobe_events'

SCRIPT = '''
import json

def show(handler, e):
    print(json.dumps({'handler': handler, **e.to_dict()}), flush=True)

on = False

def __interval__():
    global on
    if not on:
        on = print('on', flush=True) is None

def __sample__(e):
    show('__sample__', e)
'''


@pytest.fixture
def probed(helper):
    path = helper('probed')
    if not os.path.exists(UPROBES):
        pytest.skip('needs uprobes (CONFIG_UPROBE_EVENTS)')
    return path


def definitions():
    """The lines of probes that perf-prof made."""
    with open(UPROBES) as f:
        return [line for line in f if ':perf_prof_' in line]


def own(pid):
    return [line for line in definitions() if re.search(rf'perf_prof_\d+_{pid}_', line)]


def wait_for_line(run, wanted):
    line = run.stdout.readline()
    while line != wanted + '\n':
        assert line, run.communicate()
        line = run.stdout.readline()


def trace(prof, probed, tmp_path, events, n=3, handlers=''):
    """Events of `probed`, and where its function add() is."""
    script = tmp_path / 's.py'
    script.write_text(SCRIPT + handlers)
    with subprocess.Popen([probed, str(n)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as target:
        words = target.stdout.readline().split()
        run = subprocess.Popen([prof, 'python', '--order', '-i', '20', '-e', events, '-p', words[1], script],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            wait_for_line(run, 'on')
            target.stdin.close()
            out, err = run.communicate(timeout=30)
        finally:
            run.kill()
    assert (run.returncode, err) == (0, '')
    assert own(run.pid) == []
    return [json.loads(line) for line in out.splitlines()], int(words[3], 0)


A = '//args="a=%di:s64"/'

# (event of `probed`, how often it is called, {field: its values})
FIELDS = [
    ('uprobe:add@{}//args="a=%di:s64 text=+0(%si):string c=%dx:s32"/', 3, {'a': [0, 1, 2], 'text': ['two'] * 3, 'c': [-3] * 3}),
    ('uprobe:add@{}//args="$arg1 c=$arg3:s32"/', 3, {'arg1': [0, 1, 2], 'c': [-3] * 3}),
    ('uretprobe:add@{}//args="ret=$retval:s64"/', 3, {'ret': [-3, -2, -1]}),
    ('uprobe:add@{}/a>=5/args="a=%di:s64"/', 8, {'a': [5, 6, 7]}),
    ('uprobe:add@{}/a*2==c+13 && text=="two"/args="a=%di:s64 text=+0(%si):string c=%dx:s32"/', 8, {'a': [5]}),   # which only we can do
    ('usdt:test:args@{}', 3, {'arg1': [0, 1, 2], 'arg2': [-7] * 3, 'arg3': [-1] * 3, 'arg4': [42] * 3,
                              '_event': ['usdt:test:args'] * 3}),
    ('usdt:test:twice@{}', 2, {'arg1': [0, 1000, 1, 1001]}),            # at two places
    ('usdt:test:guarded@{}', 3, {'arg1': [0, 1, 2]}),                   # behind a semaphore
    ('usdt:test:args@{}//args="i=arg1:s8 arg4 *"/', 3, {'i': [0, 1, 2], 'arg1': [0, 1, 2], 'arg2': [-7] * 3, 'arg4': [42] * 3}),
    ('usdt:test:text@{}//args="what=arg1:string"/', 3, {'what': ['pear'] * 3}),
]


@pytest.mark.parametrize('event, n, fields', FIELDS, ids=[event for event, _, _ in FIELDS])
def test_arguments_are_fields(prof, probed, tmp_path, event, n, fields):
    events, add = trace(prof, probed, tmp_path, event.format(f'"{probed}"'), n)
    assert {field: [e[field] for e in events] for field in fields} == fields
    if ':add@' in event:
        assert all(e['ip'] == add == e.get('__probe_ip', add) for e in events)
    else:
        assert len({e['ip'] for e in events}) == len(fields['arg1']) // n if 'twice' in event else 1


def symbol(path, name):
    """(the address, the size) of a function."""
    at, size = re.search(rf'^\s*\d+: (\w+)\s+(\d+) .* {name}$', ran(['readelf', '-sW', path], check=True).stdout, re.M).groups()
    return int(at, 16), int(size)


def test_an_offset_and_an_address_in_the_file(prof, probed, tmp_path):
    """Offset 0 by number is the function's start by name."""
    at, _ = symbol(probed, 'add')
    events, add = trace(prof, probed, tmp_path, f'uprobe:{at:#x}@"{probed}",uprobe:add+0@"{probed}"//alias=named/')
    assert {e['_event'] for e in events} == {f'uprobe:{at:#x}', 'named'}
    assert {e['ip'] for e in events} == {add}


def test_several_addresses_are_one_event(prof, probed, tmp_path):
    places = ' '.join(f'{symbol(probed, name)[0]:#x}' for name in ('add', '_ZN4shop4Cart3payEv'))
    events, _ = trace(prof, probed, tmp_path, f'uprobe:\'{places}\'@"{probed}"//alias=both/')
    assert [e['_event'] for e in events] == ['both'] * 6 and len({e['ip'] for e in events}) == 2
    assert 'has no function' in refuses(prof, f"uprobe:'{places} 0x'@{probed}")


def refuses(prof, item, status=2):
    done = ran([prof, 'trace', '-e', item, '-N', '1', '-p', str(os.getpid())])
    assert done.returncode == status, done
    return done.stderr


@pytest.mark.parametrize('function, size', [('add', None), ('0x7fffffffffff', 'file')])
def test_an_offset_beyond_the_end(prof, probed, function, size):
    if size:
        said = refuses(prof, f'uprobe:{function}@{probed}')
        assert re.search(rf'byte {function} is beyond the end of \S+ \({os.path.getsize(probed)} bytes\)$', said, re.M), said
        return
    _, size = symbol(probed, function)
    for offset in size, 99999:
        said = refuses(prof, f'uprobe:{function}+{offset}@{probed}')
        assert f'+{offset} is beyond the end of {function} ({size} bytes)\n' in said and 'config' not in said


def test_an_offset_inside_of_an_instruction(prof, probed, tmp_path):
    """The kernel would put its breakpoint there, and the program would run into another instruction."""
    built = ran([prof, 'version', '--build-options'], check=True).stdout
    if not re.search(r'libcapstone: \d', built) or os.uname().machine not in ('x86_64', 'aarch64'):
        pytest.skip('needs libcapstone, and x86-64 or arm64')
    code = ran(['objdump', '-d', '--no-show-raw-insn', '--disassemble=add', probed], check=True).stdout
    starts = [int(at, 16) for at in re.findall(r'^ +(\w+):\t', code, re.M)]
    starts = [at - starts[0] for at in starts]
    before, after = next((a, b) for a, b in zip(starts, starts[1:]) if b - a > 1)
    said = refuses(prof, f'uprobe:add+{before + 1}@{probed}')
    assert f'add+{before + 1} is inside of an instruction, and a probe there would crash the program\n' in said
    assert f'expected: the start of an instruction: add+{before} or +{after}\n' in said
    events, add = trace(prof, probed, tmp_path, f'uprobe:add+{after}@"{probed}"')
    assert {e['ip'] for e in events} == {add + after}


def test_a_path_with_blanks(prof, probed, tmp_path):
    odd = tmp_path / 'a b:c(d)'
    odd.write_bytes(open(probed, 'rb').read())
    odd.chmod(0o755)
    events, _ = trace(prof, str(odd), tmp_path, f'uprobe:add@"{odd}"{A}')
    assert [e['a'] for e in events] == [0, 1, 2]


# ---------------------------------------------------------------- what is left behind

IDLE = 'def __interval__():\n    print("on", flush=True)\ndef __sample__(e): pass\n'


def start(prof, probed, tmp_path, text=IDLE):
    (tmp_path / 'idle.py').write_text(text)
    run = subprocess.Popen([prof, 'python', '-i', '20', '-e', f'uprobe:add@"{probed}"', tmp_path / 'idle.py'],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for_line(run, 'on')
    assert len(own(run.pid)) == 1
    return run


@pytest.mark.parametrize('name', ['INT', 'TERM', 'HUP', 'KILL', 'ABRT'])
def test_no_probe_is_left_after_a_signal(prof, probed, tmp_path, name):
    run = start(prof, probed, tmp_path)
    run.send_signal(getattr(signal, 'SIG' + name))
    run.communicate(timeout=20)
    if name in ('INT', 'TERM'):
        assert own(run.pid) == []
    else:
        until(lambda: not own(run.pid))


def pending(pid, number):
    with open(f'/proc/{pid}/status') as status:
        return any(int(mask, 16) >> number - 1 & 1 for mask in re.findall(r'(?:Sig|Shd)Pnd:\s*(\w+)', status.read()))


def test_no_probe_is_left_after_a_second_signal(prof, probed, tmp_path):
    run = start(prof, probed, tmp_path,
                'def __interval__():\n    print("on", flush=True)\n    while True: pass\n'
                'def __sample__(e): pass\n')
    run.send_signal(signal.SIGINT)
    until(lambda: not pending(run.pid, signal.SIGINT))
    while run.poll() is None:            # what follows at once is the same request
        run.send_signal(signal.SIGINT)
        time.sleep(0.3)
    run.communicate(timeout=20)
    assert run.returncode == 130
    until(lambda: not own(run.pid))


@pytest.mark.parametrize('text, more, code', [
    ('raise ValueError', '', 1), ('import sys; sys.exit(3)', '', 3), ('def __init__(): raise ValueError', '', 1), ('def f(: pass', '', 1),
    ('x = 1', '', 2), ('def __sample__(e): pass', ',uprobe:nosuch@"{}"', 2)])
def test_no_probe_is_left_after_a_bad_script_or_event(prof, probed, tmp_path, text, more, code):
    (tmp_path / 's.py').write_text(text + '\n')
    run = subprocess.Popen([prof, 'python', '-e', f'uprobe:add@"{probed}"' + more.format(probed), tmp_path / 's.py'],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    err = run.communicate(timeout=20)[1]
    assert run.returncode == code and own(run.pid) == [] and (not more or 'nosuch' in err), err


def write_definition(line):
    fd = os.open(UPROBES, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(fd, line.encode() + b'\n')
    finally:
        os.close(fd)


def test_leftovers_of_dead_processes_are_removed(prof, probed, tmp_path):
    """And of nobody else: not of who lives, not of another pid namespace, not by a like name."""
    ns = re.search(r'\d+', os.readlink('/proc/self/ns/pid')).group()
    child = subprocess.Popen(['true'])
    child.wait()
    start_time = pathlib.Path('/proc/self/stat').read_text().rsplit(')', 1)[1].split()[19]
    dead = f'perf_prof_{ns}_{child.pid}_1'
    others = [f'perf_prof_{ns}_{os.getpid()}_{start_time}', f'perf_prof_1{ns}_{child.pid}_1',
              'perf_prof_mine', f'perf_prof_{ns}_{child.pid}_1x']
    at, _ = symbol(probed, 'add')
    try:
        for group in [dead] + others:
            write_definition(f'p:{group}/p1 {probed}:{at:#x}')
        trace(prof, probed, tmp_path, f'uprobe:add@"{probed}"')
        left = ''.join(definitions())
        assert dead + '/' not in left
        assert all(group + '/' in left for group in others)
    finally:
        for group in [dead] + others:
            with contextlib.suppress(OSError):
                write_definition(f'-:{group}/p1')


@pytest.mark.live('nobody')
def test_no_probe_is_left_where_privileges_were_dropped(prof, probed, tmp_path):
    (tmp_path / 's.py').write_text('import os\ndef __sample__(e): pass\n'
                                   'def __interval__():\n    print(os.getuid())\n    raise SystemExit\n')
    for folder in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        folder.chmod(0o755)
    run = subprocess.Popen([prof, 'python', '--user', 'nobody', '-i', '50', '-e', f'uprobe:add@"{probed}"',
                            tmp_path / 's.py'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, err = run.communicate(timeout=20)
    assert (run.returncode, err) == (0, '')
    assert out.splitlines()[1:] == ['65534']
    assert own(run.pid) == [] and not any(probed in line for line in definitions())


# ---- recorded

def recorded(prof, probed, tmp_path, events):
    path = tmp_path / 'perf.data'
    subprocess.run([prof, 'record', '-q', '-o', path, '-e', events, '--', probed, '3'], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, check=True)
    return path


def names(prof, path, *args):
    """What `script` calls each event."""
    done = ran([prof, 'script', '-I', path, '--json', *args], check=True)
    return [json.loads(line)['event'] for line in done.stdout.splitlines()]


ARGS = '//args="a=%di:s64"'


@pytest.mark.parametrize('attrs, name', [(f'{ARGS}/', 'uprobe:add'), (f'{ARGS}/alias=my/', 'my')])
def test_a_recording_has_the_name_it_was_made_with(prof, probed, tmp_path, attrs, name):
    item = f'uprobe:add@"{probed}"'
    path = recorded(prof, probed, tmp_path, item + attrs)
    assert names(prof, path) == [name] * 3
    for which in (item + attrs, item, 'uprobe:add', 'uprobe:*', name):
        assert names(prof, path, '-e', which) == [name] * 3, which
    assert names(prof, path, '-e', f'{item}/a>0/') == [name] * 2
    assert names(prof, path, '-e', f'{item}//alias=other/') == ['other'] * 3
    wrong = ran([prof, 'script', '-I', path, '-e', 'uprobe:ad'])
    assert (wrong.returncode, f'did you mean {name}?' in wrong.stderr) == (2, name != 'my')
    assert 'perf_prof_' not in wrong.stderr
    report = ran([prof, 'report', '-I', path, '-e', name], check=True)
    assert f'3 samples of {name},' in report.stdout
    diff = ran([prof, 'diff', '-e', name, path, path], check=True)
    assert name in diff.stdout + diff.stderr


def test_the_same_script_live_and_recorded(prof, probed, tmp_path):
    """Each with its own function."""
    handlers = ''.join(f'def {name}(e): show("{name}", e)\n' for name in ('uprobe_add', 'back', 'usdt_test_args'))
    events = f'uprobe:add@"{probed}"{ARGS}/,uretprobe:add@"{probed}"//alias=back/,usdt:test:args@"{probed}"'
    live, _ = trace(prof, probed, tmp_path, events, handlers=handlers)
    path = recorded(prof, probed, tmp_path, events)
    done = ran([prof, 'python', '-I', path, tmp_path / 's.py'], check=True)
    read = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{')]

    def told(rows):
        return [(row['handler'], row.get('a'), sorted(row)) for row in rows]
    assert told(read) == told(live)
    assert [row[0] for row in told(live)[:3]] == ['uprobe_add', 'back', 'usdt_test_args']


def test_two_aliases_of_one_probe(prof, probed, tmp_path):
    events = f'uprobe:add@"{probed}"/a==0/args="a=%di:s64"/alias=one/,uprobe:add@"{probed}"/a>0/args="a=%di:s64"/alias=two/'
    path = recorded(prof, probed, tmp_path, events)
    assert names(prof, path) == names(prof, path, '-e', events) == ['one', 'two', 'two']
    assert names(prof, path, '-e', 'two') == ['two'] * 2


# ---- names as people write them

CPP = 'shop::Cart::add(long, char const*)'


@pytest.mark.parametrize('name', [
    '_ZN4shop4Cart3addElPKc', f"'{CPP}'", "'shop::Cart::add(long,char const*)'", "'shop::Cart::add(long, *)'"])
def test_functions_by_the_names_that_nm_shows(prof, probed, tmp_path, name):
    events, _ = trace(prof, probed, tmp_path, f'uprobe:{name}@{probed}//args="id=$arg1:s64 name=+0($arg2):string"/')
    assert [(e['id'], e['name']) for e in events] == [(i, 'pear') for i in range(3)]


def test_functions_without_their_parameters(prof, probed, tmp_path):
    names = ['shop::Cart::pay', "'shop::biggest<int>'", 'shop::biggest', "'int shop::biggest<int>(int, int)'"]
    events, _ = trace(prof, probed, tmp_path, ','.join(f'uretprobe:{name}@{probed}' for name in names))
    for name in names:
        shown = name.strip("'")
        assert [e['_event'] for e in events].count(f'uretprobe:{shown}') == 3, name


def test_a_glob_is_an_event_for_each_function(prof, probed, tmp_path):
    events, _ = trace(prof, probed, tmp_path, f"uprobe:'shop::Cart::*'@{probed}/common_pid>0/", n=1,
                      handlers='def uprobe_shop__Cart__pay(e): show("pay", e)\n')
    assert [(e['handler'], e.get('_event')) for e in events] == [
        ('__sample__', f'uprobe:{CPP}'), ('__sample__', 'uprobe:shop::Cart::add(char)'), ('pay', None)]


def test_a_glob_of_usdt_probes(prof, probed, tmp_path):
    events, _ = trace(prof, probed, tmp_path, f'usdt:test:*@{probed}', n=1)
    assert [(e['_event'], e['arg1'] if e['arg1'] < 1 << 12 else 0) for e in events] == [
        ('usdt:test:args', 0), ('usdt:test:text', 0), ('usdt:test:twice', 0), ('usdt:test:twice', 1000), ('usdt:test:guarded', 0)]


def refused(prof, probed, events):
    done = ran([prof, 'trace', '-e', events], cwd=os.path.dirname(probed))
    assert (done.returncode, done.stdout) == (2, '')
    return done.stderr.splitlines()


@pytest.mark.parametrize('event, first, last', [
    ('uprobe:shop::Cart::add@./probed//stack/', 'has several functions shop::Cart::add',
     ['expected: one of', "  uprobe:'shop::Cart::add(char)'@./probed", f"  uprobe:'{CPP}'@./probed"]),
    ('uprobe:Cart::pay@./probed', 'has no function ', ["did you mean uprobe:'shop::Cart::pay()'@./probed?"]),
    ('uprobe:shop::bigest@./probed', 'has no function ', ['did you mean uprobe:shop::biggest@./probed?']),
    ('uprobe:shop::Cart::pya@./probed', 'has no function ', ['did you mean uprobe:shop::Cart::pay@./probed?']),
    ("uprobe:'shop::Cart::add(int)'@./probed", 'has no function ',
     ['did you mean one of', "  uprobe:'shop::Cart::add(char)'@./probed", f"  uprobe:'{CPP}'@./probed"]),
    ('uprobe:biggest@./probed', 'has no function ', ["did you mean uprobe:'shop::biggest<int>(int, int)'@./probed?"]),
    ('usdt:other:twice@./probed', '', ['did you mean usdt:test:twice@./probed?']),
    ('usdt:test:twcie@./probed', '', ['did you mean usdt:test:twice@./probed?']),
])
def test_what_there_is_instead_is_listed(prof, probed, event, first, last):
    lines = refused(prof, probed, event)
    assert lines[0].startswith(f'perf-prof: ./probed {first}') or not first
    assert lines[2].strip() == '^' and lines[3:] == last


def listed(prof, probed, *args):
    done = ran([prof, 'list', *args], cwd=os.path.dirname(probed))
    assert (done.returncode, done.stderr) == (0, '')
    return done.stdout.splitlines()


def test_the_functions_of_a_file_are_listed_as_events_take_them(prof, probed):
    lines = listed(prof, probed, './probed')
    assert {'  uprobe:main@./probed', '  uprobe:add@./probed', f"  uprobe:'{CPP}'@./probed",
            "  uprobe:'shop::biggest<int>(int, int)'@./probed"} <= set(lines)
    assert lines[0].split() == ['USDT', 'probe', 'arguments'] and 'Function' in lines
    assert listed(prof, probed, 'uprobe:shop::Cart::add@./probed') == [
        'Function', "  uprobe:'shop::Cart::add(char)'@./probed", f"  uprobe:'{CPP}'@./probed"]


def test_usdt_probes_are_listed(prof, probed):
    lines = listed(prof, probed, '--usdt', './probed')
    assert [re.split('  +', line.strip()) for line in lines[1:]] == [
        ['usdt:test:args@./probed', 'arg1:u64 arg2:s32 arg3:s8 arg4:s32'], ['usdt:test:guarded@./probed', 'arg1:u64'],
        ['usdt:test:text@./probed', 'arg1:u64'], ['usdt:test:twice@./probed', 'arg1:u64']]
    with subprocess.Popen([probed, '0'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as target:
        target.stdout.readline()
        of_pid = listed(prof, probed, '--usdt', '-p', str(target.pid), '--json')
        target.stdin.close()
    names = [e['name'] for e in json.loads('\n'.join(of_pid))['events'] if e['kind'] == 'usdt']
    assert f'usdt:test:args@{probed}' in names


def test_probes_of_a_run_are_not_listed(prof, probed, tmp_path):
    """They are gone when it ends."""
    run = start(prof, probed, tmp_path)
    assert not [line for line in listed(prof, probed) if 'perf_prof_' in line]
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=20)


# ---- arguments by name

@pytest.fixture
def dwarf(need):
    need('elfutils')
    if os.uname().machine not in ('x86_64', 'aarch64'):
        pytest.skip('needs x86-64 or arm64')


@pytest.fixture(params=['probed', 'probed_plain'])
def described(dwarf, probed, request):
    """With and without optimization: where the code describes its parameters differs."""
    return os.path.join(os.path.dirname(probed), request.param)


def values(events, *names):
    return [tuple(e[name] for name in names) for e in events]


def test_parameters_and_their_members_by_name(prof, described, tmp_path):
    events, _ = trace(prof, described, tmp_path,
                      f'uprobe:order@{described}//args="count small text mode big=last item->id label=item->label name=item->name.text '
                      'n=item->next->id l=item->next->label"/')
    assert values(events, 'count', 'small', 'text', 'mode', 'big') == [(i - 1, 200, 'text', -1, 1 << 40) for i in range(3)]
    assert values(events, 'id', 'label', 'name', 'n', 'l') == [(11, 'first', 'a', 22, 'second')] * 3


def test_all_parameters(prof, described, tmp_path):
    """But for those that a probe cannot fetch: numbers with a fraction, and structures in registers."""
    events, _ = trace(prof, described, tmp_path, f'uprobe:order@{described}//args="text:x64 *"/', n=1)
    own = {'count': -1, 'small': 200, 'mode': -1, 'last': 1 << 40}
    assert {name: events[0][name] for name in own} == own
    assert events[0]['text'] > 1 << 12 and events[0]['item'] > 1 << 12
    assert not {'price', 'pair'} & set(events[0])


LANGUAGES = {'Rust': (0x1c, {'count': -1, 'small': 200}), 'Fortran': (0x0e, {})}


@pytest.mark.parametrize('language', LANGUAGES)
def test_other_languages_than_c(dwarf, prof, probed, tmp_path, language):
    """Rust has no rule for where structures and what follows them are; of others, only what the debug information says counts."""
    code, known = LANGUAGES[language]
    plain, other, info = os.path.join(os.path.dirname(probed), 'probed_plain'), tmp_path / 'probed', tmp_path / 'info'
    subprocess.run(['objcopy', '--dump-section', f'.debug_info={info}', plain, other], check=True)
    # behind the unit's head: the number of its kind of entry, its producer, and the language
    unit = bytearray(info.read_bytes())
    unit[(12 if unit[4] == 5 else 11) + 1 + 4] = code
    info.write_bytes(unit)
    subprocess.run(['objcopy', '--update-section', f'.debug_info={info}', plain, other], check=True)
    shown = ran(['readelf', '--debug-dump=info', '--dwarf-depth=1', other], check=True)
    if not re.search(f'DW_AT_language .*{language}', shown.stdout):
        pytest.skip('this compiler has other units')
    events, _ = trace(prof, str(other), tmp_path, f'uprobe:order@{other}//args="first=$arg1:s32 *"/', n=1)
    assert events[0]['first'] == -1
    assert {name: events[0][name] for name in ('count', 'small', 'mode', 'last') if name in events[0]} == known


def test_filters_on_parameters(prof, described, tmp_path):
    events, _ = trace(prof, described, tmp_path, f'uprobe:order@{described}/count>0 && text=="text"/args="count text"/', n=4)
    assert values(events, 'count') == [(1,), (2,)]


def test_the_result_by_name(prof, described, tmp_path):
    events, _ = trace(prof, described, tmp_path, f'uretprobe:order@{described}//args=ret/,uretprobe:add@{described}//args="sum=ret"/', n=1)
    assert [(e['_event'], e.get('ret'), e.get('sum')) for e in events] == [('uretprobe:add', None, -3), ('uretprobe:order', 'ext', None)]


@pytest.mark.parametrize('event, message, expected', [
    ('uprobe:order@./probed//args=cuont/', 'order has no parameter cuont', 'did you mean count?'),
    ('uprobe:order@./probed//args="count zzz"/', 'order has no parameter zzz',
     'expected: one of its parameters: count, small, text, price, item, pair, large, mode, last'),
    ('uprobe:order@./probed//args=price/', 'a probe cannot fetch price: it is a floating-point number', 'expected: another parameter'),
    ('uprobe:order@./probed//args="item->nosuch"/', 'cannot fetch item->nosuch of order: there is no such member', 'expected: a member'),
    ('uprobe:order@./probed//args="item->bits"/', 'cannot fetch item->bits of order: it is a bit field',
     "expected: another member, or the kernel's type"),
    ('uprobe:order@./probed//args="item->name.text[1]"/', 'an element of an array cannot be fetched', 'expected: the array'),
    ('uprobe:order@./probed//args="count->id"/', 'cannot fetch count->id of order: the part before', 'expected: a member of a structure'),
    ('uprobe:look@./probed//args="far->beyond"/', 'cannot fetch far->beyond of look: its offset is too large', 'expected: a member'),
    ('uprobe:order@./probed//args="item->id item->next->id"/', 'two arguments have the name id', 'expected: a name of its own'),
    ('uprobe:order+4@./probed//args=count/', "names of parameters are for a function's first byte", 'expected: $arg1'),
    ('uretprobe:order@./probed//args=count/', 'when a function returns, only its result has a value', 'expected: ret'),
    ('usdt:test:args@./probed//args=arg9/', 'test:args has no argument arg9', 'expected: one of those'),
])
@pytest.mark.slow     # instructions are others with sanitizers
def test_names_of_no_parameter(dwarf, prof, probed, event, message, expected):
    lines = refused(prof, probed, event)
    assert message in lines[0] and lines[2].endswith('^') and lines[3].startswith(expected)


def test_without_debug_information_there_are_no_names(dwarf, prof, probed, tmp_path, monkeypatch):
    monkeypatch.setenv('HOME', str(tmp_path))     # another test may have recorded the program, and kept it
    subprocess.run(['strip', '-g', '-o', tmp_path / 'probed', probed], check=True)
    lines = refused(prof, str(tmp_path / 'probed'), 'uprobe:order@./probed//args=count/')
    assert './probed has no debug information on order' in lines[0]
    assert re.match(r'expected: a program compiled with -g, or its debug file, .* in /usr/lib/debug/\.build-id, .* beside the file, '
                    r'in \.debug/ there .*; else \$arg1 to \$arg6$', lines[3]), lines


@pytest.mark.parametrize('version', ['-gdwarf-4', '-gdwarf-5'])
def test_split_debug_information_is_not_read(dwarf, prof, probed, tmp_path, version):
    (tmp_path / 'job.c').write_text(NESTED)
    subprocess.run(['gcc', '-O1', version, '-gsplit-dwarf', '-o', 'job', 'job.c'], cwd=tmp_path, check=True)
    lines = refused(prof, str(tmp_path / 'job'), 'uprobe:nest@./job//args=n/')
    assert 'the debug information of ./job on nest is in .dwo files (-gsplit-dwarf), which perf-prof does not read' in lines[0]
    assert lines[3] == 'expected: a program compiled with -g and without -gsplit-dwarf; else $arg1 to $arg6'


@pytest.mark.parametrize('folder', ['.', '.debug', 'a folder'])       # whose name cannot be in a probe's definition
@pytest.mark.parametrize('strip', ['-g', '-s'])
def test_parameters_by_the_debug_link(dwarf, prof, probed, tmp_path, folder, strip):
    """With -g the file itself still names its functions."""
    home = tmp_path / folder if ' ' in folder else tmp_path
    debug = tmp_path / folder / 'probed.debug'
    debug.parent.mkdir(exist_ok=True)
    for words in (['objcopy', '--only-keep-debug', probed, debug], ['strip', strip, '-R', '.note.gnu.build-id', '-o', 'probed', probed],
                  ['objcopy', f'--add-gnu-debuglink={debug}', 'probed']):
        subprocess.run(words, cwd=home, check=True)
    events, _ = trace(prof, str(home / 'probed'), tmp_path, f'uprobe:order@"{home}/probed"//args="count item->id"/')
    assert values(events, 'count', 'id') == [(i - 1, 11) for i in range(3)]
    with open(debug, 'ab') as file:
        file.write(b'x')          # its checksum is another one now
    assert any('no debug information' in line or 'stripped' in line for line in refused(
        prof, str(home / 'probed'), 'uprobe:order@./probed//args=count/'))


def test_functions_that_choose_others_are_named(prof, probed):
    """IFUNC: libc has such functions on most machines."""
    with open('/proc/self/maps', encoding='utf-8', errors='replace') as maps:
        libc = re.search(r'/\S*libc\.so\.6', maps.read())
    symbols = libc and ran(['readelf', '--dyn-syms', '-W', libc.group()], check=True).stdout
    chooser = re.search(r' IFUNC .* (\w+)@@', symbols or '')
    if not chooser:
        pytest.skip('needs a libc with IFUNC functions')
    done = ran([prof, 'trace', '-e', f'uprobe:{chooser.group(1)}@{libc.group()}', '--', 'true'])
    assert done.returncode == 0
    assert f'{chooser.group(1)} is chosen for this CPU when a program starts' in done.stderr


LONG_NAMES = '''
namespace shop {
struct %(word)s {};
template<class A, class B> struct Pair {};
template<class T> __attribute__((noinline)) int add(T *t, int n) { __asm__ volatile("" : "+r"(n)); return n; }
}
extern "C" __attribute__((noinline)) int %(word)s_%(word)s(int n) { __asm__ volatile("" : "+r"(n)); return n; }
using Two = shop::Pair<shop::%(word)s, shop::%(word)s>;
using Four = shop::Pair<Two, Two>;
int main(int argc, char **argv) { return shop::add((shop::Pair<Four, Four> *)argv, %(word)s_%(word)s(argc)) - argc; }
'''


def test_long_names_are_listed_whole_and_accepted(prof, tmp_path):
    (tmp_path / 'job.cc').write_text(LONG_NAMES % {'word': 'w' * 200})
    subprocess.run(['g++', '-O1', '-o', tmp_path / 'job', tmp_path / 'job.cc'], check=True)
    events = [line.strip() for line in listed(prof, tmp_path / 'job', './job') if 'wwww' in line]
    assert len(events) == 2 and min(map(len, events)) > 400 and max(map(len, events)) > 2000
    done = ran([prof, 'trace', '-e', ','.join(events), '--', './job'], cwd=tmp_path)
    assert (done.returncode, done.stdout.count(' uprobe:')) == (0, 2), done.stderr


def test_top_has_a_column_for_each_probe_by_its_name(prof, probed, tmp_path):
    done = ran([prof, 'top', '--json', '-e', f'uprobe:add@{probed},uprobe:shop::Cart::*@{probed}', '--', probed, '3'],
               stdin=subprocess.DEVNULL, cwd=tmp_path)
    table = next(json.loads(line) for line in done.stdout.splitlines() if line.startswith('{'))
    names = {c['name'] for c in table['columns']} - {'key', 'name'}
    assert len(names) >= 3 and all(re.match('uprobe_(add|shop_cart_(add|pay))', name) for name in names), table
    [row] = table['rows']
    assert all(row[name] == 3 for name in names), table


NESTED = '''
int calls;
__attribute__((noipa)) void nest(int n) { if (n) nest(n - 1); calls++; }
int main(void) { for (int i = 0; i < 3; i++) nest(4); return 0; }
'''


@pytest.mark.parametrize('depth, said', [(4, True), (0, False)])
def test_latency_of_a_function_that_calls_itself(prof, probed, tmp_path, depth, said):
    (tmp_path / 'job.c').write_text(NESTED.replace('nest(4)', f'nest({depth})'))
    subprocess.run(['gcc', '-O1', '-o', tmp_path / 'job', tmp_path / 'job.c'], check=True)
    done = ran([prof, 'latency', '-e', 'uprobe:nest@./job', '-e', 'uretprobe:nest@./job', '--', './job'], cwd=tmp_path)
    assert done.returncode == 0, done
    assert ('incomplete pairs: 12 ends without a start, 12 starts with another start before the end\ncalls within calls of the same key'
            in done.stdout) == ('are measured only at the innermost level' in done.stdout) == said, done.stdout
