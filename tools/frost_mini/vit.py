"""A plain vision transformer with timm's names, and the safetensors files it is read from and written to."""
import json
import struct

import numpy
import torch
from torch import nn
from torch.nn import functional

MEAN = torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1)
STD = torch.tensor([0.229, 0.224, 0.225]).view(1, 3, 1, 1)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = self.qkv(x).view(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5).softmax(-1)
        return self.proj((weights @ v).transpose(1, 2).reshape(batch, tokens, width))


class Mlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc1 = nn.Linear(width, 4 * width)
        self.fc2 = nn.Linear(4 * width, width)

    def forward(self, x):
        return self.fc2(functional.gelu(self.fc1(x)))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width, eps=1e-6)
        self.attn = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width, eps=1e-6)
        self.mlp = Mlp(width)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class PatchEmbed(nn.Module):
    def __init__(self, width, patch):
        super().__init__()
        self.proj = nn.Conv2d(3, width, patch, patch)

    def forward(self, pictures):
        return self.proj(pictures).flatten(2).transpose(1, 2)


class VisionTransformer(nn.Module):
    def __init__(self, size=64, patch=8, width=192, depth=6, heads=3, classes=1000):
        super().__init__()
        self.patch_embed = PatchEmbed(width, patch)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
        self.pos_embed = nn.Parameter(torch.zeros(1, 1 + (size // patch) ** 2, width))
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.head = nn.Linear(width, classes)

    def forward(self, pictures, hidden_after=()):
        """Normalised pictures -> (all tokens after the final norm, logits, the tokens after the blocks asked for)."""
        x = self.patch_embed(pictures)
        x = torch.cat([self.cls_token.expand(len(x), -1, -1), x], 1) + self.pos_embed
        hidden = []
        for index, block in enumerate(self.blocks):
            x = block(x)
            if index in hidden_after:
                hidden.append(x)
        tokens = self.norm(x)
        return tokens, self.head(tokens[:, 0]), hidden


def resized_positions(positions, grid):
    """Position embeddings of a square grid (CLS first) for another grid, bicubic."""
    cls, patches = positions[:, :1], positions[:, 1:]
    old = round(patches.shape[1] ** 0.5)
    patches = patches.view(1, old, old, -1).permute(0, 3, 1, 2)
    patches = functional.interpolate(patches, (grid, grid), mode="bicubic", align_corners=False)
    return torch.cat([cls, patches.permute(0, 2, 3, 1).reshape(1, grid * grid, -1)], 1)


def read_safetensors(path):
    with open(path, "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        header, body = json.loads(file.read(length)), file.read()
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        if entry["dtype"] == "F32":
            values = numpy.frombuffer(body[begin:end], "<f4")
        elif entry["dtype"] == "BF16":
            values = (numpy.frombuffer(body[begin:end], "<u2").astype("<u4") << 16).view("<f4")
        else:
            raise SystemExit(f"{path}: {name} is {entry['dtype']}; F32 and BF16 are read here")
        tensors[name] = torch.from_numpy(values.reshape(entry["shape"]).copy())
    return tensors


def write_safetensors_bf16(path, tensors, metadata):
    """Rounded to bf16, to nearest even."""
    header, body = {"__metadata__": metadata}, b""
    for name, tensor in sorted(tensors.items()):
        data = tensor.detach().to(torch.bfloat16).view(torch.int16).numpy().astype("<i2").tobytes()
        header[name] = {"dtype": "BF16", "shape": list(tensor.shape), "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)
