"""Names for what goes in and out."""

from __future__ import annotations

import os
from typing import Any, Union

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Float64s = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]
Path = Union[str, "os.PathLike[str]"]
# A float32 array of NumPy, or whatever speaks DLPack on the CPU: a torch.Tensor, say. Type checkers cannot tell its dtype.
Matrix = Any
