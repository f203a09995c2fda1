"""Never worse: what becomes of the default pipeline when a model writes poor expansions: python benchmarks/llm_replies.py DATA [--slice]

DATA: the folder of external sets (regs/). Over hanbit dev and regs dev, for each kind of poor replies (a replay client answers as such a model does;
nothing is called): nDCG@10 of the default pipeline with it against the pipeline without a model, over all queries and over the spoken ones.
Target: never more than .01 below. Good replies must still pay: regs with llm_rewrites.dev.jsonl at least .83 over the spoken queries; for hanbit
the formal wording and the reference answer of a need stand for what a strong model may write (they were written with the rules at hand: a ceiling).
KINDS were looked at while the trust in replies was designed; UNSEEN were written afterwards. A reply stands alone: drawn by the query's id (seed 0).
'half of the words of a good one' and 'good texts of another question' were looked at, too. 'one at a time': asked as `search` and `ask` do, where nothing is known of
the model. `--fit`: the weights of the evidence, from hanbit train and a third of the needs of regs dev. `--slice`: about 150 queries of each set.
"""
import argparse, hashlib, json, random, re, sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from rag_quality.core import LLMError
from rag_quality.data import bundled, load_collection
from rag_quality.experiment import expansion_step, pipeline
from rag_quality.korean.formality import detect_formality
from rag_quality.llm import LLMBadReply, LLMCutReply
from rag_quality.metrics import compare, evaluate
from rag_quality.query_expansion import ExpansionFusion, expansion_texts
from rag_quality.query_expansion.trust import EVIDENCE, ReplyTrust
from rag_quality.retrieval import BM25Index, VectorStore, top_hits

import kept

ROOT = Path(__file__).resolve().parent.parent

def chosen(query, *what):
    "Random numbers of one query."
    return random.Random(hashlib.sha256(" ".join([query, *what, "0"]).encode()).hexdigest())

def sentences(text): return [s.strip() for s in re.split(r"(?<=[.다])\s+|\n", text) if len(s.strip()) > 10] or [text[:200]]

def heading(p): return re.sub(r"^.*?제\d+조(?:의\d+)?\s*\(?|\)$", "", p.title).strip() or p.title

class World:
    "What the writers of poor replies draw from: a collection, another one, the questions."
    def __init__(self, collection, other):
        self.passages, self.other, self.queries = collection.passages, other, [q.text for q in collection.queries]
        self.index, self.others = BM25Index(collection.passages), BM25Index(other.passages)
        self.there = {p.doc_id: p for p in other.passages}
    @cache
    def chain(self):
        follows = {}
        for p in self.passages[::3]:
            words = p.text.split()
            for a, b in zip(words, words[1:]): follows.setdefault(a, []).append(b)
        return follows

def rule(p, lead=""):
    s = sentences(p.text)
    return [f"{lead}{heading(p)}", f"{lead}{heading(p)} 신청 절차", s[0][:140]], " ".join(s)[:600]

# each: (query, world) -> (queries, document), or an LLMError
def echo(q, w): return [f"{q} 알려줘", f"{q} 에 대한 질문", f"질문: {q}"], f"{q} {q}"
def language(q, w): return ["how to apply for a leave of absence", "请问申请手续是什么", "university regulations on application"], "The student shall submit an application to the dean before the start of the semester."
def loops(q, w):
    word = max(re.findall(r"\w+", q) or ["규정"], key=len)
    return [" ".join([word]*12), " ".join([word, "및"]*8), f"{word} {word}"], " ".join([f"{word}은 {word}에 따른다."]*12)
def unrelated(q, w): return rule(chosen(q).choice(w.passages))
def other_rules(q, w):
    found = w.others.search(q, 1)
    return rule(w.there[found[0][0]] if found else chosen(q).choice(list(w.there.values())), "한국대학교 ")
def continuation(q, w):
    r = chosen(q); more = [r.choice(w.queries) for _ in range(4)]
    return more[:3], f"답변: {more[3]} 질문: {more[0]} 답변: 네, 가능합니다. 질문: {more[1]}"
def template(q, w): return ["원래 질의를 규정의 말로 옮긴 것", "질의2", "..."], "규정의 문체로 한국어 1~3문장, 300자까지 씁니다. 규정집이 쓸 만한 용어를 씁니다."
def cut(q, w): return chosen(q).choice([LLMCutReply("끊긴 답"), LLMBadReply("빈 답")])
def babble(q, w):
    r, chain = chosen(q), w.chain(); starts = sorted(chain)
    def say(n):
        out = [r.choice(starts)]
        while len(out) < n: out.append(r.choice(chain.get(out[-1]) or starts))
        return " ".join(out)
    return [say(7)[:140] for _ in range(3)], say(30)[:1000]
def pointless(q, w):
    r = chosen(q); last = (re.findall(r"[가-힣]{2,}", q) or ["학생"])[0]
    frames = ["대학 규정에 따른 신청 절차와 자격 요건", "학생의 신청 기한과 제출 서류", "관련 부서의 승인 절차", "학칙에서 정한 학생의 권리와 의무", "대학원생의 학점 인정 기준", "장학금 신청 자격"]
    return [r.choice(frames), f"{last} 관련 {r.choice(frames)}", r.choice(frames)], "학생은 필요한 서류를 갖추어 정해진 기한까지 소속 학과에 신청하여야 하며, 총장의 승인을 받아야 한다."

KINDS = {"echo of the question": echo, "another language": language, "loops": loops, "an unrelated article": unrelated, "another university's rule": other_rules,
         "base-model continuation": continuation, "template copied": template, "empty or cut": cut, "babble of small models": babble, "rewriting without the point": pointless}
UNSEEN = {}

class Replayed:
    "A client whose replies are written by a function of the query."
    model, method, identity, budget = "replay/poor", "llm:replay/poor", "replay/poor", None
    def __init__(self, writes, queries):
        self.writes = writes
        self.known = sorted({q.text for q in queries}, key=len, reverse=True)
        self._of = {re.sub(r"\s+", "", q): q for q in self.known}
    def ask_json(self, turn, schema, *a, **k):
        m = re.search(r"⟦질의 \w+⟧\n(.*?)\n⟦/질의", turn, re.S)
        said = self.writes(self._of.get(re.sub(r"\s+", "", m[1]), m[1]))
        if isinstance(said, LLMError): raise said
        return {"queries": list(said[0])} if "queries" in schema["properties"] else {"document": said[1]}

def strong(path, collection):
    "Replies of a strong model, of a file or of a benchmark's needs: query text -> (queries, document)."
    text = {q.query_id: q.text for q in collection.queries}
    if path.name.startswith("llm_"): return {text[r["id"]]: ([r["rewrite"], *r["multi"]], r["hyde"]) for r in map(json.loads, path.read_text("utf8").splitlines()) if r["id"] in text}
    needs = {r["need"]: r for r in map(json.loads, path.read_text("utf8").splitlines())}
    out = {}
    for q in collection.queries:
        r = needs.get(q.metadata.get("pair"))
        if r: out[q.text] = [r["formal"]], re.sub(r"\[[^\]]*\]", "", r.get("answer") or r["formal"])[:1100]
    return out

# written after the design was settled
def contents(q, w):
    r = chosen(q); p = r.choice(w.passages); at = w.passages.index(p)
    near = [heading(x) for x in w.passages[max(0, at - 6):at + 6]]
    return [f"{a} {b}" for a, b in zip(near[:3], near[3:6])] or near, "제1장 총칙 " + " ".join(near)
def one_word(q, w):
    known = [t for t in dict.fromkeys(re.findall(r"[가-힣]{2,}", q)) if w.index.search(t, 1)]
    hits = w.index.search(chosen(q).choice(known or ["학생"]), 20)
    return rule(next(p for p in w.passages if p.doc_id == chosen(q).choice(hits)[0])) if hits else LLMBadReply("빈 답")
def chatty(q, w):
    r = chosen(q)
    return ["학교 홈페이지 공지사항 확인 방법", "학과 사무실 문의 전화번호", r.choice(["수강신청 일정 안내", "학생증 발급 안내", "등록금 납부 안내"])], \
        f"네, 가능합니다! {q.split()[0]} 관련해서는 먼저 학교 홈페이지의 공지사항을 확인하시고, 자세한 내용은 소속 학과 사무실이나 학생지원팀에 문의하시기 바랍니다. 도움이 되었기를 바랍니다."
UNSEEN.update({"a table of contents": contents, "one word taken too far": one_word, "a chatty answer": chatty})

def mixed_with(replies):
    "Half of the texts are a strong model's, half are its texts for another question."
    there = sorted(replies)
    def write(q, w):
        r = chosen(q, "half"); right, other = replies.get(q), replies[r.choice(there)]
        if right is None: return LLMBadReply("빈 답")
        return [a if r.random() < .5 else b for a, b in zip(right[0], [*other[0]]*4)], (right if r.random() < .5 else other)[1]
    return write
def swapped(replies):
    there = sorted(replies)
    return lambda q, w: replies[chosen(q, "swap").choice(there)]

class Lab:
    "The default pipeline of a collection, its offline half run once."
    def __init__(self, collection, part, other):
        self.part, self.world = part, World(collection, other)
        self.systems = pipeline(collection, llm=Replayed(lambda q: LLMBadReply(""), part.queries))
        self.offline, self.fusion, seen = self.systems[-2], ExpansionFusion(BM25Index(collection.passages), VectorStore(collection.passages), collection.passages), {}
        full = self.offline.steps[-1]
        def once(s):
            if (s.query, s.text, s.k) not in seen: seen[s.query, s.text, s.k] = full.apply(s)
            return seen[s.query, s.text, s.k]
        self.full = replace(full, apply=once)
        self.units = {q.query_id: q.metadata.get("pair", q.query_id) for q in part.judged}
        self.spoken = [q.query_id for q in part.judged if detect_formality(q.text).register == "colloquial"]
        self.base = self.scored(replace(self.offline, steps=[*self.offline.steps[:-1], self.full]).run(part.judged))
    def scored(self, run): return evaluate({q: self.part.qrels[q] for q in run}, run, "nDCG@10", units=self.units)
    def with_replies(self, writes, together=True):
        "(scores, queries whose ranking is the model's) of the default pipeline with a model that writes so."
        llm = Replayed(lambda q: writes(q, self.world), self.part.queries)
        step = expansion_step(self.fusion, cache(lambda q: expansion_texts(q, llm, num_queries=4)), self.full)
        system = replace(self.systems[-1], steps=[*self.systems[-1].steps[:-1], step if together else replace(step, prepare=None)])
        run, noted, used = system.run_telling(self.part.judged)
        if noted: raise RuntimeError(next(iter(noted.values()))[0])
        return self.scored(run), sum(bool(u.method) for u in used.values())
    def fitted_on(self, writes):
        "(evidence, does the text alone rank better than no model, by how much) of every text."
        trust, gold = ReplyTrust(self.fusion), self.part.qrels
        for q in self.part.judged:
            state = replace(self.offline, steps=self.offline.steps[:-1])._through(q.text, 500)[0]
            if q.query_id not in self.spoken or not any(g > 0 for g in gold[q.query_id].values()): continue
            made = expansion_texts(q.text, Replayed(lambda x: writes(x, self.world), self.part.queries))
            given = self.fusion.given(state.query, made.texts); texts = [t for t, _ in given[1:]]
            if not texts: continue
            seen = trust.evidence(state.query, texts, trust._offline(self.full.apply(replace(state, k=500))[0].hits))
            runs = [dict(top_hits(self.fusion.mixed([given[0], g]), self.fusion.bm25.doc_ids, 10)) for g in given[1:]]
            alone = [evaluate({"q": gold[q.query_id]}, {"q": r}, "nDCG@10").mean("nDCG@10") for r in runs]
            for row, a in zip(seen, alone): yield row, a - self.base.per_query["nDCG@10"][q.query_id]

def fit(rows):
    "The weights of the evidence: a logistic regression of 'better than without a model', each text by how much."
    x, gain = np.array([r for r, _ in rows]), np.array([g for _, g in rows]); y, w = gain > 0, abs(gain)
    mean, sd = x.mean(0), x.std(0) + 1e-9; z = np.c_[(x - mean)/sd, np.ones(len(x))]
    def loss(b):
        s = z @ b
        return (w*(np.logaddexp(0, s) - y*s)).sum()/w.sum() + 5e-4*(b[:-1]**2).sum(), z.T @ (w*(1/(1 + np.exp(-s)) - y))/w.sum() + 1e-3*np.r_[b[:-1], 0]
    b = minimize(loss, np.zeros(z.shape[1]), jac=True).x; c = b[:-1]/sd
    return dict(zip(EVIDENCE, c.round(2).tolist())), round(float(b[-1] - c @ mean), 2)

def some(part, n):
    "Whole needs, about n spoken queries of them (None: all)."
    if n is None: return part
    needs = sorted({q.metadata.get("pair", q.query_id) for q in part.judged}); random.Random(0).shuffle(needs)
    kept_needs = set(needs[:n // 3]); queries = [q for q in part.judged if q.metadata.get("pair", q.query_id) in kept_needs]
    return replace(part, queries=queries, qrels={q.query_id: part.qrels[q.query_id] for q in queries}, splits={})

def middling(replies):
    def write(q, w):
        if q not in replies: return LLMBadReply("빈 답")
        r = chosen(q, "mid"); words = replies[q][0][0].split(); at = sorted(r.sample(range(len(words)), max(1, len(words)//2)))
        return [" ".join(words[i] for i in at) + " 관련 규정"], " ".join(words[i] for i in at) + "에 관한 사항은 총장이 따로 정한다."
    return write

def table(name, lab, replies, alone):
    "Print and give the rows of one collection; the worst of the poor kinds."
    ids, out, worst = lab.spoken, {}, 0.
    base, base_spoken = lab.base.mean("nDCG@10"), lab.base.subset(ids).mean("nDCG@10")
    print(f"{name} dev: n = {len(lab.part.judged)}, spoken {len(ids)}; without a model nDCG@10 {base:.3f}, spoken {base_spoken:.3f}")
    poor = {**{k: (f, "seen") for k, f in KINDS.items()}, "good texts of another question": (swapped(replies), "seen"), "half of the words of a good one": (middling(replies), "seen"),
            **{k: (f, "unseen") for k, f in UNSEEN.items()}, "half of the texts of another question": (mixed_with(replies), "unseen")}
    for kind, (writes, seen) in {**poor, "good": (lambda q, w: replies.get(q) or LLMBadReply("빈 답"), "good")}.items():
        got, used = lab.with_replies(writes); one = lab.with_replies(writes, False)[0] if alone else None
        fell, c = got.mean("nDCG@10") - base, compare(lab.base, got, "nDCG@10")
        single = one.mean("nDCG@10") - base if one else None
        if seen != "good": worst = min(worst, fell, single or 0.)
        out[kind] = {"갈래": seen, "nDCG@10": round(got.mean("nDCG@10"), 4), "차이": round(fell, 4), "낮은 끝": round(c.low, 4), "구어": round(got.subset(ids).mean("nDCG@10"), 4), "하나씩 물으면": None if single is None else round(single, 4), "쓴 질의": used}
        print(f"  {kind:38} {seen:6} {got.mean('nDCG@10'):.3f} ({fell:+.4f} [{c.low:+.3f}, {c.high:+.3f}]), spoken {got.subset(ids).mean('nDCG@10'):.3f}; one at a time {'-' if single is None else f'{single:+.4f}'}; used for {used}", flush=True)
    return out, worst

def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path); parser.add_argument("--fit", action="store_true"); parser.add_argument("--slice", action="store_true")
    args = parser.parse_args()
    hanbit, regs = bundled(), load_collection(args.data/"regs")
    good = {"hanbit": strong(ROOT/"data/hanbit/needs.jsonl", hanbit), "regs": strong(args.data/"regs/llm_rewrites.dev.jsonl", regs)}
    n = 150 if args.slice else None
    if args.fit:
        rows = []
        for name, c, o, split in (("hanbit", hanbit, regs, "train"), ("regs", regs, hanbit, "dev")):
            lab = Lab(c, some(c.split(split), 90 if name == "regs" else None), o)
            for f in [*KINDS.values(), swapped(good[name]), middling(good[name]), lambda q, w: good[name].get(q) or LLMBadReply("빈 답")]: rows += lab.fitted_on(f)
        print(len(rows), *fit(rows)); return 0
    tables, ok = {}, True
    for name, c, o in (("regs", regs, hanbit), ("hanbit", hanbit, regs)):
        lab = Lab(c, some(c.split("dev"), n), o); rows, worst = table(name, lab, good[name], not args.slice)
        ok &= worst >= -.01; tables[name] = rows
        print(f"{name}: the worst of the poor kinds {worst:+.4f} (target: never below -.01)")
    paid = tables["regs"]["good"]["구어"]; ok &= paid >= .83
    print(f"regs, spoken, with a strong model's replies: {paid:.3f} (target: at least .83)")
    kept.note(table=tables)
    return 0 if ok else 1

if __name__ == "__main__": kept.run(main, split="dev", seed=0)
