"""Compute without pause and never look at any store, until the input is closed."""

import os
import sys
import threading


def wait_for_the_end() -> None:
    sys.stdin.read()
    os._exit(0)


threading.Thread(target=wait_for_the_end, daemon=True).start()
print("begun", flush=True)
while True:
    sum(range(1_000))
