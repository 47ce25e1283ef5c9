# SPDX-License-Identifier: Apache-2.0
"""The Test Anything Protocol, as cmocka speaks it.

A skip's reason stands behind "# SKIP", or in a line before: "# skip: REASON". cmocka
itself writes the test's name behind "# SKIP", so a reason in a line before wins."""
import re

from .result import FAILED, PASSED, SKIPPED

PLAN = re.compile(r'^1\.\.(\d+)')
POINT = re.compile(r'^(not )?ok\b\s*(\d+)?\s*(?:-\s*)?(.*?)\s*(?:#\s*(SKIP|TODO)\b\s*(.*))?$', re.I)
WHY = re.compile(r'^\s*#?\s*skip(?:ped)?:\s*(.+)$', re.I)


def parse(text):
    """[(name, status, reason, comment lines)], plan complete?, any TAP at all?"""
    points, planned, why, notes = [], None, '', []
    for line in text.splitlines():
        plan, point, reason = PLAN.match(line), POINT.match(line), WHY.match(line)
        if plan:
            planned = (planned or 0) + int(plan.group(1))
        elif point:
            bad, number, name, directive, told = point.groups()
            status = FAILED if bad else PASSED
            if directive:
                status = SKIPPED
                name, told = (name, told) if name else (told, '')
            points.append((name or f'test {number}', status, why or (told if directive else ''), notes))
            why, notes = '', []
        elif reason:
            why = reason.group(1).strip()
        elif line.startswith('#') and points and points[-1][1] == FAILED and not notes:
            points[-1][3].append(line)      # cmocka says where behind the point
        elif line.strip():
            notes.append(line)
    return points, planned is not None and planned == len(points), planned is not None
