# SPDX-License-Identifier: Apache-2.0
"""What sanitizers found, whoever they found it in: AddressSanitizer's reports go to files, so that also
a process of which no test sees the end is known. (UndefinedBehaviorSanitizer knows no such files
beside it: an exit status tells, or its words.)"""
import contextlib
import os
import tempfile

from .result import FAILED, Result


@contextlib.contextmanager
def reports(env):
    """The environment for a run, and the folder in which its reports are; None of both if env has no options
    for AddressSanitizer."""
    if 'ASAN_OPTIONS' not in (env or {}):
        yield env, None
        return
    # what is no longer root writes there too
    with tempfile.TemporaryDirectory(prefix='sanitizers-of-perf-prof-', ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o1777)
        yield {**env, 'ASAN_OPTIONS': f'{env["ASAN_OPTIONS"]}:log_path={folder}/report'}, folder


def look(label, results, folder):
    """The results, and a failure for each report that a run under sanitizers has left."""
    for name in sorted(os.listdir(folder) if folder else ()):
        with open(os.path.join(folder, name), errors='replace') as report:
            results.append(Result(label, f'sanitizer: {name}', FAILED, output=report.read()))
    return results
