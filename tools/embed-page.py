#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""embed-page.py SCRIPT STYLE NAME OUT.c: the two as C strings, NAME_page, and the hash of
the script by which the page's policy knows it (the only one that may run)."""
import base64
import hashlib
import sys


def c_array(name, data):
    rows = [', '.join(str(b) for b in data[i:i + 32]) for i in range(0, len(data), 32)]
    return f'static const char {name}[] = {{\n' + ',\n'.join(rows) + ', 0\n};\n'


def main(script_path, style_path, name, out_path):
    with open(script_path, 'rb') as f:
        script = f.read()
    with open(style_path, 'rb') as f:
        style = f.read()
    policy = base64.b64encode(hashlib.sha256(script).digest()).decode()
    with open(out_path, 'w', encoding='ascii') as out:
        out.write('#include "report/page.h"\n\n')
        out.write(c_array('script', script) + c_array('style', style))
        out.write(f'const struct page {name}_page = {{\n'
                  f'\tscript, style, sizeof(script) - 1, sizeof(style) - 1, "{policy}",\n}};\n')


if __name__ == '__main__':
    main(*sys.argv[1:])
