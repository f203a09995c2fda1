"""Are planted breaks of context found, and good turns left alone? python benchmarks/persona_context.py [-v] [--cuts] [dev|test|others|unseen ...]

What is repeated word for word alone, and with the reader of dialogues where it is installed. Turns after a break are not counted. `--cuts`: the grid from
which the cut of persona.context was chosen: over the dialogues of train.jsonl that the reader's settings were tried on but not fitted (one in eight of each
writer) and dev.
"""
import json
import os
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

from rag_quality.persona.context import _repeated, _scenes, check_context, packaged_thread

import kept

HERE = Path(__file__).resolve().parent.parent/"data"/"dialogues"
CUTS = (.5, .6, .7, .8, .85, .88, .9, .91, .92, .93, .94, .95, .97)


def wilson(k, n, z=1.96):
    p, d = k/n, 1 + z*z/n
    mid, half = (p + z*z/2/n)/d, z*((p*(1-p)/n + z*z/4/n/n)**.5)/d
    return mid - half, mid + half


def share(k, n):
    return f"{k}/{n} = {k/n:.3f} [{wilson(k, n)[0]:.3f}, {wilson(k, n)[1]:.3f}]" if n else "0/0"


def rows(split):
    return [json.loads(line) for line in (HERE/f"{split}.jsonl").read_text(encoding="utf8").splitlines()]


def cases(split):
    "(turns up to one answer, the kind of its break or '') of every turn that counts."
    for d in rows(split):
        if "breaks" in d:
            if split == "train" and int(d["_id"].split("-")[-1])%8:
                continue
            for n in range(1, len(d["turns"]) + 1):
                yield d["_id"], d["turns"][:n], ""
            for b in d["breaks"]:
                turn = d["turns"][b["turn"] - 1]
                yield d["_id"], [*d["turns"][:b["turn"] - 1], {"user": turn["user"], "assistant": b["answer"]}], b["kind"]
        else:
            last = d["break"]["turn"] if d["break"] else len(d["turns"])
            for n in range(1, last + 1):
                yield d["_id"], d["turns"][:n], d["break"]["kind"] if d["break"] and n == last else ""


def measured(split, verbose, reader):
    os.environ["RAG_QUALITY_READER"] = "1" if reader else "0"
    found, planted, flagged, good, named, by, took = Counter(), Counter(), Counter(), 0, 0, Counter(), []
    for name, turns, kind in cases(split):
        t = time.process_time()
        c = check_context(turns)[-1]
        took.append(time.process_time() - t)
        if kind:
            planted[kind] += 1
            found[kind] += c.kept is False
            named += c.kept is False and c.kind == kind
        else:
            good += 1
            flagged[c.kind] += c.kept is False
        by[c.by] += c.kept is False
        if verbose and (c.kept is False) != bool(kind):
            print("MISSED" if kind else "FALSE ", name, len(turns), kind or c.kind, c.reason)
    print(f"{split}, {'with the reader' if reader else 'what is repeated alone'}: {sum(planted.values())} planted breaks")
    for k in sorted(planted):
        print(f"  {k:14} {share(found[k], planted[k])}")
    print(f"  breaks found   {share(sum(found.values()), sum(planted.values()))} (wanted: at least .75); kind named right {named}")
    print(f"  good flagged   {share(sum(flagged.values()), good)} (wanted: at most .10)")
    print(f"  ms of a core a turn with what went before it: mean {1000*np.mean(took):.0f}")
    return {"planted": sum(planted.values()), "found": round(sum(found.values())/sum(planted.values()), 3), "named": named, "good": good,
            "flagged": round(sum(flagged.values())/good, 3), "by": dict(by), "of kind": {k: [found[k], planted[k]] for k in sorted(planted)}}


def held(splits=("train", "dev")):
    "(split, [(broken?, kind, is an earlier answer repeated?, the reader's probability) of every turn but the first])."
    reader = packaged_thread()
    for split in splits:
        rows = [(kind, s) for _, turns, kind in cases(split) if (s := _scenes(turns)[-1]).before and s.answer]
        read = reader.read([(s.before, s.user, s.answer) for _, s in rows]) if reader else [None]*len(rows)
        yield split, [(bool(kind), kind, bool(_repeated(s)), r and r.broken) for (kind, s), r in zip(rows, read)]


def signs():
    "How often the rule fires on broken answers (of its own kind, of another) and on good ones, in the dialogues of others."
    out = {}
    for split, rows in held(("train", "others", "unseen")):
        groups = {"repetition": [r for _, k, r, _ in rows if k == "repetition"], "another break": [r for _, k, r, _ in rows if k and k != "repetition"],
                  "good": [r for _, k, r, _ in rows if not k]}
        out[split] = {name: [sum(fired), len(fired)] for name, fired in groups.items()}
        print(split, *(f"{name} {share(*n)}" for name, n in out[split].items()))
    return out


def cuts():
    "The grid, over both sets: found and flagged, of the turns but the first."
    for split, rows in held():
        bad, again, p = (np.array([r[i] for r in rows]) for i in (0, 2, 3))
        print(split, *(f"{a}: {(f := again | (p >= a))[bad].mean():.2f}/{f[~bad].mean():.3f}" for a in CUTS))


def main(splits, verbose):
    out = {split: {name: measured(split, verbose, reader) for name, reader in (("rules", False), *([("both", True)] if packaged_thread() else []))} for split in splits}
    kept.note(sets=out, signs=signs())


if __name__ == "__main__":
    if "--cuts" in sys.argv:
        cuts()
    else:
        small = ["dev"] if "--slice" in sys.argv else ["dev", "test", "others", "unseen"]
        kept.run(lambda: main([a for a in sys.argv[1:] if not a.startswith("-")] or small, "-v" in sys.argv), split="dev, test, others, unseen")
