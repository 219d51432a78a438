# SPDX-License-Identifier: Apache-2.0
"""Traffic Server, without its manager. A layout of its own (runroot.yaml) keeps it out of Debian's folders."""
import pathlib
import shutil

from ..servers import free_port
from .peer import Peer

_DEBIAN = pathlib.Path("/etc/trafficserver")
_EMPTY = ("cache.config", "hosting.config", "logging.yaml", "parent.config", "plugin.config", "sni.yaml", "socks.config",
          "splitdns.config", "ssl_multicert.config", "strategies.yaml", "volume.config")


class TrafficServer(Peer):
    name, binary, version_option = "trafficserver", "traffic_server", "--version"
    debug_words = "proxy.config.diags.debug.enabled 1 with the tags ^nomatch$"

    def __init__(self, *, folder, core, origin_port, debug):
        port = free_port()
        own = folder / ("trafficserver-on" if debug else "trafficserver-off")
        etc = own / "etc"
        for part in (etc, own / "log", own / "run", own / "cache"):
            part.mkdir(parents=True)
        values = {"TT_PROXY_PORT": port, "TT_DEBUG": int(debug)}
        (etc / "records.config").write_text(self.configuration("trafficserver.config", values))
        (etc / "remap.config").write_text(f"map / http://127.0.0.1:{origin_port}/\n")
        (etc / "storage.config").write_text(f"{own / 'cache'} 64M\n")
        for name in _EMPTY:
            (etc / name).write_text("")
        shutil.copy(_DEBIAN / "ip_allow.yaml", etc)  # this machine may; its own text is what the program expects
        (own / "runroot.yaml").write_text(
            f"prefix: {own}\nexec_prefix: /usr\nbindir: /usr/bin\nsbindir: /usr/sbin\nsysconfdir: {etc}\n"
            f"datadir: {own / 'cache'}\nincludedir: /usr/include\nlibdir: /usr/lib/trafficserver\n"
            f"libexecdir: /usr/lib/trafficserver/modules\nlocalstatedir: {own / 'run'}\nruntimedir: {own / 'run'}\n"
            f"logdir: {own / 'log'}\ncachedir: {own / 'cache'}\n")
        super().__init__([f"--run-root={own / 'runroot.yaml'}"], port, folder=own, core=core)
