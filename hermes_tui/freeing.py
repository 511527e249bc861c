"""Memory that is free and that the C library keeps."""

from __future__ import annotations

import sys


def give_back() -> bool:
    """Give memory that is free to the system. The C library of most Linuxes keeps it instead, for every thread that
    ever had some: after thousands of searches three quarters of it. False where there is no such function."""
    if sys.platform != "linux":
        return False
    import ctypes

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    return trim is not None
