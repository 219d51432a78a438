# SPDX-License-Identifier: Apache-2.0
"""The proxies that Telltale is compared with, a file each; Debian's packages, in the order of --against."""
from .haproxy import Haproxy
from .nginx import Nginx
from .trafficserver import TrafficServer

PEERS = {peer.name: peer for peer in (Haproxy, Nginx, TrafficServer)}
