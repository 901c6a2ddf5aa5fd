"""Features and prompt gradients of a torchvision vit_b_32 with random weights, computed by PyTorch.

    engine_oracle.py FOLDER

Writes the checkpoint under the three families' names, and case-shared.safetensors and case-own.safetensors: images,
prompts (one set for the batch, or one per image), the gradient of the features, and what PyTorch makes of them.
"""
import json
import os
import sys

import torch
from torchvision.models import vit_b_32

sys.path.insert(0, os.path.dirname(__file__))
from checkpoint_oracle import TIMM, hugging_face, renamed, save  # noqa: E402


def model():
    torch.manual_seed(0)
    vit = vit_b_32().eval()
    with torch.no_grad():
        for name, p in vit.named_parameters():
            # torchvision starts with norms of 1 and 0, biases near 0 and a head of zeros: those would hide mistakes.
            if "ln" in name and name.endswith("weight"):
                p.uniform_(0.5, 1.5)
            elif name.endswith("bias") or "head" in name:
                p.normal_(0, 0.05)
    return vit.requires_grad_(False)


def features(vit, images, prompts):
    x = vit.conv_proj(images).flatten(2).transpose(1, 2)
    x = torch.cat([vit.class_token.expand(len(x), -1, -1), x], 1) + vit.encoder.pos_embedding
    x = torch.cat([x[:, :1], prompts.expand(len(x), -1, -1), x[:, 1:]], 1)
    return vit.encoder.ln(vit.encoder.layers(x))[:, 0]


def case(vit, path, own):
    images, d_features = torch.randn(3, 3, 224, 224), torch.randn(3, 768)
    prompts = (0.3 * torch.randn(*([3] if own else []), 10, 768)).requires_grad_()
    out = features(vit, images, prompts)
    out.backward(d_features)
    save(path, {"images": images, "prompts": prompts, "feature_gradient": d_features, "features": out,
                "logits": vit.heads(out), "prompt_gradient": prompts.grad})


folder = sys.argv[1]
vit = model()
state = vit.state_dict()
save(os.path.join(folder, "torchvision.safetensors"), state)
save(os.path.join(folder, "timm.safetensors"), renamed(state, TIMM))
os.mkdir(os.path.join(folder, "huggingface"))
save(os.path.join(folder, "huggingface", "model.safetensors"), hugging_face(state, "vit.", "classifier"))
with open(os.path.join(folder, "huggingface", "config.json"), "w") as file:
    json.dump({"model_type": "vit", "layer_norm_eps": 1e-6, "hidden_act": "gelu", "num_attention_heads": 12}, file)
case(vit, os.path.join(folder, "case-shared.safetensors"), own=False)
case(vit, os.path.join(folder, "case-own.safetensors"), own=True)
