"""Fit the reader of dialogues: the encoder of the reader, taught to say whether an answer loses the thread (nbs/persona/10_context.ipynb).

usage: python benchmarks/dialogue_fit.py READER WORK [--epochs 4] [--rate 8e-5] [--threads N] [--device cuda] [--pack reader/rag_quality_reader/thread]
       READER: the WORK of reader_fit.py (base/ and checkpoint.pt); WORK: checkpoints, taken up again

data/dialogues/train.jsonl: good dialogues, and for some turns an answer that would lose the thread there. A good and a broken answer of one turn are
read in the same batch: which of the eight kinds it is or none (cross-entropy), that the broken one scores higher (pairwise), and which words of it
the good one does not have (a label a piece, where the two share most words). One dialogue in eight of each writer is held back (by its number);
data/dialogues/dev.jsonl is measured too; test.jsonl and others.jsonl are never read. Seed 0. An answer of another turn is put in the place of a
good one now and then, so that the plain cases are known, too.
"""
import argparse
import difflib
import json
import os
import random
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import nn

from rag_quality.core import measuring_path
from rag_quality.persona.context import KINDS, pieces
from reader_fit import Net, auroc, export

rng = random.Random(0)
LABELS = ("none", *KINDS)


def rows(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf8").splitlines() if line.strip()]


def before(d, k):
    return [(t["user"], t["assistant"]) for t in d["turns"][:k]]


def changed(good, bad):
    "Spans of letters of `bad` that `good` has not, where they share most; None where they don't."
    m = difflib.SequenceMatcher(None, good.split(), bad.split(), autojunk=False)
    if m.ratio() < .45:
        return None
    at, places = [], []
    for w in bad.split():
        start = bad.index(w, at[-1][1] if at else 0)
        at.append((start, start + len(w)))
    for tag, _, _, a, b in m.get_opcodes():
        if tag != "equal":
            places += at[a:b]
    return places


class Coder:
    "Dialogue and answer as pieces, with the labels."
    def __init__(self, path):
        self.tokenizer = Tokenizer.from_file(str(path))

    def __call__(self, earlier, user, answer, label, *, places=None, pair=-1, weight=1.):
        ids, kind, offsets = pieces(self.tokenizer, earlier, user, answer)
        marks = [float(bool(places) and k == 1 and any(s < e2 and e > s2 for s2, e2 in places)) for k, (s, e) in zip(kind, offsets)]
        return {"ids": ids, "kind": kind, "marks": marks, "y": LABELS.index(label), "pair": pair, "marked": float(places is not None), "w": weight}


def examples(code, dialogues, *, swap=.15):
    "[good, broken] of one turn together; good turns without a broken answer alone."
    out = []
    for d in dialogues:
        turns, broken = d["turns"], {}
        for b in d["breaks"]:
            broken.setdefault(b["turn"] - 1, []).append(b)
        for k in range(1, len(turns)):
            user, good = turns[k]["user"], turns[k]["assistant"]
            first = code(before(d, k), user, good, "none", places=[])
            mine = [first]
            for b in broken.get(k, ()):
                mine.append(code(before(d, k), user, b["answer"], b["kind"], places=changed(good, b["answer"])))
            if k > 1 and not broken.get(k) and swap and rng.random() < swap:
                if rng.random() < .5:
                    mine.append(code(before(d, k), user, turns[rng.randrange(k - 1)]["assistant"], "repetition", weight=.5))
                else:
                    other = rng.choice(dialogues)
                    mine.append(code(before(d, k), user, rng.choice(other["turns"])["assistant"], "topic", weight=.3))
            out.append(mine)
    return out


def batch(groups, device):
    flat, of = [], []
    for g, group in enumerate(groups):
        flat += group
        of += [g]*len(group)
    n = max(len(r["ids"]) for r in flat)
    def pad(key, fill):
        return torch.tensor([r[key] + [fill]*(n - len(r[key])) for r in flat], device=device)
    mask = torch.tensor([[1]*len(r["ids"]) + [0]*(n - len(r["ids"])) for r in flat], device=device)
    y, w, marked = (torch.tensor([r[k] for r in flat], device=device) for k in ("y", "w", "marked"))
    return (pad("ids", 1), mask, (pad("kind", 2) == 1).long()), pad("marks", 0.), y, w, marked, of


def plan(groups, size=16):
    "Batches of about `size` pairs of like length, in random order."
    groups, out = groups[:], []
    rng.shuffle(groups)
    for k in range(0, len(groups), 400):
        some, now, n = sorted(groups[k:k + 400], key=lambda g: len(g[0]["ids"])), [], 0
        for g in some:
            now.append(g)
            n += len(g)
            if n >= size:
                out.append(now)
                now, n = [], 0
        if now:
            out.append(now)
    rng.shuffle(out)
    return out


def broken_score(net, flat, device):
    net.eval()
    p = np.zeros(len(flat))
    order = sorted(range(len(flat)), key=lambda i: len(flat[i]["ids"]))
    with torch.no_grad():
        for k in range(0, len(order), 16):
            at = order[k:k + 16]
            given, *_ = batch([[flat[i]] for i in at], device)
            p[at] = 1 - net(*given)[0].softmax(1)[:, 0].cpu().numpy()
    net.train()
    return p


def figures(net, groups, device):
    flat = [r for g in groups for r in g]
    p, y = broken_score(net, flat, device), np.array([r["y"] for r in flat])
    bad = y > 0
    cut = np.quantile(p[~bad], .9)
    at, won, n = 0, 0, 0
    for g in groups:
        for k in range(1, len(g)):
            n += 1
            won += p[at + k] > p[at]
        at += len(g)
    return {"good": int((~bad).sum()), "broken": int(bad.sum()), "AUROC": round(auroc(p, bad), 3), "found at .10 flagged": round(float((p[bad] > cut).mean()), 3),
            "the broken one of a pair scores higher": round(won/n, 3) if n else None,
            "found by kind": {k: round(float((p[y == i] > cut).mean()), 2) for i, k in enumerate(LABELS) if i and (y == i).any()}, "cut": round(float(cut), 3)}


def dev_groups(code):
    "data/dialogues/dev.jsonl: planted breaks stand in the dialogue itself; what follows one is left out."
    out = []
    for d in rows(measuring_path("dialogues")/"dev.jsonl"):
        b = d["break"]
        for k in range(1, b["turn"] if b else len(d["turns"])):
            label = b["kind"] if b and k == b["turn"] - 1 else "none"
            out.append([code(before(d, k), d["turns"][k]["user"], d["turns"][k]["assistant"], label)])
    return out


def fit(args):
    base = args.reader/"base"
    code = Coder(base/"tokenizer.json")
    found = rows(args.data or measuring_path("dialogues")/"train.jsonl")
    held = [d for d in found if int(d["_id"].split("-")[-1])%8 == 0]
    train = [d for d in found if int(d["_id"].split("-")[-1])%8]
    sets = {"held": examples(code, held, swap=0), "dev": dev_groups(code)}
    if args.all:
        train = found
    todo = [b for _ in range(args.epochs) for b in plan(examples(code, train))]
    print(len(train), "dialogues,", len(todo), "steps", flush=True)
    torch.manual_seed(0)
    net = Net(base, 6)
    state = torch.load(args.start or args.reader/"checkpoint.pt", weights_only=False, map_location="cpu")
    net.load_state_dict(state.get("net", state))
    net.out = nn.Linear(256, len(LABELS))
    net = net.to(args.device)
    for part in (net.bert.embeddings.word_embeddings, net.bert.embeddings.position_embeddings, *net.bert.encoder.layer[:args.frozen]):
        part.requires_grad_(False)
    groups = [{"params": [p for n, p in net.named_parameters() if not n.startswith("bert")], "lr": args.rate*5, "weight_decay": .01}]
    groups += [{"params": list(layer.parameters()), "lr": args.rate*.9**(5 - i), "weight_decay": .01} for i, layer in enumerate(net.bert.encoder.layer) if i >= args.frozen]
    opt = torch.optim.AdamW(groups)
    first, at, curve, check = [g["lr"] for g in opt.param_groups], 0, [], args.work/"checkpoint.pt"
    if check.is_file():
        s = torch.load(check, weights_only=False, map_location=args.device)
        net.load_state_dict(s["net"])
        opt.load_state_dict(s["opt"])
        at, curve = s["at"], s["curve"]
    net.train()
    start, run = time.time(), []
    for step in range(at, len(todo)):
        for g, lr in zip(opt.param_groups, first):
            g["lr"] = lr*min(1, (step + 1)/60)*max(.02, (len(todo) - step)/len(todo))
        given, marks, y, w, marked, of = batch(todo[step], args.device)
        with torch.autocast(args.device, torch.bfloat16, enabled=args.bf16):
            z, tags = net(*given)
        z, tags = z.float(), tags.float()
        broken = torch.tensor([3. if k else 1. for k in y.tolist()], device=args.device)*w
        loss = (F.cross_entropy(z, y, reduction="none", label_smoothing=.05)*broken).sum()/broken.sum()
        odds = torch.logsumexp(z[:, 1:], 1) - z[:, 0]
        pairs = [(i, j) for i in range(len(of)) for j in range(len(of)) if of[i] == of[j] and y[i] == 0 and y[j] > 0]
        if pairs:
            i, j = map(list, zip(*pairs))
            loss = loss + .5*(F.softplus(-(odds[j] - odds[i]))*w[j]).mean()
        where = given[2].float()*marked[:, None]
        each = F.binary_cross_entropy_with_logits(tags[..., 0], marks, reduction="none", pos_weight=torch.tensor(2., device=args.device))
        loss = loss + .3*(each*where).sum()/where.sum().clamp(min=1)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.)
        opt.step()
        opt.zero_grad(set_to_none=True)
        run.append(float(loss.detach()))
        last = step + 1 == len(todo)
        if (step + 1)%50 == 0:
            print(step + 1, round(float(np.mean(run[-50:])), 3), round((time.time() - start)/(step + 1 - at), 2), "s a step", flush=True)
        if last or (step + 1)%200 == 0:
            curve.append({"step": step + 1, "of": len(todo), "loss": round(float(np.mean(run[-100:])), 3), **{n: figures(net, g, args.device) for n, g in sets.items()}})
            print(json.dumps(curve[-1], ensure_ascii=False), flush=True)
            torch.save({"net": net.state_dict(), "opt": opt.state_dict(), "at": step + 1, "curve": curve}, str(check) + ".part")
            os.replace(str(check) + ".part", check)
    return net, curve


def pack(net, args, curve):
    "The weights, and where they come from."
    export(net, args.reader/"base", args.work, args.pack, "thread.json", {
        "labels": list(LABELS), "version": args.version, "steps": curve[-1]["of"], "curve": curve,
        "base": "the reader of this package", "fitted_on": "data/dialogues/train.jsonl (this repository, CC BY 4.0)"})


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("reader", type=Path)
    ap.add_argument("work", type=Path)
    for name, kind, value in (("epochs", int, 4), ("rate", float, 8e-5), ("frozen", int, 2), ("threads", int, 0), ("device", str, "cpu"), ("version", str, "0.9.0")):
        ap.add_argument(f"--{name}", type=kind, default=value)
    ap.add_argument("--pack", type=Path)
    ap.add_argument("--data", type=Path, help="dialogues instead of data/dialogues/train.jsonl")
    ap.add_argument("--start", type=Path, help="weights to start from instead of READER/checkpoint.pt")
    ap.add_argument("--bf16", action="store_true", help="products in half the precision: faster where the processor has it")
    ap.add_argument("--all", action="store_true", help="fit on the held dialogues, too (after the settings were chosen)")
    args = ap.parse_args()
    if args.threads:
        torch.set_num_threads(args.threads)
    args.work.mkdir(parents=True, exist_ok=True)
    net, curve = fit(args)
    if args.pack:
        pack(net, args, curve)


if __name__ == "__main__":
    main()
