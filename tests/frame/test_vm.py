# SPDX-License-Identifier: Apache-2.0
"""The harness of the guests, as far as it needs no guest."""
from frame.result import FAILED, SKIPPED
from vm import checks, initramfs
from vm.guest import Done

GOOD = '''ok 1 - tracepoint: works: 1000 calls; expected 1000, seen 1000
ok 2 - sigtrap: refused: since Linux 5.13; expected an error: that, seen "x"
ok 3 - kprobe # SKIP needs the PMU kprobe
1..3
'''
BAD = 'not ok 1 - tracepoint: FAILED: 1000 calls; expected 1000, seen 999\n1..1\n'


def test_outcomes_of_checks():
    found = checks.parse(GOOD + BAD)
    assert [(c.name, c.outcome) for c in found] == [
        ('tracepoint', checks.WORKS), ('sigtrap', checks.REFUSED), ('kprobe', SKIPPED),
        ('tracepoint', FAILED)]
    assert found[1].text == 'since Linux 5.13; expected an error: that, seen "x"'
    assert found[2].text == 'needs the PMU kprobe'
    assert found[3].text.endswith('seen 999')


def test_trouble_of_a_run():
    assert checks.trouble(Done(0, GOOD)) is None
    assert checks.trouble(Done(1, BAD)) is None         # its failed check says it
    assert 'exit code 1' in checks.trouble(Done(1, GOOD))
    assert 'exit code 0' in checks.trouble(Done(0, BAD))
    assert 'broke off' in checks.trouble(Done(139, GOOD.replace('1..3\n', '')))
    assert 'broke off' in checks.trouble(Done(127, ''))


def test_modules_come_after_what_they_need(tmp_path):
    folder = tmp_path / 'usr/lib/modules/1/kernel'
    folder.mkdir(parents=True)
    for name, depends in (('9p', '9pnet,built_in'), ('9pnet', ''), ('9pnet_virtio', '9pnet')):
        (folder / f'{name.replace("_", "-")}.ko').write_bytes(
            b'x\0license=GPL\0depends=%s\0name=y\0' % depends.encode())
    modules = initramfs.Modules(str(tmp_path))
    assert [name for name, _ in modules.ordered(('virtio_pci', '9p', '9pnet_virtio'))] == [
        '9pnet', '9p', '9pnet_virtio']
