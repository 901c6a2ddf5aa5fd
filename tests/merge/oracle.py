"""NumPy and POT as oracles of the merge: reads problems (doubles, see numbers.h), writes their answers.

merge    per problem: N, n, d, steps, epsilon, lambda, sigma2, q [N], z [N, d], start [n, d]
                                             ->  merged [n, d], J per step, P [N, n]
plan     per problem: N, n, d, epsilon, sigma2, q, z, start   ->  P by POT: rows bound to q, columns free
average  per problem: senders, n, d, weights, z               ->  merged [n, d]
"""
import sys

import numpy as np


class Numbers:
    def __init__(self, path):
        self.values, self.at = np.fromfile(path), 0

    def take(self, *shape):
        count = int(np.prod(shape))
        taken = self.values[self.at : self.at + count].reshape(shape)
        self.at += count
        return taken

    def sizes(self, count):
        return [int(x) for x in self.take(count)]

    def left(self):
        return self.at < len(self.values)


def cost(z, phi, sigma2):
    return ((z[:, None, :] - phi[None, :, :]) ** 2).sum(2) / (2 * sigma2)


def merge(numbers):
    N, n, d, steps = numbers.sizes(4)
    eps, lam, sigma2 = numbers.take(3)
    q, z, phi = numbers.take(N), numbers.take(N, d), numbers.take(n, d)
    J = []
    for _ in range(steps):
        x = -cost(z, phi, sigma2) / eps
        x -= x.max(1, keepdims=True)
        P = q[:, None] * np.exp(x) / np.exp(x).sum(1, keepdims=True)
        phi = P.T @ z / (P.sum(0) + lam)[:, None]
        logP = np.log(np.where(P > 0, P, 1))
        J.append((P * cost(z, phi, sigma2)).sum() + eps * (P * (logP - 1)).sum() + lam / (2 * sigma2) * (phi**2).sum())
    return [phi, J, P]


def plan(numbers):
    import ot

    N, n, d = numbers.sizes(3)
    eps, sigma2 = numbers.take(2)
    q, z, phi = numbers.take(N), numbers.take(N, d), numbers.take(n, d)
    C = cost(z, phi, sigma2)
    # The P-step binds the rows to q and leaves the columns free. POT penalises both sides with one strength, so its
    # histograms are moved instead: a until the rows hold q, b along with the columns' own masses. Where that comes
    # to rest KL(P^T 1 | b) and its gradient vanish: P, which POT found optimal with both penalties, is optimal
    # without the one on the columns, among all plans with rows q. Whatever the strength; eps halves the rest per turn.
    a, b = q.copy(), np.full(n, 1 / n)
    for _ in range(200):
        P = ot.unbalanced.sinkhorn_unbalanced(a, b, C, eps, eps, reg_type="entropy", stopThr=1e-15)
        rows, columns = P.sum(1), P.sum(0)
        if max(np.abs(rows / q - 1).max(), np.abs(columns / b - 1).max()) < 1e-11:
            return [P]
        a, b = a * q / rows, columns
    sys.exit("POT's histograms did not come to rest")


def average(numbers):
    senders, n, d = numbers.sizes(3)
    weights = numbers.take(senders)
    return [np.tensordot(weights, numbers.take(senders, n, d), 1)]


def main(kind, problems, answers):
    numbers = Numbers(problems)
    solve = {"merge": merge, "plan": plan, "average": average}[kind]
    found = []
    while numbers.left():
        found += [np.ravel(part) for part in solve(numbers)]
    np.concatenate(found).tofile(answers)


main(*sys.argv[1:])
