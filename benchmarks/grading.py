"""Grading and the corrective loop: are relevant passages told from others, and are missed queries recovered without breaking others?

usage: python benchmarks/grading.py [DATA_FOLDER] [--fit] [--slice] [--routes] [--full]
       hanbit dev/test always, every sixth need (--full: all of them); DATA_FOLDER/regs where it is there.
       Pairs: for each answerable query the top 20 of plain Kiwi BM25 and of the default pipeline together; positive: judged 1 or 2,
       negative: judged 0 or not judged. Further: every judged pair of the qrels, found or not (positives that no search found are the hard ones).
       --fit: learn data/config/grading.json anew on hanbit dev. --routes: the table of thresholds from which the routes were chosen.
"""
import argparse, sys, time
from collections import Counter
from pathlib import Path

import numpy as np

from rag_quality.core import save_config
from rag_quality.data import bundled, load_collection
from rag_quality.experiment import pipeline
from rag_quality.korean.formality import detect_formality
from rag_quality.grading import CorrectiveRetriever
from rag_quality.grading.rewrite import knowledge_reading
from rag_quality.grading.scores import CONTEXT, CONTEXT_SIGNS, FEATURES, SIGNS, PassageGrader, context_row, grade_rows
from rag_quality.metrics import auroc, number
from rag_quality.relevance import RelevanceScorer, absent_share, fit_logistic
from rag_quality.knowledge.bank import shared_rewriter

import kept

PRIOR, DEPTH, KEEP = .6, 20, .9      # share of questions that are answered (see refusal.py); pool depth; share of relevant passages that 'yes' keeps on dev
TABLE, LOOP = {}, {}      # name, register, way -> figures; what the loop recovers and breaks
OWN = tuple(f for f in FEATURES if f.startswith("own_"))


def read(query): "The reading that knowledge gives; {} where it keeps out."; return knowledge_reading(shared_rewriter().suggest(query)) or {}

def cases(collection, limit=None):
    "One dict a query: what was asked, how it is read, what was found and how it was judged."
    systems = pipeline(collection); plain, default = next(s for s in systems if s.name == "+ stop morphemes"), systems[-1]; by_id, out = {p.doc_id: p for p in collection.passages}, []
    for q in collection.queries[:limit]:
        first, found = default.search(q.text, 40), plain.search(q.text, DEPTH); qrels = collection.qrels.get(q.query_id, {})
        pool = list(dict.fromkeys(p.doc_id for r in (found, first) for p, _ in r.hits[:DEPTH]))
        out.append(dict(query=q.text, qid=q.query_id, also=first.text, reading=read(q.text), split=q.metadata.get("split", "dev"), register="formal" if q.query_id.endswith("-f") else "colloquial",
                        need=q.metadata.get("pair", q.query_id), hits=[p for p, _ in first.hits], pool=[by_id[d] for d in pool], judged={d: g for d, g in qrels.items() if d in by_id}, by_id=by_id))
    return out

def relevant(case): return {d for d, g in case["judged"].items() if g > 0}

def rows_of(scorer, case, passages, how): return grade_rows(scorer, case["query"], passages, also=case["also"], reading=case["reading"] if how == "read" else None).rows

def context_of(case, held=False):
    "The five passages that a context holds; without the relevant ones where they are held back."
    return [p for p in case["hits"] if not held or p.doc_id not in relevant(case)][:5]

def fit(found):
    "Logistic models of passages and contexts: with and without the collection's statistics, by register, with and without a reading."
    collection = RelevanceScorer(bundled().passages); models, ns = {}, Counter()
    for key, scorer in (("collection", collection), ("alone", RelevanceScorer())):
        models[key] = {}
        for reg in ("written", "colloquial"):
            part = [c for c in found if detect_formality(c["query"]).register == reg]; models[key][reg] = {}
            for how in ("own", "read"): models[key][reg][how] = fit_one(scorer, [c for c in part if how == "own" or c["reading"] or reg == "written"], how, ns, f"{reg} {how}")
    return {"version": "1.0.0", "description": "조문의 채점: 조문 하나(passage)가 질의와 관련 있을, 맥락(context)이 답할 확률과 관련 있다고 볼 문턱(yes). 규정집의 통계가 있을 때(collection)와 없을 때(alone), 말투마다, 규정의 말로 읽은 것이 있을 때(read)와 없을 때(own). 쓰는 곳: rag_quality.grading.scores",
            "models": models, "provenance": {"set": "data/hanbit dev", "needs": len({c["need"] for c in found}), "rows": dict(ns), "pairs": "judged passages and the top 20 of plain BM25 and of the default pipeline",
            "contexts": "5 passages of the default pipeline, once more with the relevant ones withheld, and the needs without an answer", "yes": f"keeps {KEEP:.0%} of the relevant passages in the top 10", "command": "python benchmarks/grading.py --fit"}}

def fit_one(scorer, part, how, ns, name):
    use, x, y = OWN if how == "own" else FEATURES, [], []
    for c in part:
        if not relevant(c): continue
        ids = dict.fromkeys([p.doc_id for p in c["pool"]] + sorted(relevant(c))); x.append(rows_of(scorer, c, [c["by_id"][d] for d in ids], how)); y += [d in relevant(c) for d in ids]
    passage = fit_logistic(np.vstack(x), y, FEATURES, use=use, signs=SIGNS); ns[name] = len(y)
    contexts, top, top_yes = [], [], []
    for c in part:
        for held in ((False, True) if relevant(c) else (False,)):
            s = scorer.without(sorted(relevant(c))) if held and scorer.collection is not None else scorer
            hits = context_of(c, held); p = passage.probability(rows_of(s, c, hits, how), FEATURES) if hits else np.zeros(0)
            absent = absent_share(s.collection, s.evidence(c["query"], [], also=c["also"])[0]) if s.collection is not None else 0.
            contexts.append((context_row(p, absent), bool({h.doc_id for h in hits} & relevant(c)) and not held, bool(relevant(c)) and not held))
            if not held: top += list(p); top_yes += [h.doc_id in relevant(c) for h in hits]
    cx, cy, answerable = (np.array(v) for v in zip(*contexts)); share = answerable.mean()
    context = fit_logistic(cx, cy, CONTEXT, signs=CONTEXT_SIGNS, counts=np.where(answerable, PRIOR/share, (1-PRIOR)/(1-share)))
    return {"passage": {"bias": passage.bias, "weights": passage.weights}, "context": {"bias": context.bias, "weights": context.weights}, "yes": round(float(np.quantile(np.array(top)[np.array(top_yes)], 1 - KEEP)), 3)}

def graded_of(grader, c, how):
    "Every passage that was found or judged, with its grade."
    ids = list(dict.fromkeys([p.doc_id for p in c["pool"]] + list(c["judged"])))
    return ids, grader.grade(c["query"], [c["by_id"][d] for d in ids], also=c["also"], reading=c["reading"] if how == "read" else None)

def grading(name, found, grader):
    "AUROC of the grades by register, with and without the reading; and what 'yes' keeps."
    print(f"{name}: 답이 있는 질의 {sum(bool(relevant(c)) for c in found)}건")
    graded = {(how, c["qid"]): graded_of(grader, c, how) for how in ("own", "read") for c in found if relevant(c)}
    for reg in ("formal", "colloquial", "all"):
        part = [c for c in found if relevant(c) and reg in (c["register"], "all")]
        if not part: continue
        said = []
        for how in ("own", "read"):
            s, y, j, jy, inside = [], [], [], [], []
            for c in part:
                ids, g = graded[how, c["qid"]]; pool = {p.doc_id for p in c["pool"]}; top = {p.doc_id for p in c["hits"][:10]}
                for d, x in zip(ids, g):
                    if d in pool: s.append(x.score); y.append(d in relevant(c))
                    if d in c["judged"]: j.append(x.score); jy.append(d in relevant(c))
                    if d in top: inside.append((x.relevant, d in relevant(c)))
            left, yes = map(np.array, zip(*inside))
            TABLE[f"{name.split(' (')[0]}, {reg}, {'읽은 말과' if how == 'read' else '질문만'}"] = {"AUROC": auroc(s, y), "쌍": len(s), "관련": int(sum(y)), "'예'가 남긴 관련": left[yes].mean(), "덜어 낸 무관": 1 - left[~yes].mean()}
            said.append(f"{'읽은 말과' if how == 'read' else '질문만'}: AUROC {number(auroc(s, y))} (쌍 {len(s)}, 관련 {sum(y)}), 판정한 쌍 {number(auroc(j, jy) if min(sum(jy), len(jy) - sum(jy)) >= 50 else None)} (쌍 {len(j)}, 관련 {sum(jy)}), '예'가 남긴 관련 {left[yes].mean():.2f}, 덜어 낸 무관 {1 - left[~yes].mean():.2f}")
        print(*(f"  {reg:10} {x}" + ("  목표 0.85" if n else "") for n, x in enumerate(said)), sep="\n")

def correcting(name, collection, found, grader, routes=False):
    "What the loop recovers and breaks, over plain BM25 and over the default pipeline; the routes; the time."
    systems = pipeline(collection); answerable = [c for c in found if relevant(c)]
    for title, search in (("BM25 (Kiwi)", next(s for s in systems if s.name == "+ stop morphemes")), ("기본 체계", systems[-1])):
        retriever = CorrectiveRetriever(search, scorer=grader); before, after, ways, spent = [], [], Counter(), []
        for c in found:
            start = time.perf_counter(); first = {p.doc_id for p, _ in search.search(c["query"], 10).hits}; middle = time.perf_counter(); r = retriever.retrieve(c["query"], 10); spent.append(time.perf_counter() - middle - (middle - start))
            ways[c["register"] if relevant(c) else "답이 없음", r.route] += 1
            if relevant(c): before.append(bool(first & relevant(c))); after.append(bool({p.doc_id for p, _ in r.hits} & relevant(c)))
        b, a = np.array(before), np.array(after)
        for reg in ("formal", "colloquial", "all"):
            m = np.array([reg in (c["register"], "all") for c in answerable])
            if m.any(): LOOP[f"{name}, {title}, {reg}"] = {"놓친": int((~b & m).sum()), "되찾음": int((a & ~b & m).sum()), "찾은": int((b & m).sum()), "놓침": int((b & ~a & m).sum())}
            if m.any(): print(f"  {name}, {title}, {reg:10} 놓친 {(~b & m).sum()}건 가운데 되찾음 {(a & ~b & m).sum()} ({(a & ~b & m).sum()/max((~b & m).sum(), 1):.3f})  찾은 {(b & m).sum()}건 가운데 놓침 {(b & ~a & m).sum()} ({(b & ~a & m).sum()/max((b & m).sum(), 1):.3f})" + ("  목표 0.20, 0.01" if reg == "all" else ""))
        print(f"  더하는 시간 p50 {1000*np.median(spent):.1f} ms; 길: " + ", ".join(f"{k[0]} {k[1]} {n}" for k, n in sorted(ways.items())))

def thresholds(found, grader):
    "How the first context's probability separates: the table from which the routes were chosen."
    for reg in ("formal", "colloquial"):
        p, y = [], []
        for c in found:
            if c["register"] != reg: continue
            for held in ((False, True) if relevant(c) else (False,)):
                g = PassageGrader(grader.scorer.without(sorted(relevant(c)))) if held else grader; hits = context_of(c, held)
                p.append(g.answers(c["query"], [x.score for x in g.grade(c["query"], hits, also=c["also"], reading=c["reading"])], also=c["also"], reading=c["reading"])); y.append(not held and bool({h.doc_id for h in hits} & relevant(c)))
        p, y = np.array(p), np.array(y); print(f"  {reg}: 맥락 {len(y)}개 (답이 있음 {y.sum()}), AUROC {number(auroc(p, y))}")
        for t in (.2, .3, .4, .5, .6, .7, .8): print(f"    {t:.1f}부터 답하면: 답이 있는 맥락의 {(p[y] >= t).mean():.2f}, 없는 맥락의 {(p[~y] >= t).mean():.2f}, 그 가운데 맞는 것 {number(y[p >= t].mean() if (p >= t).any() else None)}")

def main(argv):
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("data", nargs="?", type=Path)
    for name in ("--fit", "--slice", "--routes", "--full"): ap.add_argument(name, action="store_true")
    args = ap.parse_args(argv)
    if args.data and not args.data.is_dir(): print(f"폴더가 없습니다: {args.data}"); return 2
    collection = bundled(); found = cases(collection if args.full or args.fit or args.slice else collection.some(6), 16 if args.slice else None)
    if args.fit: save_config("grading", fit([c for c in found if c["split"] == "dev"])); print("data/config/grading.json을 썼습니다")
    grader = PassageGrader(collection.passages)
    for split in ("dev", "test"):
        if not (part := [c for c in found if c["split"] == split]): continue
        grading(f"hanbit {split}" + (" (맞춘 자료)" if split == "dev" else ""), part, grader); correcting(f"hanbit {split}", collection, part, grader)
        if args.routes and split == "dev": thresholds(part, grader)
    if args.data and (args.data/"regs").is_dir() and not args.slice:
        outside = load_collection(args.data/"regs"); grader = PassageGrader(outside.passages); part = cases(outside)
        grading("regs dev (맞추는 데 쓰지 않음)", part, grader); correcting("regs dev", outside, part, grader)
    kept.note(grades=TABLE, loop=LOOP)
    return 0

if __name__ == "__main__": kept.run(lambda: main(sys.argv[1:]), split="dev, test")
