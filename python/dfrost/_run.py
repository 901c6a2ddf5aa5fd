"""Experiments, run and read."""

from __future__ import annotations

import difflib
import warnings
from pathlib import Path as FilePath
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence

import numpy as np

from . import _native
from ._backbone import Adapter, _pictures
from ._config import Config
from ._errors import Error, InvalidValue, NoSuchName, NotFound
from ._types import Floats, Path

_FIGURES: list[str] = [row[0] for row in _native.known_figures()]
_FIRST = ("evaluation.accuracy_masked.mean", "train_loss", "consensus_error")


def _attribute(name: str) -> str:
    """What a figure is called as an attribute."""
    return name.removeprefix("evaluation.").removesuffix(".mean").replace(".", "_")


_ATTRIBUTES: dict[str, str] = {alias: name for name in reversed(_FIGURES) for alias in (name.replace(".", "_"), _attribute(name))}


def figures() -> dict[str, str]:
    """What is recorded of a round, by name, and what it means."""
    return {name: meaning for name, _, _, meaning in _native.known_figures()}


class _Figures:
    """Figures by their names, or as attributes: without "evaluation." and ".mean", and with _ for any other dot."""

    def __init__(self, values: Mapping[str, float]) -> None:
        self.figures = dict(values)

    def __getitem__(self, name: str) -> Optional[float]:
        if name not in _FIGURES:
            near = [_ATTRIBUTES[name]] if name in _ATTRIBUTES else difflib.get_close_matches(str(name), _FIGURES, 3, 0.5)
            raise InvalidValue(f"no figure is called {name!r}", "invalid_argument", "",
                               f"did you mean {', '.join(map(repr, near))}?" if near else "dfrost.figures() lists them")
        return self.figures.get(name)

    def __getattr__(self, name: str) -> Optional[float]:
        known = _ATTRIBUTES.get(name)
        if known is not None:
            return self.figures.get(known)
        if name.startswith("_"):
            raise AttributeError(name)
        near = difflib.get_close_matches(name, _ATTRIBUTES, 3, 0.5)
        raise NoSuchName(f"no figure is called {name!r}", "invalid_argument", "",
                         f"did you mean {', '.join(near)}?" if near else "dfrost.figures() lists them")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(_attribute(name) for name in self.figures)]

    def _shown(self) -> str:
        """The figures that people look at first."""
        first = ((_attribute(name), self.figures.get(name)) for name in _FIRST)
        return "".join(f", {name}={value:.4g}" for name, value in first if value is not None)


class Round(_Figures):
    """One round's figures: `r.round`, `r.accuracy_masked`, `r["evaluation.accuracy_masked.mean"]`; None where it was not measured."""

    def __init__(self, number: int, values: Mapping[str, float]) -> None:
        super().__init__(values)
        self.round = number

    def __repr__(self) -> str:
        return f"Round({self.round}{self._shown()}, … {len(self.figures)} figures)"


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
        return f"Summary({self.name!r}, {self.method!r}, {self.rounds} rounds, {self.clients} clients{self._shown()})"


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
        done = f"{len(self.rounds)} round{'' if len(self.rounds) == 1 else 's'}"
        return f"Run({str(self.folder)!r}, {done}{'' if self.finished else ', not finished'}{self.summary._shown() if self.summary else ''})"

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
        if isinstance(client, bool) or not hasattr(client, "__index__") or not 0 <= client < len(self._clients):
            raise InvalidValue(f"there is no client {client!r}", "out_of_range", str(self.folder), f"there are {len(self._clients)}, from 0")
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
        if isinstance(classes, str) or len(set(classes)) != len(classes):
            raise InvalidValue(f"classes are {classes!r}, and have to be a list of different names", "invalid_argument", "classes",
                               'pass one for each label, such as ["cat", "dog"]')
        self.clients, self.test, self.classes, self.name = list(clients), test, list(classes), name

    def __repr__(self) -> str:
        return f"Data({self.name!r}, {len(self.clients)} clients, {len(self.classes)} classes)"

    def _parts(self) -> dict[str, Any]:
        return {"name": self.name, "classes": [str(c) for c in self.classes],
                "clients": [_labelled(c, f"clients[{i}]") for i, c in enumerate(self.clients)], "test": _labelled(self.test, "test")}


def _labelled(pair: tuple[Any, Any], place: str) -> tuple[Any, list[int]]:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise InvalidValue(f"{place} is no pair of images and labels", "invalid_argument", place,
                           "pass dfrost.Data([(images, labels), …], test=(images, labels), classes=[…])")
    images, labels = pair
    array = np.asarray(labels)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu") or (array.size and array.min() < 0):
        raise InvalidValue("labels have to be whole numbers from 0, one per picture", "invalid_argument", place,
                           "pass labels.astype(int), one-dimensional")
    return _pictures(images), [int(label) for label in array]


def _as_prompts(result: Any, name: str) -> Any:
    """What a merge of one's own returned: an array or a tensor of any float type, or nested lists."""
    if hasattr(result, "detach"):
        result = result.detach().cpu().numpy()
    if isinstance(result, np.ndarray) or (isinstance(result, (list, tuple)) and result and isinstance(result[0], (list, tuple))):
        return np.ascontiguousarray(result, dtype=np.float32)
    what = "nothing" if result is None else f"a {type(result).__name__}"
    raise InvalidValue(f"{name} returned {what}, and has to return a prompt set", "invalid_argument", "",
                       "return an array shaped as sets[0]; of dfrost.merge() that is the first of what it returns")


def _merge_call(merge: Callable[[PromptSets], Any], name: str) -> Callable[..., Any]:
    def call(sets: list[Floats], weights: list[float], previous: Floats, client: int, round: int) -> Any:
        return _as_prompts(merge(PromptSets(sets, weights, previous, client, round)), name)
    return call


def _warn(what: str, hint: str) -> None:
    warnings.warn(what + (f"; {hint}" if hint else ""), stacklevel=3)  # where run() was called


def _require_callable(**calls: Any) -> None:
    for name, call in calls.items():
        if call is not None and not callable(call):
            raise InvalidValue(f"{name} is {call!r}, and has to be a function", "invalid_argument", name,
                               "config.merge.kind chooses a merge by name" if name == "merge" else f"pass {name}=print, say, or None")


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
    if data is not None and not isinstance(data, Data):
        raise InvalidValue(f"data is {type(data).__name__}, and has to be a dfrost.Data", "invalid_argument", "data",
                           "pass dfrost.Data([(images, labels), …], test=(images, labels), classes=[…])")
    _require_callable(on_round=on_round, on_progress=on_progress, on_ready=on_ready, on_note=on_note, on_warning=on_warning, merge=merge)
    if resume and start_over:
        raise InvalidValue("a run is resumed or begun anew, not both", "invalid_argument", "", "leave out resume, or start_over")
    if data is not None:  # so that the records say who there is, and can be read again
        config = config.copy()
        config.set({"partition.clients_per_domain": max(1, len(data.clients)), "partition.min_per_client": 0})
    name = getattr(merge, "__name__", type(merge).__name__)
    how = {"folder": "" if folder is None else folder, "resume": resume, "start_over": start_over,
           "merge": None if merge is None else _merge_call(merge, name), "merge_name": name, "data": None if data is None else data._parts()}
    calls = {"on_note": on_note, "on_warning": on_warning, "on_ready": on_ready, "on_progress": on_progress,
             "on_round": None if on_round is None else lambda parts: on_round(Round(*parts))}
    try:
        return load_run(_native.run(config._native, how, calls)["folder"])
    except Error as error:
        error.hint = _for_python(error.hint)
        raise


def _for_python(hint: str) -> str:
    """Hints of the compiled half name the flags of `dfrost run`."""
    for flag, word in (("--resume", "resume=True"), ("--start-over", "start_over=True"), ("--set run.name=…", "config.run.name = …, or folder=…")):
        hint = hint.replace(flag, word)
    return hint


def load_run(folder: Path) -> Run:
    """The records of a run's folder, finished or stopped."""
    return Run(_native.load_run(folder))
