# SPDX-License-Identifier: Apache-2.0
"""What was measured, by name: {name: values, one a round}, and why what is missing is missing."""


class Trouble(Exception):
    """The measurement went wrong; the text says what happened."""


class Lack(Exception):
    """The machine has not what the measurement needs; the text says what that is."""


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def need(*reasons):
    """Raises Lack for the first that is not None, as the probes of tests/frame/requires.py answer."""
    for reason in reasons:
        if reason:
            raise Lack(reason)


class Samples:
    def __init__(self):
        self.values, self.notes, self.missing = {}, {}, {}

    def put(self, name, value, note=''):
        self.values.setdefault(name, []).append(value)
        if note:
            self.notes[name] = note

    def put_all(self, values, prefix=''):
        for name, value in values.items():
            self.put(prefix + name, value)

    def attempt(self, names, function, *args):
        """Calls the function, which puts values under some of these names. What stands in its way
        is noted for those that it did not put, and it isn't tried a second time."""
        if any(name in self.missing for name in names):
            return
        try:
            function(*args)
        except Lack as lack:
            reason = str(lack), True
        except Trouble as trouble:
            reason = str(trouble), False
        except Exception as error:      # a tool that answers otherwise than expected ends no bench
            reason = f'{type(error).__name__}: {error}', False
        else:
            return
        for name in names:
            if name not in self.values:
                self.missing[name] = reason

    def median(self, name):
        return median(self.values[name])

    def ratio(self, name, of):
        """By rounds where both have as many: a round's two were measured side by side."""
        ours, floor = self.values[name], self.values[of]
        if len(ours) != len(floor) or min(floor) <= 0:
            return median(ours) / median(floor)
        return median([a / b for a, b in zip(ours, floor)])

    def why_not(self, *names):
        """(reason, whether it is the machine's) that one of them is missing; None if none is."""
        for name in names:
            if name and name not in self.values:
                return self.missing.get(name, ('it was not measured', False))
        return None
