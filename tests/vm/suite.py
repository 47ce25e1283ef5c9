# SPDX-License-Identifier: Apache-2.0
"""The suite `vm`: two guests, each with all that runs there, at the same time.

    bookworm amd64   this machine's own system on another kernel: kprobes, the built program
    trixie arm64     a system of its own from Debian packages: a PMU, the cross-built program
"""
import concurrent.futures
import glob
import os
import re
from dataclasses import dataclass, field
from typing import Callable

from frame import failing, tap
from frame.build import BuildFailed
from frame.result import FAILED, PASSED, SKIPPED, Result

from . import checks, cross, guest
from .archive import Unavailable

SECONDS = 2200      # the longest that a guest may take: emulated ones on a slow machine take 1000

SCRIPT = '''
seen = {}
def __sample__(event):
    seen[event._event] = seen.get(event._event, 0) + 1
    assert event._time > 0 and event._cpu >= 0 and event.common_type > 0
def sched__sched_switch(event):
    __sample__(event)
    assert isinstance(event.next_comm, str) and event.next_pid >= 0
def __exit__():
    print('seen', sum(seen.values()), *sorted(seen))
'''


@dataclass
class Job:
    """A command in a guest, and what it has to say."""
    name: str
    command: str
    judge: Callable                             # judge_..., below
    match: list = field(default_factory=list)   # patterns that stdout has


def judge_checks(label, where, job, done):
    """tests/vm/check: the name of a point is short, what was expected and seen is output."""
    for one in checks.parse(done.out):
        status = {checks.FAILED: FAILED, checks.SKIPPED: SKIPPED}.get(one.outcome, PASSED)
        yield Result(label, f'{where}: {one.name}', status,
                     one.text if status == SKIPPED else '', one.text if status == FAILED else '')
    trouble = checks.trouble(done)
    if trouble:
        yield Result(label, f'{where}: {job.name}', FAILED, trouble, done.out + done.err)


def judge_tap(label, where, job, done):
    points, whole, any_tap = tap.parse(done.out)
    for point, status, reason, notes in points:
        yield Result(label, f'{where}: {job.name}: {point}', status, reason,
                     '\n'.join(notes + [done.err]) if status == FAILED else '')
    if not any_tap or not whole or (done.code and not any(p[1] == FAILED for p in points)):
        yield Result(label, f'{where}: {job.name}', FAILED, f'exit code {done.code}',
                     done.out + done.err)


def judge_text(label, where, job, done):
    lacks = [p for p in job.match if not re.search(p, done.out, re.M)]
    bad = [f'stdout lacks /{p}/' for p in lacks]
    if done.code:
        bad.append(f'exit code {done.code}')
    yield Result(label, f'{where}: {job.name}', FAILED if bad else PASSED, ', '.join(bad),
                 done.out + done.err if bad else '')


def program_jobs(build, arch):
    # where there is no PMU, the rest is counted all the same
    counted = (r'^ +\d[\d,]{4,} +instructions:u +# +1\.000 insn per cycle' if arch == 'arm64'
               else r'<not supported> +instructions:u')
    storm = f'{build}/tests/helpers/storm getppid 100000 500 >/dev/null'
    return [
        Job('perf-prof list', f'{build}/perf-prof list', judge_text,
            [r'\bsched:sched_switch\b', r'\bpage-faults\b']),
        Job('perf-prof stat',
            f'{build}/perf-prof stat -e "{{task-clock,syscalls:sys_enter_getppid}},page-faults" '
            f'{build}/tests/helpers/storm getppid 1000 2>&1', judge_text,
            [r'^ +1,000 +syscalls:sys_enter_getppid', r'CPUs utilized$', r'^ +[1-9][\d,]* +page-faults']),
        Job('perf-prof python',
            f"cat >script.py <<'END'\n{SCRIPT}\nEND\n{storm} &\n"
            f'{build}/perf-prof python -e sched:sched_wakeup,sched:sched_switch -N 100 script.py\n'
            'code=$?; kill $!; exit $code', judge_text,
            [r'^seen 100 sched:sched_switch sched:sched_wakeup$']),
        Job('perf-prof stat',
            f'{build}/perf-prof stat -e syscalls:sys_enter_getppid,{{cycles:u,instructions:u}} '
            f'-- {build}/tests/helpers/storm getppid 1000 2>&1',
            judge_text, [r'^ +1,000 +syscalls:sys_enter_getppid\b', counted]),
    ]


PROBES = '''
seen = set()
intervals = 0
def __interval__():
    global intervals
    intervals += 1
    if len(seen) == 2 or intervals > 300:
        raise SystemExit
def kprobe_SYSCALL(event):
    seen.add('call')
    assert event.ip == event.__getitem__('__probe_ip') and event.ip >> 63
    print('call', event.comm, event._event)
def back(event):
    seen.add('return')
    print('return', event.ret, event._pid)
'''

FAILS = failing.PROGRAM + "fails(lambda: socket.socket().connect(('127.0.0.1', 9)))\n"

PROFILE = '''
def profile(event):
    event.print(timestamp=False)
    assert event.ip and event.period and event.cpu == event._cpu and event.callchain is not None
'''


LEFT = 'echo left "[$(cat /sys/kernel/tracing/kprobe_events)]"'


def getppid_of(arch):
    return ('__arm64' if arch == 'arm64' else '__x64') + '_sys_getppid'


def source_jobs(build, arch):
    """Probes of the kernel, which not every machine has; what a profile counts."""
    function = getppid_of(arch)
    storm = f'{build}/tests/helpers/storm getppid 100000 500 >/dev/null'
    python = f'{build}/perf-prof python'
    script = PROBES.replace('SYSCALL', function)
    what = 'cycles' if arch == 'arm64' else 'cpu-clock'
    return [
        Job('kprobes',
            f"cat >k.py <<'END'\n{script}\nEND\n{storm} &\n"
            f"{python} --order -e 'kprobe:{function}//args=\"comm=$comm\"/,"
            f"kretprobe:{function}//args=\"ret=$retval:s64\"/alias=back/' -i 100 k.py\n"
            f'code=$?; kill $!; {LEFT}; exit $code', judge_text,
            [rf'^call storm kprobe:{function}$', r'^return \d+ \d+$', r'^left \[\]$']),
        Job('a kprobe on no function', f"{python} -e kprobe:no_such_function_here k.py 2>&1; echo code $?; {LEFT}",
            judge_text, [r'no function no_such_function_here that can be probed', r'^code 2$', r'^left \[\]$']),
        Job('profile', f"cat >p.py <<'END'\n{PROFILE}\nEND\n{storm} &\n"
            f"{python} -e 'profile/-F 200 -g/' -N 5 p.py; code=$?; kill $!; exit $code", judge_text,
            [rf'^ *\S+ +\d+ \[\d{{3}}\] \d+\.\d{{6}}: profile: \d+ {what}$']),
    ]


# The kernel counts its own probe: where that is 0, no kprobe fires, which was seen in a guest whose host was very busy.
FIRE = '''cd /sys/kernel/tracing && echo 'p:of_vm/own {function}' >kprobe_events && echo 1 >events/of_vm/own/enable &&
{build}/tests/helpers/storm getppid 50 >/dev/null; echo hits $(cat kprobe_profile); echo 0 >events/of_vm/own/enable; echo >kprobe_events
'''
NEED_KPROBES = ': kprobes', ': paths of failed calls', ': test_probes: kernel_functions_are_counted'


def judge_fire(label, where, job, done):
    hits = re.search(r'^hits own (\d+) ', done.out, re.M)
    status = {'50': PASSED, '0': SKIPPED}.get(hits[1] if hits else '', FAILED)
    yield Result(label, f'{where}: {job.name}', status, 'no kprobe fires in this guest: the kernel itself counts none' if status == SKIPPED else '',
                 done.out + done.err if status == FAILED else '')


def excuse(results):
    """What failed for no other reason than a guest without kprobes is skipped."""
    results = list(results)
    silent = [r.reason for r in results if r.name.endswith(': kprobes of the kernel itself') and r.status == SKIPPED]
    for r in results:
        if silent and r.status == FAILED and r.name.endswith(NEED_KPROBES):
            r = Result(r.suite, r.name, SKIPPED, silent[0])
        yield r


def path_jobs(build):
    """syscalls --errors: paths need kprobes."""
    return [
        Job('paths of failed calls',
            f"cat >f.py <<'END'\n{FAILS}\nEND\n"
            f'{build}/perf-prof syscalls --errors --full -- python3 f.py; code=$?; {LEFT}; exit $code', judge_text,
            [r'\A(?!(?s:.*)/nowhere/b\n)', r'^python3 +\d+ +openat\(\d+\) +ENOENT +r +3 .* /nowhere/a$', r' rename\w*\(\d+\) +ENOENT +1 .* '
             r'/nowhere/(old, /nowhere/new|new, /nowhere/old)$', r' execve\(\d+\) +ENOENT .* /nowhere/program$',
             r' connect\(\d+\) +ENOENT .* /nowhere/socket$', r' connect\(\d+\) +ECONNREFUSED .* @nobody$',
             r' bind\(\d+\) +ENOENT .* /nowhere/bound$', r' connect\(\d+\) .* 127\.0\.0\.1:9$', r'^left \[\]$']),
    ]


def hotplug_jobs(build):
    """A CPU that is offline, goes, comes: refused or told. Here nobody else needs it."""
    cpu = '/sys/devices/system/cpu/cpu1/online'
    stat = f'{build}/perf-prof stat -a -A -x, -e cpu-clock'
    python = f'{build}/perf-prof python -e sched:sched_switch'
    script = "printf 'def __sample__(e):\\n    pass\\ndef __exit__():\\n    print(\"end\")\\n' >h.py"
    return [
        Job('a CPU is offline',
            f'echo 0 >{cpu}; {stat} -- true 2>&1; {stat} -C 1 -- true 2>&1; echo code $?; '
            f'{script}; {python} -C 1 h.py 2>&1; echo code $?; echo 1 >{cpu}', judge_text,
            [r'^,CPU0,cpu-clock,', r'-C 1: CPU 1 is not online on this machine; online: 0; use -C 0\ncode 2\n'
             r'(?s:.*)-C 1: CPU 1 is not online on this machine; online: 0; use -C 0\ncode 2$']),
        Job('a CPU goes offline while it is counted, and comes back',
            f"{stat} -i 1000 -- sh -c 'sleep 1; echo 0 >{cpu}; sleep 2; echo 1 >{cpu}; sleep 2' 2>&1",
            judge_text, [r'(?s)CPU 1 went offline.*,CPU1,cpu-clock,0[.0]*,.*CPU 1 was offline: it is counted again.*'
                         r',CPU1,cpu-clock,[1-9]']),
        Job('a CPU is away for a moment while it is recorded',
            f"{build}/perf-prof record -v -a -e cpu-clock,page-faults -F 99 -o a.data -- "
            f"sh -c 'echo 0 >{cpu}; echo 1 >{cpu}; sleep 2; taskset 2 true' 2>&1; "
            f"{build}/perf-prof script -I a.data 2>&1 | tail -n 30; rm a.data", judge_text,
            [r'CPU 1 was offline: it is watched again', r' \[001\] .* cpu-clock: ', r' 0 lost']),
        Job('a CPU comes online while it is counted',
            f"echo 0 >{cpu}; {stat} -- sh -c 'echo 1 >{cpu}' 2>&1; echo 1 >{cpu}; true",
            judge_text, [r'CPU 1 came online: it is not watched; start again']),
        Job('a CPU goes offline under perf-prof python',
            f'{script}; {python} h.py >o 2>e & pid=$!; until grep -q Loaded o; do sleep .1; done; '
            f'sleep 3; echo 0 >{cpu}; until grep -q CPU e; do sleep .1; done; kill -INT $pid; '
            f'wait $pid; code=$?; echo 1 >{cpu}; cat o e; exit $code', judge_text,
            [r'^end$', r'^perf-prof: CPU 1 went offline$']),
    ]


KVM = r"""
import json, re
from collections import Counter
said = open('kvm.json').read()
counted = int(re.search(r'([\d,]+) +kvm:kvm_exit', open('kvm.stat').read()).group(1).replace(',', ''))
table = json.loads(said.splitlines()[-1])
assert table['table'] == 'kvm-exit' and not table['lost'], said
calls = {row['exit_reason']: row['calls'] for row in table['rows']}
told = Counter(re.findall(r'kvm:kvm_exit: .*?reason (?:EXIT_)?(\S+)', open('kvm.txt').read()))
print('counted', counted, 'shown', sum(calls.values()), 'open', table['counts']['open'], calls, dict(told))
assert sum(calls.values()) + table['counts']['open'] == counted == sum(told.values())
# by reason the tracepoint's own, but for what no entry followed
assert not Counter(calls) - told and sum((told - Counter(calls)).values()) == table['counts']['open']
assert calls['io'] == 2000 and calls['cpuid'] == 1000 and calls['npf'] >= 1000
print('agreed')
"""


def kvm_jobs(build):
    """A guest of the guest: AMD's virtualization, which QEMU emulates."""
    return [
        Job('kvm-exit',
            f"test -c /dev/kvm || {{ echo 'no /dev/kvm'; exit 1; }}\ncat >kvm.py <<'END'\n{KVM}\nEND\n"
            f'{build}/perf-prof stat -e kvm:kvm_exit -o kvm.stat {build}/perf-prof trace -e kvm:kvm_exit -m 16M '
            f'-o kvm.txt -- {build}/perf-prof kvm-exit --json -o kvm.json -- {build}/tests/helpers/kvm_guest 1000; cat kvm.stat kvm.json; python3 kvm.py', judge_text,
            [r'^agreed$']),
    ]


def example_jobs(build, arch):
    """examples/c, which tests/package runs on this machine, on another kernel or CPU."""
    ipc = (r'^got sum = 4999950000 in [1-9]\d* ns: [3-9]\d{5} instructions, [1-9]\d* CPU cycles: '
           r'[0-9.]+ IPC$' if arch == 'arm64' else r'no such hardware counter')
    folder = f'{build}/examples/c'
    return [
        Job('examples/c/ipc', f'{folder}/ipc 2>&1; test $? = {0 if arch == "arm64" else 77}',
            judge_text, [ipc]),
        Job('examples/c/getpid', f'{folder}/getpid', judge_text, [r'^saw getpid 3 times$']),
        Job('examples/c/page_faults', f'{folder}/page_faults', judge_text,
            [r'^saw 1 page faults, wrote value 42$']),
        Job('examples/c/exec_mappings', f'{folder}/exec_mappings {folder}/getpid', judge_text,
            [r'^pid \d+ created a PROT_EXEC mapping at 0x[0-9a-f]+: .*/getpid$',
             r'^saw getpid 3 times$']),
        Job('examples/c/context_switches', f'{folder}/context_switches', judge_text,
            [r"^Current count: (\d+) context switches!\nThe scheduler's own account: \1$"]),
    ]


def counting_jobs(build):
    """Where a PMU counts: a group, and more events than there are counters."""
    many = ','.join(['cycles', 'instructions'] * 6)
    group = '{cycles,' + ','.join(['instructions'] * 11) + '}'
    work = "sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done' 2>&1"
    return [
        Job('perf-prof stat of a group', f'{build}/perf-prof stat -e "{{cycles,instructions}}" {work}',
            judge_text, [r'^ +[1-9][\d,]* +instructions +# +[0-9.]+ insn per cycle$']),
        Job('perf-prof stat of a group that is too long', f'{build}/perf-prof stat -e "{group}" {work}',
            judge_text, [r'^perf-prof: (instructions, )*instructions: not counted: it does not fit into its group; .*:W$',
                         r'^ +<not supported> +instructions$', r'^ +[1-9][\d,]* +instructions +#']),
        Job('perf-prof stat breaks up a weak group',
            f'{build}/perf-prof stat -x, -e "{group}:W" {work}', judge_text,
            [r'(?s)\A(?!.*not.supported)(?:.*?\n,,instructions,[1-9][\d.]*,,counted,){11}']),
        Job('perf-prof stat of more pinned events than counters',
            f'{build}/perf-prof stat -x, -e {",".join(["instructions:D"] * 12)} {work}', judge_text,
            [r'^,,instructions:D,[1-9]\d*,,counted,', r'^,,instructions:D,,,not counted,']),
        Job('perf-prof stat tells estimates', f'{build}/perf-prof stat -e {many} {work}', judge_text,
            [r'^ +[1-9][\d,]* +cycles +.*\(\d\d\.\d\d%\)$', r'counters were shared']),
    ]


# They take long, and depend on no CPU: most of the time that all of unit takes.
ANYWHERE = {f'test_{name}' for name in ('backlog', 'comms', 'counts_text', 'fit', 'flight', 'jitnames', 'order', 'ordered', 'perfmap',
                                        'stacktable', 'symsource')}


def test_jobs(root, build, folder):
    """The C tests, which speak TAP by cmocka."""
    for path in sorted(glob.glob(os.path.join(root, build, f'tests/{folder}/test_*'))):
        if os.path.isfile(path) and os.access(path, os.X_OK) and os.path.basename(path) not in ANYWHERE:
            yield Job(os.path.basename(path), 'CMOCKA_MESSAGE_OUTPUT=TAP SOURCE_ROOT=/src '
                                              f'/src/{os.path.relpath(path, root)}', judge_tap)


def judge(label, where, jobs, run):
    for job, done in zip(jobs, run.commands):
        if done.code is None:
            yield Result(label, f'{where}: {job.name}', FAILED, 'it did not end', run.trouble())
            return
        yield from job.judge(label, where, job, done)


def plan(builds, suite, arch):
    """(guest, jobs) for one guest, which sees this project as /src."""
    if arch == 'arm64':
        build, root = cross.program(builds)
        more = {'qemu': guest.ICOUNT}
    else:
        build, root, more = builds.get('build-test'), '/', {'cpus': 2, 'modules': ('kvm_amd',)}
    build = os.path.relpath(build, builds.root)
    check = os.path.relpath(cross.checks(builds.root, arch), builds.root)
    jobs = [Job('check', f'/src/{check}', judge_checks)] + program_jobs(f'/src/{build}', arch)
    jobs += source_jobs(f'/src/{build}', arch) + example_jobs(f'/src/{build}', arch)
    jobs += counting_jobs(f'/src/{build}') if arch == 'arm64' else kvm_jobs(f'/src/{build}') + \
        path_jobs(f'/src/{build}') + hotplug_jobs(f'/src/{build}')
    jobs.append(Job('kprobes of the kernel itself', FIRE.format(function=getppid_of(arch), build=f'/src/{build}'), judge_fire))
    # what needs no kernel was tested on this machine already, unless the CPU is another
    jobs += test_jobs(builds.root, build, '*' if arch == 'arm64' else 'live')
    return guest.Guest(suite, arch, root=root, shares={'src': builds.root}, **more), jobs


GUESTS = [('bookworm', 'amd64'), ('trixie', 'arm64')]


def run(label, builds):
    """Results of both guests. What can't be had is skipped, with the reason."""
    running = []
    with concurrent.futures.ThreadPoolExecutor(len(GUESTS)) as pool:
        for suite, arch in GUESTS:
            try:
                machine, jobs = plan(builds, suite, arch)
            except Unavailable as reason:
                yield Result(label, f'{suite} {arch}', SKIPPED, str(reason))
                continue
            except BuildFailed as failed:
                yield Result(label, f'{suite} {arch}: {failed.what}', FAILED, output=failed.output)
                continue
            where = f'{arch} {".".join(map(str, machine.release))}'
            running.append((where, jobs, pool.submit(
                machine.run, [job.command for job in jobs], SECONDS)))
        for where, jobs, future in running:
            yield from excuse(judge(label, where, jobs, future.result()))
