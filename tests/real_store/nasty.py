"""Text that breaks careless renderers: escapes, bidi, emoji, markup, Markdown, broken JSON, odd contents."""

from __future__ import annotations

_ESC, _RLO, _PDF, _ZWJ = "\x1b", "\u202e", "\u202c", "\u200d"
_FAMILY = f"\U0001f469{_ZWJ}\U0001f469{_ZWJ}\U0001f467{_ZWJ}\U0001f466"
NASTY_MESSAGES: list[tuple[str, str, object]] = [
    (
        "nastyansi",
        "tool",
        (
            f"{_ESC}[31mred{_ESC}[0m {_ESC}[1;38;5;208mbold orange{_ESC}[m {_ESC}[2J{_ESC}[H{_ESC}[?25l nastyansi "
            f"{_ESC}[9999;9999H end"
        ),
    ),
    (
        "nastyosc",
        "tool",
        (
            f"nastyosc {_ESC}]0;owned title\x07 {_ESC}]8;;https://evil.example/{_ESC}\\click{_ESC}]8;;{_ESC}\\ "
            f"{_ESC}]52;c;cHduZWQ=\x07 {_ESC}P+q544e{_ESC}\\ {_ESC}[?1049h {_ESC}c"
        ),
    ),
    (
        "nastycone",
        "tool",
        (
            "nastycone C1 csi \x9b31m and \x9d0;t\x9c and \x85 next-line, bell \x07, backspace abc\b\b\bxyz, "
            "form\ffeed, vt\v, del\x7f"
        ),
    ),
    ("nastynul", "user", "nastynul before\x00after \x00\x00 end"),
    ("nastysurrogate", "user", "nastysurrogate text \\ud83d\\ude00 \\udc00 alone and U+D83D"),
    ("nastyrawsurrogate", "user", "nastyrawsurrogate raw \ud83d and \udc00 halves"),
    (
        "nastybidi",
        "user",
        (
            f"nastybidi {_RLO}gpj.exe{_PDF} \u2066isolate\u2069 \u061c mark, "
            "\u05d0\u05d1\u05d2 \u0634\u0643\u0631\u0627 "
            "\u0627\u0644\u0639\u0627\u0644\u0645 123"
        ),
    ),
    (
        "nastyemoji",
        "user",
        (
            f"nastyemoji {_FAMILY} \U0001f44d\U0001f3fd \U0001f1e9\U0001f1ea \u2764\ufe0f\u200d\U0001f525 "
            "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f \u0031\ufe0f\u20e3 "
            "\U0001fae0"
        ),
    ),
    (
        "nastyzalgo",
        "user",
        "nastyzalgo Z"
        + "\u0351\u036b\u0343\u036a" * 12
        + "a"
        + "\u030a\u0302" * 15
        + "lgo e\u0301 vs \u00e9, \ufb01 ligature, \uff46\uff55\uff4c\uff4c\uff57\uff49\uff44\uff54\uff48",
    ),
    (
        "nastywidth",
        "user",
        (
            "nastywidth \u65e5\u672c\u8a9e\uff8a\uff9d\uff76\uff78 \u3000ideographic space\u3000 "
            "zero\u200bwidth\u200cjoin\u2060er "
            "\ufeffbom soft\u00adhyphen \u00a0nbsp \u2028line \u2029para"
        ),
    ),
    ("nastycrlf", "user", "nastycrlf one\r\ntwo\rthree\n\n\n\n\tfour\t\ttabs   spaces   \r"),
    (
        "nastymarkup",
        "user",
        (
            "nastymarkup [bold]x[/] [/] [/bold] [@click=app.bell]press[/] [link=file:///etc/passwd]l[/link] "
            "[red on blue [[x]] \\[b] [not closed [$primary]v[/] [on #ff0000] [reverse]r[/reverse]"
        ),
    ),
    (
        "nastymarkuptool",
        "tool",
        "nastymarkuptool [/][/][/] [@click='app.quit()']boom[/] arr[0][/1] [b]list[int] = [] [/]",
    ),
    (
        "nastymarkdown",
        "assistant",
        (
            "# nastymarkdown\n\n## Sub *em* **strong** ~~del~~ `code` <b>html</b> <script>alert(1)</script>\n"
            "\n| a | b \\| c |\n|:--|--:|\n| 1 | `x|y` |\n| \u8868 | [l](https://e.x/) |\n\n1. one\n"
            "   - two\n     - three\n\n> quote\n> > nested\n\n```python\nprint('[bold]no[/]')\n```\n"
            '\n---\n![img](http://x/y.png) [ref][1]\n\n[1]: https://example.com "t"\n\n- [ ] todo\n'
            "- [x] done\n"
        ),
    ),
    (
        "nastyfence",
        "assistant",
        "nastyfence unterminated\n```sh\necho never closed\n~~~\nmixed\n````\ninner ```\n",
    ),
    (
        "nastytable",
        "assistant",
        "nastytable\n\n"
        + "| "
        + " | ".join(f"col{i}" for i in range(40))
        + " |\n"
        + "|"
        + "---|" * 40
        + "\n"
        + "| "
        + " | ".join("x" * (i % 7 + 1) for i in range(40))
        + " |\n",
    ),
    ("nastylongline", "tool", "nastylongline " + "abcdefghij" * 20_000),
    ("nastylongwords", "tool", "nastylongwords " + "lorem ipsum " * 8_000),
    ("nastymanylines", "tool", "nastymanylines\n" + "\n".join(str(i) for i in range(30_000))),
    ("nastyblank", "assistant", "   \n\t \n"),
    ("nastyempty", "assistant", ""),
    (
        "nastysql",
        "user",
        'nastysql \'; DROP TABLE sessions; -- % _ \\ "quoted" NEAR/3 col:val ^caret {brace} (paren) *star*',
    ),
    (
        "nastyurl",
        "user",
        (
            "nastyurl https://user:pass@example.com:8080/a/b?c=d&e=%20f#frag mailto:user@example.com "
            "file:///C:/x ssh://git@host/x.git #1234 @mention C++ C# .NET foo@bar"
        ),
    ),
    ("nastyjson", "user", '{"nastyjson": [1, {"deep": {"deeper": null}}], "dup": 1, "dup": 2}'),
    ("nastyprefix", "user", '\x00json:{"nastyprefix": "a literal that starts with the reserved prefix"}'),
    (
        "nastymention",
        "user",
        (
            '@session:default/20260101_000000_abcdef nastymention @file:src/x.py <tool_call>{"name":"x"}</tool_call> '
            "<think>hm</think>"
        ),
    ),
    (
        "nastymath",
        "assistant",
        (
            "nastymath $$\\int_0^\\infty e^{-x^2}\\,dx = \\frac{\\sqrt{\\pi}}{2}$$ and \\(a^2\\) and "
            "x\u00b2 \u2211 \u221e \U0001d54f \U0001f9ee "
            "\u2580\u2584\u2588\u2591 \u250c\u2500\u2510\u2502\u2514\u2518 "
            "\ue0b0 powerline"
        ),
    ),
    (
        "nastymultimodal",
        "user",
        [
            {"type": "text", "text": "nastymultimodal what is in this picture?"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBORw0KGgo" * 400}},
        ],
    ),
    (
        "nastymultitwo",
        "user",
        [
            {"type": "text", "text": "nastymultitwo first part"},
            {"type": "text", "text": "second part \u6f22\u5b57"},
            {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
        ],
    ),
    (
        "nastyimageonly",
        "user",
        [{"type": "image_url", "image_url": {"url": "https://example.com/nastyimageonly.png"}}],
    ),
    ("nastydict", "tool", {"nastydict": True, "nested": {"list": [1, 2, 3]}, "text": "a dict as content"}),
    ("nastyemptylist", "user", []),
]
"""(label, role, content); each content carries its label as a searchable word."""
