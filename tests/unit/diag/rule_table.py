#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The golden table of 100 rules by 50 sites: writes rule_table.inc, and with --manual the part of it that the
manual shows. The slow obvious reference: Python's re and fnmatch, one site after another, no cache.

Not run by the build: the table is kept, so that a change of what rules mean shows as a change of it."""
import fnmatch
import re
import sys

# tag, file, function, line, module (0: this program, 1: the library), text
SITES = [(tag, file, function, line, module, text)
         for module, file, function, line, tag, text in [
             (0, "rt/http1/session.cc", "run", 40, "rt.http1", "connection from {} accepted"),
             (0, "rt/http1/session.cc", "run", 55, "rt.http1", "connection closed after {} requests"),
             (0, "rt/http1/session.cc", "read_head", 72, "rt.http1", "request head incomplete after {} bytes"),
             (0, "rt/http1/session.cc", "read_head", 80, "rt.http1", "request refused with {}: {}"),
             (0, "rt/http1/session.cc", "refuse_with", 121, "rt.http1_error", "answered with {}"),
             (0, "rt/http1/head_parser.cc", "parse", 12, "rt.http1_parse", "field {} is too long"),
             (0, "rt/http1/head_parser.cc", "parse", 99, "rt.http1_parse", "request line: {}"),
             (0, "rt/http1/head_parser.cc", "parse_field", 140, "rt.http_hdrs", "field {}"),
             (0, "rt/http2/session.cc", "run", 40, "rt.http2", "connection from {} accepted"),
             (0, "rt/http2/session.cc", "on_frame", 90, "rt.http2", "frame of type {} on stream {}"),
             (0, "rt/http2/session.cc", "on_frame", 101, "rt.http2_frame", "RST_STREAM on stream {}"),
             (0, "rt/http2/session.cc", "on_settings", 130, "rt.http2", "settings: {}"),
             (0, "rt/http2/stream.cc", "close", 20, "rt.http2_stream", "stream {} closed"),
             (0, "rt/http2/stream.cc", "open", 31, "rt.http2_stream", "stream {} opened"),
             (0, "rt/txn/transaction.cc", "run", 60, "rt.http", "{} for {} from {}"),
             (0, "rt/txn/transaction.cc", "run", 61, "rt.http_hdrs", "request fields: {}"),
             (0, "rt/txn/transaction.cc", "run", 90, "rt.http", "answered {}: {} bytes in {} us"),
             (0, "rt/txn/transaction.cc", "remap", 110, "rt.remap", "no rule matches {}{}"),
             (0, "rt/txn/transaction.cc", "remap", 124, "rt.remap", "line {} matches"),
             (0, "rt/txn/transaction.cc", "find_stored", 140, "rt.cache", "not looked up: {}"),
             (0, "rt/txn/transaction.cc", "find_stored", 150, "rt.cache", "{}: uri-miss"),
             (0, "rt/txn/transaction.cc", "find_stored", 160, "rt.cache", "{}: hit, {} s old"),
             (0, "rt/txn/transaction.cc", "find_stored", 166, "rt.cache", "{}: stale, {} s old"),
             (0, "rt/txn/hooks.cc", "operator==", 70, "rt.plugin", "hook {} takes {} us"),
             (0, "rt/txn/hooks.cc", "run", 71, "rt.plugin", "hook {} failed"),
             (0, "rt/cache/ram_cache.cc", "insert", 33, "rt.cache", "stored {}: {} bytes"),
             (0, "rt/cache/ram_cache.cc", "evict", 44, "rt.cache", "evicted {}"),
             (0, "rt/cache/ram_cache.cc", "evict", 50, "rt.cache_evict", "evicted {} objects, failed {}"),
             (0, "rt/cache/store.cc", "write", 10, "rt.cache_disk", "write failed: {}"),
             (0, "rt/cache/store.cc", "read", 25, "rt.cache_disk", "read {} bytes"),
             (0, "rt/net/listener.cc", "accept", 15, "rt.net", "accepted on {}"),
             (0, "rt/net/listener.cc", "accept", 19, "rt.net", "accept failed: {}"),
             (0, "rt/net/stream.cc", "recv", 200, "rt.net_io", "{} bytes"),
             (0, "rt/net/stream.cc", "send", 240, "rt.net_io", "{} of {} bytes"),
             (0, "rt/net/stream.cc", "connect", 260, "rt.net", "connect to {} failed: {}"),
             (0, "rt/dns/resolver.cc", "resolve", 9, "rt.dns", "{} is asked for"),
             (0, "rt/dns/resolver.cc", "resolve", 30, "rt.dns", "{} is {}"),
             (0, "rt/dns/resolver.cc", "expire", 77, "rt.splitdns", "{} names expired"),
             (1, "plug/header_note.cc", "on_response", 20, "rt.plug.note", "field {} added"),
             (1, "plug/header_note.cc", "on_response", 25, "rt.plug.note", "nothing to add"),
             (1, "plug/header_note.cc", "TSPluginInit", 40, "rt.plug", "loaded with {}"),
             (1, "plug/rate_limit.cc", "on_request", 30, "rt.plug.rate", "{} of {} tokens left"),
             (1, "plug/rate_limit.cc", "on_request", 34, "rt.plug.rate", "request refused"),
             (1, "plug/rate_limit.cc", "refill", 50, "rt.plug.rate", "refilled"),
             (1, "plug/auth/basic.cc", "check", 12, "rt.plug.auth", "user {} is known"),
             (1, "plug/auth/basic.cc", "check", 18, "rt.plug.auth", "user {} refused"),
             (1, "plug/auth/token.cc", "check", 12, "rt.plug.auth", "token expired"),
             (1, "plug/auth/token.cc", "verify", 60, "rt.plug.auth_crypto", "signature of {} failed"),
             (1, "plug/session.cc", "run", 40, "rt.http1", "plugin session {}"),
             (1, "plug/session.cc", "run", 41, "rt.cache", "plugin found {}")]]
MODULES = ["unit_diag", "libtelltale-diag.so"]
assert len(SITES) == 50

RULES = r"""
tag=rt.http
tag=rt.http$
tag=rt.http1
tag=rt.http1$
tag=rt.http|rt.dns
tag=rt.dns
tag=t.dns
tag=.*
tag=rt\.(?!http)
tag=(?i)RT.CACHE
tag=rt.cache_
tag=rt.plug.(note|rate)
tag=rt.[a-d]
tag=rt.zzz
tag=rt.http1_error|rt.cache_evict
tag=rt.*_
file=session.cc
file=http1/session.cc
file=rt/http1/session.cc
file=*/session.cc
file=*/http1/*
file=rt/http?/session.cc
file=s*.cc
file=*
file=*.h
file=rt/*/s*.cc
file=plug/*
file=plug/auth/*
file=*auth*
file=????.cc
file=*.c\c
function=run
function=parse*
function=*_*
function=on_*
function=operator==
function=ru?
function=?un
function=Run
function=*e*e*
line=40
line=1-20
line=12
line=100-200
line=60-61
line=4000
line=40-40
module=unit_diag
module=libtelltale-diag.so
module=*.so
module=*diag*
module=lib
text=failed
text=refused
text="is known"
text={}
text="{}: "
text="connection from"
text=Failed
text=nosuchtext
tag=rt.cache text=failed
tag=rt.cache file=transaction.cc
tag=rt.http1 function=run line=40 module=unit_diag
file=session.cc function=run
file=session.cc line=40
module=*.so text=refused
function=check line=12
file=transaction.cc line=140-160 tag=rt.cache
tag=rt.http1$ module=*.so
function=run tag=rt.http text=answered
-tag=rt.http
-file=*
tag=rt.http;-tag=rt.http_hdrs
tag=.*;-tag=rt.cache
-tag=rt.cache;tag=.*
tag=rt.http;-function=run
tag=rt.http;-function=run;text=accepted
tag=.*;-file=*/session.cc;file=rt/http2/session.cc
tag=.*;-module=*.so
tag=.*;-module=*.so;tag=rt.plug.auth;-text=token
file=transaction.cc;-line=100-200
file=transaction.cc;-line=100-200;line=150
tag=rt.net;-text=bytes;text="of {}"
text=failed;-tag=rt.net
text=failed;-tag=rt.net;-tag=rt.cache
-text=failed;tag=rt.net;tag=rt.cache
tag=rt.http$;tag=rt.dns$;tag=rt.net$
tag=rt.cache;-tag=rt.cache$
tag=rt.cache;-tag=rt.cache$ file=*ram_cache.cc
file=*;-function=*;function=run;-tag=rt.http2
line=1-50;-line=10-40;line=20-30
module=*.so;-tag=rt.plug;tag=rt.plug.auth$
module=*.so function=check;-text=user
tag=rt.http;-tag=rt.http;tag=rt.http
tag=rt.http1;-tag=rt.http1 file=head_parser.cc;tag=rt.http1_parse text=line
function=evict;-line=44 file=ram_cache.cc
file=rt/txn/*;-tag=rt.remap|rt.plugin;-text=stale
tag=rt.(http|cache|net);-text="{} bytes"
file=*;-file=*/*.cc
file=*;-line=1-4294967295
""".strip().splitlines()
assert len(RULES) == 100, len(RULES)

TERM = re.compile(r'(\w+)=("[^"]*"|\S+)')


def term_matches(key, value, site):
    tag, file, function, line, module, text = site
    if key == "tag":
        return re.match(value, tag) is not None
    if key == "line":
        first, _, last = value.partition("-")
        return int(first) <= line <= int(last or first)
    if key == "text":
        return value in text
    subject = {"file": file, "function": function, "module": MODULES[module]}[key]
    if key == "file" and "/" not in value:
        subject = subject.rsplit("/", 1)[-1]
    return fnmatch.fnmatchcase(subject, value.replace("\\", ""))


def is_on(rules, site):
    on = False
    for rule in rules.split(";"):
        terms = [(key, value.strip('"')) for key, value in TERM.findall(rule)]
        assert terms, rules
        if all(term_matches(key, value, site) for key, value in terms):
            on = not rule.lstrip().startswith("-")
    return on


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def table():
    out = ["// SPDX-License-Identifier: Apache-2.0", "// Written by rule_table.py: what 100 rules say of 50 sites. x: on."]
    out.append("// clang-format off")
    for tag, file, function, line, module, text in SITES:
        out.append(f"SITE({quoted(tag)}, {quoted(file)}, {quoted(function)}, {line}, {module}, {quoted(text)})")
    for rules in RULES:
        row = "".join("x" if is_on(rules, site) else "." for site in SITES)
        out.append(f"RULES({quoted(row)}, {quoted(rules)})")
    out.append("// clang-format on")
    return "\n".join(out) + "\n"


def manual():
    sites = [0, 3, 9, 14, 15, 20, 21, 26, 28, 34]
    rules = [0, 1, 16, 18, 31, 40, 52, 60, 63, 72, 75, 81]
    out = ["| | site | tag | format |", "|---|---|---|---|"]
    for n, i in enumerate(sites):
        tag, file, function, line, _, text = SITES[i]
        out.append(f"| {'ABCDEFGHIJ'[n]} | {file[3:]}:{line} ({function}) | {tag[3:]} | `{text}` |")
    out += ["", "| rules | " + " | ".join("ABCDEFGHIJ"[:len(sites)]) + " |", "|---" * (len(sites) + 1) + "|"]
    for i in rules:
        cells = " | ".join("on" if is_on(RULES[i], SITES[s]) else "" for s in sites)
        out.append(f"| `{RULES[i].replace('rt.', '').replace('|', chr(92) + '|')}` | {cells} |")
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    print(manual() if "--manual" in sys.argv else table(), end="")
