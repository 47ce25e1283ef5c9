# SPDX-License-Identifier: Apache-2.0
"""What it takes to build an extension module for the Python that runs this, one a line:
include flags, version, suffix of its own modules, whether it lacks the GIL, the folder
below PREFIX (argument) where it looks for modules, and the name of its program."""
import os
import site
import sys
import sysconfig

prefix = os.path.normpath(sys.argv[1])
include = sysconfig.get_path('include')
if not os.path.exists(os.path.join(include, 'Python.h')):
    sys.exit(f'{sys.executable}: {include}/Python.h is missing (Debian: python3-dev)')
# Debian's Python below /usr looks into /usr/local as well: the nearest folder is PREFIX's own.
below = [path for path in site.getsitepackages() if path.startswith(os.path.join(prefix, 'lib'))]
usual = os.path.join(prefix, f'lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages')
print(f'-isystem{include} -isystem{sysconfig.get_path("platinclude")}')
print(sys.version.split()[0])
print(sysconfig.get_config_var('EXT_SUFFIX')[1:])
print(int(bool(sysconfig.get_config_var('Py_GIL_DISABLED'))))
print((below or [usual])[0])
print(f'python{sys.version_info[0]}.{sys.version_info[1]}{"t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""}')
