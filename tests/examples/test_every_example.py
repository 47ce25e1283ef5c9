# SPDX-License-Identifier: Apache-2.0
"""No example without a case that runs it."""
import glob
import os

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, '../../examples')


# Those in C are tests/package's: they are built against the installed library.
@pytest.mark.parametrize('name', sorted(set(os.listdir(EXAMPLES)) - {'c'}))
def test_is_run(name):
    cases = ''.join(open(path).read() for path in glob.glob(os.path.join(HERE, '*.toml')))
    assert name.startswith(('__', 'README')) or f'examples/{name}' in cases
