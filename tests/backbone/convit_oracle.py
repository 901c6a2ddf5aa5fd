"""ConViT written independently in PyTorch from the equations of its paper (d'Ascoli et al. 2021), in double.

    convit_oracle.py FOLDER

Writes, for each of some geometries, FOLDER/NAME.safetensors (or NAME.pth, as its authors saved theirs): random weights in
timm's names; and FOLDER/NAME-N.safetensors for N prompts: pixels, prompts, d_features, and what must come of them: features,
logits, d_prompts. FOLDER/cases.txt lists "FILE CASE" line by line.
"""
import sys
from pathlib import Path

import torch
import torch.nn.functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "base"))
from safetensors_oracle import write  # noqa: E402

IMAGES, CLASSES = 10, 7  # more images than a chunk has


def random_weights(heads, head_size, depth, gated, patch, grid, mlp):
    d = heads * head_size
    w = {"patch_embed.proj.weight": torch.randn(d, 3, patch, patch) / (3 * patch * patch) ** 0.5,
         "patch_embed.proj.bias": 0.1 * torch.randn(d), "cls_token": torch.randn(1, 1, d),
         "pos_embed": torch.randn(1, grid * grid, d), "norm.weight": 1 + 0.2 * torch.randn(d),
         "norm.bias": 0.2 * torch.randn(d), "head.weight": torch.randn(CLASSES, d) / d**0.5,
         "head.bias": torch.randn(CLASSES)}
    for i in range(depth):
        b = f"blocks.{i}."
        for norm in ("norm1", "norm2"):
            w[b + norm + ".weight"], w[b + norm + ".bias"] = 1 + 0.2 * torch.randn(d), 0.2 * torch.randn(d)
        if i < gated:
            w[b + "attn.qk.weight"] = 2 * torch.randn(2 * d, d) / d**0.5
            w[b + "attn.v.weight"] = torch.randn(d, d) / d**0.5
            w[b + "attn.pos_proj.weight"], w[b + "attn.pos_proj.bias"] = 0.5 * torch.randn(heads, 3), torch.randn(heads)
            w[b + "attn.gating_param"] = torch.randn(heads)
        else:
            w[b + "attn.qkv.weight"] = 1.5 * torch.randn(3 * d, d) / d**0.5
        w[b + "attn.proj.weight"], w[b + "attn.proj.bias"] = torch.randn(d, d) / d**0.5, 0.1 * torch.randn(d)
        w[b + "mlp.fc1.weight"], w[b + "mlp.fc1.bias"] = torch.randn(mlp, d) / d**0.5, 0.1 * torch.randn(mlp)
        w[b + "mlp.fc2.weight"], w[b + "mlp.fc2.bias"] = torch.randn(d, mlp) / mlp**0.5, 0.1 * torch.randn(d)
    return {name: tensor.float().double() for name, tensor in w.items()}  # as a file holds them


class Convit:
    def __init__(self, weights, heads, depth, gated, grid):
        self.w, self.heads, self.depth, self.gated, self.grid = weights, heads, depth, gated, grid

    def linear(self, name, x):
        return F.linear(x, self.w[name + ".weight"], self.w.get(name + ".bias"))

    def norm(self, name, x):
        return F.layer_norm(x, x.shape[-1:], self.w[name + ".weight"], self.w[name + ".bias"], 1e-6)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def offsets(self):
        """[queries, keys, 3]: how far the key lies to the right and below, and the square of its distance."""
        place = torch.tensor([[i % self.grid, i // self.grid] for i in range(self.grid**2)], dtype=torch.float64)
        delta = place[None] - place[:, None]
        return torch.cat([delta, (delta**2).sum(-1, keepdim=True)], -1)

    def gated_attention(self, b, x):
        q, k = (self.split(part) for part in self.linear(b + "qk", x).chunk(2, -1))
        content = (q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5).softmax(-1)
        prompts = x.shape[1] - self.grid**2
        by_place = F.linear(self.offsets(), self.w[b + "pos_proj.weight"], self.w[b + "pos_proj.bias"])
        by_place = by_place.permute(2, 0, 1).softmax(-1)  # heads, queries, keys
        gate = torch.sigmoid(self.w[b + "gating_param"]).view(1, -1, 1, 1)
        of_patches = (1 - gate) * content[:, :, prompts:] + gate * F.pad(by_place, (prompts, 0))[None]
        attention = torch.cat([content[:, :, :prompts], of_patches], 2)
        assert torch.allclose(attention.sum(-1), torch.ones(()))
        return attention @ self.split(self.linear(b + "v", x))

    def plain_attention(self, b, x):
        q, k, v = (self.split(part) for part in self.linear(b + "qkv", x).chunk(3, -1))
        return (q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5).softmax(-1) @ v

    def features(self, pixels, prompts):
        patches = pixels @ self.w["patch_embed.proj.weight"].flatten(1).T + self.w["patch_embed.proj.bias"]
        x = torch.cat([prompts.expand(len(pixels), -1, -1), patches + self.w["pos_embed"]], 1)
        for i in range(self.depth):
            if i == self.gated:
                x = torch.cat([self.w["cls_token"].expand(len(x), -1, -1), x], 1)
            b = f"blocks.{i}."
            attend = self.gated_attention if i < self.gated else self.plain_attention
            mixed = attend(b + "attn.", self.norm(b + "norm1", x)).transpose(1, 2).flatten(-2)
            x = x + self.linear(b + "attn.proj", mixed)
            x = x + self.linear(b + "mlp.fc2", F.gelu(self.linear(b + "mlp.fc1", self.norm(b + "norm2", x))))
        return self.norm("norm", x)[:, 0]


def save(path, tensors):
    arrays = {name: tensor.detach().float().contiguous().numpy() for name, tensor in tensors.items()}
    write(path, {name: ("F32", array.shape, array.tobytes()) for name, array in sorted(arrays.items())})


def main(folder):
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    torch.manual_seed(1)
    lines = []
    for name, heads, size, depth, gated, patch, grid, mlp in [
            ("tiny", 4, 48, 12, 10, 8, 3, 192), ("odd", 3, 16, 4, 2, 4, 5, 100), ("last", 2, 12, 3, 2, 2, 4, 48)]:
        weights = random_weights(heads, size, depth, gated, patch, grid, mlp)
        model = Convit(weights, heads, depth, gated, grid)
        file = f"{name}.pth" if name == "odd" else f"{name}.safetensors"
        if name == "odd":
            torch.save({"model": {key: tensor.float() for key, tensor in weights.items()}}, folder / file)
        else:
            save(folder / file, weights)
        for count in (0, 10):
            pixels = torch.randn(IMAGES, grid * grid, 3 * patch * patch).float().double()
            prompts = torch.randn(count, heads * size).float().double().requires_grad_()
            d_features = torch.randn(IMAGES, heads * size).float().double()
            features = model.features(pixels, prompts)
            (features * d_features).sum().backward()
            case = {"pixels": pixels, "d_features": d_features, "features": features,
                    "logits": model.linear("head", features)}
            if count:
                case.update({"prompts": prompts, "d_prompts": prompts.grad})
            save(folder / f"{name}-{count}.safetensors", case)
            lines.append(f"{file} {name}-{count}.safetensors")
    (folder / "cases.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
