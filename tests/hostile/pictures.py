"""Pictures made to hurt their reader: a few bytes that announce, or hold, very much."""

import io
import os
import struct
import zlib

from PIL import Image


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def zeros(count, step=1 << 20):
    """A zlib stream of that many zeros, without holding them."""
    stream = zlib.compressobj(6)
    parts = [stream.compress(bytes(min(step, count - at))) for at in range(0, count, step)]
    return b"".join(parts) + stream.flush()


def png(width, height, depth=1, colour=0, interlaced=False, row_bytes=None, before=b"", data=None):
    row_bytes = row_bytes if row_bytes is not None else (width * depth * {0: 1, 2: 3, 6: 4}[colour] + 7) // 8
    data = data if data is not None else zeros(height * (1 + row_bytes))
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, int(interlaced))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + before + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def interlaced_bytes(width, height, pixel_bytes):
    """Filter bytes and pixels of all seven passes."""
    total = 0
    for x, y, dx, dy in [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]:
        columns, rows = -(-(width - x) // dx), -(-(height - y) // dy)
        total += rows * (1 + columns * pixel_bytes) if columns > 0 else 0
    return total


def exif(orientation):
    return b"II*\0" + struct.pack("<IHHHIHH", 8, 1, 0x0112, 3, 1, orientation, 0) + bytes(4)


def segment(marker, data):
    return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data


def table(kind, symbol):
    """A Huffman table of one code, '0', one bit long."""
    return segment(0xC4, bytes([kind, 1]) + bytes(15) + bytes([symbol]))


def jpeg(width, height, scans, components=1, progressive=False, app1=b""):
    frame = struct.pack(">BHHB", 8, height, width, components)
    frame += b"".join(bytes([c + 1, 0x11, 0]) for c in range(components))
    out = b"\xff\xd8" + (segment(0xE1, app1) if app1 else b"") + segment(0xDB, bytes([0]) + bytes([1] * 64))
    out += segment(0xC2 if progressive else 0xC0, frame) + table(0x00, 0)
    return out + scans + b"\xff\xd9"


def black_jpeg(width, height, app1=b""):
    """One bit for the DC and one for the end of each block."""
    blocks = -(-width // 8) * -(-height // 8)
    scan = table(0x10, 0) + segment(0xDA, bytes([1, 1, 0x00, 0, 63, 0])) + bytes(blocks // 4 + 1)
    return jpeg(width, height, scan, app1=app1)


def scanned_jpeg(width, height, count):
    """Progressive, with `count` scans that say nothing: ends of bands, 32767 blocks at a time."""
    blocks = -(-width // 8) * -(-height // 8)
    first = segment(0xDA, bytes([1, 1, 0x00, 0, 0, 0])) + bytes(blocks // 8 + 1)
    runs = blocks // 32767 + 1
    bits = "0" + "1" * 14  # the run of ends, and its length; padded with zeros: more runs than are needed
    data = int(bits * runs, 2).to_bytes(2 * runs + 8, "big").lstrip(b"\0").replace(b"\xff", b"\xff\0")
    scan = segment(0xDA, bytes([1, 1, 0x00, 1, 63, 0])) + data + bytes(8)
    return jpeg(width, height, first + table(0x10, 0xE0) + scan * count, progressive=True)


def coefficients_jpeg(width, height):
    """Three components in scans of their own: all coefficients must be kept."""
    blocks = -(-width // 8) * -(-height // 8)
    scans = table(0x10, 0)
    for c in range(3):
        scans += segment(0xDA, bytes([1, c + 1, 0x00, 0, 63, 0])) + bytes(blocks // 4 + 1)
    return jpeg(width, height, scans, components=3)


def plain_webp(width, height):
    """A plain colour, which takes no bits, under a size of our choice."""
    buffer = io.BytesIO()
    Image.new("RGB", (16, 16), (9, 99, 199)).save(buffer, "webp", lossless=True)
    data = bytearray(buffer.getvalue())
    at = data.index(b"\x2f", 20)  # the signature of the lossless stream; then 14 bits of each side, less one
    bits = int.from_bytes(data[at + 1:at + 5], "little") >> 28 << 28
    data[at + 1:at + 5] = (bits | (width - 1) | (height - 1) << 14).to_bytes(4, "little")
    return bytes(data)


def gif(canvas, frame, data=None):
    out = b"GIF89a" + struct.pack("<HHBBB", *canvas, 0x80, 0, 0) + bytes(6)
    out += b"," + struct.pack("<HHHHB", 0, 0, *frame, 0)
    return out + (data if data is not None else b"\2\2\x4c\1\0") + b";"


def black_gif(side):
    buffer = io.BytesIO()
    Image.new("P", (side, side)).save(buffer, "gif")
    return buffer.getvalue()


def texts():
    """A thousand texts that inflate to eight megabytes each."""
    return chunk(b"zTXt", b"Comment\0\0" + zeros(7_900_000)) * 900


def make(folder):
    """All in the folders of two classes; yields names and files."""
    pictures = {
        "one_long_column.png": lambda: png(1, 1 << 24),
        "one_longer_column.png": lambda: png(1, 1 << 26, data=zeros(1 << 20)),
        "one_long_row.png": lambda: png(1 << 24, 1),
        "longest_column.png": lambda: png(1, 65535),
        "largest.png": lambda: png(65535, 1024),
        "deepest_interlaced.png": lambda: png(2048, 2048, 16, 6, True, data=zeros(interlaced_bytes(2048, 2048, 8))),
        "turned_largest.png": lambda: png(8192, 8192, before=chunk(b"eXIf", exif(6))),
        "announces_much.png": lambda: png(0x7FFFFFFF, 0x7FFFFFFF, data=b""),
        "texts.png": lambda: png(4, 4, before=texts()),
        "profile.png": lambda: png(4, 4, before=chunk(b"iCCP", b"x\0\0" + zeros(50_000_000))),
        "exif_in_circles.png": lambda: png(4, 4, before=chunk(b"eXIf", b"MM\0*\0\0\0\x08\xff\xff" + b"\1\x12\0\4\xff\xff\xff\xff" * 5000)),
        "largest.jpg": lambda: black_jpeg(8192, 8192),
        "turned_largest.jpg": lambda: black_jpeg(8192, 8192, b"Exif\0\0" + exif(8)),
        "largest_progressive.jpg": lambda: scanned_jpeg(8192, 8192, 2),
        "scans.jpg": lambda: scanned_jpeg(4096, 4096, 250),
        "many_scans.jpg": lambda: scanned_jpeg(64, 64, 5000),
        "coefficients.jpg": lambda: coefficients_jpeg(8192, 8192),
        "announces_much.jpg": lambda: jpeg(65535, 65535, b""),
        "largest.webp": lambda: plain_webp(5900, 5900),
        "too_large.webp": lambda: plain_webp(16383, 16383),
        "empty_canvas.gif": lambda: gif((65535, 65535), (1, 1)),
        "large_canvas.gif": lambda: gif((8192, 8192), (1, 1)),
        "largest.gif": lambda: black_gif(8000),
    }
    for place in (folder / "class", folder / "other"):
        place.mkdir(parents=True)
        Image.new("RGB", (8, 8), (1, 2, 3)).save(place / "good.png")
    for name, write in pictures.items():
        path = folder / "class" / name
        path.write_bytes(write())
        yield name, path
    for name, make_file in {"pipe.png": os.mkfifo, "endless.png": lambda path: os.symlink("/dev/zero", path),
                            "folder.png": os.mkdir, "loop.png": lambda path: os.symlink(path, path)}.items():
        path = folder / "other" / name
        make_file(path)
        yield name, path
