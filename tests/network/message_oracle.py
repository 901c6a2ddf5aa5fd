"""Reads a message of ours and writes one, following the page on the format:  message_oracle.py OURS THEIRS"""

import json
import struct
import sys
import zlib

message = open(sys.argv[1], "rb").read()
HEADER = "<4sI16sIIQIIQ"
magic, version, run, sender, phase, round_, kind, checksum, length = struct.unpack(HEADER, message[:56])
assert (magic, version, sender, phase, round_, kind) == (b"DFRM", 2, 7, 1, 12, 1)
assert run == bytes(range(0xF0, 0x100))
payload = message[56:]
assert len(payload) == length
assert zlib.crc32(message[:44] + bytes(4) + message[48:]) == checksum
(header_length,) = struct.unpack("<Q", payload[:8])
header = json.loads(payload[8 : 8 + header_length])
data = payload[8 + header_length :]


def values(name):
    begin, end = header[name]["data_offsets"]
    assert header[name]["dtype"] == "F32"
    return list(struct.unpack(f"<{(end - begin) // 4}f", data[begin:end]))


assert header["prompt_embeddings"]["shape"] == [2, 3] and values("prompt_embeddings") == [1, 2, 3, 4, 5, 6]
assert header["head.bias"]["shape"] == [2] and values("head.bias") == [0.5, -0.25]

header = json.dumps({"prompt_embeddings": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}}).encode()
payload = struct.pack("<Q", len(header)) + header + struct.pack("<2f", 1, -2)
fields = [b"DFRM", 2, run, 4, 5, 1 << 40, 1, 0, len(payload)]
fields[7] = zlib.crc32(struct.pack(HEADER, *fields) + payload)
open(sys.argv[2], "wb").write(struct.pack(HEADER, *fields) + payload)
