# SPDX-License-Identifier: Apache-2.0
"""make uninstall: what was installed goes, what others have there stays."""
import os

from conftest import ROOT, run


def uninstall(build):
    return run([os.path.join(ROOT, 'tools/uninstall'), build])


def test_what_others_have_stays(tmp_path):
    lib, doc = tmp_path / 'lib', tmp_path / 'share/doc/perf-prof'
    modules = [lib / 'python' / name for name in ('pyperf', 'perf_prof/raw', 'perf_prof', 'perf_prof_pytest')]
    log, made = tmp_path / 'build/installed.txt', tmp_path / 'lib/made'
    for folder in lib, doc, made, log.parent, *(module / '__pycache__' for module in modules):
        folder.mkdir(parents=True, exist_ok=True)
    ours = [lib / 'libperfevent.so', doc / 'NOTICE', *(module / '__init__.py' for module in modules), lib / 'gone']
    for path in *ours[:-1], lib / 'theirs.so', doc / 'notes of the administrator', *(m / '__pycache__/__init__.pyc' for m in modules):
        path.write_text('')
    log.write_text(''.join(f'{line}\n' for line in ('# List of files', *ours, lib, made)))
    for said in '6 files removed\n', '0 files removed\n':
        done = uninstall(tmp_path / 'build')
        assert (done.returncode, done.stdout) == (0, said), done.stderr
    left = {path.name for path in tmp_path.rglob('*') if path.is_file()}
    assert left == {'installed.txt', 'theirs.so', 'notes of the administrator'}
    assert doc.exists() and lib.exists() and not any(module.exists() for module in modules) and not made.exists()


def test_nothing_was_installed(tmp_path):
    done = uninstall(tmp_path)
    assert done.returncode == 1 and 'nothing was installed' in done.stderr


def test_help_names_every_target():
    done = run(['make', '-C', ROOT, '--no-print-directory', 'help'])
    with open(os.path.join(ROOT, 'Makefile'), encoding='utf-8') as f:
        targets = next(line for line in f if line.startswith('.PHONY:')).split()[1:]
    named = {line.split()[1] for line in done.stdout.splitlines() if line.startswith('make ')}
    assert set(targets) - {'all', 'build'} <= named | {'build'}, done.stdout
