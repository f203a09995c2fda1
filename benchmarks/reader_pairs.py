"""The pairs that the reader (rag-quality-reader) learns from: a premise, a claim, whether it follows, and the words that decide.

usage: python benchmarks/reader_pairs.py OUT [DATA] [--planted 25000]        OUT: a folder for pairs.*.jsonl; DATA: a folder with law/, klue-nli/, korsts/

claims     data/claims train: 10,386 judged claims with the words that are wrong and the words of the passage that say so
cross      the same claims among other passages of the book (the answer has to be found), or against others alone (not in it)
near       the same claims against the passages of other books that share most letters with them (not in it), or their own among the nearest of any book
pieces     claims and answers of the bank, of hanbit train and of data/entailment as the check cuts them into pieces
answers    sentences and pieces of answers, true but for one place (data/entailment/answers.jsonl)
entail     data/entailment: everyday premises and claims, and claims about statutes, written for this
contrast   data/contrast dev in both directions
chatbot    the labelled segments of data/chatbot against the ten passages that the bot was given (half supported counts as not in it, at half weight)
hanbit     reference answers, paraphrases and false sentences of data/hanbit train
nli, sts   klue-nli (but the third of its premises that `reader.py` measures) and korsts: the same meaning (4.8 or more of 5), another (1.6 or less)
planted    sentences of statutes (law/corpus.jsonl, free of copyright) and of data/claims train, said plainly, or changed in one place by a rule:
           number, limit, modality, negation, who, when, condition; or a sentence of another article
dev, hanbitdev, devcross, nearheld, piecesdev, nliheld   the same of the dev parts; never fitted on
"""
import argparse
import collections
import json
import random
import re
import zlib
from functools import lru_cache
from pathlib import Path

from elsewhere import Elsewhere
from rag_quality.benchmark.data import load_benchmark, load_chatbot_answers
from rag_quality.claims.reader import BUDGET, premise, text_units
from rag_quality.core import measuring_path, nfc
from rag_quality.faithfulness.claims import cited_claims
from rag_quality.faithfulness.context import read_source
from rag_quality.faithfulness.joint import _told
from rag_quality.semantic_eval.calibration import contrast_pairs

FOLLOWS, AGAINST, ABSENT = 0, 1, 2
OF = {"supported": FOLLOWS, "contradicted": AGAINST, "not_in": ABSENT}
rng = random.Random(7)


def rows(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf8").splitlines() if line.strip()]


def places(text, parts):
    return [(text.find(p), text.find(p) + len(p)) for p in parts if p in text]


WIDER, WIDE = .4, 250     # this share of the pairs shows more of the passages, so many letters


def pair(texts, claim, label, source, wrong=(), evidence=(), weight=1., marked=None):
    "`wrong`: words of the claim; `evidence`: words of the passage; `marked`: are the wrong words known (none, where it follows)?"
    said = premise(claim, texts, WIDE if rng.random() < WIDER else BUDGET)
    return {"p": said, "c": claim, "y": label, "s": source, "wr": places(claim, wrong), "ev": places(said, evidence) or None,
            "tag": (bool(wrong) or label == FOLLOWS) if marked is None else marked, "w": weight}


@lru_cache(maxsize=None)
def told(title, text):
    "A passage as the check reads it: its title, sentences, rows of its tables."
    return "\n".join(_told(read_source((nfc(f"{title}\n{text}"),))))


def passages_of(split=None):
    return {p["_id"]: told(p["title"], p["text"]) for p in rows(measuring_path("claims")/"passages.jsonl") if split in (None, p["split"])}


def bank(split):
    passages = passages_of(split)
    return [pair([passages[x["passage"]]], x["claim"], OF[x["label"]], "claims", x["wrong"], x["evidence"])
            for x in rows(measuring_path("claims")/f"{split}.jsonl")]


def bank_cross(split, n):
    def of_book(i):
        return re.split(r"\s제|:", i)[0]
    passages = passages_of(split)
    claims, ids, book, out = rows(measuring_path("claims")/f"{split}.jsonl"), sorted(passages), collections.defaultdict(list), []
    for i in ids:
        book[of_book(i)].append(i)
    for x in rng.sample(claims, min(n, len(claims))):
        near = [i for i in book[of_book(x["passage"])] if i != x["passage"]]
        others = rng.sample(near, min(len(near), 3)) + [i for i in rng.sample(ids, 2) if i != x["passage"]]
        if rng.random() < .5:
            out.append(pair([passages[i] for i in others], x["claim"], ABSENT, "cross", weight=.7))
        else:
            texts = [passages[i] for i in others[:3]] + [passages[x["passage"]]]
            rng.shuffle(texts)
            out.append(pair(texts, x["claim"], OF[x["label"]], "cross", x["wrong"], x["evidence"]))
    return out


def bank_near(split, n):
    "Claims against what is nearest in other books, or their own passage among what is nearest in any."
    passages, place, out = passages_of(split), Elsewhere(), []
    mine = set(passages)
    claims = rows(measuring_path("claims")/f"{split}.jsonl")
    for x in rng.sample(claims, min(n, len(claims))):
        own, part = x["passage"], rng.random()
        far = [i for i in place.far(own) if i in mine]
        if part < .35:
            others = [i for i in place.near(x["claim"], mine) if i != own][:rng.randint(1, 4)]
            texts = [passages[i] for i in rng.sample([own, *others], len(others) + 1)]
            out.append(pair(texts, x["claim"], OF[x["label"]], "near", x["wrong"], x["evidence"]))
        else:
            ids = place.near(x["claim"], far)[:rng.choice((1, 3, 5))] if part < .85 else rng.sample(far, rng.choice((1, 5)))
            out.append(pair([passages[i] for i in ids], x["claim"], ABSENT, "near", weight=.7))
    return out


def entailment():
    "data/entailment; the claims about statutes alone, among other articles, and against other articles alone."
    folder = measuring_path("entailment")
    names = {"entailment": FOLLOWS, "contradiction": AGAINST, "neutral": ABSENT}
    out = [pair([x["p"]], x["c"], names[x["y"]], "entail", marked=False) for x in rows(folder/"everyday.jsonl")]
    texts = {a["id"]: told(a["title"], a["text"]) for a in rows(folder/"articles.jsonl")}
    for x in rows(folder/"statutes.jsonl"):
        wrong, evidence = [x["w"]] if x.get("w") else (), [x["e"]] if x.get("e") else ()
        out.append(pair([texts[x["id"]]], x["c"], names[x["y"]], "entail", wrong, evidence))
        others = [texts[i] for i in rng.sample([i for i in texts if i != x["id"]], 3)]
        if rng.random() < .4:
            among = rng.sample([texts[x["id"]], *others], 4)
            out.append(pair(among, x["c"], names[x["y"]], "entail", wrong, evidence))
        elif rng.random() < .4:
            out.append(pair(others, x["c"], ABSENT, "entail", weight=.7))
    return out


def parts(text, texts, label, source, wrong=(), weight=1.):
    """The pieces that the check cuts a claim or an answer into, each with what it inherits; `wrong`: places of what is false.
    A piece of a false claim without a false place is true; of one that is not in the passage, nothing is known."""
    found, out = [c for c in cited_claims(nfc(text)) if c.claim.kind == "claim"], []
    if len(found) < 2 and (not found or found[0].text.strip() == text.strip() and not found[0].claim.context):
        return out
    for c in found:
        about, said = c.claim.context[:80], c.text[:400]
        said = f"{about} {said}".strip() if about and about not in said else said
        hit = any(a < c.claim.end and b > c.claim.start for a, b in wrong)
        if label == FOLLOWS or hit or label == AGAINST and wrong:
            y, words = (label if hit or label == FOLLOWS else FOLLOWS), [text[a:b] for a, b in wrong]
            out.append(pair(texts, said, y, source, [w for w in words if w in said] if y == AGAINST else (), weight=weight if y == label else weight/2,
                            marked=y == FOLLOWS or None))
    return out


def pieces(split):
    "Claims of the bank, answers of hanbit and claims about statutes as the check cuts them."
    passages, out = passages_of(split), []
    for x in rows(measuring_path("claims")/f"{split}.jsonl"):
        out += parts(x["claim"], [passages[x["passage"]]], OF[x["label"]], "pieces", places(x["claim"], x["wrong"]))
    bench = load_benchmark().split(split)
    for n in bench.answerable:
        texts = [told(*t.split("\n", 1)) if "\n" in t else t for t in bench.contexts(n)]
        for text in filter(None, (n.answer, n.paraphrase)):
            out += parts(text, texts, FOLLOWS, "pieces")
        for x in n.lies:
            if x.kind != "article" and x.span:
                out += parts(x.answer, texts, ABSENT if x.kind == "unsupported" else AGAINST, "pieces", [x.span])
    if split == "train":
        folder, names = measuring_path("entailment"), {"entailment": FOLLOWS, "contradiction": AGAINST, "neutral": ABSENT}
        articles = {a["id"]: told(a["title"], a["text"]) for a in rows(folder/"articles.jsonl")}
        for x in rows(folder/"statutes.jsonl"):
            out += parts(x["c"], [articles[x["id"]]], names[x["y"]], "pieces", places(x["c"], [x["w"]] if x.get("w") else []))
    return out


def answers():
    "data/entailment/answers.jsonl: answers about articles of data/claims train, whole sentences and the pieces that the check cuts."
    passages, out = passages_of("train"), []
    for x in rows(measuring_path("entailment")/"answers.jsonl"):
        text, texts, wrong = x["a"], [passages[x["id"]]], places(x["a"], [x["w"]] if x.get("w") else [])
        label, at = (AGAINST if wrong else FOLLOWS), 0
        for said in (s.strip() for s in re.split(r"(?<=[.!?])\s+|\n", text) if len(s.strip()) > 8):
            at = text.index(said, at)
            hit = any(a < at + len(said) and b > at for a, b in wrong)
            out.append(pair(texts, said, label if hit or not wrong else FOLLOWS, "answers", [x["w"]] if hit and x["w"] in said else (),
                            weight=1. if hit or not wrong else .5))
        out += parts(text, texts, label, "answers", wrong)
    return out


def nli(path):
    "(kept, held out) by premise."
    kept, held = [], []
    for line in Path(path).read_text(encoding="utf8").splitlines():
        label, text, claim = line.split("\t")
        y = {"entailment": FOLLOWS, "contradiction": AGAINST, "neutral": ABSENT}[label]
        (kept if zlib.crc32(text.encode())%3 else held).append(pair([text], claim, y, "nli", marked=False))
    return kept, held


def sts(folder, n=450):
    found = {FOLLOWS: [], ABSENT: []}
    for name in ("train", "dev"):
        for line in (folder/f"{name}.tsv").read_text(encoding="utf8").splitlines():
            score, a, b = line.split("\t")[:3]
            if re.fullmatch(r"[\d.]+", score) and not 1.6 < float(score) < 4.8:
                y = FOLLOWS if float(score) >= 4.8 else ABSENT
                found[y].append(pair([a], b, y, "sts", weight=.6 if y == FOLLOWS else .4, marked=False))
    return [p for of in found.values() for p in rng.sample(of, min(n, len(of)))]


def contrast():
    out = []
    for x in contrast_pairs("dev"):
        for a, b, k in ((x["a"], x["b"], 1), (x["b"], x["a"], 0)):
            y = {"same": FOLLOWS, "different": AGAINST}.get(x["label"], ABSENT)
            changed = x.get("changed") or []
            out.append(pair([a], b, y, "contrast", [changed[k]] if len(changed) == 2 else ()))
    return out


def chatbot():
    out = []
    for a in load_chatbot_answers():
        for s in a.segments:
            said = re.sub(r"^[\s#*\-\d.)]+", "", re.sub(r"[*#`]+", "", s.text)).strip()
            if s.label in "SPUC" and 12 <= len(said) <= 160:
                y = {"S": FOLLOWS, "C": AGAINST}.get(s.label, ABSENT)
                out.append(pair(a.contexts, said, y, "chatbot", weight=.5 if s.label == "P" else 1., marked=s.label == "S"))
    return out


def sentences(text):
    bare = re.sub(r"\s*\[[^\]]*\]", "", text)
    return [s.strip() for s in re.split(r"(?<=[.다요])\s+(?=\S)", bare) if len(s.strip()) > 8]


def hanbit(split):
    bench, out = load_benchmark().split(split), []
    for n in bench.answerable:
        texts = list(bench.contexts(n))
        good = sentences(n.answer)
        out += [pair(texts, s, FOLLOWS, "hanbit") for s in (*good, *sentences(n.paraphrase or ""))]
        for x in n.lies:
            if x.kind != "article":
                y = ABSENT if x.kind == "unsupported" else AGAINST
                out += [pair(texts, s, y, "hanbit", marked=False) for s in sentences(x.answer) if s not in good]
    return out


# ---- one place of a rule changed ----
UNITS = ("일", "개월", "년", "주", "시간")
NUMBER = re.compile(r"(\d[\d,]*)(\s?)(일|개월|년|월|회|명|원|만원|천원|퍼센트|%|세|시간|분|학점|주|분의|개|점|킬로미터|미터|배|가지|차례)")
LIMITS = {"이상": ("미만", "이하"), "이하": ("이상", "초과"), "초과": ("미만", "이하"), "미만": ("이상", "초과"), "이내": ("이후", "이상")}
MODES = (("할 수 있다", ("하여야 한다", "할 수 없다")), ("하여야 한다", ("할 수 있다", "하지 않아도 된다")), ("해야 한다", ("할 수 있다", "하지 않아도 된다")),
         ("할 수 없다", ("할 수 있다", "하여야 한다")), ("하지 못한다", ("할 수 있다",)), ("하여서는 아니 된다", ("할 수 있다", "하여도 된다")),
         ("해서는 아니 된다", ("할 수 있다", "해도 된다")), ("하지 아니한다", ("한다",)), ("하지 않는다", ("한다",)))
NEGATED = (("한다", ("하지 아니한다", "하지 않는다")), ("된다", ("되지 아니한다", "되지 않는다")), ("있다", ("없다",)), ("이다", ("이 아니다",)))
WHEN = {"매년": "매월", "매월": "매년", "매분기": "매년", "즉시": "30일 후에", "지체 없이": "3개월 이내에", "미리": "나중에", "사전": "사후", "사후": "사전",
        "전에": "후에", "후에": "전에", "전까지": "후부터"}
POLITE = (("하여야 한다", ("해야 합니다", "하여야 합니다", "해야 해요")), ("할 수 있다", ("할 수 있습니다", "할 수 있어요")), ("할 수 없다", ("할 수 없습니다", "못 합니다")),
          ("하지 아니한다", ("하지 않습니다", "하지 않아요")), ("하지 않는다", ("하지 않습니다",)), ("아니 된다", ("안 됩니다", "안 돼요")), ("된다", ("됩니다", "돼요")),
          ("한다", ("합니다", "해요")), ("있다", ("있습니다", "있어요")), ("없다", ("없습니다", "없어요")), ("이다", ("입니다", "이에요")), ("아니다", ("아닙니다",)))
PLAINLY = (("지체 없이", "곧바로"), ("매년", "해마다"), ("제출하여야", "내야"), ("이내에", "안에"), ("당해", "그"), ("개시", "시작"), ("종료", "끝"),
           ("경우에는", "경우라면"), ("하여야", "해야"), ("통지", "알림"), ("다음 각 호의", "아래의"))


def put(s, m, new):
    return s[:m.start()] + new + s[m.end():], [new]


def number(s, who):
    if not (found := list(NUMBER.finditer(s))):
        return None
    m = rng.choice(found)
    if m[3] in UNITS and rng.random() < .25:
        return put(s, m, m[1] + m[2] + rng.choice([u for u in UNITS if u != m[3]]))
    v = int(m[1].replace(",", "") or 0)
    new = rng.choice([x for x in (v + 1, max(1, v - 1), v*2, v + 5, v*10, max(1, v//2), v + rng.randint(2, 9)) if x != v])
    return put(s, m, (f"{new:,}" if "," in m[1] else str(new)) + m[2] + m[3])


def limit(s, who):
    found = list(re.finditer("|".join(LIMITS), s))
    return put(s, m, rng.choice(LIMITS[m[0]])) if found and (m := rng.choice(found)) else None


def modality(s, who):
    some = [(a, b) for a, b in MODES if a in s]
    if not some:
        return None
    a, b = rng.choice(some)
    new = rng.choice(b)
    return s.replace(a, new, 1), [new]


def negation(s, who):
    for a, b in NEGATED:
        if m := re.search(a + r"\.?$", s):
            if re.search(r"(?:하여야|해야|아니|못|안) ?(?:한다|된다)\.?$|않는다\.?$", s):
                return None
            return put(s, m, rng.choice(b) + ("." if s.endswith(".") else ""))
    return None


def who_does(s, who):
    m = re.match(r"((?:[가-힣]+ ){0,3}?)([가-힣]{2,10})(은|는|이|가) ", s)
    if not m or m[2].endswith(("에", "로", "서", "까지")) or m[2] == "다음":
        return None
    new = rng.choice([w for w in who if w != m[2]])
    closed = (ord(new[-1]) - 0xAC00)%28 > 0
    particle = {"은": "은는", "는": "은는", "이": "이가", "가": "이가"}[m[3]][0 if closed else 1]
    return s[:m.start(2)] + new + particle + " " + s[m.end():], [new]


def when(s, who):
    some = [k for k in WHEN if k in s]
    return (s.replace(k, WHEN[k], 1), [WHEN[k]]) if some and (k := rng.choice(some)) else None


def condition(s, who):
    for a, b in (("제외하고", "포함하여"), ("제외한다", "포함한다"), ("한정하여", "한정하지 않고")):
        if a in s:
            return s.replace(a, b, 1), [b]
    m = re.search(r"[^,]{4,60}?(?:경우에는|때에는)", s)
    return put(s, m, (" " if m.start() else "") + "어떤 경우에도") if m else None


def joined(s, who):
    for a, b in ((" 및 ", " 또는 "), (" 또는 ", " 및 ")):
        if a in s:
            return s.replace(a, b, 1), [b.strip()]
    return None


CHANGES = (number, number, limit, modality, modality, negation, who_does, when, when, condition, joined)


def plainly(s):
    s = re.sub(r"^[①-⑳]\s*|^\d+\.\s*", "", re.sub(r"\([^()]*\)", "", s))
    for a, b in PLAINLY:
        if a in s and rng.random() < .35:
            s = s.replace(a, b, 1)
    if rng.random() > .75:
        return s
    s = s.rstrip(".")
    return next((s[:-len(a)] + rng.choice(b) + "." for a, b in POLITE if s.endswith(a)), s + ".")


def planted(texts, n):
    articles, names, out = [text_units(t) for t in texts], collections.Counter(), []
    for unit in (u for a in articles for u in a):
        if (m := re.match(r"(?:[①-⑳] ?)?([가-힣]{2,8})(?:은|는) ", unit)) and not m[1].endswith(("에", "서", "로", "지")):
            names[m[1]] += 1
    who = [w for w, _ in names.most_common(150)]
    def whole(article):
        return [u for u in article if 25 <= len(u) <= 150 and re.search(r"다\.?$", u)]
    while len(out) < n:
        article = rng.choice(articles)
        if not (some := whole(article)):
            continue
        unit, part = rng.choice(some), rng.random()
        base = re.sub(r"^[①-⑳]\s*|^\d+\.\s*", "", unit)
        if part < .42:
            out.append(pair(["\n".join(article)], plainly(base), FOLLOWS, "planted", (), [unit], .8))
        elif part < .84:
            tries = (change(base, who) for change in rng.sample(CHANGES, len(CHANGES)))
            if made := next((m for m in tries if m and m[0] != base), None):
                claim = plainly(made[0])
                out.append(pair(["\n".join(article)], claim, AGAINST, "planted", [w for w in made[1] if w in claim], [unit], .8))
        elif others := [u for u in whole(rng.choice(articles) if rng.random() < .5 else article) if u != unit]:
            other = rng.choice(others)
            out.append(pair(["\n".join(u for u in article if u != other)], plainly(other), ABSENT, "planted", weight=.6))
    return out


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("out", type=Path)
    ap.add_argument("data", type=Path, nargs="?")
    ap.add_argument("--planted", type=int, default=25_000)
    args = ap.parse_args()
    made = {"claims": bank("train"), "cross": bank_cross("train", 6000), "contrast": contrast(), "chatbot": chatbot(), "hanbit": hanbit("train"),
            "dev": bank("dev"), "hanbitdev": hanbit("dev"), "devcross": bank_cross("dev", 600), "near": bank_near("train", 7000), "nearheld": bank_near("dev", 983),
            "entail": entailment(), "pieces": pieces("train"), "answers": answers(), "piecesdev": pieces("dev")}
    texts = [p["text"] for p in rows(measuring_path("claims")/"passages.jsonl") if p["split"] == "train"]
    if args.data:
        made["nli"], made["nliheld"] = nli(args.data/"klue-nli"/"dev.tsv")
        made["sts"] = sts(args.data/"korsts")
        texts += [d["text"] for d in rows(args.data/"law"/"corpus.jsonl")]
    made["planted"] = planted(texts, args.planted)
    args.out.mkdir(parents=True, exist_ok=True)
    for name, found in made.items():
        (args.out/f"pairs.{name}.jsonl").write_text("\n".join(json.dumps(p, ensure_ascii=False) for p in found), encoding="utf8")
        print(name, len(found), dict(collections.Counter(p["y"] for p in found)))


if __name__ == "__main__":
    main()
