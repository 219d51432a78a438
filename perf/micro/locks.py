#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OneWriterMultiReader beside other locks: runs one_writer_multi_reader_bench, prints tables, draws a plot.

usage: locks.py PROGRAM [--save NAME] [--gate]
       locks.py --from FILE.json [--save NAME] [--gate]

--save NAME keeps the run as perf/results/NAME.json, NAME.md (the tables) and NAME.svg (the plot). --gate ends
with status 1 where a gate is missed. A run takes 70 s and says little while anything else has the processors.
"""
import argparse
import json
import math
import pathlib
import re
import subprocess
import sys

RESULTS = pathlib.Path(__file__).resolve().parents[1] / "results"
OURS, STANDARD = "OneWriterMultiReader", "std::shared_mutex"
READERS = (1, 2, 4, 8)
COLOURS = {OURS: "#c0392b", STANDARD: "#2c3e50", "pthread, prefers readers": "#7f8c8d",
           "pthread, prefers writers": "#2980b9", "absl::Mutex": "#27ae60", "liburcu, read side": "#8e44ad"}


class Run:
    """What Google Benchmark's JSON says, by what was measured."""

    def __init__(self, text):
        self.raw = json.loads(text)
        self.reads, self.loops, self.writes, self.lookups = {}, {}, {}, {}
        for one in self.raw["benchmarks"]:
            name = one["name"]
            if match := re.match(r"Reads<(.*)>/(\d+)/(\d)/", name):
                self.reads[match[1], int(match[2]), match[3] == "1"] = one
            elif match := re.match(r"Loop<(.*)>/", name):
                self.loops[match[1]] = one
            elif match := re.match(r"Write<(.*)>", name):
                self.writes[match[1]] = one["real_time"]
            elif match := re.match(r"(Lookup<(.*)>|Bare|StringTag)/.*threads:(\d+)", name):
                self.lookups[match[2] or match[1], int(match[3])] = one["items_per_second"]
        self.locks = list(dict.fromkeys(lock for lock, _, _ in self.reads))

    def rate(self, lock, readers, writer=False):
        return self.reads[lock, readers, writer]["reads_per_s"]


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def millions(number):
    return f"{number / 1e6:,.1f}" if number < 1e8 else f"{number / 1e6:,.0f}"


def duration(us):
    return f"{us:,.1f} us" if us < 1000 else f"{us / 1000:,.1f} ms"


def tables(run):
    counts = [f"{n} reader" + "s" * (n > 1) for n in READERS]
    parts = []
    for writer, title in ((False, "no writer"), (True, "a writer every 5 ms")):
        parts.append(f"Reads with nothing inside, {title}; all threads together, millions a second:\n\n" + table(
            ["lock", *counts],
            [[lock, *(millions(run.rate(lock, n, writer)) for n in READERS)] for lock in run.locks]))
    parts.append("The writer's wait (half of the writes waited less / 99 of 100 / longest), and writes in a second; 200 were "
                 "asked for:\n\n" + table(["lock", *counts], [
                     [lock, *(wait(run.reads[lock, n, True]) for n in READERS)] for lock in run.locks]))
    parts.append("Eight readers and a writer without pause, one second; and a write that nobody disturbs:\n\n" + table(
        ["lock", "reads, millions", "writes", "longest wait", "lone write, ns"],
        [[lock, millions(loop["reads_per_s"]), f"{loop['writes']:,.0f}", duration(loop["wait_longest_us"]),
          f"{run.writes[lock]:,.0f}"] for lock, loop in run.loops.items()]))
    threads = sorted({count for _, count in run.lookups})
    parts.append("Look-up of a tag's name among 600, millions a second:\n\n" + table(
        ["", *(f"{n} thread" + "s" * (n > 1) for n in threads)],
        [[label, *(millions(run.lookups[key, n]) if (key, n) in run.lookups else "" for n in threads)]
         for key, label in (("Bare", "the table, no lock"), (OURS, f"under {OURS}"), (STANDARD, f"under {STANDARD}"),
                            ("StringTag", "a string-tag call"))]))
    return "\n".join(parts)


def wait(one):
    parts = (duration(one[f"wait_{which}_us"]) for which in ("p50", "p99", "longest"))
    return " / ".join(parts) + f"; {one['writes']:,.0f}"


def gates(run):
    """(what, seen, demanded, kept) each."""
    for n in (2, 4):
        ratio = run.rate(OURS, n) / run.rate(STANDARD, n)
        yield f"empty section, {n} readers, against {STANDARD}", f"{ratio:.1f} times", "at least 10", ratio >= 10
        ratio = run.lookups[OURS, n] / run.lookups[STANDARD, n]
        yield f"look-up, {n} threads, against {STANDARD}", f"{ratio:.1f} times", "at least 2", ratio >= 2
        ratio = run.lookups["Bare", n] / run.lookups["StringTag", n]
        yield f"string-tag call, {n} threads, against the bare look-up", f"{ratio:.1f} times the time", "at most 3", ratio <= 3
    waits = run.reads[OURS, 8, True]
    p99, longest = waits["wait_p99_us"], waits["wait_longest_us"]
    yield "writer's wait with 8 readers, 99 of 100", duration(p99), "under 1 ms", p99 < 1e3
    yield "writer's wait with 8 readers, longest", duration(longest), "under 50 ms", longest < 50e3


class Panel:
    """One set of axes of the plot: readers to the right, a logarithmic scale upwards."""

    width, height = 300, 260

    def __init__(self, left, title, low, high, label):
        self.left, self.low, self.high = left, math.log10(low), math.log10(high)
        self.parts = [f'<text x="{left}" y="24" font-weight="bold">{title}</text>',
                      f'<rect x="{left}" y="40" width="{self.width}" height="{self.height}" fill="none" stroke="#999"/>']
        for power in range(math.ceil(self.low), math.floor(self.high) + 1):
            y = self.y(10 ** power)
            self.parts.append(f'<path d="M{left} {y:.1f}h{self.width}" stroke="#ddd"/>'
                              f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{label(10 ** power)}</text>')
        for n in READERS:
            self.parts.append(f'<text x="{self.x(n):.1f}" y="{58 + self.height}" text-anchor="middle">{n}</text>')
        self.parts.append(f'<text x="{left + self.width / 2}" y="{76 + self.height}" text-anchor="middle">readers</text>')

    def x(self, readers):
        return self.left + 20 + (self.width - 40) * math.log2(readers) / 3

    def y(self, value):
        share = (math.log10(max(value, 10 ** self.low)) - self.low) / (self.high - self.low)
        return 40 + self.height * (1 - share)

    def line(self, lock, values):
        points = [(self.x(n), self.y(value)) for n, value in zip(READERS, values)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLOURS[lock]}"/>' for x, y in points)
        width = 3 if lock == OURS else 1.5
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[lock]}" stroke-width="{width}"/>' + dots)


def plot(run):
    def rates(left, title):
        return Panel(left, title, 3e5, 3e9, lambda value: f"{value / 1e6:,.0f} M" if value >= 1e6 else f"{value:,.0f}")

    panels = [rates(70, "reads/s, no writer"), rates(450, "reads/s, a writer every 5 ms"),
              Panel(830, "longest wait of that writer", 0.5, 3e6, lambda us: duration(us).replace(".0", ""))]
    for lock in run.locks:
        panels[0].line(lock, [run.rate(lock, n) for n in READERS])
        panels[1].line(lock, [run.rate(lock, n, True) for n in READERS])
        panels[2].line(lock, [run.reads[lock, n, True]["wait_longest_us"] for n in READERS])
    legend = "".join(f'<rect x="{70 + 180 * i}" y="352" width="14" height="14" fill="{COLOURS[lock]}"/>'
                     f'<text x="{90 + 180 * i}" y="364">{lock}</text>' for i, lock in enumerate(run.locks))
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="1160" height="380" font-family="sans-serif" font-size="12">'
            '<rect width="1160" height="380" fill="white"/>'
            + "".join(part for panel in panels for part in panel.parts) + legend + "</svg>\n")


def page(run, name, text):
    context = run.raw["context"]
    return (f"<!-- SPDX-License-Identifier: Apache-2.0 -->\n# {OURS} beside other locks\n\n"
            f"{context['num_cpus']} processors of {context['mhz_per_cpu']} MHz, {context['date'][:10]}, load when it began "
            f"{context['load_avg'][0]:.1f}. Command: `./tt bench locks --save {name}`. What the rows mean: "
            f"`perf/micro/one_writer_multi_reader_bench.cc`. liburcu's read side is not a lock: its readers never wait, and "
            f"its *write* is the wait until what was replaced may be freed.\n\n![plot]({name}.svg)\n\n{text}")


def main():
    options = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    options.add_argument("program", nargs="?")
    options.add_argument("--from", dest="file")
    options.add_argument("--save", metavar="NAME")
    options.add_argument("--gate", action="store_true")
    options = options.parse_args()
    if (options.program is None) == (options.file is None):
        sys.exit("locks.py takes the benchmark program or --from FILE.json")
    if options.file:
        text = pathlib.Path(options.file).read_text()
    else:
        text = subprocess.run([options.program, "--benchmark_format=json"], check=True, stdout=subprocess.PIPE, text=True).stdout
    run = Run(text)
    judged = list(gates(run))
    text = tables(run) + "\nGates:\n\n" + table(
        ["", "seen", "demanded", ""], [[what, seen, want, "kept" if kept else "MISSED"] for what, seen, want, kept in judged])
    print(text)
    if options.save:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{options.save}.json").write_text(json.dumps(without_host(run.raw), indent=1) + "\n")
        (RESULTS / f"{options.save}.md").write_text(page(run, options.save, text))
        (RESULTS / f"{options.save}.svg").write_text(plot(run))
    if options.gate and not all(kept for *_, kept in judged):
        sys.exit(1)


def without_host(raw):
    """The run without the machine's name and paths."""
    context = {key: value for key, value in raw["context"].items() if key not in ("host_name", "executable")}
    return {**raw, "context": context}


if __name__ == "__main__":
    main()
