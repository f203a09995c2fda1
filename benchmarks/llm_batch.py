"""Every role of a language model as batch files, with its price beforehand; from the replies, one table without and with the model.

usage: python benchmarks/llm_batch.py OUT --model openai/gpt-4.1-mini [--data DIR] [--answers FILE] [--roles NAME ...] [--limit N] [--price IN OUT]
       make llm-batch MODEL=openai/gpt-4.1-mini [DATA=DIR] [OUT=DIR]
No call is made: the first run writes OUT/requests-1.jsonl (OpenAI's batch form) and says for each role how many requests, tokens and dollars. Have it
answered by whoever has the key, put the file that comes back into OUT as replies-1.jsonl, and run the same line again: what follows from those replies is
asked in requests-2.jsonl, and so on (an answer is written before it can be checked), until nothing is left to ask and the table is whole. A row whose
requests are not all answered says so and has no figure under the model's name.

Roles: expand (rewriting, several queries, HyDE: `evaluate`), answer (grading, answers, checking them: `benchmark`), verify (`check` of the answers in a
file), judge (`judge` of them), persona (`test`), learn (`learn`, then `evaluate --knowledge`). Without --data the bundled collection; a collection without
judged questions has no expand and no answer row. Tokens are estimated, dollars are litellm's list prices (a batch often costs half), or --price: dollars for a
million tokens in and out.
"""
import argparse, json, shutil, subprocess, sys, time
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
    told = {"expand": ["evaluate", *data, "--by", "register", "--json"], "answer": ["benchmark", *data, "--json"],
            "verify": ["check", "--answers", args.answers, "--json"], "judge": ["judge", "--answers", args.answers, "--json"],
            "persona": ["test", *data, "--queries", "3", "--turns", "3", "--fast", "--out"],
            "learn": ["learn", *data, *(["--limit", str(args.limit)] if args.limit else []), "--out"]}[role]
    return [*told, str(out/made)], out/made

def figure(role, path):
    "The figure of a role: (name, value, n) of what its command wrote; None where there is none."
    if role == "learn":
        path = path.parent/"evaluate.json"
    if not path.exists(): return None
    if role in ("expand", "learn"):
        told = json.loads(path.read_text(encoding="utf8"))
        row = [r for r in told["systems"] if r["slice"] == "colloquial"][-1:] or told["systems"][-1:]
        name, m = next((k, v) for k, v in row[0]["measures"].items() if "nDCG" in k)
        return f"{name} colloquial" if "colloquial" in str(row[0]["slice"]) else name, m["mean"], m["n_scored"]
    if role == "answer":
        told = [f for f in json.loads(path.read_text(encoding="utf8"))["figures"] if f["task"] == "answers" and f["value"] is not None]
        return (told[0]["name"], told[0]["value"], told[0]["n"]) if told else None
    if role == "verify":
        told = [r["score"] for r in json.loads(path.read_text(encoding="utf8"))["rows"] if r.get("score") is not None]
        return ("claims held", sum(told)/len(told), len(told)) if told else None
    if role == "judge":
        told = [s["value"] for r in json.loads(path.read_text(encoding="utf8"))["rows"] for s in r.get("scores", {}).values() if str(s.get("method", "")).startswith("llm") and s["value"] is not None]
        return ("model's scores", sum(told)/len(told), len(told)) if told else None
    told = [r for f in sorted(path.glob("*.jsonl")) for r in rows(f) if "passed" in r]
    return ("questions passed", sum(bool(r["passed"]) for r in told)/len(told), len(told)) if told else None

def called(told, log):
    "Run `rag-quality`, what it said kept in a file; its exit status."
    with log.open("w", encoding="utf8") as f:
        return subprocess.run([sys.executable, "-c", "from rag_quality.cli import main; raise SystemExit(main())", *map(str, told)], stdout=f, stderr=subprocess.STDOUT).returncode

def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("out", type=Path)
    ap.add_argument("--model", required=True)
    ap.add_argument("--data")
    ap.add_argument("--answers")
    ap.add_argument("--roles", nargs="+", default=ROLES, choices=ROLES)
    ap.add_argument("--limit", type=int)
    ap.add_argument("--price", nargs=2, type=float, metavar=("IN", "OUT"))
    args = ap.parse_args()
    from rag_quality.benchmark.data import load_chatbot_answers
    from rag_quality.data import bundled, load_collection
    from rag_quality.llm.call import estimate_tokens, price_of
    args.out.mkdir(parents=True, exist_ok=True)
    if not args.answers:
        own = args.out/"answers.jsonl"
        own.write_text("".join(json.dumps({"_id": a.id, "query": a.query, "answer": a.text, "contexts": list(a.contexts)}, ensure_ascii=False) + "\n" for a in load_chatbot_answers()[:60]), encoding="utf8")
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
        if role == "persona": shutil.rmtree(now, ignore_errors=True)
        part = args.out/f"{role}.jsonl"; part.unlink(missing_ok=True)
        code = called([*told, "--llm", args.model, "--batch-out", part, "--batch-in", replies], withit/f"{role}.log")
        asked = [r for r in rows(part) if r["custom_id"] not in known]
        known |= {r["custom_id"] for r in asked}
        if asked:
            with asking.open("a", encoding="utf8") as f: f.writelines(json.dumps(r, ensure_ascii=False) + "\n" for r in asked)
        left = len(rows(part)); part.unlink(missing_ok=True)
        if role == "learn" and not left and judged:
            data = ["--data", args.data] if args.data else []
            called(["evaluate", *data, "--by", "register", "--json", offline/"evaluate.json"], offline/"learn.log")
            called(["evaluate", *data, "--by", "register", "--knowledge", now, "--json", withit/"evaluate.json"], withit/"learn.log")
        into = sum(estimate_tokens(m["content"]) for r in asked for m in r["body"]["messages"])
        table.append(dict(role=role, asked=len(asked), waiting=left, tokens_in=into, tokens_out=len(asked)*REPLY[role], exit=code,
            usd=None if price is None else round(into*price[0] + len(asked)*REPLY[role]*price[1], 4),
            offline=figure(role, path), model=None if left or not come else figure(role, now)))
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

if __name__ == "__main__": sys.exit(main())
