# SPDX-License-Identifier: Apache-2.0
"""Perfetto's own schema, in a process of its own, since it needs another protobuf than Debian's. For each line of standard input,
a JSON list of words, it prints a line of JSON:

    [FILE]               the packets of a trace
    ["--schema", NAME...]  messages and enums: {name: {field or value: what it is}}"""
import json
import sys

from google.protobuf import json_format
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as trace


def field_of(field):
    other = field.message_type or field.enum_type
    return [field.number, field.type, other.full_name if other else None]


def find(name):
    kind, name = name.split(' ')
    pool = trace.DESCRIPTOR.pool
    if kind == 'enum':
        return {v.name: v.number for v in pool.FindEnumTypeByName(name).values}
    return {f.name: field_of(f) for f in pool.FindMessageTypeByName(name).fields}


def answer(first, *names):
    if first == '--schema':
        return {name: find(name) for name in names}
    with open(first, 'rb') as file:
        return json_format.MessageToDict(trace.Trace.FromString(file.read()), preserving_proto_field_name=True)


for line in sys.stdin:
    print(json.dumps(answer(*json.loads(line))), flush=True)
