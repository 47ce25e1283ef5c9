# SPDX-License-Identifier: Apache-2.0
"""The commands that analyse, at work: what they print, beside perf, on tests/helpers/works."""
import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys

from .declared import environment, without_lowered_rates

TIMEOUT = 120       # a build with sanitizers on a busy machine has taken 90 s for what takes 2 s
# Other tests keep the machine busy: nothing may be lost. The fewer CPUs, the longer perf-prof may have to wait for one.
RING = ['-m', '64M' if os.cpu_count() <= 8 else '16M']

# What a run says where others had the CPU.
LATE = re.compile(r'perf-prof: (?:lost \d+ events?.*|\d+ events? delivered, \d+ lost|'
                  r'\S+ was interrupted at .*: it had not returned 500 ms after the stop)\n')
# What the C programs of these tests begin with.
KNOWN = '''#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* So many that nobody has touched. */
static inline __attribute__((always_inline)) volatile char *pages(int n)
{
	char *all = (char *)mmap(0, n * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(all, n * 4096, MADV_NOHUGEPAGE);
	return all;
}

/* The code of these calls may have to be read: not below main(). */
__attribute__((constructor)) static void read_code(void)
{
	pages(1);
}

/* Returns when that thread, whose number may not be known yet, waits in futex(2) for a word of this object. */
static inline void until_waits(const volatile int *tid, const void *object, size_t size)
{
	for (long call = 0, word = 0;; usleep(1000)) {
		char path[64], text[256] = { 0 };
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", *tid);
		if (!(f = fopen(path, "r")))
			continue;
		fgets(text, sizeof(text), f);
		fclose(f);
		if (sscanf(text, "%ld %lx", &call, &word) == 2 && call == SYS_futex && (unsigned long)word - (unsigned long)object < size)
			return;
	}
}

/* Says who it is and what it does. */
static inline void told(const char *what)
{
	printf("%d %s\\n", (int)gettid(), what);
	fflush(stdout);
}
'''


class Result:
    """What a run has printed: `text`, the objects of its lines of JSON, the pid that works told."""

    def __init__(self, done):
        self.code, self.text, self.err = done.returncode, done.stdout, done.stderr
        self.lines = [json.loads(line) for line in self.text.splitlines() if line.startswith('{')]
        pid = re.search(r'^pid (\d+)$', self.text, re.M)
        self.pid = pid and int(pid.group(1))

    def table(self, name):
        """The only table of that name."""
        found = [t for t in self.lines if t.get('table') == name]
        assert len(found) == 1, (name, self.text[-2000:])
        assert not found[0].get('lost'), found[0]['lost']
        return found[0]

    def total(self, name, *key, of=('calls', 'total')):
        """Of all intervals together: {key: [sums of the columns `of`]}."""
        sums = {}
        for table in self.lines:
            for row in table['rows'] if table.get('table') == name else ():
                at = tuple(row.get(k) for k in key)
                before = sums.setdefault(at if len(key) > 1 else at[0], [0] * len(of))
                before[:] = [b + row[c] for b, c in zip(before, of)]
            assert not table.get('lost'), table
        return sums

    def rows(self, name, *key):
        """Its rows, by those cells."""
        rows = self.table(name)['rows']
        return {tuple(r.get(k) for k in key) if len(key) > 1 else r.get(key[0]): r for r in rows}


def run(prof, folder, *args, code=0, before=()):
    """That command of perf-prof, in that folder: it has ended with that code, and with nothing else than losses on stderr
    that is not expected. What was lost is not in its tables, and table() says so."""
    argv = [*map(str, before), prof, *map(str, args)]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL,
                          env=environment({'cmd': ''}))
    assert done.returncode == code, (argv, done)
    assert code or before or not LATE.sub('', without_lowered_rates(done.stderr)), done.stderr
    return Result(done)


def compiled(folder, source, *options, name='job', by='gcc'):
    """The program of this source, behind KNOWN."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (f'{name}.cc' if by.endswith('++') else f'{name}.c')
    path.write_text(source)
    (folder / 'known.h').write_text(KNOWN)
    subprocess.run([by, '-O1', '-g', '-w', '-pthread', '-fno-omit-frame-pointer', '-include', folder / 'known.h', '-o', folder / name, path,
                    *options], check=True, timeout=TIMEOUT)
    return folder / name


def of_faults(prof, job, *arguments, to, how='fp'):
    """The path of a recording of all page faults in user space of a program."""
    subprocess.run([prof, 'record', '--no-buildid-cache', '-e', 'page-faults:u', '-c', '1', '--call-graph', how, '-o', to, '--', job,
                    *arguments], check=True, capture_output=True, timeout=TIMEOUT)
    return to


class Waiting:
    """works that has said its pid, and waits for go()."""

    def __init__(self, works, args):
        self.process = subprocess.Popen([works, '--wait', *map(str, args)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = int(self.process.stdout.readline().split()[1])

    def go(self):
        self.process.stdin.write('x')
        self.process.stdin.flush()

    def line(self):
        return self.process.stdout.readline()

    def finish(self):
        """The rest that it prints."""
        if self.process.stdout.closed:
            return ''
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.stdin = None
        return self.process.communicate(timeout=TIMEOUT)[0]


class Watcher:
    """perf-prof with -i and --json: with its first table all events are on."""

    def __init__(self, argv, folder):
        self.process = subprocess.Popen(argv, cwd=folder, text=True, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=environment({'cmd': ''}))
        self.head = self.process.stdout.readline()
        assert self.head, self.process.communicate()

    def result(self, stop=False):
        """Of the whole run, once its target has ended, or SIGINT."""
        if stop:
            self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=TIMEOUT)
        err = LATE.sub('', without_lowered_rates(err))
        assert (self.process.returncode, err) == (0, ''), (self.process.returncode, err)
        return Result(subprocess.CompletedProcess('', 0, self.head + out, err))


class Perf:
    """`perf stat` or `perf record` that has begun when this has."""

    def __init__(self, argv, folder):
        ctl, ack = str(folder / 'ctl'), str(folder / 'ack')
        for fifo in (ctl, ack):
            os.mkfifo(fifo)
        control, answer = os.open(ctl, os.O_RDWR), os.open(ack, os.O_RDWR)
        self.process = subprocess.Popen([*map(str, argv), '-D', '-1', '--control', f'fifo:{ctl},{ack}'],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        try:
            os.write(control, b'enable\n')
            assert select.select([answer], [], [], TIMEOUT)[0], self.process.communicate()
            os.read(answer, 100)
        finally:
            os.close(control)
            os.close(answer)

    def finish(self, stop=False):
        """What it prints, once its target has ended, or SIGINT."""
        if stop:
            self.process.send_signal(signal.SIGINT)
        return self.process.communicate(timeout=TIMEOUT)[0]


def close_to(measured, known, part=0.02, least=0):
    """Within `part` of it, or `least` in the same unit."""
    return abs(measured - known) <= max(part * known, least)


SPIN = 'import os, time; os.sched_setaffinity(0, {%d}); print(1, flush=True); end = time.time() + 120\nwhile time.time() < end: pass'


@contextlib.contextmanager
def sharing_a_cpu(code=SPIN):
    """The pids of two Python programs that want the same CPU all the time."""
    cpu = max(os.sched_getaffinity(0))
    both = [subprocess.Popen([sys.executable, '-c', code % cpu], stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for one in both:
            assert one.stdout.read(1) == b'1'
        yield [one.pid for one in both]
    finally:
        for one in both:
            one.kill()
            one.communicate()


@contextlib.contextmanager
def busy_cpus():
    """Some kernels do not report the events of idle CPUs."""
    loop = 'import os\nos.sched_setaffinity(0, {%d})\nos.nice(19)\nwhile True: pass'
    busy = [subprocess.Popen([sys.executable, '-c', loop % cpu]) for cpu in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for one in busy:
            one.kill()
            one.wait()
