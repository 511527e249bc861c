"""Time and uuids that a seed decides."""

from __future__ import annotations

import os
import random
import time
import uuid
from datetime import UTC, datetime

os.environ["TZ"] = "UTC"
time.tzset()


class Clock:
    """Stands in for `time.time`: set by the scheduler, a microsecond further at each call."""

    def __init__(self, now: float) -> None:
        self.now = now
        self.real = time.time

    def __call__(self) -> float:
        self.now = round(self.now + 1e-6, 6)
        return self.now

    def day(self) -> datetime:
        """The present as a date and time; does not move the clock."""
        return datetime.fromtimestamp(self.now, UTC)

    def install(self) -> None:
        time.time = self

    def remove(self) -> None:
        time.time = self.real


def seed_uuids(seed: int) -> None:
    """uuid4 from a seeded source; must run before Hermes binds the name."""
    rng = random.Random(f"uuid-{seed}")
    uuid.uuid4 = lambda: uuid.UUID(int=rng.getrandbits(128), version=4)
