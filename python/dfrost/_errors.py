"""What dfrost raises: one family, whose members are also what Python programs expect."""

from __future__ import annotations


class Error(Exception):
    """What went wrong, where, and what to do about it.

    `code` is dfrost's own name for the kind of error ("data_loss", "already_exists" …), `place` where it happened, `hint` what to do
    next; the last two may be empty.
    """

    def __init__(self, message: str, code: str = "internal", place: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.place = place
        self.hint = hint

    def __str__(self) -> str:
        return self.message + (f"\nat: {self.place}" if self.place else "") + (f"\nhint: {self.hint}" if self.hint else "")


class InvalidValue(Error, ValueError):
    """An argument or a setting that is wrong, alone or beside others."""


class NoSuchName(InvalidValue, AttributeError):
    """A key or a figure that does not exist, asked for as an attribute."""


class NotFound(Error, FileNotFoundError):
    """A file, or something with a name, that does not exist."""


_KINDS: dict[str, type[Error]] = {"invalid_argument": InvalidValue, "out_of_range": InvalidValue,
                                  "failed_precondition": InvalidValue, "not_found": NotFound}


def from_parts(code: str, message: str, place: str, hint: str) -> Error:
    """What the compiled half has thrown. Its places and hints are those of the command line where settings are concerned."""
    code, place = code.replace(" ", "_"), place.removeprefix("--set ")
    return _KINDS.get(code, Error)(message, code, place, hint)
