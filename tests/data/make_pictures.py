"""Writes pictures of every kind that PNG, JPEG, WebP and GIF know, and beside each the bytes Pillow decodes it to.

usage: make_pictures.py FOLDER; for each FOLDER/name.{png,jpg,webp,gif} there is FOLDER/name.rgb (width, height as
little-endian u32, then the RGB bytes), upright as its Exif orientation says, and FOLDER/name.stored, as it is stored.
Pillow cannot write most kinds of PNG and GIF, so those are written here.
"""
import pathlib
import struct
import sys
import zlib

import numpy as np
from PIL import Image, ImageOps

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


def write_png(path, samples, colour, depth, interlaced, palette=None, transparency=None, exif=b"", exif_last=False):
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
    extra = chunk(b"eXIf", exif) if exif else b""
    data = chunk(b"IDAT", zlib.compress(raw))
    out += (data + extra if exif_last else extra + data) + chunk(b"IEND", b"")
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
    cmyk = Image.merge("CMYK", smooth(random, 33, 19, 4).split())
    cmyk.save(folder / "cmyk.jpg", quality=95)
    # The same numbers read as YCCK: the transform byte that closes the Adobe marker says so.
    data = bytearray((folder / "cmyk.jpg").read_bytes())
    data[data.index(b"Adobe") + 11] = 2
    (folder / "ycck.jpg").write_bytes(data)


def exif_block(orientation, big_endian=False, kind=3, count=1):
    """A TIFF directory with a few entries, of which one is the orientation."""
    e = ">" if big_endian else "<"
    entry = struct.pack(e + "HHI", 0x0112, kind, count)
    entry += struct.pack(e + {3: "HH", 4: "I"}[kind], *((orientation, 0) if kind == 3 else (orientation,)))
    maker = struct.pack(e + "HHI4s", 0x010F, 2, 3, b"me\0\0")
    return (b"MM\0*" if big_endian else b"II*\0") + struct.pack(e + "IH", 8, 2) + maker + entry + b"\0\0\0\0"


def make_turned(folder, random):
    """All orientations, and those that are none, in every format that can say it."""
    for orientation in range(0, 10):
        block = exif_block(orientation, big_endian=orientation % 2 == 1, kind=4 if orientation == 7 else 3)
        width, height = (int(v) for v in random.integers(5, 40, 2))
        picture = smooth(random, width, height, 3)
        picture.save(folder / f"turned{orientation}.jpg", exif=b"Exif\0\0" + block, progressive=orientation % 3 == 0)
        for lossless in (True, False):
            picture.save(folder / f"turned{orientation}_{lossless}.webp", exif=block, lossless=lossless)
        samples = random.integers(0, 256, (height, width, 3))
        for interlaced in (False, True):
            write_png(folder / f"turned{orientation}_{'adam7' if interlaced else 'plain'}.png", samples, 2, 8, interlaced,
                      exif=block, exif_last=orientation > 5)
    smooth(random, 30, 20, 1).save(folder / "turned_grey.jpg", exif=b"Exif\0\0" + exif_block(6))
    Image.merge("CMYK", smooth(random, 33, 19, 4).split()).save(folder / "turned_cmyk.jpg", exif=b"Exif\0\0" + exif_block(8))
    smooth(random, 1, 9, 3).save(folder / "turned_line.jpg", exif=b"Exif\0\0" + exif_block(5))
    # Exif that makes no sense, or says two things, leaves the picture as Pillow leaves it.
    for name, block in {"two": exif_block(6, count=2), "cut": exif_block(6)[:20], "noise": b"II*\0\xff\xff\xff\x7f",
                        "empty": b"II*\0\x08\0\0\0\0\0"}.items():
        smooth(random, 12, 8, 3).save(folder / f"exif_{name}.jpg", exif=b"Exif\0\0" + block)


def make_webps(folder, random):
    for name, channels, options in (("lossy", 3, {"quality": 80}), ("lossless", 3, {"lossless": True}),
                                    ("alpha", 4, {"quality": 70}), ("alpha_lossless", 4, {"lossless": True, "exact": True})):
        picture = smooth(random, *(int(v) for v in random.integers(1, 70, 2)), channels)
        picture.save(folder / f"{name}.webp", **options)
    frames = [Image.fromarray(random.integers(0, 256, (24, 32, 4), dtype=np.uint8)) for _ in range(3)]
    frames[0].save(folder / "animated.webp", save_all=True, append_images=frames[1:], lossless=True)


def lzw(indices, bits):
    """Codes of one length, with a clear code often enough that it stays so: valid, if wasteful."""
    clear, width = 1 << bits, bits + 1
    codes = []
    for i, index in enumerate(indices):
        if i % (clear - 2) == 0:
            codes.append(clear)
        codes.append(int(index))
    codes.append(clear + 1)
    value = sum(code << (width * i) for i, code in enumerate(codes))
    data = value.to_bytes((width * len(codes) + 7) // 8, "little")
    blocks = [data[i:i + 255] for i in range(0, len(data), 255)]
    return bytes([bits]) + b"".join(bytes([len(b)]) + b for b in blocks) + b"\0"


def write_gif(path, canvas, frame, indices, bits, palette=None, local=None, transparent=None, interlaced=False):
    """canvas (width, height), frame (left, top, width, height); palettes have 2**bits colours or fewer entries used."""
    out = b"GIF89a" + struct.pack("<HHBBB", *canvas, (0x80 | (bits - 1)) if palette is not None else 0, 0, 0)
    out += palette.tobytes() if palette is not None else b""
    if transparent is not None:
        out += b"!\xf9\4" + struct.pack("<BHB", 1, 0, transparent) + b"\0"
    out += b"!\xfe\5hello\0"
    out += b"," + struct.pack("<HHHHB", *frame, (0x40 if interlaced else 0) | ((0x80 | (bits - 1)) if local is not None else 0))
    out += local.tobytes() if local is not None else b""
    rows = indices.reshape(frame[3], frame[2])
    if interlaced:
        rows = np.concatenate([rows[0::8], rows[4::8], rows[2::4], rows[1::2]])
    path.write_bytes(out + lzw(rows.reshape(-1), max(2, int(indices.max()).bit_length())) + b";")


def make_gifs(folder, random):
    smooth(random, 40, 30, 3).save(folder / "plain.gif")
    smooth(random, 21, 33, 1).save(folder / "grey.gif")
    frames = [smooth(random, 20, 20, 3) for _ in range(3)]
    frames[0].save(folder / "animated.gif", save_all=True, append_images=frames[1:])
    colours = lambda bits: random.integers(0, 256, (1 << bits, 3), dtype=np.uint8)
    draw = lambda frame, bits: random.integers(0, 1 << bits, frame[2] * frame[3])
    whole, part, beyond = (0, 0, 17, 13), (3, 5, 7, 6), (10, 9, 12, 11)
    write_gif(folder / "interlaced.gif", (17, 13), whole, draw(whole, 4), 4, palette=colours(4), interlaced=True)
    write_gif(folder / "local.gif", (17, 13), whole, draw(whole, 3), 3, palette=colours(3), local=colours(3))
    write_gif(folder / "part.gif", (17, 13), part, draw(part, 2), 2, palette=colours(2))
    write_gif(folder / "part_transparent.gif", (17, 13), part, draw(part, 3), 3, palette=colours(3), transparent=5)
    write_gif(folder / "beyond.gif", (17, 13), beyond, draw(beyond, 3), 3, palette=colours(3))
    write_gif(folder / "no_palette.gif", (17, 13), whole, draw(whole, 8), 8)
    write_gif(folder / "short_palette.gif", (17, 13), whole, draw(whole, 8), 2, palette=colours(2))
    write_gif(folder / "ramp.gif", (17, 13), whole, draw(whole, 8), 8,
              palette=np.arange(256, dtype=np.uint8)[:, None].repeat(3, axis=1))


def rgb_of(picture):
    if picture.mode == "I":  # 16-bit grey, which Pillow would clip to white: our one departure
        return (np.asarray(picture) >> 8).astype(np.uint8)[:, :, None].repeat(3, axis=2)
    return np.asarray(picture.convert("RGB"))


def main():
    folder = pathlib.Path(sys.argv[1])
    random = np.random.default_rng(7)
    make_pngs(folder, random)
    make_jpegs(folder, random)
    make_turned(folder, random)
    make_webps(folder, random)
    make_gifs(folder, random)
    for path in sorted(folder.iterdir()):
        for suffix, turn in ((".stored", lambda picture: picture), (".rgb", ImageOps.exif_transpose)):
            pixels = rgb_of(turn(Image.open(path)))
            size = struct.pack("<II", pixels.shape[1], pixels.shape[0])
            path.with_name(path.name + suffix).write_bytes(size + pixels.tobytes())


main()
