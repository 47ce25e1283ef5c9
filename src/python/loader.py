# SPDX-License-Identifier: Apache-2.0
"""Loads a user's script: a file, a package, an extension module, or a name.

Compiled into the program. The folder of the script becomes importable after the
standard library, so that a json.py in it does not replace Python's.
"""
import _frozen_importlib as bootstrap
import _frozen_importlib_external as machinery
import _signal
import _thread
import builtins
import os as _os
import sys
from os import path as _path

import _perf_prof_finder as finder
from _perf_prof_finder import LoadError
from _perf_prof_handlers import CALLBACKS, REST, REST_BATCH, Handlers

LARGEST_SOURCE = 64 << 20       # bytes; /dev/zero has no end


def _add_folder(folder):
    """Makes it importable after the standard library, before installed packages."""
    folder = _path.abspath(folder)
    if folder in sys.path:
        return
    for i, entry in enumerate(sys.path):
        if _path.basename(entry) in ("site-packages", "dist-packages"):
            sys.path.insert(i, folder)
            return
    sys.path.append(folder)


def _add_folder_of(file):
    """Adds the folder of the file, and for a symbolic link that of its target."""
    for place in (file, _path.realpath(file)):
        folder = _path.dirname(place)
        _add_folder(_path.dirname(folder) if finder.is_package(place) else folder)


def _standard_names():
    return getattr(sys, "stdlib_module_names", sys.builtin_module_names)     # Python < 3.10


# ---- sources and bytecode ---------------------------------------------------------------

class _Source(machinery.SourceFileLoader):
    """Compiles the source, without reading or writing bytecode files."""

    def get_code(self, fullname):
        return compile_source(_read_source(self.path), self.path)    # noqa: F821: from load.c


def _read_source(file):
    try:
        with open(file, "rb") as f:
            text = f.read(LARGEST_SOURCE + 1)
    except OSError as error:
        raise LoadError(f"{file}: cannot read it: {error.strerror}") from None
    if text.startswith(b"\x7fELF"):
        raise LoadError(f"{file}: is a binary program or library (ELF), not a Python script; an "
                        f"extension module's file ends in {finder.EXTENSION[0]} or .so")
    if b"\0" in text:
        raise LoadError(f"{file}: is no Python source: it has a NUL byte at offset "
                        f"{text.index(0)}")
    if len(text) > LARGEST_SOURCE:
        raise LoadError(f"{file}: has more than {LARGEST_SOURCE >> 20} MiB, which is no script")
    return text


def _read_bytecode(loader):
    try:
        return loader.get_code(loader.name)
    except OSError as error:
        raise LoadError(f"{loader.path}: cannot read it: {error.strerror}") from None
    except (ImportError, EOFError, ValueError, TypeError) as error:
        version = "%d.%d" % sys.version_info[:2]
        raise LoadError(f"{loader.path}: is no bytecode of Python {version}, which is embedded here "
                        f"({error}); give the .py instead") from None


# ---- extension modules ----------------------------------------------------------------

def _init_functions(file):
    import re
    with open(file, "rb") as f:
        return sorted({m.decode() for m in re.findall(rb"\0PyInit_(\w+)\0", f.read())})


def _extension_error(name, file, error):
    text = str(error)
    if "PyInit_" not in text:
        return LoadError(f"{file}: cannot load it: {text.replace(file + ': ', '')}; expected an "
                         "extension module for Python %d.%d" % sys.version_info[:2])
    has = _init_functions(file)
    why = f"it is module {has[0]}: has it been renamed from {has[0]}.so?" if has else \
        "it is some other shared library"
    return LoadError(f"{file}: is no Python module of that name, for it has no PyInit_{name}(); {why}")


def _extension(name, spec):
    file = spec.origin
    tag = finder.abi_tag(file)[1]
    if tag and not finder.is_extension_here(file):
        raise LoadError(f"{file}: {finder.wrong_abi(tag)}")
    before = sys.modules.get(name)
    try:
        return bootstrap.module_from_spec(spec)
    except ImportError as error:
        if error.path != file:      # from an import in the module
            raise
        raise _extension_error(name, file, error) from None
    finally:
        if before:                  # modules with single-phase init replace it
            sys.modules[name] = before


# ---- the first line of output -----------------------------------------------------------

class _HeldOutput:
    """Puts "Loaded module:" before the first text that the top level of the script writes to sys.stdout,
    or behind a top level that writes none. Only what parent packages write is held back, as the module is
    not found yet. Replaces write() of the file below sys.stdout, so that all references to sys.stdout still
    work."""

    def __init__(self):
        self.stream = sys.stdout
        self.buffer = getattr(self.stream, "buffer", None)
        self.file = getattr(self.buffer, "raw", self.buffer)    # itself, if it is not buffered
        self.pieces, self.line = [], b""
        self.lock = _thread.allocate_lock()     # for threads of the script
        if self.file is not None:
            self.stream.flush()
            self.write = self.file.write
            self.file.write = self._hold
            _os.register_at_fork(after_in_child=self._drop)

    def _hold(self, data):
        piece = bytes(data)
        with self.lock:
            self.pieces.append(piece)
            if self.line or self.file is None:
                self._let_go()
        return len(piece)

    def _end(self):
        if self.file is not None:
            del self.file.write
            self.file = None

    def _drop(self):
        """In a forked child: the parent prints what is held."""
        self.pieces, self.line = [], b""
        self._end()

    def _let_go(self):
        try:
            for piece in (self.line, *self.pieces):
                while piece:
                    piece = piece[self.write(piece) or 0:]
        finally:
            self.pieces, self.line = [], b""
            self._end()

    def found(self, file):
        """Sets the first line. A path may have any bytes; they are printed as they are."""
        with self.lock:
            self.line = b"Loaded module: " + _os.fsencode(file) + b"\n"
            if self.pieces:
                self._let_go()

    def release(self, loaded):
        """Prints the first line, if the script was loaded, and the held output."""
        if not loaded:
            self.line = b""
        try:
            self.stream.flush()
        except (AttributeError, ValueError):    # none; detached or closed by the script
            pass
        if self.file is None or self.file.closed:
            return
        self.buffer.flush()
        with self.lock:
            try:
                self._let_go()
            except OSError:
                self.buffer.write(b"\n")        # makes the host's flush() fail, too
                raise


# ---- loading --------------------------------------------------------------------------

def _loader(name, file):
    if finder.is_extension(file):
        return machinery.ExtensionFileLoader(name, file)
    if file.endswith(tuple(finder.BYTECODE)):
        return machinery.SourcelessFileLoader(name, file)
    if file.endswith(".pyx"):
        raise LoadError(f"{file}: {finder.HOW_TO_BUILD}")
    return _Source(name, file)


def _code(loader):
    """Compiles before the first line is printed, to find syntax errors. None: machine code."""
    if isinstance(loader, _Source):
        return loader.get_code(loader.name)
    return _read_bytecode(loader) if isinstance(loader, machinery.SourcelessFileLoader) else None


def _names(file, dotted):
    """(name in sys.modules, name in the file). A script io.py does not replace Python's io."""
    inside = dotted or finder.stem(_path.dirname(file) if finder.is_package(file) else file)
    if not dotted and (inside in _standard_names() or inside in sys.modules):
        return "script_" + inside, inside
    return inside, inside


def _run(spec, name, inside):
    loader = spec.loader
    code = _code(loader)
    result = bootstrap.module_from_spec(spec) if code else _extension(inside, spec)
    sys.modules[name] = result
    if code:
        exec(code, result.__dict__)
    else:
        loader.exec_module(result)
    return result


def _load(typed, output):
    file, dotted = finder.find(typed, _add_folder)
    file = _path.abspath(file)
    output.found(file)
    if dotted in sys.modules:
        return sys.modules[dotted]
    name, inside = _names(file, dotted)
    if not dotted:
        _add_folder_of(file)
    loader = _loader(inside if finder.is_extension(file) else name, file)
    spec = machinery.spec_from_file_location(
        loader.name, file, loader=loader,
        submodule_search_locations=[_path.dirname(file)] if finder.is_package(file) else None)
    result = _run(spec, name, inside)
    if dotted and "." in dotted:
        parent, _, last = dotted.rpartition(".")
        setattr(sys.modules[parent], last, result)
    return result


def load(typed, arguments):
    """Loads what the user typed and runs its top level. Returns the module."""
    sys.argv = [typed, *arguments]
    import perf_prof
    builtins.perf_prof, builtins.PerfEvent = perf_prof, perf_prof.PerfEvent
    output, result = _HeldOutput(), None
    try:
        result = _load(typed, output)
    finally:
        output.release(result is not None)
    return result


def check(typed):
    """Finds and compiles the script without running any of it."""
    if "." in typed and not _path.exists(typed):
        return                      # finding it would run the package
    file, dotted = finder.find(typed, lambda folder: None)
    if not dotted:
        _code(_loader("script", _path.abspath(file)))


# ---- the run ----------------------------------------------------------------------------

def begin(before_fork, after_in_parent):
    """_signal: signal itself imports enum and more, which takes 3 ms."""
    _signal.signal(_signal.SIGINT, _signal.default_int_handler)
    _os.register_at_fork(before=before_fork, after_in_parent=after_in_parent)


def place(error):
    """The innermost frame, such as "/home/me/script.py:12"."""
    trace = error.__traceback__
    while trace.tb_next:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_frame.f_lineno}"


def trim(error):
    """Removes the frames of loader.py and importlib from the head of the traceback, so that it begins in the script."""
    trace = error.__traceback__
    while trace and trace.tb_frame.f_code.co_filename.startswith(("<perf-prof ", "<frozen ")):
        trace = trace.tb_next
    error.__traceback__ = trace


# ---- functions that are called by name -------------------------------------------------


class _Script(Handlers):
    texts = {
        "type": "{name} is not a function but of type {type}; expected def {usage}",
        "async": "{takes.where}{name}() is an async def: it is called, but nothing awaits it, so its body would never run; write def {usage}",
        "yield": "{takes.where}{name}() has a yield, which makes it a generator: its body would never run; return instead",
        "keywords": "{takes.where}{name}() needs keyword arguments, but is called without any; expected def {usage}",
        "count": "{takes.where}{name}() takes {takes}, but is called with {least}; expected def {usage}",
        "both": "{event}: the script has both {word}(event) and {name}(batch) for it; leave one of them out",
        "its": "its function ",
    }

    def __init__(self, namespace, events):
        self.namespace, self.get = namespace, namespace.get
        super().__init__(events, CALLBACKS)

    def functions(self):
        return [name for name, value in list(self.namespace.items()) if isinstance(name, str) and callable(value)
                and not isinstance(value, type)]

    def nearest(self, wanted, names):
        return nearest(wanted, names)       # noqa: F821: from load.c

    def is_variable(self, name):
        return super().is_variable(name) and (REST in self.namespace or REST_BATCH in self.namespace)

    def fields(self):
        """The columns of batches; None: all."""
        fields = self.get("__batch_fields__")
        if fields is not None and not isinstance(fields, (list, tuple)):
            raise TypeError(f"__batch_fields__ is of type {type(fields).__name__}; expected a list of names of columns, such as "
                            '["_time", "next_pid"]')
        for field in fields or ():
            if not isinstance(field, str):
                raise TypeError(f"__batch_fields__ has an item of type {type(field).__name__}; expected names of columns, such as "
                                '"next_pid"')
        return fields

    def hints(self, verbose):
        """(messages about functions that will not be called, why nothing can run or None)"""
        hints = []
        if not any(self.chosen):
            nothing = self.nothing("the script has no handler")
            return ([nothing], None) if any(name in self.namespace for name in CALLBACKS) else ([], nothing)
        for near, meant, number in self.unused(False):
            chosen, event = self.chosen[number], self.events[number][0]
            if not chosen:
                hints.append(f"{event} has no handler and is not enabled; its function {near}() is not called: did you mean {meant}()?")
            elif verbose >= 0:
                hints.append(f"{event} goes to {chosen[1]}(); the script's function {near}() is not called: did you mean {meant}()?")
        return hints + [f"the script's function {name}() is not called: did you mean {meant}()?" for name, meant in self.misspelt()], None


find_handlers = _Script


def flush():
    if sys.stdout is not None:
        sys.stdout.flush()
