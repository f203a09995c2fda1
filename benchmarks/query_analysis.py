"""What `analyze_query` and `contextualize` get right.

usage: python benchmarks/query_analysis.py [--dev] [--errors N] [--slice]      the figures (hanbit test; --dev: hanbit dev)
       python benchmarks/query_analysis.py --write                             learn data/config/query_models.json anew (needs scikit-learn)

Kind of query, family and persona: the labels of data/hanbit/needs.jsonl, by wording, with Wilson intervals that take each wording alone and the majority
class beside it. A label is one for the need and its three wordings, so a wording may well be of another kind than its label; the first two guesses are given too.
benchmarks/query_types_read.jsonl: what a language model that did not see the labels takes 60 wordings of test for.
Learned from data/bank (family, kind, persona) and hanbit dev (kind, persona): a figure of --dev is of the fit. Follow-ups: benchmarks/contextualize.jsonl.
"""
import argparse, json, time
from collections import Counter
from pathlib import Path
from statistics import NormalDist, median

from rag_quality.knowledge.contextualize import contextualize
from rag_quality.core import save_config
from rag_quality.knowledge.questions import PERSONAS, analyze_query, persona_features
from rag_quality.knowledge.topics import _index, topic_features
from rag_quality.knowledge.questions import TYPES, asked_for, query_types, type_features

import kept

HERE = Path(__file__).parent
WORDINGS = {"colloquial": "구어 1", "colloquial2": "구어 2", "formal": "문어"}
# the families that a file of the bank may speak of: its own words decide among them; a file not named here may speak of all
OF_FILE = {"교원연구": "교원 연구", "직원행정": "직원 행정", "대학원국제": "대학원 대외 학생지원 연구", "장학등록": "장학 등록금 학생지원 학적", "학적": "학적 성적 대학원",
           "생활인권": "생활관 도서관 학생지원 징계 인권 행정 연구", "수업성적": "성적 대외 학생지원", "입학기타": "대외 행정 학생지원", "교원산학": "교원 연구 대외", "행정기관": "행정 직원",
           "학생일반": "학적 성적 장학 등록금 학생지원 생활관 도서관 징계 인권 대외"}

def rows(path): return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines() if line.strip()]

def interval(right, n):
    z = NormalDist().inv_cdf(.975); p = right/n; mid, half = p + z*z/(2*n), z*((p*(1-p)/n + z*z/(4*n*n))**.5)
    return f"{p:.3f} [{(mid-half)/(1+z*z/n):.3f}, {(mid+half)/(1+z*z/n):.3f}]"

def line(name, gold, guesses, least=None):
    "Accuracy of the first guess, of the first two, share without a guess, majority class."
    n = len(gold); first = sum(g == (p[0] if p else None) for g, p in zip(gold, guesses)); two = sum(g in p[:2] for g, p in zip(gold, guesses)); common = Counter(gold).most_common(1)[0]
    print(f"{name:22} {interval(first, n)}  둘 가운데 {two/n:.3f}  답하지 않음 {sum(not p for p in guesses)/n:.3f}  가장 흔한 것만({common[0]}) {common[1]/n:.3f}  n={n}" + (f"  목표 {least}" if least else ""))

def measure(needs, errors):
    by = {w: [(n, analyze_query(n[w])) for n in needs] for w in WORDINGS}
    for title, key, guess in (("물음의 갈래", "query_type", lambda a: [t.name for t in a.types]), ("규정의 갈래", "family", lambda a: [f for f, _ in a.families] if a.family else []), ("묻는 이", "persona", lambda a: [p for p, _, _ in a.personas if p != "외국인 유학생"])):
        print(f"== {title} ({key})")
        for w, label in WORDINGS.items(): line(label, [n[key] for n, _ in by[w]], [guess(a) for _, a in by[w]])
        both = [(n[key], guess(a)) for w in WORDINGS for n, a in by[w]]; line("모두", [g for g, _ in both], [p for _, p in both], .85 if key == "query_type" else None)
        told = [(g, p) for g, p in both if p]; print("  답한 것만: ", interval(sum(g == p[0] for g, p in told), len(told)), f"n={len(told)}")
        if key == "query_type":
            for t in TYPES:
                mine = [p for g, p in both if g == t]; print(f"  {t:8} 맞힘 {sum(p[:1] == [t] for p in mine)}/{len(mine)}  둘 가운데 {sum(t in p[:2] for p in mine)}/{len(mine)}  흔히 잘못 본 것 {Counter(p[0] for p in mine if p and p[0] != t).most_common(2)}")
    found = [(n, a) for w in WORDINGS for n, a in by[w]]
    asked = [(set(c for c, _ in asked_for(n["formal"])), set(a.contexts)) for n in needs for a in (analyze_query(n["colloquial"]), analyze_query(n["colloquial2"]))]
    asked = [(g, p) for g, p in asked if g]; print(f"== 묻는 것: 구어에서 본 것 가운데 같은 필요의 문어에서도 본 것이 있음 {interval(sum(bool(g & p) for g, p in asked), len(asked))} n={len(asked)}")
    print(f"== 주제: 단서를 들은 질의 {sum(a.topic is not None for _, a in found)}/{len(found)}; 세 겹의 의도를 지은 질의 {sum(a.intent is not None for _, a in found)}/{len(found)}")
    for n, a in found[:: max(len(found)//errors, 1)][:errors] if errors else []: print("  ", a.query, "|", n["family"], a.family, "|", n["query_type"], a.query_type, "|", n["persona"], a.personas[:1])

def readers(needs, path):
    "A language model read 60 wordings of hanbit test without their labels and named a kind: how far labels and readers agree bounds what can be asked of rules."
    by = {n["need"]: n for n in needs}; found = [(by[r["need"]]["query_type"], r["read"], query_types(by[r["need"]][r["wording"]])[0].name) for r in rows(path) if r["need"] in by]
    if found: print(f"== 표지를 보지 않고 읽은 이(언어 모델)와 표지 {interval(sum(g == r for g, r, _ in found), len(found))}; 같은 말에서 이 규칙과 표지 {interval(sum(g == m for g, _, m in found), len(found))}; 읽은 이와 규칙 {sum(r == m for _, r, m in found)/len(found):.3f}  n={len(found)}")

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

def fitted(features, labels, counts, C=.1, bayes=0., least=4):
    "(vectorizer, classes, weights, bias): a logistic regression, with `bayes` times the weights of naive Bayes."
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import MultinomialNB
    vector = CountVectorizer(analyzer=lambda f: sorted(set(f)), min_df=least, binary=True); x = vector.fit_transform(features)
    m = LogisticRegression(C=C, max_iter=500).fit(x, labels, sample_weight=counts); w = m.coef_
    if bayes: nb = MultinomialNB(alpha=.3, fit_prior=False).fit(x, labels).feature_log_prob_; w = w + bayes*(nb - nb.mean(0))
    return vector, list(m.classes_), w, m.intercept_

def packed(vector, classes, weights, bias, scale=100, small=10):
    "The weights as whole numbers of 1/scale, without the features that say little."
    table = {f: [round(v*scale) for v in weights[:, j]] for j, f in enumerate(vector.get_feature_names_out())}
    return {"classes": classes, "scale": scale, "bias": [round(b*scale) for b in bias], "weights": {f: " ".join(map(str, w)) for f, w in table.items() if max(map(abs, w)) >= small}}

def as_in(labels, wanted):
    "Counts that give labels the shares of `wanted`; a label that is not there keeps its own."
    have, want = Counter(labels), Counter(wanted)
    return [want[l]/len(wanted)/(have[l]/len(labels)) if l in want else 1. for l in labels]

def with_dev(bank, dev, make):
    "Rows of the bank, weighted to the shares of dev, and of dev: what a model of kind or persona is fitted on."
    features = [make(t) for t, _ in bank] + [make(t) for t, _ in dev]
    return features, [l for _, l in bank] + [l for _, l in dev], [.3*c for c in as_in([l for _, l in bank], [l for _, l in dev])] + [.6]*len(dev)

def folds(bank, dev, make, k=5):
    "Agreement on dev, by need, with a model that saw the other folds and the bank."
    right = two = 0; features, labels, counts = with_dev(bank, dev, make); n = len(bank)
    for f in range(k):
        inside = [i for i in range(len(features)) if i < n or (i - n)//len(WORDINGS) % k != f]; outside = [i for i in range(n, len(features)) if (i - n)//len(WORDINGS) % k == f]
        vector, classes, w, bias = fitted([features[i] for i in inside], [labels[i] for i in inside], [counts[i] for i in inside]); z = vector.transform([features[i] for i in outside]) @ w.T + bias
        for i, row in zip(outside, z): order = [classes[j] for j in row.argsort()[::-1][:2]]; right += labels[i] == order[0]; two += labels[i] in order
    return right, two, len(dev)

def write():
    bank = [(need, path.stem) for path in sorted((HERE.parent/"data/bank").glob("*.jsonl")) for need in rows(path)]
    dev = [n for n in rows(HERE.parent/"data/hanbit/needs.jsonl") if n["split"] == "dev"]
    family = [(t, f) for need, name in bank if (f := family_of(need, name)) for t in (need["formal"], *(l["text"] for l in need["lay"]))]
    size = Counter(f for _, f in family); models = {"family": packed(*fitted([topic_features(t)[0] for t, _ in family], [f for _, f in family], [len(family)/len(size)/size[f] for _, f in family], bayes=.3))}
    said = [(t, need["type"]) for need, _ in bank if need["type"] in TYPES for t in (need["formal"], *(l["text"] for l in need["lay"]))]
    asker = [(l["text"], l["persona"]) for need, _ in bank for l in need["lay"] if l["persona"] in PERSONAS]
    for name, rest, make in (("query_type", said, lambda t: type_features(t)[0]), ("persona", asker, persona_features)):
        own = [(n[w], n[name]) for n in dev for w in WORDINGS]; right, two, n = folds(rest, own, make)
        print(f"{name}: dev에서 필요를 다섯으로 나누어 {interval(right, n)}, 둘 가운데 {two/n:.3f}, n={n}"); models[name] = packed(*fitted(*with_dev(rest, own, make)))
    save_config("query_models", {"version": "1.0.0", "description": "질의의 갈래(family, query_type, persona)의 무게: 특징마다 갈래의 순서로, 1/scale의 정수. 쓰는 곳: rag_quality.knowledge.topics, query_types, query_analysis",
                "provenance": {"fitted_on": f"data/bank의 필요 {len(bank)}가지(family, query_type, persona), data/hanbit dev의 필요 {len(dev)}가지(query_type, persona)", "method": "로지스틱 회귀(L2, C 0.1), family는 나이브 베이즈의 무게 0.3을 더함. family의 표지는 은행의 문어 질의에서 intents.json의 용어로 붙임", "command": "python benchmarks/query_analysis.py --write"}, "models": models})
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
