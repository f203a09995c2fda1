"""Eighty questions to four small rule books that nobody here had seen: how many are answered rightly, by kind, without a language model?

usage: python benchmarks/asked.py [--show] [--slice]
benchmarks/asked: a library's ordinance, a cooperative's articles, a cemetery's ordinance, a shared office's terms (18 to 30 articles), and the cases (`right`, the article, the
words that a right answer must have), written by a language model that had seen nothing of this project, before anything was run on them. 33 of 80 were right at first sight, with
0.9.0 as it was (terms 0 of 6, spoken 3 of 28). The kinds `term`, `number` and the answers that stood in the right article and were not given have been mended since, while looking at
the cases: what stands here now is a figure of a seen set.
Right: every word of `must` stands in the answer (white space and commas aside); a case without an article: refused.
"""
import argparse, json, re, sys
from collections import defaultdict
from pathlib import Path

from rag_quality.answering import answerer_for
from rag_quality.data import load_collection
from rag_quality.experiment import pipeline

import kept

HERE = Path(__file__).parent/"asked"

def flat(text): return re.sub(r"[\s,\"“”‘’']", "", text)

def right(case, answer):
    "Was the case answered as it should be?"
    if case["article"] is None: return answer.abstained
    told = all(flat(m) in flat(answer.content) for m in case["must"])
    return told and (not answer.abstained or case["kind"] == "number")      # 'there is no such article' is an answer

def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--show", action="store_true"); ap.add_argument("--slice", action="store_true")
    args = ap.parse_args()
    books, kinds, found, first = defaultdict(list), defaultdict(list), [], []
    for case in map(json.loads, (HERE/"cases.jsonl").read_text(encoding="utf8").splitlines()): books[case["book"]].append(case)
    for name, cases in list(books.items())[:1 if args.slice else None]:
        collection = load_collection(HERE/name)
        system = pipeline(collection)[-1]
        assistant = answerer_for(collection, search=system.search)
        for case in cases:
            answer = assistant.ask(case["q"])
            kinds[case["kind"]].append(right(case, answer))
            if case["article"]:
                found.append(not answer.abstained)
                titles = [p.title.replace(" ", "") for p, _ in system.search(case["q"], 5).hits]
                place = re.compile(re.escape(case["article"].replace(" ", "")) + r"(?!\d|의)")
                first.append(next((i for i, t in enumerate(titles) if place.search(t)), 9))
            if args.show and not kinds[case["kind"]][-1]:
                print(f"  {case['id']} [{case['kind']}] {case['q']} -> {answer.content[:90]!r}; right: {case['right']}", file=sys.stderr)
    total = [x for v in kinds.values() for x in v]
    print(f"right: {sum(total)} of {len(total)}")
    for kind, v in kinds.items(): print(f"{kind}: {sum(v)} of {len(v)}")
    print(f"answered, of those that a book answers: {sum(found)} of {len(found)}; its article found first {sum(i == 0 for i in first)}, among the first five {sum(i < 5 for i in first)}")
    kept.note(n=len(total), table={k: {"맞음": sum(v), "n": len(v)} for k, v in kinds.items()})

if __name__ == "__main__": kept.run(main)
