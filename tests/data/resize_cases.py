"""Random pictures and what Pillow resizes them to.

usage: resize_cases.py FILE; a record per case: input width and height, output width and height, filter
(little-endian u32), input RGB bytes, output RGB bytes.
"""
import struct
import sys

import numpy as np
from PIL import Image

FILTERS = [Image.NEAREST, Image.BILINEAR, Image.BICUBIC]  # in the order of ResizeFilter


def main():
    random = np.random.default_rng(11)
    sizes = [tuple(int(v) for v in random.integers(1, 90, 4)) for _ in range(150)]
    # One pixel, one row, one column, sides that stay, powers of two, a strong reduction, a strong enlargement.
    sizes += [(1, 1, 5, 7), (1, 40, 30, 3), (40, 1, 3, 30), (33, 20, 33, 41), (33, 20, 12, 20), (33, 20, 33, 20),
              (32, 32, 256, 256), (28, 28, 224, 224), (64, 64, 16, 16), (700, 300, 5, 2), (3, 2, 401, 199)]
    with open(sys.argv[1], "wb") as out:
        for index, (width, height, new_width, new_height) in enumerate(sizes):
            # Noise exercises rounding; pure black and white exercises the clipping of bicubic's overshoot.
            pixels = random.integers(0, 256, (height, width, 3), dtype=np.uint8)
            if index % 3 == 0:
                pixels = (pixels > 127).astype(np.uint8) * 255
            for number, method in enumerate(FILTERS):
                resized = Image.fromarray(pixels).resize((new_width, new_height), method)
                out.write(struct.pack("<5I", width, height, new_width, new_height, number))
                out.write(pixels.tobytes() + resized.tobytes())


main()
