# SPDX-License-Identifier: Apache-2.0
"""A Python program whose system calls fail on known paths: one that is overwritten after the call, both of rename, the
addresses of sockets."""
PROGRAM = '''
import ctypes, os, socket
libc, buf = ctypes.CDLL(None), ctypes.create_string_buffer(b'/nowhere/a')
for _ in range(3):
    buf.value = b'/nowhere/a'
    libc.open(buf, 0)
    buf.value = b'/nowhere/b'
def fails(call):
    try:
        call()
    except OSError:
        pass
fails(lambda: os.rename('/nowhere/old', '/nowhere/new'))
fails(lambda: os.execv('/nowhere/program', ['x']))
fails(lambda: socket.socket(socket.AF_UNIX).connect('/nowhere/socket'))
fails(lambda: socket.socket(socket.AF_UNIX).connect('\\0nobody'))
fails(lambda: socket.socket(socket.AF_UNIX).bind('/nowhere/bound'))
'''
