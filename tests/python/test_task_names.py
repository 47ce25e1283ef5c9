# SPDX-License-Identifier: Apache-2.0
"""_comm, the name of the task that ran, in filters and keys; names beside ids in tables, also of tasks that are gone."""
import re

import pytest

from test_foreign import R, Foreign, attr, sample

SECOND = 10**9


@pytest.fixture
def recording(prof, tmp_path):
    return Foreign(prof, tmp_path)


def ended(pid, time):
    return R.record(4, 0, R.pack('IIIIQ', pid, 1, pid, 1, time) + R.trailer(pid, pid, time, 0, 12))


def two_tasks(recording):
    """500 is `first`, and from 3000 on `other`; 600 is `second`."""
    recording.write([(attr(0, 0), [12], 'cycles')],
                    [R.comm(600, 'second', 910), *(sample(12, 1000 + i, pid=500 + i % 2 * 100) for i in range(20)),
                     R.comm(500, 'other', 3000), *(sample(12, 4000 + i, pid=500) for i in range(5))])


@pytest.mark.parametrize('text, n', [('_comm=="first"', 10), ('comm=="second"', 10), ('_comm~"o*"', 5), ('_comm!="first"', 15),
                                     ('_comm=="second" || _time>=4000', 15), ('strncmp(_comm,"se",2)==0', 10),
                                     ('COMM==_comm', 25), ('_comm=="swapper"', 0)])
def test_filters_of_recordings(recording, text, n):
    two_tasks(recording)
    assert recording('trace', '-e', f'cycles/{text}/', '-I').count('cycles:') == n


@pytest.mark.parametrize('key', ['_comm', 'comm', 'comm_get(_tid)'])
def test_keys(recording, key):
    two_tasks(recording)
    lines = recording('top', '-e', 'cycles', '-k', key, '-I').splitlines()[1:]
    assert [line.split() for line in lines] == [['KEY', 'cycles'], ['first', '10000'], ['second', '10000'], ['other', '5000']]


def test_names_of_tasks_that_are_gone_for_long(recording):
    """Names are forgotten 10 s after the exit: not those of rows."""
    recording.write([(attr(0, 0), [12], 'cycles')],
                    [R.comm(600, 'gone', SECOND), sample(12, 2 * SECOND, pid=600), ended(600, 3 * SECOND),
                     *(record for i in range(20, 60)
                       for record in (sample(12, i * SECOND, pid=500), ended(1000 + i, i * SECOND)))])
    lines = [line.split() for line in recording('top', '-e', 'cycles', '-k', '_tid', '-I').splitlines()[2:]]
    assert lines == [['500', '40000', 'first'], ['600', '1000', 'gone']]


def test_rows_by_process_have_the_name_of_its_first_thread(recording):
    two_tasks(recording)
    lines = [line.split() for line in recording('report', '--sort', 'pid', '-I').splitlines() if re.search(' [56]00$', line)]
    assert [line[2:] for line in lines] == [['other', '500'], ['second', '600']]
    assert [(row['comm'], row['pid']) for row in recording.tables('--sort', 'pid,cpu')[0]['rows']] == [('other', 500), ('second', 600)]
    assert {row['comm'] for row in recording.tables('--sort', 'pid,comm')[0]['rows']} == {'first', 'other', 'second'}


@pytest.mark.live('tracefs', 'root')
class TestLive:
    GETPPID = 'syscalls:sys_enter_getppid'

    @pytest.fixture
    def work(self, storm, tmp_path):
        script = tmp_path / 'true'
        script.write_text(f'#!/bin/sh\ncp {storm} {tmp_path}/other\n{storm} getppid 7 >/dev/null\n{tmp_path}/other getppid 5 >/dev/null\n')
        script.chmod(0o755)
        return script

    def test_a_recording_has_only_what_passes(self, recording, work):
        recording.path = work
        recording('record', '-q', '-o', recording.folder / 'r.data', '-e', f'{self.GETPPID}/_comm~"*ther"/', '--')
        out = recording('script', '-F', 'comm', path=recording.folder / 'r.data')
        assert out.split() == ['other'] * 5

    def test_keys_of_top_and_of_its_source(self, recording, work):
        recording.path = work
        out = recording('top', '-e', f'{self.GETPPID}/_comm!="sh"/', '-k', '_comm', '--').splitlines()
        assert [line.split() for line in out[2:] if 'true' not in line] == [['storm', '7'], ['other', '5']]
        for key in ('_comm', '_tid'):
            out = recording('trace', '-e', f'top/--of {self.GETPPID} -k {key} -i 60000/', '--')
            assert re.search(r' storm: 7 in 7 events', out) and re.search(r' other: 5 in 5 events', out), out

    @pytest.mark.parametrize('key', ['_tid', 'common_pid'])
    def test_pairs_of_tasks_have_their_names(self, recording, work, key):
        recording.path = work
        events = ['-e', self.GETPPID, '-e', 'syscalls:sys_exit_getppid', '-k', key]
        rows = [line.split() for line in recording('latency', *events, '--perins', '--').splitlines()[2:]]
        assert [(row[1], row[3]) for row in rows if row[1] in ('storm', 'other')] in (
            [('storm', '7'), ('other', '5')], [('other', '5'), ('storm', '7')])
        slow = recording('latency', *events, '--than', '1ns', '--')
        assert len(re.findall(r'of %s \d+ \(storm\) took ' % ('thread' if key == '_tid' else 'key'), slow)) == 7
