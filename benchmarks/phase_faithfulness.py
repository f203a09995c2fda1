"""Is a text supported by its passages? The validator against word overlap, on texts that neither was fitted on: python benchmarks/phase_faithfulness.py [--slice]

data/claims dev (the bank: claims that others wrote after the rules; which rules stay was decided on its train and dev, nothing was fitted on it)
and the test half of data/hanbit (reference answers, faithful paraphrases, answers with one false sentence). Before: a text is supported where the
share of its content morphemes (citations left out) that the passages hold, in its poorest sentence, reaches the threshold with the best balanced accuracy on the claims
of every fourth train passage of the bank, or on train and dev of hanbit. After: `FaithfulnessValidator().validate_answer` at its default threshold finds nothing ungrounded.
A value is 1 where the verdict is right. Texts without a claim to check have no verdict and stand in no row; they are counted. `--slice`: every
sixth passage of the bank, every sixth need of hanbit.
"""
import argparse
import json
import re
from collections import Counter, defaultdict
from functools import lru_cache
from pathlib import Path

import numpy as np

from rag_quality.benchmark.data import load_benchmark
from rag_quality.claims.sentences import split_sentences
from rag_quality.faithfulness import FaithfulnessValidator
from rag_quality.korean import KiwiTokenizer
from rag_quality.metrics import auroc

import changes
import kept

BANK = Path(__file__).resolve().parent.parent/"data"/"claims"
KOREAN = {"number": "수", "article": "조문 번호", "entity": "이름", "negation": "긍정·부정", "condition": "조건", "generalisation": "넓힘", "unsupported": "없는 내용",
          "contradicted": "어긋남", "not_in": "글에 없음"}
GROUPS = {                          # kinds of the bank, put together so that a row has enough claims
    "수·단위·한도": "number unit limit", "누가·누구에게·이름": "who whom institution title", "때·차례": "when order", "긍정·부정·양태": "negation modality",
    "조건·예외": "condition_dropped condition_added exception", "범위": "scope", "다른 줄·항·섞임": "row paragraph mixed", "조문 번호": "article",
    "없는 절차": "invented_step", "세부": "detail", "미루어 짐작함": "inference", "비슷한 다른 것": "related other_rule advice"}
GROUP_OF = {kind: group for group, kinds in GROUPS.items() for kind in kinds.split()}
DRAWS = 1000
CITATION = re.compile(r"\s*\[[^\]]*\]")
morphemes = KiwiTokenizer()


def bank(split, step=1):
    "Claims as (id, passage, kind or '' where it is supported, label, text, passages)."
    passages = {p["_id"]: p for p in map(json.loads, (BANK/"passages.jsonl").read_text(encoding="utf8").splitlines())}
    rows = [json.loads(line) for line in (BANK/f"{split}.jsonl").read_text(encoding="utf8").splitlines()]
    chosen = set(list(dict.fromkeys(r["passage"] for r in rows))[::step])
    for r in rows:
        if r["passage"] in chosen:
            p = passages[r["passage"]]
            yield r["_id"], r["passage"], r["label"] != "supported" and r["kind"] or "", r["label"], r["claim"], (f"{p['title']}\n{p['text']}",)


def hanbit(splits, step=1):
    "Answers in the same form."
    for split in splits:
        half = load_benchmark().split(split)
        for need in half.answerable[::step]:
            texts = [("answer", "", need.answer), ("faithful", "", need.paraphrase)]
            texts += [(f"{lie.kind}{k}", lie.kind, lie.answer) for k, lie in enumerate(need.lies)]
            for name, kind, text in texts:
                if text:
                    yield f"{need.id}-{name}", need.id, kind, kind or "supported", text, tuple(half.contexts(need))


@lru_cache(maxsize=64)
def held_by(passages):
    return frozenset(w for p in passages for w in morphemes(p))


def overlap(text, passages):
    "The share of content morphemes that the passages hold, in the sentence that has the least of them, citations left out; None without any."
    held = held_by(passages)
    shares = [sum(w in held for w in words)/len(words) for s in split_sentences(CITATION.sub("", text)) if (words := morphemes(s.text))]
    return min(shares, default=None)


def best_threshold(rows):
    "The overlap that parts supported texts from others with the largest balanced accuracy."
    scored = [(v, not kind) for _, _, kind, _, text, passages in rows if (v := overlap(text, passages)) is not None]
    value, true = np.array([v for v, _ in scored]), np.array([t for _, t in scored])
    cuts = np.unique(value.round(3))
    return float(max(cuts, key=lambda c: (value[true] >= c).mean() + (value[~true] < c).mean()))


def judged(rows, cut):
    "Per text: unit, kind, label, overlap, the validator's worst claim; the verdicts of both, right or wrong (None: the validator has none)."
    validator, out = FaithfulnessValidator(), {}
    for key, unit, kind, label, text, passages in rows:
        r = validator.validate_answer(text, list(passages))
        share, true = overlap(text, passages), not kind
        both = r.score is not None and share is not None
        out[key] = {"unit": unit, "kind": kind, "label": label, "overlap": share, "worst": r.worst_claim_score,
                    "before": float((share >= cut) == true) if both else None, "after": float((not r.ungrounded_claims) == true) if both else None}
    return out


def row(name, found, keep):
    mine = {k: v for k, v in found.items() if keep(v)}
    before, after = ({k: v[side] for k, v in mine.items()} for side in ("before", "after"))
    return name, before, after, changes.paired("맞은 판정", before, after, {k: v["unit"] for k, v in mine.items()})


def plain(found):
    "What stands beside the table: the share right of who always says no, and the balanced accuracy of both."
    mine = [v for v in found.values() if v["before"] is not None]
    share = lambda side, true: float(np.mean([v[side] for v in mine if bool(v["kind"]) != true]))
    return {"늘 아니라고 함": float(np.mean([bool(v["kind"]) for v in mine])),
            **{name: (share(side, True) + share(side, False))/2 for side, name in (("before", "낱말 겹침의 균형 정확도"), ("after", "검증기의 균형 정확도"))}}


def ranked(found, keep):
    "AUROC of word overlap, of the validator's worst claim, and their difference, each with a 95 % bootstrap interval over units."
    mine = [v for v in found.values() if keep(v) and v["before"] is not None]
    if len({bool(v["kind"]) for v in mine}) < 2:
        return None
    units, rng = defaultdict(list), np.random.default_rng(0)
    for i, v in enumerate(mine):
        units[v["unit"]].append(i)
    groups = [np.array(g) for g in units.values()]
    true = np.array([not v["kind"] for v in mine])
    scores = np.array([[v["overlap"], v["worst"]] for v in mine])

    def both(at):
        pair = [auroc(scores[at, side], true[at]) for side in (0, 1)]
        return [*pair, pair[1] - pair[0]] if None not in pair else None
    drawn = [both(np.concatenate([groups[g] for g in rng.integers(0, len(groups), len(groups))])) for _ in range(DRAWS)]
    low, high = np.quantile([d for d in drawn if d], [.025, .975], axis=0)
    told = both(np.arange(len(mine)))
    return {name: {"AUROC" if k < 2 else "차이": told[k], "95 %": [float(low[k]), float(high[k])], "n": len(mine)}
            for k, name in enumerate(("낱말 겹침", "검증기", "검증기 - 낱말 겹침"))}


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--slice", action="store_true", help="every sixth passage and need")
    step = 6 if ap.parse_args().slice else 1
    cuts = {"claims": best_threshold(bank("train", 4*step)), "hanbit": best_threshold(hanbit(("train", "dev"), step))}
    claims, answers = judged(bank("dev", step), cuts["claims"]), judged(hanbit(("test",), step), cuts["hanbit"])
    for name, found in (("claims dev", claims), ("hanbit test", answers)):
        print(f"{name}: {len(found)} texts, {sum(v['before'] is None for v in found.values())} without a verdict, {sum(not v['kind'] for v in found.values())} supported")
    print(f"threshold of the overlap: claims {cuts['claims']:.3f}, hanbit {cuts['hanbit']:.3f}")
    beside = {"주장 은행": plain(claims), "한빛": plain(answers)}
    for name, of in beside.items():
        print(f"{name}: " + ", ".join(f"{k} {v:.3f}" for k, v in of.items()))
    rows = [row("주장 은행, 모두", claims, lambda v: True), row("주장 은행, 참", claims, lambda v: not v["kind"])]
    rows += [row(f"주장 은행, {KOREAN[label]}", claims, lambda v, label=label: v["label"] == label) for label in ("contradicted", "not_in")]
    rows += [row("한빛, 모두", answers, lambda v: True), row("한빛, 참", answers, lambda v: not v["kind"]), row("한빛, 거짓", answers, lambda v: bool(v["kind"]))]
    kinds = [k for k, _ in Counter(v["kind"] for v in answers.values() if v["kind"]).most_common()]
    rows += [row(f"한빛, {KOREAN[k]}", answers, lambda v, k=k: v["kind"] == k) for k in sorted(kinds)]
    table = changes.table(rows)
    changes.show(table)
    parts = [row(group, claims, lambda v, group=group: GROUP_OF.get(v["kind"]) == group) for group in GROUPS]
    parts = changes.table([p for p in parts if p[1]])
    print("claims dev by kind of fault")
    changes.show(parts)
    curves = {"주장 은행": ranked(claims, lambda v: True), "주장 은행, 참과 어긋남": ranked(claims, lambda v: v["label"] != "not_in"),
              "주장 은행, 참과 없음": ranked(claims, lambda v: v["label"] != "contradicted"), "한빛": ranked(answers, lambda v: True)}
    for name, of in curves.items():
        for side, r in (of or {}).items():
            value = r.get("AUROC", r.get("차이"))
            print(f"AUROC {name}: {side} {value:.3f} [{r['95 %'][0]:.3f}, {r['95 %'][1]:.3f}] (n {r['n']})")
    missing = sorted({v["kind"] for v in claims.values() if v["kind"]} - GROUP_OF.keys())
    if missing:
        raise SystemExit(f"kinds without a group: {missing}")
    kept.note(n=len(claims) + len(answers), seed=0, modules=["rag_quality.faithfulness"], thresholds=cuts, faithfulness=table, bank_kinds=parts, auroc=curves, beside=beside)


if __name__ == "__main__":
    kept.run(main, split="claims dev, hanbit test")
