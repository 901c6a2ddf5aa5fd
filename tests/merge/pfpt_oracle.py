"""PFPT's aggregation written independently: PyTorch's autograd and Adam, scipy's assignment, in double.

    pfpt_oracle.py PROBLEMS ANSWERS

Problems (doubles, see numbers.h): senders, width, passes, rate, seed, then per sender its number of prompts and they.
Answers, per problem: prompts of the pool, they, and of every sender's every prompt its place in the pool.
"""
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from scipy.optimize import linear_sum_assignment

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "base"))
from random_stream import RandomStream  # noqa: E402

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
HIDDEN = 128


def network(seed, name, inputs, outputs):
    """Two linear layers, [weight, bias, weight, bias], as PyTorch draws them."""
    layers = []
    for number, (fan_in, fan_out) in enumerate([(inputs, HIDDEN), (HIDDEN, outputs)]):
        for kind, shape in (("weight", (fan_out, fan_in)), ("bias", (fan_out,))):
            stream = RandomStream(seed, f"{name}.{number}.{kind}")
            bound = 1 / np.sqrt(fan_in)
            values = [stream.uniform(-bound, bound) for _ in range(int(np.prod(shape)))]
            layers.append(torch.tensor(values).reshape(shape).requires_grad_())
    return layers


def run(layers, x):
    return torch.sigmoid(F.linear(F.relu(F.linear(x, *layers[:2])), *layers[2:]))


def aggregate(sets, passes, rate, seed):
    """The new pool, and where in it each prompt of each set belongs."""
    sets = [torch.tensor(s) for s in sets]
    phi = torch.cat(sets).clone().requires_grad_()
    count, width = phi.shape
    spread, presence = network(seed, "spread", width, width), network(seed, "presence", width, 1)
    optimizer = torch.optim.Adam([phi, *spread, *presence], lr=rate)
    z = [RandomStream(seed, "pool assignment", t).permutation(count)[: len(s)] for t, s in enumerate(sets)]
    for _ in range(passes):
        for t, prompts in enumerate(sets):
            present = torch.zeros(count)
            present[z[t]] = 1
            gaussians = torch.distributions.Normal(phi[None], run(spread, phi)[None])
            likely = gaussians.log_prob(prompts[:, None]).sum(2)
            there = torch.distributions.Bernoulli(run(presence, phi)[:, 0]).log_prob(present)
            scores = likely + there[None]
            optimizer.zero_grad()
            (-scores[range(len(prompts)), z[t]].sum()).backward()
            optimizer.step()
            z[t] = linear_sum_assignment(scores.detach().numpy(), maximize=True)[1].tolist()
    used = sorted(set(sum(z, [])))
    return phi.detach().numpy()[used], [[used.index(i) for i in own] for own in z]


def main(problems, answers):
    numbers, at, out = np.fromfile(problems), 0, []
    while at < len(numbers):
        senders, width, passes = (int(x) for x in numbers[at : at + 3])
        rate, seed = numbers[at + 3], int(numbers[at + 4])
        at += 5
        sets = []
        for _ in range(senders):
            rows = int(numbers[at])
            sets.append(numbers[at + 1 : at + 1 + rows * width].reshape(rows, width))
            at += 1 + rows * width
        pool, places = aggregate(sets, passes, rate, seed)
        out += [len(pool), *pool.flatten(), *sum(places, [])]
    np.array(out, dtype=float).tofile(answers)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
