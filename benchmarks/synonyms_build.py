"""Build data/config/synonyms.json from data/domains/campus: how likely a lay word or phrase stands for a term of regulations.

usage: python benchmarks/synonyms_build.py            write it (about a minute)
       python benchmarks/synonyms_build.py --check    is the file of today's bank? (exit status 1: no) And of this script, with today's morphemes?
                                                      Built anew after those changed it differs a little, and every figure that rests on it is to be measured again

Words: IBM Model 1 (Brown et al. 1993) with a NULL word over pairs (lay wording, terms of its need), where the alignments that the writers of the bank gave limit
the candidates of a term to the words of their phrase. A term is aligned both whole (근로장학금) and by morphemes (근로, 장학금).
P(formal | lay) = expected number of wordings in which the lay word stands for the term / (wordings with the lay word + MU): a word that stands in many wordings
and rarely means anything gets nothing. Phrases: the same counts, where the words of the phrase stand together. By family of regulation: the same, smoothed towards P.
"""
import argparse, hashlib, json, time
from collections import Counter, defaultdict
from datetime import date
from pathlib import Path

import numpy as np

from rag_quality.core import atomic_write, nfc
from rag_quality.korean import KiwiTokenizer
from rag_quality.knowledge.topics import find_topics
from rag_quality.knowledge.synonyms import Phrases, lay_words

import kept

HERE = Path(__file__).resolve().parent
BANK, OUT = HERE.parent/"data/domains/campus", HERE.parent/"data/config/synonyms.json"
MU, KAPPA, ROUNDS, NULL = 2., 3., 6, "∅"
FLOOR, SAID, LEAST = .02, .5, 2.5    # an entry's probability; how many wordings in which its writer said so, or in all, speak for it, at least
FAMILY = 1.5                  # a family is told apart where it has at least so many times the overall probability, or at most one such part of it, and .02 apart

def digest(paths): return hashlib.blake2b(b"".join(p.name.encode() + p.read_bytes() for p in sorted(paths)), digest_size=8).hexdigest()
def rows(path): return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines() if line.strip()]
def key_of(text): return tuple(sorted({w.key for w in lay_words(text)}))

def read_bank():
    "One dict a wording: its words, its targets, which words may stand for each target (None: any), family, need."
    tok, spelled, lays, out = KiwiTokenizer(), defaultdict(Counter), defaultdict(Counter), []
    def target(term):
        parts = tuple(dict.fromkeys(tok(term))); spelled[parts][term] += 1
        return {parts, *((p,) for p in parts)} if parts else set()
    for path in sorted(BANK.glob("*.jsonl")):
        for need in rows(path):
            families = find_topics(f"{need['topic']} {need['formal']} {' '.join(need['terms'])}")[1] or {}
            family = max(families, key=lambda f: (round(families[f], 6), f)) if families else ""      # sums of floats may differ in the last digit
            terms = set().union(*map(target, need["terms"]))
            for lay in need["lay"]:
                words, given = lay_words(nfc(lay["text"])), defaultdict(set)
                for phrase, term in lay["map"]:
                    if key := key_of(phrase):
                        lays[key][phrase] += 1
                        for t in target(term): given[t] |= set(key)
                out.append(dict(words=words, keys=list(dict.fromkeys(w.key for w in words)), targets=sorted(terms | set(given)), given=given, family=family, need=need["_id"]))
    return out, lays, spelled

def align(pairs):
    "(wording, lay word, target) -> the probability that the word stands for the target there: Model 1, with the given alignments."
    words = {w: i for i, w in enumerate([NULL, *sorted({k for p in pairs for k in p["keys"]})])}; targets = {t: i for i, t in enumerate(sorted({t for p in pairs for t in p["targets"]}))}
    at, group, u, f = [], [], [], []; g = 0
    for i, p in enumerate(pairs):
        for t in p["targets"]:
            mine = [k for k in p["keys"] if k in p["given"].get(t, ())] or [NULL, *p["keys"]]
            at += [i]*len(mine); group += [g]*len(mine); u += [words[k] for k in mine]; f += [targets[t]]*len(mine); g += 1
    group, u, f = np.array(group), np.array(u), np.array(f); kinds, pair = np.unique(u*len(targets) + f, return_inverse=True)
    ku, kf = kinds//len(targets), kinds%len(targets); general = np.bincount(f[np.r_[True, group[1:] != group[:-1]]], minlength=len(targets)).astype(float); general /= general.sum()
    t = np.ones(len(kinds))
    for _ in range(ROUNDS):
        w = t[pair]; post = w/np.bincount(group, w)[group]; c = np.bincount(pair, post, len(kinds)); t = (c + general[kf])/(np.bincount(ku, c)[ku] + 1)
    names, tnames = list(words), list(targets)
    return [(at[j], names[u[j]], tnames[f[j]], float(post[j])) for j in np.flatnonzero((u > 0) & (post > .02))]

def count(pairs, found, names):
    "key -> wordings with it by family; key -> target -> expected wordings in which it stands for the target: by family, by whether a writer said so."
    phrases, n, c, at = Phrases(names), defaultdict(Counter), defaultdict(lambda: defaultdict(lambda: (Counter(), Counter()))), defaultdict(lambda: defaultdict(dict))
    inside = [{key for key, _ in phrases.found(p["words"])} for p in pairs]
    for i, w, t, q in found: at[i][t][w] = q
    for i, (p, keys) in enumerate(zip(pairs, inside)):
        for key in keys:
            n[key][p["family"]] += 1
            for t, by in at[i].items():
                if (q := min(sum(by.get(w, 0.) for w in key), 1.)) > .02: c[key][t][0][p["family"]] += q; c[key][t][1][t in p["given"]] += q
    return n, c

def entries(n, c, names, spelled):
    "The entries worth keeping, a key's likeliest first."
    out = []
    for key in sorted(c):
        by, made = n[key], {}; total = sum(by.values())
        for t, (families, said) in c[key].items():
            s = sum(families.values()); p = s/(total + MU)
            if p >= FLOOR and (said[True] >= SAID or s >= LEAST) and (len(t) > 1 or len(t[0]) > 1) and not known(t, key): made[t] = (p, families)
        whole = {t: v[0] for t, v in made.items() if len(t) > 1 and v[0] >= .5*min(made[m,][0] if (m,) in made else v[0] for m in t)}
        for t, (p, families) in made.items():
            if len(t) > 1 and t not in whole or len(t) == 1 and any(t[0] in w and q >= .8*p for w, q in whole.items()): continue
            topics = {f: (families[f] + KAPPA*p)/(m + KAPPA) for f, m in sorted(by.items()) if f}
            e = {"lay": names[key], "key": " ".join(key), "formal": spelled[t].most_common(1)[0][0] if t in spelled else t[0], "p": round(p, 3), "n": total,
                 "topics": {f: round(q, 2) for f, q in topics.items() if (q >= FAMILY*p or q*FAMILY <= p) and abs(q - p) >= .02}}
            out.append(e)
    return sorted(out, key=lambda e: (e["key"], -e["p"], e["formal"]))

def rows_of(listed):
    "(families, rows): each lay word once, [lay, key, n, [formal, p, family, per cent, ...], ...]; a third of the bytes of one entry a sense."
    families = sorted({f for e in listed for f in e["topics"]}); place, by = {f: i for i, f in enumerate(families)}, {}
    for e in listed:
        sense = [e["formal"], e["p"]]
        for f, q in e["topics"].items(): sense += [place[f], round(100*q)]
        by.setdefault((e["lay"], e["key"], e["n"]), []).append(sense)
    return families, [[*word, *senses] for word, senses in by.items()]

def name_of(key, said):
    "How people write a key: the commonest phrase; a lone word must begin it."
    form = key[0].split("/")[0]; fit = [x for x in said if len(key) > 1 or x.startswith(form) and " " not in x]
    return min(fit, key=lambda x: (-said[x], len(x), x)) if fit else form + ("다" if key[0].endswith("/V") else "")

def known(t, key):
    "Does the lay word say the target itself: 등록금 -> 등록?"
    forms = [k.split("/")[0] for k in key]
    return set(t) <= set(forms) or len(t) == 1 and any(t[0] in f for f in forms)

def build():
    pairs, lays, spelled = read_bank(); bank = sorted(BANK.glob("*.jsonl"))
    names = {key: name_of(key, lays[key]) for key in {*lays, *((k,) for p in pairs for k in p["keys"])} if not (len(key) == 1 and key[0].endswith("/X"))}      # a lone affix means nothing
    n, c = count(pairs, align(pairs), names); listed = entries(n, c, names, spelled)
    head = {"version": "2.0.0", "description": "사람의 말이 규정의 말일 확률. 한 줄은 [사람의 말, 그 내용 형태소(한 음절은 품사와 함께), 그 말이 든 물음의 수, [규정의 말, p = P(규정의 말 | 사람의 말), 갈래, 백분율, 갈래, 백분율, ...], ...]: 갈래는 families에서의 자리, 백분율은 그 갈래에서 p와 크게 다른 확률. 손으로 더할 때는 {lay, formal, p} 꼴의 항목도 됨. 쓰는 곳: rag_quality.knowledge.synonyms",
            "provenance": {"built_by": "python benchmarks/synonyms_build.py", "from": {p.name: digest([p]) for p in bank}, "bank": digest(bank), "script": digest([Path(__file__)]), "needs": len({p["need"] for p in pairs}), "wordings": len(pairs), "date": str(date.today()),
                           "method": "IBM Model 1 (NULL 낱말, 적힌 짝으로 후보를 줄임, 6번), P = 기대 횟수/(그 말이 든 물음 + prior); 글은 언어 모델이 이 프로젝트를 위해 쓴 data/domains/campus의 것. 문턱은 한빛 dev와 바깥의 규정집 하나의 dev의 nDCG@10에서 고름"}, "direction": "lay->formal", "prior": MU}
    families, rows = rows_of(listed)
    return {**head, "families": families}, rows

def text(head, rows):
    lines = ",\n".join("  " + json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    return json.dumps(head, ensure_ascii=False, indent=1)[:-2] + ',\n "entries": [\n' + lines + "\n ]\n}\n"

def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0]); ap.add_argument("--check", action="store_true"); args = ap.parse_args()
    if args.check:
        made = json.loads(OUT.read_text(encoding="utf8"))["provenance"] if OUT.is_file() else {}
        changed = [p.name for p in sorted(BANK.glob("*.jsonl")) if made.get("from", {}).get(p.name) != digest([p])] + [name for name in made.get("from", {}) if not (BANK/name).is_file()]
        print("synonyms.json을 다시 지어야 합니다. 바뀐 것: " + ", ".join(changed) + ". python benchmarks/synonyms_build.py" if changed else "synonyms.json은 오늘의 은행에서 지은 것입니다" +
              ("" if made.get("script") == digest([Path(__file__)]) else f" (짓는 스크립트는 그 뒤 바뀜: {made.get('date')}에 지은 것)"))
        return bool(changed)
    start = time.perf_counter(); head, rows = build(); old = json.loads(OUT.read_text(encoding="utf8")) if OUT.is_file() else {}
    if old.get("entries") == rows and (then := old.get("provenance", {})) | {"date": ""} == head["provenance"] | {"date": ""}: head["provenance"]["date"] = then["date"]      # nothing new: the same file
    atomic_write(OUT, text(head, rows))
    senses = [s for r in rows for s in r[3:]]
    print(f"항목 {len(senses)}, 사람의 말 {len(rows)} (구 {sum(' ' in r[1] for r in rows)}), 규정의 말 {len({s[0] for s in senses})}, 물음 {head['provenance']['wordings']}, {OUT.stat().st_size/1e6:.2f} MB, {time.perf_counter() - start:.0f}초")

if __name__ == "__main__": kept.run(main)
