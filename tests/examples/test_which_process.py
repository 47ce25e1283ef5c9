# SPDX-License-Identifier: Apache-2.0
"""docs/which-process.md: each command is accepted by this kernel, and those that can be tried here name the process."""
import os
import re
import shlex
import subprocess

import pytest

from frame import requires

pytestmark = pytest.mark.live

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..'))
for word in ('tracefs', 'root'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))
# Fields, systems and kinds of events that a kernel may lack
LACKING = r'there is no event|this kernel has no kprobes|no such file|cannot read|ustring'


def commands():
    with open(os.path.join(ROOT, 'docs/which-process.md'), encoding='utf-8') as f:
        text = f.read()
    found = re.findall(r'`(perf-prof (?:trace|top|syscalls) [^`]*)`', text) + re.findall(r'^(perf-prof .*)$', text, re.M)
    return [c for c in found if 'FUNCTION' not in c]


def run(prof, command, folder, *workload):
    words = shlex.split(command.replace('$(stat -c %i FILE)', str(os.stat(folder).st_ino)))
    if words[-1] == 'help':
        workload = ()
    done = subprocess.run([prof, *words[1:], *(('--', *workload) if workload else ())], cwd=folder, capture_output=True,
                          text=True, timeout=60)
    if done.returncode and re.search(LACKING, done.stderr, re.I):
        pytest.skip(f'needs another kernel: {done.stderr.splitlines()[0]}')
    assert (done.returncode, done.stderr) == (0, '')
    return done.stdout


@pytest.mark.parametrize('command', commands())
def test_commands_are_accepted(prof, tmp_path, command):
    run(prof, command, tmp_path, 'true')


def command_with(*words):
    return next(c for c in commands() if all(word in c for word in words))


def has_loopback():
    try:
        with open('/sys/class/net/lo/flags', encoding='ascii') as f:
            return int(f.read(), 16) & 1
    except OSError:
        return False


@pytest.mark.parametrize('words, workload, task', [
    (('sched_process_exec',), 'date >&2', 'date'),
    (('newstate==2/',), 'exec python3 -c "import socket; socket.socket().connect_ex((\'127.0.0.1\', 9))"', 'python3'),
    (('sig==15',), 'sleep 60 & kill $!', 'sh'),
])
def test_the_process_is_named(prof, tmp_path, words, workload, task):
    if 'newstate==2/' in words and not has_loopback():
        pytest.skip('needs the network device lo')
    out = run(prof, command_with('trace', *words), tmp_path, 'sh', '-c', f'({workload}) >/dev/null 2>&1')
    tasks = {line.split()[2] for line in out.splitlines() if re.search(r' \[\d{3}\] ', line)}
    assert task in tasks


@pytest.mark.parametrize('words, workload, row', [
    (('/etc/passwd',), 'cat /etc/passwd', r'cat .* openat\S* .* r .* /etc/passwd'),
    (('*.log',), 'echo x > a.log', r'sh .* openat\S* .* w create trunc .* a\.log'),
    (("'/etc/*'", '--by comm'), 'cat /etc/passwd', r'cat .* /etc/passwd'),
])
def test_the_table_names_the_process(prof, tmp_path, words, workload, row):
    out = run(prof, command_with('syscalls', *words), tmp_path, 'sh', '-c', workload)
    if 'paths are not known' in out:
        pytest.skip('needs probes')
    assert re.search(f'^{row}$', out, re.M), out


def test_the_host_that_is_looked_up(prof, tmp_path):
    command = command_with('getaddrinfo')
    path = re.search(r'@(\S+?)//', command).group(1)
    if not os.path.exists(path):
        pytest.skip(f'needs {path}')
    out = run(prof, command, tmp_path, 'python3', '-c', 'import socket\ntry: socket.getaddrinfo("localhost", 80)\n'
              'except OSError: pass')
    assert 'host="localhost"' in out


def test_an_address_in_place_of_a_path_is_explained(prof):
    done = subprocess.run([prof, 'trace', '-v', '-e', 'syscalls:sys_enter_openat', '-N', '1', '--', 'cat', '/dev/null'],
                          capture_output=True, text=True, timeout=60)
    with open('/sys/kernel/tracing/events/syscalls/sys_enter_openat/format', encoding='ascii') as f:
        has_text = '__filename_val' in f.read()
    assert done.returncode == 0
    hint = re.search("syscalls:sys_enter_openat: this kernel samples only the address of filename, .* -e '(\\S+)'; more in (docs/\\S+)$",
                     done.stderr, re.M)
    assert bool(hint) != has_text
    if hint:
        assert os.path.exists(os.path.join(ROOT, hint[2]))
        run(prof, f"perf-prof trace -e '{hint[1]}'", '.', 'true')
    assert has_text == bool(re.search(r'filename: 0x[0-9a-f]+ "', done.stdout))
