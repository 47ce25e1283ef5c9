# SPDX-License-Identifier: Apache-2.0
"""What Tab offers in bash, zsh and fish."""
import os
import shutil
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BASH = r'''
. ./script
COMP_LINE=$1 COMP_POINT=${#1}
_perf_prof
printf '%s\n' "${COMPREPLY[@]}"
'''


def script(prof, shell):
    return subprocess.run([os.path.join(ROOT, 'tools/completion.py'), shell, prof], capture_output=True, text=True, check=True).stdout


def offered(prof, folder, shell, line):
    if not shutil.which(shell):
        pytest.skip(f'needs the program {shell}')
    (folder / 'script').write_text(script(prof, shell))
    argv = ['bash', '-c', BASH, 'bash', line] if shell == 'bash' else \
        ['fish', '--no-config', '-c', 'source script; complete -C $argv[1]', line]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=60,
                          env={**os.environ, 'PATH': os.path.dirname(prof) + ':' + os.environ['PATH'], 'HOME': str(folder)})
    assert done.returncode == 0 and not done.stderr, done
    return [word.partition('\t')[0] for word in done.stdout.split('\n') if word]


@pytest.mark.parametrize('shell', ['bash', 'fish'])
@pytest.mark.parametrize('line, some, none', [
    ('pro', ['profile'], ['python', '--event']),
    ('profile --so', ['--sort'], ['--event', '--no-sort']),
    ('profile --no-inl', ['--no-inline'], ['--inline']),
    ('help la', ['latency'], ['python']),
    ('waits --by ', ['task', 'pid', 'comm'], ['script']),
    ('list page-f', ['page-faults'], ['sched:sched_switch']),
    ('report scr', ['script'], ['page-faults']),
    ('report -I scr', ['script'], ['page-faults']),
    ('profile -p 1', ['1'], ['2', 'script']),
])
def test_words(prof, tmp_path, shell, line, some, none):
    words = offered(prof, tmp_path, shell, f'perf-prof {line}')
    assert set(some) <= set(words) and not set(none) & set(words), words


@pytest.mark.live('tracefs')
@pytest.mark.parametrize('shell', ['bash', 'fish'])
@pytest.mark.parametrize('line, some', [
    ('trace -e sched:sched_swi', ['sched:sched_switch']),
    ('trace -e page-faults,sched:sched_swi', ['page-faults,sched:sched_switch']),
    ('trace -e sched:sched_switch/prev_st', ['sched:sched_switch/prev_state']),
    ('trace --event=sched:sched_swi', ['--event=sched:sched_switch']),
])
def test_events(prof, tmp_path, shell, line, some):
    """readline replaces what follows the last colon or equals sign."""
    words = offered(prof, tmp_path, shell, f'perf-prof {line}')
    want = [word.partition('=')[2].partition(':')[2] or word.rpartition(':')[2] for word in some] if shell == 'bash' else some
    assert words == want, words


@pytest.mark.parametrize('shell', ['bash', 'zsh', 'fish'])
def test_scripts_are_whole(prof, tmp_path, shell):
    """Each command and each long option is in them, and the shell can read them."""
    text = script(prof, shell)
    assert all(word in text for word in ('task-state', 'flame-graph-before', 'no-inherit', 'exit-N'))
    if not shutil.which(shell):
        pytest.skip(f'needs the program {shell}')
    (tmp_path / 'script').write_text(text)
    done = subprocess.run([shell, '-n', 'script'], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done
