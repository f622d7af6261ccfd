"""Probes: small networks on frozen vectors, by SentEval's protocol as Dadas (2022) configures it.

:func:`classify` is its multilayer perceptron: one hidden layer of sigmoid units, cross-entropy, RMSprop, and of four
strengths of L2 the one with the best accuracy on the development part. :func:`relate` is its regression on relatedness:
no hidden layer, a softmax over the scores 1 to 5 that is fitted to soft labels (Tai et al. 2015), and the expected
score. Both are checked on the development part from time to time, keep the state that was best there, and stop at the
fourth check without a gain, counted over the whole training as SentEval counts.

The networks of all strengths of L2 begin with the same weights and see the same mini-batches, so they are trained as
one, with the matrices of their first layers stacked for a single product. Each seed runs in one thread, so that results
do not depend on the number of cores.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from psp.core.errors import from_extra
from psp.evaluation.metrics import pearson

Floats32 = npt.NDArray[np.float32]
Tensors = list[Any]

log = logging.getLogger(__name__)

L2 = (1e-5, 1e-4, 1e-3, 1e-2)
#: Checks without a gain before the one that stops.
TENACITY = 3
#: Scores are expected values over 1, ..., 5.
GRADES = 5


class Schedule(NamedTuple):
    """The duration of a probe's training.

    Attributes:
        batch: items in a mini-batch.
        epochs: epochs between two checks.
        last: no further round of ``epochs`` begins after this many. SentEval begins one at exactly this number, so a
            probe may see ``last + epochs``.
    """

    batch: int
    epochs: int
    last: int


CLASSIFY, RELATE = Schedule(128, 10, 200), Schedule(64, 50, 1000)


class Classified(NamedTuple):
    """One seed's classifier: labels for the test part, intp (items,), and how it was chosen."""

    labels: npt.NDArray[np.intp]
    l2: float
    epochs: int
    dev_accuracy: float


class Related(NamedTuple):
    """One seed's regression: expected scores for the test part, float64 (items,), and how it was chosen."""

    scores: npt.NDArray[np.float64]
    epochs: int
    dev_pearson: float


def soft_labels(scores: Sequence[float] | npt.NDArray[np.float64]) -> Floats32:
    """Distributions over the scores 1 to 5 whose expected value is the score (Tai et al. 2015, section 4.2).

    A score below 1 has no such distribution. As published, it gets its own value as the weight of 1 and nothing else,
    which sums to less than one.

    Args:
        scores: 0 to 5, shape (n,).

    Returns:
        float32 (n, 5).
    """
    scores = np.asarray(scores, np.float64)
    whole = np.floor(scores).astype(int)
    shares = np.zeros((len(scores), GRADES + 2), np.float32)
    rows = np.arange(len(scores))
    shares[rows, whole] = whole + 1 - scores
    shares[rows, whole + 1] = scores - whole
    return shares[:, 1 : GRADES + 1]


def pair_features(a: npt.NDArray[np.floating], b: npt.NDArray[np.floating]) -> Floats32:
    """Features of pairs, [|a - b|, a * b]: float32 (n, 2 dim), of vectors (n, dim)."""
    a, b = np.asarray(a, np.float32), np.asarray(b, np.float32)
    return np.concatenate([np.abs(a - b), a * b], axis=1)


def classify(
    features: Sequence[npt.NDArray[np.floating]],
    labels: Sequence[npt.NDArray[np.intp]],
    *,
    hidden: int,
    seeds: Sequence[int],
    schedule: Schedule = CLASSIFY,
) -> list[Classified]:
    """Train a multilayer perceptron for each seed, and label the test part.

    Args:
        features: of the training, development and test part, each (items, dim).
        labels: of the training and the development part, 0 to classes - 1, each (items,).
        hidden: sigmoid units.
        seeds: of the initial weights and of the order of items.
        schedule: for tests; SentEval's by default.

    Returns:
        One for each seed.

    Raises:
        PspError: torch is not installed.
    """
    torch = _torch()
    parts = [torch.from_numpy(np.ascontiguousarray(part, np.float32)) for part in features]
    numbers = [torch.from_numpy(np.asarray(part, np.int64)) for part in labels]
    job = functools.partial(_classified, torch, parts, numbers, hidden, schedule)
    return _run(torch, job, seeds)


def relate(
    features: Sequence[npt.NDArray[np.floating]],
    scores: Sequence[npt.NDArray[np.float64]],
    *,
    seeds: Sequence[int],
    schedule: Schedule = RELATE,
) -> list[Related]:
    """Train a regression on relatedness for each seed, and score the test part.

    Args:
        features: of the training, development and test part, each (pairs, dim).
        scores: of the training and the development part, 0 to 5, each (pairs,).
        seeds: of the initial weights and of the order of pairs.
        schedule: for tests; SentEval's by default.

    Returns:
        One for each seed.

    Raises:
        PspError: torch is not installed.
    """
    torch = _torch()
    parts = [torch.from_numpy(np.ascontiguousarray(part, np.float32)) for part in features]
    soft = torch.from_numpy(np.ascontiguousarray(soft_labels(scores[0])))
    job = functools.partial(_related, torch, parts, soft, np.asarray(scores[1], np.float64), schedule)
    return _run(torch, job, seeds)


def initial(torch: Any, shapes: Sequence[tuple[int, int]], generator: Any) -> Tensors:
    """Weights (outputs, inputs) and biases (outputs,) of linear layers, distributed as in torch's ``Linear``."""
    tensors = []
    for inputs, outputs in shapes:
        bound = inputs**-0.5
        for shape in ((outputs, inputs), (outputs,)):
            tensors.append(torch.empty(shape).uniform_(-bound, bound, generator=generator))
    return tensors


class _Stop:
    """When to stop one network, and whether its state is the best so far."""

    def __init__(self) -> None:
        self.best, self.epochs, self.failures = -np.inf, 0, 0

    def better(self, value: float, epochs: int) -> bool:
        # NaN is not a gain, but some state must be kept.
        if value > self.best or not self.epochs:
            self.best, self.epochs = (-np.inf if np.isnan(value) else value), epochs
            return True
        self.failures += 1
        return False

    @property
    def now(self) -> bool:
        return self.failures > TENACITY


def _classified(torch: Any, parts: Tensors, labels: Tensors, hidden: int, schedule: Schedule, seed: int) -> Classified:
    train, dev, test = parts
    classes = int(labels[0].max()) + 1
    generator = torch.Generator().manual_seed(seed)
    torch.set_num_threads(1)  # of this thread
    with torch.no_grad():
        first = initial(torch, [(train.shape[1], hidden), (hidden, classes)], generator)
        # Layers of k networks: weights (k, hidden, dim) and (k, classes, hidden), biases (k, hidden) and (k, classes).
        layers = [layer.expand(len(L2), *layer.shape).clone() for layer in first]
        squares = [torch.zeros_like(layer) for layer in layers]
        going, stops, best = list(range(len(L2))), [_Stop() for _ in L2], [first for _ in L2]
        epochs = 0
        while going and epochs <= schedule.last:
            decay = [torch.tensor([L2[one] for one in going]).view(-1, *[1] * (layer.dim() - 1)) for layer in layers]
            for _ in range(schedule.epochs):
                for rows in torch.randperm(len(train), generator=generator).split(schedule.batch):
                    gradients = _gradients(torch, _cross_entropy, layers, train[rows], labels[0][rows])
                    for layer, gradient, square, strength in zip(layers, gradients, squares, decay, strict=True):
                        _rmsprop(layer, gradient.addcmul_(layer, strength), square)
            epochs += schedule.epochs
            guesses = _forward(torch, layers, dev).argmax(2)
            for place, one in enumerate(going):
                if stops[one].better(float((guesses[place] == labels[1]).double().mean()), epochs):
                    best[one] = [layer[place].clone() for layer in layers]
            stay = [place for place, one in enumerate(going) if not stops[one].now]
            if len(stay) < len(going):
                going = [going[place] for place in stay]
                layers, squares = [layer[stay] for layer in layers], [square[stay] for square in squares]
        chosen = int(np.argmax([stop.best for stop in stops]))
        predicted = _forward(torch, [layer[None] for layer in best[chosen]], test).argmax(2)[0]
    stop = stops[chosen]
    log.info("seed %d: L2 %g, %d epochs, dev accuracy %.2f%%", seed, L2[chosen], stop.epochs, 100 * stop.best)
    return Classified(predicted.numpy().astype(np.intp), L2[chosen], stop.epochs, float(stop.best))


def _forward(torch: Any, layers: Tensors, x: Any) -> Any:
    """Logits of k networks, (k, items, classes)."""
    weights, biases, above, top = layers
    networks, hidden, dim = weights.shape
    states = torch.addmm(biases.view(-1), x, weights.view(-1, dim).T).sigmoid()
    states = states.view(len(x), networks, hidden).transpose(0, 1)
    return torch.baddbmm(top[:, None], states, above.transpose(1, 2))


def _cross_entropy(torch: Any, layers: Tensors, x: Any, labels: Any) -> Any:
    """The sum of k networks' mean cross-entropies."""
    logits = _forward(torch, layers, x)
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.repeat(len(logits))) * len(logits)


def _gradients(torch: Any, loss: Callable[..., Any], layers: Tensors, x: Any, wanted: Any) -> Tensors:
    """Gradients of ``loss(torch, layers, x, wanted)``, by layer."""
    leaves = [layer.detach().requires_grad_() for layer in layers]
    with torch.enable_grad():
        return list(torch.autograd.grad(loss(torch, leaves, x, wanted), leaves))


def _rmsprop(layer: Any, gradient: Any, square: Any) -> None:
    """A step of torch's RMSprop with its default settings."""
    square.mul_(0.99).addcmul_(gradient, gradient, value=0.01)
    layer.addcdiv_(gradient, square.sqrt().add_(1e-8), value=-0.01)


def _related(
    torch: Any, parts: Tensors, soft: Any, dev_scores: npt.NDArray[np.float64], schedule: Schedule, seed: int
) -> Related:
    train, dev, test = parts
    grades = torch.arange(1, GRADES + 1, dtype=torch.float64)
    generator = torch.Generator().manual_seed(seed)
    torch.set_num_threads(1)  # of this thread
    with torch.no_grad():
        layers = initial(torch, [(train.shape[1], GRADES)], generator)
        adam = [(torch.zeros_like(layer), torch.zeros_like(layer)) for layer in layers]
        stop, best, epochs, steps = _Stop(), layers, 0, 0
        while not stop.now and epochs <= schedule.last:
            for _ in range(schedule.epochs):
                for rows in torch.randperm(len(train), generator=generator).split(schedule.batch):
                    steps += 1
                    gradients = _gradients(torch, _squared_error, layers, train[rows], soft[rows])
                    for layer, gradient, moments in zip(layers, gradients, adam, strict=True):
                        _adam(layer, gradient, *moments, steps)
            epochs += schedule.epochs
            expected = _probabilities(torch, layers, dev).double() @ grades
            if stop.better(pearson(expected.numpy(), dev_scores), epochs):
                best = [layer.clone() for layer in layers]
        scores = _probabilities(torch, best, test).double() @ grades
    log.info("seed %d: %d epochs, dev Pearson %.4f", seed, stop.epochs, stop.best)
    return Related(scores.numpy(), stop.epochs, float(stop.best if np.isfinite(stop.best) else np.nan))


def _probabilities(torch: Any, layers: Tensors, x: Any) -> Any:
    return torch.addmm(layers[1], x, layers[0].T).softmax(1)


def _squared_error(torch: Any, layers: Tensors, x: Any, wanted: Any) -> Any:
    """The mean squared difference between probabilities and soft labels."""
    return torch.nn.functional.mse_loss(_probabilities(torch, layers, x), wanted)


def _adam(layer: Any, gradient: Any, mean: Any, square: Any, steps: int) -> None:
    """A step of torch's Adam with its default settings."""
    mean.lerp_(gradient, 0.1)
    square.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
    scale = (square / (1 - 0.999**steps)).sqrt_().add_(1e-8)
    layer.addcdiv_(mean, scale, value=-0.001 / (1 - 0.9**steps))


def _run(torch: Any, job: Callable[[int], Any], seeds: Sequence[int]) -> list[Any]:
    """One thread per seed; torch's number of threads is restored afterwards."""
    threads = torch.get_num_threads()
    _choose_kernels(torch)
    try:
        with ThreadPoolExecutor(min(threads, len(seeds))) as pool:
            return list(pool.map(job, seeds))
    finally:
        torch.set_num_threads(threads)


def _choose_kernels(torch: Any) -> None:
    """Call each function once before several threads do.

    MKL chooses a function's code at its first call; where threads make that call together, one of them may run code of
    lower precision (pytorch/pytorch#188792).
    """
    with torch.no_grad():
        generator = torch.Generator().manual_seed(0)
        x, wanted = torch.ones(2, 2), torch.eye(2)
        layers = [layer[None] for layer in initial(torch, [(2, 2), (2, 2)], generator)]
        for layer, gradient in zip(layers, _gradients(torch, _cross_entropy, layers, x, wanted.argmax(1)), strict=True):
            _rmsprop(layer, gradient, torch.ones_like(layer))
        layers = initial(torch, [(2, 2)], generator)
        for layer, gradient in zip(layers, _gradients(torch, _squared_error, layers, x, wanted), strict=True):
            _adam(layer, gradient, torch.zeros_like(layer), torch.ones_like(layer), 1)


def _torch() -> Any:
    with from_extra("train", "the probe needs torch"):
        import torch
    return torch
