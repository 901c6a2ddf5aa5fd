"""Random pictures and the tensors that torchvision's usual transforms make of them.

usage: torchvision_cases.py FILE; a record per case: width, height, resize, stretch, filter, crop (little-endian
u32), mean and std (3 f32 each), input RGB bytes, then the tensor [3, crop, crop] as f32.
"""
import struct
import sys

import numpy as np
from PIL import Image
from torchvision import transforms
from torchvision.transforms import InterpolationMode

FILTERS = [InterpolationMode.NEAREST, InterpolationMode.BILINEAR, InterpolationMode.BICUBIC]
IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
HALVES = ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))


def main():
    random = np.random.default_rng(5)
    # width, height, resize, stretch, filter, crop: what checkpoints ask for first, then odd remainders of the crop
    # (1, 3, 5, 7 pixels), crops larger than the picture, extreme shapes.
    cases = [(32, 32, 256, 0, 1, 224), (28, 28, 224, 1, 1, 224), (45, 61, 248, 0, 2, 224), (90, 60, 256, 0, 2, 224)]
    cases += [(40, 30, 32 + odd, 0, 1 + odd % 2, 32) for odd in range(9)]
    cases += [(31, 17, 20, 0, 1, 33), (31, 17, 20, 1, 2, 27), (17, 31, 9, 0, 0, 30), (5, 5, 5, 0, 2, 8)]
    cases += [(1, 1, 16, 0, 2, 16), (1, 50, 8, 0, 1, 8), (200, 3, 12, 0, 2, 24), (16, 16, 16, 0, 1, 16)]
    for _ in range(60):
        width, height, resize, crop = (int(v) for v in random.integers(1, 64, 4))
        cases.append((width, height, resize, int(random.integers(2)), int(random.integers(3)), crop))
    with open(sys.argv[1], "wb") as out:
        for index, case in enumerate(cases):
            width, height, resize, stretch, method, crop = case
            mean, std = IMAGENET if index % 2 == 0 else HALVES
            pixels = random.integers(0, 256, (height, width, 3), dtype=np.uint8)
            transform = transforms.Compose([
                transforms.Resize((resize, resize) if stretch else resize, FILTERS[method]),
                transforms.CenterCrop(crop), transforms.ToTensor(), transforms.Normalize(mean, std)])
            tensor = transform(Image.fromarray(pixels)).numpy()
            out.write(struct.pack("<6I6f", *case, *mean, *std) + pixels.tobytes() + tensor.tobytes())


main()
