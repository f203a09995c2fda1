"""No text brings it down: every sentence of a folder, also cut at every word and short of its last morphemes, through every function that takes a user's text.

usage: python benchmarks/robustness.py [DATA] [--every N] [--offset K] [--jobs N] [--functions NAME ...] [--cap N] [--json FILE] [--show]
without DATA: the bundled collection and generated texts

Prints the calls, the exceptions by type and place (0 is the target) and the CPU time a call; ends with 1 where there was an exception or a call over the bound.
`--every 50 --offset 3` takes every fiftieth base text from the third on, so that a long run can be done in slices; texts are never printed but with `--show`.
"""
import argparse, json, logging, random, re, sys, time, traceback, zlib
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT/"tools"))

import texts as made
from rag_quality.data.articles import split_articles
from rag_quality.claims.citing import find_citations
from rag_quality.claims import compare
from rag_quality.colloquial import ColloquialTransformer, detect_formality
from rag_quality.knowledge.contextualize import contextualize
from rag_quality.core import nfc
from rag_quality.data import Collection, bundled
from rag_quality.experiment import pipeline
from rag_quality.faithfulness import FaithfulnessValidator
from rag_quality.korean.formality import query_tokens
from rag_quality.morphology import MorphologicalExpander
from rag_quality.claims.quantities import find_quantities
from rag_quality.knowledge.questions import analyze_query
from rag_quality.semantic_eval import SemanticEvaluator
from rag_quality.claims.splitting import split_claims
from rag_quality.claims.tables import find_tables
from rag_quality.knowledge.talk import needs_retrieval

BOUND_S = {"ask": 4.0}      # CPU seconds that one call may take: of an answer, which searches several times
ELSE_S = 1.0                # of every other function
SENTENCE = re.compile(r"(?<=[.?!。])\s+|[\n\r\t]+")
SAMPLE = {"analyze_query": 3, "contextualize": 3, "find": 4, "split_claims": 8, "split_articles": 16, "similarity": 80, "compare": 80, "validate_answer": 400, "search": 400, "ask": 1500}      # one of so many texts: the whole stays at about an hour of CPU

def strings(value):
    "Every string within a JSON value."
    if isinstance(value, str): yield value
    elif isinstance(value, dict):
        for v in value.values(): yield from strings(v)
    elif isinstance(value, list):
        for v in value: yield from strings(v)

def sentences_of(folder:Path) -> list[str]:
    "The distinct sentences of every text file below a folder, in a fixed order."
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix not in (".tsv", ".csv", ".jsonl", ".json", ".md", ".txt") or path.name.startswith("README"): continue
        raw = path.read_text(encoding="utf8", errors="replace")
        if path.suffix == ".jsonl": parts = [s for line in raw.splitlines() if line.strip() for s in strings(json.loads(line))]
        elif path.suffix == ".json": parts = list(strings(json.loads(raw)))
        else: parts = [raw]
        for part in parts:
            for s in SENTENCE.split(part):
                if re.search("[가-힣]", s): found.setdefault(nfc(s).strip(), None)
    return list(found)

def generated(n:int, seed:int=20) -> list[str]:
    rng = random.Random(seed)
    return list(dict.fromkeys(made.text(rng) for _ in range(n)))

def shortened(text:str) -> list[str]:
    "A text cut at every word boundary, and without its last one to three morphemes."
    cuts = [text[:m.start()] for m in re.finditer(r"\s+", text) if m.start()]
    toks = query_tokens(nfc(text)[:1000])
    return [*cuts, *(nfc(text)[:toks[-n].start].rstrip() for n in range(1, 1 + min(3, len(toks))))]

@cache
def parts():
    "The costly objects of this process."
    collection = bundled()
    return {"transformer": ColloquialTransformer(), "expander": MorphologicalExpander(), "validator": FaithfulnessValidator(), "evaluator": SemanticEvaluator(),
            "system": pipeline(Collection("small", collection.passages[::15]))[-1]}

FUNCTIONS = {
    "detect_formality": lambda t, b: detect_formality(t),
    "transform": lambda t, b: parts()["transformer"].transform(t),
    "expand": lambda t, b: parts()["expander"].expand(t, mode="full"),
    "needs_retrieval": lambda t, b: needs_retrieval(t),
    "analyze_query": lambda t, b: analyze_query(t),
    "contextualize": lambda t, b: contextualize(t, [("user", b)]),
    "find": lambda t, b: (find_citations(t), find_quantities(t), find_tables(t)),
    "split_claims": lambda t, b: split_claims(t),
    "split_articles": lambda t, b: split_articles(t, "R"),
    "similarity": lambda t, b: parts()["evaluator"].evaluate_similarity(t, b),
    "compare": lambda t, b: compare(t, b),
    "validate_answer": lambda t, b: parts()["validator"].validate_answer(t, [b]),
    "search": lambda t, b: parts()["system"].search(t),
    "ask": lambda t, b: parts()["system"].answer(t, [("user", b)] if len(t) % 2 else ()),
}

def place_of(e:BaseException) -> str:
    "The last line of ours that an exception passed through."
    frames = [f for f in traceback.extract_tb(e.__traceback__) if "rag_quality" in f.filename]
    return f"{Path(frames[-1].filename).stem}.{frames[-1].name}" if frames else "?"

def run(job):
    "One chunk: (name -> CPU milliseconds, errors, slow calls) over its texts."
    base, names, every_of = job
    logging.getLogger("rag_quality").setLevel(logging.ERROR)
    took, errors, slow, done, n = defaultdict(list), [], [], set(), 0
    for name in names:                                          # loading is not the text's time
        try: FUNCTIONS[name]("휴학은 언제까지 신청하나요?", "휴학은 2년까지 할 수 있다.")
        except Exception: pass                                  # told by the texts themselves
    for before, text in base:
        for t in (text, *shortened(text)):
            key = zlib.crc32(t.encode("utf8", "replace"))
            if (t in done) or not t.strip(): continue
            done.add(t); n += 1
            for name in names:
                if key % every_of.get(name, 1): continue
                start = time.thread_time()
                try: FUNCTIONS[name](t, before)
                except Exception as e: errors.append((name, type(e).__name__, place_of(e), t))
                ms = (time.thread_time() - start) * 1000
                took[name].append(ms)
                if ms > BOUND_S.get(name, ELSE_S) * 1000: slow.append((name, round(ms), len(t), t, before))
    return n, {k: np.array(v, np.float32) for k, v in took.items()}, errors, slow, len(base)

def again(name, text, before):
    "CPU seconds of a call in a process of its own: a machine that others share stops a process now and then."
    FUNCTIONS[name]("휴학은 언제까지 신청하나요?", "휴학은 2년까지 할 수 있다.")
    start = time.thread_time()
    FUNCTIONS[name](text, before)
    return time.thread_time() - start

def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("data", nargs="?"); ap.add_argument("--every", type=int, default=1); ap.add_argument("--offset", type=int, default=0)
    ap.add_argument("--jobs", type=int, default=1); ap.add_argument("--functions", nargs="+", choices=FUNCTIONS, default=list(FUNCTIONS))
    ap.add_argument("--cap", type=int, default=0, help="at most so many base texts"); ap.add_argument("--json"); ap.add_argument("--show", action="store_true"); ap.add_argument("--slice", action="store_true")
    args = ap.parse_args()
    logging.getLogger("rag_quality").setLevel(logging.ERROR)
    if args.data: base = sentences_of(Path(args.data)); source = "folder"
    else: base = sentences_of(ROOT/"data"/"hanbit") + generated(4000); source = "bundled and generated"
    pairs = list(zip(["휴학은 총장이 허가한다.", *base], base))
    total, every = len(base), args.every * (100 if args.slice else 1)
    pairs = pairs[args.offset::every]
    if args.cap: pairs = pairs[:args.cap]
    fewer = {k: max(1, v // 20) if args.slice else v for k, v in SAMPLE.items()}
    if len(args.functions) == 1: fewer = {}                     # asked for alone: every text
    chunks = [(pairs[i:i + 250], args.functions, fewer) for i in range(0, len(pairs), 250)]
    n, took, errors, slow, done = 0, defaultdict(list), [], [], 0
    start = time.time()
    results = ProcessPoolExecutor(args.jobs).map(run, chunks) if args.jobs > 1 else map(run, chunks)
    for some, ms, bad, late, bases in results:
        n += some; errors += bad; slow += late; done += bases
        for k, v in ms.items(): took[k].append(v)
        if args.show:
            for e in bad: print("ERROR", *e[:3], repr(e[3])[:300], flush=True)
            for e in late: print("SLOW", *e[:3], repr(e[3])[:200], flush=True)
        if len(chunks) > 4: print(f"{done:,}/{len(pairs):,} sentences, {n:,} texts, {len(errors)} exceptions, {len(slow)} slow, {time.time()-start:.0f} s", file=sys.stderr, flush=True)
    once = len(slow)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as alone:
        slow = [s for s in slow if alone.submit(again, s[0], s[3], s[4]).result() > BOUND_S.get(s[0], ELSE_S)]
    rows = {}
    for name in args.functions:
        if name not in took: continue
        v = np.concatenate(took[name]); of = [e for e in errors if e[0] == name]
        rows[name] = {"calls": len(v), "exceptions": len(of), "p50_ms": round(float(np.percentile(v, 50)), 3), "p99_ms": round(float(np.percentile(v, 99)), 3),
                      "max_ms": round(float(v.max()), 1), "slow": sum(s[0] == name for s in slow), "cpu_s": round(float(v.sum()) / 1000, 1)}
        print(f"{name:17} {len(v):9,} calls, {len(of):3} exceptions, CPU p50 {rows[name]['p50_ms']:.2f} ms, p99 {rows[name]['p99_ms']:.2f}, max {rows[name]['max_ms']:.0f}")
    if {"detect_formality", "transform", "expand"} <= took.keys():
        v = sum(np.concatenate(took[k]) for k in ("detect_formality", "transform", "expand"))
        rows["the three"] = {"calls": len(v), "p50_ms": round(float(np.percentile(v, 50)), 3), "p99_ms": round(float(np.percentile(v, 99)), 3), "max_ms": round(float(v.max()), 1)}
        print(f"formality + transform + expand a text: CPU p50 {rows['the three']['p50_ms']:.2f} ms (target < 1), p99 {rows['the three']['p99_ms']:.2f} ms (target < 5)")
    kinds = Counter(f"{e[0]}: {e[1]} in {e[2]}" for e in errors)
    worst = sorted(((s[0], s[1], s[2]) for s in slow), key=lambda s: -s[1])[:20]
    for kind, many in kinds.most_common(): print(f"EXCEPTION {many}x {kind}")
    for name, ms, length in worst: print(f"SLOW {name}: {ms} ms of CPU for {length} characters")
    report = {"source": source, "sentences": total, "taken": done, "texts": n, "calls": sum(r.get("calls", 0) for k, r in rows.items() if k != "the three"), "exceptions": len(errors), "kinds": dict(kinds), "bound_s": {**BOUND_S, "else": ELSE_S},
              "slow_once": once, "slow": [{"function": a, "ms": b, "characters": c} for a, b, c in worst], "functions": rows}
    if args.json: Path(args.json).write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", encoding="utf8")
    print(f"{total:,} sentences, {done:,} taken, {n:,} texts with their cuts, {report['calls']:,} calls: {len(errors)} exceptions (target 0), {len(slow)} over the bound of {ELSE_S:g} s of CPU (ask {BOUND_S['ask']:g} s; target 0; {once} were once, and not when alone)")
    return 1 if errors or slow else 0

if __name__ == "__main__": sys.exit(main())
