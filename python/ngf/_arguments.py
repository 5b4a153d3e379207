"""Checks of arguments. Messages name the argument, its value and the valid range."""

from __future__ import annotations

import math
import numbers
import operator
import re

import numpy as np

from . import _engine


def whole(value, what: str, least: int = 0, most: int = 2**63 - 1) -> int:
    """An integer within bounds."""
    if not isinstance(value, (bool, np.bool_)):
        try:
            number = operator.index(value)
        except TypeError:
            number = None
        if number is not None and least <= number <= most:
            return number
    limits = f"from {least} on" if most >= 2**31 else f"from {least} to {most}"
    raise ValueError(f"{what} is {value!r}; it must be a whole number {limits}")


def real(value, what: str) -> float:
    """A number; the engine checks its range."""
    if isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_)):
        return float(value)
    raise ValueError(f"{what} is {value!r}; it must be a number")


def flag(value, what: str) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise ValueError(f"{what} is {value!r}; it must be True or False")


def name(value, what: str) -> str:
    if isinstance(value, str):
        return value
    raise ValueError(f"{what} is {value!r}; it must be a name")


def taps_list(values, what: str = "taps") -> list[float]:
    taps = [real(value, "a tap") for value in values]
    if not taps or not all(map(math.isfinite, taps)):
        raise ValueError(f"{what} must be one or more finite numbers")
    return taps


def seed(value, what: str = "seed") -> int:
    return whole(value, what, 0, 2**64 - 1)


def hops(value, what: str = "max_hops") -> int:
    """A number of hops; None is all of them."""
    return _engine.all_hops if value is None else whole(value, what, 0, _engine.all_hops - 1)


def threads(value) -> int:
    """A number of threads; 0, which is all of them, for None."""
    return 0 if value is None else whole(value, "threads", 1, 4096)


def memory(value) -> int:
    """Bytes, from a number or a text such as "4G"; 0 for None."""
    if value is None:
        return 0
    count = _bytes_of(value) if isinstance(value, str) else value
    if isinstance(count, numbers.Real) and 1 <= count < 2**63:
        return int(count)
    raise ValueError(f'memory is {value!r}; it must be a number of bytes, or a text such as "4G"')


def _bytes_of(text: str) -> float:
    match = re.fullmatch(r"\s*([0-9.]+)\s*(?:([KMGT])(I?))?B?\s*", text.upper())
    if match is None:
        return math.nan
    number, prefix, binary = match.groups()
    try:
        return float(number) * (1024 if binary else 1000) ** (" KMGT".index(prefix) if prefix else 0)
    except ValueError:
        return math.nan
