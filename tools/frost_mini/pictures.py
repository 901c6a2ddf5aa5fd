"""Tiny ImageNet's pictures in memory, and the ways in which they are changed before both networks see them."""
import io
import tarfile

import numpy
import torch
from PIL import Image
from torch.nn import functional

SIZE = 64


def load(archive):
    """All JPEGs of a tar archive as one uint8 tensor (pictures, 3, 64, 64)."""
    pictures = []
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.name.endswith(".JPEG"):
                image = Image.open(io.BytesIO(tar.extractfile(member).read())).convert("RGB")
                pictures.append(numpy.asarray(image).transpose(2, 0, 1))
    return torch.from_numpy(numpy.stack(pictures))


def chance(count, probability, generator):
    return torch.rand(count, generator=generator) < probability


def uniform(count, low, high, generator):
    return low + (high - low) * torch.rand(count, generator=generator)


def cropped(x, generator):
    """Random crops (30-100 % of the area) and flips; one in six is moved far away instead, onto black, as digits are."""
    count = len(x)
    scale = uniform(count, 0.3, 1.0, generator).sqrt()
    far = chance(count, 1 / 6, generator)
    scale[far] = uniform(int(far.sum()), 1.0, 2.0, generator)
    stretch = torch.exp(uniform(count, -0.25, 0.25, generator))
    across, down = scale * stretch, scale / stretch
    room_x, room_y = (1 - across).abs(), (1 - down).abs()
    theta = torch.zeros(count, 2, 3)
    theta[:, 0, 0] = across * torch.where(chance(count, 0.5, generator), 1.0, -1.0)
    theta[:, 1, 1] = down
    theta[:, 0, 2] = uniform(count, -1, 1, generator) * room_x
    theta[:, 1, 2] = uniform(count, -1, 1, generator) * room_y
    grid = functional.affine_grid(theta, x.shape, align_corners=False)
    # Crops that reach over the edge by rounding repeat it; far ones show black.
    near = functional.grid_sample(x, grid, padding_mode="border", align_corners=False)
    near[far] = functional.grid_sample(x[far], grid[far], padding_mode="zeros", align_corners=False)
    return near


def coloured(x, generator):
    """Brightness and contrast; a third grey, of which a part in two tones; a fifth inverted."""
    count = len(x)
    gain = uniform(count, 0.6, 1.5, generator).view(-1, 1, 1, 1)
    offset = uniform(count, -0.2, 0.2, generator).view(-1, 1, 1, 1)
    x = ((x - 0.5) * gain + 0.5 + offset).clamp(0, 1)
    grey = chance(count, 1 / 3, generator)
    x[grey] = (x[grey] * torch.tensor([0.299, 0.587, 0.114]).view(1, 3, 1, 1)).sum(1, keepdim=True).expand(-1, 3, -1, -1)
    toned = grey & chance(count, 0.35, generator)
    if toned.any():
        y = x[toned]
        x[toned] = torch.sigmoid(12 * (y - y.mean((1, 2, 3), keepdim=True) - 0.1))
    inverted = chance(count, 0.2, generator)
    x[inverted] = 1 - x[inverted]
    return x


def coarsened(x, generator):
    """Half of the pictures lose what a 28 or 32 pixel picture does not have."""
    which = torch.rand(len(x), generator=generator)
    for chosen, side in ((which < 0.2, 28), (which > 0.7, 32)):
        if chosen.any():
            small = functional.interpolate(x[chosen], (side, side), mode="bilinear", antialias=True)
            x[chosen] = functional.interpolate(small, (SIZE, SIZE), mode="bicubic").clamp(0, 1)
    return x


def augmented(batch, generator):
    """uint8 pictures -> changed pictures in [0, 1]."""
    return coarsened(coloured(cropped(batch.float() / 255, generator), generator), generator)
