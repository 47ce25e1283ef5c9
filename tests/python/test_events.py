# SPDX-License-Identifier: Apache-2.0
"""PerfEvent objects: fields and their values, kept events, what is equal and what is not."""
import ctypes
import functools
import os
import re
import subprocess
import threading
import time

import pytest

from frame import requires

for word in ('tracefs', 'root'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))

EVENTS = '/sys/kernel/tracing/events'


def script(folder, text):
    (folder / 's.py').write_text(text)
    return 's.py'


def lines(done):
    return done.stdout.splitlines()[1:]


def format_of(name):
    """The fields of a tracepoint as its format file has them: (name, type, size, signed)."""
    with open(f'{EVENTS}/{name.replace(":", "/")}/format') as f:
        text = f.read()
    rows = re.findall(r'field:(.*?);\s*offset:\d+;\s*size:(\d+);\s*signed:(\d);', text)
    return [(decl.split()[-1].split('[')[0], decl, int(size), signed == '1')
            for decl, size, signed in rows]


# ---- fields ---------------------------------------------------------------------------

@pytest.mark.parametrize('options, chain', [([], []), (['-g'], ['_callchain'])])
def test_the_fields_of_the_page(python, tmp_path, options, chain):
    done = python(*options, script(tmp_path, 'def __sample__(e): print(*e.keys())\n'))
    own = [row[0] for row in format_of('sched:sched_wakeup') if not row[0].startswith('common_')]
    want = ['_pid', '_tid', '_time', '_cpu', '_period', 'common_type', 'common_flags',
            'common_preempt_count', 'common_pid', '_realtime', *chain, '_event', *own]
    assert lines(done) == [' '.join(want)]


def test_the_types_of_the_page(python, tmp_path):
    done = python('-g', script(tmp_path, '''
def __sample__(e):
    assert all(type(e[k]) is int for k in ('_pid', '_tid', '_time', '_cpu', '_period', 'common_type',
        'common_flags', 'common_preempt_count', 'common_pid', '_realtime', 'pid', 'prio', 'target_cpu'))
    assert type(e.comm) is str and type(e._event) is str and type(e._callchain) is list
    with open('/sys/kernel/tracing/events/sched/sched_wakeup/id') as f:
        assert e.common_type == int(f.read())
    assert e._period == 1 and e._pid >= 0 and e.common_pid == e._tid
    print('good')
'''))
    assert lines(done) == ['good']


def test_every_way_to_a_field(python, tmp_path):
    done = python(script(tmp_path, '''
def __sample__(e):
    names = e.keys()
    steady = [n for n in names if n != '_realtime']
    assert len(e) == len(names) == len(set(names))
    for n in steady:
        assert getattr(e, n) == e[n] == e.get(n) == e.get(n, -1) == e.get(field=n, default=-1)
        assert n in e
    assert 'nonexistent' not in e and e.get('nonexistent', -1) == -1 and e.get('nonexistent') is None
    assert [k for k, v in e.items()] == names == [k for k, v in e] == list(e.to_dict())
    assert type(e.items()[0]) is tuple and type(e.values()) is list and type(e.keys()) is list
    assert [v for k, v in e.items() if k in steady] == [e[k] for k in steady]
    assert [v for k, v in zip(names, e.values()) if k in steady] == [e[k] for k in steady]
    d = e.to_dict()
    assert type(d) is dict and {k: d[k] for k in steady} == {k: e[k] for k in steady}
    d['comm'] = 'changed'
    assert e.comm != 'changed'
    print('good')
'''))
    assert lines(done) == ['good']


def test_str_and_repr(python, tmp_path):
    done = python(script(tmp_path, '''
import ast
def __sample__(e):
    assert {**ast.literal_eval(str(e)), '_realtime': 0} == {**e.to_dict(), '_realtime': 0}
    assert repr(e) == f'<PerfEvent sched:sched_wakeup cpu={e._cpu} pid={e._pid} time={e._time}>'
    print('good')
'''))
    assert lines(done) == ['good']


def test_names_built_at_run_time(python, tmp_path):
    done = python(script(tmp_path, '''
class Name(str): pass
def __sample__(e):
    for name in (''.join(['pr', 'io']), Name('prio'), 'xprio'[1:]):
        assert getattr(e, name) == e[name] == e.get(name) == e.prio and name in e
    for name in ('_' + 'time', '_ev' + 'ent', 'co' + 'mm'):
        assert getattr(e, name) == e[name]
    print('good')
'''))
    assert lines(done) == ['good']


def test_missing_fields(python, tmp_path):
    done = python(script(tmp_path, '''
def error(f):
    try:
        f()
    except Exception as e:
        return type(e).__name__, e.args[0]
def __sample__(e):
    print(*error(lambda: e.prioo), sep=': ')
    print(*error(lambda: e['prioo']), sep=': ')
    print(*error(lambda: e['target-cpu']), sep=': ')
    print(*error(lambda: e.qqqqqqqqqq), sep=': ')
    print(*error(lambda: e['qqqqqqqqqq']), sep=': ')
    print(*error(lambda: e[0]), sep=': ')
    print(*error(lambda: e[None]), sep=': ')
    print(error(lambda: e[[]])[0], [] in e, None in e, e.get([], 5))
    print(hasattr(e, 'prio'), hasattr(e, 'prioo'), getattr(e, 'prioo', 'no'), getattr(e, '__array__', 'no'))
    print(error(lambda: setattr(e, 'prio', 1))[0], error(lambda: delattr(e, 'prio'))[0])
'''))
    assert lines(done) == [
        "AttributeError: sched:sched_wakeup has no field 'prioo'; did you mean 'prio'?",
        "KeyError: sched:sched_wakeup has no field 'prioo'; did you mean 'prio'?",
        "KeyError: sched:sched_wakeup has no field 'target-cpu'; did you mean 'target_cpu'?",
        "AttributeError: sched:sched_wakeup has no field 'qqqqqqqqqq'; event.keys() lists them",
        "KeyError: sched:sched_wakeup has no field 'qqqqqqqqqq'; event.keys() lists them",
        'KeyError: 0', 'KeyError: None', 'KeyError False False 5', 'True False no no',
        'AttributeError AttributeError']


def stderr_of(prof, folder, text):
    return subprocess.run([prof, 'python', '-e', 'sched:sched_wakeup', '-N', '1', script(folder, text)],
                          cwd=folder, capture_output=True, text=True, timeout=20).stderr


def test_advice_about_a_missing_field_stands_once(prof, tmp_path):
    """Python would append a "Did you mean: 'print'?" of its own, from dir(event)."""
    said = stderr_of(prof, tmp_path, 'def __sample__(e): e.prin\n')
    assert "has no field 'prin'; did you mean 'prio'?\n" in said
    assert len(re.findall('did you mean', said, re.I)) == 1, said


def test_a_misspelt_method_is_advised(prof, tmp_path):
    said = stderr_of(prof, tmp_path, 'def __sample__(e): e.to_dit()\n')
    assert re.findall('did you mean.*', said, re.I) == ["did you mean 'to_dict'?"], said


# ---- values ---------------------------------------------------------------------------

def task(code):
    """A process that does nothing until its stdin is closed, and then runs the code."""
    return subprocess.Popen(['/usr/bin/python3', '-c', f'import os, sys, ctypes\nsys.stdin.read()\n{code}\n'],
                            stdin=subprocess.PIPE)


def watch(python, tmp_path, event, code, text, **kw):
    """What the script prints of the events that the code makes in a process of its own."""
    child = task(code)
    try:
        return run_beside(python, child, script(tmp_path, text), event, **kw)
    finally:
        child.kill()
        child.wait()


def run_beside(python, child, name, event, *options, **kw):
    """The run beside a child that begins once the script's first interval made `ready`."""
    def go():
        deadline = time.monotonic() + 20
        while not (python.folder / 'ready').exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        child.stdin.close()
    helper = threading.Thread(target=go)
    helper.start()
    try:
        return python('-p', child.pid, '-i', '20', *options, name, event=event, events=0, **kw)
    finally:
        helper.join()


READY = 'def __interval__(): open("ready", "w")\n'


def test_numbers_of_64_bits_without_a_sign(python, tmp_path):
    """lseek() takes a signed offset, but the kernel's format says unsigned."""
    row = {r[0]: r for r in format_of('syscalls:sys_enter_lseek')}['offset']
    assert row[2] == 8 and not row[3]
    done = watch(python, tmp_path, 'syscalls:sys_enter_lseek',
                 'f = os.open("/etc/passwd", os.O_RDONLY)\nfor i in range(50):\n'
                 '    os.lseek(f, 100, 0); os.lseek(f, -77, 1)\n',
                 READY + 'def __sample__(e):\n    if e.offset == 2**64 - 77: print("unsigned", e.to_dict()["offset"])\n')
    assert f'unsigned {2**64 - 77}' in lines(done)


def test_numbers_with_a_sign(python, tmp_path):
    done = watch(python, tmp_path, 'syscalls:sys_exit_close', 'for i in range(50):\n'
                 '    ctypes.CDLL(None).close(9999)\n',
                 READY + 'def __sample__(e):\n    if e.ret == -9: print("signed")\n')
    assert 'signed' in lines(done)


def test_names_that_are_no_utf8(python, tmp_path):
    done = watch(python, tmp_path, 'task:task_rename',
                 'ctypes.CDLL(None).prctl(15, b"caf\\xe9 \\xff")\n',
                 READY + 'import os\ndef __sample__(e): print(ascii(e.newcomm), os.fsencode(e.newcomm))\n')
    assert "'caf\\udce9 \\udcff' b'caf\\xe9 \\xff'" in lines(done)


def test_dynamic_strings(python, tmp_path):
    program = os.fsencode(tmp_path) + b'/na\xefve-\xc3\xa9'
    os.symlink('/bin/true', program)
    done = watch(python, tmp_path, 'sched:sched_process_exec', f'os.execv({program!r}, ["x"])',
                 READY + 'import os\ndef __sample__(e): print(type(e.filename).__name__, os.fsencode(e.filename))\n')
    assert f'str {program!r}' in lines(done)


def test_arrays_of_numbers_are_bytes(python, tmp_path):
    done = watch(python, tmp_path, 'raw_syscalls:sys_enter', 'ctypes.CDLL(None).syscall(39, 1, 2**63, -1, 4, 5, 6)\n'
                 if ctypes.sizeof(ctypes.c_long) == 8 and os.uname().machine == 'x86_64' else 'os.getppid()\n',
                 READY + 'import struct\ndef __sample__(e):\n'
                 '    assert type(e.args) is bytes and len(e.args) == 48\n'
                 '    if e.id in (39, 173): print(*struct.unpack("6Q", e.args))\n')
    assert done.returncode == 0 and lines(done)


def test_cpumasks_are_bytes(prof):
    if not os.path.exists(f'{EVENTS}/ipi/ipi_send_cpumask/format'):
        pytest.skip('needs the tracepoint ipi:ipi_send_cpumask (Linux 6.4)')
    done = subprocess.run([prof, 'python', '-e', 'ipi:ipi_send_cpumask', 'help'], capture_output=True,
                          text=True)
    assert re.search(r'^ +cpumask : bytes$', done.stdout, re.M)


KINDS = ((r'^__(?:data|rel)_loc char\[\]', 'str'), (r'^__(?:data|rel)_loc ', 'bytes'),
         (r'^(?:const )?char \w+\[', 'str'), (r'\[', 'bytes'), (r'', 'int'))


def test_every_field_of_this_kernel_has_the_type_of_the_page(prof):
    """Numbers are int, strings str, arrays bytes: by the kernel's own declarations."""
    done = subprocess.run([prof, 'python', '-e', 'sched:*,syscalls:sys_*_open*,irq:*,block:*,net:*,skb:*,ipi:*,'
                           'raw_syscalls:*,signal:*,task:*,timer:*', 'help'], capture_output=True, text=True)
    handlers = re.findall(r'    Handler for (\S+)\n.*?Event-specific fields:\n(.*?)    """', done.stdout, re.S)
    assert len(handlers) > 100
    wrong = []
    for event, fields in handlers:
        types = dict(re.findall(r'^ +(\S+) : (\S+)$', fields, re.M))
        for name, decl, size, _ in format_of(event):
            if name.startswith('common_'):
                continue
            want = next(kind for pattern, kind in KINDS if re.search(pattern, decl))
            if want == 'int' and size not in (1, 2, 4, 8):
                want = 'bytes'      # a struct
            if types.get(name) != want:
                wrong.append((event, decl, types.get(name), want))
    assert not wrong


# ---- kept events ----------------------------------------------------------------------

KEPT = '''
import atexit, threading, weakref
kept, fields, refs = [], [], []
def addresses(chain): return [frame['addr'] for frame in chain]      # their names may come later
def plain(e): return {k: addresses(v) if k == '_callchain' else v for k, v in e if k != '_realtime'}
def __sample__(e):
    kept.append(e)
    fields.append(plain(e))
def check(where):
    assert [plain(e) for e in kept] == fields, where
    assert all(abs(e._realtime - kept[0]._realtime - (e._time - kept[0]._time)) < 10**7 for e in kept)
    for e in kept[:3]:
        e.print()
    print(where, len(kept), flush=True)
def __exit__():
    check('exit')
    t = threading.Thread(target=check, args=('thread',))
    t.start()
    t.join()
atexit.register(check, 'atexit')
'''


@pytest.mark.parametrize('options', [[], ['-g'], ['--order'], ['-g', '--user-callchain', '--order'],
                                     ['--buffer', '16M']])
def test_events_stay_valid(python, tmp_path, options):
    done = python(*options, script(tmp_path, KEPT), events=500)
    assert [line for line in lines(done) if re.match('(exit|thread|atexit) ', line)] == \
        ['exit 500', 'thread 500', 'atexit 500']


def test_events_at_the_very_end(python, tmp_path):
    """In finalizers, when modules are gone."""
    done = python('-g', script(tmp_path, '''
import os
class Last:
    def __init__(self, e): self.e = e
    def __del__(self, say=os.write):
        say(1, f'{self.e.comm != ""} {len(self.e.keys())} {len(self.e._callchain) > 0}\\n'.encode())
def __sample__(e): globals()['last'] = Last(e)
'''))
    assert done.returncode == 0
    assert lines(done) in ([], ['True 16 True'])


def test_events_in_other_threads_while_it_runs(python, tmp_path):
    done = python(script(tmp_path, '''
import queue, threading
q, bad, n = queue.SimpleQueue(), [], 0
def work():
    global n
    while True:
        item = q.get()
        if item is None: return
        e, was = item
        n += 1
        if (e._time, e.pid, e.comm, hash(e)) != was: bad.append(was)
t = threading.Thread(target=work)
t.start()
def __sample__(e): q.put((e, (e._time, e.pid, e.comm, hash(e))))
def __exit__():
    q.put(None)
    t.join()
    print(n, bad)
'''), events=500)
    assert lines(done) == ['500 []']


def test_weak_references(python, tmp_path):
    done = python(script(tmp_path, '''
import weakref
kept, refs, gone = [], [], []
def __sample__(e):
    refs.append(weakref.ref(e, gone.append))
    assert refs[-1]() is e
    if len(refs) % 2: kept.append(e)
    weakref.WeakSet().add(e)
def __exit__():
    alive = [r() for r in refs]
    print(alive[::2] == kept, set(alive[1::2]), len(gone))
'''), events=100)
    assert lines(done) == ['True {None} 50']


def test_compare_and_hash_by_content(python, tmp_path):
    done = python(script(tmp_path, '''
import copy, pickle
kept = []
def __sample__(e):
    twin = pickle.loads(pickle.dumps(e))
    assert twin is not e and twin == e and not twin != e and hash(twin) == hash(e)
    assert twin in {e} and {twin: 1}[e] == 1 and [twin].index(e) == 0
    assert e != 5 and e != None and e != e.to_dict() and not e == 'x'
    for other in kept:
        assert other != e and not other == e
    for op in ('<', '<=', '>', '>='):
        try:
            eval(f'e {op} twin')
            assert False
        except TypeError:
            pass
    kept.append(e)
def __exit__(): print(len(set(kept)), len({hash(e) for e in kept}))
'''), events=200)
    assert lines(done) == ['200 200']


def test_copies(python, tmp_path):
    done = python(script(tmp_path, '''
import copy
kept = []
def __sample__(e): kept.append((copy.copy(e), copy.deepcopy([e])[0], e.to_dict()))
def __exit__():
    for one, two, was in kept:
        assert one == two and {**one.to_dict(), '_realtime': 0} == {**was, '_realtime': 0}
    print(len({one for one, _, _ in kept}))
'''), events=100)
    assert lines(done) == ['100']


@pytest.mark.deep
@pytest.mark.parametrize('protocol', range(6))
@pytest.mark.parametrize('options', [[], ['-g'], ['-g', '--user-callchain']])
def test_pickles(python, tmp_path, options, protocol):
    done = python(*options, script(tmp_path, f'''
import pickle
kept = []
def addresses(chain): return [frame['addr'] for frame in chain]      # their names may come later
def plain(e): return {{k: addresses(v) if k == '_callchain' else v for k, v in e if k != '_realtime'}}
def __sample__(e): kept.append((pickle.dumps(e, {protocol}), e))
def __exit__():
    for data, e in kept:
        back = pickle.loads(data)
        assert back == e and hash(back) == hash(e) and plain(back) == plain(e) and repr(back) == repr(e)
    back.print()
    print(len(kept))
'''), events=50)
    assert lines(done)[-1] == '50'


def test_pickles_of_another_run(python, tmp_path):
    save = script(tmp_path, 'import pickle\ndef __sample__(e):\n    with open("e", "wb") as f:\n'
                  '        pickle.dump((e, e.comm, e._time, hash(e)), f)\n')
    python(save)
    load = script(tmp_path, 'import pickle\ndef __sample__(e): pass\ndef __init__():\n'
                  '    with open("e", "rb") as f:\n        e, *was = pickle.load(f)\n'
                  '    print(was == [e.comm, e._time, hash(e)])\n')
    assert lines(python(load)) == ['True']
    done = python(load, event='sched:sched_switch', check=1)
    assert 'ValueError: this run has no event sched:sched_wakeup with the fields' in done.stderr
    done = python('-g', load, check=1)
    assert 'ValueError: this run has no event sched:sched_wakeup with the fields' in done.stderr


def test_damaged_pickles(python, tmp_path):
    done = python(script(tmp_path, '''
import perf_prof
def refused(*args):
    try:
        perf_prof._restore(*args)
    except (ValueError, TypeError, OverflowError):
        return True
def __sample__(e):
    restore, (name, print_, cpu, rec, chain, counts) = e.__reduce__()
    assert counts is None and restore(name, print_, cpu, rec, chain, counts) == e
    for n in range(len(rec)):
        assert refused(name, print_, cpu, rec[:n], chain), n
        assert refused(name, print_, cpu, rec[:n] + b'x' * 8, chain) or n == len(rec) - 8, n
    assert refused(name, print_ ^ 1, cpu, rec, chain) and refused('x', print_, cpu, rec, chain)
    assert refused(name, print_, cpu, rec[:6] + b'\\xff\\xff' + rec[8:], chain)
    assert refused()
    print('good')
'''))
    assert lines(done) == ['good']


def test_it_cannot_be_made_by_hand(python, tmp_path):
    done = python(script(tmp_path, '''
def __sample__(e):
    for make in (type(e), lambda: object.__new__(type(e))):
        try:
            make()
            print('made')
        except TypeError:
            pass
    print('good')
'''))
    assert lines(done) == ['good']


# ---- many -----------------------------------------------------------------------------

@pytest.mark.slow
def test_thirty_thousand_events_in_a_set(python, storm, tmp_path):
    """Each of the calls is its own event, whose values are right at the end."""
    child = subprocess.Popen([storm, '--wait', 'getppid', '30000'], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, bufsize=0)
    pid = int(child.stdout.readline().split()[1])
    try:
        (tmp_path / 's.py').write_text(f'''
import os
kept, order = set(), []
def __init__(): os.nice(-10)
def __sample__(e):
    kept.add(e)
    order.append((e._time, e._cpu))
def __interval__():
    with open('ready', 'w'): pass
def __exit__():
    print(len(kept), len(order), len(set(order)))
    print(sorted((e._time, e._cpu) for e in kept) == sorted(order))
    print({{(e._pid, e._tid, e.common_pid) for e in kept}})
    print({{e._event for e in kept}}, {{e._period for e in kept}}, {{e.common_type for e in kept}})
    print(len({{str(e) for e in kept}}), len({{hash(e) for e in kept}}))
    for e in sorted(kept, key=lambda e: e._time):
        print(e)
''')
        done = run_beside(python, child, 's.py', 'syscalls:sys_enter_getppid', '-m', '16M', timeout=60)
    finally:
        child.kill()
        child.wait()
    out = lines(done)
    with open(f'{EVENTS}/syscalls/sys_enter_getppid/id') as f:
        number = f.read().strip()
    assert out[:5] == ['30000 30000 30000', 'True', f'{{({pid}, {pid}, {pid})}}',
                       f"{{'syscalls:sys_enter_getppid'}} {{1}} {{{number}}}", '30000 30000']
    assert len(out) == 30005 and len(set(out)) == 30005
    times = [int(re.search(r"'_time': (\d+)", line).group(1)) for line in out[5:]]
    assert times == sorted(times) and len(set(times)) == 30000


def test_comm_is_the_name_at_that_time(prof, tmp_path):
    """Of a task that changes its name and exits: live, kept, pickled, from a recording."""
    (tmp_path / 's.py').write_text(
        'import pickle\n'
        'kept = []\n'
        'def sched__sched_process_exit(e):\n'
        '    assert e._comm == e["_comm"] == e.get("_comm") == e.comm and "_comm" in e and "_comm" not in e.keys()\n'
        '    kept.append(e)\n'
        'def __exit__():\n'
        '    print("names", [e._comm for e in kept], pickle.loads(pickle.dumps(kept[0]))._comm)\n')
    command = ['--', 'sh', '-c', '/bin/true; printf one > /proc/self/comm; printf two > /proc/$$/comm']
    live = subprocess.run([prof, 'python', '-e', 'sched:sched_process_exit', '--record', 'x.data', 's.py', *command],
                          cwd=tmp_path, capture_output=True, text=True, timeout=30)
    again = subprocess.run([prof, 'python', '-I', 'x.data', '-e', 'sched:sched_process_exit', 's.py'], cwd=tmp_path,
                           capture_output=True, text=True, timeout=30)
    for done in (live, again):
        assert done.returncode == 0 and "names ['true', 'two'] true" in done.stdout, (done.stdout, done.stderr)


def test_a_field_that_is_called_as_one_of_ours(prof, tmp_path):
    """A stranger's recording can have any names: the last reader of a name counts, and the run ends."""
    run = functools.partial(subprocess.run, cwd=tmp_path, timeout=30)
    run([prof, 'record', '-a', '-e', 'sched:sched_wakeup', '-o', 'x.data', '--', 'sleep', '0.05'], check=True,
        capture_output=True)
    data = (tmp_path / 'x.data').read_bytes()
    assert b'int prio;' in data
    (tmp_path / 'y.data').write_bytes(data.replace(b'int prio;', b'int _pid;'))
    (tmp_path / 's.py').write_text('def __sample__(e): print("row", e._pid == e["_pid"] == e.to_dict()["_pid"], e._pid)\n')
    done = run([prof, 'python', '-I', 'y.data', 's.py'], capture_output=True, text=True)
    assert done.returncode == 0 and 'row True ' in done.stdout and 'False' not in done.stdout, (done.stdout, done.stderr)
