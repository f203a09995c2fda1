"""Errors planted in true answers: does the fact check find them, and do true answers pass?

usage: python benchmarks/persona_fact_check.py [DATA] [--split dev|test|all] [--slice] [--errors N] [--claims N]
       DATA has needs.jsonl (answer, relevant, formal) and corpus.jsonl, or holds such a folder `regs`; without one, the bundled collection, dev half
Each error is one change by rule in one sentence of a reference answer: another number, period, bound, article (one of the same regulation, or one that
is not there), regulation, office or post, document, modality. The checker is given the need (as it is asked), the answer and the whole collection: not the articles that answer.
An answer has up to three checked claims; so two figures a kind: over all answers, and over answers that have no more claims than are checked.
Where needs.jsonl has `unfaithful` answers (kinds number, article, entity) they are checked too.
"""
import argparse, json, random, re, sys, time
from collections import defaultdict
from math import sqrt
from pathlib import Path

from rag_quality.answering.answers import Answer
from rag_quality.claims.citing import find_citations
from rag_quality.core import Passage, bundle_path
from rag_quality.claims.citing import read_heading
from rag_quality.claims.names import find_names, same_name
from rag_quality.claims.quantities import find_quantities
from rag_quality.persona.fact_check import AutoFactChecker
from rag_quality.faithfulness.claims import cited_claims

import kept

KINDS = {"number": "수·금액·비율", "period": "기한·기간", "bound": "이내·이상·전후", "article": "조 번호(있는 조)", "absent": "조 번호(없는 조)", "regulation": "규정 이름", "office": "부서·직위·기구", "document": "서류", "modality": "할 수 있다·해야 한다", "negation": "된다·안 된다"}
BOUNDS = (("이내", "이상"), ("이상", "미만"), ("이하", "초과"), ("미만", "이상"), ("초과", "이하"), ("전까지", "후부터"))
JOSA = (("을", "를"), ("이", "가"), ("은", "는"), ("과", "와"), ("으로", "로"))

def read(path): return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines() if line.strip()]

def wilson(hits, n, z=1.96):
    "Share with its Wilson interval."
    if not n: return "- (n 0)"
    p = hits/n; m = (p + z*z/2/n)/(1 + z*z/n); d = z*sqrt(p*(1-p)/n + z*z/4/n/n)/(1 + z*z/n)
    return f"{p:.3f} [{max(0, m-d):.3f}, {min(1, m+d):.3f}] (n {n})"

def josa(word, rest):
    "The text after a name, its particle as the name's last syllable wants it."
    final = "가" <= word[-1] <= "힣" and (ord(word[-1]) - 0xAC00) % 28
    for a, b in JOSA:
        for p in (a, b):
            if rest.startswith(p) and not re.match("[가-힣]", rest[len(p):]): return (b if not final or p in ("으로", "로") and final == 8 else a) + rest[len(p):]
    return rest

def _numbered(q, rng):
    "The quantity with another number, or None."
    m = re.search(r"\d[\d,]*(?:\.\d+)?", q.text)
    if not m: return None
    v = float(m[0].replace(",", ""))
    if v == 0: return None
    options = [v*2, v*3, v+1, v+2] + ([v/2] if v % 2 == 0 and v > 2 else []) if "." not in m[0] else [v + .5, v + 1]
    new = rng.choice(options); s = f"{int(new):,}" if new == int(new) and "," in m[0] else f"{new:.{len(m[0].partition('.')[2])}f}"
    return q.text[:m.start()] + s + q.text[m.end():] if s != m[0] else None

def plants(text, rng, articles, names):
    "(kind, start, end, new text) of the changes that can be made in an answer."
    cites = [c for c in find_citations(text) if c.article and not c.addendum]; inside = lambda a, b: any(c.start < b and a < c.end for c in find_citations(text)); out = []
    for q in find_quantities(text):
        if inside(q.start, q.end): continue
        kind = "period" if q.dimension in ("duration", "workday", "date", "clock", "night") else "number"
        if new := _numbered(q, rng): out.append((kind, q.start, q.end, new))
        for a, b in BOUNDS:
            if q.text.endswith(a): out.append(("bound", q.end - len(a), q.end, "이후" if a == "이내" and kind == "period" and text[q.end:q.end+1] == "에" else b))
    for c in cites:
        m = re.search(r"제\s?(\d+)\s?조(?:의\s?\d+)?", text[c.start:c.end]); regulation = c.regulation.replace(" ", "")
        if not m or not regulation: continue
        own = [a for r, a in articles if r.replace(" ", "") == regulation and a != c.article]
        if own: out.append(("article", c.start + m.start(), c.start + m.end(), f"제{rng.choice(own)}조"))
        out.append(("absent", c.start + m.start(), c.start + m.end(), f"제{max([*own, c.article]) + rng.randint(3, 60)}조"))
        others = sorted({r for r, _ in articles if r.replace(" ", "") != regulation and regulation not in r.replace(" ", "")}); k = text[c.start:c.end].find(c.regulation)
        if others and k >= 0: out.append(("regulation", c.start + k, c.start + k + len(c.regulation), rng.choice(others)))
    for n in find_names(text):
        if inside(n.start, n.end) or n.kind not in ("office", "post", "body", "document"): continue
        pool = [x for x in names[n.kind] if same_name(x, n) is False]
        if pool: out.append(("document" if n.kind == "document" else "office", n.start, n.end, rng.choice(pool).text))
    for m in re.finditer(r"해야 (?=합니다|하고|하며)", text): out.append(("modality", m.start(), m.end()+2, "할 수 있" + {"합니": "습니", "하고": "고", "하며": "으며"}[text[m.end():m.end()+2]]))
    for m in re.finditer(r"할 수 있(습니다|고|으며)", text): out.append(("modality", m.start(), m.end(), "해야 " + {"습니다": "합니다", "고": "하고", "으며": "하며"}[m[1]]))
    for m in re.finditer(r"수 있(?=습니다|고|으며|지만|으나)", text): out.append(("negation", m.start(), m.end(), "수 없"))
    for m in re.finditer(r"수 없(?=습니다|고|으며|지만|으나)", text): out.append(("negation", m.start(), m.end(), "수 있"))
    for m in re.finditer(r"(?<=[가-힣])지 않습니다", text): out.append(("negation", m.start()-1, m.end(), text[m.start()-1] + "지 않는 것은 아닙니다"))
    return [o for o in out if o[0] != "negation" or "것은 아닙니다" not in o[3]]

def planted(answers, corpus, per=3, seed=0):
    "(answer index, kind, text, place) of the planted errors: at most `per` of a kind in an answer."
    heads = [h for d in corpus for h in [read_heading(d.full_text)] if h and h.article and not h.addendum and "삭제" not in d.full_text[:120]]
    articles = sorted({(h.regulation, h.article) for h in heads}); names = defaultdict(dict)
    for d in corpus[:400]:
        for n in find_names(d.text): names[n.kind].setdefault((n.core, n.head), n)
    names = {k: [n for n in v.values() if len(n.core) >= 2 and not n.text.endswith(("서류", "자료"))] for k, v in names.items()}; out = []
    for i, text in enumerate(answers):
        rng = random.Random(f"{seed}:{i}"); seen = defaultdict(int); found = plants(text, rng, articles, defaultdict(list, names)); rng.shuffle(found)
        for kind, a, b, new in found:
            if seen[kind] < per and text[a:b] != new: seen[kind] += 1; out.append((i, kind, text[:a] + new + (josa(new, text[b:]) if kind in ("office", "document") else text[b:]), a))
    return out

def load(data, split):
    needs = [n for n in read(data/"needs.jsonl") if n.get("answer") and any(g >= 2 for g in (n.get("relevant") or {}).values()) and (split == "all" or n.get("split", split) == split)]
    return needs, [Passage(str(d["_id"]), d["text"], d.get("title") or "") for d in read(data/"corpus.jsonl")]

def main(argv):
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("data", nargs="?", type=Path); ap.add_argument("--split", default="dev"); ap.add_argument("--slice", action="store_true"); ap.add_argument("--errors", type=int, default=0)
    ap.add_argument("--claims", type=int, default=3); ap.add_argument("--per", type=int, default=3)
    args = ap.parse_args(argv); data = args.data or Path(str(bundle_path("hanbit")))
    if (data/"regs").is_dir(): data = data/"regs"
    if not (data/"needs.jsonl").is_file(): print(f"파일이 없습니다: {data/'needs.jsonl'}", file=sys.stderr); return 2
    needs, corpus = load(data, args.split); needs = needs[::24 if args.slice else 1]
    checker = AutoFactChecker(corpus, claims=args.claims); few = [len(cited_claims(n["answer"])) <= args.claims for n in needs]; shown = 0
    def run(text, n): return checker.check(" ".join(n.get(k) or "" for k in ("formal", "colloquial", "colloquial2")), Answer(text, 1.))
    times, true = [], []
    for n in needs:
        t = time.process_time(); r = run(n["answer"], n); times.append(1000*(time.process_time() - t)); true.append(r.passed is True)
        if args.errors and not r.passed: print("   오경보", n["need"], *(f"\n      {c.text[:90]} | {c.checks} {c.reason[:90]}" for c in r.failed))
    print(f"{data.name} {args.split}: 답 {len(needs)}개, 조문 {len(corpus)}개, 주장 {args.claims}개까지 확인 ({sum(few)}개는 주장이 그만큼이거나 적음)")
    print(f"참인 답이 통과  {wilson(sum(true), len(true))}  주장이 적은 답만 {wilson(sum(t for t, f in zip(true, few) if f), sum(few))}  (목표 0.90)")
    hits, mine = defaultdict(list), defaultdict(list)
    for i, kind, text, at in planted([n["answer"] for n in needs], corpus, args.per):
        r = run(text, needs[i]); hit = r.passed is False; hits[kind].append(hit)
        if few[i]: mine[kind].append(hit)
        if not hit and shown < args.errors: shown += 1; print("   놓침", kind, needs[i]["need"], "…" + text[max(0, at-40):at+60].replace("\n", "/"), "" if any(c.start <= at < c.end for c in r.claims) else "(확인한 주장 밖)")
    for kind, name in KINDS.items(): print(f"심은 잘못을 찾음  {name:14} {wilson(sum(hits[kind]), len(hits[kind]))}   주장이 적은 답만 {wilson(sum(mine[kind]), len(mine[kind]))}")
    told = ("number", "period", "bound", "article", "absent", "regulation", "office", "document"); main_, part = [x for k in told for x in hits[k]], [x for k in told for x in mine[k]]
    print(f"심은 잘못을 찾음  {'수·기한·조문·이름':12} {wilson(sum(main_), len(main_))}   주장이 적은 답만 {wilson(sum(part), len(part))}  (목표 0.95)")
    total, small = [x for v in hits.values() for x in v], [x for v in mine.values() for x in v]
    print(f"심은 잘못을 찾음  {'모두':14} {wilson(sum(total), len(total))}   주장이 적은 답만 {wilson(sum(small), len(small))}  (목표 0.95)")
    told = defaultdict(list)
    for n in needs:
        for u in n.get("unfaithful") or ():
            if u["kind"] in ("number", "article", "entity"): told[u["kind"]].append(run(u["text"], n).passed is False)
    for kind, v in told.items(): print(f"자료에 있는 틀린 답을 찾음  {kind:8} {wilson(sum(v), len(v))}")
    print(f"처음 보는 답 하나에 {sorted(times)[len(times)//2]:.0f} ms (프로세서 시간의 가운데값)")
    return 0

if __name__ == "__main__": kept.run(lambda: main(sys.argv[1:]), split="dev", seed=0)
