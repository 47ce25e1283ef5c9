# SPDX-License-Identifier: Apache-2.0
"""Names in recordings of what is not here any more: a kernel of another boot, or of another machine, and
a program that is gone, by build id from perf's cache; BPF programs, by what the recording says of them."""
import ctypes
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess

import pytest

from frame.analyses import TIMEOUT

pytestmark = [pytest.mark.live, pytest.mark.slow]

JIT = pathlib.Path('/proc/sys/net/core/bpf_jit_enable')
MOVED = 0x3200000
OTHER = 'aa' + os.urandom(19).hex()


def in_cache(*names):
    """perf's cache of these tests (`home` in tests/conftest.py)."""
    return os.path.join(os.environ['HOME'], '.debug', *names)


def base_and_end():
    places = {}
    with open('/proc/kallsyms') as f:
        for line in f:
            addr, _, name = line.split()[:3]
            places.setdefault(name, int(addr, 16))
    return places['_text'], places['_etext']


def of_another_boot(data, moved):
    """The recording as if the kernel's image had been so many bytes higher."""
    data = bytearray(data)
    first, last = base_and_end()
    start, size = struct.unpack_from('<QQ', data, 40)
    for at in range(start, start + size - 7, 8):
        word, = struct.unpack_from('<Q', data, at)
        if first <= word < last:
            struct.pack_into('<Q', data, at, word + moved)
    return bytes(data)


@pytest.fixture(scope='module')
def recorded(perf, tmp_path_factory):
    folder = tmp_path_factory.mktemp('kernel')
    subprocess.run([perf, 'record', '-q', '-N', '-F', '4000', '-g', '-e', 'cpu-clock', '-o', folder / 'a.data', '--',
                    'ls', '-R', '/usr/lib'], check=True, stdout=subprocess.DEVNULL)
    ids = subprocess.run([perf, 'buildid-list', '-k', '-i', folder / 'a.data'], capture_output=True, text=True,
                         check=True).stdout
    return (folder / 'a.data').read_bytes(), bytes.fromhex(ids.strip())


@pytest.fixture
def functions(prof, tmp_path):
    """{function of the kernel: its shares}, stderr."""
    def run(data):
        (tmp_path / 'x.data').write_bytes(data)
        argv = [prof, 'profile', '-v', '--json', '-I', 'x.data']
        done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT)
        assert done.returncode == 0, done
        table = json.loads(done.stdout.splitlines()[-1])
        image = {r['function']: (r['self'], r['total']) for r in table['rows'] if r['dso'] == '[kernel.kallsyms]'}
        if image.keys() > {'[unknown]'}:
            del image['[unknown]']      # of modules, whose place is of one boot only
        return image, done.stderr
    return run


def test_a_kernel_of_another_boot(recorded, functions):
    data, _ = recorded
    as_it_was, _ = functions(data)
    assert len(as_it_was) > 5
    assert functions(of_another_boot(data, MOVED))[0] == as_it_was
    # where that is not told, no name is better than a wrong one
    hidden = of_another_boot(data, MOVED).replace(b'[kernel.kallsyms]_text\0', b'[kernel.kallsyms]_etxt\0')
    rows, said = functions(hidden)
    assert list(rows) == ['[unknown]'] and "lacks the kernel's address" in said


def test_a_kernel_of_another_machine(recorded, functions):
    data, build_id = recorded
    as_it_was, _ = functions(data)
    other = of_another_boot(data, MOVED).replace(build_id, bytes.fromhex(OTHER))
    rows, said = functions(other)
    assert list(rows) == ['[unknown]'] and "perf's cache in ~/.debug has no symbols of its build id" in said
    # of another build it is another one, wherever it lay
    unmoved = data.replace(build_id, bytes.fromhex(OTHER))
    assert list(functions(unmoved)[0]) == ['[unknown]']
    kept = in_cache('.build-id', OTHER[:2], OTHER[2:])
    os.makedirs(kept)
    try:
        shutil.copyfile('/proc/kallsyms', os.path.join(kept, 'kallsyms'))
        assert functions(other)[0] == as_it_was
        # of a table without the symbol that tells where it lay nothing is believed
        with open('/proc/kallsyms') as f, open(os.path.join(kept, 'kallsyms'), 'w') as cut:
            cut.writelines(line for line in f if not line.endswith((' _text\n', ' _stext\n')))
        assert list(functions(other)[0]) == ['[unknown]']
        # nor of a module's functions, where the recording knows no such module
        with open('/proc/kallsyms') as f, open(os.path.join(kept, 'kallsyms'), 'w') as cut:
            cut.writelines(line if line.endswith((' _text\n', ' _stext\n')) else line.split('\t')[0].rstrip() +
                           '\t[of_another_boot]\n' for line in f)
        rows = functions(unmoved)[0]
        assert list(rows) == ['[unknown]'] and rows['[unknown]'][1] > 30, rows
    finally:
        shutil.rmtree(kept)


def test_a_program_that_is_gone(analyse, works, perf, tmp_path):
    """perf record keeps a copy of what it met."""
    program = tmp_path / 'worked'
    shutil.copyfile(works, program)
    with open(program, 'ab') as f:
        f.write(os.urandom(16))
    program.chmod(0o755)
    notes = subprocess.run(['readelf', '-n', program], capture_output=True, text=True, check=True).stdout
    build_id = re.search(r'Build ID: (\w+)', notes).group(1)
    link = in_cache('.build-id', build_id[:2], build_id[2:])
    if os.path.islink(link) and not os.path.exists(link):
        os.unlink(link)     # perf makes no other
    subprocess.run([perf, 'record', '-q', '-F', '997', '-e', 'cpu-clock', '-o', tmp_path / 'x.data', '--', program,
                    'shares', '200'], check=True, stdout=subprocess.DEVNULL)
    program.unlink()
    kept = in_cache(str(program)[1:])
    assert os.path.isdir(kept)
    try:
        rows = analyse('profile', '--json', '-I', 'x.data').rows('profile', 'function')
    finally:
        if os.path.realpath(link).startswith(kept + '/'):
            os.unlink(link)
        shutil.rmtree(kept)
    assert {'one_half', 'three_tenths', 'one_fifth'} <= rows.keys(), rows
    assert rows['one_half']['dso'] == str(program)


def insn(code, imm):
    return struct.pack('<BBhi', code, 0, 0, imm)


def bpf(command, attr):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    attr = ctypes.create_string_buffer(attr, 120)
    done = libc.syscall({'x86_64': 321}.get(os.uname().machine, 280), command, attr, len(attr))
    if done < 0:
        pytest.skip('needs BPF programs: ' + os.strerror(ctypes.get_errno()))
    return done


BPF_NAME = f'adds{os.getpid():x}'      # another run of the tests has another one
NEAR = 64                              # bytes of code in which none of many samples may be


def run_bpf_program(times):
    """Loads one that adds 3,000 ones, runs it, and unloads it."""
    code = insn(0xb7, 0) + insn(0x07, 1) * 3000 + insn(0x95, 0)
    held = ctypes.create_string_buffer(code), ctypes.create_string_buffer(b'GPL'), ctypes.create_string_buffer(64)
    code_at, licence, data = map(ctypes.addressof, held)
    fd = bpf(5, struct.pack('<IIQQIIQII16s', 1, len(code) // 8, code_at, licence, 0, 0, 0, 0, 0, BPF_NAME.encode()))
    try:
        bpf(10, struct.pack('<IIIIQQII', fd, 0, 64, 0, data, 0, times, 0))
    finally:
        os.close(fd)


def samples_of_a_program(record, perf, path):
    """Stacks in a program that is gone when the recording ends, as perf reads them; what it says where it can't. Samples that perf
    delivers before the program's KSYMBOL record have no name there: what counts is their place in the named program."""
    recorder = subprocess.Popen([*record, '-a', '-F', '997', '-g', '-o', path, '--', 'sh', '-c', 'echo; read x'],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        recorder.stdout.readline()
        run_bpf_program(1200000)
    finally:
        recorder.communicate(b'\n', timeout=TIMEOUT)
    theirs = subprocess.run([perf, 'script', '--no-inline', '-i', path, '-F', 'ip,sym'], capture_output=True, text=True)
    if theirs.returncode:
        return theirs.stderr
    samples = [stack.split() for stack in theirs.stdout.split('\n\n')]
    samples = [stack for stack in samples if len(stack) > 1]
    places = [int(stack[0], 16) for stack in samples if re.match(rf'bpf_prog_[0-9a-f]{{16}}_{BPF_NAME}$', stack[1])]
    return [stack for stack in samples if places and min(places) - NEAR <= int(stack[0], 16) <= max(places) + NEAR]


# perf now and then misses the program's KSYMBOL record, or can't read it: beside others who listen, the kernel says too large a size
# of it (src/perfevent/decode/body.h). Only a recording that perf can read can be compared.
@pytest.mark.deep
@pytest.mark.parametrize('recorder', [pytest.param('perf', marks=pytest.mark.soak), 'perf-prof'])
def test_a_bpf_program_that_is_gone(analyse, prof, perf, tmp_path, recorder):
    if not JIT.exists() or JIT.read_text().strip() == '0':
        pytest.skip('needs BPF programs that are compiled (net.core.bpf_jit_enable)')
    with_what, no_cache = {'perf': (perf, ['-N']), 'perf-prof': (prof, [])}[recorder]
    inside = samples_of_a_program([with_what, 'record', *no_cache], perf, tmp_path / 'x.data')
    assert isinstance(inside, list), f'perf script does not read it: {inside}'
    table = analyse('profile', '--json', '-I', 'x.data', before=['env']).table('profile')   # of all tasks: one may be rebuilt meanwhile
    rows = [r for r in table['rows'] if re.match(rf'bpf_prog_[0-9a-f]{{16}}_{BPF_NAME}$', r['function'])]
    assert len(inside) > 10 and len(rows) == 1 and rows[0]['dso'] == '[bpf]'
    assert round(rows[0]['self'] * table['samples'] / 100) == len(inside)
