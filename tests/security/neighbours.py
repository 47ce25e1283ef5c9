# SPDX-License-Identifier: Apache-2.0
"""Hostile neighbours beside `perf-prof profile -a -g`: how late its intervals come, and how much memory it has."""
import contextlib
import itertools
import json
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile
import threading
import time

STRANGER = pwd.getpwnam('daemon')
HUGE = 1 << 40


class Place:
    """A stranger's folder, and what runs there."""

    def __init__(self, build):
        self.program = pathlib.Path(build).resolve() / 'tests' / 'helpers' / 'neighbour'
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='perf-prof-neighbours-'))
        self.folder.chmod(0o755)
        os.chown(self.folder, STRANGER.pw_uid, STRANGER.pw_gid)
        self.numbers = itertools.count()
        self.running, self.files = [], []

    def new(self, name):
        path = self.folder / f'{name}{next(self.numbers)}'
        self.files.append(path)
        return path

    def own(self, path):
        os.chown(path, STRANGER.pw_uid, STRANGER.pw_gid)
        return path

    def copy(self):
        """A program that nobody has seen before."""
        path = self.new('program')
        shutil.copy(self.program, path)
        path.chmod(0o755)
        return self.own(path)

    def start(self, *argv, **more):
        process = subprocess.Popen([str(a) for a in argv], user=STRANGER.pw_uid, group=STRANGER.pw_gid, extra_groups=[],
                                   cwd=self.folder, **more)
        self.running.append(process)
        return process

    def stop(self):
        for process in self.running:
            process.kill()
            process.wait()
        for path in self.files:
            path.unlink(missing_ok=True)
        self.running, self.files = [], []

    def close(self):
        self.stop()
        shutil.rmtree(self.folder)


def huge(path):
    """A file of 1 TiB without a block."""
    with open(path, 'wb') as f:
        f.truncate(HUGE)


# ---- attacks ------------------------------------


def program_with_debuglink(place, make):
    program, debug = place.copy(), place.new('debug')
    make(debug)
    place.own(debug)
    subprocess.run(['objcopy', '--strip-all', '--remove-section=.gnu_debuglink', program], check=True)
    link = place.new('link')
    link.write_bytes(debug.name.encode() + b'\0' * (4 - len(debug.name) % 4) + b'\x12\x34\x56\x78')
    subprocess.run(['objcopy', f'--add-section=.gnu_debuglink={link}', program], check=True)
    place.own(program).chmod(0o755)
    place.start(program, 'spin')


def sparse_debug_file(place):
    program_with_debuglink(place, lambda path: (shutil.copy(place.program, path), os.truncate(path, HUGE)))


def fifo_as_debug_file(place):
    program_with_debuglink(place, os.mkfifo)


def sparse_program(place):
    program = place.copy()
    os.truncate(program, HUGE)
    place.start(program, 'spin')


def with_perf_map(place, make):
    process = place.start(place.program, 'jit', stdout=subprocess.PIPE, text=True)
    pid = int(process.stdout.readline().split()[1])
    path = pathlib.Path(f'/tmp/perf-{pid}.map')
    place.files.append(path)
    path.unlink(missing_ok=True)    # of an earlier process with this id
    make(path)
    os.lchown(path, STRANGER.pw_uid, STRANGER.pw_gid)


def sparse_perf_map(place):
    with_perf_map(place, huge)


def fifo_as_perf_map(place):
    with_perf_map(place, os.mkfifo)


def endless_perf_map(place):
    with_perf_map(place, lambda path: path.symlink_to('/dev/zero'))


def junk_perf_map(place):
    with_perf_map(place, lambda path: path.write_text('7f0000000000 10 f\n' * (4 << 20)))


def comms(place):
    place.start(place.program, 'comms')


def forks(place):
    place.start(place.program, 'forks')


def threads(place):
    place.start(place.program, 'threads')


def execs(place):
    program = place.copy()
    place.start(program, 'execs', program)


def maps(place):
    place.start(place.program, 'maps', place.copy())


def nothing(place):
    place.start(place.program, 'spin')


ATTACKS = [nothing, sparse_debug_file, fifo_as_debug_file, sparse_program, sparse_perf_map, fifo_as_perf_map,
           endless_perf_map, junk_perf_map, comms, forks, threads, execs, maps]


# ---- who is attacked --------------------------------------------------------------


class Profile:
    """perf-prof; .intervals: tables, as they come"""

    def __init__(self, build, *options):
        self.process = subprocess.Popen([f'{build}/perf-prof', 'profile', '-a', '-g', '-i', '1000', '--json', *options],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.intervals, self.messages = [], []
        self.readers = [threading.Thread(target=self.read), threading.Thread(target=self.listen)]
        for reader in self.readers:
            reader.start()

    def read(self):
        for line in self.process.stdout:
            row = json.loads(line)
            if row['table'] == 'profile':
                self.intervals.append(row)

    def listen(self):
        self.messages += self.process.stderr

    def memory(self):
        """Bytes of all its processes, shared ones once."""
        total = 0
        for pid in [self.process.pid, *children(self.process.pid)]:
            with contextlib.suppress(OSError):
                rollup = pathlib.Path(f'/proc/{pid}/smaps_rollup').read_text()
                total += sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith('Pss:'))
        return total << 10

    def stop(self):
        """Seconds that it took to end."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        for reader in self.readers:
            reader.join()
        return time.monotonic() - begin


def children(pid):
    out = subprocess.run(['ps', '--no-headers', '-o', 'pid', '--ppid', str(pid)], stdout=subprocess.PIPE, text=True).stdout
    found = [int(word) for word in out.split()]
    return found + [grandchild for child in found for grandchild in children(child)]
