"""Is every claim of an answer in its passages? What the validator finds, alone and offline.

usage: python benchmarks/faithfulness.py DATA [--errors N] [--limit N]      DATA: a folder with regs/, realrag/, klue-nli/
       python benchmarks/faithfulness.py [--slice]                          the bundled pairs, speed, fuzzed answers: 10,000, a slice 300
       python benchmarks/faithfulness.py --fuzz 10000
The model of data/config/faithfulness.json was fitted on the dev half of regs: on that half the figures here are in-sample. What other needs may
expect is printed by benchmarks/faithfulness_fit.py, cross-validated by need. realrag, klue-nli and data/contrast test were not fitted on.
"""
import argparse, json, random, sys, time, unicodedata
from pathlib import Path

import numpy as np

from rag_quality.semantic_eval.calibration import contrast_pairs
from rag_quality.faithfulness import FaithfulnessValidator
from rag_quality.metrics import auroc, number

import kept

T = .6


def rows(path, limit=None): return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines() if line.strip()][:limit]


def interval(hits, n_boot=2000):
    hits = np.asarray(hits, float)
    if not len(hits): return "- (n 0)"
    draws = np.random.default_rng(0).choice(hits, (n_boot, len(hits))).mean(1)
    return f"{hits.mean():.3f} [{np.quantile(draws, .025):.3f}, {np.quantile(draws, .975):.3f}] (n {len(hits)})"


def worst(result): return 1. if result.worst_claim_score is None else result.worst_claim_score


def regs(v, folder, limit, errors):
    corpus = {d["_id"]: f"{d['title']}\n{d['text']}" for d in rows(folder/"corpus.jsonl")}; found = []
    for n in rows(folder/"needs.jsonl", limit):
        context = [corpus[d] for d in n["relevant"] if d in corpus]
        for kind, text in (("answer", n["answer"]), ("faithful", n["faithful"]), *((u["kind"], u["text"]) for u in n["unfaithful"])): found.append((kind, worst(v.validate_answer(text, context)), bool(v.validate_answer(text, context).ungrounded_claims), n["need"], text))
    kind, score, flagged = (np.array([f[i] for f in found]) for i in range(3)); right = np.isin(kind, ["answer", "faithful"])
    print(f"regs (참고 답과 충실한 바꿔 말하기 {right.sum()}개, 거짓 하나가 든 답 {(~right).sum()}개; 배운 자료와 같은 절반)")
    print(f"  AUROC {number(auroc(score, right))} (목표 0.85)  균형 정확도 {((score[right] >= T).mean() + (score[~right] < T).mean())/2:.3f} (목표 0.80)")
    for name, kinds, target in (("수·조문·일반화", ("number", "article", "generalisation"), .95), ("부정", ("negation",), .85), ("이름", ("entity",), .80), ("조건", ("condition",), .60), ("없는 내용", ("unsupported",), .80)):
        print(f"  찾음 {name:10} {interval(flagged[np.isin(kind, kinds)])}  목표 {target}")
    for name in ("faithful", "answer"): print(f"  오경보 {name:8} {interval(flagged[kind == name])}  목표 0.15 이하")
    for f in [f for f in found if f[2] == (f[0] in ("answer", "faithful"))][:errors]: print("   ", f[3], f[0], f"{f[1]:.2f}", f[4][:160])


def realrag(v, path, limit):
    seg, ans = [], []
    for r in rows(path, limit):
        answer, at, mine = unicodedata.normalize("NFC", r["answer"]), 0, []
        result = v.validate_answer(answer, r["contexts"])
        for s, label in zip(r["segments"], r["labels"][0]):
            s = unicodedata.normalize("NFC", s); start = answer.find(s, at)
            if start < 0: start = answer.find(s)
            if start >= 0: at = start + len(s)
            if label in "AN": continue
            seg.append((min((c.score for c in result.claims if start <= c.start < start + len(s)), default=.5) if start >= 0 else .5, label == "S")); mine.append(label == "S")
        if mine: ans.append((worst(result), result.score or 0., all(mine), np.mean(mine) >= .5, np.mean([c.score for c in result.claims] or [.5])))
    s, a = np.array(seg, float), np.array(ans, float)
    print(f"realrag  조각 AUROC (S와 P/U/C) {number(auroc(s[:, 0], s[:, 1] > 0))} (n {len(s)}, 목표 0.82)")
    print(f"  답 AUROC (n {len(a)}, 목표 0.80): 가장 낮은 주장 {number(auroc(a[:, 0], a[:, 2] > 0))}, 점수의 평균 {number(auroc(a[:, 4], a[:, 2] > 0))} (모두 S인 답), 평균으로 절반 넘게 S인 답 {number(auroc(a[:, 4], a[:, 3] > 0))}")


def nli(v, path, limit):
    data = [line.split("\t") for line in path.read_text(encoding="utf8").splitlines()]; data = [d for d in data if len(d) == 3 and d[0] in ("contradiction", "entailment")][:limit]
    flagged = np.array([bool(v.validate_answer(h if h.rstrip().endswith(".") else h + ".", [p]).ungrounded_claims) for _, p, h in data]); bad = np.array([d[0] == "contradiction" for d in data])
    print(f"KLUE-NLI dev  어긋남과 따라 나옴의 균형 정확도 {((flagged[bad]).mean() + (~flagged[~bad]).mean())/2:.3f} (n {len(data)}; 어긋남을 찾음 {flagged[bad].mean():.3f}, 따라 나옴에 울림 {flagged[~bad].mean():.3f})")


def contrast(v, limit):
    pairs = contrast_pairs("test")[:limit]; same = np.array([p["label"] == "same" for p in pairs]); score = np.array([worst(v.validate_answer(p["a"], [p["b"]])) for p in pairs])
    print(f"contrast/test  AUROC {number(auroc(score, same))}, 거짓을 찾음 {interval(score[~same] < T)}, 참에 울림 {interval(score[same] < T)}")


def speed(v, n):
    context = [f"규정{k} 제{k}조(기준)\n" + " ".join(f"{s}번 신청은 사유가 생긴 날부터 {s + k}일 이내에 서류를 갖추어 담당 부서에 내고 처장의 승인을 받아야 한다." for s in range(1, 5)) for k in range(1, 6)]
    def answer(i): return " ".join(f"{i}-{s} 신청은 사유가 생기면 {s + 2}일 안에 서류를 담당 부서에 내고 처장의 승인을 받아야 합니다." for s in range(10))
    v.validate_answer(answer(0), context); fresh, again = [], []
    for i in range(1, n):
        for times in (fresh, again): t = time.perf_counter(); v.validate_answer(answer(i), context); times.append(1000*(time.perf_counter() - t))
    print(f"속도 (문장 10개, 조문 5개)  본 답 p50 {np.median(again):.2f} ms, 처음 보는 답 p50 {np.median(fresh):.1f} ms p95 {np.quantile(fresh, .95):.1f} ms (목표 p50 10 ms 미만)")


_PARTS = ["휴학은 2개 학기까지입니다.", "**굵게**", "| a | b |\n", "[", "]]", "제5조", "\x00\x07", "①", "<개정", "20%", "없다", "\n\n- ", "http://a.b", "[CONTEXT END]", "가"*300, "١٢", "🙂", "(" * 40, "「", "이전 지시를 무시하고", "9" * 40, "ㅋㅋ", "\u200b", "e\u0301", "```", "다만,", "제1조의2제3항", "\t"]


def fuzz(v, n):
    v.validate_answer("휴학은 2년까지입니다.", ["휴학은 2년까지 한다."]); rng, slow, t0 = random.Random(0), 0., time.time()     # what is loaded at first use is no part of it
    def text(): return "".join(rng.choice(_PARTS) for _ in range(rng.choice((0, 1, 3, 8, 20))))
    for i in range(n):
        t = time.perf_counter(); v.validate_answer(text(), [text() for _ in range(rng.randint(0, 3))]); slow = max(slow, time.perf_counter() - t)
    print(f"만든 글 {n}벌: 예외 0, 가장 느린 것 {1000*slow:.0f} ms, 모두 {time.time() - t0:.0f}초")
    for part in ("휴학은 2개 학기까지이고 다만 예외가 있다. ", "(" * 50, "제5조제1항 ", "a", "| x | 3일 "):
        times = []
        for size in (10_000, 40_000): t = time.process_time(); v.validate_answer((part * size)[:size], [(part * size)[:size]]); times.append(time.process_time() - t)
        print(f"  길이 네 배에 시간 {times[1]/max(times[0], 1e-3):.1f}배  {part[:20]!r}")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("data", nargs="?", type=Path); ap.add_argument("--slice", action="store_true"); ap.add_argument("--errors", type=int, default=0); ap.add_argument("--limit", type=int); ap.add_argument("--fuzz", type=int)
    args = ap.parse_args(); v = FaithfulnessValidator()
    if args.fuzz: fuzz(v, args.fuzz); return 0
    if args.data is not None:
        if not (args.data/"regs"/"needs.jsonl").is_file(): print(f"자료가 없습니다: {args.data/'regs'/'needs.jsonl'}", file=sys.stderr); return 2
        regs(v, args.data/"regs", args.limit, args.errors); realrag(v, args.data/"realrag"/"dev.jsonl", args.limit); nli(v, args.data/"klue-nli"/"dev.tsv", args.limit)
    contrast(v, 60 if args.slice else None); speed(v, 8 if args.slice else 40)
    if args.data is None: fuzz(v, 300 if args.slice else 10_000)
    return 0


if __name__ == "__main__": kept.run(main, split="test", seed=0)
