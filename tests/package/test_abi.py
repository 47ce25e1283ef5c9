# SPDX-License-Identifier: Apache-2.0
"""The ABI is that of libperfevent.abi, as libabigail sees it. A change that is meant is
written down by tests/package/update-abi."""
import os
import platform
import re

import pytest

from conftest import ROOT, need, run

HERE = os.path.dirname(os.path.abspath(__file__))
KEPT = os.path.join(HERE, 'libperfevent.abi')


@pytest.fixture(scope='module')
def now(build, tmp_path_factory):
    if platform.machine() != 'x86_64':
        pytest.skip(f'libperfevent.abi is that of x86_64, this is {platform.machine()}')
    need('program:abidw', 'program:abidiff')
    out = tmp_path_factory.mktemp('abi') / 'now.abi'
    lib = os.path.realpath(os.path.join(build, 'src/perfevent/libperfevent.so'))
    done = run([os.path.join(HERE, 'update-abi'), lib, out])
    assert done.returncode == 0, done.stderr
    return str(out)


def test_nothing_changed(now):
    done = run(['abidiff', KEPT, now])
    told = f'{done.stdout}{done.stderr}\nif it is meant: tests/package/update-abi'
    assert done.returncode == 0, told


def test_the_file_holds_all_and_nothing_private(now):
    import header
    with open(KEPT) as f:
        text = f.read()
    assert all(f"<elf-symbol name='{name}'" in text for name in header.functions())
    assert text.count('<function-decl') == len(header.functions())
    assert "name='perf_event_attr' size" not in text and "name='pev_pmu' size" not in text
    assert re.search("name='pev_pmu' .*is-declaration-only='yes'", text)
    assert "name='pev_record' size" in text and ROOT not in text


CHANGES = {
    'a function is gone': ("<elf-symbol name='pev_ring_begin'", "<elf-symbol name='pev_ring_begun'"),
    'a member moved': ("<data-member access='public' layout-offset-in-bits='256'>\n"
                       "        <var-decl name='lost'",
                       "<data-member access='public' layout-offset-in-bits='320'>\n"
                       "        <var-decl name='lost'"),
    'a parameter is gone': (r"<parameter type-id='\w+' name='pages'/>", ''),
    'an enumerator has another value': ("<enumerator name='PEV_ARCH_I386' value='2'/>",
                                        "<enumerator name='PEV_ARCH_I386' value='7'/>"),
}


@pytest.mark.parametrize('what', CHANGES)
def test_a_change_is_seen(now, tmp_path, what):
    old, new = CHANGES[what]
    with open(now) as f:
        text = f.read()
    altered = re.sub(old, new, text, count=1)     # ids of types differ from one run of abidw to another's
    assert altered != text
    changed = tmp_path / 'changed.abi'
    changed.write_text(altered)
    assert run(['abidiff', KEPT, changed]).returncode & 4
