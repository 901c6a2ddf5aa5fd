"""Frozen vision transformers, and what was trained around them."""

from __future__ import annotations

import os
from pathlib import Path as FilePath
from types import SimpleNamespace
from typing import Any, Callable, Literal, NamedTuple, Optional, Union, overload

import numpy as np

from . import _native
from ._errors import InvalidValue
from ._types import Bytes, Floats, Matrix, Path


def _as_namespace(values: dict[str, Any]) -> SimpleNamespace:
    return SimpleNamespace(**values)


def _pictures(images: Any) -> Any:
    """Pillow's images, and lists of them, as arrays; all else as it is."""
    if isinstance(images, (list, tuple)):
        return [_pictures(image) for image in images]
    return np.asarray(images.convert("RGB")) if hasattr(images, "convert") and hasattr(images, "getbands") else images


def read_image(file: Path) -> Bytes:
    """A PNG, JPEG, WebP or GIF file as RGB bytes, [H, W, 3]."""
    return _native.read_image(file)


class Backbone:
    """A frozen vision transformer: a name ("frost-mini" comes with dfrost), a checkpoint's file, or a folder as Hugging Face lays it out.

    >>> model = dfrost.Backbone("frost-mini", precision="fp32")
    >>> g = model.geometry
    >>> pictures = np.zeros((2, 32, 32, 3), dtype=np.uint8)
    >>> images = model.preprocess(pictures)
    >>> images.shape == (2, 3, g.image_size, g.image_size)
    True
    >>> prompts = np.zeros((4, g.width), dtype=np.float32)
    >>> features, back = model.features(images, prompts, gradient=True)
    >>> back(np.ones_like(features)).shape == prompts.shape
    True

    `precision` is "auto", "fp32" or "bf16"; `threads` those of a call (0: all there are); `training=False` halves the memory of the
    weights, and there is no gradient then. May be used from several threads at once. Pickled, it is its name and options: who unpickles
    it loads it again.
    """

    def __init__(self, name: Path, *, precision: str = "auto", training: bool = True, image_size: int = 0, heads: int = 0,
                 threads: int = 0) -> None:
        self.name = str(name)
        self._options = {"precision": precision, "training": training, "image_size": image_size, "heads": heads, "threads": threads}
        self._model = _native.Model(name, precision, training, image_size, heads, threads)
        self.geometry = _as_namespace(self._model.geometry())
        self.preprocessing = _as_namespace(self._model.preprocessing())
        self.precision = self._model.precision()

    def __repr__(self) -> str:
        g = self.geometry
        return f"Backbone({self.name!r}, width={g.width}, depth={g.depth}, image_size={g.image_size}, precision={self.precision!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _load_backbone, (self.name, self._options)

    def __copy__(self) -> Backbone:
        return self

    def __deepcopy__(self, memo: Any) -> Backbone:
        return self  # nothing of it can be changed

    def preprocess(self, images: Any) -> Floats:
        """Pictures as the checkpoint wants them: float32 [B, 3, S, S].

        From uint8 [N, H, W, 3] or [H, W, 3], or a list of arrays or Pillow images of any sizes.
        """
        return self._model.preprocess(_pictures(images))

    def embed(self, images: Matrix) -> Floats:
        """The patches of pictures as tokens, [B, patches, d]: `features` takes them in the place of the pictures, and saves that work."""
        return self._model.embed(images)

    @overload
    def features(self, images: Matrix, prompts: Optional[Matrix] = None, gradient: Literal[False] = False) -> Floats: ...

    @overload
    def features(self, images: Matrix, prompts: Optional[Matrix], gradient: Literal[True]) -> tuple[Floats, Callable[[Matrix], Floats]]: ...

    @overload
    def features(self, images: Matrix, prompts: Optional[Matrix] = None, *,
                 gradient: Literal[True]) -> tuple[Floats, Callable[[Matrix], Floats]]: ...

    def features(self, images: Matrix, prompts: Optional[Matrix] = None,
                 gradient: bool = False) -> Union[Floats, tuple[Floats, Callable[[Matrix], Floats]]]:
        """What the model sees on pictures, [B, 3, S, S], beside prompts, [n, d] for all of them or [B, n, d].

        [B, d], the class token after the last norm; [B, 2, d] where the model has a distillation token too. With `gradient=True` also a
        function from the gradient of the features to that of the prompts. NaN and infinities are refused in pictures and prompts, and passed on
        in gradients.
        """
        return self._model.features(images, prompts, gradient)  # type: ignore[no-any-return]

    def classify(self, features: Matrix) -> Floats:
        """The logits of the checkpoint's own classifier, where it has one."""
        return self._model.classify(features)


def _load_backbone(name: str, options: dict[str, Any]) -> Backbone:
    return Backbone(name, **options)


class Guess(NamedTuple):
    """A class that a picture may be of."""

    domain: str
    name: str
    class_index: int
    probability: float


class Classifier:
    """An adapter around its backbone."""

    def __init__(self, adapter: Adapter, backbone: Optional[Path] = None, *, precision: str = "auto", threads: int = 0) -> None:
        self.adapter = adapter
        self._classifier = _native.Classifier(adapter._native, "" if backbone is None else backbone, precision, threads)

    def __repr__(self) -> str:
        return f"Classifier({self.adapter!r})"

    def logits(self, images: Any) -> Floats:
        """[N, classes], of RGB bytes [N, H, W, 3] or [H, W, 3], or a list of pictures of any sizes."""
        return self._classifier.logits(_pictures(images))

    def classify(self, images: Any, top: int = 3, domain: str = "") -> list[list[Guess]]:
        """The most probable classes of each picture, as `dfrost predict` names them."""
        return [[Guess(*guess) for guess in picture] for picture in self._classifier.classify(_pictures(images), top, domain)]


class Adapter:
    """What a run has trained: prompts and head, with the card that says which backbone and which pictures they are for.

    `tensors` are read-only arrays by name ("prompt_embeddings", "head.0.weight" …); `prompts` is the first of them; `info` has what the card
    says: method, model, round, backbone, geometry, preprocessing, domains, head … Pickled, it is its `file`, which is read again.
    """

    def __init__(self, file: Path) -> None:
        if isinstance(file, (str, os.PathLike)) and os.path.isdir(os.path.join(file, "adapter")):
            raise InvalidValue(f"{os.fspath(file)} is a run's folder, not an adapter", "invalid_argument", os.fspath(file),
                               "dfrost.load_run(folder).adapter() is its network model, .adapter(client=0) a client's")
        self._native = _native.Adapter(file)
        self.file = FilePath(os.path.abspath(file))
        info = self._native.info()
        info["geometry"] = _as_namespace(info["geometry"])
        info["preprocessing"] = _as_namespace(info["preprocessing"])
        self.info = _as_namespace(info)
        self.tensors: dict[str, Floats] = self._native.tensors()

    def __repr__(self) -> str:
        return f"Adapter({self.info.model!r} of {self.info.method!r} after round {self.info.round}, around {self.info.backbone!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Adapter, (self.file,)

    def __copy__(self) -> Adapter:
        return self

    def __deepcopy__(self, memo: Any) -> Adapter:
        return self  # nothing of it can be changed

    @property
    def prompts(self) -> Floats:
        return self.tensors["prompt_embeddings"]

    def preprocess(self, images: Any) -> Floats:
        """Pictures as the card says: float32 [B, 3, S, S]."""
        return self._native.preprocess(_pictures(images))

    def classifier(self, backbone: Optional[Path] = None, *, precision: str = "auto", threads: int = 0) -> Classifier:
        """Ready to look at pictures. Name the backbone where the card only knows its file's name."""
        return Classifier(self, backbone, precision=precision, threads=threads)
