"""Adam for embedding tables: exactly dense Adam, without touching the whole table at every step.

A mini-batch uses few rows of the table; the gradient of all others is zero. Dense Adam updates those too: their moments
decay, and the first moment still moves them. :class:`DeferredAdam` postpones that work until a row is used again, and
then makes up for all missed steps at once; :class:`DenseAdam` is torch's fused Adam, the fast path on a GPU.

Both take the gradient as produced by ``torch.nn.Embedding(sparse=True)``: a coalesced sparse tensor of the rows in use.
The training loop calls :meth:`prepare` before it reads rows, and never reads a row that was not prepared.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numba
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from psp.core.jit import compiled

WINDOW = 1024  # steps after which all rows are brought up to date, whatever the caller does
ORDER = 10  # terms of the series: a step is as fast as with 6, and they suffice from about step 100 on, not 500
ACCURACY = 1e-8  # relative error of a caught-up move: below float32's rounding
SWEEP_EVERY = 100  # steps; a sweep takes about as long as two
SWEEP_ROWS = 2048
# Moments below these are negligible: against eps = 1e-8, the first moves a value by 1e-22 learning rates, and the root
# of the second is 1e-18. Left alone, they become subnormal and stay so (0.9 of the smallest rounds to itself), which
# makes a step 13 times as slow.
NOTHING = {"exp_avg": 1e-30, "exp_avg_sq": 1e-36}


class _Untraced(torch.optim.Optimizer):
    """Torch's optimiser, without its import of torch's compiler at the first call, which only prevents tracing.

    That takes 1.5 s of one core at the start of each training; nothing here is compiled by torch.
    """

    add_param_group = inspect.unwrap(torch.optim.Optimizer.add_param_group)
    load_state_dict = inspect.unwrap(torch.optim.Optimizer.load_state_dict)
    state_dict = inspect.unwrap(torch.optim.Optimizer.state_dict)
    zero_grad = inspect.unwrap(torch.optim.Optimizer.zero_grad)


class DeferredAdam(_Untraced):
    r"""Dense Adam on the CPU, at the cost of only the rows in use.

    A row last touched at step :math:`\tau`, with moments m and v, moves in the steps :math:`u = \tau+1 \dots t` without
    a gradient by

    .. math:: -m \sum_u \frac{A_u}{\sqrt v\, c_u + \epsilon}, \quad
        A_u = \frac{lr_u \beta_1^{u-\tau}}{1-\beta_1^u}, \quad c_u = \sqrt{\frac{\beta_2^{u-\tau}}{1-\beta_2^u}}.

    eps cannot be neglected: in our training :math:`\sqrt v` is itself about 1e-8. But c_u hardly changes while
    :math:`\beta_1^{u-\tau}` decays. With :math:`C = c_{\tau+1}`, :math:`x_u = 1 - c_u/C`,
    :math:`D = \sqrt v\,C + \epsilon` and :math:`q = \sqrt v\,C / D`, each term is
    :math:`A_u / (D (1 - q x_u))`, a geometric series, so the sum is a polynomial in q,

    .. math:: \frac1D \sum_{p} q^p M_p, \qquad M_p = \sum_u A_u x_u^p ,

    whose coefficients depend only on :math:`\tau` and t and are updated from step to step. A row then costs one root
    and one division per element, however many steps it missed. The omitted terms are at most
    :math:`M_P / (1 - x_t)`, since 0 <= q, x < 1: where that exceeds :data:`ACCURACY` times M_0 (in the first hundred
    steps of training, where the bias correction changes fast), the steps are replayed one by one.

    Args:
        params: contiguous two-dimensional tensors on the CPU, float32 or float64; or groups of them, as in torch.
        lr: learning rate; ``param_groups[i]["lr"]`` may change at every step, and missed steps use their own.
        betas, eps: as in ``torch.optim.Adam``.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> None:
        if not (lr >= 0 and eps > 0 and all(0 < beta < 1 for beta in betas)):
            raise ValueError(f"lr {lr}, betas {betas}, eps {eps}: lr >= 0, 0 < beta < 1 and eps > 0 are needed")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps})
        for group in self.param_groups:
            for table in group["params"]:
                if table.device.type != "cpu" or not table.is_floating_point() or not table.is_contiguous():
                    raise ValueError("DeferredAdam takes contiguous tables of floats on the CPU")
                if table.dim() != 2:
                    raise ValueError(f"DeferredAdam takes tables of rows; this tensor has {table.dim()} dimensions")
                self.state[table] = {
                    "step": 0,
                    "exp_avg": torch.zeros_like(table, requires_grad=False),
                    "exp_avg_sq": torch.zeros_like(table, requires_grad=False),
                }
        self._windows: dict[Tensor, _Window] = {}

    @torch.no_grad()
    def prepare(self, table: Tensor, rows: npt.NDArray[np.int64] | None) -> None:
        """Catch up on the steps that these rows missed; distinct row numbers, or None for all rows."""
        self._window(table).catch_up(rows)

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]  # torch's may take a function that computes the loss again
        """One step of Adam for every parameter that has a gradient, sparse or dense."""
        for group in self.param_groups:
            for table in group["params"]:
                if table.grad is None:
                    continue
                rows, gradient = rows_and_values(table.grad)
                self._window(table).step(rows.numpy(), gradient.contiguous().numpy(), float(group["lr"]))

    def state_dict(self) -> dict[str, Any]:
        """As for torch's Adam; all rows of all tables are brought up to date first."""
        for group in self.param_groups:
            for table in group["params"]:
                self.prepare(table, None)
                self.state[table]["step"] = self._window(table).now
        return super().state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state; the caller restores the tables themselves."""
        super().load_state_dict(state_dict)
        self._windows.clear()

    def _window(self, table: Tensor) -> _Window:
        if table not in self._windows:
            group = next(group for group in self.param_groups if any(table is other for other in group["params"]))
            state = self.state[table]
            self._windows[table] = _Window(
                table.detach().numpy(),
                state["exp_avg"].numpy(),
                state["exp_avg_sq"].numpy(),
                int(state["step"]),
                group["betas"],
                group["eps"],
            )
        return self._windows[table]


class _Window:
    """One table, its moments, and the updates that a row last touched at a given step has missed."""

    def __init__(
        self,
        weight: npt.NDArray[Any],
        first: npt.NDArray[Any],
        second: npt.NDArray[Any],
        step: int,
        betas: tuple[float, float],
        eps: float,
    ) -> None:
        self._beta1, self._beta2, self._eps = float(betas[0]), float(betas[1]), eps
        self._number = weight.dtype.type  # all loops compute in the table's precision
        self.now = self._base = step
        # The step at which each row was last brought up to date. Rows whose moments are zero miss nothing.
        self._last = np.full(len(weight), step, dtype=np.int64)
        self._moved = np.zeros(len(weight), dtype=np.bool_) if step == 0 else np.ones(len(weight), dtype=np.bool_)
        self._rows = weight, first, second, self._last, self._moved
        # By step - base: M_p and M_ORDER of rows last touched then; C; x of the latest step; and for direct replay, A
        # and c without the powers of the betas, so that they depend only on the step.
        self._sums = np.zeros((WINDOW + 1, ORDER + 1))
        self._reference = np.zeros(WINDOW + 1)
        self._latest = np.zeros(WINDOW + 1)
        self._rate = np.zeros(WINDOW + 1)
        self._scale = np.zeros(WINDOW + 1)
        decays = (beta ** np.arange(WINDOW + 1) for beta in (self._beta1, self._beta2))
        self._steps = self._rate, self._scale, *decays

    def catch_up(self, rows: npt.NDArray[np.int64] | None) -> None:
        if self.now == self._base:
            return
        everything = rows is None
        if rows is None:
            rows = np.flatnonzero(self._moved & (self._last < self.now))
        elif (self._last[rows] == self.now).all():
            return  # already prepared, before they were read
        count = self.now - self._base + 1
        with np.errstate(over="ignore"):
            sums = self._sums[:count, :ORDER].astype(self._number)
        # A bound on the terms that the series omits; 1 - x = c_t / C > 0.
        left_out = self._sums[:count, ORDER] / (1.0 - self._latest[:count])
        series = left_out <= ACCURACY * self._sums[:count, 0]
        reference = self._reference[:count].astype(self._number)
        limits = [self._number(value) for value in (self._eps, NOTHING["exp_avg"], NOTHING["exp_avg_sq"])]
        catch_up_rows(rows, *self._rows, self.now, self._base, series, sums, reference, *self._steps, *limits)
        if everything:
            self._base = self.now

    def step(self, rows: npt.NDArray[np.int64], gradient: npt.NDArray[Any], learning_rate: float) -> None:
        if self.now - self._base == WINDOW:
            self.catch_up(None)
        self.catch_up(rows)  # nothing to do if the caller has prepared them
        self.now += 1
        correction1, correction2 = 1 - self._beta1**self.now, 1 - self._beta2**self.now
        self._rate[self.now - self._base] = learning_rate / correction1
        self._scale[self.now - self._base] = 1 / math.sqrt(correction2)
        advance(self.now - self._base, self._sums, self._reference, self._latest, *self._steps)
        with np.errstate(over="ignore"):  # a learning rate of 1e38: the training loop detects the divergence
            step_scale = self._number(learning_rate / correction1)
        rest1, rest2 = self._number(1 - self._beta1), self._number(1 - self._beta2)
        scale, eps = self._number(1 / math.sqrt(correction2)), self._number(self._eps)
        step_rows(rows, gradient, *self._rows, self.now, rest1, rest2, step_scale, scale, eps)


class DenseAdam(torch.optim.Adam):
    """torch's fused Adam over whole tables, given the same sparse gradients: the fast path on a GPU.

    The gradient buffer is as large as the table and is reused: only the rows of the step are reset to zero. The moments
    of rarely used rows are set to zero before they become subnormal; see :data:`NOTHING`.
    (torch.set_flush_denormal would not suffice: it affects only threads started after it.)

    Args:
        params: as for torch's.
        clip: the largest norm of all gradients together, which are scaled down to it; None = no limit.
        settings: of torch's Adam.
    """

    def __init__(self, params: Iterable[Any], clip: float | None = None, **settings: Any) -> None:
        super().__init__(params, **settings, fused=True)
        self._clip = clip
        self._buffers: dict[Tensor, Tensor] = {}
        self._steps = 0

    def prepare(self, table: Tensor, rows: npt.NDArray[np.int64] | None) -> None:
        """Nothing to do: every row is updated at every step."""

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        """One step of Adam for every parameter that has a gradient, sparse or dense."""
        if self._clip is not None:
            tables = (table for group in self.param_groups for table in group["params"])
            clip_gradient([table.grad for table in tables if table.grad is not None], self._clip)
        scattered = []
        for group in self.param_groups:
            for table in group["params"]:
                if table.grad is not None and table.grad.is_sparse:
                    if table not in self._buffers:
                        self._buffers[table] = torch.zeros_like(table)
                    buffer = self._buffers[table]
                    rows, values = rows_and_values(table.grad)
                    buffer.index_copy_(0, rows, values)
                    table.grad = buffer
                    scattered.append((table, rows))
        super().step()
        for table, rows in scattered:
            table.grad = None
            self._buffers[table].index_fill_(0, rows, 0.0)
        self._steps += 1
        if self._steps % SWEEP_EVERY == 0:
            self._sweep()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state; the next sweep comes when it would have come."""
        super().load_state_dict(state_dict)
        self._steps = max((int(state["step"]) for state in self.state.values()), default=0)

    def _sweep(self) -> None:
        for state in self.state.values():
            for name, nothing in NOTHING.items():
                for part in torch.atleast_1d(state[name]).split(SWEEP_ROWS):
                    part.masked_fill_(part.abs() < nothing, 0.0)


class JointOptimiser:
    """Several optimisers as one, each with its own parameters."""

    def __init__(self, parts: Sequence[RowOptimiser]) -> None:
        self._parts = list(parts)

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """The groups of all parts."""
        return [group for part in self._parts for group in part.param_groups]

    def prepare(self, table: Tensor, rows: npt.NDArray[np.int64] | None) -> None:
        """Bring rows of a parameter up to date."""
        for part in self._parts:
            if any(table is other for group in part.param_groups for other in group["params"]):
                part.prepare(table, rows)

    def step(self) -> None:
        """Take one step with all parts."""
        for part in self._parts:
            part.step()

    def zero_grad(self) -> None:
        """Reset the gradients."""
        for part in self._parts:
            part.zero_grad()

    def state_dict(self) -> dict[str, Any]:
        """As for torch's optimisers, with the parameters numbered consecutively over all parts."""
        state: dict[int, Any] = {}
        groups: list[dict[str, Any]] = []
        first = 0
        for part in self._parts:
            own = part.state_dict()
            state |= {first + number: values for number, values in own["state"].items()}
            own_groups = own["param_groups"]
            groups += [{**group, "params": [first + number for number in group["params"]]} for group in own_groups]
            first += sum(len(group["params"]) for group in own_groups)
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state."""
        groups = iter(state_dict["param_groups"])
        for part in self._parts:
            own = [next(groups) for _ in part.param_groups]
            numbers = {number for group in own for number in group["params"]}
            state = {number: values for number, values in state_dict["state"].items() if number in numbers}
            part.load_state_dict({"state": state, "param_groups": own})


#: What trains an encoder; it may defer updates of rows without a gradient, until it is told to ``prepare`` them.
RowOptimiser: TypeAlias = DeferredAdam | DenseAdam | JointOptimiser


def rows_and_values(gradient: Tensor) -> tuple[Tensor, Tensor]:
    """The distinct rows of a sparse gradient, or all rows of a dense one, int64 (n,), and their values (n, dim)."""
    if not gradient.is_sparse:
        return torch.arange(len(gradient), device=gradient.device), gradient
    # Autograd drops the flag that a gradient is coalesced. Ascending rows prove the same; coalescing takes 2 ms.
    if not (gradient._indices()[0].diff() > 0).all():
        gradient = gradient.coalesce()
    return gradient._indices()[0], gradient._values()


def clip_gradient(gradients: Sequence[Tensor], largest: float) -> float:
    """Scale gradients in place so that their total norm is at most ``largest``; return the norm before.

    A sparse gradient must have distinct rows. Its missing rows are zero, so its norm is that of the dense gradient.
    """
    values = [gradient._values() if gradient.is_sparse else gradient for gradient in gradients]
    norm = math.hypot(*(float(torch.linalg.vector_norm(value)) for value in values))
    if norm > largest:
        for value in values:
            value.mul_(largest / norm)
    return norm


@compiled(parallel=False)
def advance(now, sums, reference, latest, rate, scale, decay1, decay2):  # type: ignore[no-untyped-def]
    """Add the step ``now`` (counted from the window's base) to what rows last touched before it have missed."""
    for last in range(now):
        gap = now - last
        amount = rate[now] * decay1[gap]
        c = math.sqrt(decay2[gap]) * scale[now]
        if gap == 1:
            reference[last] = c
            sums[last, :] = 0.0
        x = 1.0 - c / reference[last]
        latest[last] = x
        for order in range(sums.shape[1]):
            sums[last, order] += amount
            amount *= x


@compiled()
def catch_up_rows(  # type: ignore[no-untyped-def]
    rows, weight, first, second, last, moved, now, base, series, sums, reference, rate, scale, decay1, decay2, eps,
    nothing1, nothing2,
):  # fmt: skip
    one, zero = eps / eps, eps - eps
    number = weight.dtype.type
    for i in numba.prange(len(rows)):
        row = rows[i]
        since = last[row]
        last[row] = now
        if since == now or not moved[row]:
            continue
        gap = now - since
        place = since - base
        w, m, v = weight[row], first[row], second[row]
        decay_m, decay_v = number(decay1[gap]), number(decay2[gap])
        # Compared before they decay, so that no subnormal number is ever produced.
        smallest_m, smallest_v = nothing1 / decay_m, nothing2 / decay_v
        if series[place]:
            c = reference[place]
            m0, m1, m2, m3, m4, m5, m6, m7, m8, m9 = sums[place]
            for d in range(len(w)):
                inverse = one / (math.sqrt(v[d]) * c + eps)
                q = one - eps * inverse
                high = ((((m9 * q + m8) * q + m7) * q + m6) * q + m5) * q + m4
                w[d] -= m[d] * inverse * ((((high * q + m3) * q + m2) * q + m1) * q + m0)
        else:
            for missed in range(1, gap + 1):
                amount = number(rate[place + missed] * decay1[missed])
                c = number(scale[place + missed] * math.sqrt(decay2[missed]))
                for d in range(len(w)):
                    w[d] -= m[d] * amount / (math.sqrt(v[d]) * c + eps)
        for d in range(len(w)):
            m[d] = m[d] * decay_m if abs(m[d]) > smallest_m else zero
            v[d] = v[d] * decay_v if v[d] > smallest_v else zero


@compiled()
def step_rows(  # type: ignore[no-untyped-def]
    rows, gradient, weight, first, second, last, moved, now, rest1, rest2, rate, scale, eps
):
    for i in numba.prange(len(rows)):
        row = rows[i]
        g, w, m, v = gradient[i], weight[row], first[row], second[row]
        for d in range(len(w)):
            m[d] += (g[d] - m[d]) * rest1
            v[d] += (g[d] * g[d] - v[d]) * rest2
            w[d] -= rate * m[d] / (math.sqrt(v[d]) * scale + eps)
        last[row] = now
        moved[row] = True
