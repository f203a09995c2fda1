"""Four rules of the validator over judged answers of chatbots: the claims on which a rule rings, and how many of them are right.

usage: python benchmarks/support_rules.py [--slice]
The rules were narrowed while looking at these answers, so the figures are generous. `--slice`: every fourth answer, as the notebooks show it.
"""
import argparse

from rag_quality.benchmark.data import load_chatbot_answers, segment_at
from rag_quality.claims.reading import read
from rag_quality.faithfulness.claims import cite_signs, cited_claims
from rag_quality.faithfulness.frequency import find_frequencies, other_frequency
from rag_quality.faithfulness.limits import denied_exception, other_limit
from rag_quality.faithfulness.match import stand
from rag_quality.faithfulness.context import context_texts, read_source
from rag_quality.faithfulness.rules import other_row
from rag_quality.faithfulness.sentences import other_sentence

RULES = {"support_sentences": "다른 경우의 값", "support_rows": "다른 줄의 값",
         "support_limits": "다른 한계, 부인된 예외", "support_frequency": "다른 주기"}


def rung(claim, source) -> set[str]:
    "The rules that ring on a claim."
    r, out = read(claim.text), set()
    at = stand(r, source, frozenset())
    if r.quantities:
        where = cite_signs(claim, source)[1] or {n[1] for n in at.near[:1]}
        if other_sentence(r, source, where):
            out.add("support_sentences")
        if other_row(r.text, r.quantities, source, range(len(source.texts))):
            out.add("support_rows")
    if other_limit(at, source) or denied_exception(at, source):
        out.add("support_limits")
    if find_frequencies(claim.text) and other_frequency(claim.text, at, source):
        out.add("support_frequency")
    return out


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--slice", action="store_true")
    answers = load_chatbot_answers()[::4 if ap.parse_args().slice else 1]
    labels, n_claims = {name: [] for name in RULES}, 0
    for a in answers:
        source = read_source(context_texts(a.contexts))
        for c in cited_claims(a.text):
            s = segment_at(a, c.claim.start)
            if not s or s.label not in "SPUC":
                continue
            n_claims += 1
            for name in rung(c, source):
                labels[name].append(s.label)
    print(f"답 {len(answers)}개, 판정된 주장 {n_claims}개")
    for name, what in RULES.items():
        print(f"{name:18} {what}: 운 주장 {len(labels[name])}, 그 가운데 참 {labels[name].count('S')}")


if __name__ == "__main__":
    main()
