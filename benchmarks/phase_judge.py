"""Does the judge by rules (phase 4) agree with what is known? Against word overlap: python benchmarks/phase_judge.py [--slice]

Correctness, completeness and citations on hanbit test, whose answers were written right, reworded, or false in one sentence; segments of a
chatbot's answers that were read against their passages (data/chatbot, needs of hanbit train); claims on texts that the rules were not written
for (data/claims dev). Before: overlap of content morphemes, with the threshold of the best balanced accuracy on dev (citations: is the cited
article among the passages?). After: the judge. Beside: kappa with its interval, and what always saying the commonest label reaches.
No language model judges here. Every second claim. `--slice`: every twentieth need, every fortieth claim.
"""
import argparse
import json
import re
from functools import lru_cache
from pathlib import Path

import numpy as np

from rag_quality.data import bundled
from rag_quality.judge.rules import judge_by_rules
from rag_quality.judge.verdicts import JudgeItem
from rag_quality.korean import content_morphemes
from rag_quality.metrics import number
from rag_quality.metrics.agreement import agreement

import changes
import kept

DATA = Path(__file__).resolve().parent.parent/"data"
CITED = re.compile(r"제(\d+)조(?!의)")


def read(name):
    return [json.loads(line) for line in (DATA/name).read_text(encoding="utf8").splitlines() if line.strip()]


@lru_cache(maxsize=8192)
def forms(text):
    return frozenset(content_morphemes(text))


def covered(text, texts):
    "The share of a text's content morphemes that stand in the others."
    mine = forms(text)
    return len(mine & frozenset().union(*map(forms, texts)))/max(len(mine), 1)


def threshold(scores, right):
    "Where the mean of both classes' accuracy is best."
    scores, right = np.array(scores, float), np.array(right, bool)
    return max((float(((scores[right] >= t).mean() + (scores[~right] < t).mean())/2), float(t)) for t in np.unique(scores.round(3)))[1]


def at_least(scores, t):
    return {k: None if s is None else s >= t for k, s in scores.items()}


class Task:
    "Items with their labels, the verdicts before and after, and what was sampled."
    def __init__(self, name, what="맞은 판정"):
        self.name, self.what = name, what
        self.labels, self.units, self.before, self.after = {}, {}, {}, {}

    def add(self, key, unit, label, before, after):
        self.labels[key], self.units[key], self.before[key], self.after[key] = label, unit, before, after

    def verdicts(self, t_before, t_after):
        self.before, self.after = at_least(self.before, t_before), at_least(self.after, t_after)
        return self

    def row(self):
        "For `changes.table`: 1 where a verdict is the label; the points of a pair as they are."
        def right(verdicts):
            return {k: v if v is None or self.what == "고른 몫" else float(v == self.labels[k]) for k, v in verdicts.items()}
        b, a = right(self.before), right(self.after)
        return self.name, b, a, changes.paired(self.what, b, a, self.units)

    def agrees(self):
        "kappa and agreement of the judge with the labels, kappa of what stood before, share of the commonest label."
        out = {}
        for which, verdicts in (("심판", self.after), ("겹침", self.before)):
            found = agreement(verdicts, self.labels, groups=self.units)
            k = found["kappa"]
            out[which] = {"kappa": k.value, "95 %": [k.low, k.high], "맞은 판정": found["agreement"].value}
        return {**out, "가장 흔한 표지": found.majority_rate, "n": found.n, "필요": found.n_units}


def needs_of(split, every):
    return [n for n in read("hanbit/needs.jsonl") if n["split"] == split and n.get("lies")][::every]


def shown(need, texts):
    return tuple(texts[d] for d in need["relevant"] if d in texts)


def correctness(needs, texts):
    "(against the passages, against the reference, the pairs): tasks whose verdicts are still scores."
    alone, beside, pairs = Task("정확성: 조문에 비추어"), Task("정확성: 기준 답에 비추어"), Task("정확성: 둘 가운데 바른 답", "고른 몫")
    for i, n in enumerate(needs):
        passages, reference = shown(n, texts), n["paraphrase"]
        def scores(answer):
            return covered(answer, passages), judge_by_rules(JudgeItem(n["formal"], answer, passages)).correctness
        good, lies = scores(n["answer"]), [scores(lie["answer"]) for lie in n["lies"]]
        for k, bad in enumerate(lies):
            point = [.5 if g == b else float(g > b) for g, b in zip(good, bad)]
            pairs.add((n["need"], k), n["need"], True, *point)
        chosen = [(i + k) % len(lies) for k in range(2)]        # as many wrong answers as right ones
        alone.add((n["need"], "answer"), n["need"], True, *good)
        alone.add((n["need"], "reworded"), n["need"], True, *scores(reference))
        for k in chosen:
            alone.add((n["need"], k), n["need"], False, *lies[k])
        for key, label, answer in (("answer", True, n["answer"]), (chosen[0], False, n["lies"][chosen[0]]["answer"])):
            a, b = forms(answer), forms(reference)
            judged = judge_by_rules(JudgeItem(n["formal"], answer, (), reference)).correctness
            beside.add((n["need"], key), n["need"], label, 2*len(a & b)/max(len(a) + len(b), 1), judged)
    return alone, beside, pairs


def completeness(needs):
    "Is a key fact in an answer? Each fact beside its own reworded answer, and beside the one of the next need of the family."
    task, families = Task("완전성: 핵심 사실이 있나"), {}
    for n in needs:
        families.setdefault(n["family"], []).append(n)
    for n in needs:
        family = families[n["family"]]
        other = family[(family.index(n) + 1) % len(family)]
        for i, fact in enumerate(n["key_facts"]):
            for label, whose in ((True, n), *([(False, other)] if other is not n else [])):
                answer = whose["paraphrase"]
                judged = judge_by_rules(JudgeItem(n["formal"], answer, key_facts=(fact["fact"],)))
                there = all(e.says == "supports" for e in judged.evidence if e.criterion == "completeness")
                task.add((n["need"], i, label), n["need"], label, covered(fact["fact"], [answer]), there)
    return task


def citations(needs, passages):
    "The sentence with an answer's first citation as it is, and with the next article of the same regulation; both articles are shown."
    task, place = Task("인용: 댄 조가 그 말을 하나"), {p.doc_id: i for i, p in enumerate(passages)}
    texts = {p.doc_id: p.full_text for p in passages}
    for n in needs:
        sentence = next((s for s in re.split(r"(?<=\.)\s", n["answer"]) if "[" in s and CITED.search(s[s.index("["):])), None)
        here = [d for d in n["relevant"] if d in texts]
        if sentence is None or not here:
            continue
        m = CITED.search(sentence, sentence.index("["))
        ids = dict.fromkeys(here)
        cited = next((d for d in here if d.endswith(f":제{m[1]}조")), None)
        if cited is None:
            continue
        book = cited.split(":")[0]
        near = [p.doc_id for p in passages if p.doc_id.startswith(f"{book}:제") and re.fullmatch(r".*:제\d+조", p.doc_id) and p.doc_id not in ids]
        if not near:
            continue
        swapped = min(near, key=lambda d: abs(place[d] - place[cited]))
        other = sentence[:m.start()] + swapped.split(":")[1] + sentence[m.end():]
        contexts = tuple(texts[d] for d in (*here, swapped))
        for label, answer in ((True, sentence), (False, other)):
            spans = [e for e in judge_by_rules(JudgeItem(n["formal"], answer, contexts)).evidence if e.criterion == "citation_accuracy"]
            task.add((n["need"], label), n["need"], label, True, bool(spans) and spans[0].says == "supports")
    return task


def chatbot(every):
    "(segments of train needs with their labels, the threshold of overlap on the segments of dev needs)"
    split = {n["need"]: n["split"] for n in read("hanbit/needs.jsonl")}
    contexts, texts = {c["id"]: c for c in read("chatbot/contexts.jsonl")}, {p["id"]: p["text"] for p in read("chatbot/passages.jsonl")}
    answers = [a for a in read("chatbot/answers.jsonl") if a["context"].endswith("-1")]      # whole articles
    def judged(answer):
        return [(i, s) for i, s in enumerate(answer["segments"]) if s["label"] in "SPUC"]
    fit = []
    for a in answers:
        c = contexts[a["context"]]
        if split[c["need"]] == "dev":
            fit += [(covered(s["text"], [texts[p] for p in c["passages"]]), s["label"] == "S") for _, s in judged(a)]
    t = threshold(*zip(*fit))
    task = Task("챗봇의 답: 근거가 있나")
    for a in [a for a in answers if split[contexts[a["context"]]["need"]] == "train"][::every]:
        c, text, ends = contexts[a["context"]], "", []
        for s in a["segments"]:
            text += "" if not text or text.endswith("\n") else " "
            ends.append((len(text), len(text) + len(s["text"])))
            text += s["text"]
        passages = tuple(texts[p] for p in c["passages"])
        spans = [e for e in judge_by_rules(JudgeItem(c["query"], text, passages)).evidence
                 if e.criterion == "correctness" and e.source == "answer" and e.start is not None]
        for i, s in judged(a):
            says = [e.says for e in spans if e.start < ends[i][1] and e.end > ends[i][0]]
            task.add((a["id"], i), c["need"], s["label"] == "S", covered(s["text"], passages) >= t, all(v == "supports" for v in says))
    return task, t


def claims(every, t):
    "Claims on laws, rules and notices, with the threshold of the chatbot's segments."
    passages, task = {p["_id"]: p for p in read("claims/passages.jsonl")}, Task("처음 보는 글의 주장: 근거가 있나")
    for c in read("claims/dev.jsonl")[::every]:
        p = passages[c["passage"]]
        text = f"{p['title']}\n{p['text']}"
        spans = [e for e in judge_by_rules(JudgeItem("이 말이 맞나요?", c["claim"], (text,))).evidence
                 if e.criterion == "correctness" and e.source == "answer"]
        task.add(c["_id"], c["passage"], c["label"] == "supported", covered(c["claim"], [text]) >= t, all(e.says == "supports" for e in spans))
    return task


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--slice", action="store_true", help="every twentieth need, every fortieth claim")
    every, every_dev = (20, 12) if ap.parse_args().slice else (1, 4)
    passages = bundled().passages
    texts, test = {p.doc_id: p.full_text for p in passages}, needs_of("test", every)
    thresholds, tasks = {}, []
    for fitted, task in zip(correctness(needs_of("dev", every_dev), texts), correctness(test, texts)):
        if task.what == "맞은 판정":
            right = [fitted.labels[k] for k in fitted.labels]
            thresholds[task.name] = [threshold([values[k] or 0. for k in fitted.labels], right) for values in (fitted.before, fitted.after)]
            task.verdicts(*thresholds[task.name])
        tasks.append(task)
    fit = completeness(needs_of("dev", every_dev))
    task = completeness(test)
    t = threshold([fit.before[k] for k in fit.labels], [fit.labels[k] for k in fit.labels])
    thresholds[task.name] = [t, None]
    task.before = at_least(task.before, t)
    segments, t = chatbot(every)
    thresholds[segments.name] = [t, None]
    tasks += [task, citations(test, passages), segments, claims(2*every, t)]
    table = changes.table([t.row() for t in tasks])
    changes.show(table)
    agreed = {t.name: t.agrees() for t in tasks if t.what == "맞은 판정"}
    for name, a in agreed.items():
        k = a["심판"]
        low, high = (number(v) for v in k["95 %"])
        print(f"{name}: κ {number(k['kappa'])} [{low}, {high}], 겹침의 κ {number(a['겹침']['kappa'])}, 늘 흔한 표지 {a['가장 흔한 표지']:.3f}, n {a['n']} ({a['필요']})")
    kept.note(n=sum(len(t.labels) for t in tasks), judge=table, agreement=agreed, thresholds=thresholds)


if __name__ == "__main__":
    kept.run(main, split="test", seed=0)
