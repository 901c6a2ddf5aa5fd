"""Small vision transformers with random weights: torchvision's own, and modules built as timm and Hugging Face build theirs."""

import json
from pathlib import Path

import torch
from torchvision.models.vision_transformer import VisionTransformer

WIDTH, HEADS, DEPTH, PATCH, SIDE, CLASSES = 64, 2, 2, 8, 32, 5


def save(path, tensors):
    header, offset, blobs = {}, 0, []
    for name, tensor in tensors.items():
        blob = tensor.detach().contiguous().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [offset, offset + len(blob)]}
        offset += len(blob)
        blobs.append(blob)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(len(text).to_bytes(8, "little") + text + b"".join(blobs))


def random_vit(path):
    """torchvision's, exported to `path`."""
    torch.manual_seed(3)
    vit = VisionTransformer(SIDE, PATCH, DEPTH, HEADS, WIDTH, 2 * WIDTH, num_classes=CLASSES).eval()
    with torch.no_grad():
        for parameter in vit.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.1)
        for module in vit.modules():
            if isinstance(module, torch.nn.LayerNorm):
                module.weight.add_(1.0)
    save(path, vit.state_dict())
    (Path(path).parent / "config.json").write_text(json.dumps({"num_attention_heads": HEADS}))
    return vit.requires_grad_(False)


class _Attention(torch.nn.Module):
    def __init__(self, qkv, projection):
        super().__init__()
        self.qkv, self.proj = qkv, projection

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = self.qkv(x).reshape(batch, tokens, 3, HEADS, width // HEADS).permute(2, 0, 3, 1, 4)
        shares = ((q @ k.transpose(-2, -1)) * (width // HEADS) ** -0.5).softmax(-1)
        return self.proj((shares @ v).transpose(1, 2).reshape(batch, tokens, width))


class _Block(torch.nn.Module):
    """A block as timm has it; Hugging Face's answers with a tuple."""

    def __init__(self, layer, answers_tuple):
        super().__init__()
        qkv = torch.nn.Linear(WIDTH, 3 * WIDTH)
        qkv.weight, qkv.bias = layer.self_attention.in_proj_weight, layer.self_attention.in_proj_bias
        self.norm1, self.norm2, self.mlp = layer.ln_1, layer.ln_2, layer.mlp
        self.attn, self.answers_tuple = _Attention(qkv, layer.self_attention.out_proj), answers_tuple

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        x = x + self.mlp(self.norm2(x))
        return (x,) if self.answers_tuple else x


class _Patches(torch.nn.Module):
    def __init__(self, projection):
        super().__init__()
        self.proj = projection

    def forward(self, images):
        return self.proj(images).flatten(2).transpose(1, 2)


def as_timm(vit):
    model = torch.nn.Module()
    model.patch_embed, model.cls_token, model.pos_embed = _Patches(vit.conv_proj), vit.class_token, vit.encoder.pos_embedding
    model.pos_drop, model.norm_pre = torch.nn.Identity(), torch.nn.Identity()
    model.blocks = torch.nn.Sequential(*(_Block(layer, False) for layer in vit.encoder.layers))
    model.norm, model.head = vit.encoder.ln, vit.heads
    return model


def as_hugging_face(vit):
    inner, model = torch.nn.Module(), torch.nn.Module()
    inner.embeddings, inner.encoder = torch.nn.Module(), torch.nn.Module()
    inner.embeddings.patch_embeddings, inner.embeddings.cls_token = _Patches(vit.conv_proj), vit.class_token
    inner.embeddings.position_embeddings = vit.encoder.pos_embedding
    inner.encoder.layer = torch.nn.ModuleList(_Block(layer, True) for layer in vit.encoder.layers)
    inner.layernorm, model.vit, model.classifier = vit.encoder.ln, inner, vit.heads
    return model
