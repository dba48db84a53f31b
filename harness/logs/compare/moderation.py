"""Variances of a few runs each, drawn towards what variances are in general (Smyth 2004, "limma"); pure.

Three runs show little of how much one line varies. Hundreds of lines show how much lines vary, and that is worth some
more runs to each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Prior:
    """A scaled inverse chi-square distribution of variances."""

    variance: float
    dof: float


def fit(squares: Array, dofs: Array) -> Prior:
    """Fit the distribution of variances by the moments of their logarithms (Smyth 2004, section 6.2).

    What never varies has no logarithm and stays out, so that the prior is that of what does.
    """
    vary = squares > 1e-9
    if vary.sum() < 3:
        return Prior(1.0, 1.0)  # hardly anything is known: believe in large variances
    half = dofs[vary] / 2
    centred = np.log(squares[vary] / dofs[vary]) - special.digamma(half) + np.log(half)
    excess = float(centred.var(ddof=1) - special.polygamma(1, half).mean())
    half_dof = _trigamma_inverse(excess) if excess > 0 else 1e6
    return Prior(float(np.exp(centred.mean() + special.digamma(half_dof) - np.log(half_dof))), 2 * half_dof)


def _trigamma_inverse(value: float) -> float:
    """Return x with trigamma(x) = value > 0, by Newton's method on the reciprocal, which is nearly a line."""
    x = 0.5 + 1 / value
    for _ in range(50):
        trigamma = float(special.polygamma(1, x))
        step = trigamma * (1 - trigamma / value) / float(special.polygamma(2, x))
        x += step
        if -step / x < 1e-8:
            break
    return x


def moderated(squares: Array, dofs: Array, prior: Prior) -> tuple[Array, Array]:
    """Return variances drawn towards the prior, and their degrees of freedom."""
    total = prior.dof + dofs
    return (prior.dof * prior.variance + squares) / total, total
