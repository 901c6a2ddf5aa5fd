"""dirichlet_oracle.py CLIENTS CLASSES PER_CLASS FILE…: are these the counts of Dirichlet partitions?

Each FILE is called FORM-ALPHA and holds, a line each, how many of the PER_CLASS pictures of class 0 client 0 got in
independent partitions. Chi-square over the bins of that share: against the exact Beta(alpha, alpha (clients - 1)) for the
per-class form, against a NumPy simulation for the per-client form. Exits with 1 if any p is below 0.001."""

import sys
from pathlib import Path

import numpy as np
from scipy import stats

clients, classes, per_class = map(int, sys.argv[1:4])
# Borders between whole numbers of pictures, so that rounding to pictures moves nothing across one.
borders = np.floor(np.array([0, 0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.35, 0.6, 0.9]) * per_class) + 0.5
borders = np.concatenate([[-1], borders, [per_class + 1]])


def p_value(form, alpha, counts):
    observed = np.histogram(counts, borders)[0]
    if form == "class":
        chances = np.diff(stats.beta.cdf(np.clip(borders / per_class, 0, 1), alpha, alpha * (clients - 1)))
        enough = chances * len(counts) >= 5
        observed = np.append(observed[enough], observed[~enough].sum())
        expected = np.append(chances[enough], chances[~enough].sum() + 1e-9)
        return stats.chisquare(observed, expected / expected.sum() * len(counts)).pvalue
    weights = np.random.default_rng(11).dirichlet(np.full(classes, alpha), (20000, clients))[:, :, 0]
    simulated = np.rint(weights[:, 0] / weights.sum(axis=1) * per_class)
    table = np.array([observed, np.histogram(simulated, borders)[0]])
    return stats.chi2_contingency(table[:, table.sum(axis=0) >= 10])[1]


bad = 0
for path in map(Path, sys.argv[4:]):
    form, alpha = path.name.split("-")
    p = p_value(form, float(alpha), np.loadtxt(path))
    print(f"{form} alpha {alpha}: p = {p:.4f}")
    bad += not p >= 0.001
sys.exit(int(bad > 0))
