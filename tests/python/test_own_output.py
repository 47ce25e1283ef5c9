# SPDX-License-Identifier: Apache-2.0
"""The kernel delivers what perf-prof writes to a local socket in a softirq of perf-prof itself: that is perf-prof's own work."""
import re
import socket
import subprocess

import pytest

pytestmark = pytest.mark.live('tracefs', 'root')


def read_all(conn):
    parts = []
    while part := conn.recv(1 << 16):
        parts.append(part)
    return b''.join(parts).decode()


def test_packets_of_the_output_are_not_shown(prof):
    with socket.create_server(('127.0.0.1', 0)) as server, socket.create_connection(server.getsockname()) as out:
        conn, _ = server.accept()
        run = subprocess.Popen([prof, 'trace', '-a', '-e', 'net:netif_receive_skb', '--', 'python3', '-c', PACKETS],
                               stdout=out, stderr=subprocess.PIPE, text=True)
        out.close()
        with conn:
            text = read_all(conn)
        _, err = run.communicate(timeout=60)
    assert 'netif_receive_skb' in text, err
    assert not re.search(rf'\b{run.pid}\b.*netif_receive_skb', text)


PACKETS = '''
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(100):
    s.sendto(b'x', ('127.0.0.1', 9))
'''
