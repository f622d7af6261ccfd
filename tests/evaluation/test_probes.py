"""Probes on frozen vectors, against plain torch, network by network."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from psp.evaluation import probes
from psp.evaluation.probes import GRADES, L2, TENACITY, Schedule

torch = pytest.importorskip("torch")

SHORT = Schedule(batch=16, epochs=2, last=30)
SIZES = (90, 41, 50)


def texts(seed: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Vectors of three parts, whose labels are seen in them with some noise."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((3, 12))
    labels = [np.concatenate([[0, 1, 2], rng.integers(0, 3, size - 3)]) for size in SIZES]
    return [centres[part] + 1.5 * rng.standard_normal((len(part), 12)) for part in labels], labels


def pairs(seed: int, lowest: float = 0.0) -> tuple[list[np.ndarray], list[np.ndarray]]:
    rng = np.random.default_rng(seed)
    features = [rng.standard_normal((size, 12)) for size in SIZES]
    return features, [np.clip(2.5 + part[:, 0] + 0.3 * part[:, 1] ** 2, lowest, 5) for part in features]


class Reference:
    """One network of torch's own layers, trained by its own optimiser as SentEval's loop does."""

    def __init__(self, layers, loss, optimiser, shapes, seed: int, **options) -> None:
        self.generator = torch.Generator().manual_seed(seed)
        weights = probes.initial(torch, shapes, self.generator)
        linear = [layer for layer in layers if isinstance(layer, torch.nn.Linear)]
        for layer, weight, bias in zip(linear, weights[::2], weights[1::2], strict=True):
            layer.weight.data, layer.bias.data = weight, bias
        self.model, self.loss = torch.nn.Sequential(*layers), loss
        self.optimiser = optimiser(self.model.parameters(), **options)

    def fit(self, x, y, check, schedule: Schedule) -> float:
        best, failures, epochs, state = -np.inf, 0, 0, None
        while epochs <= schedule.last:
            for _ in range(schedule.epochs):
                order = torch.randperm(len(x), generator=self.generator)
                for start in range(0, len(x), schedule.batch):
                    rows = order[start : start + schedule.batch]
                    self.optimiser.zero_grad()
                    self.loss(self.model(x[rows]), y[rows]).backward()
                    self.optimiser.step()
            epochs += schedule.epochs
            with torch.no_grad():
                value = check(self.model)
            if value > best:
                best, state, self.epochs = value, copy.deepcopy(self.model.state_dict()), epochs
            else:
                if failures >= TENACITY:
                    break
                failures += 1
        self.model.load_state_dict(state)
        return best


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 1111])
def test_the_classifier_is_torchs_own_of_each_l2_and_the_best_of_them(seed: int) -> None:
    features, labels = texts(seed)
    train, dev, test = (torch.from_numpy(part).float() for part in features)
    wanted = [torch.from_numpy(part) for part in labels]
    (found,) = probes.classify(features, labels[:2], hidden=5, seeds=[seed], schedule=SHORT)
    references = []
    for l2 in L2:
        layers = [torch.nn.Linear(12, 5), torch.nn.Sigmoid(), torch.nn.Linear(5, 3)]
        shapes, loss = [(12, 5), (5, 3)], torch.nn.CrossEntropyLoss()
        one = Reference(layers, loss, torch.optim.RMSprop, shapes, seed, weight_decay=l2)
        score = one.fit(train, wanted[0], lambda m: float((m(dev).argmax(1) == wanted[1]).double().mean()), SHORT)
        references.append((score, l2, one))
    score, l2, best = max(references, key=lambda one: one[0])
    assert (found.dev_accuracy, found.l2, found.epochs) == (pytest.approx(score), l2, best.epochs)
    assert (found.labels == best.model(test).argmax(1).numpy()).all()


@pytest.mark.parametrize("seed", [1, 1111])
def test_the_regression_is_torchs_own(seed: int) -> None:
    features, scores = pairs(seed)
    train, dev, test = (torch.from_numpy(part).float() for part in features)
    (found,) = probes.relate(features, scores[:2], seeds=[seed], schedule=SHORT)
    layers = [torch.nn.Linear(12, GRADES), torch.nn.Softmax(dim=1)]
    one = Reference(layers, torch.nn.MSELoss(), torch.optim.Adam, [(12, GRADES)], seed)
    grades = np.arange(1, 6)

    def pearson(model) -> float:
        return float(np.corrcoef(model(dev).numpy() @ grades, scores[1])[0, 1])

    best = one.fit(train, torch.from_numpy(probes.soft_labels(scores[0])), pearson, SHORT)
    assert (found.dev_pearson, found.epochs) == (pytest.approx(best, abs=1e-5), one.epochs)
    np.testing.assert_allclose(found.scores, one.model(test).detach().numpy() @ grades, atol=1e-5)


def test_soft_labels_are_tais() -> None:
    def plain(score: float) -> list[float]:
        """The definition, grade by grade: the score lies between two, each weighs as it is near."""
        below = int(np.floor(score))
        return [
            score - below if grade == below + 1 else below - score + 1 if grade == below else 0.0
            for grade in range(1, GRADES + 1)
        ]

    scores = np.concatenate([np.linspace(0, 5, 101), np.random.default_rng(1).uniform(0, 5, 200)])
    found = probes.soft_labels(scores)
    np.testing.assert_allclose(found, [plain(score) for score in scores], atol=1e-6)
    proper = scores >= 1
    np.testing.assert_allclose(found.sum(1)[proper], 1, atol=1e-6)
    np.testing.assert_allclose((found @ np.arange(1, 6))[proper], scores[proper], atol=1e-5)
    # As published: no distribution, but the score as the weight of 1.
    np.testing.assert_allclose(found.sum(1)[~proper], scores[~proper], atol=1e-6)


def test_a_seed_gives_the_same_whatever_the_threads_and_its_neighbours() -> None:
    features, labels = texts(3)
    before = torch.get_num_threads()
    try:
        found = []
        for threads in (1, 2):
            torch.set_num_threads(threads)
            found.append(probes.classify(features, labels[:2], hidden=5, seeds=[1, 2], schedule=SHORT))
            assert torch.get_num_threads() == threads
        found.append(probes.classify(features, labels[:2], hidden=5, seeds=[2], schedule=SHORT))
    finally:
        torch.set_num_threads(before)
    for one, other in ((found[0][0], found[1][0]), (found[0][1], found[1][1]), (found[0][1], found[2][0])):
        assert (one.labels == other.labels).all() and one[1:] == other[1:]


def test_vectors_that_say_nothing_are_no_error() -> None:
    features, scores = pairs(1)
    same = [np.ones_like(part) for part in features]
    (found,) = probes.relate(same, scores[:2], seeds=[1], schedule=SHORT)
    assert np.isnan(found.dev_pearson) and np.ptp(found.scores) == 0
    labels = texts(1)[1]
    (classified,) = probes.classify(same, labels[:2], hidden=2, seeds=[1], schedule=SHORT)
    assert len(set(classified.labels)) == 1


def test_a_check_without_a_value_does_not_hide_later_ones() -> None:
    stop = probes._Stop()
    assert [stop.better(value, 10 * n) for n, value in enumerate([np.nan, 0.5, np.nan, 0.4, 0.6], 1)] == [
        True,
        True,
        False,
        False,
        True,
    ]
    assert (stop.best, stop.epochs, stop.failures, stop.now) == (0.6, 50, 2, False)
    for _ in range(TENACITY - 1):
        assert not stop.better(0.1, 60)
    assert stop.now
