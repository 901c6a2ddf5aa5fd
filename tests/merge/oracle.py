"""NumPy and POT as oracles of the merge: reads problems (doubles, see numbers.h), writes their answers.

merge    per problem: N, n, d, steps, epsilon, lambda, sigma2, q [N], z [N, d], start [n, d]
                                             ->  merged [n, d], J per step, P [N, n]
metric   per problem: N, n, d, m, steps, epsilon, lambda, sigma2, M [m, d], z [N, d], of which the first n are the start
                                             ->  merged [n, d], J per step, P [N, n]
plan     per problem: N, n, d, epsilon, sigma2, q, z, start   ->  P by POT: rows bound to q, columns free
average  per problem: senders, n, d, weights, z               ->  merged [n, d]
robust   as merge, with trim, median and the own rows' number before q  ->  merged [n, d], P [N, n]
clip     per problem: n, own's n, d, radius, set, own         ->  rows, then each with its mass
outliers per problem: sets, n, d, factor, sets                ->  1 or 0 for each
means    per problem: vectors, size, share, radius, weights, vectors  ->  trimmed mean, geometric median
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


def metric(numbers):
    N, n, d, m, steps = numbers.sizes(5)
    eps, lam, sigma2 = numbers.take(3)
    G, z = numbers.take(m, d), numbers.take(N, d)
    G = G.T @ G
    phi, q, J = z[:n], np.full(N, 1 / N), []

    def cost_in_metric(phi):
        differences = z[:, None, :] - phi[None, :, :]
        return np.einsum("aic,ck,aik->ai", differences, G, differences) / (2 * sigma2)

    for _ in range(steps):
        x = -cost_in_metric(phi) / eps
        x -= x.max(1, keepdims=True)
        P = q[:, None] * np.exp(x) / np.exp(x).sum(1, keepdims=True)
        phi = P.T @ z / (P.sum(0) + lam)[:, None]
        logP = np.log(np.where(P > 0, P, 1))
        pull = lam / (2 * sigma2) * np.einsum("ic,ck,ik->", phi, G, phi)
        J.append((P * cost_in_metric(phi)).sum() + eps * (P * (logP - 1)).sum() + pull)
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


def trimmed(q, costs, share):
    q, left = q.copy(), share
    for a in np.argsort(-costs):
        taken = min(left, q[a])
        q[a] -= taken
        left -= taken
    return q / (1 - share)


def usual_distance(q, z, own):
    nearest = np.sqrt(((z[own:, None, :] - z[None, :own, :]) ** 2).sum(2).min(1))
    order = np.argsort(nearest)
    return nearest[order][np.searchsorted(np.cumsum(q[own:][order]), q[own:].sum() / 2 * (1 - 1e-9))]


def robust(numbers):
    N, n, d, steps = numbers.sizes(4)
    eps, lam, sigma2, trim, median = numbers.take(5)
    own = numbers.sizes(1)[0]
    q, z, phi = numbers.take(N), numbers.take(N, d), numbers.take(n, d)
    radius = median * usual_distance(q, z, own)
    for _ in range(steps):
        x = -cost(z, phi, sigma2) / eps
        softest = x.max(1) + np.log(np.exp(x - x.max(1, keepdims=True)).sum(1))
        mass = trimmed(q, -softest, trim) if trim > 0 else q
        P = mass[:, None] * np.exp(x - softest[:, None])
        W = P
        if median > 0:
            far = np.sqrt(2 * sigma2 * cost(z, phi, sigma2))
            W = P * np.minimum(1, radius / np.maximum(far, 1e-300))
            W = W * (P.sum(0) / W.sum(0))
        phi = W.T @ z / (P.sum(0) + lam)[:, None]
    return [phi, W]


def w2_plan(a, b):
    import ot

    C = ((a[:, None, :] - b[None, :, :]) ** 2).sum(2)
    P = ot.emd(np.full(len(a), 1 / len(a)), np.full(len(b), 1 / len(b)), C, numItermax=1000000)
    return np.sqrt((P * C).sum()), P


def clip(numbers):
    n, m, d = numbers.sizes(3)
    radius = numbers.take(1)[0]
    z, own = numbers.take(n, d), numbers.take(m, d)
    distance, P = w2_plan(z, own)
    rows = [(a, b) for a in range(n) for b in range(m) if P[a, b] > 1e-9]
    part = min(1, radius / distance)
    return [[len(rows)]] + [np.append(own[b] + part * (z[a] - own[b]), P[a, b]) for a, b in rows]


def outliers(numbers):
    sets, n, d = numbers.sizes(3)
    factor = numbers.take(1)[0]
    z = numbers.take(sets, n, d)
    D = np.array([[w2_plan(a, b)[0] for b in z] for a in z])
    odd = [np.sort(np.delete(D[s], s))[(sets - 2) // 2] for s in range(sets)]
    usual = np.sort(odd)[(sets - 1) // 2]
    return [[0.0] + [float(o > factor * usual) for o in odd[1:]]]


def means(numbers):
    count, size = numbers.sizes(2)
    share, radius = numbers.take(2)
    w, v = numbers.take(count), numbers.take(count, size)
    low = []
    for column in v.T:
        order = np.argsort(column, kind="stable")
        edges = np.clip(np.concatenate([[0], np.cumsum(w[order])]), share, 1 - share)
        low.append((np.diff(edges) * column[order]).sum() / (1 - 2 * share))
    # The point at which the gradient of the smoothed sum of distances is nothing, by Newton.
    point = np.median(v, axis=0)
    for _ in range(200):
        off = point - v
        far = np.maximum(np.sqrt((off**2).sum(1)), radius)
        gradient = (w / far) @ off
        hessian = (w / far).sum() * np.eye(size)
        for s in range(count):
            if far[s] > radius:
                hessian -= w[s] / far[s] ** 3 * np.outer(off[s], off[s])
        step, value = np.linalg.solve(hessian, gradient), huber(point, v, w, radius)
        rate = 1.0
        while rate > 1e-12 and huber(point - rate * step, v, w, radius) > value:
            rate /= 2
        point = point - rate * step
        if np.abs(rate * step).max() < 1e-15:
            break
    return [low, point]


def huber(point, v, w, radius):
    far = np.sqrt(((point - v) ** 2).sum(1))
    return (w * np.where(far > radius, far - radius / 2, far**2 / (2 * radius))).sum()


def main(kind, problems, answers):
    numbers = Numbers(problems)
    solve = {"merge": merge, "metric": metric, "plan": plan, "average": average, "robust": robust,
             "clip": clip, "outliers": outliers, "means": means}[kind]
    found = []
    while numbers.left():
        found += [np.ravel(part) for part in solve(numbers)]
    np.concatenate(found).tofile(answers)


main(*sys.argv[1:])
