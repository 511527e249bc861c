"""Shapes of content: text that breaks renderers, CJK, huge output, planted words."""

from __future__ import annotations

import json

from nasty import NASTY_MESSAGES
from places import PLACES
from scripts import Script, Scripts, tool_call

_CJK = (
    ("user", "我们下周去广西桂林，看漓江。请帮我做一个旅行计划。"),
    ("assistant", "好的。桂林三日游：第一天漓江游船，第二天阳朔，第三天龙脊梯田。"),
    ("user", "修改youer服务端的配置，然后重启。"),
    ("assistant", "已修改 youer 之外的服务端配置，日志里没有错误。"),
    ("user", "東京のデータベース検索が遅いです。設定を確認してください。"),
    ("assistant", "データベースの索引を再構築しました。検索は速くなりました。"),
    ("user", "서울 회의 일정 확인하고 데이터베이스 검색 설정을 업데이트해 주세요."),
    ("assistant", "회의 일정을 확인했고, 검색 설정을 업데이트했습니다."),
    ("user", "数据库 deploy 失败了，请检查 atlas-gateway 的日志"),
    ("assistant", "deploy 脚本缺少数据库权限，已修复。"),
    ("user", "桜"),
    ("assistant", "カタカナ ﾊﾝｶｸ ひらがな 漢字 全角ＡＢＣ"),
    ("user", "𠮷野家で会いましょう。㐂寿 𪚥"),
    ("assistant", "了解。"),
)
_PUNCTUATED = (
    "Set chat-send to true in my-app.config.ts, see P2.2 and foo_bar_baz.",
    "TODO: fix state.db locking (v0.22.2), call libfoo.so.1 first",
    "Email user@example.com about C++ and C# builds, ticket #1234, path /etc/nginx/nginx.conf",
    "snake_case_name and kebab-case-name and dotted.name.here",
    "concatenate the catalogue with cat",
    "deploying deployed deployment redeploy",
    "NOT and OR and AND are just words here, NEAR the end",
    "the price is 100% or 3*4 = 12, a_b%c",
    "Sarah prefers the standup meeting scheduled on Thursday mornings",
)


class Contents(Scripts):
    """Sessions whose messages are the point."""

    def simple(
        self, shape: str, source: str, needle: str, text: str, title: str | None = None, hidden: bool = False
    ) -> Script:
        """A session with one planted word."""
        store = self.store
        topic = self.topic()
        sid = store.create(source)
        store.shapes[shape].append(sid)
        if title:
            store.title(sid, self.name(title, title))
        store.plant(needle, sid, "user", text.replace(needle, "{}"))
        yield self.gap(3, 9)
        store.say(sid, "assistant", self.text.answer(topic), finish_reason="stop")
        yield from self.turns(sid, topic, 3)
        store.usage(sid, 3)
        store.activity(sid)
        store.end(sid, "agent_close")
        if hidden and store.has("set_session_hidden"):
            store.db.set_session_hidden(sid, True)

    def empty(self) -> Script:
        """A session without a message."""
        sid = self.store.create("cli", place=PLACES[4])
        self.store.shapes["empty"].append(sid)
        yield self.gap(5, 9)
        self.store.end(sid, "user_exit")

    def nasty(self) -> Script:
        """Every kind of message that breaks a careless program."""
        store = self.store
        sid = store.create("cli", place=PLACES[6])
        store.shapes["nasty"].append(sid)
        store.title(sid, self.name("Rendering torture [bold]x[/] 🧨", "Rendering"))
        for label, role, content in NASTY_MESSAGES:
            columns = {}
            if role == "tool":
                call_id = f"call_{label}"
                call = tool_call(call_id, "terminal", json.dumps({"command": f"cat {label}"}))
                store.say(sid, "assistant", "", tool_calls=[call])
                yield 0.5
                columns = {"tool_call_id": call_id, "tool_name": "terminal"}
            store.needle(label, sid, store.say(sid, role, content, **columns))
            yield self.gap(1, 9)
        yield from self._reasoning(sid)
        yield from self._odd_calls(sid)
        self._kinds(sid)
        store.activity(sid)

    def _reasoning(self, sid: str) -> Script:
        """Reasoning without an answer."""
        store = self.store
        store.say(sid, "user", "Think about it first.")
        word = self.text.rare() if store.replicate else "reasonarium"
        thought = f"Only the reasoning mentions {word} here."
        details = [{"type": "reasoning.text", "text": "step one"}]
        said = {"reasoning": thought, "reasoning_content": thought, "reasoning_details": details}
        store.needle("reasonarium", sid, store.say(sid, "assistant", "", **said, finish_reason="stop"))
        yield 1.0
        store.say(sid, "assistant", None, reasoning="A NULL content row.")
        yield 1.0

    def _odd_calls(self, sid: str) -> Script:
        """Several calls without text, broken arguments, a result without a call."""
        store = self.store
        calls = self.calls(self.topic(), 6)
        word = self.text.rare() if store.replicate else "argzilla"
        calls[0]["function"]["arguments"] = json.dumps({"query": word})
        calls[1]["function"]["arguments"] = "{not json"
        mid = store.say(sid, "assistant", "", tool_calls=calls, finish_reason="tool_calls")
        store.needle("argzilla", sid, mid)
        for call in calls:
            yield 0.5
            name = call["function"]["name"]
            store.say(sid, "tool", f"ok {call['id']}", tool_name=name, tool_call_id=call["id"])
        orphan = "an orphan result whose call is unknown"
        store.say(sid, "tool", orphan, tool_name="terminal", tool_call_id="call_missing")

    def _kinds(self, sid: str) -> None:
        """Rows that are no words of a person or of the assistant."""
        store = self.store
        store.say(sid, "system", "A system row inside the transcript.")
        store.say(sid, "session_meta", json.dumps({"tools": ["terminal"], "model": "hermes-4-405b"}))
        store.plant("scaffoldium", sid, "user", "Internal {} nudge the person never saw.", display_kind="hidden")
        store.plant("steerfish", sid, "user", "[steer] prefer the {} approach.", display_kind="steer")
        store.say(sid, "assistant", "", display_kind="hidden", api_content="(interrupted)")
        for text, kind, metadata in (
            ("Model switched to gpt-5.2-codex.", "model_switch", {"model": "gpt-5.2-codex"}),
            ("Background job finished.", "async_delegation_complete", {"delegation_id": "d-1", "task_count": 2}),
        ):
            store.say(sid, "user", text, display_kind=kind, display_metadata=metadata)
        store.say(sid, "user", "observed only", observed=True)
        store.say(sid, "user", "with platform id", platform_message_id="tg-991")

    def cjk(self) -> Script:
        """Chinese, Japanese and Korean."""
        store = self.store
        topic = self.topic()
        sid = store.create("telegram")
        store.shapes["cjk"].append(sid)
        store.title(sid, self.name("桂林旅行计划", "旅行计划"))
        if not store.replicate:
            for role, text in _CJK:
                mid = store.say(sid, role, text)
                if "youer服务端" in text:
                    store.needle("youer", sid, mid)
                yield self.gap(2, 60)
        for lang in ("zh", "ja", "ko", "zh", "zh", "ja"):
            store.say(sid, "user", self.text.cjk(lang, 2))
            yield self.gap(2, 60)
            store.say(sid, "assistant", self.text.cjk(lang, self.rng.randrange(3, 9)), finish_reason="stop")
            yield self.gap(2, 600)
        yield from self.turns(sid, topic, 1)
        store.activity(sid)

    def big_outputs(self) -> Script:
        """Tool output of a megabyte, words before and beyond what an index holds, a long paste."""
        store = self.store
        topic = self.topic()
        sid = store.create("api", user_id="svc")
        store.shapes["big"].append(sid)
        for i, size in enumerate((1_000_000, 1_250_000)):
            if store.replicate and i:
                break
            yield from self._dump(sid, topic, i, size)
        pad = self.text.tool_output(9_000, topic)
        for name, text in (
            ("shallowtool", "found {} at once\n"),
            ("deeptoolite", pad + "\nfound {} at the very end\n"),
        ):
            call_id = f"call_{name[:4]}"
            store.say(sid, "assistant", "", tool_calls=[tool_call(call_id, "search_files", "{}")])
            yield 1.0
            found = text.replace("{}", self.text.rare() if store.replicate else name)
            mid = store.say(sid, "tool", found, tool_name="search_files", tool_call_id=call_id)
            store.needle(name, sid, mid)
            yield 1.0
        store.say(sid, "user", self.text.prose(9_000, topic))
        yield 5.0
        store.say(sid, "assistant", self.text.prose(4_000, topic), finish_reason="length")
        store.usage(sid, 4)
        store.activity(sid)

    def _dump(self, sid: str, topic: list[str], number: int, size: int) -> Script:
        store = self.store
        store.say(sid, "user", f"Dump log {number + 1} of {topic[0]}.")
        yield 2.0
        call = tool_call(f"call_big{number}", "terminal", '{"command": "cat huge.log"}')
        store.say(sid, "assistant", "", tool_calls=[call], finish_reason="tool_calls")
        yield 2.0
        dump = self.text.big(200_000, "big") if store.replicate else self.text.big(size, "hugeline")
        mid = store.say(sid, "tool", dump, tool_name="terminal", tool_call_id=call["id"])
        store.needle("hugeline", sid, mid)
        yield 2.0
        store.say(sid, "assistant", self.text.answer(topic), finish_reason="stop")

    def plain_needles(self) -> Script:
        """Two sessions with rare words, phrases, and names with punctuation."""
        store = self.store
        topic = self.topic()
        a = store.create("tui", place=PLACES[0])
        b = store.create("discord")
        store.shapes["needles"] += [a, b]
        store.shapes["pinned"].append(a)
        store.title(a, self.name('Harbour lights: "quoted" title', "Harbour"))
        store.title(b, self.name("100% of my_app_config.ts", "100%"))
        yield from self._plant(a, b, topic)
        if store.replicate:
            yield from self.turns(a, topic, 2)
        else:
            for text in _PUNCTUATED:
                store.say(a, "user", text)
                yield self.gap(2, 30)
                store.say(a, "assistant", self.text.answer(topic), finish_reason="stop")
                yield self.gap(2, 30)
        yield from self.turns(b, topic, 2)
        if store.has("set_session_pinned"):
            store.db.set_session_pinned(a, True)
        if store.has("set_session_read"):
            store.db.set_session_read(b, False)
        store.activity(a)
        store.activity(b)

    def _plant(self, a: str, b: str, topic: list[str]) -> Script:
        store = self.store
        store.plant("quokkaflux", a, "user", "Where did we store the {} settings?")
        yield 5.0
        store.plant("pinnaclette", a, "assistant", "Keep the {} checklist on top.")
        yield self.gap(3, 9)
        store.plant("cronshared", a, "assistant", "Manual deploy of {}: post it, then close the session.")
        yield 5.0
        store.plant("brindlewick", a, "assistant", "Along the {} harbour lights the ferry waits.")
        store.plant("brindlewick", b, "assistant", "The lights of {} are far from the harbour.")
        yield 5.0
        store.plant("cafélatté", b, "user", "Order one {} and a naïve Übergröße.")
        for i, sid in enumerate((a, b, a, b, a, a, b)):
            said = f"Note {i}: the {{}} cluster needs " + self.text.prose(6 + 9 * i, topic)
            store.plant("zephyrine", sid, ("user", "assistant")[i % 2], said)
            yield self.gap(2, 30)
