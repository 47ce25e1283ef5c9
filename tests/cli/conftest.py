# SPDX-License-Identifier: Apache-2.0
"""Cases that are declared know no fixtures: what happens for them all happens from here on."""
from frame.wakes import Waker


def pytest_sessionstart(session):
    session.config.waker = Waker()


def pytest_sessionfinish(session):
    session.config.waker.stop()
