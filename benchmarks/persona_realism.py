"""Do the generated queries sound like their personas, like one another, like people? (issue 7)

    python benchmarks/persona_realism.py [DATA/regs] [--replies FILE] [--queries 30] [--show 50]

1. persona: a logistic regression over character n-grams and morphemes, cross-validated by source article (so that no topic
   stands on both sides), tells which of the ten personas a generated query is of. Chance 0.10, wanted at least 0.60.
2. duplicates: the share of queries that equal an earlier one after normalisation, or share more than 0.8 of their character
   trigrams (Jaccard) with one. Wanted at most 0.05.
3. with a folder of real colloquial queries (queries.jsonl, metadata.register = colloquial; BEIR corpus beside it): generated on
   the same corpus against the real ones, balanced, cross-validated by article or pair. Wanted at most 0.75 (chance 0.50).
"""
import argparse, random, re, tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from rag_quality.data import bundled, load_collection
from rag_quality.knowledge.learn import learn
from rag_quality.knowledge.talk import about_campus
from rag_quality.llm.batch import BatchLLM
from rag_quality.korean.formality import query_tokens
from rag_quality.persona.needs import askables
from rag_quality.persona.personas import PersonaGenerator
from rag_quality.persona.roles import people_of
from rag_quality.persona.wording import AnsweredBy, wording
from rag_quality.knowledge.questions import TYPES, query_types

import kept

SHARES = (("easy", .3), ("medium", .4), ("hard", .3))

def features(text:str) -> Counter:
    "Character 1- to 4-grams and Kiwi morphemes (with pairs) of a text."
    t = f"^{text}$"; toks = [f"{m.form}/{m.tag}" for m in query_tokens(text)]
    return Counter([t[i:i+n] for n in (1, 2, 3, 4) for i in range(len(t)-n+1)] + ["m:" + m for m in toks] + ["b:" + a + b for a, b in zip(toks, toks[1:])] + [f"len{min(len(text)//10, 8)}"])

def matrix(bags):
    from scipy.sparse import csr_matrix
    df = Counter(f for b in bags for f in b); names = {f: i for i, f in enumerate(sorted(f for f, n in df.items() if n >= 2))}
    rows = [(i, names[f], (1 + np.log(n)) * np.log(len(bags)/df[f])) for i, b in enumerate(bags) for f, n in b.items() if f in names]
    X = csr_matrix(([r[2] for r in rows], ([r[0] for r in rows], [r[1] for r in rows])), shape=(len(bags), len(names)))
    norm = np.sqrt(X.multiply(X).sum(1)).A1 if hasattr(X.multiply(X).sum(1), "A1") else np.asarray(np.sqrt(X.multiply(X).sum(1))).ravel()
    from scipy.sparse import diags
    return diags(1/np.maximum(norm, 1e-9)) @ X, sorted(names, key=names.get)

def fit(X, y, classes:int, C:float=10.):
    "Multinomial logistic regression (L2) by L-BFGS."
    from scipy.optimize import minimize
    n, d = X.shape; Y = np.eye(classes)[y]
    def loss(w):
        W = w.reshape(d, classes); Z = X @ W; Z -= Z.max(1, keepdims=True); P = np.exp(Z); P /= P.sum(1, keepdims=True)
        return -np.log(P[np.arange(n), y] + 1e-12).sum() + (w @ w)/(2*C), (X.T @ (P - Y) + W/C).ravel()
    return minimize(loss, np.zeros(d*classes), jac=True, method="L-BFGS-B", options={"maxiter": 60}).x.reshape(d, classes)

def accuracy(texts, labels, groups, folds:int=5, seed:int=0) -> tuple[float, list[int]]:
    "Cross-validated accuracy by group; and the prediction of each text."
    names = sorted(set(labels)); y = np.array([names.index(l) for l in labels]); X, _ = matrix([features(t) for t in texts])
    order = sorted(set(groups)); random.Random(seed).shuffle(order); fold = {g: i % folds for i, g in enumerate(order)}; at = np.array([fold[g] for g in groups])
    guess = np.zeros(len(y), int)
    for f in range(folds): guess[at == f] = (X[at == f] @ fit(X[at != f], y[at != f], len(names))).argmax(1)
    return float((guess == y).mean()), [names[g] for g in guess]

def interval(p:float, n:int) -> str:
    from scipy.stats import binomtest
    ci = binomtest(round(p*n), n).proportion_ci(method="wilson"); return f"[{ci.low:.2f}, {ci.high:.2f}]"

def generate(collection, personas, n:int, seed:int=0, spread=None) -> list[dict]:
    "n queries a persona on a collection: needs drawn so that no article belongs to one persona. No wording of the bank is used twice, as in a session."
    found, rows, used = [a for a in askables(collection) if a.answerable], [], set()
    answers = AnsweredBy(collection.passages)
    for p in personas:
        rng = random.Random(f"{seed}:{p.id}"); mine = [a for a in found if a.family in p.families] or [a for a in found if any(t in a.formal for t in p.topics)] or found
        pool = rng.sample(mine, min(n, len(mine))) + rng.choices(mine, k=max(0, n - len(mine)))
        levels = [d for d, s in SHARES for _ in range(round(s*n))]; levels += ["medium"]*(n - len(levels)); rng.shuffle(levels)
        for i, (a, d) in enumerate(zip(pool, levels)):
            kinds = {"easy": ("사실 확인", "절차 질문", "자격 확인"), "medium": ("사실 확인", "절차 질문", "자격 확인", "비교 질문", "복합 질문", "은어/축약어"), "hard": ("모호한 질문", "감정 표현", "복합 질문", "은어/축약어")}[d]
            kind = rng.choice([k for k in kinds if k in a.types and (k != "비교 질문" or a.other)] or ["사실 확인"])
            w = wording(a, p, difficulty=d, query_type=kind, rng=random.Random(f"{seed}:{p.id}:{i}"), used=used, answers=answers); used.add(w.lay)
            rows.append({"text": w.text, "source": w.source, "persona": p.id, "group": next(iter(a.relevant)), "difficulty": d, "type": kind, "formal": a.formal, "steps": w.steps})
    return rows

def duplicates(texts) -> float:
    seen, n = [], 0
    for t in texts:
        k = re.sub(r"[\W_]+", "", t); g = {k[i:i+3] for i in range(max(len(k)-2, 1))}
        n += any(k == k2 or len(g & g2) > .8*len(g | g2) for k2, g2 in seen); seen.append((k, g))
    return n/len(texts)

def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("data", nargs="?"); ap.add_argument("--replies", help="a batch's replies for its articles: the questions take their words from the pack learnt of them"); ap.add_argument("--queries", type=int, default=30); ap.add_argument("--seed", type=int, default=0); ap.add_argument("--show", type=int, default=0); ap.add_argument("--slice", action="store_true")
    a = ap.parse_args(); a.queries = 6 if a.slice else a.queries; people = PersonaGenerator().generate()
    rows = generate(bundled(), people, a.queries, a.seed); texts = [r["text"] for r in rows]
    if a.show:
        for r in random.Random(a.seed).sample(rows, a.show): print(f"{r['persona'][:9]:9} {r['difficulty'][:4]} {r['type'][:4]:5} | {r['text']}   «{r['formal']}»")
    acc, guess = accuracy(texts, [r["persona"] for r in rows], [r["group"] for r in rows])
    print(f"(1) persona told by a classifier: {acc:.3f} {interval(acc, len(rows))}, n={len(rows)}, chance 0.10, wanted >= 0.60")
    for p in people: mine = [(r, g) for r, g in zip(rows, guess) if r["persona"] == p.id]; print(f"      {p.name:12} {np.mean([r['persona'] == g for r, g in mine]):.2f}   taken for {Counter(g for r, g in mine if g != p.id).most_common(2)}")
    print(f"(2) (near-)duplicates: {duplicates(texts):.3f}, n={len(texts)}, wanted <= 0.05")
    kinds = [(query_types(r["text"]) or [None])[0] for r in rows]; print(f"    kind of query told by rag_quality.knowledge.questions as meant: {np.mean([k is not None and k.name == r['type'] for k, r in zip(kinds, rows)]):.2f} (chance 0.12)")
    print(f"    words from {dict(sorted(Counter(r['source'] for r in rows).items()))}")
    print(f"    length {np.mean([len(t) for t in texts]):.1f} +- {np.std([len(t) for t in texts]):.1f} characters")
    if a.data: compare(Path(a.data), people, a.seed, a.replies)

def matched(collection, real, who, learnt:dict, seed:int) -> list[dict]:
    "For each real query one generated for the same article by the person `who` gives; where nothing can be asked of the article, for another."
    found, lays, sources, used, rows, same = [a for a in askables(collection) if a.answerable], set(), Counter(), Counter(), [], 0
    answers = AnsweredBy(collection.passages)
    for n, r in enumerate(real):
        rng, best = random.Random(f"{seed}:{n}"), collection.qrels.get(r.query_id, {})
        p = who(r, best)
        mine = [a for a in found if any(best.get(d, 0) >= 2 or best.get(d.split("#")[0], 0) >= 2 for d, g in a.relevant.items() if g >= 2)]
        same += bool(mine)
        mine = mine or [a for a in found if a.family in p.families] or [a for a in found if any(t in a.formal for t in p.topics)] or found
        of = {a.id: [q for d, g in a.relevant.items() if g == 2 for q in learnt.get(d, ())] for a in mine}
        a = min(mine, key=lambda a: (bool(learnt) and (a.kind != "one" or not of[a.id]), used[a.id], rng.random()))
        used[a.id] += 1
        d = r.metadata.get("difficulty", "medium")
        d = d if d in ("easy", "medium", "hard") else "medium"
        meant = next((t for t in TYPES if t[:2] == r.metadata.get("query_type", "")[:2]), "사실 확인")
        kind = meant if meant in a.types and (meant != "비교 질문" or a.other) else "사실 확인"
        w = wording(a, p, difficulty=d, query_type=kind, rng=random.Random(f"{seed}:{n}:w"), used=lays, learnt=of[a.id], answers=answers)
        lays.add(w.lay)
        sources[w.source] += 1
        rows.append({"text": w.text, "group": r.metadata.get("pair", r.query_id), "formal": a.formal})
    print(f"    {same} of {len(real)} for the same article; words from {dict(sorted(sources.items()))}")
    return rows

def pack_of(collection, replies):
    "doc_id -> the questions that a batch's replies give it."
    with tempfile.TemporaryDirectory() as d:
        found = learn(collection.passages, Path(d)/"pack", BatchLLM(out=Path(d)/"rest.jsonl", replies=replies), k=5)
    return {e.doc_id: e.questions for e in found.pack.entries}

def compare(folder:Path, people, seed:int, replies=None):
    "Generated against the real colloquial queries of a folder: a person, difficulty, kind and article of theirs; one fold holds both."
    collection = load_collection(folder)
    real = [q for q in collection.queries if q.metadata.get("register") == "colloquial" and collection.qrels.get(q.query_id)]
    if about_campus(collection.passages):
        names = {n.replace(" ", ""): p for p in people for n in (p.name, *p.aliases)}
        real = [r for r in real if r.metadata["persona"].replace(" ", "") in names]
        def who(r, best): return names[r.metadata["persona"].replace(" ", "")]
    else:
        theirs = [(p, set(p.articles)) for p in people_of(collection)]
        def who(r, best): return max(theirs, key=lambda x: len(x[1] & set(best)))[0]
    rows = matched(collection, real, who, pack_of(collection, replies) if replies else {}, seed)
    group = [r.metadata.get("pair", r.query_id) for r in real]
    texts, labels = [r["text"] for r in rows] + [r.text for r in real], ["made"]*len(rows) + ["real"]*len(real)
    acc = float(np.mean([accuracy(texts, labels, group*2, seed=s)[0] for s in range(3)]))
    print(f"    (near-)duplicates {duplicates([r['text'] for r in rows]):.3f}, wanted <= 0.05")
    print(f"(3) generated told from real: {acc:.3f} {interval(acc, len(rows) + len(real))} (mean of three splits), n={len(rows)}+{len(real)}, chance 0.50, wanted <= 0.75")
    return rows, real

if __name__ == "__main__": kept.run(main, seed=0)
