# SPDX-License-Identifier: Apache-2.0
"""The program at the end of each manual page: taken out of the installed page, compiled
against the installed library, run."""
import glob
import os
import re

import pytest

from conftest import ROOT, need
from frame import requires

# page -> (what it needs, what it prints: a pattern for all of its output)
PROGRAMS = {
    'pev_attr_breakpoint': (['pmu:breakpoint'], r'written 5 times\n'),
    'pev_attr_buf_init': ([], r'128 bytes\n136 bytes with config3\n144 bytes with config4\n'),
    'pev_attr_get': ([], r'type +1 .*\n(.*\n)*inherit +1 +\(Linux 2.6.31: .*\)\n'
                         r'(.*\n)*sample_max_stack +64 +\(Linux 4.8: .*\)\n'),
    'pev_attr_init': (['tracefs'], r'page faults: type 1 config 2\ntask-clock: type 1 config 1\n'
                                   r'getpid: type 2\n'),
    'pev_attr_kprobe': (['pmu:kprobe', 'root'], r'close_fd was called 3 times\n'),
    'pev_attr_label': ([], r'instructions:u\n'),
    'pev_attr_parse': ([], r'task-clock:u: type 1, config 1, led by task-clock:u\n'
                           r'page-faults:u: type 1, config 2, led by task-clock:u\n'
                           r'(cs|context-switches): type 1, config 3, led by \1\n'),
    'pev_attr_sample_period': ([], r'every 1000000 ns, a wake-up per sample\n'
                                   r'997 times a second, a wake-up per 16384 bytes\n'),
    'pev_attr_set_aux_action': ([], r'aux_action = 2\n'),
    'pev_attr_set_core_type': ([], r'(cycles of cpu\w*: config 0x\w+|no PMU of a CPU here)\n'),
    'pev_attr_set_defer': ([], r'defer_callchain = 1, defer_output = 1\n'),
    'pev_attr_uprobe': (['pmu:uprobe', 'root'], r'visited\(\) was called 7 times\n'),
    'pev_aux_map': (['events'], r'no PMU here that traces\nand a software event has no AUX area\n'
                        r'|\d+ bytes of 65536\n'),
    'pev_branch_entry': ([], r'0x401000 -> 0x402000 predicted COND, 12 cycles\n'),
    'pev_cache_lookup': ([], r'L1-dcache-load-misses is 0x10000\n0x102 is LLC-stores\n'
                             r'42 in all\n'),
    'pev_count_estimate': ([], r'about 4000, seen 25% of the time, estimated\n'),
    'pev_count_text': (['events'], r'cycles = 25 \(seen 25.0% of the time\)\n *\d+ task-clock\n'
                           r' *\d+ page-faults\n'),
    'pev_data_src': ([], r'load: .*load.*L1.*\n'),
    'pev_decode': ([], r'42/43 is sh, by execve\nbeyond its end: Bad message\n'),
    'pev_error_text': (['events'], r'open 1:0x1267 on the calling thread: .*ENOENT.*\n'),
    'pev_event_enable': (['tracefs'], r'counted 2\n'),
    'pev_event_measure': (['events'], r'6[4-7] page faults for 64 pages\n'),     # a page of libc's, too, if another program pushed it out
    'pev_event_modify': (['pmu:breakpoint'], r'3 writes seen\n'),
    'pev_event_open': (['events'], r'switches: descriptor \d+, an attr of 128 bytes\n'),
    'pev_event_pause_output': (['tracefs'], r'3 counted, 2 recorded\n'),
    'pev_event_read': (['events'], r'\d+ ns, running all the time, its id is the same\n'),
    'pev_event_refresh': (['tracefs'], r'it went off after 3\nfrom now on every hundredth\n'),
    'pev_event_set_bpf': (['tracefs', 'root'], r'programs on the tracepoint: 1\n'),
    'pev_event_set_filter': (['tracefs'], r'6 of 10\n'),
    'pev_event_set_output': (['tracefs'], r'getppid\ngetuid\n'),
    'pev_event_signal': (['tracefs'], r'5 signals\n'),
    'pev_features_probe': ([], r'(works|refused) +\S+ +.*\n(.*\n)+\d+ of \d+ work\n'),
    'pev_group_measure': (['tracefs'], r'measured: 1 and 2\n(piece \d: 1 and 2\n){3}'),
    'pev_group_open': (['events'], r'task-clock \d+\npage-faults \d+\ncontext-switches \d+\n'),
    'pev_group_read': (['tracefs'], r'getppid 4 times in some ns\nafter the reset 0\n'),
    'pev_pmu_list': ([], r'( *\d+ [\w.-]+\n)+'),
    'pev_pmu_open': (['pmu:msr'], r'msr: type \d+, (.*\n)+  event tsc: event=0x00\n(.*\n)*'
                                r'config 0\n'),
    'pev_read_value': (['tracefs'], r'at 2\nat 4\nat 6\n'),
    'pev_record_name': ([], r'MMAP2 CALLCHAIN\nguest-user kernel\nnet BPF PROG_LOAD\nunknown\n'),
    'pev_record_text': ([], r'.*COMM.*a\\x1b\[1mb.*\nout\ntruncated\n.*retry.*\n'),
    'pev_regs_value': ([], r'AX 0x1111\nSP 0x7ffe0000\n'),
    'pev_ring_begin': (['events'], r'now called one\nnow called two\nnone left, 0 damaged\n'),
    'pev_ring_map': (['events'], r'16384 bytes; poll the event\n'),
    'pev_ring_map_overwrite': (['tracefs'], r'the last few of the 100000 are there\n'),
    'pev_ring_wait': (['events'], r'mappings were seen; then the task ended\n'),
    'pev_self_map': (['events'], r'counting, read (in user space|by read\(2\)).*\n'),
    'pev_software_lookup': ([], r'(software +\d+ \S+\n)+(hardware +\d+ \S+\n)+raw 0x1c0\n'
                                r'faults is config 2\ncycles is config 0\n'),
    'pev_supported': (['events'], r'perf_event_open\(2\) is there\nkernel.perf_event_paranoid = -?\d\n'
                          r'call chains of \d+ frames at most\n'),
    'pev_target_self': (['root'], r'can watch this thread\ncan watch this thread on CPU 0\n'
                                  r'can watch the parent\ncan watch all of CPU 0\n'),
    'pev_tasks_enable': (['tracefs'], r'counted 1 of 2\n'),
    'pev_tracefs_path': (['tracefs'], r'tracefs is at /\S+\nsched:sched_switch is \d+\n'),
    'pev_usdt_open': ([], r'0 probes\n'),
    'pev_vendor_each': ([], r'(\S+: \S+: .*\n)*(\d+ events|built without libpfm4)\n'),
}


def example(installed, page):
    """The program of a page, as someone would copy it from there."""
    with open(os.path.join(installed.man, 'man3', f'{page}.3')) as f:
        text = f.read()
    body = re.search(r'^\.SH EXAMPLE\n\.EX\n(.*?)^\.EE\n', text, re.M | re.S).group(1)
    for roff, char in [('\\&', ''), ('\\-', '-'), ('\\(aq', "'"), ('\\(ha', '^'), ('\\(ti', '~'),
                       ('\\e', '\\')]:
        body = body.replace(roff, char)
    return body


def test_no_page_without_a_program():
    pages = [os.path.basename(p)[:-5] for p in glob.glob(os.path.join(ROOT, 'man/man3/*.page'))]
    assert sorted(pages) == sorted(PROGRAMS)


def of_the_kernel(word):
    return word.startswith('pmu:') or requires.of_the_kernel(word)


@pytest.mark.parametrize('page', [
    pytest.param(page, marks=[pytest.mark.live] if any(map(of_the_kernel, PROGRAMS[page][0])) else []) for page in sorted(PROGRAMS)])
def test_program(installed, tmp_path, page):
    source = tmp_path / f'{page}.c'
    source.write_text(example(installed, page))
    program = installed.compile(source, tmp_path / page)
    needs, pattern = PROGRAMS[page]
    need(*needs)
    done = installed.run(program)
    if done.returncode == 77:
        pytest.skip(done.stderr.strip())
    assert re.fullmatch(pattern, done.stdout) and done.stderr == '' and done.returncode == 0, \
        f'exit {done.returncode}\n{done.stdout}{done.stderr}'
