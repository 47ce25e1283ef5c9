# SPDX-License-Identifier: Apache-2.0
"""PerfEvent objects: fields and their values, kept events, what is equal and what is not."""
import functools
import os
import re
import subprocess

import pytest

from frame.session import ran

live = pytest.mark.live('tracefs', 'root')

EVENTS = '/sys/kernel/tracing/events'


@pytest.fixture
def python(replay):
    return replay


def script(folder, text):
    (folder / 's.py').write_text(text)
    return 's.py'


def lines(done):
    return done.stdout.splitlines()[1:]


# ---- fields ---------------------------------------------------------------------------

def without_chains(python):
    """Of another recording."""
    return type(python)(python.prof, python.folder, '-I', os.path.join(os.path.dirname(python.source[1]), 'trace.data'))


@pytest.mark.parametrize('chain', [[], ['_callchain']])
def test_the_fields_of_the_page(python, tmp_path, chain):
    done = (python if chain else without_chains(python))(script(tmp_path, 'def __sample__(e): print(*e.keys())\n'))
    want = ['_pid', '_tid', '_time', '_cpu', '_period', 'common_type', 'common_flags', 'common_preempt_count', 'common_pid',
            '_realtime', *chain, '_event', 'comm', 'pid', 'prio', 'target_cpu']
    assert lines(done) == [' '.join(want)]


def test_the_name_is_a_field_for_sample_only(python, tmp_path):
    done = python(script(tmp_path, 'def sched__sched_wakeup(e):\n    print("_event" in e.keys(), "_event" in e.to_dict(), len(e) == len(list(e)),'
                         ' e._event, e["_event"], e.get("_event"))\n'))
    assert lines(done) == ['False False True' + 3 * ' sched:sched_wakeup']


def test_every_way_to_a_field(python, tmp_path):
    """Also by names that are built at run time."""
    done = python(script(tmp_path, '''
import ast
class Name(str): pass
def __sample__(e):
    for name in (''.join(['pr', 'io']), Name('prio'), 'xprio'[1:]):
        assert getattr(e, name) == e[name] == e.get(name) == e.prio and name in e
    for name in ('_' + 'time', '_ev' + 'ent', 'co' + 'mm'):
        assert getattr(e, name) == e[name]
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
    assert all(type(e[k]) is int for k in ('_pid', '_tid', '_time', '_cpu', '_period', 'common_type',
        'common_flags', 'common_preempt_count', 'common_pid', '_realtime', 'pid', 'prio', 'target_cpu'))
    assert type(e.comm) is str and type(e._event) is str and type(e._callchain) is list
    assert e._period == 1 and e._pid >= 0 and e.common_pid == e._tid
    assert {**ast.literal_eval(str(e)), '_realtime': 0} == {**e.to_dict(), '_realtime': 0}
    assert repr(e) == f'<PerfEvent sched:sched_wakeup cpu={e._cpu} pid={e._pid} time={e._time}>'
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


@pytest.mark.parametrize('call, advice', [('e.prin', "did you mean 'prio'?"), ('e.to_dit()', "did you mean 'to_dict'?")])
def test_advice_about_a_missing_field_stands_once(python, tmp_path, call, advice):
    """Python would append a "Did you mean: 'print'?" of its own, from dir(event)."""
    said = python(script(tmp_path, f'def __sample__(e): {call}\n'), check=1).stderr
    assert re.findall('did you mean.*', said, re.I) == [advice], said


# ---- values ---------------------------------------------------------------------------

VALUES = '''
import os, struct
def syscalls__sys_enter_lseek(e): print('lseek', e.offset, e.to_dict()['offset'])
def syscalls__sys_exit_close(e): print('close', e.ret)
def task__task_rename(e): print('rename', ascii(e.newcomm), os.fsencode(e.newcomm))
def sched__sched_process_exec(e): print('exec', type(e.filename).__name__, os.fsencode(e.filename))
def raw_syscalls__sys_enter(e):
    if e.id in (39, 173): print('args', type(e.args).__name__, len(e.args), struct.unpack('6Q', e.args)[2:4])
'''


@live
def test_values(prof, tmp_path):
    """Numbers of 64 bits without a sign (lseek() takes a signed offset, but the kernel's format says unsigned) and with one, names
    that are no UTF-8, dynamic strings, and arrays of numbers, which are bytes."""
    program = os.fsencode(tmp_path) + b'/na\xefve-\xc3\xa9'
    os.symlink('/bin/true', program)
    code = ('import os, ctypes\nlibc = ctypes.CDLL(None)\nf = os.open("/etc/passwd", os.O_RDONLY)\nos.lseek(f, 100, 0)\n'
            'os.lseek(f, -77, 1)\nlibc.close(9999)\nlibc.prctl(15, b"caf\\xe9 \\xff")\n'
            'libc.syscall({"x86_64": 39}.get(os.uname().machine, 173), 1, 2, 3, 4, 5, 6)\n'
            f'os.execv({program!r}, ["x"])\n')
    events = ('syscalls:sys_enter_lseek,syscalls:sys_exit_close,task:task_rename,sched:sched_process_exec,raw_syscalls:sys_enter')
    done = ran([prof, 'python', '-m', '4M', '-e', events, script(tmp_path, VALUES), '--', '/usr/bin/python3', '-c', code], cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, '')
    assert {f'lseek {2**64 - 77} {2**64 - 77}', 'close -9', r"rename 'caf\udce9 \udcff' b'caf\xe9 \xff'", f'exec str {program!r}',
            'args bytes 48 (3, 4)'} <= set(lines(done)), done


@live
def test_cpumasks_are_bytes(prof):
    if not os.path.exists(f'{EVENTS}/ipi/ipi_send_cpumask/format'):
        pytest.skip('needs the tracepoint ipi:ipi_send_cpumask (Linux 6.4)')
    done = ran([prof, 'python', '-e', 'ipi:ipi_send_cpumask', 'help'])
    assert re.search(r'^ +cpumask : bytes$', done.stdout, re.M)


def format_of(name):
    """The fields of a tracepoint as its format file has them: (name, type, size)."""
    with open(f'{EVENTS}/{name.replace(":", "/")}/format') as f:
        text = f.read()
    rows = re.findall(r'field:(.*?);\s*offset:\d+;\s*size:(\d+);', text)
    return [(decl.split()[-1].split('[')[0], decl, int(size)) for decl, size in rows]


KINDS = ((r'^__(?:data|rel)_loc char\[\]', 'str'), (r'^__(?:data|rel)_loc ', 'bytes'),
         (r'^(?:const )?char \w+\[', 'str'), (r'\[', 'bytes'), (r'', 'int'))


@live
def test_every_field_of_this_kernel_has_the_type_of_the_page(prof):
    """Numbers are int, strings str, arrays bytes: by the kernel's own declarations."""
    done = ran([prof, 'python', '-e', 'sched:*,syscalls:sys_*_open*,irq:*,block:*,net:*,skb:*,ipi:*,'
                'raw_syscalls:*,signal:*,task:*,timer:*', 'help'])
    handlers = re.findall(r'    Handler for (\S+)\n.*?Event-specific fields:\n(.*?)    """', done.stdout, re.S)
    assert len(handlers) > 100
    wrong = []
    for event, fields in handlers:
        types = dict(re.findall(r'^ +(\S+) : (\S+)$', fields, re.M))
        for name, decl, size in format_of(event):
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


def check_kept(python, tmp_path, options, event, count):
    done = python(*options, script(tmp_path, KEPT), event=event, events=count)
    assert [line for line in lines(done) if re.match('(exit|thread|atexit) ', line)] == \
        [f'{where} {count}' for where in ('exit', 'thread', 'atexit')]


@pytest.mark.parametrize('options', [[], ['--order']])
def test_events_stay_valid(python, tmp_path, options):
    check_kept(python, tmp_path, options, 'sched:sched_switch', 80)


@live
@pytest.mark.parametrize('options', [['-g', '--order'], ['--buffer', '16M']])
def test_live_events_stay_valid(prof, python, tmp_path, options):
    check_kept(type(python)(prof, tmp_path), tmp_path, options, 'sched:sched_wakeup', 500)


def test_events_at_the_very_end(python, tmp_path):
    """In finalizers, when modules are gone."""
    done = python(script(tmp_path, '''
import os
class Last:
    def __init__(self, e): self.e = e
    def __del__(self, say=os.write):
        say(1, f'{self.e.comm != ""} {len(self.e.keys())} {len(self.e._callchain) > 0}\\n'.encode())
def __sample__(e): globals()['last'] = Last(e)
'''))
    assert lines(done) in ([], ['True 16 True'])


PROGRAMS = {        # the script, how many events it gets, and what it prints
    'events in other threads while it runs': ('''
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
''', 34, ['34 []']),
    'weak references': ('''
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
''', 30, ['True {None} 15']),
    'compare and hash by content': ('''
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
''', 34, ['34 34']),
    'copies': ('''
import copy
kept = []
def __sample__(e): kept.append((copy.copy(e), copy.deepcopy([e])[0], e.to_dict()))
def __exit__():
    for one, two, was in kept:
        assert one == two and {**one.to_dict(), '_realtime': 0} == {**was, '_realtime': 0}
    print(len({one for one, _, _ in kept}))
''', 34, ['34']),
    'damaged pickles': ('''
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
''', 1, ['good']),
    'it cannot be made by hand': ('''
def __sample__(e):
    for make in (type(e), lambda: object.__new__(type(e))):
        try:
            make()
            print('made')
        except TypeError:
            pass
    print('good')
''', 1, ['good']),
}


@pytest.mark.parametrize('text, events, printed', PROGRAMS.values(), ids=PROGRAMS)
def test_what_scripts_do_with_events(python, tmp_path, text, events, printed):
    assert lines(python(script(tmp_path, text), events=events)) == printed


@pytest.mark.parametrize('options', [[], ['--order']])
def test_pickles(python, tmp_path, options):
    done = python(*options, script(tmp_path, f'''
import pickle
kept = []
def addresses(chain): return [frame['addr'] for frame in chain]      # their names may come later
def plain(e): return {{k: addresses(v) if k == '_callchain' else v for k, v in e if k != '_realtime'}}
def __sample__(e): kept.append(([pickle.dumps(e, protocol) for protocol in range(6)], e))
def __exit__():
    for data, e in kept:
        for back in map(pickle.loads, data):
            assert back == e and hash(back) == hash(e) and plain(back) == plain(e) and repr(back) == repr(e)
    back.print()
    print(len(kept))
'''), events=34)
    assert lines(done)[-1] == '34'


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
    done = without_chains(python)(load, check=1)
    assert 'ValueError: this run has no event sched:sched_wakeup with the fields' in done.stderr


# ---- many -----------------------------------------------------------------------------

@live
def test_comm_is_the_name_at_that_time(prof, tmp_path):
    """Of a task that changes its name and exits: live, kept, pickled, printed, from a recording."""
    (tmp_path / 's.py').write_text('''
import pickle
kept = []
def sched__sched_process_exit(e):
    assert e._comm == e["_comm"] == e.get("_comm") == e.comm and "_comm" in e and "_comm" not in e.keys()
    kept.append(e)
def __exit__():
    for e in kept: e.print(timestamp=False)
    print("names", [e._comm for e in kept], pickle.loads(pickle.dumps(kept[0]))._comm)
''')
    command = ['--', 'sh', '-c', '/bin/true; printf one > /proc/self/comm; printf two > /proc/$$/comm']
    run = functools.partial(subprocess.run, cwd=tmp_path, capture_output=True, text=True, timeout=30)
    for done in (run([prof, 'python', '-e', 'sched:sched_process_exit', '--record', 'x.data', 's.py', *command]),
                 run([prof, 'python', '-I', 'x.data', '-e', 'sched:sched_process_exit', 's.py'])):
        assert done.returncode == 0 and "names ['true', 'two'] true" in done.stdout, (done.stdout, done.stderr)
        assert re.findall(r'^ *(\S+) +\d+ .*sched_process_exit: comm=(\S+) ', done.stdout, re.M) == [('true', 'true'), ('two', 'two')]


def test_a_field_that_is_called_as_one_of_ours(python, tmp_path):
    """A stranger's recording can have any names: the last reader of a name counts, and the run ends."""
    with open(python.source[1], 'rb') as recording:
        data = recording.read()
    assert b'int prio;' in data
    (tmp_path / 'y.data').write_bytes(data.replace(b'int prio;', b'int _pid;'))
    script(tmp_path, 'def __sample__(e): print("row", e._pid == e["_pid"] == e.to_dict()["_pid"], e._pid)\n')
    out = type(python)(python.prof, tmp_path, '-I', tmp_path / 'y.data')('s.py', events=0).stdout
    assert 'row True ' in out and 'False' not in out
