"""PFPT's aggregation in PyTorch beside ours, in turns of one run: 10 clients x 10 prompts x 768.

    bench/pfpt_torch.py build/release/dfrost [--turns 3] [--passes 50]

PyTorch in fp32, twice: as the formulas read (distributions, autograd, Adam over all), and tuned (scores as two
products, the networks' gradients of the assigned centroids alone). Each on one thread and on two; its best counts.
OPENBLAS_CORETYPE is set to SkylakeX where the machine has AVX-512 and it is not set: Debian's OpenBLAS takes slower
kernels by itself.
"""
import argparse
import json
import os
import subprocess
import sys
import time

with open("/proc/cpuinfo") as cpu:
    if "avx512f" in cpu.read():
        os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX")

import numpy as np  # noqa: E402
import torch  # noqa: E402
from scipy.optimize import linear_sum_assignment  # noqa: E402

CLIENTS, PROMPTS, WIDTH, HIDDEN = 10, 10, 768, 128


def make_sets():
    generator = torch.Generator().manual_seed(1)
    shared = (torch.rand(PROMPTS, WIDTH, generator=generator) - 0.5) * 0.079
    return [shared + 0.01 * torch.randn(PROMPTS, WIDTH, generator=generator) for _ in range(CLIENTS)]


def network(outputs):
    return torch.nn.Sequential(torch.nn.Linear(WIDTH, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, outputs))


def as_it_reads(phi, spread, presence, prompts, assigned, present):
    """Scores of all centroids, and the sum to raise."""
    likely = torch.distributions.Normal(phi[None], torch.sigmoid(spread(phi))[None]).log_prob(prompts[:, None]).sum(2)
    there = torch.distributions.Bernoulli(torch.sigmoid(presence(phi)[:, 0])).log_prob(present)
    scores = likely + there[None]
    return scores.detach(), scores[torch.arange(len(prompts)), assigned].sum()


def tuned(phi, spread, presence, prompts, assigned, present):
    with torch.no_grad():
        sigma = torch.sigmoid(spread(phi))
        precision = sigma ** -2
        logits = presence(phi)[:, 0]
        alone = -sigma.log().sum(1) - 0.5 * (phi * phi * precision).sum(1) - 0.5 * WIDTH * np.log(2 * np.pi)
        alone += torch.where(present > 0, torch.nn.functional.logsigmoid(logits), torch.nn.functional.logsigmoid(-logits))
        scores = alone[None] - 0.5 * (prompts * prompts) @ precision.T + prompts @ (phi * precision).T
    own = phi[assigned]
    sigma = torch.sigmoid(spread(own))
    raised = (-sigma.log() - 0.5 * ((prompts - own) / sigma) ** 2).sum()
    return scores, raised + torch.nn.functional.logsigmoid(presence(own)).sum()


def aggregate(sets, passes, step):
    torch.manual_seed(1)
    phi = torch.cat(sets).clone().requires_grad_()
    spread, presence = network(WIDTH), network(1)
    optimizer = torch.optim.Adam([phi, *spread.parameters(), *presence.parameters()], lr=1e-3)
    z = [torch.randperm(len(phi))[: len(s)] for s in sets]
    for _ in range(passes):
        for t, prompts in enumerate(sets):
            present = torch.zeros(len(phi))
            present[z[t]] = 1
            scores, raised = step(phi, spread, presence, prompts, z[t], present)
            optimizer.zero_grad()
            (-raised).backward()
            optimizer.step()
            z[t] = torch.as_tensor(linear_sum_assignment(scores.numpy(), maximize=True)[1])
    return len({int(i) for own in z for i in own})


def seconds_of(sets, passes, step, threads):
    torch.set_num_threads(threads)
    begun = time.perf_counter()
    aggregate(sets, passes, step)
    return time.perf_counter() - begun


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dfrost")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--passes", type=int, default=50)
    arguments = parser.parse_args()
    sets = make_sets()
    aggregate(sets, 1, as_it_reads)
    best = {}
    for _ in range(arguments.turns):
        command = [arguments.dfrost, "bench", "merge", "--pfpt", "--seconds", "0.1", "--json", "--steps", str(arguments.passes)]
        rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        row = next(r for r in rows if (r["senders"], r["prompts"], r["d"]) == (CLIENTS, PROMPTS, WIDTH))
        taken = {"dfrost, 1 thread": row["ms"] / 1e3, "dfrost, slow obvious version": row["slow_ms"] / 1e3}
        for name, step in (("as the formulas read", as_it_reads), ("tuned", tuned)):
            for threads in (1, 2):
                taken[f"PyTorch {name}, {threads} thread{'s' * (threads > 1)}"] = seconds_of(sets, arguments.passes, step, threads)
        for name, seconds in taken.items():
            best[name] = min(seconds, best.get(name, seconds))
    ours = best["dfrost, 1 thread"]
    for name, seconds in best.items():
        print(f"{name:<44}{1e3 * seconds:9.0f} ms{seconds / ours:8.1f} times ours")
    for name in ("as the formulas read", "tuned"):
        fastest = min(seconds for what, seconds in best.items() if f"PyTorch {name}" in what)
        print(f"PyTorch {name}: its best is {fastest / ours:.1f} times ours")


if __name__ == "__main__":
    sys.exit(main())
