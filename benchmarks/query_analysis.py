"""What `analyze_query` and `contextualize` get right.

usage: python benchmarks/query_analysis.py [--dev] [--errors N] [--slice]      the figures (hanbit test; --dev: hanbit dev)
       python benchmarks/query_analysis.py --write                             learn data/config/query_models.json anew (needs scikit-learn)

Kind of query: what data/hanbit/needs.jsonl says of each wording read alone (`query_types`), beside the commonest kind of that set, the same signs
in the order in which a person would ask them (`by_rules`), and the labels by need, which are one for three wordings. Fitted on train and dev; --dev is of the fit.
benchmarks/query_types_read.jsonl: what a language model that did not see the labels takes 60 wordings of test for.
Family: the label of the need; learned from data/domains/campus. Who asks: how often it is told, and told right. Follow-ups: benchmarks/contextualize.jsonl.
"""
import argparse, json, time
from collections import Counter
from math import comb
from pathlib import Path
from statistics import NormalDist, median

import numpy as np

from rag_quality.knowledge.contextualize import contextualize
from rag_quality.core import save_config
from rag_quality.knowledge.questions import analyze_query
from rag_quality.knowledge.topics import _index, topic_features
from rag_quality.knowledge.questions import TYPES, asked_for, persona_signs, query_types, type_signs

import kept

HERE = Path(__file__).parent
WORDINGS = {"colloquial": "구어 1", "colloquial2": "구어 2", "formal": "문어"}
UNSHOWN = ("모호한 질문", "은어/축약어")      # kinds that no sign shows: what is learned without them is right as often (in folds of train and dev)
MARK = {"colloquial": "c", "colloquial2": "d", "formal": "f"}      # of a wording in `query_types` of a need
# the families that a file of the bank may speak of: its own words decide among them; a file not named here may speak of all
OF_FILE = {"교원연구": "교원 연구", "직원행정": "직원 행정", "대학원국제": "대학원 대외 학생지원 연구", "장학등록": "장학 등록금 학생지원 학적", "학적": "학적 성적 대학원",
           "생활인권": "생활관 도서관 학생지원 징계 인권 행정 연구", "수업성적": "성적 대외 학생지원", "입학기타": "대외 행정 학생지원", "교원산학": "교원 연구 대외", "행정기관": "행정 직원",
           "학생일반": "학적 성적 장학 등록금 학생지원 생활관 도서관 징계 인권 대외"}

def rows(path): return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines() if line.strip()]

def bounds(right, n):
    "Wilson's 95 % interval."
    z = NormalDist().inv_cdf(.975); p = right/n; mid, half = p + z*z/(2*n), z*((p*(1-p)/n + z*z/(4*n*n))**.5)
    return (mid-half)/(1+z*z/n), (mid+half)/(1+z*z/n)

def interval(right, n):
    low, high = bounds(right, n)
    return f"{right/n:.3f} [{low:.3f}, {high:.3f}]"

def line(name, gold, guesses, least=None):
    "Accuracy of the first guess, of the first two, share without a guess, majority class."
    n = len(gold); first = sum(g == (p[0] if p else None) for g, p in zip(gold, guesses)); two = sum(g in p[:2] for g, p in zip(gold, guesses)); common = Counter(gold).most_common(1)[0]
    print(f"{name:22} {interval(first, n)}  둘 가운데 {two/n:.3f}  답하지 않음 {sum(not p for p in guesses)/n:.3f}  가장 흔한 것만({common[0]}) {common[1]/n:.3f}  n={n}" + (f"  목표 {least}" if least else ""))

RULES = (("물음 여럿", "복합 질문"), ("의문사 두 가지", "복합 질문"), ("불평·걱정", "감정 표현"), ("감정 2", "감정 표현"), ("견줌", "비교 질문"), ("나열", "복합 질문"),
         ("할 일", "절차 질문"), ("되는 일", "자격 확인"))

def by_rules(text):
    "The kind by the first sign that is there; what is left asks for a fact."
    signs = type_signs(text)
    return next((kind for sign, kind in RULES if sign in signs), "사실 확인")

def mcnemar(a, b):
    "Two-sided exact p of two lists of right and wrong on the same queries."
    one, other = sum(x and not y for x, y in zip(a, b)), sum(y and not x for x, y in zip(a, b))
    n, k = one + other, min(one, other)
    return min(1., 2*sum(comb(n, i) for i in range(k + 1))/2**n) if n else 1.

def kinds(needs):
    "How far the kinds that are told are those that are read, beside rules and the commonest."
    said = [(n, w, n["query_types"][MARK[w]]) for n in needs for w in WORDINGS]
    guesses = [[t.name for t in query_types(n[w])] for n, w, _ in said]
    gold, rules = [g for _, _, g in said], [by_rules(n[w]) for n, w, _ in said]
    print("== 물음의 갈래 (말마다 읽은 것)")
    for w, label in WORDINGS.items():
        line(label, [g for g, (_, x, _) in zip(gold, said) if x == w], [p for p, (_, x, _) in zip(guesses, said) if x == w])
    line("모두", gold, guesses, .85)
    learned, ruled = [g == p[0] for g, p in zip(gold, guesses)], [g == r for g, r in zip(gold, rules)]
    common = Counter(gold).most_common(1)[0][0]
    always = [g == common for g in gold]
    print(f"  같은 표지의 규칙 {interval(sum(ruled), len(gold))}  배운 무게가 나은 질의 {sum(l and not r for l, r in zip(learned, ruled))}, 못한 질의 {sum(r and not l for l, r in zip(learned, ruled))}, p={mcnemar(learned, ruled):.2g}; 가장 흔한 것에 대해 p={mcnemar(learned, always):.2g}")
    for t in TYPES:
        mine = [p for g, p in zip(gold, guesses) if g == t]; print(f"  {t:8} 맞힘 {sum(p[0] == t for p in mine)}/{len(mine)}  말한 것 {sum(p[0] == t for p in guesses)}  흔히 잘못 본 것 {Counter(p[0] for p in mine if p[0] != t).most_common(2)}")
    line("필요에 붙은 갈래", [n["query_type"] for n, _, _ in said], guesses)
    table = {name: dict(zip(("맞힘", "n"), (sum(right)/len(right), len(right)))) for name, right in ((f"가장 흔한 것({common})만", always), ("표지의 규칙", ruled), ("표지의 무게", learned))}
    for name, right in (("가장 흔한 것(%s)만" % common, always), ("표지의 규칙", ruled), ("표지의 무게", learned)):
        table[name] |= dict(zip(("아래", "위"), bounds(sum(right), len(right)))) | {"p (표지의 무게와)": None if right is learned else mcnemar(learned, right)}
    return table

def askers(needs):
    "Who is told to ask, and how often rightly, by wording."
    table = {}
    print("== 묻는 이 (스스로 밝힌 말)")
    for w, label in WORDINGS.items():
        told = [(next(iter(found)), n["persona"]) for n in needs if (found := persona_signs(n[w]))]
        right = sum(p == g for p, g in told)
        table[label] = {"n": len(needs), "말함": len(told), "맞음": right}
    table["모두"] = {k: sum(row[k] for row in table.values()) for k in ("n", "말함", "맞음")}
    for label, row in table.items():
        print(f"{label:5} 말함 {row['말함']/row['n']:.3f}  말한 것 가운데 맞음 {interval(row['맞음'], row['말함']) if row['말함'] else '–'}  n={row['n']}")
    return table

def measure(needs, errors):
    by = {w: [(n, analyze_query(n[w])) for n in needs] for w in WORDINGS}
    kept.note(n=len(needs)*len(WORDINGS), kinds=kinds(needs), askers=askers(needs))
    print("== 규정의 갈래 (family)")
    def families(a): return [f for f, _ in a.families] if a.family else []
    for w, label in WORDINGS.items(): line(label, [n["family"] for n, _ in by[w]], [families(a) for _, a in by[w]])
    both = [(n["family"], families(a)) for w in WORDINGS for n, a in by[w]]; line("모두", [g for g, _ in both], [p for _, p in both])
    told = [(g, p) for g, p in both if p]; print("  답한 것만: ", interval(sum(g == p[0] for g, p in told), len(told)), f"n={len(told)}")
    found = [(n, a) for w in WORDINGS for n, a in by[w]]
    asked = [(set(c for c, _ in asked_for(n["formal"])), set(a.contexts)) for n in needs for a in (analyze_query(n["colloquial"]), analyze_query(n["colloquial2"]))]
    asked = [(g, p) for g, p in asked if g]; print(f"== 묻는 것: 구어에서 본 것 가운데 같은 필요의 문어에서도 본 것이 있음 {interval(sum(bool(g & p) for g, p in asked), len(asked))} n={len(asked)}")
    print(f"== 주제: 단서를 들은 질의 {sum(a.topic is not None for _, a in found)}/{len(found)}; 세 겹의 의도를 지은 질의 {sum(a.intent is not None for _, a in found)}/{len(found)}")
    for n, a in found[:: max(len(found)//errors, 1)][:errors] if errors else []: print("  ", a.query, "|", n["family"], a.family, "|", n["query_type"], a.query_type, "|", n["persona"], a.personas[:1])

def readers(needs, path):
    "A language model read 60 wordings of hanbit test without their labels and named a kind: how far labels and readers agree bounds what can be asked of rules."
    by = {n["need"]: n for n in needs}
    found = [(r["read"], by[r["need"]]["query_types"][MARK[r["wording"]]], query_types(text)[0].name, by_rules(text)) for r in rows(path) if r["need"] in by and (text := by[r["need"]][r["wording"]])]
    if not found: return
    n = len(found)
    print(f"== 표지를 보지 않고 읽은 이(언어 모델)와 말마다의 표지 {interval(sum(r == g for r, g, _, _ in found), n)}; 같은 말에서 배운 무게와 읽은 이 {interval(sum(r == m for r, _, m, _ in found), n)}; 규칙과 읽은 이 {sum(r == m for r, _, _, m in found)/n:.3f}  n={n}")

def speed(texts):
    for t in texts[:20]: analyze_query(t)
    took = []
    for t in texts:
        t = t + " "; start = time.perf_counter(); analyze_query(t); took.append((time.perf_counter() - start)*1000)
    took.sort(); print(f"== 걸린 시간: 중앙값 {median(took):.1f} ms, 95 % {took[int(len(took)*.95)]:.1f} ms  목표 3 ms")

def follow_ups(path, errors):
    found = rows(path)
    for split in ("dev", "test", "dev2", "fresh"):
        part = [r for r in found if r["split"] == split]; ask, alone = [r for r in part if r["wanted"]], [r for r in part if not r["wanted"]]
        out = [(r, contextualize(r["query"], r["history"])) for r in ask]
        whole = [all(_holds(c.text, w) for w in r["wanted"]) and not any(_holds(c.text, w) for w in r.get("unwanted", ())) for r, c in out]
        kept = [contextualize(r["query"], r["history"]).text == r["query"] for r in alone]
        words = [sum(_holds(c.text, w) for w in r["wanted"])/len(r["wanted"]) for r, c in out]; bare = [all(_holds(r["query"], w) for w in r["wanted"]) for r in ask]
        print(f"== 이어 묻기 {split}: 바라는 낱말이 모두 있음 {interval(sum(whole), len(whole))} n={len(whole)} (그대로 두면 {sum(bare)/len(bare):.3f}), 낱말의 몫 {sum(words)/len(words):.3f}; 홀로 서는 말을 그대로 둠 {interval(sum(kept), len(kept))} n={len(kept)}")
        for r, c in [(r, c) for (r, c), ok in zip(out, whole) if not ok][:errors] if split.startswith("dev") else []: print("   바랐음", r["wanted"], "|", r["query"], "->", c.text)
        for r in [r for r, ok in zip(alone, kept) if not ok][:errors] if split.startswith("dev") else []: print("   건드림", r["query"], "->", contextualize(r["query"], r["history"]).text)

def _holds(text, word): return word in text or word.replace(" ", "") in text.replace(" ", "")

# ---- learning

def family_of(need, name):
    "The family of a need of the bank: that of the regulation's words in its topic and its formal wording, among those of its file."
    index, score, allowed = _index(), Counter(), OF_FILE.get(name, "").split()
    for text, counts in ((need["topic"], 2), (need["formal"], 1.5), (" , ".join(need["terms"]), 1)):
        features, heard = topic_features(text)
        for f, v in index.families(dict.fromkeys(features, ()), heard).items(): score[f] += counts*v*(not allowed or f in allowed)
    return score.most_common(1)[0][0] if any(score.values()) else (allowed or [None])[0]

def fitted(features, labels, counts, C, bayes=0., least=4):
    "(vectorizer, classes, weights, bias): a logistic regression, with `bayes` times the weights of naive Bayes."
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import MultinomialNB
    vector = CountVectorizer(analyzer=lambda f: sorted(set(f)), min_df=least, binary=True); x = vector.fit_transform(features)
    m = LogisticRegression(C=C, max_iter=1000).fit(x, labels, sample_weight=counts); w = m.coef_
    if bayes: nb = MultinomialNB(alpha=.3, fit_prior=False).fit(x, labels).feature_log_prob_; w = w + bayes*(nb - nb.mean(0))
    return vector, list(m.classes_), w, m.intercept_

def packed(vector, classes, weights, bias, scale=10, small=0., least=0.):
    """The weights as 'class number:whole number of 1/scale'. A feature's median is taken from its weights, which changes no probability where no other
    weight is left out; then those under `small` go, and the features none of whose weights reaches `least`."""
    table = {}
    for f, w in zip(vector.get_feature_names_out(), (weights - np.median(weights, axis=0)).T):
        row = {i: round(v*scale) for i, v in enumerate(w) if abs(v) >= small and round(v*scale)}
        if row and max(map(abs, row.values())) >= least*scale: table[f] = " ".join(f"{i}:{v}" for i, v in row.items())
    return {"classes": classes, "scale": scale, "bias": [round(b*scale) for b in bias], "weights": table}

def folds(features, labels, k=5, **how):
    "Agreement by need (three wordings each) with a model that saw the other folds."
    right = 0
    for f in range(k):
        inside = [i for i in range(len(features)) if i//len(WORDINGS) % k != f and labels[i] not in UNSHOWN]; outside = [i for i in range(len(features)) if i//len(WORDINGS) % k == f]
        vector, classes, w, bias = fitted([features[i] for i in inside], [labels[i] for i in inside], None, **how)
        z = vector.transform([features[i] for i in outside]) @ w.T + bias
        right += sum(labels[i] == classes[row.argmax()] for i, row in zip(outside, z))
    return right, len(features)

def write():
    bank = [(need, path.stem) for path in sorted((HERE.parent/"data/domains/campus").glob("*.jsonl")) for need in rows(path)]
    read = [n for n in rows(HERE.parent/"data/hanbit/needs.jsonl") if n["split"] != "test"]
    family = [(t, f) for need, name in bank if (f := family_of(need, name)) for t in (need["formal"], *(l["text"] for l in need["lay"]))]
    size = Counter(f for _, f in family)
    models = {"family": packed(*fitted([topic_features(t)[0] for t, _ in family], [f for _, f in family], [len(family)/len(size)/size[f] for _, f in family], C=.1, bayes=.3), small=.5, least=.5)}
    signs, labels = [list(type_signs(n[w])) for n in read for w in WORDINGS], [n["query_types"][MARK[w]] for n in read for w in WORDINGS]
    shown = [i for i, label in enumerate(labels) if label not in UNSHOWN]
    print(f"query_type: train과 dev에서 필요를 다섯으로 나누어 {interval(*folds(signs, labels, C=1.))}, n={len(labels)}")
    models["query_type"] = packed(*fitted([signs[i] for i in shown], [labels[i] for i in shown], None, C=1.), scale=100)
    save_config("query_models", {"version": "2.0.0", "description": "질의의 갈래(family, query_type)의 무게: 특징마다 '갈래의 번호:무게', 무게는 1/scale의 정수. 쓰는 곳: rag_quality.knowledge.topics, questions",
                "provenance": {"fitted_on": f"family: data/domains/campus의 필요 {len(bank)}가지, query_type: data/hanbit train·dev의 필요 {len(read)}가지의 말마다의 갈래", "method": "로지스틱 회귀(L2; family C 0.1, query_type C 1), family는 나이브 베이즈의 무게 0.3을 더하고 가운데 값에서 0.5가 안 되는 무게를 뺌. family의 표지는 은행의 문어 질의에서 intents.json의 용어로 붙임", "command": "python benchmarks/query_analysis.py --write"}, "models": models})
    print({k: len(m["weights"]) for k, m in models.items()})

def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--dev", action="store_true"); ap.add_argument("--errors", type=int, default=0); ap.add_argument("--slice", action="store_true"); ap.add_argument("--write", action="store_true")
    args = ap.parse_args()
    if args.write: return write()
    needs = [n for n in rows(HERE.parent/"data/hanbit/needs.jsonl") if n["split"] == ("dev" if args.dev else "test")]
    if args.slice: needs = needs[:40]
    print(f"한빛 {'dev' if args.dev else 'test'}의 필요 {len(needs)}가지" + (" (배운 자료)" if args.dev else ""))
    measure(needs, args.errors); readers(needs, HERE/"query_types_read.jsonl"); speed([n[w] for n in needs for w in WORDINGS]); follow_ups(HERE/"contextualize.jsonl", args.errors)

if __name__ == "__main__": kept.run(main, split="test")
