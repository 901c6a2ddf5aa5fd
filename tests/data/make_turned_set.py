"""Writes a data set of pictures that were taken with the camera on its side: usage: make_turned_set.py FOLDER."""
import pathlib
import sys

import numpy as np
from PIL import Image

folder = pathlib.Path(sys.argv[1])
random = np.random.default_rng(3)
for name, width, height in (("bee", 30, 20), ("ant", 300, 200)):
    (folder / name).mkdir()
    for i, orientation in enumerate((6, 8, 5)):
        exif = Image.Exif()
        exif[0x0112] = orientation
        small = Image.fromarray(random.integers(0, 256, (4, 4, 3), dtype=np.uint8))
        small.resize((width, height)).save(folder / name / f"{i}.{'jpg' if i else 'png'}", exif=exif)
