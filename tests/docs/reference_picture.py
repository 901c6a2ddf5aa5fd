"""The picture behind DeiT-Tiny's reference input, a golden retriever, as a PNG:  reference_picture.py IN.f32 OUT.png"""

import sys

import numpy
from PIL import Image

planes = numpy.fromfile(sys.argv[1], "<f4").reshape(3, 224, 224).transpose(1, 2, 0)
pixels = planes * [0.229, 0.224, 0.225] + [0.485, 0.456, 0.406]
Image.fromarray((pixels * 255).round().clip(0, 255).astype("uint8")).save(sys.argv[2])
