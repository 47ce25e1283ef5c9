# SPDX-License-Identifier: Apache-2.0
"""The module pyperf as it was built, in this process."""
import importlib
import os
import sys

import pytest


@pytest.fixture(scope='session')
def pyperf(build):
    folder = os.path.join(build, 'python')
    if not os.path.isdir(os.path.join(folder, 'pyperf')):
        pytest.skip('needs a build with Python')
    sys.path.insert(0, folder)
    try:
        return importlib.import_module('pyperf')
    except ImportError as error:
        pytest.skip(f'pyperf was not built for {sys.version.split()[0]} ({error})')
    finally:
        sys.path.remove(folder)
