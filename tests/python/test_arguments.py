# SPDX-License-Identifier: Apache-2.0
"""Whose each word of the command line is: perf-prof's or the script's."""
import json
import os
import re
import shlex

import pytest

from frame import declared
from frame.session import ran

live = pytest.mark.live('tracefs', 'root')

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPT = ('import sys, json\nprint(json.dumps(sys.argv))\nn = 0\n'
          'def __sample__(e): pass\n'
          'def __interval__():\n    print("tick", flush=True)\n    sys.exit(0)\n')


@pytest.fixture
def python(replay):
    (replay.folder / 's.py').write_text(SCRIPT)
    return replay


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
def test_command_lines(python, line, want, ticks):
    done = python(*shlex.split(line), events=0)
    assert words(done) == ['s.py', *want] and ('tick' in done.stdout) == ticks


def long_options(prof):
    """Every long option of ours, from --help-all."""
    text = ran([prof, 'python', '--help-all']).stdout
    names = set(re.findall(r'--(?:\[no-\])?([a-z][\w-]+)', text))
    assert {'event', 'interval', 'cpus', 'pids', 'order', 'user-callchain'} <= names
    return names


def test_no_abbreviation_of_ours_swallows_a_word(python):
    """--inter, --ev, --ord ... are the script's, each as it stands; and so are words that begin as options of ours do."""
    ours = long_options(python.prof)
    short = sorted({'--' + name[:n] for name in ours for n in range(1, len(name))}
                   - {'--' + name for name in ours}
                   - {'--help', '--cgroup', '--no', '--cgroups'})
    short += [f'{name}=7' for name in short] + ['--INTERVAL', '--Order', '--intervals', '--order-', '--no-']
    short += ['-x', '-xi', '-xi20', '-vx', '-5', '--x', '--x=-i', '-', '---']
    assert words(python('s.py', *short)) == ['s.py', *short]


@pytest.mark.parametrize('line, said', [('s.py -i_', '-i _'), ('--threshold s.py', 'unknown option --threshold'),
                                        ('-x s.py', 'unknown option -x'), ('--inter s.py', 'unknown option --inter')])
def test_mistakes(python, line, said):
    assert said in python(*line.split(), check=2).stderr


SHEBANG = '#!/usr/bin/env -S perf-prof python -I {} -e sched:sched_wakeup'


def shebang_script(python, path, options, text=SCRIPT):
    """The environment in which it runs."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(SHEBANG.format(python.source[1]) + options + '\n' + text)
    path.chmod(0o755)
    return {**os.environ, 'PATH': f'{path.parent}:{os.path.dirname(python.prof)}:{os.environ["PATH"]}'}


@pytest.mark.parametrize('rest, line, want, ticks', [
    (' -i 20', './script.py --threshold 50', ['--threshold', '50'], True),
    (' -i 20', './script.py -- -i 30', ['-i', '30'], True),
    ('', './script.py -N 1 -C 0 word', ['word'], False),
    (' -N 1 --', './script.py -i 20 --threshold 50 -h', ['-i', '20', '--threshold', '50', '-h'], False),
    (' -i 20 --', './script.py -i 1000 -- x', ['-i', '1000', '--', 'x'], True),
    (" -e 'sched:sched_switch/prev_pid>0/' -i 20", './script.py', [], True),
])
def test_shebang_lines(python, tmp_path, rest, line, want, ticks):
    env = shebang_script(python, tmp_path / 'script.py', rest)
    done = ran(shlex.split(line), cwd=tmp_path, env=env)
    assert (done.returncode, done.stderr) == (0, ''), done
    assert words(done) == ['./script.py', *want] and ('tick' in done.stdout) == ticks


def test_a_shebang_script_on_the_path(python, tmp_path):
    env = shebang_script(python, tmp_path / 'bin/tool', ' -N 1 --')
    done = ran(['tool', '-x'], env=env, cwd='/')
    assert words(done) == [f'{tmp_path}/bin/tool', '-x']
    assert done.stdout.splitlines()[0] == f'Loaded module: {tmp_path}/bin/tool'


# ---- commands of pages ----------------------------------------------------------------

def run_line(prof, folder, line, until=None):
    """A shell's line of a page; with `until`, until stdout shows that, in intervals of 100 ms instead of 1 s."""
    case = {'cmd': line.replace('-i 1000 ', '-i 100 '), 'env': {'PATH': f'{os.path.dirname(prof)}:{os.environ["PATH"]}'}, 'timeout': 30}
    if until:
        case.update(cmd='exec ' + case['cmd'], signals=[{'send': 'INT', 'on': until}])
    run = declared.Run({'name': 'run', **case}, folder)
    assert not run.trouble and run.code == 0, (run.trouble, run.stdout, run.stderr)
    return run.stdout


@live
def test_the_first_steps_of_the_page(prof, tmp_path):
    """As they stand there: template, a line of one's own, run. Something is seen each interval. The script that was made so
    prints on a recording, too."""
    with open(os.path.join(ROOT, 'docs/python.md')) as f:
        template, line, run, record, replay = re.findall(r'^((?:perf-prof|echo) .*(?:my_script\.py|-- sleep 5 .*))$', f.read(), re.M)[:5]
    assert template.endswith('help > my_script.py') and '-i 1000 ' in run and ' record ' in record and ' -I perf.data ' in replay
    run_line(prof, tmp_path, template)
    run_line(prof, tmp_path, line)
    run_line(prof, tmp_path, run, r'(?m)^\d+ events\n\d+ events$')
    run_line(prof, tmp_path, re.sub(r'sleep 5 .*', 'sleep 0.5', record))
    assert re.search(r'^[1-9]\d* events$', run_line(prof, tmp_path, replay), re.M)


@live
def test_the_script_of_readme(prof, tmp_path):
    """As it stands there, with its command: a line each interval."""
    with open(os.path.join(ROOT, 'README.md')) as f:
        text = f.read()
    (tmp_path / 'counter.py').write_text(re.search(r'^```python\n(# counter\.py\n.*?)^```$', text, re.M | re.S)[1])
    command = re.search(r'^# (perf-prof python .* counter\.py)$', text, re.M)[1]
    assert re.match(r'Loaded module: .*/counter\.py\n(\d+ wake-ups\n){2}', run_line(prof, tmp_path, command, r'(\d+ wake-ups\n){2}'))


# ---- help -----------------------------------------------------------------------------

@pytest.mark.parametrize('event, handlers', [
    ('sched:sched_wakeup', ['sched__sched_wakeup']),
    ('sched:sched_wakeup//alias=wakeup1/,sched:sched_wakeup//alias=wakeup2/', ['sched__wakeup1', 'sched__wakeup2']),
    ('sched:sched_*', ['sched__sched_wakeup', 'sched__sched_switch']),
])
def test_help_writes_a_script_that_runs(python, tmp_path, event, handlers):
    text = python('help', event=event).stdout
    for name in handlers:
        assert re.search(rf'^def {name}\(event\):$', text, re.M)
    (tmp_path / 'my_script.py').write_text(text)
    assert python('-i', '100', 'my_script.py', event=event, events=20).stdout == f'Loaded module: {tmp_path}/my_script.py\n'


def test_the_template_tells_the_third_of_lost(python):
    lost = python('help').stdout.split('def __lost__(lost_start, lost_end):')[1].split('\ndef ')[0]
    assert 'A third parameter, where there is one, gets a dict of count, cpu and cause.' in lost


@pytest.mark.parametrize('line', ['help', '-i 1000 help', '-- help', 'help more words', '-o out help'])
def test_help_where_the_script_stands(python, tmp_path, line):
    (tmp_path / 'help.py').write_text('print("a script")\n')
    done = python(*line.split())
    assert done.stdout.startswith('# ====') and 'Loaded module' not in done.stdout


def test_help_is_no_argument(python):
    assert words(python('s.py', 'help')) == ['s.py', 'help']


def test_help_that_cannot_be_written(python):
    done = ran(['sh', '-c', f'{python.prof} python -I {python.source[1]} help >/dev/full'])
    assert done.returncode == 1 and 'No space left' in done.stderr
