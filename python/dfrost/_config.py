"""Experiments as keys with values."""

from __future__ import annotations

import difflib
import json
import os
from typing import Any, Iterator, Mapping, Optional

import numpy as np

from . import _native
from ._errors import InvalidValue, NoSuchName
from ._types import Path


def _quoted(value: Any) -> str:
    """A value within a list or a table, where texts have quotes."""
    if isinstance(value, (str, os.PathLike)):
        return json.dumps(os.fspath(value), ensure_ascii=False)
    return _toml(value)


def _toml(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_quoted(v)}" for key, v in value.items()) + "}"
    if isinstance(value, (list, tuple, range)):
        return "[" + ", ".join(_quoted(v) for v in value) + "]"
    if isinstance(value, np.ndarray):
        return _toml(value.tolist())
    return str(value)


def _settings(settings: Optional[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Keys and values as the compiled half takes them; {"run": {"rounds": 3}} is {"run.rounds": 3}."""
    if settings is None:
        return []
    if not isinstance(settings, Mapping):
        raise InvalidValue(f"settings are {type(settings).__name__}, and have to be keys with values", "invalid_argument", "",
                           'pass {"run.rounds": 3}')
    flat: list[tuple[str, str]] = []
    for key, value in settings.items():
        if not isinstance(key, str):
            raise InvalidValue(f"{key!r} is no key", "invalid_argument", "", 'keys are texts such as "run.rounds"')
        if key in _SECTIONS and isinstance(value, Mapping):
            flat += _settings({f"{key}.{name}": v for name, v in value.items()})
        elif value is None:
            raise InvalidValue(f"{key} is None", "invalid_argument", key, "leave the key out to have its default")
        else:
            flat.append((key, _toml(value)))
    return flat


_KEYS: list[str] = [row[0] for row in _native.known_keys()]
_SECTIONS: list[str] = list(dict.fromkeys(key.split(".")[0] for key in _KEYS))


def _no_section(name: str) -> NoSuchName:
    """Somebody may have meant a section, or a key without it."""
    keys = [key for key in _KEYS if key.split(".", 1)[1] == name]
    near = keys or difflib.get_close_matches(name, _SECTIONS, 1)
    return NoSuchName(f"an experiment has no section {name!r}: there are {', '.join(_SECTIONS)}", "invalid_argument", "",
                      f"did you mean config.{near[0]}?" if near else "")


class Section:
    """The keys of one section of a Config, as attributes."""

    def __init__(self, config: Config, name: str) -> None:
        object.__setattr__(self, "_place", (config, name))

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_"):
            raise AttributeError(key)
        config, name = object.__getattribute__(self, "_place")
        try:
            return config[f"{name}.{key}"]
        except InvalidValue as error:
            raise NoSuchName(error.message, error.code, error.place, error.hint) from None

    def __setattr__(self, key: str, value: Any) -> None:
        config, name = object.__getattribute__(self, "_place")
        config[f"{name}.{key}"] = value

    def __dir__(self) -> list[str]:
        _, name = object.__getattribute__(self, "_place")
        return [key.split(".", 1)[1] for key in _KEYS if key.startswith(name + ".")]

    def __repr__(self) -> str:
        return "Section(" + ", ".join(f"{key}={getattr(self, key)!r}" for key in self.__dir__()) + ")"


class Config:
    """An experiment: a TOML file with some keys changed. docs/reference/config.md has every key, as has dfrost.keys().

    >>> config = dfrost.Config.preset("five", {"run.rounds": 3, "train.batch": 8})
    >>> config.run.rounds, config["train.batch"]
    (3, 8)
    >>> config.run.rounds = 5
    >>> config["run.rounds"]
    5
    >>> config["run.round"] = 5
    Traceback (most recent call last):
    dfrost.InvalidValue: there is no key 'round' in [run]
    ...

    A copy is independent of what it was copied from. One that was pickled comes back with every key set to its value, so that a
    method.name set afterwards no longer brings the method's own values along.
    """

    def __init__(self, file: Path, settings: Optional[Mapping[str, Any]] = None) -> None:
        self._native = _native.Config.load(file, _settings(settings))

    @classmethod
    def _of(cls, native: _native.Config) -> Config:
        config = cls.__new__(cls)
        config._native = native
        return config

    @classmethod
    def preset(cls, name: str, settings: Optional[Mapping[str, Any]] = None) -> Config:
        """A whole experiment by name: dfrost.presets() lists them."""
        return cls._of(_native.Config.preset(name, _settings(settings)))

    @classmethod
    def parse(cls, toml: str, settings: Optional[Mapping[str, Any]] = None) -> Config:
        """An experiment from the text of such a file."""
        return cls._of(_native.Config.parse(toml, _settings(settings)))

    def set(self, settings: Mapping[str, Any]) -> None:
        """Changes keys together, so that two that only fit with each other may be given at once. On an error nothing changes."""
        self._native.set(_settings(settings))

    def copy(self) -> Config:
        return self._of(self._native.copy())

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Config:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return Config.parse, (self.to_toml(),)

    def to_toml(self) -> str:
        """Every key with its value and a comment."""
        return self._native.to_toml()

    def keys(self) -> list[str]:
        return list(_KEYS)

    def items(self) -> list[tuple[str, Any]]:
        return [(key, self[key]) for key in _KEYS]

    def __getitem__(self, key: str) -> Any:
        return self._native.value(key)

    def __setitem__(self, key: str, value: Any) -> None:
        self.set({key: value})

    def __iter__(self) -> Iterator[str]:
        return iter(_KEYS)

    def __len__(self) -> int:
        return len(_KEYS)

    def __getattr__(self, name: str) -> Section:
        if name in _SECTIONS:
            return Section(self, name)
        raise AttributeError(name) if name.startswith("_") else _no_section(name)

    def __setattr__(self, name: str, value: Any) -> None:
        """What is no key would otherwise be taken, and do nothing."""
        if name == "_native":
            object.__setattr__(self, name, value)
        elif name in _SECTIONS and isinstance(value, Mapping):
            self.set({name: value})
        elif name in _SECTIONS:
            raise InvalidValue(f"{name} is a section, not a key", "invalid_argument", "",
                               f"set its keys: config.{name}.{Section(self, name).__dir__()[0]} = …")
        else:
            raise _no_section(name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_SECTIONS]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self.to_toml() == other.to_toml()

    def __repr__(self) -> str:
        return f"Config(run.name={self['run.name']!r}, method.name={self['method.name']!r}, run.rounds={self['run.rounds']})"


def presets() -> dict[str, str]:
    """Whole experiments by name, with what they are."""
    return {name: summary for name, summary in _native.known_presets()}


def methods() -> dict[str, str]:
    """What method.name may be."""
    return {name: summary for name, _, summary in _native.known_methods()}


def keys(part: str = "") -> dict[str, str]:
    """The keys of an experiment whose names have `part` in them: what each is, what it takes, and its default.

    >>> dfrost.keys("run.rounds")
    {'run.rounds': 'a round: train, exchange, merge; takes a whole number, 0 or more; default 40'}
    """
    return {name: f"{comment}; takes {values}; default {default}" for name, comment, values, default in _native.known_keys() if part in name}
