"""Data sets, checkpoints and settings made to hurt their reader, each with the command that reads it."""

import gzip
import io
import json
import pickle
import random
import struct
import zipfile
import zlib

MEGABYTE = 1 << 20
# Compressed some fifty times, as no picture is and as is still believed.
DULL = random.Random(1).randbytes(21_000).ljust(MEGABYTE, b"\0")


def gzip_of(count, start=b"", block=bytes(MEGABYTE)):
    stream = zlib.compressobj(1, zlib.DEFLATED, 31)
    parts = [stream.compress(start)] + [stream.compress(block) for _ in range(count >> 20)]
    return b"".join(parts) + stream.flush()


def make_idx(folder):
    """Inflates without end; announces more than there is."""
    for name, images in {"idx_bomb": gzip_of(1 << 28, struct.pack(">IIII", 0x803, 1 << 18, 32, 32)),
                         "idx_large": gzip_of(90 << 20, struct.pack(">IIII", 0x803, 90 << 10, 32, 32), DULL),
                         "idx_lies": gzip.compress(struct.pack(">IIII", 0x803, 0xFFFFFFFF, 1024, 1024))}.items():
        place = folder / name
        place.mkdir()
        (place / "train-images-idx3-ubyte.gz").write_bytes(images)
        (place / "train-labels-idx1-ubyte.gz").write_bytes(
            gzip_of(0, struct.pack(">II", 0x801, 90 << 10) + bytes(90 << 10)))
        yield name, place / "train-images-idx3-ubyte.gz", ["data", "show", place]


def element(kind, data):
    return struct.pack("<II", kind, len(data)) + data + (bytes(-len(data) % 8) if kind != 15 else b"")


def mat_variable(name, dimensions, numbers, block=bytes(MEGABYTE)):
    head = element(6, struct.pack("<II", 9, 0)) + element(5, struct.pack(f"<{len(dimensions)}i", *dimensions))
    head += element(1, name.encode()) + struct.pack("<II", 2, numbers)
    stream = zlib.compressobj(1)
    data = stream.compress(struct.pack("<II", 14, len(head) + numbers) + head)
    data += b"".join(stream.compress(block[:min(MEGABYTE, numbers - at)]) for at in range(0, numbers, MEGABYTE))
    return element(15, data + stream.flush())


def many_variables(count):
    """Of a megabyte each, all of another name. The zeros are compressed once and put behind every head."""
    size = 1_000_000
    raw = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = raw.compress(bytes(size)) + raw.flush()
    for i in range(count):
        head = element(6, struct.pack("<II", 9, 0)) + element(5, struct.pack("<2i", 1, size))
        head += element(1, f"v{i:06}".encode()) + struct.pack("<II", 2, size)
        head = struct.pack("<II", 14, len(head) + size) + head
        stream = zlib.compressobj(9)
        start = stream.compress(head) + stream.flush(zlib.Z_FULL_FLUSH)
        checksum = zlib.adler32(bytes(size), zlib.adler32(head))
        yield element(15, start + body + struct.pack(">I", checksum))


def make_mat(folder):
    header = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM"
    count = 90 << 20
    many = b"".join(many_variables(1000))
    for name, body in {"mat_many": many + mat_variable("X", (32, 32, 3, 1), 3072),
                       "mat_same": mat_variable("X", (32, 32, 3, 340), 1044480) * 1000,
                       "mat_large": mat_variable("X", (32, 32, 3, count // 3072), count // 3072 * 3072, DULL),
                       "mat_bomb": mat_variable("X", (32, 32, 3, 1 << 16), 3072 << 16)}.items():
        place = folder / name
        place.mkdir()
        for split in ("train", "test"):
            (place / f"{split}_32x32.mat").write_bytes(header + body)
        yield name, place / "train_32x32.mat", ["data", "show", place, "--format", "svhn-mat"]


def make_csv(folder):
    for name, text in {"csv_field.csv": "path,label\n" + "x" * 20_000_000 + ",1\n",
                       "csv_quote.csv": 'path,label\n"' + "x\n" * 1_000_000,
                       "csv_columns.csv": "path,label\n" + "," * 1_000_000 + "\n",
                       "csv_lines.csv": "path,label\n" + "gone.png,1\n" * 200_000}.items():
        path = folder / name
        path.write_text(text)
        yield name, path, ["data", "show", path]
    place = folder / "records_bomb"
    place.mkdir()
    (place / "train.bin.gz").write_bytes(gzip_of(1 << 28))
    yield "records_bomb", place / "train.bin.gz", ["data", "show", place]


def safetensors(header, data=b""):
    header = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(header)) + header + data


def make_checkpoints(folder):
    tensor = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
    for name, content in {
            "header_length.safetensors": struct.pack("<Q", (1 << 63) - 1) + b"{}",
            "header_spaces.safetensors": safetensors(b"{}" + b" " * 90_000_000),
            "many_tensors.safetensors": safetensors({f"t{i}": tensor for i in range(100_000)}),
            "huge_shape.safetensors": safetensors({"t": {"dtype": "F32", "shape": [1 << 62, 1 << 62], "data_offsets": [0, 4]}}, b"1234"),
            "many_dimensions.safetensors": safetensors({"t": {"dtype": "F32", "shape": [1] * 1_000_000, "data_offsets": [0, 4]}}, b"1234"),
            "long_name.safetensors": safetensors({"n" * 20_000_000: tensor}),
            "metadata.safetensors": safetensors({"__metadata__": {str(i): "x" * 50 for i in range(200_000)}})}.items():
        path = folder / name
        path.write_bytes(content)
        yield name, path, ["backbone", "inspect", path]
    for name, program in {
            "pickle_marks.pth": b"\x80\x02" + b"(" * 2_000_000 + b".",
            "pickle_long_text.pth": b"\x80\x02X" + struct.pack("<I", 0xFFFFFFFF) + b"x",
            "pickle_memo.pth": b"\x80\x02}" + b"".join(b"r" + struct.pack("<I", i) for i in range(400_000)) + b".",
            "pickle_doubling.pth": b"\x80\x02]" + b"q\0" + b"(h\0h\0tq\0" * 200_000 + b".",
            "pickle_calls.pth": pickle.dumps(__import__("os").getcwd),
            "pickle_dict.pth": b"\x80\x02}(" + b"".join(b"X\4\0\0\0" + struct.pack("<I", i % 128) + b"K\1" for i in range(500_000)) + b"u."}.items():
        path = folder / name
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr("archive/data.pkl", program)
            archive.writestr("archive/version", "3\n")
        path.write_bytes(buffer.getvalue())
        yield name, path, ["backbone", "inspect", path]
    path = folder / "zip_bomb.pth"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", bytes(40 << 20))
    yield "zip_bomb.pth", path, ["backbone", "inspect", path]


def make_settings(folder):
    for name, text in {"toml_keys.toml": "[run]\n" + "".join(f"k{i} = 1\n" for i in range(100_000)),
                       "toml_string.toml": '[run]\nname = "' + "x" * 20_000_000 + '"\n',
                       "toml_array.toml": "[prompts]\ncounts = [" + "1," * 1_000_000 + "]\n",
                       "toml_tables.toml": "".join(f"[a{i}]\n" for i in range(100_000)),
                       "toml_number.toml": "[run]\nseed = " + "9" * 1_000_000 + "\n"}.items():
        path = folder / name
        path.write_text(text)
        yield name, path, ["config", "show", path]
    for name, text in {"json_numbers": "[" + "9" * 5_000_000 + "]", "json_list": "[" + "1," * 5_000_000 + "1]",
                       "json_keys": "{" + ",".join(f'"k{i}":{i}' for i in range(300_000)) + "}"}.items():
        place = folder / name
        place.mkdir()
        for file in ("config.json", "model.safetensors.index.json"):
            (place / file).write_text(text)
        yield name, place / "config.json", ["backbone", "inspect", place]


def make(folder):
    """Yields a name, the file it is about, and the words of the command that reads it."""
    for maker in (make_idx, make_mat, make_csv, make_checkpoints, make_settings):
        yield from maker(folder)
