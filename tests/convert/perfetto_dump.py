# SPDX-License-Identifier: Apache-2.0
"""Perfetto's own schema, in a process of its own, since it needs another protobuf than Debian's:

    perfetto_dump.py FILE              the packets of a trace as JSON
    perfetto_dump.py --schema NAME...  messages and enums: {name: {field or value: what it is}}"""
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


if sys.argv[1] == '--schema':
    json.dump({name: find(name) for name in sys.argv[2:]}, sys.stdout)
else:
    with open(sys.argv[1], 'rb') as file:
        packets = trace.Trace.FromString(file.read())
    json.dump(json_format.MessageToDict(packets, preserving_proto_field_name=True), sys.stdout)
