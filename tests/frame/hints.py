# SPDX-License-Identifier: Apache-2.0
"""Hints are for who sits at a terminal."""
import contextlib
import os
import pty
import subprocess


def hints(argv):
    """What a command says on a stderr that is a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([*map(str, argv)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs):
        os.close(theirs)
        text = b''
        with contextlib.suppress(OSError):      # EIO: its end
            while piece := os.read(ours, 65536):
                text += piece
    os.close(ours)
    return text.decode().replace('\r\n', '\n')
