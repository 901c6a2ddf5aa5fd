"""dfrost beside PyTorch: features that autograd can pass, and trained adapters in PyTorch's own vision transformers."""

from __future__ import annotations

from pathlib import Path as _FilePath
from typing import Any, Optional, Union

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
    for name, given, wanted in (("model", model, Backbone), ("images", images, torch.Tensor), ("prompts", prompts, torch.Tensor)):
        if not isinstance(given, wanted):
            raise InvalidValue(f"{name} is {type(given).__name__}, and has to be a {wanted.__name__}", "invalid_argument", "",
                               "dfrost.Backbone(name) loads one" if wanted is Backbone else f"pass torch.from_numpy({name}) of an array")
    if torch.is_grad_enabled() and images.requires_grad:
        raise InvalidValue("images ask for a gradient, and a frozen model gives none", "invalid_argument", "", "pass images.detach()")
    result: torch.Tensor = _Features.apply(model, images, prompts)
    return result


class _Family:
    """How a family of vision transformers goes from pictures to tokens, through its blocks, and to its own logits."""

    @staticmethod
    def embed(vit: Any, images: torch.Tensor) -> tuple[torch.Tensor, int]:
        """Tokens with their positions, [B, special + patches, d], and how many are special."""
        raise NotImplementedError

    @staticmethod
    def encode(vit: Any, tokens: torch.Tensor) -> torch.Tensor:
        """From tokens to normed tokens."""
        raise NotImplementedError

    @staticmethod
    def logits(vit: Any, encoded: torch.Tensor) -> torch.Tensor:
        """Of its own classifier."""
        raise NotImplementedError


def _with_special(patches: torch.Tensor, *special: Optional[torch.Tensor]) -> tuple[torch.Tensor, int]:
    there = [token for token in special if token is not None]
    return torch.cat([*(token.expand(len(patches), -1, -1) for token in there), patches], dim=1), len(there)


class _Torchvision(_Family):
    @staticmethod
    def embed(vit: Any, images: torch.Tensor) -> tuple[torch.Tensor, int]:
        tokens, special = _with_special(vit._process_input(images), vit.class_token)
        return tokens + vit.encoder.pos_embedding, special

    @staticmethod
    def encode(vit: Any, tokens: torch.Tensor) -> torch.Tensor:
        return vit.encoder.ln(vit.encoder.layers(vit.encoder.dropout(tokens)))  # type: ignore[no-any-return]

    @staticmethod
    def logits(vit: Any, encoded: torch.Tensor) -> torch.Tensor:
        return vit.heads(encoded[:, 0])  # type: ignore[no-any-return]


class _Timm(_Family):
    @staticmethod
    def embed(vit: Any, images: torch.Tensor) -> tuple[torch.Tensor, int]:
        tokens, special = _with_special(vit.patch_embed(images), vit.cls_token, getattr(vit, "dist_token", None))
        return tokens + vit.pos_embed, special

    @staticmethod
    def encode(vit: Any, tokens: torch.Tensor) -> torch.Tensor:
        for name in ("pos_drop", "norm_pre"):
            tokens = getattr(vit, name, torch.nn.Identity())(tokens)
        for block in vit.blocks:
            tokens = block(tokens)
        return vit.norm(tokens)  # type: ignore[no-any-return]

    @staticmethod
    def logits(vit: Any, encoded: torch.Tensor) -> torch.Tensor:
        if getattr(vit, "dist_token", None) is None:
            return vit.head(encoded[:, 0])  # type: ignore[no-any-return]
        return (vit.head(encoded[:, 0]) + vit.head_dist(encoded[:, 1])) / 2  # type: ignore[no-any-return]


def _inner(vit: Any) -> Any:
    """Hugging Face's model without its classifier."""
    return getattr(vit, "vit", getattr(vit, "deit", vit))


class _HuggingFace(_Family):
    @staticmethod
    def embed(vit: Any, images: torch.Tensor) -> tuple[torch.Tensor, int]:
        parts = _inner(vit).embeddings
        tokens, special = _with_special(parts.patch_embeddings(images), parts.cls_token, getattr(parts, "distillation_token", None))
        return tokens + parts.position_embeddings, special

    @staticmethod
    def encode(vit: Any, tokens: torch.Tensor) -> torch.Tensor:
        for layer in _inner(vit).encoder.layer:
            out = layer(tokens)
            tokens = out[0] if isinstance(out, tuple) else out
        return _inner(vit).layernorm(tokens)  # type: ignore[no-any-return]

    @staticmethod
    def logits(vit: Any, encoded: torch.Tensor) -> torch.Tensor:
        if hasattr(vit, "classifier"):
            return vit.classifier(encoded[:, 0])  # type: ignore[no-any-return]
        return (vit.cls_classifier(encoded[:, 0]) + vit.distillation_classifier(encoded[:, 1])) / 2  # type: ignore[no-any-return]


def _family(vit: Any) -> type[_Family]:
    if hasattr(vit, "conv_proj") and hasattr(vit, "encoder"):
        return _Torchvision
    if hasattr(vit, "patch_embed") and hasattr(vit, "blocks"):
        return _Timm
    if hasattr(_inner(vit), "embeddings") and hasattr(_inner(vit), "layernorm"):
        return _HuggingFace
    raise InvalidValue(f"{type(vit).__name__} is no vision transformer of torchvision, timm or Hugging Face", "invalid_argument", "",
                       "pass vit_b_32(), timm.create_model('vit_…') or ViTModel / ViTForImageClassification themselves")


class PromptedTransformer(torch.nn.Module):
    """A frozen vision transformer with an adapter: `prompts` and `head` are parameters, which may be trained further.

    They are where the model's weights are, and of their dtype. The model stays in evaluation mode, also under `train()`.
    """

    def __init__(self, vit: Any, adapter: Adapter) -> None:
        super().__init__()
        self._family = _family(vit)
        self.vit = vit.eval().requires_grad_(False)
        self.adapter = adapter
        place = next(vit.parameters())
        self._require_fit(place)
        tensors = {name: torch.from_numpy(np.array(values)).to(place) for name, values in adapter.tensors.items()}
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

    def _require_fit(self, place: torch.Tensor) -> None:
        g = self.adapter.info.geometry
        if g.architecture != "vit":
            raise InvalidValue(f"the adapter was trained around {self.adapter.info.backbone!r}, which is no ViT but {g.architecture}",
                               "failed_precondition", "",
                               "adapter.classifier() and `dfrost export --onnx` have its logits: other models do not know what to do with prompts")
        patches, why = (g.image_size // g.patch_size) ** 2, ""
        try:
            with torch.no_grad():
                tokens, special = self._family.embed(self.vit, torch.zeros(1, 3, g.image_size, g.image_size).to(place))
            if tokens.shape[1:] == (special + patches, g.width) and special == g.special_tokens:
                return
        except (AssertionError, RuntimeError, ValueError) as error:  # the ways in which the families refuse a size
            why = f" ({error})" if str(error) else ""
        raise InvalidValue(f"the adapter was trained around {self.adapter.info.backbone!r}, of another shape: width {g.width}, "
                           f"patches of {g.patch_size}, pictures of {g.image_size}, {g.special_tokens} special tokens{why}",
                           "failed_precondition", "", "attach it to the model whose weights that checkpoint holds")

    def train(self, mode: bool = True) -> PromptedTransformer:
        super().train(mode)
        self.vit.eval()
        return self

    def preprocess(self, images: Any) -> torch.Tensor:
        """Pictures, RGB bytes, as the adapter's card wants them."""
        return torch.from_numpy(self.adapter.preprocess(images)).to(self.prompts)

    def _chosen(self, tokens: torch.Tensor) -> torch.Tensor:
        """The prompts that each picture sees, [B, n, d]: all, or those of the pool whose keys are nearest to what it shows."""
        count, pool = self.adapter.info.prompts, self.adapter.info.pool
        if pool <= count:
            return self.prompts.expand(len(tokens), -1, -1)
        queries = self._family.encode(self.vit, tokens)[:, 0] @ self.projection.T
        keys: Any = self.prompts if self.keys is None else self.keys
        similarity = torch.nn.functional.normalize(queries, dim=-1) @ torch.nn.functional.normalize(keys, dim=-1).T
        return self.prompts[similarity.topk(count, dim=-1).indices]

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Logits [B, classes] of pictures [B, 3, S, S] that are prepared already."""
        tokens, special = self._family.embed(self.vit, images)
        prompted = torch.cat([tokens[:, :special], self._chosen(tokens), tokens[:, special:]], dim=1)
        encoded = self._family.encode(self.vit, prompted)
        if self.adapter.info.head == "pfpt":
            return self.head(self._family.logits(self.vit, encoded))  # type: ignore[no-any-return]
        return self.head(encoded[:, 0])  # type: ignore[no-any-return]


def attach(vit: Any, adapter: Union[Path, Run, Adapter], client: Optional[int] = None) -> PromptedTransformer:
    """A vision transformer of torchvision, timm or Hugging Face with what a run has trained: its logits are dfrost's.

    `vit` holds the weights of the checkpoint that the adapter was trained around; it is frozen, and put into evaluation mode. `adapter` is a
    run, its folder, an adapter or its file; `client` chooses one of a run's, None the network model. Of timm and Hugging Face the usual
    places are used (`patch_embed`, `cls_token`, `pos_embed`, `blocks`, `norm`; `embeddings`, `encoder.layer`, `layernorm`).
    """
    if not isinstance(vit, torch.nn.Module):
        raise InvalidValue(f"vit is {type(vit).__name__}, and has to be a torch.nn.Module", "invalid_argument", "", "pass the model itself")
    if not isinstance(adapter, (Run, Adapter)):
        adapter = load_run(adapter) if _FilePath(adapter).is_dir() else Adapter(adapter)
    if isinstance(adapter, Run):
        adapter = adapter.adapter(client)
    elif client is not None:
        raise InvalidValue(f"client is {client!r}, and an adapter is of one client already", "invalid_argument", "", "pass the run's folder, or leave it out")
    return PromptedTransformer(vit, adapter)
