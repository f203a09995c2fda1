"""Does the persona test (phase 8) find what is wrong with a bot, and is what it says right? python benchmarks/phase_persona.py [--slice]

Fact check: answers to the needs of hanbit test that are right, that a rule made wrong in one place (`persona_fact_check.planted`), that a language
model made wrong in one sentence (`lies`), that say the right thing in other words (`paraphrase`); and whole answers in the manner of chatbots
(data/chatbot, needs of hanbit train, every second), wrong where a reader found one segment without support. Before: overlap of content morphemes of the poorest
sentence with the five articles that a word search finds for the answer, with the threshold of the best balanced accuracy on dev. After: the check.
Breaks of a dialogue: data/dialogues test (written beside the checker's rules) and the dialogues of data/hanbit (not). Before: overlap of an answer
with all that was said before, threshold of data/dialogues dev. Diagnosis: one component of our own pipeline broken at a time, sessions of 30 questions
and 8 dialogues (`persona_faults`), of a fault with two severities the lighter; before: always the component that is broken most often. No language model is asked.
`--slice`: every twentieth need, every fortieth chatbot answer, every fourth dialogue, one fault.
"""
import argparse
import re
from collections import Counter

from rag_quality.answering.answers import Answer
from rag_quality.core import bundle_path
from rag_quality.experiment.components import OwnPipeline, Parts
from rag_quality.persona.fact_check import AutoFactChecker
from rag_quality.persona.failures import suspects
from rag_quality.persona.simulator import check_context
from rag_quality.persona.stages import Tester
from rag_quality.retrieval import BM25Index

import changes
import kept
import persona_fact_check
import persona_faults
from phase_judge import DATA, covered, read, threshold

SENTENCE = re.compile(r"(?<=[.!?\]])\s+|\n+")
SEED = 11      # of the faults with two severities the lighter one


class Task:
    "Items with their unit, what is right, and what was said before and after; None: nothing said."
    def __init__(self, name, what):
        self.name, self.what = name, what
        self.units, self.labels, self.before, self.after = {}, {}, {}, {}

    def add(self, key, unit, label, before, after):
        self.units[key], self.labels[key], self.before[key], self.after[key] = unit, label, before, after

    def row(self):
        b, a = ({k: float(v == self.labels[k]) for k, v in said.items()} for said in (self.before, self.after))
        return self.name, b, a, changes.paired(self.what, b, a, self.units)

    def shares(self):
        "(right among the items whose label is True, among those whose label is False), after; None where there are none."
        def mean(label):
            found = [self.after[k] == label for k, v in self.labels.items() if v is label]
            return sum(found)/len(found) if found else None
        return {"옳은 것을 옳다고": mean(True), "그른 것을 그르다고": mean(False), "n": len(self.labels)}


class Answers:
    "Overlap and fact check of an answer, each against the whole collection."
    def __init__(self, corpus):
        self.texts = {p.doc_id: p.full_text for p in corpus}
        self.index, self.checker = BM25Index(corpus), AutoFactChecker(corpus)

    def overlap(self, text):
        "0..1: the poorest sentence of an answer, against the five articles found for all of it."
        found = [self.texts[d] for d, _ in self.index.search(text, 5)]
        sentences = [s for s in SENTENCE.split(text) if re.search("[가-힣]{2}", re.sub(r"\[[^\]]*\]", "", s))]
        return min((covered(s, found) for s in sentences or [text]), default=0.)

    def passes(self, query, text):
        "Is nothing of it refuted? A check that could not be made is no pass."
        r = self.checker.check(query, Answer(text, 1.))
        return r.performed and r.passed is not False


def planted_one(needs, corpus):
    "need -> its answer with one error by rule, the kinds in turn."
    made = {}
    for i, kind, text, _ in persona_fact_check.planted([n["answer"] for n in needs], corpus, 1):
        made.setdefault(i, {})[kind] = text
    kinds, out = list(persona_fact_check.KINDS), {}
    for i, n in enumerate(needs):
        if here := made.get(i):
            out[n["need"]] = here[min(here, key=lambda k: (kinds.index(k) - i) % len(kinds))]
    return out


def needs_of(split, every):
    needs, corpus = persona_fact_check.load(bundle_path("hanbit"), split)
    return [n for n in needs if n.get("lies")][::every], corpus


def versions(n, i, planted):
    "(version, is it right, its text)"
    yield "answer", True, n["answer"]
    yield "paraphrase", True, n["paraphrase"]
    yield "lie", False, n["lies"][i % len(n["lies"])]["answer"]
    if n["need"] in planted:
        yield "planted", False, planted[n["need"]]


def fact_check(every):
    "(the tasks on needs of test, the kinds of lie -> (found, n), the threshold)"
    dev, corpus = needs_of("dev", every)
    test, _ = needs_of("test", every)
    answers = Answers(corpus)
    planted = planted_one(dev, corpus)
    fit = [(answers.overlap(text), right) for i, n in enumerate(dev) for _, right, text in versions(n, i, planted)]
    t = threshold(*zip(*fit))
    by_rule = Task("규칙으로 심은 잘못", "맞은 판정")
    by_model = Task("언어 모델이 지은 거짓 한 문장", "맞은 판정")
    reworded = Task("바르게 풀어 쓴 답이 통과", "통과한 몫")
    kinds, planted = {}, planted_one(test, corpus)
    for i, n in enumerate(test):
        query = " ".join(n.get(k) or "" for k in ("formal", "colloquial", "colloquial2"))
        said = {v: (right, answers.overlap(text) >= t, answers.passes(query, text)) for v, right, text in versions(n, i, planted)}
        for version, task in (("planted", by_rule), ("lie", by_model), ("paraphrase", reworded)):
            if version not in said:
                continue
            task.add((n["need"], version), n["need"], *said[version])
            if version != "paraphrase":
                task.add((n["need"], "answer"), n["need"], *said["answer"])
        kind = n["lies"][i % len(n["lies"])]["kind"]
        kinds.setdefault(kind, []).append(not said["lie"][2])
    return [by_rule, by_model, reworded], {k: (sum(v), len(v)) for k, v in sorted(kinds.items())}, t


def chatbot(every):
    "(whole answers of needs of hanbit train, the threshold of the answers of needs of dev)"
    split = {n["need"]: n["split"] for n in read("hanbit/needs.jsonl")}
    contexts = {c["id"]: c for c in read("chatbot/contexts.jsonl")}
    answers = Answers(needs_of("dev", 1)[1])

    def texts(which, every):
        for a in [a for a in read("chatbot/answers.jsonl") if split[contexts[a["context"]]["need"]] == which][::every]:
            yield a, " ".join(s["text"] for s in a["segments"]), not any(s["label"] in "PUC" for s in a["segments"])
    t = threshold(*zip(*((answers.overlap(text), right) for _, text, right in texts("dev", max(4, every)))))
    task = Task("챗봇 투의 답: 근거 없는 말이 있나", "맞은 판정")
    for a, text, right in texts("train", every):
        c = contexts[a["context"]]
        task.add(a["id"], c["need"], right, answers.overlap(text) >= t, answers.passes(c["query"], text))
    return task, t


def said_before(turns, k):
    return [text for t in turns[:k] for text in (t["user"], t["assistant"])] + [turns[k]["user"]]


def dialogues(every):
    "(the tasks of found breaks and of turns left alone, on both sets; the threshold)"
    fit = []
    for r in read("dialogues/dev.jsonl")[::every]:
        for k in range(1, len(r["turns"])):
            kept_ = not (r["break"] and r["break"]["turn"] == k + 1)
            fit.append((covered(r["turns"][k]["assistant"], said_before(r["turns"], k)), kept_))
    t, tasks = threshold(*zip(*fit)), []
    for which, rows in (("규칙과 한 사람이 쓴 대화", read("dialogues/test.jsonl")), ("남이 쓴 대화", read("hanbit/dialogues.jsonl"))):
        found, left = Task(f"{which}: 끊긴 차례를 찾음", "찾은 몫"), Task(f"{which}: 이어진 차례를 둠", "둔 몫")
        for r in rows[::every]:
            got = check_context([{"user": x["user"], "assistant": x["assistant"]} for x in r["turns"]])
            for k in range(1, len(r["turns"])):
                kept_ = not (r["break"] and r["break"]["turn"] == k + 1)
                overlap = covered(r["turns"][k]["assistant"], said_before(r["turns"], k)) >= t
                (left if kept_ else found).add((r["_id"], k), r["_id"], kept_, overlap, got[k].kept is not False)
        tasks += [found, left]
    return tasks, t


def diagnosis(small):
    "(the task, fault -> (component, first suspect), (healthy systems, of them without a suspect))"
    f = persona_faults
    f.COLLECTION = f.bundled()
    f.PARTS = Parts(f.COLLECTION)
    base = f.Make(OwnPipeline(f.PARTS))
    queries = f.questions(f.COLLECTION, SEED, 12 if small else 30, False)
    talk = f.dialogues(f.COLLECTION, SEED, 2 if small else 8, False)
    reference = Tester(f.COLLECTION.passages, search=base.search, answer=base.answer)
    expected = f.looks_of(reference, f.session(base, queries, talk), queries, talk)

    def first(system):
        tester = Tester(f.COLLECTION.passages, search=system.search, answer=system.answer)
        found = suspects(f.looks_of(tester, f.session(system, queries, talk), queries, talk), expected)
        return found[0].component if found else None
    faults = dict(list(f.FAULTS.items())[-9:-8] if small else f.FAULTS)
    commonest = Counter(c for c, *_ in f.FAULTS.values()).most_common(1)[0][0]
    task, told = Task("진단: 고장 낸 컴포넌트를 먼저 부름", "맞은 지목"), {}
    for name, (component, severities, make) in faults.items():
        named = first(make(base, SEED, severities[SEED % len(severities)]))
        told[name] = (component, named)
        task.add(name, name, component, commonest, named)
    sound = [first(make(base)) for name, make in f.HEALTHY.items() if not small or name == "default"]
    return task, told, (len(sound), sum(c is None for c in sound))


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--slice", action="store_true", help="every twentieth need, every fortieth chatbot answer, one fault")
    small = ap.parse_args().slice
    checks, kinds, t_check = fact_check(20 if small else 1)
    bot, t_bot = chatbot(40 if small else 2)
    talks, t_talk = dialogues(4 if small else 1)
    named, told, (n_sound, n_quiet) = diagnosis(small)
    tasks = [*checks, bot, *talks, named]
    table = changes.table([t.row() for t in tasks])
    changes.show(table)
    halves = {t.name: t.shares() for t in (*checks[:2], bot)}
    for name, s in halves.items():
        print(f"{name}: 옳은 답을 통과 {s['옳은 것을 옳다고']:.3f}, 그른 답을 찾음 {s['그른 것을 그르다고']:.3f}, n {s['n']}")
    for kind, (k, n) in kinds.items():
        print(f"지은 거짓, {kind}: {k}/{n}을 찾음")
    print(f"성한 체계 {n_sound}가지 가운데 {n_quiet}가지에서 아무것도 부르지 않음")
    for name, (component, said) in told.items():
        if component != said:
            print(f"  잘못 부름: {name} ({component}) -> {said}")
    kept.note(n=sum(len(t.labels) for t in tasks), persona=table, halves=halves,
              lies={k: {"찾음": a, "n": n, "몫": a/n} for k, (a, n) in kinds.items()},
              sound={"체계": n_sound, "아무것도 부르지 않음": n_quiet},
              faults={name: {"고장": c, "먼저 부름": s} for name, (c, s) in told.items()},
              thresholds={"답": t_check, "챗봇의 답": t_bot, "대화": t_talk})


if __name__ == "__main__":
    kept.run(main, split="test", seed=SEED)
