# SPDX-License-Identifier: Apache-2.0
"""Probes in event lists: arguments as fields, filters on them, and nothing left behind."""
import json
import os
import re
import signal
import subprocess
import time

import pytest

from frame import requires

UPROBES = '/sys/kernel/tracing/uprobe_events'

for word in ('tracefs', 'root'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))

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
def probed(build):
    path = os.path.join(build, 'tests/helpers/probed')
    if not os.path.exists(path):
        pytest.skip('needs <sys/sdt.h> (systemtap-sdt-dev)')
    if not os.path.exists(UPROBES):
        pytest.skip('needs uprobes (CONFIG_UPROBE_EVENTS)')
    return path


def definitions():
    """The lines of probes that perf-prof made."""
    with open(UPROBES) as f:
        return [line for line in f if ':perf_prof_' in line]


def wait_until(what, seconds=10):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.01)


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


def test_arguments_are_fields(prof, probed, tmp_path):
    events, add = trace(prof, probed, tmp_path,
                        f'uprobe:add@"{probed}"//args="a=%di:s64 text=+0(%si):string c=%dx:s32"/')
    assert [(e['a'], e['text'], e['c']) for e in events] == [(i, 'two', -3) for i in range(3)]
    assert all(e['ip'] == add == e['__probe_ip'] for e in events)
    assert all(e['_event'] == 'uprobe:add' for e in events)


def test_without_arguments_there_is_the_address(prof, probed, tmp_path):
    events, add = trace(prof, probed, tmp_path, f'uprobe:add@"{probed}"')
    assert [e['ip'] for e in events] == [add] * 3


def test_numbered_arguments_of_functions(prof, probed, tmp_path):
    events, _ = trace(prof, probed, tmp_path, f'uprobe:add@"{probed}"//args="$arg1 c=$arg3:s32"/')
    assert [(e['arg1'], e['c']) for e in events] == [(0, -3), (1, -3), (2, -3)]


def test_the_value_that_is_returned(prof, probed, tmp_path):
    events, add = trace(prof, probed, tmp_path, f'uretprobe:add@"{probed}"//args="ret=$retval:s64"/')
    assert [e['ret'] for e in events] == [-3, -2, -1]
    assert all(e['ip'] == add for e in events)


def test_an_offset_and_an_address_in_the_file(prof, probed, tmp_path):
    """Offset 0 by number is the function's start by name."""
    line = subprocess.run(['readelf', '-sW', probed], capture_output=True, text=True, check=True).stdout
    at = int(re.search(r'^\s*\d+: (\w+) .* add$', line, re.M).group(1), 16)
    events, add = trace(prof, probed, tmp_path,
                        f'uprobe:{at:#x}@"{probed}",uprobe:add+0@"{probed}"//alias=named/')
    assert {e['_event'] for e in events} == {f'uprobe:{at:#x}', 'named'}
    assert {e['ip'] for e in events} == {add}


def test_several_addresses_are_one_event(prof, probed, tmp_path):
    table = subprocess.run(['readelf', '-sW', probed], capture_output=True, text=True, check=True).stdout
    places = ' '.join('0x' + re.search(rf'^\s*\d+: (\w+) .* {name}$', table, re.M)[1] for name in ('add', '_ZN4shop4Cart3payEv'))
    events, _ = trace(prof, probed, tmp_path, f'uprobe:\'{places}\'@"{probed}"//alias=both/')
    assert [e['_event'] for e in events] == ['both'] * 6 and len({e['ip'] for e in events}) == 2
    assert 'has no function' in refuses(prof, f"uprobe:'{places} 0x'@{probed}")


def refuses(prof, item, status=2):
    done = subprocess.run([prof, 'trace', '-e', item, '-N', '1', '-p', str(os.getpid())], capture_output=True, text=True, timeout=60)
    assert done.returncode == status, done
    return done.stderr


@pytest.mark.parametrize('function, size', [('add', None), ('0x7fffffffffff', 'file')])
def test_an_offset_beyond_the_end(prof, probed, function, size):
    if size:
        said = refuses(prof, f'uprobe:{function}@{probed}')
        assert re.search(rf'byte {function} is beyond the end of \S+ \({os.path.getsize(probed)} bytes\)$', said, re.M), said
        return
    line = subprocess.run(['readelf', '-sW', probed], capture_output=True, text=True, check=True).stdout
    size = int(re.search(rf'^\s*\d+: \w+\s+(\d+) .* {function}$', line, re.M).group(1))
    for offset in size, 99999:
        said = refuses(prof, f'uprobe:{function}+{offset}@{probed}')
        assert f'+{offset} is beyond the end of {function} ({size} bytes)\n' in said and 'config' not in said


def test_an_offset_inside_of_an_instruction(prof, probed, tmp_path):
    """The kernel would put its breakpoint there, and the program would run into another instruction."""
    built = subprocess.run([prof, 'version', '--build-options'], capture_output=True, text=True, check=True).stdout
    if not re.search(r'libcapstone: \d', built) or os.uname().machine not in ('x86_64', 'aarch64'):
        pytest.skip('needs libcapstone, and x86-64 or arm64')
    code = subprocess.run(['objdump', '-d', '--no-show-raw-insn', '--disassemble=add', probed], capture_output=True, text=True,
                          check=True).stdout
    starts = [int(at, 16) for at in re.findall(r'^ +(\w+):\t', code, re.M)]
    starts = [at - starts[0] for at in starts]
    before, after = next((a, b) for a, b in zip(starts, starts[1:]) if b - a > 1)
    said = refuses(prof, f'uprobe:add+{before + 1}@{probed}')
    assert f'add+{before + 1} is inside of an instruction, and a probe there would crash the program\n' in said
    assert f'expected: the start of an instruction: add+{before} or +{after}\n' in said
    events, add = trace(prof, probed, tmp_path, f'uprobe:add+{after}@"{probed}"')
    assert {e['ip'] for e in events} == {add + after}


def test_filters_on_arguments(prof, probed, tmp_path):
    events, _ = trace(prof, probed, tmp_path, f'uprobe:add@"{probed}"/a>=5/args="a=%di:s64"/', n=8)
    assert [e['a'] for e in events] == [5, 6, 7]


def test_filters_on_arguments_that_only_we_can_evaluate(prof, probed, tmp_path):
    events, _ = trace(prof, probed, tmp_path,
                      f'uprobe:add@"{probed}"/a*2==c+13 && text=="two"/args="a=%di:s64 text=+0(%si):string c=%dx:s32"/',
                      n=8)
    assert [e['a'] for e in events] == [5]


def test_usdt_has_its_arguments(prof, probed, tmp_path):
    events, _ = trace(prof, probed, tmp_path, f'usdt:test:args@"{probed}"')
    assert [(e['arg1'], e['arg2'], e['arg3'], e['arg4']) for e in events] == \
        [(i, -7, -1, 42) for i in range(3)]
    assert all(e['_event'] == 'usdt:test:args' for e in events)


def test_usdt_at_two_places_is_one_event(prof, probed, tmp_path):
    events, _ = trace(prof, probed, tmp_path, f'usdt:test:twice@"{probed}"', n=2)
    assert [e['arg1'] for e in events] == [0, 1000, 1, 1001]
    assert len({e['ip'] for e in events}) == 2


def test_usdt_behind_a_semaphore_is_reached(prof, probed, tmp_path):
    events, _ = trace(prof, probed, tmp_path, f'usdt:test:guarded@"{probed}"')
    assert [e['arg1'] for e in events] == [0, 1, 2]


def test_handlers(prof, probed, tmp_path):
    events, _ = trace(
        prof, probed, tmp_path,
        f'uprobe:add@"{probed}",uretprobe:add@"{probed}"//alias=back/,usdt:test:args@"{probed}"', n=1,
        handlers='def uprobe_add(e): show("uprobe_add", e)\n'
                 'def back(e): show("back", e)\n'
                 'def usdt_test_args(e): show("usdt_test_args", e)\n')
    assert [(e['handler'], e['_event']) for e in events] == \
        [('uprobe_add', 'uprobe:add'), ('back', 'back'), ('usdt_test_args', 'usdt:test:args')]


def test_print(prof, probed, tmp_path):
    events, _ = trace(prof, probed, tmp_path, f'uprobe:add@"{probed}"//args="a=%di:s64"/alias=x/', n=1,
                      handlers='import io, contextlib\n'
                               'def x(e):\n'
                               '    out = io.StringIO()\n'
                               '    with contextlib.redirect_stdout(out):\n'
                               '        e.print(timestamp=False)\n'
                               '    print(json.dumps([out.getvalue()]), flush=True)\n')
    assert re.fullmatch(r' +probed +\d+ \S{4} \[\d{3}\] \d+\.\d{6}: x: \([0-9a-f]+\) a=0\n', events[0][0])


def test_a_path_with_blanks(prof, probed, tmp_path):
    odd = tmp_path / 'a b:c(d)'
    odd.write_bytes(open(probed, 'rb').read())
    odd.chmod(0o755)
    events, _ = trace(prof, str(odd), tmp_path, f'uprobe:add@"{odd}"//args="a=%di:s64"/')
    assert [e['a'] for e in events] == [0, 1, 2]


# ---------------------------------------------------------------- what is left behind

IDLE = 'def __interval__():\n    print("on", flush=True)\ndef __sample__(e): pass\n'


def start(prof, probed, tmp_path, text=IDLE):
    (tmp_path / 'idle.py').write_text(text)
    run = subprocess.Popen([prof, 'python', '-i', '20', '-e', f'uprobe:add@"{probed}"', tmp_path / 'idle.py'],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))   # not nohup's
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
        wait_until(lambda: not own(run.pid))


def pending(pid, number):
    with open(f'/proc/{pid}/status') as status:
        return any(int(mask, 16) >> number - 1 & 1 for mask in re.findall(r'(?:Sig|Shd)Pnd:\s*(\w+)', status.read()))


def test_no_probe_is_left_after_a_second_signal(prof, probed, tmp_path):
    run = start(prof, probed, tmp_path,
                'def __interval__():\n    print("on", flush=True)\n    while True: pass\n'
                'def __sample__(e): pass\n')
    run.send_signal(signal.SIGINT)
    wait_until(lambda: not pending(run.pid, signal.SIGINT))
    time.sleep(0.25)                     # what follows at once is the same request
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=20)
    assert run.returncode == 130
    wait_until(lambda: not own(run.pid))


@pytest.mark.parametrize('text, code', [('raise ValueError', 1), ('import sys; sys.exit(3)', 3),
                                        ('def __init__(): raise ValueError', 1), ('def f(: pass', 1),
                                        ('x = 1', 2)])
def test_no_probe_is_left_after_a_bad_script(prof, probed, tmp_path, text, code):
    (tmp_path / 's.py').write_text(text + '\n')
    run = subprocess.Popen([prof, 'python', '-e', f'uprobe:add@"{probed}"', tmp_path / 's.py'],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    run.communicate(timeout=20)
    assert run.returncode in (code, 1, 2)
    assert own(run.pid) == []


def test_no_probe_is_left_after_a_second_event_that_is_wrong(prof, probed, tmp_path):
    (tmp_path / 's.py').write_text('def __sample__(e): pass\n')
    run = subprocess.Popen([prof, 'python', '-e', f'uprobe:add@"{probed}",uprobe:nosuch@"{probed}"',
                            tmp_path / 's.py'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    err = run.communicate(timeout=20)[1]
    assert run.returncode == 2 and 'nosuch' in err
    assert own(run.pid) == []


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
    with open('/proc/self/stat') as f:
        start_time = f.read().rsplit(')', 1)[1].split()[19]
    dead = f'perf_prof_{ns}_{child.pid}_1'
    others = [f'perf_prof_{ns}_{os.getpid()}_{start_time}', f'perf_prof_1{ns}_{child.pid}_1',
              'perf_prof_mine', f'perf_prof_{ns}_{child.pid}_1x']
    line = subprocess.run(['readelf', '-sW', probed], capture_output=True, text=True, check=True).stdout
    at = re.search(r'^\s*\d+: (\w+) .* add$', line, re.M).group(1)
    try:
        for group in [dead] + others:
            write_definition(f'p:{group}/p1 {probed}:0x{at}')
        trace(prof, probed, tmp_path, f'uprobe:add@"{probed}"')
        left = ''.join(definitions())
        assert dead + '/' not in left
        assert all(group + '/' in left for group in others)
    finally:
        for group in [dead] + others:
            try:
                write_definition(f'-:{group}/p1')
            except OSError:
                pass


def test_no_probe_is_left_where_privileges_were_dropped(prof, probed, tmp_path):
    if requires.why_not('nobody'):
        pytest.skip(requires.why_not('nobody'))
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
    done = subprocess.run([prof, 'script', '-I', path, '--json', *args], capture_output=True, text=True, check=True)
    return [json.loads(line)['event'] for line in done.stdout.splitlines()]


ARGS = '//args="a=%di:s64"'


@pytest.mark.parametrize('attrs, name', [
    (f'{ARGS}/', 'uprobe:add'), (f'{ARGS}/alias=my/', 'my'),
])
def test_a_recording_has_the_name_it_was_made_with(prof, probed, tmp_path, attrs, name):
    item = f'uprobe:add@"{probed}"'
    path = recorded(prof, probed, tmp_path, item + attrs)
    assert names(prof, path) == [name] * 3
    for which in (item + attrs, item, 'uprobe:add', 'uprobe:*', name):
        assert names(prof, path, '-e', which) == [name] * 3, which
    assert names(prof, path, '-e', f'{item}/a>0/') == [name] * 2
    assert names(prof, path, '-e', f'{item}//alias=other/') == ['other'] * 3
    wrong = subprocess.run([prof, 'script', '-I', path, '-e', 'uprobe:ad'], capture_output=True, text=True)
    assert (wrong.returncode, f'did you mean {name}?' in wrong.stderr) == (2, name != 'my')
    assert 'perf_prof_' not in wrong.stderr
    report = subprocess.run([prof, 'report', '-I', path, '-e', name], capture_output=True, text=True, check=True)
    assert f'3 samples of {name},' in report.stdout
    diff = subprocess.run([prof, 'diff', '-e', name, path, path], capture_output=True, text=True, check=True)
    assert name in diff.stdout + diff.stderr


def test_the_same_script_live_and_recorded(prof, probed, tmp_path):
    handlers = ('def uprobe_add(e): show("uprobe_add", e)\n'
                'def back(e): show("back", e)\n')
    events = f'uprobe:add@"{probed}"{ARGS}/,uretprobe:add@"{probed}"//alias=back/'
    live, _ = trace(prof, probed, tmp_path, events, handlers=handlers)
    path = recorded(prof, probed, tmp_path, events)
    done = subprocess.run([prof, 'python', '-I', path, tmp_path / 's.py'], capture_output=True, text=True, check=True)
    read = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{')]

    def told(rows):
        return [(row['handler'], row['_event'], row.get('a'), sorted(row)) for row in rows]
    assert told(read) == told(live)


def test_two_aliases_of_one_probe(prof, probed, tmp_path):
    events = f'uprobe:add@"{probed}"/a==0/args="a=%di:s64"/alias=one/,uprobe:add@"{probed}"/a>0/args="a=%di:s64"/alias=two/'
    path = recorded(prof, probed, tmp_path, events)
    assert names(prof, path) == names(prof, path, '-e', events) == ['one', 'two', 'two']
    assert names(prof, path, '-e', 'two') == ['two'] * 2


# ---- names as people write them

CPP = 'shop::Cart::add(long, char const*)'


@pytest.mark.parametrize('name', [
    '_ZN4shop4Cart3addElPKc', CPP, f"'{CPP}'", "'shop::Cart::add(long,char const*)'", "'shop::Cart::add(long, *)'",
])
def test_functions_by_the_names_that_nm_shows(prof, probed, tmp_path, name):
    events, _ = trace(prof, probed, tmp_path, f'uprobe:{name}@{probed}//args="id=$arg1:s64 name=+0($arg2):string"/')
    assert [(e['id'], e['name']) for e in events] == [(i, 'pear') for i in range(3)]


@pytest.mark.parametrize('name, shown', [
    ('shop::Cart::pay', 'shop::Cart::pay'), ("'shop::biggest<int>'", 'shop::biggest<int>'),
    ('shop::biggest', 'shop::biggest'),
    ("'int shop::biggest<int>(int, int)'", 'int shop::biggest<int>(int, int)'),
])
def test_functions_without_their_parameters(prof, probed, tmp_path, name, shown):
    events, _ = trace(prof, probed, tmp_path, f'uretprobe:{name}@{probed}')
    assert [e['_event'] for e in events] == [f'uretprobe:{shown}'] * 3


def test_a_glob_is_an_event_for_each_function(prof, probed, tmp_path):
    events, _ = trace(prof, probed, tmp_path, f"uprobe:'shop::Cart::*'@{probed}/common_pid>0/", n=1,
                      handlers='def uprobe_shop__Cart__pay(e): show("pay", e)\n')
    assert [(e['handler'], e['_event']) for e in events] == [
        ('__sample__', f'uprobe:{CPP}'), ('__sample__', 'uprobe:shop::Cart::add(char)'), ('pay', 'uprobe:shop::Cart::pay')]


def test_a_glob_of_usdt_probes(prof, probed, tmp_path):
    events, _ = trace(prof, probed, tmp_path, f'usdt:test:*@{probed}', n=1)
    assert [(e['_event'], e['arg1'] if e['arg1'] < 1 << 12 else 0) for e in events] == [
        ('usdt:test:args', 0), ('usdt:test:text', 0), ('usdt:test:twice', 0), ('usdt:test:twice', 1000), ('usdt:test:guarded', 0)]


def refused(prof, probed, events):
    done = subprocess.run([prof, 'trace', '-e', events], cwd=os.path.dirname(probed), capture_output=True, text=True,
                          timeout=60)
    assert (done.returncode, done.stdout) == (2, '')
    return done.stderr.splitlines()


def test_overloads_are_listed(prof, probed):
    assert refused(prof, probed, 'uprobe:shop::Cart::add@./probed//stack/') == [
        'perf-prof: ./probed has several functions shop::Cart::add',
        '  uprobe:shop::Cart::add@./probed//stack/', '         ^', 'expected: one of',
        "  uprobe:'shop::Cart::add(char)'@./probed", f"  uprobe:'{CPP}'@./probed"]


@pytest.mark.parametrize('name, last', [
    ('Cart::pay', ["did you mean uprobe:'shop::Cart::pay()'@./probed?"]),
    ('shop::bigest', ['did you mean uprobe:shop::biggest@./probed?']),
    ('shop::Cart::pya', ['did you mean uprobe:shop::Cart::pay@./probed?']),
    ("'shop::Cart::add(int)'", ['did you mean one of', "  uprobe:'shop::Cart::add(char)'@./probed", f"  uprobe:'{CPP}'@./probed"]),
    ('biggest', ["did you mean uprobe:'shop::biggest<int>(int, int)'@./probed?"]),
])
def test_similar_functions_are_suggested(prof, probed, name, last):
    lines = refused(prof, probed, f'uprobe:{name}@./probed')
    assert lines[0].startswith('perf-prof: ./probed has no function ')
    assert lines[3:] == last


def test_similar_usdt_probes_are_suggested(prof, probed):
    assert refused(prof, probed, 'usdt:other:twice@./probed')[3:] == ['did you mean usdt:test:twice@./probed?']
    assert refused(prof, probed, 'usdt:test:twcie@./probed')[3:] == ['did you mean usdt:test:twice@./probed?']


def listed(prof, probed, *args):
    done = subprocess.run([prof, 'list', *args], cwd=os.path.dirname(probed), capture_output=True, text=True, timeout=60)
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

def need_dwarf(prof):
    done = subprocess.run([prof, 'version', '--build-options'], capture_output=True, text=True, check=True)
    if 'elfutils: no' in done.stdout:
        pytest.skip('needs a build with elfutils')
    if os.uname().machine not in ('x86_64', 'aarch64'):
        pytest.skip('needs x86-64 or arm64')


@pytest.fixture(params=['probed', 'probed_plain'])
def described(prof, probed, request):
    """With and without optimization: where the code describes its parameters differs."""
    need_dwarf(prof)
    return os.path.join(os.path.dirname(probed), request.param)


def values(events, *names):
    return [tuple(e[name] for name in names) for e in events]


def test_parameters_by_name(prof, described, tmp_path):
    events, _ = trace(prof, described, tmp_path, f'uprobe:order@{described}//args="count small text mode big=last"/')
    assert values(events, 'count', 'small', 'text', 'mode', 'big') == \
        [(i - 1, 200, 'text', -1, 1 << 40) for i in range(3)]


def test_members_of_parameters(prof, described, tmp_path):
    events, _ = trace(prof, described, tmp_path,
                      f'uprobe:order@{described}//args="item->id label=item->label text=item->name.text n=item->next->id '
                      'l=item->next->label"/')
    assert values(events, 'id', 'label', 'text', 'n', 'l') == [(11, 'first', 'a', 22, 'second')] * 3


def test_all_parameters(prof, described, tmp_path):
    """But for those that a probe cannot fetch: numbers with a fraction, and structures in registers."""
    events, _ = trace(prof, described, tmp_path, f'uprobe:order@{described}//args="text:x64 *"/', n=1)
    own = {'count': -1, 'small': 200, 'mode': -1, 'last': 1 << 40}
    assert {name: events[0][name] for name in own} == own
    assert events[0]['text'] > 1 << 12 and events[0]['item'] > 1 << 12
    assert not {'price', 'pair'} & set(events[0])


LANGUAGES = {'Rust': (0x1c, {'count': -1, 'small': 200}), 'Fortran': (0x0e, {})}


@pytest.mark.parametrize('language', LANGUAGES)
def test_other_languages_than_c(prof, probed, tmp_path, language):
    """Rust has no rule for where structures and what follows them are; of others, only what the debug information says counts."""
    need_dwarf(prof)
    code, known = LANGUAGES[language]
    plain, other, info = os.path.join(os.path.dirname(probed), 'probed_plain'), tmp_path / 'probed', tmp_path / 'info'
    subprocess.run(['objcopy', '--dump-section', f'.debug_info={info}', plain, other], check=True)
    # behind the unit's head: the number of its kind of entry, its producer, and the language
    unit = bytearray(info.read_bytes())
    unit[(12 if unit[4] == 5 else 11) + 1 + 4] = code
    info.write_bytes(unit)
    subprocess.run(['objcopy', '--update-section', f'.debug_info={info}', plain, other], check=True)
    shown = subprocess.run(['readelf', '--debug-dump=info', '--dwarf-depth=1', other], capture_output=True, text=True, check=True)
    if not re.search(f'DW_AT_language .*{language}', shown.stdout):
        pytest.skip('this compiler has other units')
    events, _ = trace(prof, str(other), tmp_path, f'uprobe:order@{other}//args="first=$arg1:s32 *"/', n=1)
    assert events[0]['first'] == -1
    assert {name: events[0][name] for name in ('count', 'small', 'mode', 'last') if name in events[0]} == known


def test_filters_on_parameters(prof, described, tmp_path):
    events, _ = trace(prof, described, tmp_path, f'uprobe:order@{described}/count>0 && text=="text"/args="count text"/', n=4)
    assert values(events, 'count') == [(1,), (2,)]


def test_the_result_by_name(prof, described, tmp_path):
    events, _ = trace(prof, described, tmp_path,
                      f'uretprobe:order@{described}//args=ret/,uretprobe:add@{described}//args="sum=ret"/', n=1)
    assert [(e['_event'], e.get('ret'), e.get('sum')) for e in events] == [
        ('uretprobe:add', None, -3), ('uretprobe:order', 'ext', None)]


def test_arguments_of_usdt_probes_by_number(prof, probed, tmp_path):
    events, _ = trace(prof, probed, tmp_path, f'usdt:test:args@{probed}//args="i=arg1:s8 arg4 *"/')
    assert values(events, 'i', 'arg1', 'arg2', 'arg4') == [(i, i, -7, 42) for i in range(3)]


def test_strings_of_usdt_probes(prof, probed, tmp_path):
    events, _ = trace(prof, probed, tmp_path, f'usdt:test:text@{probed}//args="what=arg1:string"/')
    assert values(events, 'what') == [('pear',)] * 3


@pytest.mark.parametrize('event, message, expected', [
    ('uprobe:order@./probed//args=cuont/', 'order has no parameter cuont', 'did you mean count?'),
    ('uprobe:order@./probed//args="count zzz"/', 'order has no parameter zzz',
     'expected: one of its parameters: count, small, text, price, item, pair, large, mode, last'),
    ('uprobe:order@./probed//args=price/', 'a probe cannot fetch price: it is a floating-point number', 'expected: another parameter'),
    ('uprobe:order@./probed//args="item->nosuch"/', 'cannot fetch item->nosuch of order: there is no such member', 'expected: a member'),
    ('uprobe:order@./probed//args="item->bits"/', 'cannot fetch item->bits of order: it is a bit field', "expected: another member, or the kernel's type"),
    ('uprobe:order@./probed//args="item->name.text[1]"/', 'an element of an array cannot be fetched', 'expected: the array'),
    ('uprobe:order@./probed//args="count->id"/', 'cannot fetch count->id of order: the part before', 'expected: a member of a structure'),
    ('uprobe:look@./probed//args="far->beyond"/', 'cannot fetch far->beyond of look: its offset is too large', 'expected: a member'),
    ('uprobe:order@./probed//args="item->id item->next->id"/', 'two arguments have the name id', 'expected: a name of its own'),
    ('uprobe:order+4@./probed//args=count/', "names of parameters are for a function's first byte", 'expected: $arg1'),
    ('uretprobe:order@./probed//args=count/', 'when a function returns, only its result has a value', 'expected: ret'),
    ('usdt:test:args@./probed//args=arg9/', 'test:args has no argument arg9', 'expected: one of those'),
])
def test_names_of_no_parameter(prof, probed, event, message, expected):
    need_dwarf(prof)
    lines = refused(prof, probed, event)
    assert message in lines[0] and lines[2].endswith('^') and lines[3].startswith(expected)


def test_without_debug_information_there_are_no_names(prof, probed, tmp_path, monkeypatch):
    need_dwarf(prof)
    monkeypatch.setenv('HOME', str(tmp_path))     # another test may have recorded the program, and kept it
    subprocess.run(['strip', '-g', '-o', tmp_path / 'probed', probed], check=True)
    lines = refused(prof, str(tmp_path / 'probed'), 'uprobe:order@./probed//args=count/')
    assert './probed has no debug information on order' in lines[0]
    assert re.match(r'expected: a program compiled with -g, or its debug file, .* in /usr/lib/debug/\.build-id, .* beside the file, '
                    r'in \.debug/ there .*; else \$arg1 to \$arg6$', lines[3]), lines


@pytest.mark.parametrize('version', ['-gdwarf-4', '-gdwarf-5'])
def test_split_debug_information_is_not_read(prof, probed, tmp_path, version):
    need_dwarf(prof)
    (tmp_path / 'job.c').write_text(NESTED)
    subprocess.run(['gcc', '-O1', version, '-gsplit-dwarf', '-o', 'job', 'job.c'], cwd=tmp_path, check=True)
    lines = refused(prof, str(tmp_path / 'job'), 'uprobe:nest@./job//args=n/')
    assert 'the debug information of ./job on nest is in .dwo files (-gsplit-dwarf), which perf-prof does not read' in lines[0]
    assert lines[3] == 'expected: a program compiled with -g and without -gsplit-dwarf; else $arg1 to $arg6'


@pytest.mark.parametrize('folder', ['.', '.debug'])
@pytest.mark.parametrize('strip', ['-g', '-s'])
def test_parameters_by_the_debug_link(prof, probed, tmp_path, folder, strip):
    """With -g the file itself still names its functions."""
    need_dwarf(prof)
    debug = tmp_path / folder / 'probed.debug'
    debug.parent.mkdir(exist_ok=True)
    for words in (['objcopy', '--only-keep-debug', probed, debug], ['strip', strip, '-R', '.note.gnu.build-id', '-o', 'probed', probed],
                  ['objcopy', f'--add-gnu-debuglink={debug}', 'probed']):
        subprocess.run(words, cwd=tmp_path, check=True)
    events, _ = trace(prof, str(tmp_path / 'probed'), tmp_path, f'uprobe:order@{tmp_path}/probed//args="count item->id"/')
    assert values(events, 'count', 'id') == [(i - 1, 11) for i in range(3)]
    odd = tmp_path / 'a folder'       # whose name cannot be in a probe's definition
    odd.mkdir()
    for name in 'probed', str(debug.relative_to(tmp_path)):
        (odd / name).parent.mkdir(exist_ok=True)
        (odd / name).write_bytes((tmp_path / name).read_bytes())
    (odd / 'probed').chmod(0o755)
    events, _ = trace(prof, str(odd / 'probed'), tmp_path, f'uprobe:order@"{odd}/probed"//args="count item->id"/')
    assert values(events, 'count', 'id') == [(i - 1, 11) for i in range(3)]
    with open(debug, 'ab') as file:
        file.write(b'x')          # its checksum is another one now
    assert any('no debug information' in line or 'stripped' in line for line in refused(
        prof, str(tmp_path / 'probed'), 'uprobe:order@./probed//args=count/'))


def test_functions_of_a_stripped_file_by_its_debug_file(prof, probed, tmp_path):
    need_dwarf(prof)
    for words in (['objcopy', '--only-keep-debug', probed, 'probed.debug'], ['strip', '-o', 'probed', probed],
                  ['objcopy', '--add-gnu-debuglink=probed.debug', 'probed']):
        subprocess.run(words, cwd=tmp_path, check=True)
    events, _ = trace(prof, str(tmp_path / 'probed'), tmp_path, f'uprobe:order@{tmp_path}/probed//args="count item->id"/')
    assert values(events, 'count', 'id') == [(i - 1, 11) for i in range(3)]


def test_functions_that_choose_others_are_named(prof, probed):
    """IFUNC: libc has such functions on most machines."""
    with open('/proc/self/maps', encoding='utf-8', errors='replace') as maps:
        libc = re.search(r'/\S*libc\.so\.6', maps.read())
    symbols = libc and subprocess.run(['readelf', '--dyn-syms', '-W', libc.group()], capture_output=True, text=True,
                                      check=True).stdout
    chooser = re.search(r' IFUNC .* (\w+)@@', symbols or '')
    if not chooser:
        pytest.skip('needs a libc with IFUNC functions')
    done = subprocess.run([prof, 'trace', '-v', '-e', f'uprobe:{chooser.group(1)}@{libc.group()}', '--', 'true'],
                          capture_output=True, text=True, timeout=60)
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
    done = subprocess.run([prof, 'trace', '-e', ','.join(events), '--', './job'], cwd=tmp_path, capture_output=True, text=True,
                          timeout=60)
    assert (done.returncode, done.stdout.count(' uprobe:')) == (0, 2), done.stderr


def test_top_has_a_column_for_each_probe_by_its_name(prof, probed, tmp_path):
    done = subprocess.run([prof, 'top', '--json', '-e', f'uprobe:add@{probed},uprobe:shop::Cart::*@{probed}', '--', probed, '3'],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, cwd=tmp_path)
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
    done = subprocess.run([prof, 'latency', '-e', 'uprobe:nest@./job', '-e', 'uretprobe:nest@./job', '--', './job'], cwd=tmp_path,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    assert ('incomplete pairs: 12 ends without a start, 12 starts with another start before the end\ncalls within calls of the same key'
            in done.stdout) == ('are measured only at the innermost level' in done.stdout) == said, done.stdout
