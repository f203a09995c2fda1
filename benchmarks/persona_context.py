"""Are planted breaks of context found, and good turns left alone? python benchmarks/persona_context.py [-v] [dev|test|others ...]"""
import json, sys, time
from collections import Counter
from pathlib import Path

from rag_quality.persona.simulator import check_context

import kept

HERE = Path(__file__).resolve().parent.parent / "data" / "dialogues"

def wilson(k, n, z=1.96):
    if not n: return None
    p, d = k/n, 1 + z*z/n; mid, half = (p + z*z/2/n)/d, z*((p*(1-p)/n + z*z/4/n/n)**.5)/d
    return mid - half, mid + half

def share(k, n): lo, hi = wilson(k, n) or (0, 0); return f"{k}/{n} = {k/n:.3f} [{lo:.3f}, {hi:.3f}]" if n else "0/0"

def main(splits, verbose):
    for split in splits:
        rows = [json.loads(line) for line in (HERE/f"{split}.jsonl").read_text(encoding="utf8").splitlines()]
        found, planted, flagged, good, named = Counter(), Counter(), Counter(), 0, 0
        check_context(rows[0]["turns"]); took = []
        for r in rows:
            t = time.process_time(); got = check_context(r["turns"]); took.append(time.process_time() - t); b = r["break"]
            for n, c in enumerate(got, 1):
                if b and n == b["turn"]:
                    planted[b["kind"]] += 1; found[b["kind"]] += c.kept is False; named += c.kept is False and c.kind == b["kind"]
                    if verbose and c.kept is not False: print("MISSED", r["_id"], n, b["kind"], b["why"])
                    elif verbose and c.kind != b["kind"]: print("named  ", r["_id"], n, b["kind"], "->", c.kind, c.reason)
                else:
                    good += 1; flagged[c.kind] += c.kept is False
                    if verbose and c.kept is False: print("FALSE  ", r["_id"], n, c.kind, c.reason)
        print(f"{split}: {len(rows)} dialogues, {sum(planted.values())} planted breaks")
        for k in sorted(planted): print(f"  {k:14} {share(found[k], planted[k])}")
        print(f"  breaks found   {share(sum(found.values()), sum(planted.values()))} (wanted: at least .80); kind named right {named}")
        print(f"  good flagged   {share(sum(flagged.values()), good)} (wanted: at most .10) {dict((k, v) for k, v in flagged.items() if v)}")
        print(f"  ms of a core a dialogue  mean {1000*sum(took)/len(took):.0f}, most {1000*max(took):.0f} (wanted: under 150)")

if __name__ == "__main__": kept.run(lambda: main([a for a in sys.argv[1:] if a not in ("-v", "--slice")] or ["dev", "test", "others"], "-v" in sys.argv), split="dev, test, others")
