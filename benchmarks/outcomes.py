"""What an answer is before it is judged, and the same counts wherever answers are judged.

usage: python benchmarks/outcomes.py [--slice] [--errors PART] [--fit]
       1. benchmarks/outcomes.jsonl, written for this: refusals and answers that look like one, texts that are no answer, claims of
          eight kinds from the field, orders to the grader. 'seen' was looked at while the rules were mended; 'apart' and 'fresh' were not
          before their first figures (FIRST); 'fresh' and 'last' were written after the rules, and 'last' was used for nothing: it
          is the unseen figure. --errors shows the misses of a part.
       2. data/chatbot: answers that two readers marked. A refusal has a segment A (does not know) and none that claims (S, P, U, C).
       3. One file of answers, counted by `check` (text, JSON, HTML), `judge` (text, JSON), and a session's report and dashboard:
          data/chatbot, the texts of 1 that are no answers, and what our own `ask` says to the test queries of hanbit that have no answer.
--fit: learn data/config/refusal.json anew on 1 (seen, apart, fresh), data/chatbot and the claims of data/claims' train half.
"""
import argparse, contextlib, io, json, re, sys, tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from rag_quality.claims.kinds import OUTCOMES, answer_kind, refusal_signs
from rag_quality.claims.splitting import split_claims
from rag_quality.core import bundle_path, save_config
from rag_quality.faithfulness import FaithfulnessValidator

import kept

HERE = Path(__file__).parent
# found of the refusals, rightly of those taken for one, when a part was looked at for the first time; the rules alone
FIRST = {"apart": ((14, 20), (14, 14)), "fresh": ((12, 20), (12, 14)), "last": ((9, 20), (9, 9)), "realrag dev": ((9, 10), (9, 10))}
SIGNS, RIDGE, CUT = 2000, 2., 1.     # weights that are kept; cost of their squares; log odds from which a piece declines

def read(path): return [json.loads(line) for line in Path(path).read_text(encoding="utf8").splitlines() if line.strip()]

def pieces():
    "(a piece of an answer, does it say that it does not answer?, how much it counts) to learn from."
    for r in read(HERE/"outcomes.jsonl"):
        for p in split_claims(r["answer"]) if r["set"] == "refusal" and r["part"] != "last" else ():
            if p.kind in ("claim", "abstention") and (r["right"] == "refusal" or p.kind == "claim"):      # a partial refusal tells nothing
                yield p.text, r["right"] == "refusal", 8. if r["right"] == "refusal" else 4.
    for a in read(bundle_path("chatbot")/"answers.jsonl"):
        yield from ((s["text"], s["label"] == "A", 2. if s["label"] == "A" else 1.) for s in a["segments"] if s["label"] in "SPUCA")
    yield from ((r["claim"], False, 1.) for r in read(bundle_path("claims")/"train.jsonl"))

def fit():
    "Logistic regression over the signs, with a ridge; the strongest are kept."
    from scipy.optimize import minimize
    from scipy.sparse import csr_matrix
    rows = list(pieces())
    signs = [refusal_signs(t) for t, *_ in rows]
    seen = Counter(s for x in signs for s in x)
    names = sorted(s for s, n in seen.items() if n >= 3)
    at = {s: i for i, s in enumerate(names)}
    where = [(i, at[s]) for i, x in enumerate(signs) for s in x if s in at]
    x = csr_matrix((np.ones(len(where)), tuple(zip(*where))), shape=(len(rows), len(names)))
    yes, w = np.array([y for _, y, _ in rows]), np.array([c for *_, c in rows])
    sign = np.where(yes, 1., -1.)
    def loss(p):
        z = sign*(p[0] + x @ p[1:])
        slope = -w*sign/(1 + np.exp(np.clip(z, -30, 30)))
        return (w*np.logaddexp(0, -z)).sum() + RIDGE*(p[1:]**2).sum()/2, np.r_[slope.sum(), x.T @ slope + RIDGE*p[1:]]
    p = minimize(loss, np.zeros(len(names) + 1), jac=True, method="L-BFGS-B", options={"maxiter": 300}).x
    best = sorted(np.argsort(-np.abs(p[1:]), kind="stable")[:SIGNS])
    model = {"bias": round(float(p[0]), 3), "cut": CUT, "weights": {names[i]: round(float(p[1 + i]), 3) for i in best},
             "provenance": {"command": "python benchmarks/outcomes.py --fit", "n": len(rows), "refusing": int(yes.sum()), "sets": "benchmarks/outcomes.jsonl seen, apart, fresh; data/chatbot; data/claims train"}}
    print(save_config("refusal", {"model": model}))

def kinds(rows, errors):
    "Recall and precision of refusals; the rest by kind."
    for name in dict.fromkeys(r["part"] for r in rows):
        mine = [r for r in rows if r["part"] == name and r["set"] in ("refusal", "no_answer")]
        said = [(r["set"], r["right"], answer_kind(r["answer"]).kind) for r in mine]
        if errors == name:
            for (_, right, got), r in zip(said, mine):
                if right != got: print("  ->", right, "read as", got, "|", r["answer"][:150].replace("\n", "/"))
        refused = [(right, got) for s, right, got in said if s == "refusal"]
        if refused:
            found, all_, fired = sum(r == g == "refusal" for r, g in refused), sum(r == "refusal" for r, _ in refused), sum(g == "refusal" for _, g in refused)
            print(f"거절 ({name}): 찾음 {found}/{all_}, 거절로 본 것 {fired} 가운데 맞음 {found}, 답 {len(refused) - all_}")
        other = [(right, got) for s, right, got in said if s == "no_answer"]
        if other:
            none = [(r, g) for r, g in other if r != "answer"]
            print(f"답이 아닌 것 ({name}): 찾음 {sum(r == g for r, g in none)}/{len(none)}, 닮은 답을 답으로 봄 {sum(r == g == 'answer' for r, g in other)}/{len(other) - len(none)}")

def judged(rows, errors):
    "Claims of the field, and orders to the grader."
    validator = FaithfulnessValidator()
    for what in ("field", "orders"):
        for part in dict.fromkeys(r["part"] for r in rows if r["set"] == what):
            right, n, all_ = Counter(), Counter(), [0, 0]
            for r in (r for r in rows if r["set"] == what and r["part"] == part):
                v = validator.validate_answer(r["answer"], r["contexts"])
                said = "supported" if (v.score == 1 if what == "field" else v.outcome == "passed") else "flagged"
                kind = r.get("kind") or r["where"]
                n[kind] += 1; right[kind] += said == r["right"]
                if errors == part and said != r["right"]: print("  ->", kind, "|", r["answer"][:120], "|", r.get("order", "")[:60], "|", [(c.verdict, c.reason[:60]) for c in v.claims])
            print(f"{'주장' if what == 'field' else '채점자에게 하는 말'} ({part}): {sum(right.values())}/{sum(n.values())}; " + ", ".join(f"{k} {right[k]}/{n[k]}" for k in n))

def text_of(segments): return "".join(s["text"] + ("" if s["text"].endswith("\n") else " ") for s in segments).strip()

def chatbot(every):
    "Answers of data/chatbot with their passages, and whether its readers' marks make them refusals."
    folder = bundle_path("chatbot")
    passages, contexts = ({r["id"]: r for r in read(folder/f"{n}.jsonl")} for n in ("passages", "contexts"))
    for a in read(folder/"answers.jsonl")[::every]:
        labels, c = {s["label"] for s in a["segments"]}, contexts[a["context"]]
        marked = "refusal" if "A" in labels and not labels & set("SPUC") else "answer" if labels & set("SPUC") else None
        yield {"_id": a["id"], "query": c["query"], "answer": text_of(a["segments"]), "contexts": [passages[p]["text"] for p in c["passages"]]}, marked

def own(most):
    "What our own `ask` says to the test queries that hanbit has no answer to, and whether it says that it does not answer."
    from rag_quality.answering import answerer_for
    from rag_quality.data import bundled
    from rag_quality.experiment import pipeline
    c = bundled()
    assistant = answerer_for(c, search=pipeline(c)[-1].search)
    for q in [q for q in c.queries if q.metadata.get("split") == "test" and not q.metadata.get("answerable")][:most]:
        a = assistant.ask(q.text)
        yield {"_id": q.query_id, "query": q.text, "answer": a.content, "contexts": list(a.contexts) or ["(없음)"]}, "refusal" if a.abstained else "answer"

def told(text, after):
    "The counts that a text names behind `after`: '합격 3, ...'; a kind that is not named is none."
    line = next(line for line in text.splitlines() if after in line).partition(after)[2]
    return {k: int(m[1]) if (m := re.search(rf"{name} (\d+)", line)) else 0 for k, name in OUTCOMES.items()}

def everywhere(name, rows):
    "The counts of one file of answers in every place; True where they agree."
    from rag_quality.cli import main as cli
    from rag_quality.persona.dashboard import dashboard_html
    from rag_quality.persona.report import TestReportGenerator, read_session
    from rag_quality.persona.targets import CallableTarget, ask
    with tempfile.TemporaryDirectory() as tmp:
        tmp = Path(tmp)
        (tmp/"answers.jsonl").write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), encoding="utf8")
        said = {}
        for command, extra in (("check", ["--answers", str(tmp/"answers.jsonl"), "--html", str(tmp/"c.html"), "--shown", "0"]), ("judge", ["--answers", str(tmp/"answers.jsonl")])):
            with contextlib.redirect_stdout(io.StringIO()) as out: cli([command, *extra, "--json", str(tmp/f"{command}.json")])
            said[command], said[f"{command} JSON"] = told(out.getvalue(), '답의 갈래: '), json.loads((tmp/f"{command}.json").read_text(encoding="utf8"))["outcomes"]
            said[f"{command} JSON, 줄마다"] = {k: sum(r["outcome"] == k for r in json.loads((tmp/f"{command}.json").read_text(encoding="utf8"))["rows"]) for k in OUTCOMES}
        page = (tmp/"c.html").read_text(encoding="utf8")
        said["check HTML"] = {k: Counter(re.findall(r'<article class="card item[^>]*data-group="(\w+)"', page))[k] for k in OUTCOMES}
        folder, at = tmp/"session", {r["query"]: r for r in rows}
        folder.mkdir()
        exchanges = [ask(CallableTarget(lambda q, a=r["answer"]: a), r["query"] or "?", id=f"q{i:04}", retries=0).to_dict() for i, r in enumerate(rows)]
        for file, lines in (("answers", exchanges), ("queries", [{"id": e["id"], "text": e["query"], "persona": "p"} for e in exchanges])):
            (folder/f"{file}.jsonl").write_text("".join(json.dumps(l, ensure_ascii=False) + "\n" for l in lines), encoding="utf8")
        data = read_session(folder)
        said["세션"], said["대시보드"] = data.outcomes, told(re.sub(r"<[^>]+>", "\n", dashboard_html(folder)), "(물은 것에 답했는지는 보지 않음): ")
    whole = [v for k, v in said.items() if k not in ("세션", "대시보드")]
    # the session's own verdict is on needs, which a file of answers has not: refusals and what is no answer are told alike, the rest is unscored
    parts = [(v["refused"], v["no_answer"], v["passed"] + v["failed"] + v["unscored"]) for v in said.values()]
    same = all(v == whole[0] for v in whole) and len(set(parts)) == 1
    print(f"{name} (n {len(rows)}): " + ", ".join(f"{OUTCOMES[k]} {v}" for k, v in whole[0].items()) + f"; 갈래가 같은 곳 {sum(v == whole[0] for v in whole)}/{len(whole)}, 거절과 답이 아닌 것이 같은 곳 {parts.count(parts[0])}/{len(parts)}")
    if not same:
        for k, v in said.items(): print("  ->", k, v)
    return same

def main(argv):
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--slice", action="store_true"); ap.add_argument("--errors"); ap.add_argument("--fit", action="store_true")
    args = ap.parse_args(argv)
    if args.fit: fit(); return 0
    for name, ((a, b), (c, d)) in FIRST.items(): print(f"처음 본 때의 거절, 규칙만 ({name}): 찾음 {a}/{b}, 거절로 본 것 {d} 가운데 맞음 {c}")
    rows = read(HERE/"outcomes.jsonl")
    kinds(rows, args.errors)
    judged(rows, args.errors)
    talk = list(chatbot(12 if args.slice else 1))
    read_as = Counter((marked, answer_kind(r["answer"]).kind) for r, marked in talk if marked)
    print(f"data/chatbot (n {sum(read_as.values())}): 거절 {read_as['refusal', 'refusal']}/{sum(v for (m, _), v in read_as.items() if m == 'refusal')}, 답을 답으로 {read_as['answer', 'answer']}/{sum(v for (m, _), v in read_as.items() if m == 'answer')}")
    asked = list(own(6 if args.slice else None))
    mine = Counter((marked, answer_kind(r["answer"]).kind) for r, marked in asked)
    print(f"ask의 거절 (n {len(asked)}): 거절로 봄 {mine['refusal', 'refusal']}/{sum(v for (m, _), v in mine.items() if m == 'refusal')}, 답한 것을 답으로 {mine['answer', 'answer']}/{sum(v for (m, _), v in mine.items() if m == 'answer')}")
    odd = [{"_id": f"n{i}", "query": f"질문 {i}", "answer": r["answer"], "contexts": ["휴학 규정 제5조(휴학 기간)\n휴학 기간은 통산 6학기를 초과할 수 없다."]}
           for i, r in enumerate(rows) if r["set"] in ("no_answer", "refusal")]
    ok = [everywhere("data/chatbot", [r for r, _ in talk]), everywhere("ask의 답", [r for r, _ in asked]), everywhere("거절과 답이 아닌 것", odd)]
    return 0 if all(ok) else 1

if __name__ == "__main__": kept.run(lambda: main(sys.argv[1:]), split="test", seed=0, modules=["rag_quality.claims.kinds", "rag_quality.faithfulness.certain"])
