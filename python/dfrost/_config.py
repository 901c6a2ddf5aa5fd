"""Experiments as keys with values."""

from __future__ import annotations

import json
from typing import Any, Iterator, Mapping, Optional

from . import _native
from ._types import Path


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(json.dumps(v, ensure_ascii=False) if isinstance(v, str) else _toml(v) for v in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k} = {json.dumps(v, ensure_ascii=False) if isinstance(v, str) else _toml(v)}"
                               for k, v in value.items()) + "}"
    return str(value)


def _settings(settings: Optional[Mapping[str, Any]]) -> list[tuple[str, str]]:
    return [(key, _toml(value)) for key, value in (settings or {}).items()]


_KEYS: list[str] = [row[0] for row in _native.known_keys()]
_SECTIONS: list[str] = list(dict.fromkeys(key.split(".")[0] for key in _KEYS))


class Section:
    """The keys of one section of a Config, as attributes."""

    def __init__(self, config: Config, name: str) -> None:
        object.__setattr__(self, "_place", (config, name))

    def __getattr__(self, key: str) -> Any:
        config, name = object.__getattribute__(self, "_place")
        if key.startswith("__"):
            raise AttributeError(key)
        return config[f"{name}.{key}"]

    def __setattr__(self, key: str, value: Any) -> None:
        config, name = object.__getattribute__(self, "_place")
        config[f"{name}.{key}"] = value

    def __dir__(self) -> list[str]:
        _, name = object.__getattribute__(self, "_place")
        return [key.split(".", 1)[1] for key in _KEYS if key.startswith(name + ".")]

    def __repr__(self) -> str:
        return "Section(" + ", ".join(f"{key}={getattr(self, key)!r}" for key in self.__dir__()) + ")"


class Config:
    """An experiment: a TOML file with some keys changed. docs/reference/config.md has every key.

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

    def to_toml(self) -> str:
        """Every key with its value and a comment."""
        return self._native.to_toml()

    def keys(self) -> list[str]:
        return list(_KEYS)

    def __getitem__(self, key: str) -> Any:
        return self._native.value(key)

    def __setitem__(self, key: str, value: Any) -> None:
        self.set({key: value})

    def __iter__(self) -> Iterator[str]:
        return iter(_KEYS)

    def __getattr__(self, name: str) -> Section:
        if name in _SECTIONS:
            return Section(self, name)
        raise AttributeError(f"an experiment has no section {name!r}: there are {', '.join(_SECTIONS)}")

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
