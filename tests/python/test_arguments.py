# SPDX-License-Identifier: Apache-2.0
"""Whose each word of the command line is: perf-prof's or the script's."""
import json
import os
import re
import shlex
import subprocess

import pytest

from frame import requires

for word in ('tracefs', 'root'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPT = ('import sys, json\nprint(json.dumps(sys.argv))\nn = 0\n'
          'def __sample__(e): pass\n'
          'def __interval__():\n    print("tick", flush=True)\n    sys.exit(0)\n')


def run(argv, cwd, prof):
    env = {**os.environ, 'PATH': os.path.dirname(prof) + ':' + os.environ['PATH']}
    return subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, timeout=30)


def words(done):
    """The script's sys.argv."""
    return json.loads(done.stdout.splitlines()[1])


@pytest.mark.parametrize('line, want, ticks', [
    # behind the script, what is ours is ours and the rest the script's
    ('-i 20 s.py', [], True),
    ('s.py -i 20', [], True),
    ('s.py -i20', [], True),
    ('s.py --interval=20 x', ['x'], True),
    ('s.py --threshold 50 -i 20 out', ['--threshold', '50', 'out'], True),
    ('s.py --threshold=50 -N 1', ['--threshold=50'], False),
    ('-N 1 s.py -', ['-'], False),
    ('-N 1 s.py -5 --', ['-5'], False),
    ('-N 1 s.py ""', [''], False),
    # -- on the command line: all behind it is the script and its own
    ('-N 1 -- s.py --threshold 100 --output result.txt', ['--threshold', '100', '--output', 'result.txt'],
     False),
    ('-N 1 -- s.py -i 20 -e x -C 99 -h --help -V', ['-i', '20', '-e', 'x', '-C', '99', '-h', '--help', '-V'],
     False),
    ('-N 1 s.py -- -i 20', ['-i', '20'], False),
    ('-N 1 s.py a -- -i 20 -- b', ['a', '-i', '20', '--', 'b'], False),
    ('-N 1 -- s.py -- x', ['--', 'x'], False),
])
def test_command_lines(prof, tmp_path, line, want, ticks):
    (tmp_path / 's.py').write_text(SCRIPT)
    done = run([prof, 'python', '-e', 'sched:sched_wakeup', *shlex.split(line)], tmp_path, prof)
    assert (done.returncode, done.stderr) == (0, ''), done
    assert words(done) == ['s.py', *want]
    assert ('tick' in done.stdout) == ticks


def long_options(prof):
    """Every long option of ours, from -h."""
    text = subprocess.run([prof, 'python', '-h'], capture_output=True, text=True).stdout
    names = set(re.findall(r'--(?:\[no-\])?([a-z][\w-]+)', text))
    assert {'event', 'interval', 'cpus', 'pids', 'order', 'user-callchain'} <= names
    return names


def test_no_abbreviation_of_ours_swallows_a_word(prof, tmp_path):
    """--inter, --ev, --ord ... are the script's, each as it stands."""
    (tmp_path / 's.py').write_text(SCRIPT)
    ours = long_options(prof)
    short = sorted({'--' + name[:n] for name in ours for n in range(1, len(name))}
                   - {'--' + name for name in ours}
                   - {'--help', '--cgroup', '--no', '--cgroups'})
    short += [f'{name}=7' for name in short] + ['--INTERVAL', '--Order', '--intervals', '--order-', '--no-']
    done = run([prof, 'python', '-e', 'sched:sched_wakeup', '-N', '1', 's.py', *short], tmp_path, prof)
    assert (done.returncode, done.stderr) == (0, ''), done
    assert words(done) == ['s.py', *short]


@pytest.mark.parametrize('word', ['-x', '-xi', '-xi20', '-vx', '-5', '-i_', '--x', '--x=-i', '-', '---'])
def test_single_words(prof, tmp_path, word):
    (tmp_path / 's.py').write_text(SCRIPT)
    done = run([prof, 'python', '-e', 'sched:sched_wakeup', '-N', '1', 's.py', word], tmp_path, prof)
    if word == '-i_':       # -i with a value that is none: ours, and told
        assert done.returncode == 2 and '-i _' in done.stderr
    else:
        assert words(done) == ['s.py', word]


@pytest.mark.parametrize('word', ['--threshold', '-x', '--inter', '--no-such'])
def test_unknown_options_before_the_script_are_mistakes(prof, tmp_path, word):
    (tmp_path / 's.py').write_text(SCRIPT)
    done = run([prof, 'python', '-e', 'sched:sched_wakeup', word, 's.py'], tmp_path, prof)
    assert done.returncode == 2 and f'unknown option {word}' in done.stderr


SHEBANG = '#!/usr/bin/env -S perf-prof python -e sched:sched_wakeup'


@pytest.mark.parametrize('rest, line, want, ticks', [
    ('', './script.py -i 20 --threshold 50', ['--threshold', '50'], True),
    (' -i 20', './script.py --threshold 50', ['--threshold', '50'], True),
    (' -i 20', './script.py -- -i 30', ['-i', '30'], True),
    ('', './script.py -N 1 -C 0 word', ['word'], False),
    (' -N 1 --', './script.py -i 20 --threshold 50', ['-i', '20', '--threshold', '50'], False),
    (' -N 1 --', './script.py -h', ['-h'], False),
    (' -i 20 --', './script.py -i 1000 -- x', ['-i', '1000', '--', 'x'], True),
    (" -e 'sched:sched_switch/prev_pid>0/' -i 20", './script.py', [], True),
])
def test_shebang_lines(prof, tmp_path, rest, line, want, ticks):
    script = tmp_path / 'script.py'
    script.write_text(SHEBANG + rest + '\n' + SCRIPT)
    script.chmod(0o755)
    done = run(shlex.split(line), tmp_path, prof)
    assert (done.returncode, done.stderr) == (0, ''), done
    assert words(done) == ['./script.py', *want]
    assert ('tick' in done.stdout) == ticks


def test_a_shebang_script_on_the_path(prof, tmp_path):
    script = tmp_path / 'bin/tool'
    script.parent.mkdir()
    script.write_text(SHEBANG + ' -N 1 --\n' + SCRIPT)
    script.chmod(0o755)
    env = {**os.environ, 'PATH': f'{script.parent}:{os.path.dirname(prof)}:{os.environ["PATH"]}'}
    done = subprocess.run(['tool', '-x'], env=env, cwd='/', capture_output=True, text=True, timeout=30)
    assert words(done) == [str(script), '-x']
    assert done.stdout.splitlines()[0] == f'Loaded module: {script}'


# ---- the page's own examples ----------------------------------------------------------

def test_argv_and_argparse_of_the_page(prof, tmp_path):
    (tmp_path / 'script.py').write_text('''import sys
print(sys.argv)  # ['script.py', '--foo', 'bar', '-n', '10']

import argparse
parser = argparse.ArgumentParser()
parser.add_argument('--foo', default='default')
parser.add_argument('-n', type=int, default=1)
args = parser.parse_args()
print(args.foo)  # 'bar'
print(args.n)    # 10
def __sample__(event): sys.exit()
''')
    done = run([prof, *'python -e sched:sched_wakeup -- script.py --foo bar -n 10'.split()], tmp_path, prof)
    assert done.stdout.splitlines()[1:] == ["['script.py', '--foo', 'bar', '-n', '10']", 'bar', '10']


def test_the_shebang_script_of_the_page(prof, tmp_path):
    script = tmp_path / 'script.py'
    script.write_text(SHEBANG + ''' -i 1000

def __init__():
    print("Script started")

def __sample__(event):
    event.print()
''')
    script.chmod(0o755)
    done = run(['./script.py', '-N', '2'], tmp_path, prof)
    lines = done.stdout.splitlines()
    assert lines[:2] == [f'Loaded module: {script}', 'Script started']
    assert len(lines) == 4 and all('sched:sched_wakeup: comm=' in line for line in lines[2:])


# ---- help -----------------------------------------------------------------------------

HELP = [
    ('sched:sched_wakeup', ['sched__sched_wakeup']),
    ('sched:sched_wakeup,sched:sched_switch', ['sched__sched_wakeup', 'sched__sched_switch']),
    ('sched:sched_wakeup//alias=wakeup1/,sched:sched_wakeup//alias=wakeup2/',
     ['sched__wakeup1', 'sched__wakeup2']),
    ('sched:sched_wak*', ['sched__sched_wakeup', 'sched__sched_wakeup_new', 'sched__sched_waking']),
]


@pytest.mark.parametrize('event, handlers', HELP)
def test_help_writes_a_script_that_runs(prof, tmp_path, event, handlers):
    done = run([prof, 'python', '-e', event, 'help'], tmp_path, prof)
    assert (done.returncode, done.stderr) == (0, '')
    for name in handlers:
        assert re.search(rf'^def {name}\(event\):$', done.stdout, re.M)
    (tmp_path / 'my_script.py').write_text(done.stdout)
    again = run([prof, 'python', '-e', event, '-i', '100', '-N', '20', 'my_script.py'], tmp_path, prof)
    assert (again.returncode, again.stderr) == (0, '')
    assert again.stdout == f'Loaded module: {tmp_path}/my_script.py\n'


def test_the_first_steps_of_the_page(prof, tmp_path):
    """As they stand there: template, a line of one's own, run. Something is seen each interval."""
    with open(os.path.join(ROOT, 'docs/python.md')) as f:
        steps = re.findall(r'^    (.*my_script\.py)$', f.read(), re.M)[:3]
    assert steps[0].endswith('help > my_script.py') and '-i 1000 ' in steps[2]
    steps[2] = 'timeout -s INT 3.4 ' + steps[2]
    done = run(['sh', '-c', '; '.join(steps)], tmp_path, prof)
    assert done.stderr == ''
    assert len(re.findall(r'^\d+ events$', done.stdout, re.M)) >= 2, done


def test_the_template_tells_the_third_of_lost(prof, tmp_path):
    done = run([prof, 'python', '-e', 'sched:sched_wakeup', 'help'], tmp_path, prof)
    lost = done.stdout.split('def __lost__(lost_start, lost_end):')[1].split('\ndef ')[0]
    assert 'A third parameter, where there is one, gets a dict of count, cpu and cause.' in lost


@pytest.mark.parametrize('line', ['help', '-i 1000 help', '-- help', 'help more words', '-o out help'])
def test_help_where_the_script_stands(prof, tmp_path, line):
    (tmp_path / 'help.py').write_text('print("a script")\n')
    done = run([prof, 'python', '-e', 'sched:sched_wakeup', *line.split()], tmp_path, prof)
    assert (done.returncode, done.stderr) == (0, '')
    assert done.stdout.startswith('# ====') and 'Loaded module' not in done.stdout


def test_help_is_no_argument(prof, tmp_path):
    (tmp_path / 's.py').write_text(SCRIPT)
    done = run([prof, 'python', '-e', 'sched:sched_wakeup', '-N', '1', 's.py', 'help'], tmp_path, prof)
    assert words(done) == ['s.py', 'help']


def test_help_that_cannot_be_written(prof, tmp_path):
    done = run(['sh', '-c', f'{prof} python -e sched:sched_wakeup help >/dev/full'], tmp_path, prof)
    assert done.returncode == 1 and 'No space left' in done.stderr


def test_the_recording_of_the_page(prof, tmp_path):
    """As it stands there: the script that was made above prints on a recording, too."""
    with open(os.path.join(ROOT, 'docs/python.md')) as f:
        steps = re.findall(r'^    (.*(?:my_script\.py|-- sleep 5 .*))$', f.read(), re.M)[:5]
    assert ' record ' in steps[3] and ' -I perf.data ' in steps[4]
    steps[3] = re.sub(r'sleep 5 .*', 'sleep 2.5', steps[3])
    done = run(['sh', '-c', '; '.join(steps[:2] + steps[3:])], tmp_path, prof)
    assert re.search(r'^[1-9]\d* events$', done.stdout, re.M), done


def test_the_script_of_readme(prof, tmp_path):
    """As it stands there, with its command: a line each interval."""
    with open(os.path.join(ROOT, 'README.md')) as f:
        text = f.read()
    (tmp_path / 'counter.py').write_text(re.search(r'^```python\n(# counter\.py\n.*?)^```$', text, re.M | re.S)[1])
    command = re.search(r'^# (perf-prof python .* counter\.py)$', text, re.M)[1]
    done = run(['sh', '-c', 'timeout -s INT 4.4 ' + command], tmp_path, prof)
    assert done.stderr == ''
    assert re.search(r'\ALoaded module: .*/counter\.py\n(Events: \d+\n){2}', done.stdout), done
