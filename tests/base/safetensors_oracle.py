"""An independent reader and writer of safetensors, straight from the format's description.

    safetensors_oracle.py write OUT             some tensors of every float type
    safetensors_oracle.py check FILE            rewrites FILE as `{name: [dtype, shape, values]}` and its metadata on stdout
"""
import json
import struct
import sys

import numpy as np

NUMPY = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "U8": "u1"}


def write(path, tensors, metadata=None):
    """tensors: {name: (dtype, shape, bytes)}, stored in the order given."""
    header, offset = ({"__metadata__": metadata} if metadata else {}), 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [offset, offset + len(data)]}
        offset += len(data)
    text = json.dumps(header).encode()
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + b"".join(data for _, _, data in tensors.values()))


def read(path):
    raw = open(path, "rb").read()
    (length,) = struct.unpack("<Q", raw[:8])
    header, data = json.loads(raw[8 : 8 + length]), raw[8 + length :]
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        tensors[name] = np.frombuffer(data[begin:end], NUMPY[entry["dtype"]]).reshape(entry["shape"])
    return tensors, metadata


def bfloat16(values):
    return (np.asarray(values, "<f4").view("<u4") >> 16).astype("<u2").tobytes()


if __name__ == "__main__":
    if sys.argv[1] == "write":
        halves = np.arange(65536, dtype="<u2")  # every fp16 value there is
        write(sys.argv[2], {
            "z.halves": ("F16", [256, 256], halves.tobytes()),
            "brain": ("BF16", [2, 2], bfloat16([1.0, -2.5, 0.15625, float("inf")])),
            "wide": ("F64", [1], np.array([0.1], "<f8").tobytes()),
            "count": ("I64", [], np.array(7, "<i8").tobytes()),
            "nothing": ("F32", [0, 5], b""),
            "odd byte": ("U8", [1], b"\1"),
            "unaligned": ("F32", [3], np.array([1, 2, 3], "<f4").tobytes()),
            "halves as floats": ("F32", [65536], halves.view("<f2").astype("<f4").tobytes()),
        }, {"format": "pt"})
    else:
        tensors, metadata = read(sys.argv[2])
        assert list(tensors) == sorted(tensors), "names are not in order"
        assert metadata == {"é\"": "two\nlines", "format": "pt"}, metadata
        assert tensors["a"].shape == (2, 3) and (tensors["a"].ravel() == [0, 1, 2, 3, 4, 5]).all()
        assert tensors["naïve \"b\""].shape == () and tensors["naïve \"b\""] == np.float32(0.1)
        assert tensors["empty"].shape == (3, 0)
