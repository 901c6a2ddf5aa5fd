"""The same random vision transformer under every family's names and in every container, made by PyTorch.

    checkpoint_oracle.py families FOLDER
    checkpoint_oracle.py positions FOLDER
"""
import json
import os
import sys

import torch
from torchvision.models import VisionTransformer

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "base"))
from safetensors_oracle import write  # noqa: E402

DTYPES = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.float64: "F64", torch.int64: "I64"}
DEPTH, WIDTH = 2, 128


def raw(tensor):
    tensor = tensor.detach().contiguous()
    if tensor.dtype == torch.bfloat16:
        tensor = tensor.view(torch.int16)
    return tensor.numpy().tobytes()


def save(path, tensors, metadata=None):
    write(path, {name: (DTYPES[t.dtype], t.shape, raw(t)) for name, t in tensors.items()}, metadata)


def renamed(state, replacements, prefix=""):
    """Each name with the replacements made in their order."""
    result = {}
    for name, tensor in state.items():
        for old, new in replacements:
            name = name.replace(old, new)
        result[prefix + name] = tensor
    return result


TIMM = [("class_token", "cls_token"), ("conv_proj", "patch_embed.proj"), ("encoder.pos_embedding", "pos_embed"),
        ("encoder.layers.encoder_layer_", "blocks."), ("ln_1", "norm1"), ("ln_2", "norm2"),
        ("self_attention.in_proj_", "attn.qkv."), ("self_attention.out_proj", "attn.proj"),
        ("mlp.0", "mlp.fc1"), ("mlp.3", "mlp.fc2"), ("encoder.ln", "norm"), ("heads.head", "head")]
HUGGING_FACE = [("class_token", "embeddings.cls_token"), ("conv_proj", "embeddings.patch_embeddings.projection"),
                ("encoder.pos_embedding", "embeddings.position_embeddings"),
                ("encoder.layers.encoder_layer_", "encoder.layer."), ("ln_1", "layernorm_before"),
                ("ln_2", "layernorm_after"), ("self_attention.out_proj", "attention.output.dense"),
                ("mlp.0", "intermediate.dense"), ("mlp.3", "output.dense"), ("encoder.ln", "layernorm")]


def hugging_face(state, prefix, head):
    body = {name: t for name, t in state.items() if not name.startswith("heads.")}
    result = {}
    for name, tensor in renamed(body, HUGGING_FACE, prefix).items():
        if "in_proj_" in name:
            stem, kind = name.split("self_attention.in_proj_")
            for part, rows in zip(("query", "key", "value"), tensor.chunk(3)):
                result[f"{stem}attention.attention.{part}.{kind}"] = rows
        else:
            result[name] = tensor
    if head:
        result.update({f"{head}.{kind}": state[f"heads.head.{kind}"] for kind in ("weight", "bias")})
    return result


def canonical(state):
    """What the reader must make of it, whatever the names were."""
    positions = state["encoder.pos_embedding"][0]
    special = state["special_tokens"] if "special_tokens" in state else state["class_token"][0]
    result = {"patch.weight": state["conv_proj.weight"].flatten(1), "patch.bias": state["conv_proj.bias"],
              "special_tokens": special + positions[: len(special)], "positions": positions[len(special):],
              "norm.weight": state["encoder.ln.weight"], "norm.bias": state["encoder.ln.bias"]}
    for i in range(DEPTH):
        for new, old in (("norm1.", "ln_1."), ("qkv.", "self_attention.in_proj_"), ("norm2.", "ln_2."),
                         ("projection.", "self_attention.out_proj."), ("fc1.", "mlp.0."), ("fc2.", "mlp.3.")):
            for kind in ("weight", "bias"):
                result[f"block{i}.{new}{kind}"] = state[f"encoder.layers.encoder_layer_{i}.{old}{kind}"]
    for i, head in enumerate(("heads.head", "heads.distillation")):
        for kind in ("weight", "bias"):
            if f"{head}.{kind}" in state:
                result[f"head{i}.{kind}"] = state[f"{head}.{kind}"]
    return {name: t.float() for name, t in result.items()}


def random_state():
    torch.manual_seed(7)
    model = VisionTransformer(32, 8, DEPTH, 2, WIDTH, 192, num_classes=7)
    return {name: torch.randn_like(t) for name, t in model.state_dict().items()}, model


def shard(folder, tensors, stem, extension, save_shard):
    os.mkdir(folder)
    names = sorted(tensors)
    files = {name: f"{stem}-0000{1 + i % 3}-of-00003.{extension}" for i, name in enumerate(names)}
    for file in sorted(set(files.values())):
        save_shard(f"{folder}/{file}", {name: tensors[name] for name in names if files[name] == file})
    with open(f"{folder}/{stem}.{extension}.index.json", "w") as out:
        json.dump({"metadata": {"total_size": 1}, "weight_map": files}, out)


def save_archives(folder, state, model):
    model.load_state_dict(state)
    torch.save(model.state_dict(), f"{folder}/plain.pth")
    torch.save({"model": model.state_dict(), "epoch": 3, "lr": 0.1, "history": [1, 2.5, None, True]}, f"{folder}/nested.pth")
    torch.save({"state_dict": dict(model.named_parameters())}, f"{folder}/parameters.pth")
    # Stored back to front in memory, and all in one storage.
    turned = {n: t.permute(*reversed(range(t.dim()))).contiguous().permute(*reversed(range(t.dim()))) for n, t in state.items()}
    torch.save(turned, f"{folder}/strided.pth")
    flat = torch.cat([t.flatten() for t in state.values()])
    views, start = {}, 0
    for name, t in state.items():
        views[name] = flat[start:start + t.numel()].view(t.shape)
        start += t.numel()
    torch.save(views, f"{folder}/one_storage.pth")
    torch.save(state, f"{folder}/protocol4.pth", pickle_protocol=4)
    torch.save({n: t.half() for n, t in state.items()}, f"{folder}/half.pth")
    torch.save({n: t.bfloat16() for n, t in state.items()}, f"{folder}/bfloat16.pth")
    torch.save({"state_dict": torch.nn.DataParallel(model).state_dict(), "epoch": 3}, f"{folder}/parallel.pth")
    torch.save({f"module._orig_mod.{name}": t for name, t in state.items()}, f"{folder}/compiled.pth")
    torch.save(state, f"{folder}/legacy.pth", _use_new_zipfile_serialization=False)


def save_distilled(folder, state):
    """DeiT's second token and second head, in the two families that have them."""
    state = dict(state)
    token, extra = torch.randn(1, 1, WIDTH), torch.randn(1, 1, WIDTH)
    positions = state["encoder.pos_embedding"]
    state["encoder.pos_embedding"] = torch.cat([positions[:, :1], extra, positions[:, 1:]], 1)
    second = {"weight": torch.randn(7, WIDTH), "bias": torch.randn(7)}
    timm = renamed(state, TIMM) | {"dist_token": token} | {f"head_dist.{k}": t for k, t in second.items()}
    save(f"{folder}/distilled_timm.safetensors", timm)
    face = hugging_face(state, "deit.", "cls_classifier") | {"deit.embeddings.distillation_token": token}
    save(f"{folder}/distilled_hf.safetensors", face | {f"distillation_classifier.{k}": t for k, t in second.items()})
    state["special_tokens"] = torch.cat([state["class_token"][0], token[0]])
    state |= {f"heads.distillation.{k}": t for k, t in second.items()}
    save(f"{folder}/canonical_distilled.safetensors", canonical(state))


def families(folder):
    state, model = random_state()
    save(f"{folder}/canonical.safetensors", canonical(state))
    save(f"{folder}/torchvision.safetensors", state, {"format": "pt"})
    save(f"{folder}/torchvision_old.safetensors", renamed(state, [("mlp.0", "mlp.linear_1"), ("mlp.3", "mlp.linear_2")]))
    save(f"{folder}/timm.safetensors", renamed(state, TIMM))
    with_head = hugging_face(state, "vit.", "classifier")
    save(f"{folder}/hf.safetensors", with_head)
    save(f"{folder}/hf_deit.safetensors", hugging_face(state, "deit.", "classifier"))
    pooler = {"pooler.dense.weight": torch.zeros(WIDTH, WIDTH), "pooler.dense.bias": torch.zeros(WIDTH)}
    save(f"{folder}/hf_bare.safetensors", hugging_face(state, "", None) | pooler)
    shard(f"{folder}/sharded", with_head, "model", "safetensors", save)
    shard(f"{folder}/sharded_bin", with_head, "pytorch_model", "bin", lambda path, tensors: torch.save(tensors, path))
    os.mkdir(f"{folder}/bin")
    torch.save(with_head, f"{folder}/bin/pytorch_model.bin")
    for name, dtype in (("half", torch.float16), ("bfloat16", torch.bfloat16)):
        rounded = {n: t.to(dtype) for n, t in state.items()}
        save(f"{folder}/{name}.safetensors", rounded)
        # The position embeddings are added after the rounding, in fp32.
        save(f"{folder}/canonical_{name}.safetensors", canonical({n: t.float() for n, t in rounded.items()}))
    save_archives(folder, state, model)
    save_distilled(folder, state)


def positions(folder):
    torch.manual_seed(3)
    tensors = {}
    for grid, new in ((4, 4), (4, 7), (7, 4), (14, 24), (1, 3), (2, 1), (3, 2)):
        grid_positions = torch.randn(1, 5, grid, grid)
        resized = torch.nn.functional.interpolate(grid_positions, size=(new, new), mode="bicubic", align_corners=False)
        tensors[f"{grid} {new} in"] = grid_positions[0].permute(1, 2, 0)
        tensors[f"{grid} {new} out"] = resized[0].permute(1, 2, 0)
    save(f"{folder}/positions.safetensors", tensors)


if __name__ == "__main__":
    {"families": families, "positions": positions}[sys.argv[1]](sys.argv[2])
