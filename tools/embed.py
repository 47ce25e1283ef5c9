# SPDX-License-Identifier: Apache-2.0
"""embed.py NAME INPUT OUTPUT: a text file as a C array, compiled into the program."""
import sys

name, source, target = sys.argv[1:]
with open(source, "rb") as f:
    data = f.read()
with open(target, "w", encoding="ascii") as f:
    f.write(f"static const char {name}[] = {{\n")
    for i in range(0, len(data), 16):
        f.write("\t" + " ".join(f"{b}," for b in data[i:i + 16]) + "\n")
    f.write("\t0\n};\n")
