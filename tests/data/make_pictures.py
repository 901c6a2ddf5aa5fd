"""Writes pictures of every kind that PNG and JPEG know, and beside each the bytes Pillow decodes it to.

usage: make_pictures.py FOLDER; for each FOLDER/name.{png,jpg} there is FOLDER/name.rgb (width, height as
little-endian u32, then the RGB bytes). Pillow cannot write most kinds of PNG, so those are written here.
"""
import pathlib
import struct
import sys
import zlib

import numpy as np
from PIL import Image

ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def packed_rows(samples, depth):
    """samples [height, width, channels] -> filtered rows (filter 0) as bytes."""
    rows = b""
    for row in samples:
        values = row.reshape(-1)
        if depth == 16:
            data = values.astype(">u2").tobytes()
        else:
            bits = (values[:, None] >> np.arange(depth - 1, -1, -1)) & 1
            data = np.packbits(bits.astype(np.uint8).reshape(-1)).tobytes()
        rows += b"\0" + data
    return rows


def write_png(path, samples, colour, depth, interlaced, palette=None, transparency=None):
    height, width, _ = samples.shape
    if interlaced:
        passes = [samples[y::dy, x::dx] for x, y, dx, dy in ADAM7]
        raw = b"".join(packed_rows(p, depth) for p in passes if p.size)
    else:
        raw = packed_rows(samples, depth)
    out = b"\x89PNG\r\n\x1a\n"
    out += chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, int(interlaced)))
    if palette is not None:
        out += chunk(b"PLTE", palette.tobytes())
    if transparency is not None:
        out += chunk(b"tRNS", transparency)
    out += chunk(b"gAMA", struct.pack(">I", 30000))  # Pillow pays no heed to it, nor must we
    out += chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")
    path.write_bytes(out)


def make_pngs(folder, random):
    kinds = [(0, d) for d in (1, 2, 4, 8, 16)] + [(3, d) for d in (1, 2, 4, 8)]
    kinds += [(c, d) for c in (2, 4, 6) for d in (8, 16)]
    for colour, depth in kinds:
        for interlaced in (False, True):
            width, height = (int(v) for v in random.integers(1, 40, 2))
            samples = random.integers(0, 1 << depth, (height, width, CHANNELS[colour]))
            palette = random.integers(0, 256, (1 << depth, 3), dtype=np.uint8) if colour == 3 else None
            transparency = {0: b"\0\1", 2: b"\0\1\0\2\0\3", 3: b"\0\x80"}.get(colour) if interlaced else None
            name = f"colour{colour}_depth{depth}_{'adam7' if interlaced else 'plain'}.png"
            write_png(folder / name, samples, colour, depth, interlaced, palette, transparency)


def smooth(random, width, height, channels):
    small = Image.fromarray(random.integers(0, 256, (4, 4, channels), dtype=np.uint8).squeeze())
    return small.resize((width, height), Image.BICUBIC)


def make_jpegs(folder, random):
    for subsampling in (0, 1, 2):
        for progressive in (False, True):
            picture = smooth(random, *(int(v) for v in random.integers(1, 70, 2)), 3)
            picture.save(folder / f"ycc_sub{subsampling}_{'progressive' if progressive else 'plain'}.jpg",
                         quality=85, subsampling=subsampling, progressive=progressive)
    smooth(random, 37, 21, 1).save(folder / "grey.jpg", quality=90)
    smooth(random, 64, 64, 3).save(folder / "restart_optimised.jpg", optimize=True, restart_marker_blocks=2)
    rotated = Image.Exif()
    rotated[0x0112] = 6  # "turn me": not obeyed by Image.open
    smooth(random, 30, 20, 3).save(folder / "exif_orientation.jpg", exif=rotated)
    cmyk = Image.merge("CMYK", smooth(random, 33, 19, 4).split())
    cmyk.save(folder / "cmyk.jpg", quality=95)
    # The same numbers read as YCCK: the transform byte that closes the Adobe marker says so.
    data = bytearray((folder / "cmyk.jpg").read_bytes())
    data[data.index(b"Adobe") + 11] = 2
    (folder / "ycck.jpg").write_bytes(data)


def main():
    folder = pathlib.Path(sys.argv[1])
    random = np.random.default_rng(7)
    make_pngs(folder, random)
    make_jpegs(folder, random)
    for path in sorted(folder.iterdir()):
        picture = Image.open(path)
        if picture.mode == "I":  # 16-bit grey, which Pillow would clip to white: our one departure
            pixels = (np.asarray(picture) >> 8).astype(np.uint8)[:, :, None].repeat(3, axis=2)
        else:
            pixels = np.asarray(picture.convert("RGB"))
        path.with_suffix(".rgb").write_bytes(struct.pack("<II", *picture.size) + pixels.tobytes())


main()
