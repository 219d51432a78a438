# SPDX-License-Identifier: Apache-2.0
"""What is stored, what is served from the cache, and how long."""
import email.utils
import time

import pytest

from telltale_e2e import Connection, get, pattern, wait_until


def hit_twice(proxy, target, fields=()):
    """Asks twice; (second response, requests that reached the origin)."""
    path = target.split("?")[0]
    get(proxy.port, target, fields)
    second = get(proxy.port, target, fields)
    return second, proxy.origin.hits(path)


def test_a_fresh_response_is_served_from_the_cache_with_age(proxy):
    first = get(proxy.port, "/bytes/1000")
    second, hits = hit_twice(proxy, "/bytes/1000")
    assert hits == 1 and first.field("Age") in (None, "0")
    assert second.content == pattern(1000) and 0 <= int(second.field("Age")) < 60
    assert second.field("ETag") == first.field("ETag") and second.field("Content-Length") == "1000"


def test_a_chunked_response_is_stored_whole(proxy):
    second, hits = hit_twice(proxy, "/chunked/100000")
    assert hits == 1 and second.content == pattern(100_000)


def test_age_grows_and_a_stale_response_is_not_served_again(proxy):
    target = "/bytes/10?cc=max-age=2"
    get(proxy.port, target)
    assert wait_until(lambda: int(get(proxy.port, target).field("Age") or 0) >= 1, "Age to reach 1")
    wait_until(lambda: get(proxy.port, target) and proxy.origin.hits("/bytes/10") >= 2, "the origin to be asked again")


@pytest.mark.parametrize("query, stored", [
    ("cc=max-age=60", True),
    ("cc=s-maxage=60", True),
    ("cc=public,%20max-age=60", True),
    ("cc=max-age=0,%20s-maxage=60", True),
    ("cc=max-age=60,%20x=%22no-store%22", True),
    ("cc=no-store", False),
    ("cc=no-store,%20max-age=60", False),
    ("cc=private", False),
    ("cc=private,%20max-age=60", False),
    ("cc=PRIVATE,max-age=60", False),
    ("cc=no-cache,%20max-age=60", False),
    ("cc=max-age=0", False),
    ("cc=s-maxage=0,%20max-age=60", False),
    ("cc=max-age=-1", False),
    ("cc=max-age=abc", False),
    ("cc=max-age=60&h=Vary:%20Accept", True),
    ("cc=max-age=60&h=Vary:%20*", False),
    ("cc=&h=Expires:%200", False),
    ("cc=max-age=60&h=Expires:%200", True),
    ("cc=max-age=60&h=Age:%2060", False),
    ("cc=max-age=60&status=500", False),
    ("cc=max-age=60&status=404", True),
])
def test_a_response_is_used_again_exactly_when_it_may_be(proxy, query, stored):
    second, hits = hit_twice(proxy, f"/bytes/20?{query}")
    assert hits == (1 if stored else 2)
    assert second.content == pattern(20)
    if "h=Age" not in query:
        assert (second.field("Age") is not None) == stored


def test_expires_makes_a_response_fresh_until_then(proxy):
    later = email.utils.formatdate(time.time() + 3600, usegmt=True).replace(" ", "%20")
    earlier = email.utils.formatdate(time.time() - 3600, usegmt=True).replace(" ", "%20")
    assert hit_twice(proxy, f"/bytes/30?cc=&h=Expires:{later}")[1] == 1
    assert hit_twice(proxy, f"/bytes/31?cc=&h=Expires:{earlier}")[1] == 2


def test_a_response_to_a_request_with_authorization_is_not_stored(proxy):
    assert hit_twice(proxy, "/bytes/40", [("Authorization", "Basic QQ==")])[1] == 2
    assert get(proxy.port, "/bytes/40").field("Age") in (None, "0")


def test_a_response_with_set_cookie_is_not_given_to_others(proxy):  # B152
    second, hits = hit_twice(proxy, "/bytes/41?h=Set-Cookie:%20sid=1")
    assert hits == 2 and second.all("Set-Cookie") == ["sid=1"]


def test_a_request_that_says_no_store_is_not_stored(proxy):
    assert hit_twice(proxy, "/bytes/42", [("Cache-Control", "no-store")])[1] == 2


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_other_methods_go_to_the_origin_and_are_not_answered_from_the_cache(proxy, method):
    get(proxy.port, "/bytes/50")
    get(proxy.port, "/bytes/50", method=method, content=b"")
    get(proxy.port, "/bytes/50", method=method, content=b"")
    assert proxy.origin.hits("/bytes/50") >= 3


def test_head_is_answered_from_a_stored_get(proxy):
    get(proxy.port, "/bytes/1200")
    with Connection(proxy.port) as connection:
        head = connection.request("HEAD", "/bytes/1200")
        assert (head.status, head.field("Content-Length")) == (200, "1200") and head.field("Age") is not None
        assert connection.request("GET", "/bytes/1200").content == pattern(1200)
    assert proxy.origin.hits("/bytes/1200") == 1


def test_the_answer_to_head_is_never_stored_as_the_content_of_get(proxy):  # B119
    with Connection(proxy.port) as connection:
        assert connection.request("HEAD", "/bytes/12").field("Content-Length") == "12"
        assert connection.request("GET", "/bytes/12").content == pattern(12)
        assert connection.request("HEAD", "/bytes/12").field("Content-Length") == "12"
        assert connection.request("GET", "/bytes/12").content == pattern(12)


def test_different_targets_are_different_responses(proxy):  # B150
    for n, target in enumerate(("/", "/?", "//", "/./", "/%2e", "/bytes/1", "/bytes/1?a", "/bytes/1?A", "/Bytes/1")):
        get(proxy.port, target)
        assert proxy.origin.hits()["total"] == n + 1, target


def test_conditional_and_range_requests_get_right_bytes(proxy):  # B144
    get(proxy.port, "/bytes/60")
    part = get(proxy.port, "/bytes/60", [("Range", "bytes=0-3")])
    assert (part.status, part.content) in [(206, pattern(4)), (200, pattern(60))]
    tag = get(proxy.port, "/bytes/60").field("ETag")
    assert get(proxy.port, "/bytes/60", [("If-None-Match", tag)]).status in (200, 304)
    assert get(proxy.port, "/bytes/60").content == pattern(60)


def test_a_part_is_never_stored_as_the_whole(start_daemon, start_origin):  # B144
    def answer(request):
        if request.field("Range"):
            return (b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-3/10\r\nContent-Length: 4\r\n"
                    b"Cache-Control: max-age=60\r\n\r\n0123")
        return b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\nCache-Control: max-age=60\r\n\r\n0123456789"
    daemon = start_daemon(origin_port=start_origin(answer).port)
    assert get(daemon.port, "/x", [("Range", "bytes=0-3")]).content == b"0123"
    assert get(daemon.port, "/x").content == b"0123456789"


def test_stored_responses_keep_within_the_bound_and_the_oldest_go(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port, records={"cache": {"ram_cache": {"size": 4_000_000}}})
    for n in range(60):
        assert get(daemon.port, f"/bytes/{200_000 + n}").content == pattern(200_000 + n)
    before = tt_origin.hits()["total"]
    again = sum(get(daemon.port, f"/bytes/{200_000 + n}").field("Age") is not None for n in range(59, -1, -1))
    assert tt_origin.hits()["total"] - before == 60 - again
    assert 1 <= again <= 20, f"{again} of 60 responses of 200 kB came from a cache of 4 MB"


def test_a_response_over_the_object_limit_is_served_but_not_stored(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port, records={"telltale": {"cache": {"object_size_max": 1000}}})
    for kind in ("bytes", "chunked"):
        for count, requests in ((1000, 1), (1001, 2)):
            for _ in range(2):
                assert get(daemon.port, f"/{kind}/{count}").content == pattern(count)
            assert tt_origin.hits(f"/{kind}/{count}") == requests, (kind, count)


def test_the_cache_can_be_left_out_while_running(proxy):
    get(proxy.port, "/bytes/70")
    proxy.ctl_ok("config", "set", "proxy.config.http.cache.http", "0")
    get(proxy.port, "/bytes/70")
    assert proxy.origin.hits("/bytes/70") == 2


def test_with_the_clients_host_at_the_origin_two_hosts_have_two_responses(start_daemon, start_tt_origin):
    origin = start_tt_origin()
    proxy = start_daemon(origin_port=origin.port, records={"url_remap": {"pristine_host_hdr": 1}},
                         remap=[f"map http://{host}/ http://127.0.0.1:{origin.port}/" for host in ("a.test", "b.test")])
    for n, host in enumerate(("a.test", "b.test")):
        get(proxy.port, "/bytes/7", host=host)
        assert origin.hits("/bytes/7") == n + 1, host
    get(proxy.port, "/bytes/7", host="A.TEST")
    assert origin.hits("/bytes/7") == 2
