# SPDX-License-Identifier: Apache-2.0
"""HAProxy. Its traces are started by event and source; none can be on and match nothing, so it runs without."""
from ..servers import free_port
from .peer import Peer


class Haproxy(Peer):
    name, binary, version_option = "haproxy", "haproxy", "-v"

    def __init__(self, *, folder, core, origin_port, debug):
        assert not debug
        port, h2_port = free_port(), free_port()
        values = {"TT_PROXY_PORT": port, "TT_PROXY_H2_PORT": h2_port, "TT_ORIGIN_PORT": origin_port}
        file = folder / "haproxy.cfg"
        file.write_text(self.configuration("haproxy.cfg", values))
        super().__init__(["-db", "-f", file], port, h2_port=h2_port, folder=folder, core=core)
