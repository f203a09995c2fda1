"""A ladder of quality: good answers made worse one dimension at a time. Does that score fall, and do the others stay?

usage: python benchmarks/persona_ladder.py [DATA] [--split dev|test] [--slice] [--show N]       without DATA: the bundled collection
Questions: two needs of one family asked together (복합 질문); their reference answers together are the good answer (rung 0). Each ladder has at least four rungs:
  accuracy      0..3 of the sentences get another number or period (a checked fact is false; that it is said, cited and practical stays)
  completeness  0..3 sentences are left out, only such as leave every deadline, document, office and act of the answer said elsewhere in it
  relevance     0..4 sentences of answers to other families are added, with their (right) citations
  citation      none, a quarter, half, three quarters, all of the citations are taken off
  practicality  nothing, the figures of deadlines, the documents' names, the offices' names become '정해진 때', '관련 서류', '담당 부서'
  actionability none, a third, two thirds, all of the sentences that say what to do become what they are about ('... 관련 사항이 있습니다'), with their figures and names
Printed: rows are ladders, columns are scores. On the diagonal Spearman's correlation of rung and score (mean over the answers whose score can move; a score
that never moves counts 0), elsewhere the mean absolute change of that score from the first to the last rung, as a share of its maximum.
"""
import argparse, random, re, sys, time
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

sys.path.insert(0, str(Path(__file__).parent))
from persona_fact_check import josa, load, plants
from rag_quality.answering.answers import Answer
from rag_quality.core import bundle_path
from rag_quality.korean.formality import tokens
from rag_quality.claims.names import find_names
from rag_quality.persona.fact_check import Rulebook
from rag_quality.persona.fact_check import AutoFactChecker, key_claims
from rag_quality.persona.quality import DIMENSIONS, WEIGHTS, QualityEvaluator
from rag_quality.persona.quality import acts, deadlines, details
from rag_quality.persona.personas import Intent3, PersonaQuery
from rag_quality.claims.splitting import split_sentences

import kept

BRACKET = re.compile(r"\s?\[[^\[\]]*(?:제\d+조|부칙)[^\[\]]*\]")

def composites(needs):
    "Questions of two needs of a family, with their answers."
    by = defaultdict(list)
    for n in needs: by[n.get("family") or ""].append(n)
    out = []
    for group in by.values():
        for a, b in zip(group[::2], group[1::2]):
            facts = [f["fact"] if isinstance(f, dict) else f for n in (a, b) for f in n.get("key_facts") or ()]
            q = PersonaQuery(f"{a['need']}+{b['need']}", f"{a.get('colloquial') or a['formal']} {b.get('colloquial') or b['formal']}", f"{a['formal']} {b['formal']}", "junior", "hard", "복합 질문", Intent3("", "", ""),
                             tuple(a.get("topics") or ()) + tuple(b.get("topics") or ()), {**a["relevant"], **b["relevant"]}, tuple(facts))
            out.append((q, f"{a['answer'].strip()} {b['answer'].strip()}", a.get("family") or ""))
    return out

def falsified(text, rules, rng):
    "The answer with 0..3 claims false in a figure."
    claims = sorted(key_claims(text, rules), key=lambda c: -c.claim.start); out = [text]; now = text
    for c in claims:
        found = [p for p in plants(text, rng, [], defaultdict(list)) if p[0] in ("number", "period") and c.claim.start <= p[1] and p[2] <= c.claim.end]
        if not found: continue
        _, a, b, new = found[0]; now = now[:a] + new + now[b:]; out.append(now)
    return out[:4]

def shortened(text, query):
    "The answer with 0..3 sentences less, the details and acts of the whole kept as long as that goes."
    parts, out = [s.text for s in split_sentences(text)], [text]
    for _ in range(3):
        if len(parts) < 2: break
        def loss(k):
            rest = " ".join(parts[:k] + parts[k+1:])
            return len(details(text)) - len(details(rest)), len(acts(text)) - len(acts(rest)), k
        k = min(range(len(parts)), key=loss)
        if any(loss(k)[:2]): break
        parts.pop(k); out.append(" ".join(parts))
    return out

def wandering(text, family, others, rng):
    "The answer with 0..4 sentences about something else added."
    pool = [s.text for f, t in others if f != family for s in split_sentences(t) if BRACKET.search(s.text)]
    more = rng.sample(pool, 4); return [" ".join([text, *more[:k]]) for k in range(5)]

def uncited(text):
    "The answer with ever fewer citations."
    marks = list(BRACKET.finditer(text)); out = []
    for share in (0, .25, .5, .75, 1):
        gone = {m.start() for m in marks[:round(share*len(marks))]}
        out.append("".join(text[a:b] for a, b in zip([0, *(m.end() for m in marks if m.start() in gone)], [*(m.start() for m in marks if m.start() in gone), len(text)])))
    return out

def _swap(text, spans):
    for a, b, new in sorted(spans, reverse=True): text = text[:a] + new + josa(new, text[b:])
    return text

def vaguer(text):
    "The answer without figures of time, then without names of documents, then of offices."
    cites = [m.span() for m in BRACKET.finditer(text)]; inside = lambda a, b: any(s < b and a < e for s, e in cites); out = [text]
    times = [(q.start, q.end, "정해진 때") for q in deadlines(text) if not inside(q.start, q.end)]
    tidy = lambda t: re.sub(r"(?:정해진 때[^.,\[]{0,12}?\s)+(?=정해진 때)", "", t)
    def names(t, kinds, new):
        marks = [m.span() for m in BRACKET.finditer(t)]
        return [(n.start, n.end, new) for n in find_names(t) if n.kind in kinds and not any(s < n.end and n.start < e for s, e in marks)]
    out.append(tidy(_swap(text, times))); out.append(_swap(out[-1], names(out[-1], ("document",), "관련 서류"))); out.append(_swap(out[-1], names(out[-1], ("office", "post"), "담당 부서")))
    return out

_VERBAL = ("VV", "VA", "VX", "XSV", "XSA", "VCP", "VCN", "EC", "EF", "ETM")

def about(sentence):
    "What a sentence is about: its nouns, figures and names, without a predicate."
    cite = "".join(m[0] for m in BRACKET.finditer(sentence)); text = BRACKET.sub("", sentence).rstrip(". "); toks = tokens(text); kept = []
    for m in re.finditer(r"\S+", text):
        mine = [t for t in toks if m.start() <= t.start < m.end()]
        if any(t.tag[:2] in ("NN", "SN", "NR") and t.tag != "NNB" for t in mine) and not any(t.tag.split("-")[0] in _VERBAL for t in mine): kept.append(m[0])
    return f"{' '.join(kept)} 관련 사항이 있습니다{cite}."

def nominal(text):
    "The answer with none, a third, two thirds, all of its sentences that say what to do turned into what they are about."
    parts = [s.text for s in split_sentences(text)]; mine = [k for k, s in enumerate(parts) if acts(s)]
    return [" ".join(about(s) if k in mine[:round(n*len(mine)/3)] else s for k, s in enumerate(parts)) for n in range(4)] if len(mine) >= 3 else []

def main(argv):
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("data", nargs="?", type=Path); ap.add_argument("--split", default="dev"); ap.add_argument("--slice", action="store_true"); ap.add_argument("--show", type=int, default=0)
    args = ap.parse_args(argv); data = args.data or Path(str(bundle_path("hanbit")))
    if (data/"regs").is_dir(): data = data/"regs"
    if not (data/"needs.jsonl").is_file(): print(f"파일이 없습니다: {data/'needs.jsonl'}", file=sys.stderr); return 2
    needs, corpus = load(data, args.split); rules = Rulebook(corpus); checker, judge = AutoFactChecker(rules), QualityEvaluator(rules)
    found = composites(needs)[::14 if args.slice else 1]; answers = [(n.get("family") or "", n["answer"]) for n in needs]; times = []
    def score(q, text):
        a = Answer(text, 1.); t = time.process_time(); f = checker.check(q, a); r = judge.evaluate(q, a, f); times.append(1000*(time.process_time() - t))
        if args.show and f.failed: print("     ", *(f"{c.text[:70]} | {c.reason[:90]}" for c in f.failed), sep="\n        ")
        return r
    rows = {d: [] for d in WEIGHTS}
    for q, text, family in found:
        rng = random.Random(q.id); first = score(q, text)
        ladders = {"accuracy": falsified(text, rules, rng), "completeness": shortened(text, q), "relevance": wandering(text, family, answers, rng), "citation": uncited(text), "practicality": vaguer(text), "actionability": nominal(text)}
        for d, texts in ladders.items():
            if len(texts) < 4 or getattr(first, d) is None or d == "practicality" and len(set(texts)) < 4: continue
            scores = [first] + [score(q, t) for t in texts[1:]]
            if args.show and len(rows[d]) < args.show: print(f"--- {d} {q.id}", *(f"\n  {k} {[getattr(s, x) for x in WEIGHTS]} {t[:220]}" for k, (t, s) in enumerate(zip(texts, scores))), sep="")
            rows[d].append(np.array([[np.nan if getattr(s, x) is None else getattr(s, x)/WEIGHTS[x] for x in WEIGHTS] for s in scores]))
    print(f"{data.name} {args.split}: 두 필요를 함께 물은 질문 {len(found)}개. 대각선은 계단과 점수의 스피어만 상관(목표 0.8 이상, 낮아지는 쪽), 나머지는 처음과 끝의 차이(최대 점수의 몫, 목표 0.1 이하)")
    print(f"{'망친 것':10} {'n':>3}  " + "  ".join(f"{DIMENSIONS[d]:>6}" for d in WEIGHTS)); names = list(WEIGHTS)
    for i, d in enumerate(names):
        cells = []
        for j in range(6):
            if i == j:
                rho = [-spearmanr(range(len(r)), r[:, j])[0] if np.ptp(r[:, j]) else 0. for r in rows[d] if not np.isnan(r[:, j]).any()]
                pooled = [(k/(len(r)-1), v) for r in rows[d] for k, v in enumerate(r[:, j]) if not np.isnan(v)]; at, v = zip(*pooled) if pooled else ((0, 1), (0, 1))
                cells.append(f"[{np.mean(rho) if rho else float('nan'):.2f}]"); extra = f"{np.mean([r[0, j] for r in rows[d]]):.2f} → {np.mean([r[-1, j] for r in rows[d]]):.2f}, 모아서 ρ {-spearmanr(at, v)[0]:.2f}"
            else:
                move = [abs(r[-1, j] - r[0, j]) for r in rows[d] if not np.isnan(r[[0, -1], j]).any()]; cells.append(f"{np.mean(move):.3f}" if move else "-")
        print(f"{DIMENSIONS[d]:10} {len(rows[d]):>3}  " + "  ".join(f"{c:>8}" for c in cells) + f"   ({extra})")
    print(f"답 하나의 팩트체크와 채점: 가운데값 {np.median(times[len(times)//3:]):.0f} ms (프로세서 시간, 조문과 문장을 읽어 둔 뒤)")
    return 0

if __name__ == "__main__": kept.run(lambda: main(sys.argv[1:]), split="dev", seed=0)
