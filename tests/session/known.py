# SPDX-License-Identifier: Apache-2.0
"""What the tests of this folder have in common."""
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CORPUS = os.path.join(ROOT, 'tests', 'data', 'perfdata')
RECORDING = os.path.join(CORPUS, 'amd64-6.12-several.data')
EVENT = 'syscalls:sys_enter_getppid'
PATIENCE = 60
