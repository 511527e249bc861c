"""Words and names of programming languages, in families that read alike."""

from __future__ import annotations

WORDS = {
    "python": (
        "False None True and as assert async await break case class continue def del elif else except finally "
        "for from global if import in is lambda match nonlocal not or pass raise return try while with yield"
    ),
    "c": (
        "break case catch class const continue default do else enum export extends finally for function goto "
        "if implements import in instanceof interface let new null private protected public return static "
        "struct super switch this throw throws true false try typedef typeof union var void volatile while "
        "with yield async await abstract final package namespace using template typename virtual override "
        "operator delete sizeof unsigned signed int long short char float double bool boolean string "
        "undefined of from as type readonly declare"
    ),
    "rust": (
        "as async await break const continue crate dyn else enum extern false fn for if impl in let loop "
        "match mod move mut pub ref return self Self static struct super trait true type unsafe use where "
        "while"
    ),
    "go": (
        "break case chan const continue default defer else fallthrough for func go goto if import interface "
        "map nil package range return select struct switch type var true false"
    ),
    "shell": (
        "if then else elif fi for while until do done case esac in function select return export local "
        "readonly set unset source alias exit cd echo sudo trap shift break continue"
    ),
    "sql": (
        "select from where and or not in is null as on join left right inner outer full cross group by order "
        "having limit offset insert into values update set delete create table index view trigger drop alter "
        "add column primary key foreign references unique default case when then else end union all distinct "
        "exists between like with pragma begin commit rollback explain asc desc if replace"
    ),
    "ruby": (
        "alias and begin break case class def defined do else elsif end ensure false for if in module next "
        "nil not or redo rescue retry return self super then true undef unless until when while yield require "
        "attr_accessor"
    ),
    "lua": (
        "and break do else elseif end false for function goto if in local nil not or repeat return then true "
        "until while"
    ),
    "data": "true false null yes no on off",
    "haskell": "case class data deriving do else if import in infix instance let module newtype of then type where",
}
"""Family → its keywords."""
FAMILIES = {
    "python": "python py python3 pyi ipython pycon",
    "c": (
        "c h cpp c++ cc cxx hpp cs csharp java kotlin kt scala swift js javascript jsx ts typescript tsx mjs "
        "cjs php dart groovy objc proto protobuf zig solidity glsl css scss less jsonc json5 graphql gradle"
    ),
    "rust": "rust rs",
    "go": "go golang",
    "shell": (
        "sh bash zsh fish shell console shellsession terminal powershell ps1 dockerfile docker makefile make "
        "nix bat cmd"
    ),
    "sql": "sql sqlite postgres postgresql mysql plsql",
    "ruby": "ruby rb elixir ex exs crystal perl pl r julia jl",
    "lua": "lua",
    "data": "json yaml yml toml ini cfg conf env properties hcl tf terraform csv",
    "haskell": "haskell hs ocaml ml elm purescript fsharp fs clojure clj lisp scheme el",
}
"""Family → names of languages and endings of files."""
LANGUAGES = {name: family for family, names in FAMILIES.items() for name in names.split()}
