# SPDX-License-Identifier: Apache-2.0
"""Compile flags, link flags and version for embedding the Python that runs this."""
import os
import sys
import sysconfig

var = sysconfig.get_config_var
include = sysconfig.get_path("include")
if not os.path.exists(os.path.join(include, "Python.h")):
    sys.exit(f"{sys.executable}: {include}/Python.h is missing (Debian: python3-dev)")
if sys.version_info < (3, 9):
    sys.exit(f"{sys.executable}: Python {sys.version.split()[0]} is older than 3.9")
if not var("Py_ENABLE_SHARED"):
    sys.exit(f"{sys.executable}: built without a shared libpython (--enable-shared)")
libdir = var("LIBDIR")
version = var("LDVERSION") or var("VERSION")
rpath = [] if libdir.startswith("/usr/lib") else [f"-Wl,-rpath,{libdir}"]
print(f"-isystem{include} -isystem{sysconfig.get_path('platinclude')}")
print(" ".join([f"-L{libdir}", f"-lpython{version}", *rpath]))
print(sys.version.split()[0])
