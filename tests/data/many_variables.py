"""Writes a MAT-file of small variables that inflate to a million bytes each: usage: many_variables.py FILE."""
import sys

import numpy as np
from scipy.io import savemat

variables = {f"v{i}": np.zeros((1, 1000 * 1000), np.uint8) for i in range(50)}
variables["y"] = np.arange(5, dtype=np.uint8)
savemat(sys.argv[1], variables, do_compression=True)
twice = open(sys.argv[1] + ".2", "w+b")
savemat(twice, {"twice": np.zeros((1, 5), np.uint8)}, do_compression=True)
twice.seek(128)
variable = twice.read()
open(sys.argv[1], "ab").write(variable + variable)
