"""Word lists behind the synthetic text: a head of common words, syllables for the rest, names, CJK."""

from __future__ import annotations


def _words(text: str) -> list[str]:
    return text.split()


HEAD = _words(
    "the to and a of in is it that for on with this be are not we as you at by or from can have if was will "
    "an so now then but all when there do use run file which out up test no one has error need more should how "
    "what set code new get check just its into line only same time first done using also here like other still "
    "let make them fix add change work before after because where value read data start build server config "
    "return path name branch output case log function message call state two next both each show list update "
    "request response key second write issue look user query command table search index table2 port version "
    "remote local merge commit push pull review module class object string number null true false type import "
    "export package install script shell docker container image volume network client service worker queue job "
    "task thread process memory cache buffer stream socket timeout retry backoff failure success warning debug "
    "trace stack exception handler callback event loop async await promise future lock mutex race deadlock "
    "schema migration column row primary foreign constraint trigger view transaction rollback checkpoint "
    "snapshot backup restore replica shard cluster node leader follower quorum latency throughput benchmark "
    "profile flame graph metric alert dashboard incident postmortem rollout canary release tag artifact pipeline "
    "stage staging production environment variable secret token session cookie header payload body route "
    "endpoint gateway proxy balancer upstream downstream certificate expiry renew domain record resolver "
    "firewall rule policy role permission group owner admin account billing invoice quota limit usage credit "
    "model prompt context window token2 embedding summary compaction agent tool skill memory2 delegate cron "
    "schedule daily weekly nightly report digest notify channel thread2 reply mention reaction attachment upload "
    "download preview thumbnail render layout theme color font widget panel sidebar modal dialog button input "
    "focus scroll cursor selection clipboard paste keyboard shortcut terminal prompt2 editor diff patch hunk "
    "conflict resolve rebase squash cherry bisect blame stash submodule workspace monorepo lint format compile "
    "bundle minify sourcemap coverage assertion fixture mock stub snapshot2 flaky skip assert expected actual "
    "parser lexer grammar syntax semantic visitor emitter optimizer register opcode interpreter runtime garbage "
    "collector heap allocation leak pointer reference borrow lifetime trait interface protocol generic template "
    "macro closure iterator generator decorator dependency injection singleton factory adapter facade observer "
    "deploy post kubernetes terraform ansible postgres redis sqlite kafka nginx python rust typescript golang "
    "question answer idea plan step goal reason note decision option tradeoff approach simple quick careful "
    "please thanks maybe probably actually really exactly instead without between during against through while "
    "yesterday today tomorrow morning afternoon evening week month quarter meeting standup deadline customer "
    "vendor contract lawyer doctor flight hotel dinner recipe garden kitchen weather music movie book travel"
)

ONSETS = _words(
    "b br c ch cl cr d dr f fl fr g gl gr h j k kl l m n p pl pr qu r s sh sk sl sn sp st str t th tr v w wh z"
)
NUCLEI = _words("a e i o u ai ea ee ie oa oo ou")
CODAS = ["", *_words("b ck d ft g l ld ll m mp n nd ng nk nt p r rd rk rm rn rt s sh sk ss st t th x")]
SUFFIXES = ["", "", "", "er", "ing", "ed", "tion", "ly", "ism", "able", "ness", "or", "ent", "ic", "al", "ist"]

PROJECTS = (
    "atlas-gateway",
    "nimbus-api",
    "chat-send",
    "my-app.config.ts",
    "foo_bar_baz",
    "hermes-tui",
    "kestrel.db",
    "osprey_cli",
    "vault-sync",
    "blue-heron",
    "pg_dump",
    "react-query",
    "node_modules",
    "docker-compose.yml",
    "state.db",
    "libfoo.so.1",
    "v0.22.2",
    "P2.2",
    "quarry-indexer",
    "lantern_ui",
    "moss.toml",
    "tern-relay",
    "harbor-mail",
    "project_x.y-z",
    "sparrow-etl",
    "delta.rs",
    "cobalt-auth",
    "juniper_ml",
    "redwood-billing",
    "saffron-cms",
    "basalt.infra",
    "maple_scheduler",
)
PEOPLE = ("Sarah", "Jürgen", "Łukasz", "Anaïs", "Bjørn", "Zoë", "O'Brien", "Nguyễn", "Müller", "Ana", "Tariq", "Mei")
TOOLS = (
    "terminal",
    "terminal",
    "terminal",
    "read_file",
    "read_file",
    "search_files",
    "patch",
    "write_file",
    "execute_code",
    "web_search",
    "web_extract",
    "browser_navigate",
    "todo",
    "memory",
    "skill_view",
    "session_search",
    "delegate_task",
    "mcp_github_list_issues",
    "process",
    "vision_analyze",
)
MODELS = (
    ("claude-opus-4-6", "anthropic"),
    ("gpt-5.2-codex", "openai-codex"),
    ("hermes-4-405b", "nous"),
    ("gemini-3-pro", "gemini"),
    ("deepseek-v4", "deepseek"),
    ("qwen3-max", "alibaba"),
    ("moonshotai/kimi-k2.5", "openrouter"),
    ("glm-5", "zai"),
)

ZH = (
    "数据库",
    "部署",
    "服务端",
    "会话",
    "搜索",
    "错误",
    "日志",
    "重启",
    "配置",
    "网关",
    "测试",
    "用户",
    "缓存",
    "压缩",
    "历史",
    "消息",
    "项目",
    "今天",
    "明天",
    "我们",
    "需要",
    "修改",
    "检查",
    "版本",
    "更新",
    "发布",
    "问题",
    "解决",
    "广西",
    "桂林",
    "漓江",
    "旅行",
    "计划",
    "机票",
    "酒店",
    "天气",
    "晚上",
    "早上",
    "代码",
    "审查",
    "分支",
    "合并",
    "索引",
    "查询",
    "性能",
    "超时",
    "重试",
)
ZH_GLUE = ("的", "了", "和", "在", "是", "把", "请", "不", "很", "再", "并且", "但是", "因为", "所以", "如果", "那么")
JA = (
    "データベース",
    "検索",
    "設定",
    "デプロイ",
    "会議",
    "東京",
    "テスト",
    "修正",
    "ログ",
    "確認",
    "サーバー",
    "セッション",
    "履歴",
    "圧縮",
    "エラー",
    "再起動",
    "更新",
    "公開",
    "予定",
    "明日",
    "今日",
    "旅行",
    "京都",
    "桜",
    "資料",
    "翻訳",
    "レビュー",
    "ブランチ",
)
JA_GLUE = (
    "を",
    "は",
    "が",
    "に",
    "で",
    "と",
    "も",
    "から",
    "まで",
    "しました",
    "してください",
    "ですが",
    "ので",
    "という",
)
KO = (
    "데이터베이스",
    "검색",
    "배포",
    "설정",
    "오류",
    "로그",
    "확인",
    "회의",
    "서울",
    "테스트",
    "서버",
    "세션",
    "기록",
    "압축",
    "재시작",
    "업데이트",
    "공개",
    "일정",
    "내일",
    "오늘",
    "여행",
    "부산",
    "자료",
    "번역",
    "검토",
    "브랜치",
    "병합",
    "색인",
    "성능",
    "재시도",
)
