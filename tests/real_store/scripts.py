"""How sessions go on: each script is a generator that yields the seconds until it continues."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence
from typing import Any

from stores import Store
from words import TOOLS

Script = Iterator[float]


class Scripts:
    """What all scripts share: pauses, tool calls, turns."""

    def __init__(self, store: Store) -> None:
        self.store, self.text, self.rng = store, store.text, store.rng

    def gap(self, low: float, high: float) -> float:
        """A pause in seconds, mostly short."""
        return low + (high - low) * self.rng.random() ** 3

    def topic(self) -> list[str]:
        return self.text.topic(self.rng)

    def name(self, title: str, stem: str) -> str:
        """The title in the first set of shapes; later ones get a rare word behind `stem`."""
        return f"{stem} {self.text.rare()}" if self.store.replicate else title

    def calls(self, topic: list[str], count: int) -> list[dict[str, Any]]:
        """Tool calls with plausible arguments."""
        out = []
        text = self.text
        for _ in range(count):
            name = self.rng.choice(TOOLS)
            arguments = {
                "terminal": {"command": f"{text.word()} --{text.word()} {text.path(topic)}"},
                "read_file": {"path": text.path(topic), "offset": self.rng.randrange(1, 400), "limit": 200},
                "patch": {
                    "path": text.path(topic),
                    "old_string": text.code(topic, 2),
                    "new_string": text.code(topic, 3),
                },
                "write_file": {"path": text.path(topic), "content": text.code(topic, 12)},
            }.get(name, {"query": text.prose(5, topic)})
            out.append(tool_call(f"call_{text.hex(12)}", name, json.dumps(arguments)))
        return out

    def tool_size(self) -> int:
        return int(min(60_000, max(60, self.rng.lognormvariate(0, 1.15) * self.store.tool_bytes * 0.52)))

    def turn(
        self,
        sid: str,
        topic: list[str],
        tools: int = 1,
        text: str | None = None,
        reply: str | None = None,
        fast: bool = False,
    ) -> Script:
        """The person, then calls and their results `tools` times, then the answer."""
        store, rng = self.store, self.rng
        store.say(sid, "user", text if text is not None else self.text.question(topic), fast=fast)
        for _ in range(tools):
            yield self.gap(3, 60)
            calls = self.calls(topic, rng.choice((1, 1, 1, 2, 2, 3, 5)))
            content = self.text.prose(rng.randrange(4, 25), topic) if rng.random() < 0.4 else ""
            reasoning = self.text.prose(rng.randrange(10, 60), topic) if rng.random() < 0.3 else None
            said = {"tool_calls": calls, "finish_reason": "tool_calls", "reasoning": reasoning}
            store.say(sid, "assistant", content, **said, fast=fast)
            for call in calls:
                yield self.gap(0.2, 20)
                output = self.text.tool_output(self.tool_size(), topic)
                store.say(sid, "tool", output, tool_name=call["function"]["name"], tool_call_id=call["id"], fast=fast)
        yield self.gap(2, 40)
        answer = reply if reply is not None else self.text.answer(topic)
        store.say(sid, "assistant", answer, finish_reason="stop", fast=fast, token_count=rng.randrange(20, 900))

    def turns(
        self,
        sid: str,
        topic: list[str],
        count: int,
        tools: Sequence[int] = (0, 1, 1, 2),
        pause: tuple[float, float] = (20, 1200),
    ) -> Script:
        for _ in range(count):
            yield from self.turn(sid, topic, self.rng.choice(tools))
            yield self.gap(*pause)

    def up_to(self, script: Script, left: int, pace: float = 1.0) -> Generator[float, None, int]:
        """Run `script` until `left` messages came of it; returns how many are still wanted.

        Other sessions write meanwhile, so only what each step of this one adds counts.
        """
        before = self.store.rows
        for pause in script:
            left -= self.store.rows - before
            if left <= 0:
                return left
            yield pause * pace
            before = self.store.rows
        return left - (self.store.rows - before)


def tool_call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    """A call as providers write it."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
