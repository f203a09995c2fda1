"""Every role of a language model as batch files, with its price beforehand; from the replies, one table without and with the model.

usage: python benchmarks/llm_batch.py OUT --model openai/gpt-4.1-mini [--data DIR] [--answers FILE] [--roles NAME ...] [--limit N] [--price IN OUT]
       python benchmarks/llm_batch.py --slice
       make llm-batch MODEL=openai/gpt-4.1-mini [DATA=DIR] [OUT=DIR]
No call is made: the first run writes OUT/requests-1.jsonl (OpenAI's batch form) and says for each role how many requests, tokens and dollars. Have it
answered by whoever has the key, put the file that comes back into OUT as replies-1.jsonl, and run the same line again: what follows from those replies is
asked in requests-2.jsonl, and so on (an answer is written before it can be checked), until nothing is left to ask and the table is whole. A row whose
requests are not all answered says so and has no figure under the model's name.

Roles: expand (rewriting, several queries, HyDE: `evaluate`), answer (grading, answers, checking them: `benchmark`), verify (`check` of the answers in a
file), judge (`judge` of them), persona (`test`), learn (`learn`, then `evaluate --knowledge`). Without --data the bundled collection; a collection without
judged questions has no expand and no answer row, and only hanbit and benchmarks of its form have an answer row. Tokens are estimated, dollars are litellm's
list prices (a batch often costs half), or --price: dollars for a million tokens in and out. --limit: so many articles are learnt of, and so many answers judged.
--slice: a small collection, every request answered by a function that writes what fits the schema, until nothing is left: target: no figure under the model's
name while replies are missing, and in the end a figure in every row (learn: or none, where no question was worth keeping). It asks nobody.
"""
import argparse, contextlib, io, json, re, shutil, sys, tempfile, time
from pathlib import Path

ROLES = ("expand", "answer", "verify", "judge", "persona", "learn")
REPLY = {"expand": 160, "answer": 300, "verify": 600, "judge": 250, "persona": 160, "learn": 260}      # tokens of a reply, a guess from above

def rows(path):
    "The objects of a JSONL file; nothing where it is not there."
    return [json.loads(l) for l in path.read_text(encoding="utf8").splitlines() if l.strip()] if path.is_file() else []

def command(role, out, args):
    "What `rag-quality` is told for a role, without the model; the file or folder that it writes."
    data = ["--data", args.data] if args.data else []
    made = {"expand": "evaluate.json", "answer": "benchmark.json", "verify": "check.json", "judge": "judge.json", "persona": "session", "learn": "pack"}[role]
    told = {"expand": ["evaluate", *data, "--by", "register", "--json"], "answer": ["benchmark", "--tasks", "answers", *data, "--json"],
            "verify": ["check", "--answers", args.answers, "--json"], "judge": ["judge", "--answers", args.answers, "--json"],
            "persona": ["test", *data, *(["--personas", "신입생"] if args.slice else []), "--queries", "3", "--turns", "3", "--fast", "--out"],
            "learn": ["learn", *data, *(["--limit", str(args.limit)] if args.limit else []), "--out"]}[role]
    return [*told, str(out/made)], out/made

def figure(role, path, own=False):
    """The figure of a role: (name, value, n) of what its command wrote; None where there is none, or (`own`: it is to stand under the model's name) where the
    model did nothing of it."""
    if role == "learn": path = path.parent/"learned.json"
    if not path.exists(): return None
    if role == "persona":
        from rag_quality.persona.report import model_notes, read_session, success_rate
        s = success_rate(d := read_session(path))
        return ("success", s.value, s.n) if s.n and not (own and any("모델이 한 것은 없습니다" in line for line in model_notes(d))) else None
    told = json.loads(path.read_text(encoding="utf8"))
    if role in ("expand", "learn"):
        row = [r for r in told["systems"] if r["slice"] == "colloquial"][-1:] or told["systems"][-1:]
        name, m = next((k, v) for k, v in row[0]["measures"].items() if "nDCG" in k)
        if m["mean"] is None: return None
        return (f"{name} colloquial" if "colloquial" in str(row[0]["slice"]) else name) + (f", LLM {row[0]['llm_used']}/{row[0]['llm_asked']}" if "llm_used" in row[0] else ""), m["mean"], m["n_scored"]
    if role == "answer":
        found = [f for f in told["figures"] if f["task"] == "answers" and f["value"] is not None and f["method"].startswith("llm:") == own]
        return (found[0]["name"], found[0]["value"], found[0]["n"]) if found else None
    if role == "verify":
        if own and not told["llm"]["used"]: return None
        found = [r["score"] for r in told["rows"] if r.get("score") is not None]
        return ("claims held" + (f", LLM {told['llm']['used']}/{told['llm']['asked']}" if own else ""), sum(found)/len(found), len(found)) if found else None
    found = [s["value"] for r in told["rows"] for s in r.get("scores", {}).values() if str(s.get("method", "")).startswith("llm") and s["value"] is not None]
    if own: return ("model's scores", sum(found)/len(found), len(found)) if found else None
    rules = told["rules"]["overall"]
    return ("rules", rules["mean"], rules["n_scored"]) if rules["mean"] is not None else None

def called(told, log):
    "Run `rag-quality`, what it said kept in a file; its exit status."
    from rag_quality.cli import main as cli
    with log.open("w", encoding="utf8") as f, contextlib.redirect_stdout(f), contextlib.redirect_stderr(f):
        try: return cli([str(w) for w in told])
        except SystemExit as e: return e.code

def main(argv=None):
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("out", type=Path, nargs="?")
    ap.add_argument("--model")
    ap.add_argument("--data")
    ap.add_argument("--answers")
    ap.add_argument("--roles", nargs="+", default=ROLES, choices=ROLES)
    ap.add_argument("--limit", type=int)
    ap.add_argument("--price", nargs=2, type=float, metavar=("IN", "OUT"))
    ap.add_argument("--slice", action="store_true")
    args = ap.parse_args(argv)
    if args.slice and not args.out: return small(args)
    if not args.out or not args.model: ap.error("OUT and --model are needed")
    from rag_quality.benchmark.data import load_chatbot_answers
    from rag_quality.data import bundled, load_collection
    from rag_quality.llm.call import estimate_tokens, price_of
    args.out.mkdir(parents=True, exist_ok=True)
    if not args.answers:
        own = args.out/"answers.jsonl"
        own.write_text("".join(json.dumps({"_id": a.id, "query": a.query, "answer": a.text, "contexts": list(a.contexts)}, ensure_ascii=False) + "\n" for a in load_chatbot_answers()[:min(60, args.limit or 60)]), encoding="utf8")
        args.answers = str(own)
    judged = (load_collection(args.data) if args.data else bundled()).judged
    come = sorted(args.out.glob("replies-*.jsonl"))
    replies = args.out/"replies.jsonl"
    replies.write_text("".join(p.read_text(encoding="utf8").rstrip("\n") + "\n" for p in come), encoding="utf8")
    asking = args.out/f"requests-{len(come) + 1}.jsonl"
    asking.unlink(missing_ok=True)
    price = price_of(args.model, tuple(args.price) if args.price else None)
    table, known = [], set()
    for role in args.roles:
        if role in ("expand", "answer") and not judged:
            print(f"{role}: no judged questions in {args.data}: left out"); continue
        offline, withit = args.out/"offline", args.out/"model"
        offline.mkdir(exist_ok=True); withit.mkdir(exist_ok=True)
        told, path = command(role, offline, args)
        if role != "learn" and not path.exists(): called(told, offline/f"{role}.log")
        told, now = command(role, withit, args)
        if role in ("persona", "learn"): shutil.rmtree(now, ignore_errors=True)      # begun anew of all replies: the same is asked, not the next
        part = args.out/f"{role}.jsonl"; part.unlink(missing_ok=True)
        code = called([*told, "--llm", args.model, "--batch-out", part, "--batch-in", replies], withit/f"{role}.log")
        asked = [r for r in rows(part) if r["custom_id"] not in known]
        known |= {r["custom_id"] for r in asked}
        if asked:
            with asking.open("a", encoding="utf8") as f: f.writelines(json.dumps(r, ensure_ascii=False) + "\n" for r in asked)
        left = len(rows(part)); part.unlink(missing_ok=True)
        if role == "learn" and not left and judged:
            data = ["--data", args.data] if args.data else []
            called(["evaluate", *data, "--by", "register", "--json", offline/"learned.json"], offline/"learn.log")
            called(["evaluate", *data, "--by", "register", "--knowledge", now, "--json", withit/"learned.json"], withit/"learned.log")
        into = sum(estimate_tokens(m["content"]) for r in asked for m in r["body"]["messages"])
        table.append(dict(role=role, asked=len(asked), waiting=left, tokens_in=into, tokens_out=len(asked)*REPLY[role], exit=code,
            usd=None if price is None else round(into*price[0] + len(asked)*REPLY[role]*price[1], 4),
            offline=figure(role, path), model=None if left or not come else figure(role, now, True)))
        r = table[-1]
        say = lambda f: "–" if f is None else f"{f[0]} {f[1]:.3f} (n {f[2]})"
        money = "price not known" if r["usd"] is None else f"${r['usd']:.2f}"
        print(f"{role:8} new requests {r['asked']:5,}, about {r['tokens_in']:,}+{r['tokens_out']:,} tokens, {money}; without: {say(r['offline'])}; with: {say(r['model'])}"
              f"{f' ({left:,} replies missing)' if left else ''}{'' if code in (0, 1) else f' (exit {code}: see model/{role}.log)'}", flush=True)
    n = sum(r["asked"] for r in table)
    if n: print(f"{n:,} requests in {asking}" + ("" if price is None else f", about ${sum(r['usd'] for r in table):.2f}") + f". Put what comes back into {args.out}/replies-{len(come) + 1}.jsonl and run this again.")
    else: print("nothing is left to ask")
    (args.out/"table.json").write_text(json.dumps({"model": args.model, "data": args.data, "date": time.strftime("%Y-%m-%d"), "rounds": len(come), "roles": table}, ensure_ascii=False, indent=1) + "\n", encoding="utf8")
    return 0 if all(r["exit"] in (0, 1) for r in table) else 1

def filled(schema, said):
    "What fits a schema: its texts are `said`, its numbers 1, its choices the first."
    if "enum" in schema: return schema["enum"][0]
    kind = schema.get("type"); kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object": return {k: filled(v, said) for k, v in schema.get("properties", {}).items()}
    if kind == "array": return [filled(schema.get("items", {}), f"{said} {i or ''}".strip()) for i in range(max(1, schema.get("minItems", 1)))]
    return {"number": 1., "integer": 1, "boolean": True, "null": None}.get(kind, said[:schema.get("maxLength", 400)])

def plausible(request, known=()):
    "A reply of the right form to a request, made of its material; for a query of `known` (spoken -> formal) a good one."
    asked = request["body"]["messages"][-1]["content"]
    said = (re.findall(r"[가-힣][^\n⟧⟦{}\"]{12,80}다\.", asked) or ["휴학하려는 학생은 휴학원을 제출하여야 한다."])[-1]
    form = request["body"].get("response_format")
    if not form: return f"{said} [학칙 제1조]"
    wanted = filled(form["json_schema"]["schema"], said)
    good = next((formal for spoken, formal in known if spoken in asked), None)
    if good and "queries" in wanted: wanted["queries"] = [good, f"{good} 규정"]
    if good and "document" in wanted: wanted["document"] = f"{good}에 관한 사항은 다음과 같다."
    return json.dumps(wanted, ensure_ascii=False)

def small(args):
    "The whole way on a small collection; 1 where a row has a figure too early, or none in the end."
    from rag_quality.data import mini, save_collection
    roles, ok = args.roles if args.roles != ROLES else ["expand", "verify", "learn"], True      # the others take minutes
    twins = {q.metadata.get("pair"): q.text for q in mini().queries if q.metadata.get("register") == "formal"}
    known = [(q.text, twins[q.metadata["pair"]]) for q in mini().queries if q.metadata.get("register") == "colloquial" and q.metadata.get("pair") in twins]
    with tempfile.TemporaryDirectory() as d:
        out, data = Path(d)/"out", Path(d)/"data"
        save_collection(mini(), data)
        for n in range(1, 6):
            with contextlib.redirect_stdout(io.StringIO()): code = main([str(out), "--model", "openai/gpt-4.1-mini", "--price", "1", "1", "--data", str(data), "--limit", "4", "--slice", "--roles", *roles])
            table = json.loads((out/"table.json").read_text(encoding="utf8"))["roles"]
            early = [r["role"] for r in table if r["waiting"] and r["model"]]
            ok &= not early and code == 0
            print(f"round {n}: {', '.join(r['role'] + ' ' + str(r['asked']) for r in table)} asked{'; too early: ' + ', '.join(early) if early else ''}{'' if code == 0 else '; !! exit ' + str([r['exit'] for r in table])}", flush=True)
            asked = rows(out/f"requests-{n}.jsonl")
            if not asked: break
            (out/f"replies-{n}.jsonl").write_text("".join(json.dumps({"custom_id": r["custom_id"], "response": {"status_code": 200, "body": {"model": "made", "choices": [{"message": {"content": plausible(r, known)}, "finish_reason": "stop"}]}}}, ensure_ascii=False) + "\n" for r in asked), encoding="utf8")
        for r in table: print(f"  {r['role']:8} without {r['offline']}, with {r['model']}, waiting {r['waiting']}")
        ok &= not asked and all(r["offline"] for r in table) and all(r["model"] for r in table if r["role"] != "learn")      # made questions lead nowhere: none is kept
        if not ok:
            for log in sorted(out.glob("*/*.log")): print(f"-- {log.parent.name}/{log.name}", log.read_text(encoding="utf8")[-600:])
    return 0 if ok else 1

if __name__ == "__main__": sys.exit(main())
