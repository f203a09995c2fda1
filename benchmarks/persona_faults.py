"""One component broken at a time: does the diagnosis name it first, and does it name nothing where nothing is broken?

usage: python benchmarks/persona_faults.py [--tune] [--all] [--queries N] [--dialogues N] [--errors] [--only NAME] [--seeds S ...]
       --tune: on the needs on which the thresholds were chosen; without it, on the others (what is reported)
       --all: every severity of a fault in every session, not one of them in turn
The system under test is our own pipeline over the bundled collection with one fault put in (FAULTS: to which component each
belongs), or healthy but of another make (HEALTHY). Sessions are small, so that many fit into minutes: 30 questions of the dev
split as people type them (about a tenth without an answer) and 8 dialogues of 4 turns. The reference is the default pipeline
over the sound collection. Both are asked the same; the components are named by `persona.suspects.suspects`.
"""
import argparse, random, re, sys, time
from collections import Counter, defaultdict
from copy import copy
from dataclasses import replace
from functools import lru_cache

from rag_quality.answering import Answer, Assistant
from rag_quality.knowledge import CampusSearch
from rag_quality.experiment.components import DEFAULT_ON, OwnPipeline, Parts, without_citations
from rag_quality.knowledge.contextualize import contextualize
from rag_quality.core import content_hash
from rag_quality.data import bundled
from rag_quality.answering.fallback import FALLBACK_MESSAGE_KO, fallback_answer, hits_of
from rag_quality.retrieval.fusion import hybrid_of
from rag_quality.persona.needs import askables
from rag_quality.persona.personas import Exchange, Intent3, PersonaQuery, TargetError
from rag_quality.persona.stages import Tester, look, look_turn
from rag_quality.persona.failures import suspects

import kept

PERSONAS = {"신입생": "freshman", "재학생": "junior", "대학원생": "graduate", "신임 교수": "new_professor", "정교수": "professor", "신입 직원": "new_staff", "과장급 직원": "manager", "학부모": "parent"}

# --- sessions ------------------------------------------------------------------------------------------------------------

def questions(collection, seed, n, tune):
    "Colloquial questions of one half of the needs of the dev split; a tenth has no answer."
    dev, rng = collection.split("dev"), random.Random(f"faults:{seed}:{tune}")
    formal = {q.metadata["pair"]: q.text for q in dev.queries if q.metadata["register"] == "formal"}
    rows = [q for q in dev.queries if q.metadata["register"] == "colloquial" and q.metadata["pair"] in formal and (int(content_hash(q.metadata["pair"]), 16) % 2 == 0) == tune]
    yes, no = ([q for q in rows if bool(q.metadata["answerable"]) is want] for want in (True, False))
    picked = rng.sample(yes, min(len(yes), n - n//10)) + rng.sample(no, min(len(no), n//10))
    return [PersonaQuery(q.query_id, q.text, formal[q.metadata["pair"]], PERSONAS.get(q.metadata["persona"], "freshman"), q.metadata["difficulty"], q.metadata["query_type"], Intent3("", "", ""), relevant=dict(collection.qrels.get(q.query_id, {})) if q.metadata["answerable"] else {}) for q in picked]

def dialogues(collection, seed, n, tune, turns=4):
    "Questions on one matter, the later ones without naming it: [(id, turn, said, standalone, relevant)]."
    groups = defaultdict(list)
    for a in askables(collection):
        if a.answerable and len(a.asks) == 1 and a.matter and (int(content_hash(a.matter), 16) % 2 == 0) == tune: groups[a.scope, a.matter].append(a)
    rich = sorted(k for k, v in groups.items() if len({a.asks for a in v}) >= 3)
    rng = random.Random(f"dialogues:{seed}:{tune}"); out = []
    for d, key in enumerate(rng.sample(rich, min(n, len(rich)))):
        asked = list({a.asks: a for a in groups[key]}.values())[:turns]
        for t, a in enumerate(asked, 1):
            said = f"{a.formal} 알려 주세요" if t == 1 else f"그럼 {a.asks[0]}{'은' if (ord(a.asks[0][-1]) - 0xAC00) % 28 else '는'} 어떻게 되나요?"
            out.append((f"s-{seed}-{d}", t, said, a.formal, dict(a.relevant)))
    return out

# --- systems -------------------------------------------------------------------------------------------------------------

ANSWERS = {}      # the answer to a text from given passages is the same whoever found them

class Make:
    "Our pipeline with hooks: on the query -> hits, the hits -> context, the answer, the history, the validator, the call."
    def __init__(self, pipeline, *, search=None, context=None, answer=None, history=None, validator=None, call=None, k=5, passages=None, tag=""):
        self.pipeline, self.hooks, self.k, self.tag, self.n = pipeline, dict(search=search, context=context, answer=answer, history=history, call=call), k, tag, 0
        self.passages = passages or pipeline._parts.passages
        self.assistant = Assistant(self.passages, self._context_search, scorer=pipeline._parts.scorer, k=k, validator=validator)
        self.assistant._fallback = lambda wall, query, hits, reason, **more: fallback_answer(query, hits, reason=reason, **more)     # without trying out other questions: that is most of its time
    def search(self, query, k=10):
        found = find(self.pipeline, query, max(k, 100)); h = self.hooks["search"]
        return (h(query, list(found)) if h else list(found))[:k]
    def _context_search(self, query, k):
        hits = self.search(query, k); h = self.hooks["context"]
        return h(hits[:self.k]) if h else hits
    def answer(self, query, history=()):
        if h := self.hooks["call"]: h(query)
        history = self.hooks["history"](history) if self.hooks["history"] else history
        text = contextualize(query, history).text if history else query
        key = (text, self.tag, self.k, tuple(p.full_text for p, _ in self._context_search(text, 8)))
        if key not in ANSWERS: ANSWERS[key] = self.assistant.ask(text)
        a = ANSWERS[key]
        return self.hooks["answer"](query, a) if self.hooks["answer"] else a

FOUND = {}
def find(pipeline, query, k):
    key = (id(pipeline), query)
    if key not in FOUND: FOUND[key] = [(p, s) for p, s in hits_of(pipeline.search(query, max(k, 100)))]
    return FOUND[key]

def draw(seed, *what): return random.Random(f"{seed}:{':'.join(map(str, what))}")

# --- faults: name -> (component, severities, make(base, seed, severity)) -------------------------------------------------

def changed_numbers(text, rng):
    "Every figure outside citations becomes another."
    parts = re.split(r"(\[[^\]]*\])", text)
    return "".join(p if p.startswith("[") else re.sub(r"\d+(?:\.\d+)?", lambda m: str(round(float(m[0]) * rng.choice((2, 3)) + rng.choice((1, 3)))), p) for p in parts)

MADE_UP = ("또한 신청서는 총장의 전자 서명을 받아 방문 접수한 날부터 45일 이내에 학생복지위원회의 심의를 거칩니다.", "아울러 위반하면 과태료 37만 원을 세 차례에 나누어 내야 합니다.", "이 경우 보호자 동의서 5부와 재산세 납부 증명서를 함께 제출해야 합니다.")

def random_search(base, seed, share):
    def f(q, hits): r = draw(seed, q); return [(p, 1.) for p in r.sample(base.passages, 100)] if r.random() < share else hits
    return Make(base.pipeline, search=f)
def nothing(base, seed, share): return Make(base.pipeline, search=lambda q, hits: [] if draw(seed, q).random() < share else hits)
def reversed_order(base, seed, depth): return Make(base.pipeline, search=lambda q, hits: hits[:depth][::-1] + hits[depth:])
def vectors_wrong(base, seed, weight): return Make(weighted(weight))
def low_rank(base, seed, top): return Make(base.pipeline, search=lambda q, hits: hits[top:10] + hits[:top] + hits[10:])

def missing(base, seed, share):
    gone = {p.doc_id for p in base.passages if draw(seed, p.doc_id).random() < share}
    return Make(base.pipeline, search=lambda q, hits: [h for h in hits if h[0].doc_id not in gone])
def old_texts(base, seed, share):
    @lru_cache(maxsize=None)
    def old(p):
        r = draw(seed, p.doc_id)
        return replace(p, text=re.sub(r"(?<!제)\d+", lambda m: str(int(m[0]) + r.choice((1, 2, 5))), p.text).replace("하여야 한다", "할 수 있다").replace("제출", "보고")) if r.random() < share else p
    return Make(base.pipeline, search=lambda q, hits: [(old(p), s) for p, s in hits], tag="old")

def invents_numbers(base, seed, share): return Make(base.pipeline, answer=lambda q, a: a if a.abstained or (r := draw(seed, q)).random() >= share else a.with_(content=changed_numbers(a.content, r) if re.search(r"\d", re.sub(r"\[[^\]]*\]", "", a.content)) else f"{a.content} {r.choice(MADE_UP)}"))
def invents_sentences(base, seed, share): return Make(base.pipeline, answer=lambda q, a: a if a.abstained or (r := draw(seed, q)).random() >= share else a.with_(content=f"{r.choice(MADE_UP)} {a.content}"))
def wrong_article(base, seed, _):
    def f(q, a):
        if a.abstained or not a.contexts: return a
        head, _, body = a.contexts[-1].partition("\n"); label = head.split("(")[0]
        return a.with_(content=f"{body.split(chr(10))[0]} [{label}]", citations=(label,))
    return Make(base.pipeline, answer=f)

def no_citations(base, seed, share): return Make(base.pipeline, answer=lambda q, a: a if a.abstained or draw(seed, q).random() >= share else without_citations(a))
def wrong_citations(base, seed, share):
    def f(q, a):
        if a.abstained or (r := draw(seed, q)).random() >= share: return a
        by = r.choice((7, 11, 20)); turn = lambda t: re.sub(r"제(\d+)조", lambda m: f"제{int(m[1]) + by}조", t)
        return a.with_(content=re.sub(r"\[[^\]]*\]", lambda m: turn(m[0]), a.content), citations=tuple(map(turn, a.citations)))
    return Make(base.pipeline, answer=f)

def truncated(base, seed, share): return Make(base.pipeline, context=lambda hits: [(replace(p, text=p.text[:max(12, int(len(p.text)*share))]), s) for p, s in hits], tag="cut")
def last_only(base, seed, keep): return Make(base.pipeline, context=lambda hits: hits[-keep:], tag="last")

def no_history(base, seed, _): return Make(base.pipeline, history=lambda h: ())
def old_history(base, seed, _): return Make(base.pipeline, history=lambda h: ({"user": "도서관 열람실은 몇 시까지 여나요?", "assistant": "도서관 규정에 있습니다."},) if h else ())

class Timeout(Exception): pass
def slow(base, seed, share):
    def call(q):
        if draw(seed, q).random() < share: raise Timeout
    return Make(base.pipeline, call=call)

def refusal(contexts=()): return Answer(FALLBACK_MESSAGE_KO, 0., (), tuple(contexts), {"method": "fallback", "abstained": True, "reason": "맥락이 질문에 답하지 않습니다."})
def gate_refuses(base, seed, share): return Make(base.pipeline, answer=lambda q, a: refusal(a.contexts) if draw(seed, q).random() < share else a)
def gate_chats(base, seed, share): return Make(base.pipeline, answer=lambda q, a: refusal() if draw(seed, q).random() < share else a)

class Strict:
    "A validator that accepts nothing."
    is_acceptable, score, ungrounded_claims, worst_claim_score = False, 0., ("근거를 찾지 못함",), 0.
    def validate_answer(self, *_): return self
def validator_refuses(base, seed, _): return Make(base.pipeline, validator=Strict(), tag="strict")

def unanalysed(base, seed, _): return Make(plain(frozenset(base.pipeline.on - {"query_analysis", "expansion"})))

FAULTS = {   # name -> (the component it belongs to, severities, how)
    "retrieval: random": ("hybrid", (1., .6), random_search), "retrieval: nothing": ("hybrid", (1., .5), nothing), "fusion: reversed": ("hybrid", (100, 40), reversed_order),
    "index: articles missing": ("index", (.5, .8), missing), "index: old texts": ("index", (1., .6), old_texts),
    "reranker: best last": ("reranker", (5,), low_rank), "reranker: ten turned round": ("reranker", (10,), reversed_order), "query analysis off": ("query_analysis", (1,), unanalysed),
    "answerer: invents figures": ("answerer", (1., .6), invents_numbers), "answerer: invents sentences": ("answerer", (1., .6), invents_sentences), "answerer: another article": ("answerer", (1,), wrong_article),
    "citations: dropped": ("citations", (1., .6), no_citations), "citations: wrong": ("citations", (1., .6), wrong_citations),
    "context: truncated": ("context", (.5, .25), truncated), "context: the last ones only": ("context", (2, 1), last_only),
    "memory: lost": ("memory", (1,), no_history), "memory: of another": ("memory", (1,), old_history),
    "endpoint: slow": ("endpoint", (.3, .8), slow), "gate: refuses": ("self_rag", (1., .6), gate_refuses), "gate: takes all for talk": ("self_rag", (1., .6), gate_chats),
    "validator: refuses all": ("fact_check", (1,), validator_refuses)}

# --- healthy systems of another make -------------------------------------------------------------------------------------

COLLECTION, PARTS = None, None
@lru_cache(maxsize=None)
def plain(on): return OwnPipeline(PARTS, on)
@lru_cache(maxsize=None)
def weighted(words):
    parts = copy(PARTS); parts.weights = lambda q: (words, 1 - words)
    hybrid = hybrid_of(parts.words, parts.vectors, weights_for=parts.weights)
    parts.hybrid = lambda vectors: hybrid
    parts.campus = lambda vectors: CampusSearch(parts.words, hybrid, parts.passages, store=PARTS.campus(True).store, coverage_of=parts.coverage)
    return OwnPipeline(parts, DEFAULT_ON)

def other_brackets(base): return Make(base.pipeline, answer=lambda q, a: a.with_(content=re.sub(r" ?\[([^\]]*제\d+조[^\]]*)\]", r" (근거: \1)", a.content)))
def terse(base): return Make(base.pipeline, answer=lambda q, a: a if a.abstained else a.with_(content=" ".join(re.split(r"(?<=[.\]])\s+(?=[^\[])", a.content.removeprefix(a.metadata.get("notice") or "").strip())[:2])))
HEALTHY = {"default": lambda b: Make(b.pipeline), "k=3": lambda b: Make(b.pipeline, k=3), "k=8": lambda b: Make(b.pipeline, k=8),
           "words .7": lambda b: Make(weighted(.7)), "words .3": lambda b: Make(weighted(.3)), "no vectors": lambda b: Make(plain(frozenset(b.pipeline.on - {"hybrid"}))),
           "no expansion": lambda b: Make(plain(frozenset(b.pipeline.on - {"expansion"}))), "reranker on": lambda b: Make(plain(frozenset(b.pipeline.on | {"reranker"}))),
           "HyDE on": lambda b: Make(plain(frozenset(b.pipeline.on | {"hyde"}))), "citations in round brackets": other_brackets, "two sentences at most": terse}

# --- running -------------------------------------------------------------------------------------------------------------

def asked(system, id, query, history=()):
    try: return Exchange(id, query, system.answer(query, history))
    except Timeout: return Exchange(id, query, None, TargetError("timeout", "30초 안에 답이 없습니다"))

def session(system, queries, talk):
    "The exchanges of a session."
    out, history = {q.id: asked(system, q.id, q.text) for q in queries}, []
    for d, t, said, *_ in talk:
        history = [] if t == 1 else history
        e = out[f"{d}-t{t}"] = asked(system, f"{d}-t{t}", said, tuple(history))
        history.append({"user": said, "assistant": e.answer.content if e.answer else ""})
    return out

def looks_of(tester, exchanges, queries, talk):
    out = {q.id: look(tester, q, exchanges[q.id]) for q in queries}
    for d, t, said, standalone, relevant in talk: out[f"{d}-t{t}"] = look_turn(tester, {"id": f"{d}-t{t}", "turn": t, "standalone": standalone, "relevant": relevant}, exchanges[f"{d}-t{t}"])
    return out

def wilson(k, n):
    z, p = 1.96, k/max(n, 1); mid, half = p + z*z/(2*n), z*(p*(1 - p)/n + z*z/(4*n*n))**.5
    return f"{k}/{n} = {p:.1%} [{(mid - half)/(1 + z*z/n):.1%}, {(mid + half)/(1 + z*z/n):.1%}]"

def main(argv):
    global COLLECTION, PARTS
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--tune", action="store_true"); ap.add_argument("--queries", type=int, default=30); ap.add_argument("--dialogues", type=int, default=8); ap.add_argument("--errors", action="store_true"); ap.add_argument("--only", default="")
    ap.add_argument("--seeds", type=int, nargs="*", default=None); ap.add_argument("--all", action="store_true"); ap.add_argument("--slice", action="store_true")
    args = ap.parse_args(argv); start = time.time()
    if args.slice: args.queries, args.dialogues, args.only, args.seeds = 12, 2, args.only or "citations", [30]
    COLLECTION = bundled(); PARTS = Parts(COLLECTION); base = Make(OwnPipeline(PARTS)); reference = Tester(COLLECTION.passages, search=base.search, answer=base.answer)
    seeds = args.seeds or ((0, 1, 2) if args.tune else (10, 11, 12)); right, named, confusion, missed = 0, 0, defaultdict(Counter), []; n_faulty = n_healthy = 0
    for seed in seeds:
        queries, talk = questions(COLLECTION, seed, args.queries, args.tune), dialogues(COLLECTION, seed, args.dialogues, args.tune)
        expected = looks_of(reference, session(base, queries, talk), queries, talk)
        def run(name, system):
            t = Tester(COLLECTION.passages, search=system.search, answer=system.answer)
            ours = looks_of(t, session(system, queries, talk), queries, talk)
            found = suspects(ours, expected)
            if args.errors: print(f"  {seed} {name:36} {[(s.component, s.stage, round(s.p, 4), round(s.effect, 2), s.n) for s in found]}  {time.time() - start:.0f}s", flush=True)
            return found
        for name, (component, severities, make) in FAULTS.items():
            if args.only not in name: continue
            for severity in (severities if args.all else [severities[seed % len(severities)]]):
                found = run(f"{name} {severity}", make(base, seed, severity)); first = found[0].component if found else "(none)"
                n_faulty += 1; right += first == component; confusion[component][first] += 1
                if first != component: missed.append((seed, f"{name} {severity}", component, [s.component for s in found]))
        for name, make in HEALTHY.items():
            if args.only and args.only not in name: continue
            found = run(f"healthy: {name}", make(base)); n_healthy += 1; named += bool(found)
            confusion["(healthy)"][found[0].component if found else "(none)"] += 1
            if found: missed.append((seed, f"healthy: {name}", "(none)", [s.component for s in found]))
    print(f"sessions of {args.queries} questions and {args.dialogues} dialogues, seeds {', '.join(map(str, seeds))}{' (tuning half)' if args.tune else ''}")
    if n_faulty: print(f"faulty runs whose first suspect is the broken component: {wilson(right, n_faulty)}  (target >= 80 %)")
    if n_healthy: print(f"healthy runs without a suspect: {wilson(n_healthy - named, n_healthy)}  (target >= 90 %)")
    columns = list(dict.fromkeys([*(c for c, *_ in FAULTS.values()), "(none)", *(x for r in confusion.values() for x in r)]))
    print("\nbroken \\ first suspect  " + " ".join(f"{c[:9]:>9}" for c in columns))
    for c in [*dict.fromkeys(c for c, *_ in FAULTS.values()), "(healthy)"]:
        if confusion[c]: print(f"{c:24}" + " ".join(f"{confusion[c][x] or '·':>9}" for x in columns))
    for seed, name, want, got in missed: print(f"  wrong: seed {seed} {name:34} is {want:15} named {', '.join(got) or '(none)'}")
    return 0

if __name__ == "__main__": kept.run(lambda: main(sys.argv[1:]), split="train, test", seed=0)
