"""Learn the word vectors of `CampusEncoder` from the bank: python benchmarks/campus_encoder_fit.py [--write | --extend] [--held-out 200]

Needs torch (the [dense] extra). Without --write: only what held-out needs of the bank say. With --write: learnt again from every need and
written to data/domains/encoder.npz, with the held-out figures in it. With --extend: nothing is learnt; words of the bank that came after
the last learning get the vectors that the encoder gives them now, so that nobody has to work those out again. Settings were chosen on held-out needs of the bank, on nothing else.
"""
import argparse, datetime, sys
from pathlib import Path

import numpy as np

from rag_quality.knowledge.bank import bank_hash, load_bank
from rag_quality.knowledge.bank import FILE, CampusEncoder, _landmark_vectors, _rows_of, _weights, pack_encoder
from rag_quality.core import load_config
from rag_quality.encoders import KiwiEncoder
from rag_quality.encoders.kiwi import analyze_corpus, unpack_words

DIM, EPOCHS, BATCH = 128, 8, 1024
RATES = {"P": 1e-3, "w": 1e-2, "r": 4e-3, "t": 1e-2}       # Adam, falling to 0
LAY, DROP = .3, .1                                          # how much another wording of the need counts; words dropped


class Data:
    def __init__(self, needs):
        lay = [(l.text, i) for i, n in enumerate(needs) for l in n.lay]
        same = [(a, b) for words in load_config("meanings")["equivalent"] + load_config("paraphrases")["groups"] if len(words) < 9 for a in words for b in words if a != b]
        pairs = [(a, b, i) for i, n in enumerate(needs) for l in n.lay for a, b in l.map] + [(a, b, -1) for a, b in same]
        texts = [t for t, _ in lay] + [n.regulation_text for n in needs] + [a for a, _, _ in pairs] + [b for _, b, _ in pairs]
        self.encoder = KiwiEncoder(); table = analyze_corpus(texts, cache=False); used, self.vectors = self.encoder.vocabulary(table)
        at = -np.ones(len(table.forms), int); at[used] = np.arange(len(used))
        bags = [x[x >= 0] for x in (at[table.ids[a:b]] for a, b in zip(table.starts[:-1], table.starts[1:]))]
        n, m, k = len(lay), len(needs), len(pairs)
        self.lay, self.formal, self.left, self.right = bags[:n], bags[n:n+m], bags[n+m:n+m+k], bags[n+m+k:]
        self.need, self.pair_need = np.array([i for _, i in lay]), np.array([i for *_, i in pairs])
        self.keys = [(table.forms[i], table.tags[i]) for i in used]; self.weights = self.encoder.weights(table.kiwi_ids[used])


def learn(d, held=(), seed=0):
    "The word vectors learnt from the needs that are not held out, and what maps other words' vectors."
    import torch, torch.nn.functional as F
    torch.manual_seed(seed); torch.set_num_threads(1); rng = np.random.default_rng(seed); held = set(held)
    seen = np.zeros(len(d.vectors), bool)
    for bags, ids in ((d.lay, d.need), (d.formal, range(len(d.formal)))):
        for b, i in zip(bags, ids):
            if i not in held: seen[b] = True
    V, mask = torch.tensor(d.vectors), torch.tensor(seen[:, None].astype(np.float32)); n, dim = V.shape
    p = {"P": torch.eye(dim), "w": torch.tensor(np.log(d.weights + 1e-3), dtype=torch.float32), "r": torch.zeros(n, dim), "t": torch.tensor(2.5)}
    for x in p.values(): x.requires_grad_()
    opt = torch.optim.Adam([{"params": [x], "lr": RATES[k]} for k, x in p.items()])
    def table(): return (V @ p["P"] + p["r"] * mask) * torch.exp(p["w"])[:, None]
    def embed(bags, words): return F.normalize(F.embedding_bag(torch.tensor(np.concatenate(bags)).long(), words, torch.tensor(np.cumsum([0] + [len(b) for b in bags[:-1]])), mode="sum"), dim=1)
    def nce(a, b, keys):
        same = torch.tensor(keys[:, None] == keys[None]) & ~torch.eye(len(keys), dtype=bool); z = (torch.exp(p["t"]) * a @ b.T).masked_fill(same, -1e9); y = torch.arange(len(keys))
        return F.cross_entropy(z, y) + .5 * F.cross_entropy(z.T, y)
    rows = np.array([i for i, b in enumerate(d.lay) if len(b) and d.need[i] not in held and len(d.formal[d.need[i]])])
    pairs = np.array([i for i in range(len(d.left)) if len(d.left[i]) and len(d.right[i]) and d.pair_need[i] not in held])
    of = {}
    for i in rows: of.setdefault(d.need[i], []).append(i)
    steps, step = EPOCHS * (len(rows) // BATCH + 1), 0
    for _ in range(EPOCHS):
        order = rng.permutation(rows)
        for k in range(0, len(order), BATCH):
            for g, rate in zip(opt.param_groups, RATES.values()): g["lr"] = rate * max(.05, 1 - step/steps)
            step += 1; b = order[k:k+BATCH]; words = table()
            kept = [x if len(x) < 4 or not (y := x[rng.random(len(x)) > DROP]).size else y for x in (d.lay[i] for i in b)]
            a = embed(kept, words); ids = d.need[b]
            loss = nce(a, embed([d.formal[i] for i in ids], words), ids) + LAY * nce(a, embed([d.lay[rng.choice(of[i])] for i in ids], words), ids)
            c = rng.choice(pairs, BATCH); said = [tuple(d.right[i]) for i in c]; number = {s: i for i, s in enumerate(dict.fromkeys(said))}
            loss = loss + nce(embed([d.left[i] for i in c], words), embed([d.right[i] for i in c], words), np.array([number[s] for s in said]))
            loss = loss + 1e-5 * (p["r"]**2).sum() + 1e-3 * ((p["P"] - torch.eye(dim))**2).sum()
            opt.zero_grad(); loss.backward(); opt.step()
    with torch.no_grad(): return table().numpy(), p["P"].detach().numpy()


def embedded(bags, words):
    out = np.stack([words[b].sum(0) for b in bags]); return out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-9)


def found(d, words, held):
    "Mean reciprocal rank of the own regulation wording among all, for the wordings of held-out needs."
    at = np.flatnonzero(np.isin(d.need, list(held))); s = embedded([d.lay[i] for i in at], words) @ embedded(d.formal, words).T
    return float((1 / (1 + (s > s[np.arange(len(at)), d.need[at]][:, None]).sum(1))).mean())


def reduced(words, P):
    "The main directions of the learnt space."
    return np.linalg.svd(words, full_matrices=False)[2][:DIM].T


def extend(path):
    "Add a row for each word of the bank that has none."
    with np.load(path) as z:
        raw = {k: z[k] for k in z.files}
    old, encoder = _weights(str(path)), CampusEncoder(path)
    needs = load_bank()
    table = analyze_corpus([l.text for n in needs for l in n.lay] + [n.regulation_text for n in needs], cache=False)
    keys = [(table.forms[i], table.tags[i], int(table.kiwi_ids[i])) for i in np.flatnonzero(encoder.kiwi.counts(table))]
    new = list({k[:2]: k for k in keys if k[:2] not in old["at"] and encoder.kiwi.knows(np.array([k[2]]))[0]}.values())
    words, tags = (unpack_words(raw[k], len(raw["scale"])) for k in ("words", "tags"))
    rows = np.concatenate([old["rows"], _rows_of(old, encoder.kiwi, new)])
    pack_encoder(path, [*words, *(k[0] for k in new)], [*tags, *(k[1] for k in new)], rows, raw["landmarks"], {**old["about"], "extended": old["about"].get("extended", 0) + len(new)})
    print(f"{len(new)} words added to {len(words)}: {path}")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--write", action="store_true"); ap.add_argument("--extend", action="store_true"); ap.add_argument("--held-out", type=int, default=200); args = ap.parse_args()
    path = Path(__file__).resolve().parent.parent/"data"/"domains"/FILE
    if args.extend:
        return extend(path)
    needs = load_bank(); d = Data(needs); held = np.random.default_rng(0).permutation(len(needs))[:args.held_out].tolist()
    plain = found(d, d.vectors * d.weights[:, None], held); words, P = learn(d, held); R = reduced(words, P); mrr = found(d, words @ R, held)
    print(f"뺀 필요 {len(held)}개의 사람의 말로 규정의 말 {len(needs)}개 가운데 제 것 찾기 (역순위의 평균): KiwiEncoder {plain:.3f}, 배운 것 {found(d, words, held):.3f}, {DIM}차원으로 줄여 {mrr:.3f}")
    if not args.write: return 0
    words, P = learn(d); R = reduced(words, P)
    marks = _landmark_vectors(d.encoder.drop).astype(np.float64)
    landmarks = np.linalg.pinv(marks.T, rcond=1e-2) @ P @ R            # (vector . landmark) cosines -> the learnt space
    about = {"needs": len(needs), "bank": bank_hash(needs), "drop": d.encoder.drop, "half": d.encoder.half, "stop": sorted(d.encoder.stop),
             "held_out": {"needs": len(held), "kiwi": round(plain, 4), "campus": round(mrr, 4)}, "date": datetime.date.today().isoformat()}
    pack_encoder(path, [f for f, _ in d.keys], [t for _, t in d.keys], words @ R, landmarks, about)
    print(f"{path.name}: 낱말 {len(d.keys)}개, {path.stat().st_size/1e6:.1f} MB"); return 0


if __name__ == "__main__": sys.exit(main())
