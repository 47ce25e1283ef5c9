# SPDX-License-Identifier: Apache-2.0
"""Sources and plain perf events beside tracepoints, live: fields, names, templates, print."""
import ast
import json
import os
import re
import struct
import subprocess
import sys

import pytest

from frame import requires
from frame.declared import without_lowered_rates
from frame.session import ran

pytestmark = pytest.mark.live('tracefs', 'root')

ALWAYS = ['_pid', '_tid', '_time', '_cpu', '_realtime', '_event']

TO_JSON = '''
import json
def plain(v):
    if isinstance(v, bytes):
        return {'bytes': v.hex()}
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    return [plain(x) for x in v] if isinstance(v, list) else v
def __sample__(e):
    print(json.dumps({k: plain(v) for k, v in e}), flush=True)
'''


@pytest.fixture(autouse=True)
def busy():
    """Somebody who computes, touches new pages, opens files, and sleeps."""
    text = ('import mmap, time\nwhile True:\n    sum(range(20000))\n    m = mmap.mmap(-1, 1 << 16)\n'
            '    m[0] = m[40000] = 1\n    m.close()\n    open("/dev/null").close()\n    time.sleep(0.002)\n')
    with subprocess.Popen([sys.executable, '-S', '-c', text]) as process:
        yield process.pid
        process.kill()


def run(prof, tmp_path, *args, script=TO_JSON):
    (tmp_path / 's.py').write_text(script)
    done = ran([prof, 'python', '-m', '16M', *map(str, args), 's.py'], cwd=tmp_path)
    assert (done.returncode, without_lowered_rates(done.stderr)) == (0, ''), done
    return done.stdout.split('\n', 1)[1]


def events(*args, **kwargs):
    return [json.loads(line) for line in run(*args, **kwargs).splitlines()]


def test_profile_samples_without_being_told_how_often(prof, tmp_path, busy):
    seen = events(prof, tmp_path, '-e', 'profile', '-p', busy, '-N', 20)
    assert len(seen) == 20
    for e in seen:
        assert list(e) == ALWAYS + ['identifier', 'ip', 'pid', 'tid', 'time', 'cpu', 'period']
        assert e['_pid'] == e['pid'] == e['_tid'] == e['tid'] == busy
        assert e['_time'] == e['time'] and e['_cpu'] == e['cpu']
        assert e['_event'] == 'profile'
    if requires.why_not('pmu'):
        assert {e['period'] for e in seen} == {10 ** 9 // 997}


def test_profile_with_options(prof, tmp_path, busy):
    seen = events(prof, tmp_path, '-e', 'profile/-F 199 -g/', '-p', busy, '-N', 20)
    assert all('callchain' in e and '_callchain' not in e for e in seen)
    frames = [frame for e in seen for frame in e['callchain']]
    assert {frame['kernel'] for frame in frames} == {False, True} or not frames[0]['kernel']
    assert all(list(frame) == ['addr', 'symbol', 'offset', 'kernel', 'dso'] for frame in frames)
    assert all(e['callchain'][0]['addr'] == e['ip'] for e in seen)
    if requires.why_not('pmu'):
        assert {e['period'] for e in seen} == {10 ** 9 // 199}


def test_second_names_of_parts(prof, tmp_path, busy):
    """A function for tracepoints reads other events, too; keys() has each part once. What is not sampled has none."""
    script = (
        'def __sample__(e):\n'
        '    period = "_per" + "iod"\n'
        '    assert e._callchain == e.callchain == e.get("_callchain") == e["_callchain"]\n'
        '    assert e._period == e.period == e[period] and "_period" in e and "_callchain" in e\n'
        '    names = {"_period", "_callchain"}\n'
        '    assert not names & set(e.keys()) | names & set(e.to_dict()) | names & {k for k, _ in e}\n'
        '    assert len(e) == len(e.keys()) == len(e.values()) == len(e.to_dict())\n'
        '    print("fine")\n'
        'def none(e): print("_callchain" in e, e.get("_callchain"))\n')
    assert run(prof, tmp_path, '-e', 'profile/-F 199 -g/,cpu-clock:u//stack/', '-p', busy, '-N', 10, script=script) == 'fine\n' * 10
    assert run(prof, tmp_path, '-e', 'profile//alias=none/', '-p', busy, '-N', 1, script=script) == 'False None\n'


@pytest.mark.parametrize('event, options, allowed', [
    ('cpu-clock:u//freq=4000/', '-g', {False}), ('cpu-clock:u//freq=4000/', '-g --no-user-callchain', set()),
    ('profile/-F 4000 -g --no-user-callchain/', '', {True}), ('profile/-F 4000 -g --no-kernel-callchain/', '', {False}),
    ('profile/-F 4000 --user-callchain/', '', {False}), ('profile/-F 4000 --kernel-callchain/', '', {True}),
    ('profile/-F 4000 --user-callchain --kernel-callchain/', '', {False, True}),
])
def test_parts_of_call_chains(prof, tmp_path, busy, event, options, allowed):
    seen = events(prof, tmp_path, '-e', event, *options.split(), '-p', busy, '-N', 200)
    found = {frame['kernel'] for e in seen for frame in e['callchain']}
    assert found <= allowed and bool(found) == bool(allowed)


@pytest.mark.parametrize('option, kernel', [('--exclude-user', True), ('--exclude-kernel', False)])
def test_levels(prof, tmp_path, busy, option, kernel):
    seen = events(prof, tmp_path, '-e', f'profile/{option} -F 2000/', '-p', busy, '-N', 20)
    assert {e['ip'] >> 63 == 1 for e in seen} == {kernel}


def watched(prof, tmp_path, code, event, script):
    """(the first line of a program, what the script prints of what the program does behind the end of its stdin)"""
    (tmp_path / 's.py').write_text(script + '\ntold = False\ndef __interval__():\n    global told\n'
                                   '    if not told: told = print("on", flush=True) is None\n')
    with subprocess.Popen([sys.executable, '-c', code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as target:
        at = int(target.stdout.readline())
        trace = subprocess.Popen([prof, 'python', '-i', '20', '-p', str(target.pid), '-e', event.format(at), 's.py'], cwd=tmp_path,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while (line := trace.stdout.readline()) != 'on\n':
            if not line:
                err = trace.communicate()[1]
                if 'breakpoint' in err:
                    pytest.skip('needs hardware breakpoints')
                assert False, err
        target.stdin.close()
        return at, trace.communicate(timeout=30)[0]


def test_page_faults_tell_the_address(prof, tmp_path):
    """Each new page that a process touches is a fault at that page."""
    at, out = watched(prof, tmp_path, 'import ctypes, mmap, sys\nm = mmap.mmap(-1, 64 << 12)\n'
                      'at = ctypes.addressof(ctypes.c_char.from_buffer(m))\nprint(at, flush=True)\n'
                      'sys.stdin.read()\nfor i in range(64): m[i << 12] = 1\nimport time; time.sleep(0.3)\n',
                      'page-faults', 'import json\ndef page_faults(e): print(json.dumps(e.to_dict()))\n')
    seen = [json.loads(line) for line in out.splitlines()]
    assert list(seen[0]) == ALWAYS[:-1] + ['identifier', 'ip', 'pid', 'tid', 'time', 'addr', 'cpu', 'period']
    touched = {e['addr'] & ~0xfff for e in seen}
    pages = {at + (i << 12) for i in range(64)}
    # a transparent huge page takes the rest at once
    assert pages <= touched or (pages & touched and os.path.exists('/sys/kernel/mm/transparent_hugepage'))
    assert all(e['period'] == 1 for e in seen)


def test_page_faults_have_registers_with_g(prof, tmp_path, busy):
    e, = events(prof, tmp_path, '-e', 'page-faults/-g --exclude-kernel/', '-p', busy, '-N', 1)
    assert e['regs_intr']['abi'] == 2
    if os.uname().machine == 'x86_64':
        assert set(e['regs_intr']) == {'abi', *('ax bx cx dx si di bp sp ip flags cs ss r8 r9 r10 r11 r12 '
                                                'r13 r14 r15').split()}
        assert e['regs_intr']['ip'] == e['ip']


SAMPLED = {
    'read': dict, 'regs_user': dict, 'regs_intr': dict, 'stack_user': dict, 'raw': dict, 'weight': int,
    'data_src': int, 'transaction': int, 'phys_addr': int, 'cgroup': int, 'data_page_size': int,
    'code_page_size': int, 'id': int, 'stream_id': int, 'addr': int,
}


def test_parts_of_samples_that_software_has(prof, tmp_path, busy):
    seen = events(prof, tmp_path, '-e', f'context-switches//sample={"+".join(SAMPLED)}/stack/', '-p', busy, '--no-inherit', '-N', 20)
    for e in seen:
        assert all(isinstance(e[part], kind) for part, kind in SAMPLED.items())
        assert {'value', 'time_enabled', 'time_running', 'id'} <= set(e['read']) and e['read']['value'] >= 1
        data = bytes.fromhex(e['stack_user']['bytes'])
        assert len(data) == 8 + struct.unpack('=Q', data[:8])[0]
        assert e['id'] == e['stream_id'] == e['identifier']
    assert any(len(e['regs_user']) > 1 for e in seen)


@pytest.mark.parametrize('source', ['profile', 'page-faults'])
def test_sources_sample_what_they_are_asked_for(prof, tmp_path, busy, source):
    """Of every part that a perf event can have; without being asked they lack them."""
    e, = events(prof, tmp_path, '-e', f'{source}//sample={"+".join(SAMPLED)}+identifier+callchain/', '-p', busy,
                '--no-inherit', '-N', 1)       # read of what is inherited: since Linux 6.12
    assert set(SAMPLED) | {'identifier', 'callchain', 'period', 'ip'} <= set(e)
    assert e['read']['value'] >= 1
    plain, = events(prof, tmp_path, '-e', source, '-p', busy, '-N', 1)
    assert not set(plain) & (set(SAMPLED) - {'addr', 'id', 'stream_id'})


def test_a_part_that_is_not_sampled_says_how_to_have_it(python, tmp_path):
    (tmp_path / 's.py').write_text('def __sample__(e):\n    try: e.read\n    except AttributeError as x: print(x)\n'
                                   '    try: e["read"]\n    except KeyError as x: print(x)\n    print(e.get("read", 7))\n')
    done = python('s.py', event='profile')
    said = "profile has no field 'read': its samples do not carry it; the attribute sample=read in the event list"
    assert [said in line for line in done.stdout.splitlines()[1:]] == [True, True, False]
    assert done.stdout.splitlines()[-1] == '7'


@pytest.mark.parametrize('event, period', [
    ('context-switches', 1), ('sw:page-faults', 1), ('cpu-clock', 10 ** 9 // 997), ('cpu-clock//freq=100/', 10 ** 7),
    ('cpu-clock//period=5000000/', 5000000), ('software/config=0/alias=clock/', 10 ** 9 // 997)])
def test_plain_events_happen_singly_or_at_a_frequency(prof, tmp_path, busy, event, period):
    assert {e['period'] for e in events(prof, tmp_path, '-e', event, '-p', busy, '-N', 3)} == {period}


def test_names(prof, tmp_path, busy):
    """The handler is the alias, else the name with _ for what can't be in a function's name."""
    script = ('seen = set()\n' +
              ''.join(f'def {name}(e): seen.add(("{name}", e._event))\n' for name in
                      ('context_switches', 'sw_page_faults', 'cpu_clock_u', 'mine', 'pmu_1', 'profile',
                       'sched__sched_switch', 'sched__other')) +
              'def __sample__(e): seen.add(("?", e._event))\n'
              'def __interval__():\n    if len(seen) == 8: raise SystemExit\n'
              'def __exit__(): print(sorted(seen))\n')
    out = run(prof, tmp_path, '-i', 50, '-p', busy, '-e', 'context-switches,sw:page-faults,cpu-clock:u,profile,'
              'cpu-clock//alias=mine/,software/config=5/alias=pmu-1/,sched:sched_switch,'
              'sched:sched_switch//alias=other/', script=script)
    assert ast.literal_eval(out) == sorted([
        ('context_switches', 'context-switches'), ('sw_page_faults', 'sw:page-faults'),
        ('cpu_clock_u', 'cpu-clock:u'), ('mine', 'mine'), ('pmu_1', 'pmu-1'), ('profile', 'profile'),
        ('sched__sched_switch', 'sched:sched_switch'), ('sched__other', 'sched:other')])


def test_beside_tracepoints(prof, tmp_path, busy):
    script = ('last = 0\nback = 0\nseen = set()\n'
              'def __sample__(e):\n    global last, back\n    back += e._time < last\n    last = e._time\n'
              '    seen.add(e._event)\n'
              '    if e._event == "sched:sched_switch": assert e.common_type and e.next_pid >= 0\n'
              '    elif e._event == "profile": assert e.ip and e.period\n'
              '    else: assert e.addr >= 0\n'
              '    if len(seen) == 3: raise SystemExit\n'
              'def __exit__(): print(sorted(seen), back)\n')
    out = run(prof, tmp_path, '--order', '-p', busy, '-e', 'sched:sched_switch,profile/-g -F 3000/,page-faults', script=script)
    assert out == "['page-faults', 'profile', 'sched:sched_switch'] 0\n"


def test_filters(prof, tmp_path, busy):
    seen = events(prof, tmp_path, '-e', f'cpu-clock/pid=={busy} && ip<0x8000000000000000u && cpu==_cpu/', '-N', 10)
    assert {e['pid'] for e in seen} == {busy} and all(not e['ip'] >> 63 for e in seen)


def test_a_breakpoint(prof, tmp_path):
    """mem:ADDR/LEN:rw - what stands where other events have their filter is the length."""
    at, out = watched(prof, tmp_path, 'import ctypes, sys\nx = ctypes.c_uint32(0)\nprint(ctypes.addressof(x), flush=True)\n'
                      'sys.stdin.read()\nfor i in range(5): x.value = i\n', 'mem:{:#x}/4:w/alias=hit/',
                      'def hit(e): print(e._event, hex(e.addr), e.period)\n')
    assert out.count(f'hit {at:#x} 1') >= 5


def test_the_source_alone_has_its_call_chains(prof, tmp_path, busy):
    """-g of a source is for it; -g of the run is for all that have no word of their own."""
    script = ('seen = {}\n'
              'def __sample__(e): seen[e._event] = "callchain" in e.keys(), "_callchain" in e.keys()\n'
              'def __interval__():\n    if len(seen) == 2: raise SystemExit\n'
              'def __exit__(): print(sorted(seen.items()))\n')

    def chains(*args):
        return ast.literal_eval(run(prof, tmp_path, '-i', 50, *args, script=script))
    assert chains('-e', 'profile/-g/,sched:sched_switch') == [('profile', (True, False)), ('sched:sched_switch', (False, False))]
    assert chains('-g', '-e', 'profile,sched:sched_switch') == [('profile', (True, False)), ('sched:sched_switch', (False, True))]
    assert chains('-e', 'profile,sched:sched_switch//stack/') == [('profile', (False, False)), ('sched:sched_switch', (False, True))]


# ---------------------------------------------------------------- print, str, repr

PRINT = 'def __sample__(e):\n    e.print()\n    print(repr(e))\n'
WHEN = r'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6} '
WHO = r' *python3 +\d+ \[\d{3}\] \d+\.\d{6}: '


@pytest.mark.slow     # its names are looked up too slowly
def test_print_profile(prof, tmp_path, busy):
    script = PRINT + '    e.print(timestamp=False, callchain=False)\n'
    out = run(prof, tmp_path, '-e', 'profile/-g/', '-p', busy, '-N', 1, script=script).splitlines()
    assert re.fullmatch(WHEN + WHO + r'profile: \d+ (cpu-clock|cycles)', out[0])
    assert all(re.fullmatch(r'    [0-9a-f]{16} \S+\+0x[0-9a-f]+ \(.*\)', line) for line in out[1:-2])
    assert re.fullmatch(r'<PerfEvent profile cpu=\d+ pid=\d+ time=\d+>', out[-2])
    assert re.fullmatch(WHO + r'profile: \d+ (cpu-clock|cycles)', out[-1])


def test_print_page_faults(prof, tmp_path, busy):
    out = run(prof, tmp_path, '-e', 'page-faults/--exclude-kernel/', '-p', busy, '-N', 5, script=PRINT)
    lines = [line for line in out.splitlines() if not line.startswith('<')]
    assert len(lines) == 5
    for line in lines:
        assert re.fullmatch(WHEN + WHO + r' *[0-9a-f]+ +[0-9a-f]+ \S+\+0x[0-9a-f]+ \(.+\)', line)
    out = run(prof, tmp_path, '-e', 'page-faults/-g --exclude-kernel/', '-p', busy, '-N', 1, script=PRINT)
    assert re.search(r'^ +\w+ 0x[0-9a-f]{16}( +\w+ 0x[0-9a-f]{16}){3}$', out, re.M)


def test_print_a_plain_event(prof, tmp_path, busy):
    out = run(prof, tmp_path, '-e', 'cpu-clock:u', '-p', busy, '-N', 1, script=PRINT)
    assert re.search(WHO + r'cpu-clock:u: 1003009 cpu-clock:u$', out, re.M)


def test_kept_events_stay(prof, tmp_path, busy):
    script = ('import copy, pickle\nkept = []\n'
              'def fields(e): return {k: v for k, v in e.to_dict().items() if k != "_realtime"}   # which drifts\n'
              'def __sample__(e): kept.append((e, fields(e)))\n'
              'def __exit__():\n    for e, d in kept:\n        assert fields(e) == d, (fields(e), d)\n'
              '        assert pickle.loads(pickle.dumps(e)) == e == copy.copy(e)\n'
              '    print(len({e for e, _ in kept}))\n')
    out = run(prof, tmp_path, '-e', 'page-faults/-g/,profile/-g/,sched:sched_switch', '-p', busy, '-N', 100, script=script)
    assert out == '100\n'


# ---------------------------------------------------------------- templates

TEMPLATES = [
    'profile/-F 997 -g/', 'page-faults/-g/alias=pf/', 'cpu-clock:u', 'sw:page-faults', 'software/config=2/alias=x/',
    'context-switches//sample=read+regs_user+stack_user/', 'sched:sched_wakeup,profile,page-faults',
    'sched:sched_wakeup//alias=wakeup1/,sched:sched_wakeup//alias=wakeup2/', 'sched:sched_wak*', 'syscalls:sys_enter_o*',
]
TYPES = {'int': int, 'str': str, 'bytes': bytes, 'list': list, 'dict': dict}


def template(prof, events):
    done = ran([prof, 'python', '-e', events, 'help'])
    assert (done.returncode, done.stderr) == (0, '')
    return done.stdout


def documented(text):
    """{handler: {field: type}}"""
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith('__'):
            doc = ast.get_docstring(node)
            found[node.name] = dict(re.findall(r'^ +(\w+) : (\w+(?: or None)?)$', doc, re.M))
    return found


@pytest.mark.parametrize('events', TEMPLATES)
def test_templates_run_and_tell_the_types(prof, tmp_path, busy, events):
    """With every line that shows a field's access taken in."""
    text = template(prof, events)
    handlers = documented(text)
    assert handlers
    for fields in handlers.values():
        assert set(fields.values()) <= set(TYPES)
    whose = [] if 'sched:' in events else ['-p', busy]      # who wakes is anybody
    run(prof, tmp_path, '-e', events, '-N', 20, '-i', 100, *whose,
        script=re.sub(r'^    # (\w+ = event\.\w+)$', r'    \1', text, flags=re.M))
    if '*' in events:
        return
    script = 'seen = set()\n' + ''.join(
        f'def {handler}(e):\n' + ''.join(
            f'    assert isinstance(e[{field!r}], {kind}), ({handler!r}, {field!r}, e[{field!r}])\n'
            for field, kind in fields.items()) + f'    seen.add(e._event)\n    if len(seen) == {len(handlers)}: raise SystemExit\n'
        for handler, fields in handlers.items())
    run(prof, tmp_path, '-e', events, *whose, script=script)


def test_the_template_of_probes(prof, build):
    path = os.path.join(build, 'tests/helpers/storm')
    text = template(prof, f'uprobe:main@"{path}"//args="n=%di:s32 name=+0(%si):string"/')
    assert documented(text) == {'uprobe_main': {'__probe_ip': 'int', 'n': 'int', 'name': 'str or None', 'ip': 'int'}}
