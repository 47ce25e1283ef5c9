# SPDX-License-Identifier: Apache-2.0
"""Finds what the user typed as the script: a file, a package's folder, or a name.

Compiled into the program. A name is looked up in the current directory, then on
sys.path. Errors list the places that were searched. Modules that take long to import
are imported where they are needed; importlib's own code is always in memory.
"""
import _frozen_importlib_external as machinery
import os as _os
import sys
from os import path as _path

EXTENSION = machinery.EXTENSION_SUFFIXES
SOURCE = machinery.SOURCE_SUFFIXES
BYTECODE = machinery.BYTECODE_SUFFIXES


class LoadError(Exception):
    """The script cannot be found, or is not a script; the text is for the user."""


def stem(file):
    """The module's name, which the init function of an extension module contains."""
    base = _path.basename(file)
    for suffix in sorted(SOURCE + EXTENSION + BYTECODE, key=len, reverse=True):
        if base.endswith(suffix):
            base = base[:-len(suffix)]
            break
    if suffix in BYTECODE:
        base = base.split(".cpython-")[0]
    return base.replace("-", "_").replace(".", "_") or "script"


def is_extension(file):
    return any(file.endswith(s) for s in EXTENSION)


def is_package(file):
    return stem(file) == "__init__"


def _is_file(file):
    """True also for /dev/fd/63, from <(...) of a shell."""
    return _path.exists(file) and not _path.isdir(file)


def _named_in(folder, name):
    """The files that are module `name` in a folder, first that which `import` takes. Bytecode counts only
    without its source."""
    found = [_path.join(folder, name, "__init__" + s) for s in EXTENSION + SOURCE]
    found += [_path.join(folder, name + s) for s in EXTENSION + SOURCE]
    found = [file for file in found if _is_file(file)]
    return found or [f for f in (_path.join(folder, name + s) for s in BYTECODE) if _is_file(f)]


def _listdir(folder):
    try:
        return sorted(_os.listdir(folder or "."))
    except OSError:
        return []


def _near(typed):
    """"; did you mean X?" if the folder has something with a similar name."""
    import difflib
    folder, base = _path.split(typed)
    names = {}
    for entry in _listdir(folder):
        whole = _path.join(folder, entry)
        if any(entry.endswith(s) for s in SOURCE + EXTENSION) or _named_in(folder or ".", entry):
            names[entry] = whole
            names.setdefault(stem(entry), whole)
    near = difflib.get_close_matches(base, names, 1, 0.75)
    return f"; did you mean {names[near[0]]}?" if near else ""


def _not_for_us(folder, name):
    """Explains files of module `name` that cannot be loaded as they are; "" if there are none."""
    for entry in _listdir(folder):
        if entry == name + ".pyx":
            return f"; {entry} is there: {HOW_TO_BUILD}"
        start, tag = abi_tag(entry)
        if tag and start == name and not is_extension_here(entry):
            return f"; {entry} is there, but {wrong_abi(tag)}"
    return ""


def _shut(folder):
    """Names the first folder of the path that this user may not enter; "" if there is none."""
    at = _path.sep
    for part in _path.abspath(folder).split(_path.sep):
        at = _path.join(at, part)
        if not _os.access(at, _os.X_OK, effective_ids=True) and _path.isdir(at):
            return (f"; user {_os.geteuid()}, who runs the script, may not enter {at}: copy the script to a folder "
                    "that this user can read")
    return ""


def abi_tag(file):
    """(name, tag) of name.cpython-36m-x86_64-linux-gnu.so, name.pypy39-pp73-x86_64-linux-gnu.so, name.abi3.so; else (file, None)."""
    start, _, tag = file[:-3].rpartition(".")
    has = file.endswith(".so") and tag.startswith(("cpython", "pypy", "graalpy", "abi")) and "/" not in tag
    return (start, tag) if has else (file, None)


def is_extension_here(file):
    """False for name.cpython-36m-x86_64-linux-gnu.so of another Python, which ends in .so as well."""
    tag = abi_tag(file)[1]
    return is_extension(file) and (not tag or f".{tag}.so" in EXTENSION)


def wrong_abi(tag):
    version = "%d.%d" % sys.version_info[:2]
    return (f"it is built for {tag}, and this perf-prof embeds Python {version}, whose modules end "
            f"in {EXTENSION[0]}: build it again with python{version}")


HOW_TO_BUILD = ("it is Cython's source and has to be built first (python3 setup.py "
                "build_ext --inplace); then name the module")


def _folder_error(folder):
    scripts = [e for e in _listdir(folder) if e.endswith(".py")][:5]
    has = f" (it has {', '.join(scripts)})" if scripts else ""
    return LoadError(f"{folder}: is a folder without __init__.py, so no package; name a script in "
                     f"it{has}")


def _at(place):
    """The script at a path, or None."""
    if _is_file(place):
        return place
    if not _path.isdir(place):
        return None
    inits = [f for f in (_path.join(place, "__init__" + s) for s in SOURCE + EXTENSION)
             if _is_file(f)]
    if not inits:
        raise _folder_error(place)
    return inits[0]


def _on_path(name):
    """The module's spec from sys.path, or None. Imports its parent packages."""
    from importlib import util
    try:
        return util.find_spec(name)
    except (ImportError, ValueError):   # no such parent; a module without a spec
        return None


def _missing(typed, folder):
    where = [p for p in sys.path if p]
    base = typed.replace(".", "/")
    files = [typed, f"{base}/__init__.py"] + [base + s for s in SOURCE + EXTENSION + BYTECODE]
    return LoadError(f"{typed}: there is no such script or module{_not_for_us(folder, typed)}{_shut(folder)}"
                     f"{_near(typed)}\nlooked for {', '.join(files)}\nin {folder} (the current "
                     f"directory), then for the module in {', '.join(where)}")


def _by_name(typed, add_folder):
    folder = _os.getcwd()
    here = _named_in(folder, typed) if "." not in typed else None
    if here:
        return here[0], None
    if "." in typed and _named_in(folder, typed.split(".")[0]):
        add_folder(folder)
    spec = _on_path(typed)
    if spec and spec.origin and _is_file(spec.origin):
        return spec.origin, typed
    if spec and spec.origin:
        raise LoadError(f"{typed}: is a module inside of Python itself ({spec.origin}): no script")
    if _path.isdir(typed):
        raise _folder_error(typed)
    raise _missing(typed, folder)


def find(typed, add_folder):
    """Finds what the user typed: (file, name to import it by, or None). Calls add_folder to make
    a folder importable, because the packages of a dotted name are imported."""
    if not typed:
        raise LoadError("the script's name is empty; expected a file, a package or a module")
    if "/" in typed or _is_file(typed):
        file = _at(typed)
    elif typed.endswith(tuple(SOURCE + BYTECODE + [".so", ".pyx"])):
        file = None
    else:
        return _by_name(typed, add_folder)
    if not file:
        folder, base = _path.split(_path.abspath(typed))
        raise LoadError(f"{typed}: there is no such script in {folder}{_not_for_us(folder, base)}{_shut(folder)}"
                        f"{_near(typed)}")
    return file, None
