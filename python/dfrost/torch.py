"""dfrost beside PyTorch: features that autograd can pass, and trained adapters in PyTorch's own vision transformers."""

from __future__ import annotations

from pathlib import Path as _FilePath
from typing import Any, Callable, Optional, Union

import numpy as np

try:
    import torch
except ImportError as error:
    raise ImportError("dfrost.torch needs PyTorch: install Debian's python3-torch, or PyTorch's own package") from error

from ._backbone import Adapter, Backbone
from ._errors import InvalidValue
from ._run import Run, load_run
from ._types import Path


class _Features(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
        model, images, prompts = args
        if not ctx.needs_input_grad[2]:
            return torch.from_numpy(model.features(images.detach(), prompts.detach()))
        values, ctx.back = model.features(images.detach(), prompts.detach(), gradient=True)
        return torch.from_numpy(values)

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[misc]
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[None, None, torch.Tensor]:
        (d_features,) = gradients
        return None, None, torch.from_numpy(ctx.back(d_features.contiguous()))


def features(model: Backbone, images: torch.Tensor, prompts: torch.Tensor) -> torch.Tensor:
    """`model.features(images, prompts)` as a step of autograd: the gradient reaches the prompts, nothing else, since the model is frozen.

    >>> import torch
    >>> model = dfrost.Backbone("frost-mini", precision="fp32")
    >>> images = torch.zeros(2, 3, model.geometry.image_size, model.geometry.image_size)
    >>> prompts = torch.zeros(4, model.geometry.width, requires_grad=True)
    >>> dfrost.torch.features(model, images, prompts).sum().backward()
    >>> prompts.grad.shape == prompts.shape
    True
    """
    if torch.is_grad_enabled() and images.requires_grad:
        raise InvalidValue("images ask for a gradient, and a frozen model gives none", "invalid_argument", "", "pass images.detach()")
    result: torch.Tensor = _Features.apply(model, images, prompts)
    return result


# How the three families of vision transformers go from pictures to tokens, through their blocks, and to their own logits. Each is
# (tokens with positions [B, 1 + special + patches, d] and how many are special, from tokens to normed tokens, own logits).


def _torchvision(vit: Any) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    def embed(images: torch.Tensor) -> tuple[torch.Tensor, int]:
        patches = vit._process_input(images)
        tokens = torch.cat([vit.class_token.expand(len(patches), -1, -1), patches], dim=1)
        return tokens + vit.encoder.pos_embedding, 1

    return embed, lambda tokens: vit.encoder.ln(vit.encoder.layers(vit.encoder.dropout(tokens))), lambda f: vit.heads(f[:, 0])


def _timm(vit: Any) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    distillation = getattr(vit, "dist_token", None)

    def embed(images: torch.Tensor) -> tuple[torch.Tensor, int]:
        patches = vit.patch_embed(images)
        special = [vit.cls_token] + ([distillation] if distillation is not None else [])
        tokens = torch.cat([*(token.expand(len(patches), -1, -1) for token in special), patches], dim=1)
        return tokens + vit.pos_embed, len(special)

    def encode(tokens: torch.Tensor) -> torch.Tensor:
        for name in ("pos_drop", "norm_pre"):
            tokens = getattr(vit, name, lambda t: t)(tokens)
        for block in vit.blocks:
            tokens = block(tokens)
        return vit.norm(tokens)  # type: ignore[no-any-return]

    def classify(f: torch.Tensor) -> torch.Tensor:
        if distillation is None:
            return vit.head(f[:, 0])  # type: ignore[no-any-return]
        return (vit.head(f[:, 0]) + vit.head_dist(f[:, 1])) / 2  # type: ignore[no-any-return]

    return embed, encode, classify


def _hugging_face(model: Any) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    vit = getattr(model, "vit", getattr(model, "deit", model))
    parts = vit.embeddings
    distillation = getattr(parts, "distillation_token", None)

    def embed(images: torch.Tensor) -> tuple[torch.Tensor, int]:
        patches = parts.patch_embeddings(images)
        special = [parts.cls_token] + ([distillation] if distillation is not None else [])
        tokens = torch.cat([*(token.expand(len(patches), -1, -1) for token in special), patches], dim=1)
        return tokens + parts.position_embeddings, len(special)

    def encode(tokens: torch.Tensor) -> torch.Tensor:
        for layer in vit.encoder.layer:
            out = layer(tokens)
            tokens = out[0] if isinstance(out, tuple) else out
        return vit.layernorm(tokens)  # type: ignore[no-any-return]

    def classify(f: torch.Tensor) -> torch.Tensor:
        if hasattr(model, "classifier"):
            return model.classifier(f[:, 0])  # type: ignore[no-any-return]
        return (model.cls_classifier(f[:, 0]) + model.distillation_classifier(f[:, 1])) / 2  # type: ignore[no-any-return]

    return embed, encode, classify


def _family(vit: Any) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    if hasattr(vit, "conv_proj") and hasattr(vit, "encoder"):
        return _torchvision(vit)
    if hasattr(vit, "patch_embed") and hasattr(vit, "blocks"):
        return _timm(vit)
    inner = getattr(vit, "vit", getattr(vit, "deit", vit))
    if hasattr(inner, "embeddings") and hasattr(inner, "layernorm"):
        return _hugging_face(vit)
    raise InvalidValue(f"{type(vit).__name__} is no vision transformer of torchvision, timm or Hugging Face", "invalid_argument", "",
                       "pass vit_b_32(), timm.create_model('vit_…') or ViTModel / ViTForImageClassification themselves")


class PromptedTransformer(torch.nn.Module):
    """A frozen vision transformer with an adapter: `prompts` and `head` are parameters, which may be trained further."""

    def __init__(self, vit: Any, adapter: Adapter) -> None:
        super().__init__()
        self.vit = vit.eval().requires_grad_(False)
        self.adapter = adapter
        self._embed, self._encode, self._own_logits = _family(vit)
        self._require_fit()
        tensors = {name: torch.from_numpy(np.array(values)) for name, values in adapter.tensors.items()}
        self.prompts = torch.nn.Parameter(tensors["prompt_embeddings"])
        for name in ("projection", "keys"):
            self.register_buffer(name, tensors.get(f"pool.{name}"), persistent=True)
        layers: list[torch.nn.Module] = []
        for index in range(sum(name.startswith("head.") and name.endswith(".weight") for name in tensors)):
            if index > 0 and adapter.info.head == "mlp":
                layers.append(torch.nn.ReLU())
            weight = tensors[f"head.{index}.weight"]
            linear = torch.nn.Linear(weight.shape[1], weight.shape[0])
            linear.weight, linear.bias = torch.nn.Parameter(weight), torch.nn.Parameter(tensors[f"head.{index}.bias"])
            layers.append(linear)
        self.head = torch.nn.Sequential(*layers)

    def _require_fit(self) -> None:
        g = self.adapter.info.geometry
        with torch.no_grad():
            tokens, special = self._embed(torch.zeros(1, 3, g.image_size, g.image_size))
        patches = (g.image_size // g.patch_size) ** 2
        if tokens.shape[1:] == (special + patches, g.width) and special == g.special_tokens:
            return
        raise InvalidValue(f"the adapter was trained around {self.adapter.info.backbone!r}, of another shape: width {g.width}, "
                           f"patches of {g.patch_size}, pictures of {g.image_size}, {g.special_tokens} special tokens", "failed_precondition",
                           "", "attach it to the model whose weights that checkpoint holds")

    def preprocess(self, images: Any) -> torch.Tensor:
        """Pictures, RGB bytes, as the adapter's card wants them."""
        return torch.from_numpy(self.adapter.preprocess(images))

    def _chosen(self, tokens: torch.Tensor) -> torch.Tensor:
        """The prompts that each picture sees, [B, n, d]: all, or those of the pool whose keys are nearest to what it shows."""
        count, pool = self.adapter.info.prompts, self.adapter.info.pool
        if pool <= count:
            return self.prompts.expand(len(tokens), -1, -1)
        queries = self._encode(tokens)[:, 0] @ self.projection.T
        keys: Any = self.prompts if self.keys is None else self.keys
        similarity = torch.nn.functional.normalize(queries, dim=-1) @ torch.nn.functional.normalize(keys, dim=-1).T
        return self.prompts[similarity.topk(count, dim=-1).indices]

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Logits [B, classes] of pictures [B, 3, S, S] that are prepared already."""
        tokens, special = self._embed(images)
        prompted = torch.cat([tokens[:, :special], self._chosen(tokens), tokens[:, special:]], dim=1)
        encoded = self._encode(prompted)
        if self.adapter.info.head == "pfpt":
            return self.head(self._own_logits(encoded))  # type: ignore[no-any-return]
        return self.head(encoded[:, 0])  # type: ignore[no-any-return]


def attach(vit: Any, adapter: Union[Path, Run, Adapter], client: Optional[int] = None) -> PromptedTransformer:
    """A vision transformer of torchvision, timm or Hugging Face with what a run has trained: its logits are dfrost's.

    `vit` holds the weights of the checkpoint that the adapter was trained around; it is frozen, and put into evaluation mode. `adapter` is a
    run, its folder, an adapter or its file; `client` chooses one of a run's, None the network model. Of timm and Hugging Face the usual
    places are used (`patch_embed`, `cls_token`, `pos_embed`, `blocks`, `norm`; `embeddings`, `encoder.layer`, `layernorm`).
    """
    if not isinstance(adapter, (Run, Adapter)):
        adapter = load_run(adapter) if _FilePath(adapter).is_dir() else Adapter(adapter)
    if isinstance(adapter, Run):
        adapter = adapter.adapter(client)
    return PromptedTransformer(vit, adapter)
