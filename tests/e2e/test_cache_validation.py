# SPDX-License-Identifier: Apache-2.0
"""Validation towards the origin and for the client, ranges, invalidation, and what clients demand."""
import email.utils
import time

import pytest

from telltale_e2e import Connection, get

DATE = "Date: %s"


def respond(status, content=b"", *lines):
    head = [b"HTTP/1.1 " + status.encode(), *[line.encode() for line in lines]]
    if not status.startswith("304"):
        head.append(b"Content-Length: %d" % len(content))
    return b"\r\n".join(head) + b"\r\n\r\n" + content


class Resource:
    """Content with a tag, which an origin serves as origins do."""

    def __init__(self, *lines, tag='"v1"', content=b"0123456789", lines_304=()):
        self.lines, self.tag, self.content, self.lines_304 = list(lines), tag, content, list(lines_304)

    def __call__(self, request):
        tags = [f"ETag: {self.tag}"] if self.tag else []
        if self.tag and request.field("If-None-Match") == self.tag:
            return respond("304 Not Modified", b"", *tags, *self.lines, *self.lines_304)
        return respond("200 OK", self.content, *tags, *self.lines)


@pytest.fixture
def serve(start_daemon, start_origin):
    def make(resource, records=None):
        origin = start_origin(resource)
        daemon = start_daemon(origin_port=origin.port, records=records)
        daemon.origin = origin
        return daemon
    return make


def test_a_stale_response_is_validated_and_freshened(serve):
    resource = Resource("Cache-Control: max-age=0", "X-Version: 1")
    proxy = serve(resource)
    assert get(proxy.port, "/x").content == b"0123456789"
    resource.lines = ["Cache-Control: max-age=60", "X-Version: 2"]
    second = get(proxy.port, "/x")
    assert (second.status, second.content, second.field("X-Version"), second.field("Age")) == (200, b"0123456789", "2", None)
    assert proxy.origin.requests[1].field("If-None-Match") == '"v1"'
    third = get(proxy.port, "/x")
    assert (third.content, third.field("X-Version")) == (b"0123456789", "2") and third.field("Age") is not None
    assert len(proxy.origin.requests) == 2


def test_a_changed_response_replaces_the_stale_one(serve):
    resource = Resource("Cache-Control: max-age=0")
    proxy = serve(resource)
    get(proxy.port, "/x")
    resource.tag, resource.content, resource.lines = '"v2"', b"new", ["Cache-Control: max-age=60"]
    assert get(proxy.port, "/x").content == b"new"
    assert get(proxy.port, "/x").content == b"new"
    assert len(proxy.origin.requests) == 2


def test_last_modified_validates_where_there_is_no_tag(serve):
    modified = "Mon, 02 Nov 2026 10:00:00 GMT"

    def origin(request):
        if request.field("If-Modified-Since") == modified:
            return respond("304 Not Modified", b"", "Cache-Control: max-age=60")
        return respond("200 OK", b"old", f"Last-Modified: {modified}", "Cache-Control: max-age=0")
    proxy = serve(origin)
    for requests in (1, 2, 2):
        assert get(proxy.port, "/x").content == b"old"
        assert len(proxy.origin.requests) == requests


@pytest.mark.parametrize("control", ["no-cache", "no-cache, max-age=60", "max-age=0, must-revalidate"])
def test_no_cache_is_stored_and_validated_each_time(serve, control):
    proxy = serve(Resource("Cache-Control: " + control))
    for n in range(1, 4):
        assert get(proxy.port, "/x", [("Cache-Control", "max-stale")] if n == 3 else []).content == b"0123456789"
        assert proxy.origin.requests[-1].field("If-None-Match") == ('"v1"' if n > 1 else None)
        assert len(proxy.origin.requests) == n


def test_a_304_about_something_else_is_not_believed(serve):
    def origin(request):
        if request.field("If-None-Match"):
            return respond("304 Not Modified", b"", 'ETag: "other"')
        return respond("200 OK", b"x%d" % len(proxy.origin.requests), 'ETag: "v1"', "Cache-Control: max-age=0")
    proxy = serve(origin)
    assert get(proxy.port, "/x").content == b"x1"
    assert get(proxy.port, "/x").content == b"x3"
    assert [r.field("If-None-Match") for r in proxy.origin.requests] == [None, '"v1"', None]


def test_a_client_that_has_it_gets_304_from_the_cache(serve):
    proxy = serve(Resource("Cache-Control: max-age=60", "Content-Type: text/plain", "Last-Modified: Mon, 02 Nov 2026 10:00:00 GMT"))
    get(proxy.port, "/x")
    with Connection(proxy.port) as connection:
        for fields in ([("If-None-Match", '"v1"')], [("If-None-Match", '"a", W/"v1"')], [("If-None-Match", "*")],
                       [("If-Modified-Since", "Mon, 02 Nov 2026 10:00:00 GMT")],
                       [("If-None-Match", '"v1"'), ("If-Modified-Since", "Mon, 02 Nov 2020 10:00:00 GMT"), ("Range", "bytes=0-1")]):
            response = connection.request("GET", "/x", fields)
            assert response.status == 304, fields
            assert response.field("ETag") == '"v1"' and response.field("Cache-Control") == "max-age=60"
            assert response.field("Content-Type") is None and response.field("Content-Length") is None
            assert connection.request("HEAD", "/x", fields).status == 304
        for fields in ([("If-None-Match", '"v2"')], [("If-Modified-Since", "Mon, 02 Nov 2020 10:00:00 GMT")],
                       [("If-None-Match", '"v2"'), ("If-Modified-Since", "Mon, 02 Nov 2026 10:00:00 GMT")]):
            response = connection.request("GET", "/x", fields)
            assert (response.status, response.content) == (200, b"0123456789"), fields
    assert len(proxy.origin.requests) == 1


def test_a_stale_response_is_validated_for_a_conditional_client_too(serve):
    proxy = serve(Resource("Cache-Control: max-age=0"))
    get(proxy.port, "/x")
    assert get(proxy.port, "/x", [("If-None-Match", '"v1"')]).status == 304
    assert get(proxy.port, "/x", [("If-None-Match", '"v0"')]).content == b"0123456789"
    assert [r.field("If-None-Match") for r in proxy.origin.requests] == [None, '"v1"', '"v1"']


def test_conditions_that_only_the_origin_can_judge_go_to_it(serve):
    proxy = serve(Resource("Cache-Control: max-age=60"))
    get(proxy.port, "/x")
    get(proxy.port, "/x", [("If-Match", '"v0"')])
    get(proxy.port, "/x", [("If-Unmodified-Since", "Mon, 02 Nov 2020 10:00:00 GMT")])
    assert len(proxy.origin.requests) == 3


def test_ranges_of_a_stored_whole(serve):  # B144
    proxy = serve(Resource("Cache-Control: max-age=60"))
    get(proxy.port, "/x")
    with Connection(proxy.port) as connection:
        for value, status, content, content_range in (
                ("bytes=0-3", 206, b"0123", "bytes 0-3/10"), ("bytes=-4", 206, b"6789", "bytes 6-9/10"),
                ("bytes=4-", 206, b"456789", "bytes 4-9/10"), ("bytes=99-", 416, b"", "bytes */10"),
                ("bytes=0-0,-1", 200, b"0123456789", None), ("bytes=8-99", 206, b"89", "bytes 8-9/10")):
            response = connection.request("GET", "/x", [("Range", value)])
            assert (response.status, response.content, response.field("Content-Range")) == (status, content, content_range), value
        assert connection.request("GET", "/x", [("Range", "bytes=0-3"), ("If-Range", '"v1"')]).content == b"0123"
        assert connection.request("GET", "/x", [("Range", "bytes=0-3"), ("If-Range", '"old"')]).content == b"0123456789"
        assert connection.request("HEAD", "/x", [("Range", "bytes=0-3")]).status == 200
    assert len(proxy.origin.requests) == 1


def test_a_range_of_what_is_not_stored_is_the_origins_and_not_stored(serve):  # B144
    def origin(request):
        if request.field("Range"):
            return respond("206 Partial Content", b"0123", "Content-Range: bytes 0-3/10", "Cache-Control: max-age=60")
        return respond("200 OK", b"0123456789", "Cache-Control: max-age=60")
    proxy = serve(origin)
    for _ in range(2):
        response = get(proxy.port, "/x", [("Range", "bytes=0-3")])
        assert (response.status, response.content) == (206, b"0123")
    assert get(proxy.port, "/x").content == b"0123456789"
    assert get(proxy.port, "/x", [("Range", "bytes=-2")]).content == b"89"
    assert len(proxy.origin.requests) == 3


def test_a_stale_whole_is_validated_for_a_range(serve):
    proxy = serve(Resource("Cache-Control: max-age=0"))
    get(proxy.port, "/x")
    response = get(proxy.port, "/x", [("Range", "bytes=2-3")])
    assert (response.status, response.content) == (206, b"23")
    assert proxy.origin.requests[1].field("If-None-Match") == '"v1"'


def test_heuristic_freshness_is_a_tenth_of_the_time_since_last_modified(serve):
    now = time.time()

    def origin(request):
        age = int(request.target.rpartition("/")[2])
        return respond("200 OK", b"x", "Date: " + email.utils.formatdate(now, usegmt=True),
                       "Last-Modified: " + email.utils.formatdate(now - age, usegmt=True))
    proxy = serve(origin)
    proxy.ctl_ok("debug", "enable", "--tags", "cache")
    get(proxy.port, "/100000")
    get(proxy.port, "/100000")
    assert len(proxy.origin.requests) == 1
    get(proxy.port, "/5")  # a tenth of 5 s is none
    get(proxy.port, "/5")
    assert len(proxy.origin.requests) == 3
    assert "taken for fresh for 10000 s" in proxy.diags_log("taken for fresh for") or "9999 s" in proxy.diags_log()
    proxy.ctl_ok("config", "set", "proxy.config.http.cache.heuristic_lm_factor", "0")
    get(proxy.port, "/200000")
    get(proxy.port, "/200000")
    assert len(proxy.origin.requests) == 5


def test_max_stale_is_granted_unless_the_origin_forbids(serve):
    resource = Resource("Cache-Control: max-age=0")
    proxy = serve(resource)
    get(proxy.port, "/x")
    assert get(proxy.port, "/x", [("Cache-Control", "max-stale=60")]).field("Age") is not None
    assert len(proxy.origin.requests) == 1
    for control in ("max-age=0, must-revalidate", "max-age=0, proxy-revalidate", "s-maxage=0"):
        resource.lines = ["Cache-Control: " + control]
        before = len(proxy.origin.requests)
        get(proxy.port, "/" + control[-5:])
        get(proxy.port, "/" + control[-5:], [("Cache-Control", "max-stale=60")])
        assert len(proxy.origin.requests) == before + 2, control


@pytest.mark.parametrize("field", [("Cache-Control", "no-cache"), ("Pragma", "no-cache"), ("Cache-Control", "max-age=0, min-fresh=61")])
def test_a_client_may_have_a_fresh_response_validated(serve, field):
    proxy = serve(Resource("Cache-Control: max-age=60"))
    get(proxy.port, "/x")
    assert get(proxy.port, "/x", [field]).content == b"0123456789"
    assert proxy.origin.requests[1].field("If-None-Match") == '"v1"'


def test_only_if_cached_never_reaches_the_origin(serve):
    proxy = serve(Resource("Cache-Control: max-age=60"))
    only = ("Cache-Control", "only-if-cached")
    assert get(proxy.port, "/x", [only]).status == 504
    assert get(proxy.port, "/x", [only, ("If-Match", '"v1"')]).status == 504
    assert get(proxy.port, "/x", [only], method="POST", content=b"x").status == 504
    assert len(proxy.origin.requests) == 0
    get(proxy.port, "/x")
    assert get(proxy.port, "/x", [only]).content == b"0123456789"
    proxy.ctl_ok("config", "set", "proxy.config.http.cache.http", "0")
    assert get(proxy.port, "/x", [only]).status == 504
    assert len(proxy.origin.requests) == 1


def test_stale_if_error_bridges_a_failing_origin(serve):
    state = {"fail": False}

    def origin(request):
        if state["fail"]:
            return respond("503 Service Unavailable", b"no")
        return respond("200 OK", b"good", "Cache-Control: max-age=0, stale-if-error=60", 'ETag: "1"')
    proxy = serve(origin)
    get(proxy.port, "/x")
    state["fail"] = True
    assert get(proxy.port, "/x").content == b"good"
    proxy.origin.close()
    assert get(proxy.port, "/x").content == b"good"
    assert get(proxy.port, "/x", [("Cache-Control", "no-cache")]).status == 502


@pytest.mark.parametrize("status, gone", [("200 OK", True), ("303 See Other", True), ("404 Not Found", False), ("500 No", False)])
def test_a_change_invalidates_its_target_and_what_the_response_names(serve, status, gone):
    def origin(request):
        if request.method == "POST":
            port = proxy.port if request.target == "/outside" else proxy.origin.port
            return respond(status, b"", f"Location: http://127.0.0.1:{port}/named?x", "Content-Location: near")
        return respond("200 OK", b"x", "Cache-Control: max-age=60")
    proxy = serve(origin)
    for target in ("/a/change", "/outside"):
        names = (target, "/named?x", target.rpartition("/")[0] + "/near")
        others = ("/named", "/a/other")
        for name in (*names, *others):
            get(proxy.port, name)
        get(proxy.port, target, method="POST", content=b"")
        before = len(proxy.origin.requests)
        for name in others:
            get(proxy.port, name)
        assert len(proxy.origin.requests) == before
        for name in names:
            get(proxy.port, name)
        assert len(proxy.origin.requests) == before + (3 if gone else 0)


def test_a_location_on_another_origin_invalidates_nothing(serve):
    def origin(request):
        if request.method == "POST":
            return respond("201 Created", b"", "Location: http://elsewhere.test/x", "Content-Location: https://127.0.0.1/x")
        return respond("200 OK", b"x", "Cache-Control: max-age=60")
    proxy = serve(origin)
    get(proxy.port, "/x")
    get(proxy.port, "/y", method="POST", content=b"")
    get(proxy.port, "/x")
    assert len(proxy.origin.requests) == 2


def test_cache_status_is_added_where_it_is_wanted(serve):
    proxy = serve(Resource("Cache-Control: max-age=60"), {"telltale": {"cache": {"insert_cache_status": 1}}})
    assert get(proxy.port, "/x").field("Cache-Status") == "telltale; fwd=uri-miss; fwd-status=200; stored"
    assert get(proxy.port, "/x").field("Cache-Status") in ("telltale; hit; ttl=60", "telltale; hit; ttl=59")
    assert get(proxy.port, "/x", [("Cache-Control", "no-cache")]).field("Cache-Status") == \
        "telltale; fwd=request; fwd-status=304; stored; ttl=60"
    assert get(proxy.port, "/x", method="POST", content=b"").field("Cache-Status") == "telltale; fwd=method; fwd-status=200"
    proxy.ctl_ok("config", "set", "proxy.config.telltale.cache.insert_cache_status", "0")
    assert get(proxy.port, "/x").field("Cache-Status") is None


def steps(*answers):
    """An origin that gives one answer after another, and the last one for ever."""
    left = list(answers)
    return lambda request: left.pop(0) if len(left) > 1 else left[0]


@pytest.mark.parametrize("control, fields", [
    ("max-age=60", ["Set-Cookie: a=1", "Set-Cookie: b=2"]),
    ('max-age=60, private="x-user, x-seat"', ["X-User: bob", "X-Seat: 7"]),
    ('max-age=60, no-cache="x-user"', ["X-User: bob"]),
])
def test_what_a_304_brings_for_one_client_is_for_that_client_alone(serve, control, fields):
    """The content is what it was: it is freshened, and the fields that are not kept go to who asked."""
    proxy = serve(steps(respond("200 OK", b"abc", 'ETag: "a"', "Cache-Control: max-age=0", "X-User: old"),
                        respond("304 Not Modified", b"", 'ETag: "a"', f"Cache-Control: {control}", *fields)))
    get(proxy.port, "/x")
    asked, other = get(proxy.port, "/x"), get(proxy.port, "/x")
    names = {line.split(":")[0] for line in fields}
    assert [f"{n}: {v}" for n, v in asked.fields if n in names] == fields
    assert not [f for f in other.fields if f[0] in names]
    assert asked.content == other.content == b"abc" and len(proxy.origin.requests) == 2


def test_a_field_that_became_private_is_not_given_from_what_was_stored_before(serve):
    proxy = serve(steps(respond("200 OK", b"abc", 'ETag: "a"', "Cache-Control: max-age=0", "X-User: alice"),
                        respond("304 Not Modified", b"", 'ETag: "a"', 'Cache-Control: max-age=60, private="x-user"')))
    get(proxy.port, "/x")
    assert [get(proxy.port, "/x").field("X-User") for _ in range(2)] == [None, None]


def test_the_age_of_another_caches_304_is_handed_on(serve):
    proxy = serve(steps(respond("200 OK", b"abc", 'ETag: "a"', "Cache-Control: max-age=0"),
                        respond("304 Not Modified", b"", 'ETag: "a"', "Cache-Control: max-age=1000", "Age: 500")))
    get(proxy.port, "/x")
    for _ in range(2):
        assert 500 <= int(get(proxy.port, "/x").field("Age")) < 560
    assert len(proxy.origin.requests) == 2


@pytest.mark.parametrize("tag, control", [('"other"', "max-age=0"), ('"b"', "no-store")])
def test_a_304_that_ends_one_variant_leaves_the_others(serve, tag, control):
    """One that is about something else, and one that is not to be kept."""
    def origin(request):
        variant = request.field("X-L")
        if request.field("If-None-Match"):
            return respond("304 Not Modified", b"", f"ETag: {tag}", f"Cache-Control: {control}", "Vary: X-L")
        lifetime = 60 if variant == "a" else 0
        return respond("200 OK", variant.encode(), f'ETag: "{variant}"', f"Cache-Control: max-age={lifetime}", "Vary: X-L")
    proxy = serve(origin)
    for variant in "abb":
        assert get(proxy.port, "/x", [("X-L", variant)]).content == variant.encode()
    before = len(proxy.origin.requests)
    assert get(proxy.port, "/x", [("X-L", "a")]).content == b"a"
    assert len(proxy.origin.requests) == before


@pytest.mark.parametrize("age, fresh", [("7200, 0", False), ("0, 7200", True), ("x, 7200", True), ("99999999999999999999999", False)])
def test_of_an_age_that_is_a_list_the_first_member_counts(serve, age, fresh):  # RFC 9111, 5.1
    proxy = serve(respond("200 OK", b"abc", "Cache-Control: max-age=100", f"Age: {age}"))
    for _ in range(2):
        get(proxy.port, "/x")
    assert len(proxy.origin.requests) == (1 if fresh else 2)
