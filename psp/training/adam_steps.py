"""The compiled loops of deferred Adam (:mod:`psp.training.optimiser`): a step, and the steps that rows have missed."""

from __future__ import annotations

import math

import numba

from psp.core.jit import compiled


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
