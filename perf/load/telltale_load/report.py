# SPDX-License-Identifier: Apache-2.0
"""What is printed, and what is saved."""
import dataclasses

from . import figures
from .figures import OFF, OFF_AGAIN, PEER_NAMES, VARIANTS, WRITING, of_debug, of_variant, peer_on, ratios, shared, third
from .gates import verdicts

_COMPARISONS = [(OFF_AGAIN, OFF), (figures.UNMATCHED, OFF),
                *((form(name), OFF) for name in WRITING for form in (str, shared)),
                *((OFF, peer) for peer in PEER_NAMES), *((peer_on(peer), peer) for peer in PEER_NAMES)]
FEW_ROUNDS = 10
FEW_ROUNDS_TEXT = f"few rounds: under {FEW_ROUNDS}, this shows that it works, not how fast."


def facts_text(facts):
    return "".join(f"{name + ':':<24}{value}\n" for name, value in facts.items())


def run_text(run):
    return f"{run.variant} {run.requests_per_second:,.0f} req/s {run.cpu_us_per_request:.2f} us"


def report_text(runs):
    """Tables, remarks and verdicts."""
    variants = sorted({run.variant for run in runs}, key=VARIANTS.index)
    rounds = len({run.round for run in runs})
    out = [f"{rounds} rounds; median (lowest .. highest)", "",
           f"{'variant':<23}{'requests/s':<34}{'CPU us per request':<28}{'backend':<9}{'core busy':<11}waited"]
    for name in variants:
        rate, cpu = of_variant(runs, name, "requests_per_second"), of_variant(runs, name, "cpu_us_per_request")
        rate_text = f"{rate.median:,.0f} ({rate.low:,.0f} .. {rate.high:,.0f})"
        cpu_text = f"{cpu.median:.3f} ({cpu.low:.3f} .. {cpu.high:.3f})"
        out.append(f"{name:<23}{rate_text:<34}{cpu_text:<28}"
                   f"{of_variant(runs, name, 'backend_us_per_request').median:<9.3f}"
                   f"{of_variant(runs, name, 'busy').median:<11.1%}{of_variant(runs, name, 'waited').median:.1%}")
    out += ["", f"{'within each round':<36}{'requests/s':<28}CPU us per request"]
    for name, base in _COMPARISONS:
        if name in variants and base in variants:
            label = f"{name} / {base}" + (" (noise)" if name == OFF_AGAIN else "")
            out.append(f"{label:<36}{_ratio_text(runs, name, base, 'requests_per_second'):<28}"
                       f"{_ratio_text(runs, name, base, 'cpu_us_per_request')}")
    out += _lines_text(runs, [name for name in variants if of_debug(name)])
    out += ["", *_remarks(runs, variants, rounds)]
    out += [f"{verdict.state:<12}{verdict.gate}: {verdict.why}" for verdict in verdicts(runs)]
    return "\n".join(out) + "\n"


def _lines_text(runs, variants):
    """The debug lines of the variants that have some."""
    if not variants:
        return []
    out = ["", f"{'debug lines':<23}{'a request':<11}{'produced a run':<18}{'kept':<9}{'dropped a run':<16}unaccounted"]
    for name in variants:
        produced, dropped = (of_variant(runs, name, figure).median for figure in ("produced", "dropped"))
        recorder = of_debug(name) == figures.RECORDER
        unaccounted = max((run.unaccounted for run in runs if run.variant == name), key=abs)
        out.append(f"{name:<23}{of_variant(runs, name, 'lines_per_request').median:<11.2f}{produced:<18,.0f}"
                   f"{'newest' if recorder else format(of_variant(runs, name, 'kept_share').median, '.1%'):<9}"
                   f"{dropped:<16,.0f}{'-' if recorder else format(unaccounted, ',')}")
    return out


def _ratio_text(runs, name, base, figure):
    ratio = ratios(runs, name, base, figure)
    return f"{ratio.median:.4f} ({ratio.low:.3f} .. {ratio.high:.3f})"


def _remarks(runs, variants, rounds):
    out = []
    full = [name for name in variants if name not in map(third, WRITING)]
    bound = figures.generator_bound(runs, *full)
    if bound:
        out.append(f"generator-bound: the proxy's core was under {figures.BUSY:.0%} busy under {'; '.join(bound)}. "
                   "There requests/s say little about the proxy: CPU time per request says more.")
    # Where lines are written, the debug writer and the worker may wait for each other: no sign of other work.
    disturbed = [name for name in variants
                 if not of_debug(name) and of_variant(runs, name, "waited").median > figures.DISTURBED]
    if disturbed:
        out.append("disturbed: other work (on one core, also the generator) had the proxy's core for over "
                   f"{figures.DISTURBED:.0%} of the time under {'; '.join(disturbed)}. "
                   "Repeat this on a quiet machine: these figures are no evidence.")
    if rounds < FEW_ROUNDS:
        out.append(FEW_ROUNDS_TEXT)
    return [*out, ""] if out else []


def saved(facts, settings, runs):
    """The content of a results file: facts, settings, verdicts, and every run in the order it was made."""
    return {"version": 2, "facts": facts, "settings": settings,
            "verdicts": [dataclasses.asdict(verdict) for verdict in verdicts(runs)],
            "runs": [{**dataclasses.asdict(run), "cpu_us_per_request": run.cpu_us_per_request, "busy": run.busy}
                     for run in runs]}
