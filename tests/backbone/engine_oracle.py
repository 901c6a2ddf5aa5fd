"""Features and prompt gradients of torchvision's transformers with random weights, computed by PyTorch.

    engine_oracle.py base FOLDER
    engine_oracle.py huge FOLDER

base, a vit_b_32: writes the checkpoint under the three families' names, and case-shared.safetensors and case-own.safetensors: images,
prompts (one set for the batch, or one per image), the gradient of the features, and what PyTorch makes of them.
huge, two blocks of a vit_h_14, whose 16 heads are 80 wide: the checkpoint in halves (huge.safetensors) and case-huge.safetensors.
"""
import json
import os
import sys

import torch
from torchvision.models import VisionTransformer, vit_b_32

sys.path.insert(0, os.path.dirname(__file__))
from checkpoint_oracle import TIMM, hugging_face, renamed, save  # noqa: E402


def model(make):
    torch.manual_seed(0)
    vit = make().eval()
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
    images, d_features = torch.randn(3, 3, vit.image_size, vit.image_size), torch.randn(3, vit.hidden_dim)
    prompts = (0.3 * torch.randn(*([3] if own else []), 10, vit.hidden_dim)).requires_grad_()
    out = features(vit, images, prompts)
    out.backward(d_features)
    save(path, {"images": images, "prompts": prompts, "feature_gradient": d_features, "features": out,
                "logits": vit.heads(out), "prompt_gradient": prompts.grad})


def base(folder):
    vit = model(vit_b_32)
    state = vit.state_dict()
    save(os.path.join(folder, "torchvision.safetensors"), state)
    save(os.path.join(folder, "timm.safetensors"), renamed(state, TIMM))
    os.mkdir(os.path.join(folder, "huggingface"))
    save(os.path.join(folder, "huggingface", "model.safetensors"), hugging_face(state, "vit.", "classifier"))
    with open(os.path.join(folder, "huggingface", "config.json"), "w") as file:
        json.dump({"model_type": "vit", "layer_norm_eps": 1e-6, "hidden_act": "gelu", "num_attention_heads": 12}, file)
    case(vit, os.path.join(folder, "case-shared.safetensors"), own=False)
    case(vit, os.path.join(folder, "case-own.safetensors"), own=True)


def huge(folder):
    vit = model(lambda: VisionTransformer(56, 14, 2, 16, 1280, 5120, num_classes=10))
    halves = {name: tensor.half() for name, tensor in vit.state_dict().items()}
    vit.load_state_dict({name: tensor.float() for name, tensor in halves.items()})
    save(os.path.join(folder, "huge.safetensors"), halves)
    case(vit, os.path.join(folder, "case-huge.safetensors"), own=False)


if __name__ == "__main__":
    {"base": base, "huge": huge}[sys.argv[1]](sys.argv[2])
