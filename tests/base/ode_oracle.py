"""scipy's solve_ivp (RK45) on small problems: ode_oracle.py FOLDER writes FOLDER/ode.safetensors, each as [times, values]."""
import sys
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

from safetensors_oracle import write

times = np.linspace(0, 12, 61)
problems = {
    "decay": (lambda t, y: -y, [1.0, -2.0]),
    "oscillator": (lambda t, y: [y[1], 2 * (1 - y[0] ** 2) * y[1] - y[0]], [2.0, 0.0]),
    "stiff": (lambda t, y: [-80 * (y[0] - np.cos(t)), y[0] - y[1]], [0.0, 1.0]),
}
arrays = {name: np.ascontiguousarray(
    solve_ivp(f, (0, times[-1]), y, t_eval=times, rtol=1e-6, atol=1e-8).y.T.astype(np.float32))
    for name, (f, y) in problems.items()}
write(Path(sys.argv[1]) / "ode.safetensors", {n: ("F32", a.shape, a.tobytes()) for n, a in arrays.items()})
