# SPDX-License-Identifier: Apache-2.0
"""rundelay says which tasks had the CPU while a thread waited for it."""
import os
import subprocess
import sys

SPIN = 'import os, time; os.sched_setaffinity(0, {%d}); print(1, flush=True); end = time.time() + 60\nwhile time.time() < end: pass'


def total(rows):
    return sum(row['total'] for row in rows)


def test_the_other_one_on_the_cpu(analyse):
    cpu = max(os.sched_getaffinity(0))
    both = [subprocess.Popen([sys.executable, '-c', SPIN % cpu], stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for one in both:
            assert one.stdout.read(1) == b'1'
        got = analyse('rundelay', '-p', both[0].pid, '--json', '--seconds', '1')
    finally:
        for one in both:
            one.kill()
            one.communicate()
    table = got.table('rundelay')
    waits, ran = table['rows'], table['ran']
    assert total(waits) == total(ran), (waits, ran)      # all of their time was somebody's
    by_tid = {row.get('tid'): row for row in ran}
    assert both[0].pid not in by_tid, ran
    assert by_tid[both[1].pid]['total'] >= 0.05 * total(waits), (waits, ran)     # tests that run beside may use the CPU too
    assert [row['total'] for row in ran] == sorted((row['total'] for row in ran), reverse=True)
    assert by_tid[both[1].pid]['comm'].startswith('python'), ran
