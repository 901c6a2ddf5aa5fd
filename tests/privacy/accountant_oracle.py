"""The divergence of a Gaussian mechanism on a Poisson sample by its definition: an integral over the line, by SciPy.

    accountant_oracle.py FILE

FILE lists cases [sampling rate, noise, order]; their divergences take its place. Both directions are computed, and the
larger counts.
"""
import json
import sys
from pathlib import Path

import numpy as np
from scipy import integrate, special


def log_moment(log_ratio, sigma, order, largest):
    """log of the mean over x ~ N(0, σ²) of e^(order · log_ratio(x)), the integrand scaled by its own peak."""
    line = np.linspace(-40 * sigma - largest, 40 * sigma + largest, 400_001)
    logs = order * log_ratio(line) - line**2 / (2 * sigma**2)
    peak, place = logs.max(), line[logs.argmax()]
    inside = line[logs > peak - 60]
    value, _ = integrate.quad(lambda x: np.exp(order * log_ratio(x) - x**2 / (2 * sigma**2) - peak), inside[0], inside[-1],
                              points=[place], limit=1000, epsabs=0, epsrel=1e-12)
    return peak + np.log(value) - np.log(sigma * np.sqrt(2 * np.pi))


def divergence(rate, sigma, order):
    def log_ratio(x):
        """log of ((1 − q)·N(0, σ²) + q·N(1, σ²)) / N(0, σ²)."""
        return special.logsumexp([np.full_like(x, np.log1p(-rate)), np.log(rate) + (2 * x - 1) / (2 * sigma**2)], axis=0)

    there = log_moment(log_ratio, sigma, order, order) / (order - 1)
    back = log_moment(log_ratio, sigma, 1 - order, order) / (order - 1)
    return max(there, back)


path = Path(sys.argv[1])
path.write_text(json.dumps([divergence(*case) for case in json.loads(path.read_text())]))
