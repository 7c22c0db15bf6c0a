"""The report's first page: what holds, what does not, and why; then every part of every claim."""

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape

from hal.experiments import departures
from hal.experiments.claims import Judgement, verdict_of
from hal.experiments.page import table
from hal.experiments.results import Results
from hal.experiments.suite import EXPERIMENTS
from hal.experiments.verdicts import CONFIRMED, Part


def summary_section(judgements: Sequence[Judgement], results: Mapping[str, Results]) -> str:
    """Return what a reader should know who reads no further."""
    counts = Counter(judgement.verdict for judgement in judgements)
    told = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
    head = ("", "The paper says", "Here", "With the paper's algorithm", "Because")
    columns = "".join(f'<th scope="col">{name}</th>' for name in head)
    rows = "\n".join(map(summary_row, judgements))
    return (
        f"<p>Of {len(judgements)} claims: {told}.</p>\n"
        f'<table class="claims"><thead><tr>{columns}</tr></thead>\n<tbody>{rows}</tbody></table>\n'
        + "\n".join(f"<p>{escape(text)}</p>" for text in departures_told(results))
    )


def summary_row(judgement: Judgement) -> str:
    """Return a claim's verdicts, and the part that decided against it."""
    again = verdict_text(verdict_of(judgement.again)) if judgement.again else ""
    because = decisive(judgement.parts)
    reason = f"{because.what}: {because.verdict}" if because is not None else ""
    return (
        f'<tr><th scope="row">{judgement.claim.number}</th>'
        f"<td>{escape(judgement.claim.says)}</td><td>{verdict_text(judgement.verdict)}</td>"
        f"<td>{again}</td><td>{escape(reason)}</td></tr>"
    )


def decisive(parts: Sequence[Part]) -> Part | None:
    """Return the first part with the verdict on the whole, if that is not a confirmation."""
    verdict = verdict_of(parts)
    if verdict == CONFIRMED:
        return None
    return next(part for part in parts if part.verdict == verdict)


def departures_told(results: Mapping[str, Results]) -> list[str]:
    """Return for each task which departures from the paper matter, and which way."""
    measured = results.get(departures.NAME, [])
    told = []
    for task in EXPERIMENTS[departures.NAME].tasks if measured else ():
        effects = departures.effects(measured, task)
        worse = [e.name for e in effects if e.matters and e.is_worse]
        better = [e.name for e in effects if e.matters and not e.is_worse]
        told.append(
            f"Our departures from the paper, put back to its way one by one on {task}, and all at"
            f" once (faithful): worse {_listed(worse)}; better {_listed(better)}; the others make"
            " no difference that the seeds show."
        )
    return told


def _listed(names: Sequence[str]) -> str:
    return f"with {', '.join(names)}" if names else "with none"


def claims_section(judgements: Sequence[Judgement]) -> str:
    """Return the paper's claims and what became of them, part by part."""
    head = "".join(f'<th scope="col">{name}</th>' for name in ("", "Paper", "Measured", "Verdict"))
    rows = "\n".join(map(claim_row, judgements))
    return f'<table class="claims"><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table>'


def claim_row(judgement: Judgement) -> str:
    """Return a claim, each of its parts and the verdict."""
    claim = judgement.claim
    verdicts = f"<strong>{verdict_text(judgement.verdict)}</strong>"
    parts = part_items(judgement.parts)
    if judgement.again:
        parts += f"<li><em>With the paper's algorithm:</em></li>{part_items(judgement.again)}"
        verdicts += f"<br>with the paper's algorithm {verdict_text(verdict_of(judgement.again))}"
    return (
        f'<tr><th scope="row">{claim.number}</th><td>{escape(claim.says)}</td>'
        f'<td class="measured"><ul>{parts}</ul></td><td>{verdicts}</td></tr>'
    )


def part_items(parts: Sequence[Part]) -> str:
    """Return the parts of a claim, with their numbers."""
    return "".join(
        f"<li>{escape(part.what)}: {verdict_text(part.verdict)}"
        f' <span class="quiet">{escape(part.measured)}</span></li>'
        for part in parts
    )


def verdict_text(verdict: str) -> str:
    """Return a verdict in its colour."""
    return f'<span class="verdict {verdict.replace(" ", "-")}">{escape(verdict)}</span>'


def effects_tables(results: Results) -> str:
    """Return for each task what every departure changes."""
    return "\n".join(
        table(
            f"HAL on {task} with one departure put back to the paper's way",
            departures.COLUMNS,
            map(departures.effect_row, departures.effects(results, task)),
        )
        for task in EXPERIMENTS[departures.NAME].tasks
    )
