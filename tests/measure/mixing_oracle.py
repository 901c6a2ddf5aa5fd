"""Recomputes mixing factors with NumPy:  mixing_oracle.py CASES  (see mixing_oracle_test.cc for its lines)."""

import sys

import numpy as np


def mixing_factor(clients, links):
    adjacency = np.zeros((clients, clients))
    for a, b in links:
        adjacency[a, b] = adjacency[b, a] = 1
    degrees = adjacency.sum(axis=1)
    weights = adjacency / (1 + np.maximum.outer(degrees, degrees))
    weights += np.diag(1 - weights.sum(axis=1))
    return np.linalg.norm(weights - np.full((clients, clients), 1 / clients), 2)


checked = 0
for line in open(sys.argv[1], encoding="utf-8"):
    name, clients, *words = line.split()
    ours = [float(word) for word in words[:3]]
    links = [tuple(map(int, word.split("-"))) for word in words[3:]]
    expected = mixing_factor(int(clients), links)
    for value in ours:
        assert abs(value - expected) < 1e-12, f"{name}, {clients} clients: {ours}, NumPy says {expected}"
    checked += 1
assert checked > 60, f"only {checked} cases"
