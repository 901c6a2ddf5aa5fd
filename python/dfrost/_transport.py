"""Prompt sets as distributions: merges, distances, barycenters."""

from __future__ import annotations

from typing import Any, Optional, Sequence

from . import _native
from ._native import Consensus, MergeSummary
from ._types import Floats, Float64s, Matrix


def merge(sets: Sequence[Matrix], prompts: Optional[int] = None, epsilon: float = 0.01, lam: float = 0.001, sigma2: float = 1.0,
          steps: int = 50, *, weights: Optional[Sequence[float]] = None, kind: str = "ot", init: str = "own",
          previous: Optional[Matrix] = None, dead: str = "paper", shrink: str = "paper", form: str = "auto",
          epsilon_init: float = 0.0, tolerance: float = 1e-6, early_stop: bool = False,
          seed: int = 0) -> tuple[Floats, MergeSummary]:
    """Merges prompt sets into one, as `dfrost merge` does.

    `sets` are float32 matrices, a prompt a row, the client's own first; NumPy arrays or CPU tensors, read where they lie. `prompts` is how
    many to merge into (None: as many as the first set has), `weights` one number per set that sum to one. The rest are the options of
    `dfrost merge`, by the same names (`lam` is its --lambda). Returns the merged set, float32, and a summary: `objective`,
    `off_index_mass`, `plan` [all rows, prompts], `column_mass`, `dead`, `converged` …

    >>> a = np.array([[0, 0], [10, 0]], dtype=np.float32)
    >>> b = np.array([[10, 1], [0, 1]], dtype=np.float32)   # the same two places, in the other order
    >>> merged, summary = dfrost.merge([a, b], lam=0.0)
    >>> merged.round(3).tolist()
    [[0.0, 0.5], [10.0, 0.5]]
    >>> summary.off_index_mass
    0.5
    """
    return _native.merge(sets, prompts, weights, previous, epsilon=epsilon, lam=lam, sigma2=sigma2, steps=steps, kind=kind, init=init,
                         dead=dead, shrink=shrink, form=form, epsilon_init=epsilon_init, tolerance=tolerance,
                         early_stop=early_stop, seed=seed)


def wasserstein2(a: Matrix, b: Matrix, weights_a: Optional[Sequence[float]] = None,
                 weights_b: Optional[Sequence[float]] = None) -> tuple[float, Float64s]:
    """The exact 2-Wasserstein distance of two weighted point sets, and the plan behind it.

    W₂ itself: its square is what `dfrost distance` calls W2^2 and what POT's `ot.emd2` gives for squared distances. The plan is
    [rows of a, rows of b] and sums to one.

    >>> a = np.array([[0, 0], [10, 0]], dtype=np.float32)
    >>> w2, plan = dfrost.wasserstein2(a, a[::-1].copy() + np.float32(3))
    >>> round(w2 ** 2, 4), plan.tolist()
    (18.0, [[0.0, 0.5], [0.5, 0.0]])
    """
    return _native.wasserstein2(a, b, weights_a, weights_b)


def barycenter(sets: Sequence[Matrix], points: Optional[int] = None, weights: Optional[Sequence[float]] = None, *, starts: int = 3,
               seed: int = 0, threads: int = 1) -> tuple[Floats, float]:
    """The points of equal mass in the middle of several sets, as `dfrost barycenter` finds them; and Σ weight·W₂² to them.

    >>> a = np.array([[0, 0], [10, 0]], dtype=np.float32)
    >>> points, objective = dfrost.barycenter([a, a[::-1].copy()])
    >>> sorted(points.tolist()), objective
    ([[0.0, 0.0], [10.0, 0.0]], 0.0)
    """
    return _native.barycenter(sets, points, weights, starts, seed, threads)


def consensus_error(sets: Sequence[Matrix], prompts: int = 0, *, seed: int = 0, threads: int = 1) -> Consensus:
    """How far clients are from agreeing: `error` (mean W₂² to their barycenter), `total` (the sum), `barycenter`.

    >>> a = np.array([[0, 0], [10, 0]], dtype=np.float32)
    >>> c = dfrost.consensus_error([a, a + np.float32(2), a + np.float32(4)])
    >>> round(c.error, 4), round(c.total, 4), c.barycenter.shape
    (5.3333, 16.0, (2, 2))
    """
    return _native.consensus_error(sets, prompts, seed, threads)
