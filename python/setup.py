# SPDX-License-Identifier: Apache-2.0
"""Builds pyperf for pip. The C sources stand elsewhere in the project (../src, ../include); a
source distribution carries copies of them in csrc/, so that it builds by itself."""
import glob
import os
import shutil
import sys
import sysconfig

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

HERE = os.path.dirname(os.path.abspath(__file__))
COPIED = ('include/perfevent.h', 'include/perfevent/*.h', 'src/perfevent/*.[ch]', 'src/perfevent/*/*.[ch]',
          'src/base/nearest.[ch]',
          'src/pyperf/*.[ch]')
# 3.9 lacks PyType_GetModuleState() in its stable ABI; free-threaded builds have none at all.
STABLE = sys.version_info >= (3, 10) and not sysconfig.get_config_var('Py_GIL_DISABLED')


def project():
    carried = os.path.join(HERE, 'csrc')
    return carried if os.path.isdir(carried) else os.path.dirname(HERE)


def version():
    for path in (os.path.join(HERE, 'VERSION'), os.path.join(project(), 'meson.build')):
        if os.path.exists(path):
            with open(path) as f:
                text = f.read()
            if path.endswith('VERSION'):
                return text.strip()
            return text.split("version: '")[1].split("'")[0]
    raise SystemExit('pyperf: neither VERSION nor ../meson.build says which version this is')


class Build(build_ext):
    """Names the sources as late as here: setuptools wants paths inside of its folder where it
    makes lists of them."""
    def build_extension(self, ext):
        root = project()
        ext.sources = sorted(glob.glob(os.path.join(root, 'src/perfevent/**/*.c'), recursive=True)
                             + glob.glob(os.path.join(root, 'src/pyperf/*.c')))
        ext.depends = (glob.glob(os.path.join(root, 'src/**/*.h'), recursive=True) + [__file__]
                       + glob.glob(os.path.join(root, 'src/pyperf/*.h'))
                       + glob.glob(os.path.join(root, 'include/perfevent/*.h')))
        ext.include_dirs = [os.path.join(root, 'src'), os.path.join(root, 'include')]
        super().build_extension(ext)


class Sdist(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        root = project()
        for pattern in COPIED:
            for path in glob.glob(os.path.join(root, pattern)):
                to = os.path.join(base_dir, 'csrc', os.path.relpath(path, root))
                os.makedirs(os.path.dirname(to), exist_ok=True)
                shutil.copyfile(path, to)
        with open(os.path.join(base_dir, 'VERSION'), 'w') as f:
            f.write(version() + '\n')


macros = [('_GNU_SOURCE', None), ('PYPERF_VERSION', f'"{version()}"')]
if STABLE:
    macros.append(('Py_LIMITED_API', '0x030A0000'))
setup(
    version=version(),
    cmdclass={'build_ext': Build, 'sdist': Sdist},
    ext_modules=[Extension(
        'pyperf._pyperf', sources=[], define_macros=macros, py_limited_api=STABLE,
        extra_compile_args=['-std=gnu11', '-fvisibility=hidden', '-fno-strict-aliasing'],
        libraries=['pthread'])],
    options={'bdist_wheel': {'py_limited_api': 'cp310'}} if STABLE else {},
)
