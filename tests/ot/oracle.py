"""POT and scipy as oracles: reads problems (doubles, see numbers.h), writes their answers.

emd2         per problem: rows, cols, d, a points, b points, a weights, b weights   ->  ot.emd2
assignment   per problem: n, costs                                                  ->  total cost by scipy
rows         per problem: rows, columns, costs                                      ->  total cost by scipy
barycenter   per problem: measures, n, d, start, weights, then per measure rows, points, weights
                                                                                    ->  objective of POT's answer
"""
import sys

import numpy as np
import ot
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist


class Numbers:
    def __init__(self, path):
        self.values, self.at = np.fromfile(path), 0

    def take(self, *shape):
        count = int(np.prod(shape))
        taken = self.values[self.at : self.at + count].reshape(shape)
        self.at += count
        return taken

    def size(self):
        return int(self.take(1)[0])

    def left(self):
        return self.at < len(self.values)


def emd2(numbers):
    rows, cols, d = numbers.size(), numbers.size(), numbers.size()
    a, b = numbers.take(rows, d), numbers.take(cols, d)
    return ot.emd2(numbers.take(rows), numbers.take(cols), cdist(a, b, "sqeuclidean"), numItermax=10**7)


def assignment(numbers):
    n = numbers.size()
    costs = numbers.take(n, n)
    return costs[linear_sum_assignment(costs)].sum()


def rows(numbers):
    costs = numbers.take(numbers.size(), numbers.size())
    return costs[linear_sum_assignment(costs)].sum()


def barycenter(numbers):
    count, n, d = numbers.size(), numbers.size(), numbers.size()
    start, weights = numbers.take(n, d), numbers.take(count)
    points, masses = [], []
    for _ in range(count):
        rows = numbers.size()
        points.append(numbers.take(rows, d))
        masses.append(numbers.take(rows))
    found = ot.lp.free_support_barycenter(points, masses, start, weights=weights, numItermax=1000, stopThr=1e-14)
    equal = np.full(n, 1 / n)
    return sum(
        w * ot.emd2(m, equal, cdist(p, found, "sqeuclidean")) for w, p, m in zip(weights, points, masses)
    )


def main(kind, problems, answers):
    numbers = Numbers(problems)
    solve = {"emd2": emd2, "assignment": assignment, "rows": rows, "barycenter": barycenter}[kind]
    found = []
    while numbers.left():
        found.append(solve(numbers))
    np.array(found).tofile(answers)


main(*sys.argv[1:])
