# SPDX-License-Identifier: Apache-2.0
"""Finds and loads a user's script: a file, a package, an extension module, or a name.

Compiled into the program. The folder where the script is found becomes importable
after the standard library, so that a json.py beside it shadows nothing.
"""
import sys
from importlib import machinery, util
from os import path as _path
import os as _os


class LoadError(Exception):
    """The script can't be found; the text says where was looked."""


def _suffixes():
    return machinery.SOURCE_SUFFIXES + machinery.EXTENSION_SUFFIXES + machinery.BYTECODE_SUFFIXES


def _loader(name, file):
    if any(file.endswith(s) for s in machinery.EXTENSION_SUFFIXES):
        return machinery.ExtensionFileLoader(name, file)
    if any(file.endswith(s) for s in machinery.BYTECODE_SUFFIXES):
        return machinery.SourcelessFileLoader(name, file)
    return machinery.SourceFileLoader(name, file)


def _stem(file):
    """The module's name: an extension module's init function is called by it."""
    base = _path.basename(file)
    for suffix in sorted(_suffixes(), key=len, reverse=True):
        if base.endswith(suffix):
            base = base[:-len(suffix)]
            break
    return base.replace("-", "_").replace(".", "_") or "script"


def _add_folder(folder):
    """Importable after the standard library, before what was installed."""
    folder = _path.abspath(folder)
    if folder in sys.path:
        return
    for i, entry in enumerate(sys.path):
        if _path.basename(entry) in ("site-packages", "dist-packages"):
            sys.path.insert(i, folder)
            return
    sys.path.append(folder)


def _in_folder(folder, name):
    """The module `name` in a folder: package, source, extension; None without one."""
    package = _path.join(folder, name, "__init__.py")
    if _path.isfile(package):
        return package
    for suffix in _suffixes():
        file = _path.join(folder, name + suffix)
        if _path.isfile(file):
            return file
    return None


def _standard_names():
    return getattr(sys, "stdlib_module_names", sys.builtin_module_names)     # Python < 3.10


def _find(module):
    """(file, dotted name or None) of what the user typed."""
    if _path.isdir(module):
        package = _path.join(module, "__init__.py")
        if _path.isfile(package):
            return package, None
        raise LoadError(f"{module}: is a folder without __init__.py; name a script in it")
    if _path.exists(module):
        return module, None
    if "/" in module or any(module.endswith(s) for s in _suffixes()):
        raise LoadError(f"{module}: there is no such script (in {_os.getcwd()})")
    head = module.split(".")[0]
    if "." not in module:
        file = _in_folder(_os.getcwd(), module)
        if file:
            return file, None
    elif _in_folder(_os.getcwd(), head):
        _add_folder(_os.getcwd())
    try:
        spec = util.find_spec(module)
    except ImportError as error:
        raise LoadError(f"{module}: {error}") from None
    if not spec or not spec.origin or not _path.isfile(spec.origin):
        raise LoadError(f"{module}: there is no such script or module in {_os.getcwd()} "
                        "or on sys.path")
    return spec.origin, module


def load(module, arguments):
    """Load what the user typed; returns the module. Its top level runs here."""
    import perf_prof
    file, dotted = _find(module)
    file = _path.abspath(file)
    package = _path.basename(file) == "__init__.py"
    name = dotted or _stem(_path.dirname(file) if package else file)
    init_name = name
    if not dotted and (name in _standard_names() or name in sys.modules):
        name = "script_" + name     # io.py loads, and the real io stays what it is
    sys.argv = [module, *arguments]
    if not dotted:
        folder = _path.dirname(file)
        _add_folder(_path.dirname(folder) if package else folder)
    loader = _loader(init_name if _is_extension(file) else name, file)
    spec = util.spec_from_file_location(
        loader.name, file, loader=loader,
        submodule_search_locations=[_path.dirname(file)] if package else None)
    result = util.module_from_spec(spec)
    sys.modules[name] = result
    result.perf_prof = perf_prof
    code = None
    if not _is_extension(file):
        code = loader.get_code(loader.name)     # a syntax error comes before the first line
    print("Loaded module:", file, flush=True)
    if code is None:
        loader.exec_module(result)
    else:
        exec(code, result.__dict__)
    return result


def _is_extension(file):
    return any(file.endswith(s) for s in machinery.EXTENSION_SUFFIXES)


def flush():
    if sys.stdout is not None:
        sys.stdout.flush()
