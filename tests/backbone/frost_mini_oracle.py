"""What PyTorch makes of the backbone that comes with dfrost, with the model that it was trained as.

    frost_mini_oracle.py FOLDER     writes case.safetensors: images, features, logits
"""
import os
import sys

import torch

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
sys.path[:0] = [os.path.dirname(__file__), os.path.join(ROOT, "tools", "frost_mini")]
from checkpoint_oracle import save  # noqa: E402
from vit import VisionTransformer, read_safetensors  # noqa: E402

torch.manual_seed(7)
model = VisionTransformer()
model.load_state_dict(read_safetensors(os.path.join(ROOT, "share/dfrost/backbones/frost-mini/model.safetensors")))
images = torch.randn(4, 3, 64, 64)
with torch.no_grad():
    tokens, logits, _ = model(images)
save(os.path.join(sys.argv[1], "case.safetensors"), {"images": images, "features": tokens[:, 0].contiguous(), "logits": logits})
