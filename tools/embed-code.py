# SPDX-License-Identifier: Apache-2.0
"""embed-code.py NAME INPUT OUTPUT [FILENAME]: a Python module as C arrays, compiled into the program: NAME_source, and
NAME_code with what this Python compiles it to, whose file is then called FILENAME. NAME_magic tells its version of
bytecode. Without FILENAME, as in a build for another machine, NAME_code is empty."""
import importlib.util
import marshal
import sys


def put(out, name, data):
    out.write(f"static const char {name}[] = {{\n")
    for i in range(0, len(data), 16):
        out.write("\t" + " ".join(f"{b - 256 if b > 127 else b}," for b in data[i:i + 16]) + "\n")
    out.write("\t0\n};\n")


name, source, target, *filename = sys.argv[1:]
with open(source, "rb") as f:
    text = f.read()
code = marshal.dumps(compile(text, filename[0], "exec", dont_inherit=True)) if filename else b""
with open(target, "w", encoding="ascii") as f:
    put(f, name + "_source", text)
    put(f, name + "_code", code)
    magic = int.from_bytes(importlib.util.MAGIC_NUMBER, "little")
    f.write(f"enum {{ {name}_magic = {magic if code else 0} }};\n")
