"""Mean and covariance of frost-mini's features, by NumPy from what `dfrost backbone probe` gives.

    moments_oracle.py draw FOLDER       writes pictures/ (as large as the model's input) and in.safetensors, the same pictures normalised
    moments_oracle.py compare FOLDER    compares moments-64.safetensors with the features in out.safetensors
"""
import os
import sys
from pathlib import Path

import numpy as np
import torch
from PIL import Image

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
sys.path[:0] = [os.path.dirname(__file__), os.path.join(ROOT, "tools", "frost_mini")]
from checkpoint_oracle import save  # noqa: E402
from vit import read_safetensors  # noqa: E402

PICTURES = 70  # no multiple of how many are computed at once
command, folder = sys.argv[1], Path(sys.argv[2])
if command == "draw":
    rng = np.random.default_rng(5)
    pictures = rng.integers(0, 256, (PICTURES, 64, 64, 3), dtype=np.uint8) // rng.integers(1, 6, (PICTURES, 1, 1, 3), dtype=np.uint8)
    for i, picture in enumerate(pictures):
        path = folder / "pictures" / ("a" if i < 40 else "b/c") / f"{i:02}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).save(path)
    (folder / "pictures/notes.txt").write_text("no picture\n")
    images = (torch.tensor(pictures).permute(0, 3, 1, 2) / 255 - torch.tensor([0.485, 0.456, 0.406])[:, None, None]) \
        / torch.tensor([0.229, 0.224, 0.225])[:, None, None]
    save(str(folder / "in.safetensors"), {"images": images.contiguous()})
else:
    features = read_safetensors(str(folder / "out.safetensors"))["features"].double().numpy()
    found = {name: tensor.double().numpy() for name, tensor in read_safetensors(str(folder / "moments-64.safetensors")).items()}
    assert found["count"] == [PICTURES], found["count"]
    covariance = np.cov(features.T, bias=True)
    for name, expected in {"mean": features.mean(0), "covariance": covariance[np.tril_indices(len(covariance))]}.items():
        assert found[name].shape == expected.shape, (name, found[name].shape)
        error = np.abs(found[name] - expected).max() / np.abs(expected).max()
        assert error < 1e-5, (name, error)
