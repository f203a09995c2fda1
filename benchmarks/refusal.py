"""Refusal: are questions that the regulations don't answer refused, and those that they answer not? By register and kind.

usage: python benchmarks/refusal.py [DATA_FOLDER] [--k 5] [--fit] [--slice]
       hanbit dev/test always; DATA_FOLDER/regs where it is there. Each answerable query counts once with its articles and once
       with every relevant article withheld (then it has to be refused), each unanswerable one once: refusal is the positive class.
       --fit: learn data/config/relevance_calibration.json anew on hanbit dev.
"""
import argparse, json, sys, time
from collections import Counter
from pathlib import Path

import numpy as np

from rag_quality.semantic_eval.calibration import reliability
from rag_quality.core import bundle_path, save_config
from rag_quality.data import bundled, load_collection
from rag_quality.experiment import pipeline
from rag_quality.korean.formality import detect_formality
from rag_quality.grading.context import KnowingScorer
from rag_quality.metrics import auroc, number
from rag_quality.relevance import CONTEXT_FEATURES, PASSAGE_FEATURES, RelevanceScorer, absent_share, context_evidence, fit_logistic
from rag_quality.knowledge.talk import needs_retrieval

import kept

PRIOR = 2/3    # the share of questions that the collection answers, which the calibration assumes
USE = {"passage": ("cover", "exact", "article", "regulation", "bm25", "phrase", "lacks"), "context": ("bm25", "gap", "cover", "exact", "article", "regulation", "lacks", "length")}

SIGNS = {**{f: 1 for f in ("cover", "exact", "line", "article", "regulation", "bm25", "phrase", "least", "gap")}, "lacks": -1, "absent": -1}

def cases(collection, limit=None):
    "One dict a case: what was asked, what the default pipeline found, and whether the regulations answer it."
    kinds = {}
    if (f := bundle_path("hanbit", "needs.jsonl")).is_file() and collection.name == "hanbit":
        kinds = {r["need"]: r.get("unanswerable") for r in map(json.loads, f.read_text(encoding="utf8").splitlines())}
    system, out = pipeline(collection)[-1], []
    for q in collection.queries[:limit]:
        r = system.search(q.text, 40); relevant = {d: g for d, g in collection.qrels.get(q.query_id, {}).items() if g > 0}
        one = dict(query=q.text, also=r.text, need=q.metadata.get("pair", q.query_id), split=q.metadata.get("split", "dev"), register="formal" if q.query_id.endswith("-f") else "colloquial")
        hits = [p for p, _ in r.hits]
        if relevant:
            out.append({**one, "kind": "answerable", "hits": hits, "grades": relevant, "withheld": []})
            out.append({**one, "kind": "withheld", "hits": [p for p in hits if p.doc_id not in relevant], "grades": {}, "withheld": sorted(relevant)})
        else: out.append({**one, "kind": kinds.get(one["need"]) or "unanswerable", "hits": hits, "grades": {}, "withheld": []})
    return out

def scorer_of(scorer, case): return scorer.without(case["withheld"]) if case["withheld"] and scorer.collection is not None else scorer

def decide(scorer, found, k):
    "P(the context answers) of each case, 0 where nothing need be looked up."
    return np.array([scorer_of(scorer, c).score_context(c["query"], c["hits"][:k], also=c["also"]).score if needs_retrieval(c["query"]).needed else 0. for c in found])

def f1(refused, should): return 2*(refused & should).sum()/max(refused.sum() + should.sum(), 1)

def interval(refused, should, needs, n_boot=1000):
    "Percentile bootstrap of F1 over needs."
    rng, at = np.random.default_rng(0), {}
    for i, n in enumerate(needs): at.setdefault(n, []).append(i)
    groups = [np.array(v) for v in at.values()]; draws = []
    for _ in range(n_boot):
        i = np.concatenate([groups[j] for j in rng.integers(len(groups), size=len(groups))]); draws.append(f1(refused[i], should[i]))
    return np.quantile(draws, .025), np.quantile(draws, .975)

def report(name, found, p, k):
    has = np.array([any(d.doc_id in c["grades"] for d in c["hits"][:k]) for c in found])
    should = np.array([c["kind"] != "answerable" for c in found]); refused = p < .5; needs = np.array([c["need"] for c in found])
    print(f"{name}: 질의 {len(found)}건 (답이 있음 {int((~should).sum())}, 거절해야 함 {int(should.sum())}: {dict(Counter(c['kind'] for c in found if c['kind'] != 'answerable'))})")
    for reg in ("formal", "colloquial", "all"):
        m = np.array([reg == "all" or c["register"] == reg for c in found])
        if not m.any() or should[m].all(): continue
        lo, hi = interval(refused[m], should[m], needs[m]); r = reliability(p[m], has[m], bins=5)
        print(f"  {reg:10} 거절 F1 {f1(refused[m], should[m]):.3f} [{lo:.3f}, {hi:.3f}]  정밀도 {should[m & refused].mean() if (m & refused).any() else 0:.3f} 재현율 {refused[m & should].mean():.3f}"
              f"  헛거절 {refused[m & ~should].mean():.3f}  AUROC {number(auroc(p[m], ~should[m]))}  ECE(맥락에 답이 있나) {r.ece:.3f}  찾은 맥락에 답이 있음 {has[m & ~should].mean():.2f}" + ("  목표 F1 0.85, 헛거절 0.10" if reg == "formal" else ""))
        print("             갈래별 거절 " + ", ".join(f"{x} {refused[m & (kind == x)].mean():.2f} (n {int((m & (kind == x)).sum())})" for kind in [np.array([c["kind"] for c in found])] for x in dict.fromkeys(kind[m].tolist())))

def fit(found, scorer, k):
    "Logistic models of passages and contexts, for each register, with and without the collection's statistics."
    models, ns = {}, Counter()
    for key, base in (("collection", scorer), ("alone", RelevanceScorer(config=scorer_config()))):
        rows = {}
        for c in found:
            s = scorer_of(base, c); reg = detect_formality(c["query"]).register; part = rows.setdefault(reg, {"passage": [], "context": []})
            q, w, ev = s.evidence(c["query"], c["hits"][:10], also=c["also"]); absent = absent_share(s.collection, q) if s.collection is not None else 0.
            top = {d.doc_id for d in c["hits"][:k]}
            part["context"].append((context_evidence(ev[:k], w, absent), bool(top & set(c["grades"])), c["kind"] == "answerable"))
            if c["kind"] == "answerable": part["passage"] += [(e.values, c["grades"].get(d.doc_id, 0) == 2, True) for e, d in zip(ev, c["hits"]) if c["grades"].get(d.doc_id, 0) != 1]
        models[key] = {}
        for reg, parts in rows.items():
            models[key][reg] = {}
            for part, data in parts.items():
                x, yes, answerable = (np.array(v) for v in zip(*data)); share = answerable.mean()
                counts = np.ones(len(yes)) if part == "passage" else np.where(answerable, PRIOR/share, (1-PRIOR)/(1-share))
                use = USE[part] + (("absent",) if key == "collection" and part == "context" else ())
                m = fit_logistic(x, yes, PASSAGE_FEATURES if part == "passage" else CONTEXT_FEATURES, use=use, counts=counts, signs=SIGNS); models[key][reg][part] = {"bias": m.bias, "weights": m.weights}
                ns[f"{reg} {part}"] = len(yes)
    return {"version": "1.0.0", "description": "관련도의 보정: 조문 하나(passage)와 맥락 전체(context)가 질의에 답할 확률. 규정집의 통계가 있을 때(collection)와 없을 때(alone), 질의의 말투마다. 쓰는 곳: rag_quality.relevance",
            "prior": PRIOR, "models": models, "provenance": {"set": "data/hanbit dev", "needs": len({c["need"] for c in found}), "rows": dict(ns), "retrieval": "the default pipeline, 5 passages a context (10 for passages)",
            "negatives": "the needs that the collection does not answer, and every answerable query once more with its relevant articles withheld", "command": "python benchmarks/refusal.py --fit"}}

def scorer_config():
    one = {"bias": 0., "weights": {}}
    return {"models": {k: {r: {"passage": one, "context": one} for r in ("written", "colloquial")} for k in ("collection", "alone")}}

def talk():
    "needs_retrieval on benchmarks/talk.tsv: the held-out half was not used to write the rules."
    rows = [line.split("\t") for line in (Path(__file__).parent/"talk.tsv").read_text(encoding="utf8").splitlines()]
    for split in ("dev", "heldout"):
        right, n = Counter(), Counter()
        for s, kind, text in rows:
            if s == split: n[kind] += 1; right[kind] += needs_retrieval(text, own=["새솔대학교"]).needed == (kind == "question")
        print(f"needs_retrieval {split:8} " + ", ".join(f"{k} {right[k]}/{n[k]}" for k in n))

def main(argv):
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("data", nargs="?", type=Path); ap.add_argument("--k", type=int, default=5); ap.add_argument("--fit", action="store_true"); ap.add_argument("--slice", action="store_true")
    args = ap.parse_args(argv)
    if args.data and not args.data.is_dir(): print(f"폴더가 없습니다: {args.data}"); return 2
    talk()
    collection = bundled(); found = cases(collection, 45 if args.slice else None); dev, test = ([c for c in found if c["split"] == s] for s in ("dev", "test"))
    if args.fit:
        save_config("relevance_calibration", fit(dev, RelevanceScorer(collection.passages, config=scorer_config()), args.k)); print("data/config/relevance_calibration.json을 썼습니다")
    scorer = KnowingScorer(collection.passages)     # what `Assistant` decides by
    for name, part in (("hanbit dev (맞춘 자료)", dev), ("hanbit test", test)):
        if part: report(name, part, decide(scorer, part, args.k), args.k)
    written = [c for c in test if c["register"] == "formal"]
    if written: report("hanbit test, 규정집의 통계 없이 (문어)", written, decide(RelevanceScorer(), written, args.k), args.k)
    p = [c["hits"][:args.k] for c in found]; start = time.perf_counter()
    for c, h in list(zip(found, p))[:200]: scorer.score_context(c["query"], h, also=c["also"])
    print(f"속도: 조문 하나에 {1000*(time.perf_counter() - start)/max(sum(map(len, p[:200])), 1):.2f} ms (읽은 조문)")
    if args.data and (args.data/"regs").is_dir() and not args.slice:
        outside = load_collection(args.data/"regs"); found = cases(outside)
        report("regs dev (맞추는 데 쓰지 않음)", found, decide(KnowingScorer(outside.passages), found, args.k), args.k)
    return 0

if __name__ == "__main__": kept.run(lambda: main(sys.argv[1:]), split="dev, test")
