# SPDX-License-Identifier: Apache-2.0
"""Vary, Authorization and Set-Cookie: who is given what was stored for somebody else."""
import pytest

from telltale_e2e import get


def answer(content, *lines):
    head = [b"HTTP/1.1 200 OK", b"Content-Length: %d" % len(content), *[line.encode() for line in lines]]
    return b"\r\n".join(head) + b"\r\n\r\n" + content


@pytest.fixture
def echo(start_daemon, start_origin):
    """A daemon whose origin answers with the value of one request field, and says that it varies on that."""
    def make(name, vary=None, records=None, *lines):
        def respond(request):
            content = "; ".join(request.all(name)).encode("latin-1") or b"none"
            return answer(content, f"Vary: {vary or name}", "Cache-Control: max-age=60", *lines)
        origin = start_origin(respond)
        daemon = start_daemon(origin_port=origin.port, records=records)
        daemon.origin = origin
        return daemon
    return make


def test_each_client_gets_the_variant_of_its_own_accept_encoding(echo):  # B146
    proxy = echo("Accept-Encoding")
    wanted = ["gzip,br", "gzip", "br, gzip", None]
    for _ in range(2):
        for value in wanted:
            fields = [("Accept-Encoding", value)] if value else []
            assert get(proxy.port, "/x", fields).content == (value or "none").encode()
    assert len(proxy.origin.requests) == 4
    assert get(proxy.port, "/x", [("accept-encoding", "gzip , br")]).content == b"gzip,br"
    assert get(proxy.port, "/x", [("Accept-Encoding", "gzip"), ("Accept-Encoding", "br")]).content == b"gzip,br"
    assert len(proxy.origin.requests) == 4


def test_vary_on_two_fields_compares_both_in_any_order(echo):  # B146
    proxy = echo("Accept-Language", "Accept-Language, Accept")
    for language, accept, requests in (("de", "a", 1), ("de", "b", 2), ("en", "a", 3), ("de", "a", 3), ("en", "a", 3)):
        for fields in ([("Accept-Language", language), ("Accept", accept)], [("ACCEPT", accept), ("accept-language", language)]):
            assert get(proxy.port, "/x", fields).content == language.encode()
        assert len(proxy.origin.requests) == requests


@pytest.mark.parametrize("name", ["Accept-Language", "Cookie", "X-Any"])
def test_a_field_that_nobody_has_a_list_for_is_compared_too(echo, name):  # B152
    proxy = echo(name)
    for value in ("one", "two", "one", "two"):
        assert get(proxy.port, "/x", [(name, value)]).content == value.encode()
    assert len(proxy.origin.requests) == 2


def test_vary_star_never_hits(echo):  # B146
    proxy = echo("Accept", "*")
    for n in range(1, 4):
        get(proxy.port, "/x")
        assert len(proxy.origin.requests) == n


def test_of_more_variants_than_the_limit_the_oldest_goes(echo):
    proxy = echo("X-Any", None, {"telltale": {"cache": {"variants_max": 2}}})

    def ask(value):
        assert get(proxy.port, "/x", [("X-Any", value)]).content == value.encode()
        return len(proxy.origin.requests)
    assert [ask("1"), ask("2"), ask("1"), ask("2")] == [1, 2, 2, 2]
    assert [ask("3"), ask("2"), ask("3")] == [3, 3, 3]
    assert ask("1") == 4


def test_a_field_taken_away_by_connection_is_not_what_the_variant_is_kept_under(echo):
    proxy = echo("X-Any")
    assert get(proxy.port, "/x", [("X-Any", "1"), ("Connection", "x-any")]).content == b"none"
    assert get(proxy.port, "/x", [("X-Any", "1")]).content == b"1"
    assert get(proxy.port, "/x").content == b"none"
    assert len(proxy.origin.requests) == 2


def test_values_of_vary_do_not_reach_the_log(echo):
    proxy = echo("Cookie")
    proxy.ctl_ok("debug", "enable", "--tags", "cache")
    get(proxy.port, "/x", [("Cookie", "sid=s3cret")])
    get(proxy.port, "/x", [("Cookie", "sid=0ther")])
    get(proxy.port, "/x", [("Cookie", "sid=s3cret")])
    log = proxy.diags_log("the variant that these request fields choose, Vary: Cookie")
    assert "vary-miss, no stored variant was chosen by these request fields (the newest has Vary: Cookie)" in log
    proxy.stop()
    assert b"s3cret" not in proxy.logs() and b"0ther" not in proxy.logs()


@pytest.mark.parametrize("control, shared", [
    ("max-age=60", False),
    ("public, max-age=60", True),
    ("s-maxage=60", True),
    ("max-age=60, must-revalidate", True),
    ("max-age=60, proxy-revalidate", False),
])
def test_an_answer_to_authorization_is_stored_only_where_the_origin_allows_it(proxy, control, shared):  # B152
    target = "/bytes/40?cc=" + control.replace(" ", "%20")
    get(proxy.port, target, [("Authorization", "Basic QQ==")])
    get(proxy.port, target)
    assert proxy.origin.hits("/bytes/40") == (1 if shared else 2)


@pytest.mark.parametrize("control, requests", [
    ("max-age=60", 2),
    ("public, max-age=60", 1),
    ('max-age=60, no-cache="set-cookie"', 1),
    ('max-age=60, private="Set-Cookie"', 1),
])
def test_nobody_is_given_a_cookie_set_for_another(start_daemon, start_origin, control, requests):  # B152
    origin = start_origin(lambda request: answer(b"x", "Set-Cookie: sid=%d" % len(origin.requests), "Cache-Control: " + control))
    proxy = start_daemon(origin_port=origin.port)
    assert get(proxy.port, "/x").field("Set-Cookie") == "sid=1"
    assert get(proxy.port, "/x").field("Set-Cookie") == (None if requests == 1 else "sid=2")
    assert len(origin.requests) == requests
