"""Experiments, run and read."""

from __future__ import annotations

import difflib
import warnings
from pathlib import Path as FilePath
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence

import numpy as np

from . import _native
from ._backbone import Adapter
from ._config import Config
from ._errors import InvalidValue, NotFound
from ._types import Floats, Path

_FIGURES: list[str] = [row[0] for row in _native.known_figures()]


def figures() -> dict[str, str]:
    """What is recorded of a round, by name, and what it means."""
    return {name: meaning for name, _, _, meaning in _native.known_figures()}


class _Figures:
    """Figures by their names, or as attributes: without "evaluation." and ".mean", and with _ for any other dot."""

    def __init__(self, values: Mapping[str, float]) -> None:
        self.figures = dict(values)

    def __getitem__(self, name: str) -> Optional[float]:
        if name not in _FIGURES:
            near = difflib.get_close_matches(name, _FIGURES, 1, 0)
            raise InvalidValue(f"no figure is called {name!r}", "invalid_argument", "", f"did you mean {near[0]!r}?" if near else "")
        return self.figures.get(name)

    def __getattr__(self, name: str) -> Optional[float]:
        for known in _FIGURES:
            short = known.removeprefix("evaluation.").removesuffix(".mean")
            if name in (known, short, known.replace(".", "_"), short.replace(".", "_")):
                return self.figures.get(known)
        raise AttributeError(f"no figure is called {name!r}: dfrost.figures() lists them")


class Round(_Figures):
    """One round's figures: `r.round`, `r.accuracy_masked`, `r["evaluation.accuracy_masked.mean"]`; None where it was not measured."""

    def __init__(self, number: int, values: Mapping[str, float]) -> None:
        super().__init__(values)
        self.round = number

    def __repr__(self) -> str:
        return f"Round({self.round}, {len(self.figures)} figures)"


class Summary(_Figures):
    """The whole run's: name, method, seed, rounds, clients, and figures as a Round has them."""

    def __init__(self, parts: Mapping[str, Any]) -> None:
        super().__init__(parts["figures"])
        self.folder = FilePath(parts["folder"])
        self.name: str = parts["name"]
        self.method: str = parts["method"]
        self.seed: int = parts["seed"]
        self.rounds: int = parts["rounds"]
        self.clients: int = parts["clients"]

    def __repr__(self) -> str:
        return f"Summary({self.name!r}, {self.method!r}, {self.rounds} rounds, {self.clients} clients)"


class Run:
    """A run's folder: `rounds`, `summary`, `config`, `folder`, `finished`."""

    def __init__(self, parts: Mapping[str, Any]) -> None:
        self.folder = FilePath(parts["folder"])
        self.config = Config._of(parts["config"])
        self.rounds = [Round(number, values) for number, values in parts["rounds"]]
        self.summary = Summary(parts["summary"]) if parts["summary"] is not None else None
        self.finished: bool = parts["finished"]
        self._network: Optional[FilePath] = parts["network_adapter"]
        self._clients: list[FilePath] = parts["client_adapters"]

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r}, {len(self.rounds)} rounds{'' if self.finished else ', not finished'})"

    def frame(self) -> Any:
        """The rounds as a pandas.DataFrame: a row per round, a column per figure."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("run.frame() needs pandas: install python3-pandas, or read run.rounds") from error
        return pandas.DataFrame([r.figures for r in self.rounds],
                                index=pandas.Index([r.round for r in self.rounds], name="round"))

    def adapter(self, client: Optional[int] = None) -> Adapter:
        """What a client trained; without a number the network model: the barycenter of all prompts, the mean of all heads."""
        if self._network is None:
            raise NotFound(f"{self.folder} holds no adapters yet", "not_found", str(self.folder),
                           "they are written when the run ends: dfrost.run(config, resume=True)")
        if client is None:
            return Adapter(self._network)
        if not 0 <= client < len(self._clients):
            raise InvalidValue(f"there is no client {client}", "out_of_range", str(self.folder), f"there are {len(self._clients)}, from 0")
        return Adapter(self._clients[client])


class PromptSets(list):  # type: ignore[type-arg]
    """What a merge of your own is given: the prompt sets of a neighbourhood, the client's own first; and beside them `weights` (the mixing
    matrix's, one per set), `previous` (the client's prompts before this round's training), `client` and `round`."""

    def __init__(self, sets: Iterable[Floats], weights: Sequence[float], previous: Floats, client: int, round: int) -> None:
        super().__init__(sets)
        self.weights = np.asarray(weights)
        self.previous = previous
        self.client = client
        self.round = round


class Data:
    """Pictures of your own for a run: `clients` a list of (images, labels), `test` such a pair, `classes` the names of the labels 0, 1, ….

    Images are RGB bytes, [N, H, W, 3], or lists of [H, W, 3]. They are one domain, `name`. The run keeps a copy of them, as of all pictures.
    """

    def __init__(self, clients: Sequence[tuple[Any, Any]], test: tuple[Any, Any], classes: Sequence[str], name: str = "own") -> None:
        self.clients, self.test, self.classes, self.name = list(clients), test, list(classes), name

    def _parts(self) -> dict[str, Any]:
        return {"name": self.name, "classes": [str(c) for c in self.classes],
                "clients": [_labelled(c, f"clients[{i}]") for i, c in enumerate(self.clients)], "test": _labelled(self.test, "test")}


def _labelled(pair: tuple[Any, Any], place: str) -> tuple[Any, list[int]]:
    images, labels = pair
    array = np.asarray(labels)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu") or (array.size and array.min() < 0):
        raise InvalidValue("labels have to be whole numbers from 0, one per picture", "invalid_argument", place,
                           "pass labels.astype(int), one-dimensional")
    return images, [int(label) for label in array]


def _merge_call(merge: Callable[[PromptSets], Any]) -> Callable[..., Any]:
    def call(sets: list[Floats], weights: list[float], previous: Floats, client: int, round: int) -> Any:
        result = merge(PromptSets(sets, weights, previous, client, round))
        return result.detach() if hasattr(result, "detach") else np.ascontiguousarray(result, dtype=np.float32)
    return call


def _warn(what: str, hint: str) -> None:
    warnings.warn(what + (f"; {hint}" if hint else ""), stacklevel=2)


def run(config: Config, *, folder: Optional[Path] = None, resume: bool = False, start_over: bool = False,
        on_round: Optional[Callable[[Round], Any]] = None,
        on_progress: Optional[Callable[[str, int, int, int], Any]] = None, on_ready: Optional[Callable[[dict[str, Any]], Any]] = None,
        on_note: Optional[Callable[[str], Any]] = None, on_warning: Optional[Callable[[str, str], Any]] = _warn,
        merge: Optional[Callable[[PromptSets], Any]] = None, data: Optional[Data] = None) -> Run:
    """Runs an experiment, or the rounds of it that are missing, as `dfrost run` does; the same config gives the same bytes.

    Records, checkpoints and adapters go to `folder` (None: runs/NAME). Who watches is called from the thread that called run(), one call at
    a time; an exception there, or Ctrl-C, ends the run after saving every round that is done, so that `resume=True` goes on with it;
    `start_over=True` moves a run that is there aside, whole, and begins anew.

    `merge` is a merge of your own: prompt sets in (see PromptSets), one set out, shaped as the client's own. `data` brings pictures of your
    own; [data] and [partition] of the config then say nothing. A run is resumed with a merge of the same name, and the same pictures.
    """
    if not isinstance(config, Config):
        raise InvalidValue("config is no dfrost.Config", "invalid_argument", "", "dfrost.Config(file) reads one")
    if resume and start_over:
        raise InvalidValue("a run is resumed or begun anew, not both", "invalid_argument", "", "leave out resume, or start_over")
    if data is not None:  # so that the records say who there is, and can be read again
        config = config.copy()
        config.set({"partition.clients_per_domain": max(1, len(data.clients)), "partition.min_per_client": 0})
    how = {"folder": "" if folder is None else folder, "resume": resume, "start_over": start_over,
           "merge": None if merge is None else _merge_call(merge),
           "merge_name": getattr(merge, "__name__", type(merge).__name__), "data": None if data is None else data._parts()}
    calls = {"on_note": on_note, "on_warning": on_warning, "on_ready": on_ready, "on_progress": on_progress,
             "on_round": None if on_round is None else lambda parts: on_round(Round(*parts))}
    return load_run(_native.run(config._native, how, calls)["folder"])


def load_run(folder: Path) -> Run:
    """The records of a run's folder, finished or stopped."""
    return Run(_native.load_run(folder))
