"""Reads an event file with protobuf's and crc32c's own libraries, from TensorFlow's description of the format.

    event_file_oracle.py FILE    one line per event: step, and tag=value for its scalars
"""
import struct
import sys

import crc32c
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

# tensorflow/core/util/event.proto and framework/summary.proto, as far as scalars need them.
Field = descriptor_pb2.FieldDescriptorProto
SCHEMA = {
    "Event": [("wall_time", 1, Field.TYPE_DOUBLE, None), ("step", 2, Field.TYPE_INT64, None),
              ("file_version", 3, Field.TYPE_STRING, None), ("summary", 5, Field.TYPE_MESSAGE, ".Summary")],
    "Summary": [("value", 1, Field.TYPE_MESSAGE, ".Value")],
    "Value": [("tag", 1, Field.TYPE_STRING, None), ("simple_value", 2, Field.TYPE_FLOAT, None)],
}


def event_class():
    file = descriptor_pb2.FileDescriptorProto(name="event.proto", syntax="proto3")
    for name, fields in SCHEMA.items():
        message = file.message_type.add(name=name)
        for field, number, kind, of in fields:
            repeated = of == ".Value"
            message.field.add(name=field, number=number, type=kind, type_name=of,
                              label=Field.LABEL_REPEATED if repeated else Field.LABEL_OPTIONAL)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("Event"))


def masked(data):
    crc = crc32c.crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def records(raw):
    at = 0
    while at < len(raw):
        length, length_crc = struct.unpack_from("<QI", raw, at)
        assert length_crc == masked(raw[at : at + 8]), f"byte {at}: wrong checksum of the length"
        data = raw[at + 12 : at + 12 + length]
        assert len(data) == length, f"byte {at}: cut short"
        (data_crc,) = struct.unpack_from("<I", raw, at + 12 + length)
        assert data_crc == masked(data), f"byte {at}: wrong checksum of the data"
        yield data
        at += 16 + length


Event = event_class()
first = True
for record in records(open(sys.argv[1], "rb").read()):
    event = Event.FromString(record)
    assert len(event.UnknownFields()) == 0, event
    if first:
        assert event.file_version == "brain.Event:2", event
        first = False
        continue
    assert event.wall_time > 1.7e9, event.wall_time
    print(event.step, *(f"{value.tag}={value.simple_value:.6g}" for value in event.summary.value))
