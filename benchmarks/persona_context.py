"""Are planted breaks of context found, and good turns left alone? python benchmarks/persona_context.py [-v] [--cuts] [dev|test|others|unseen ...]

Rules alone, and with the reader of dialogues where it is installed. Turns after a break are not counted. `--cuts`: the grid from which the two cuts of
persona.context were chosen: over the dialogues of train.jsonl that the reader's settings were tried on but not fitted (one in eight of each writer) and dev.
"""
import json
import os
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

from rag_quality.persona.context import _ORDER, _SURE, _turns, check_context
from rag_quality.persona.scenes import _scenes
from rag_quality.persona.thread import packaged_thread

import kept

HERE = Path(__file__).resolve().parent.parent/"data"/"dialogues"
CUTS = (.3, .4, .5, .6, .7, .75, .8, .85, .9, .95)


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
    print(f"{split}, {'rules and the reader' if reader else 'rules alone'}: {sum(planted.values())} planted breaks")
    for k in sorted(planted):
        print(f"  {k:14} {share(found[k], planted[k])}")
    print(f"  breaks found   {share(sum(found.values()), sum(planted.values()))} (wanted: at least .75); kind named right {named}")
    print(f"  good flagged   {share(sum(flagged.values()), good)} (wanted: at most .10)")
    print(f"  ms of a core a turn with what went before it: mean {1000*np.mean(took):.0f}")
    return {"planted": sum(planted.values()), "found": round(sum(found.values())/sum(planted.values()), 3), "named": named, "good": good,
            "flagged": round(sum(flagged.values())/good, 3), "by": dict(by), "of kind": {k: [found[k], planted[k]] for k in sorted(planted)}}


def held():
    "(broken?, the rules' signs, the reader's probability) of every turn but the first of the dialogues that nobody fitted on."
    reader = packaged_thread()
    for split in ("train", "dev"):
        rows = [(bool(kind), s) for _, turns, kind in cases(split) if (s := _scenes(_turns(turns))[-1]).before and s.answer]
        read = reader.read([(s.before, s.user, s.answer) for _, s in rows]) if reader else [None]*len(rows)
        yield split, [(bad, {sign.kind for f in _ORDER if (sign := f(s))}, r and r.broken) for (bad, s), r in zip(rows, read)]


def signs():
    "Of each rule: how often it fires on broken and on good turns of the dialogues of others, and is thus worth believing alone."
    _, rows = next(held())
    out = {}
    for kind in ("repetition", "role", "forgotten", "contradiction", "topic", "asked_again"):
        n = [(sum(kind in k for bad, k, _ in rows if bad == b), sum(bad == b for bad, _, _ in rows)) for b in (True, False)]
        out[kind] = {"on broken": n[0], "on good": n[1]}
        print(f"sign of {kind:14} on broken {share(*n[0])}, on good {share(*n[1])}")
    return out


def cuts():
    "The grid, each over both sets: found and flagged, of the turns but the first."
    for split, rows in held():
        bad, p = np.array([b for b, _, _ in rows]), np.array([p for _, _, p in rows])
        sure, other = (np.array([bool(k & _SURE) if here else bool(k - _SURE) for _, k, _ in rows]) for here in (True, False))
        for backed in (.3, .4, .5, .6, .7, 1.1):
            print(split, f"backed {backed:.1f}", *(f"{a}: {(f := sure | other & (p >= backed) | (p >= a))[bad].mean():.2f}/{f[~bad].mean():.3f}" for a in CUTS))


def main(splits, verbose):
    out = {split: {name: measured(split, verbose, reader) for name, reader in (("rules", False), *([("both", True)] if packaged_thread() else []))} for split in splits}
    kept.note(sets=out, signs=signs())


if __name__ == "__main__":
    if "--cuts" in sys.argv:
        cuts()
    else:
        small = ["dev"] if "--slice" in sys.argv else ["dev", "test", "others", "unseen"]
        kept.run(lambda: main([a for a in sys.argv[1:] if not a.startswith("-")] or small, "-v" in sys.argv), split="dev, test, others, unseen")
