"""Decentralized federated prompt tuning: merges by optimal transport, frozen vision transformers, whole experiments.

    merged, summary = dfrost.merge([a, b])
    model = dfrost.Backbone("frost-mini")
    run = dfrost.run(dfrost.Config("demo.toml"), on_round=lambda r: print(r.round, r.accuracy_masked))

docs/tutorials/python.md is the way in. `dfrost.torch` needs PyTorch, and is imported when it is first named.
"""

from __future__ import annotations

import importlib as _importlib
import typing as _typing
from pathlib import Path as _Path

from . import _native
from ._backbone import Adapter, Backbone, Classifier, Guess, read_image
from ._config import Config, keys, methods, presets
from ._errors import Error, InvalidValue, NotFound
from ._native import Consensus, MergeSummary
from ._run import Data, PromptSets, Round, Run, Summary, figures, load_run, run
from ._transport import barycenter, consensus_error, merge, wasserstein2

if _typing.TYPE_CHECKING:
    from . import torch as torch

__version__: str = _native.version
__all__ = ["Adapter", "Backbone", "Classifier", "Config", "Consensus", "Data", "Error", "Guess", "InvalidValue", "MergeSummary", "NotFound",
           "PromptSets", "Round", "Run", "Summary", "barycenter", "consensus_error", "figures", "keys", "load_run", "merge", "methods", "presets",
           "read_image", "run", "wasserstein2"]

for _kind in (Error, InvalidValue, NotFound):
    _kind.__module__ = __name__  # as people know them

# The backbones that come with dfrost: inside the package, or below the prefix that it was installed into.
_here = _Path(__file__).parent
for _folder in (_here / "share", *(parent / "share" / "dfrost" for parent in list(_here.parents)[:5])):
    if (_folder / "backbones").is_dir():
        _native.add_backbone_folder(_folder / "backbones")
        break


def __getattr__(name: str) -> _typing.Any:
    if name == "torch":
        return _importlib.import_module(".torch", __name__)
    raise AttributeError(f"module 'dfrost' has no attribute {name!r}", name=name)


def __dir__() -> list[str]:
    return [*__all__, "torch", "__version__"]
