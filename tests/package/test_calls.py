# SPDX-License-Identifier: Apache-2.0
"""No room calls one above it, not even by a declaration of its own: by the symbols of the built objects."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '../layering'))

import layering  # noqa: E402


def test_calls(build):
    assert {'base/fault.c', 'pyperf/ring.c', 'cli/main.c'} <= set(layering.objects(build).values())
    assert list(layering.check_calls(build)) == []


def test_a_call_from_below(build, monkeypatch):
    monkeypatch.setitem(layering.FLOOR, 'base', (99, layering.TOP))
    assert 'src/cli/main.c uses fault_print of src/base/fault.c, which is above it' in layering.check_calls(build)
