# SPDX-License-Identifier: Apache-2.0
"""nginx. Debian builds it --with-debug; the debug log is on for one client, who never comes."""
from ..servers import free_port
from .peer import Peer

_NOBODY = "192.0.2.1"  # RFC 5737: no host has it


class Nginx(Peer):
    name, binary, version_option = "nginx", "nginx", "-v"
    debug_words = f"debug_connection {_NOBODY}, a client that never comes"
    tells_age = False  # what it serves from its cache carries no Age; the origin's count shows where it came from

    def __init__(self, *, folder, core, origin_port, debug):
        port, h2_port = free_port(), free_port()
        own = folder / ("nginx-on" if debug else "nginx-off")
        own.mkdir()
        values = {"TT_PROXY_PORT": port, "TT_PROXY_H2_PORT": h2_port, "TT_ORIGIN_PORT": origin_port, "TT_FOLDER": own,
                  "TT_DEBUG": f"debug_connection {_NOBODY};" if debug else ""}
        (own / "nginx.conf").write_text(self.configuration("nginx.conf", values))
        super().__init__(["-p", own, "-e", own / "error.log", "-c", own / "nginx.conf"], port, h2_port=h2_port,
                         folder=own, core=core)
