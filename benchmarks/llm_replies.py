"""Never worse: what becomes of the default pipeline when a model writes poor expansions: python benchmarks/llm_replies.py DATA [--slice]

DATA: the folder of external sets (regs/). Over hanbit dev and regs dev, for each kind of poor replies (a replay client answers as such a model does;
nothing is called): nDCG@10 of the default pipeline with it against the pipeline without a model, over all queries and over the spoken ones.
Target: never more than .01 below. Good replies must still pay: regs with llm_rewrites.dev.jsonl at least .83 over the spoken queries; for hanbit
the formal wording and the reference answer of a need stand for what a strong model may write (they were written with the rules at hand: a ceiling).
KINDS were looked at while the trust in replies was designed; UNSEEN were written afterwards. A reply stands alone: drawn by the query's id (seed 0).
`--slice`: 150 queries of each set; nothing is kept.
"""
import argparse, hashlib, json, random, re, sys
from dataclasses import replace
from functools import cache
from pathlib import Path

from rag_quality.core import LLMError
from rag_quality.data import bundled, load_collection
from rag_quality.experiment import pipeline
from rag_quality.llm import LLMBadReply, LLMCutReply
from rag_quality.metrics import compare, evaluate
from rag_quality.retrieval import BM25Index

import kept

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
