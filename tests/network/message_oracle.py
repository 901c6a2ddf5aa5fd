"""Reads a message of ours and writes one, following the page on the format:  message_oracle.py OURS THEIRS"""

import json
import struct
import sys
import zlib

message = open(sys.argv[1], "rb").read()
magic, version, sender, checksum, round_, length = struct.unpack("<4sIIIQQ", message[:32])
assert (magic, version, sender, round_) == (b"DFRM", 1, 7, 12)
payload = message[32:]
assert len(payload) == length
assert zlib.crc32(message[:12] + bytes(4) + message[16:]) == checksum
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
fields = [b"DFRM", 1, 4, 0, 1 << 40, len(payload)]
fields[3] = zlib.crc32(struct.pack("<4sIIIQQ", *fields) + payload)
open(sys.argv[2], "wb").write(struct.pack("<4sIIIQQ", *fields) + payload)
