"""The form of data/hanbit and its figures: counts against what it is to have, every rule that a script can check, kappa of the two judgings.

usage: python benchmarks/hanbit.py [FOLDER]
Exit 1 and a line for each fault. The measured figures (nDCG, refusal, minimum detectable effect) come from `rag-quality benchmark`.
"""
import csv, json, re, sys
from collections import Counter
from pathlib import Path

from rag_quality.core import bundle_path
from rag_quality.korean import analyze

import kept

TYPES = set("사실 확인,절차 질문,자격 확인,비교 질문,복합 질문,모호한 질문,감정 표현,은어/축약어".split(","))
KINDS = set("number article negation entity condition generalisation unsupported".split())
COMMON = set("하 되 있 없 받 알 보 주 싶 않 수 것 어떻 가 대하 위하 말 그렇 이렇 같 들 나 뭐 오 내 좀 알리".split())

def rows(path): return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines() if line.strip()]
def words(text): return {m.form for m in analyze(text) if m.tag in ("NNG", "NNP", "VV", "VA", "XR", "SL")} - COMMON

def kappa(pairs):
    n, a, b = len(pairs), Counter(x for x, _ in pairs), Counter(y for _, y in pairs)
    chance = sum(a[k]*b[k] for k in a)/n/n
    return (sum(x == y for x, y in pairs)/n - chance)/(1 - chance)

def book_faults(book):
    "References that do not hold, gaps in the numbering, marks without their 부칙."
    ids, code_of = {d["_id"] for d in book}, {d["metadata"]["regulation"]: d["metadata"]["code"] for d in book}
    if len(ids) != len(book): yield "두 번 나온 _id"
    by = {}
    for d in book: by.setdefault(d["metadata"]["code"], []).append(d)
    for code, units in by.items():
        numbers = sorted({int(re.match(r"제(\d+)조", d["metadata"]["article"])[1]) for d in units if d["metadata"]["article"].startswith("제")})
        if numbers != list(range(1, len(numbers) + 1)): yield f"{code}: 조 번호가 빔 {numbers}"
        days = {d["metadata"]["article"].removeprefix("부칙 ") for d in units if d["metadata"]["article"].startswith("부칙")}
        for d in units:
            for day in re.findall(r"(?:개정|신설|삭제)\s*<?\s*(\d{4}\. \d{1,2}\. \d{1,2}\.)", d["text"]):
                if day not in days: yield f"{d['_id']}: 부칙이 없는 표시 {day}"
    for d in book:
        for name, article in re.findall(r"「([^」]+)」\s*(제\d+조(?:의\d+)?)", d["text"]):
            if name in code_of and f"{code_of[name]}:{article}" not in ids: yield f"{d['_id']}: 없는 조 「{name}」 {article}"
        if d["metadata"]["article"].startswith("부칙"): continue
        body = re.sub(r"「[^」]+」\s*제\d+조(의\d+)?", "", d["text"])
        for m in re.finditer(r"제(\d+)조(의\d+)?", body):
            if not re.search(r"규정|학칙|지침|법|령", body[max(0, m.start()-12):m.start()]) and f"{d['metadata']['code']}:제{m[1]}조{m[2] or ''}" not in ids: yield f"{d['_id']}: 없는 조 {m[0]}"

def need_faults(needs, book):
    "What is wrong with a need: judgments, citations, facts, lies, wordings, splits."
    ids, label = {d["_id"] for d in book}, {(d["metadata"]["regulation"], d["metadata"]["article"]): d["_id"] for d in book}
    family = {d["_id"]: d["metadata"]["family"] for d in book}; split = {}
    for n in needs:
        if split.setdefault(n["family"], n["split"]) != n["split"]: yield f"{n['need']}: 갈래 {n['family']}이(가) 두 나눔에"
    said = Counter(re.sub(r"\W", "", n[k]) for n in needs for k in ("colloquial", "colloquial2", "formal"))
    for n in needs:
        k, may = n["need"], {**n["relevant"], **n.get("helps_across_split", {})}
        if any(said[re.sub(r"\W", "", n[w])] > 1 for w in ("colloquial", "colloquial2", "formal")): yield f"{k}: 다른 필요와 같은 말"
        if set(n["query_types"]) != set("cdf") or not set(n["query_types"].values()) <= TYPES: yield f"{k}: query_types"
        if n.get("unanswerable"):
            if n["relevant"] or n["answer"] or not n["why"]: yield f"{k}: 답이 없는 필요의 꼴"
            continue
        if not set(may) <= ids or 2 not in n["relevant"].values(): yield f"{k}: 판정"
        if crossing := [d for d in n["relevant"] if split.get(family[d]) != n["split"]]: yield f"{k}: 나눔을 건너는 판정 {crossing}"
        if not n["key_facts"] or not {f["doc"] for f in n["key_facts"]} <= set(n["relevant"]): yield f"{k}: 핵심 사실의 조문"
        cited = re.findall(r"\[([^\[\]]+?) (제\d+조(?:의\d+)?|부칙 [\d. ]+?)(?:제\d+항[^\]]*)?\]", n["answer"])
        if not cited or any(label.get((r, a.strip())) not in may for r, a in cited): yield f"{k}: 답의 출처 {[c for c in cited if label.get((c[0], c[1].strip())) not in may]}"
        if not n["paraphrase"] or len({x["kind"] for x in n["lies"]}) != 3 or not {x["kind"] for x in n["lies"]} <= KINDS: yield f"{k}: 바꿔 말한 답이나 거짓 셋"
        for x in n["lies"]:
            a, b = x["span"]; before, after = x["answer"][:a], x["answer"][b:]
            if x["answer"] == n["answer"] or not n["answer"].startswith(before.rstrip()) or not n["answer"].endswith(after): yield f"{k}: 거짓({x['kind']})의 자리 밖이 참고 답변과 다름"

def dialogue_faults(dialogues, ids):
    said = Counter(t["user"] for d in dialogues for t in d["turns"])
    for d in dialogues:
        if len(d["turns"]) != 5 or not all(t["user"] and t["assistant"] and set(t["docs"]) <= ids for t in d["turns"]): yield f"{d['_id']}: 차례"
        if d["break"] and not (2 <= d["break"]["turn"] <= 5 and d["break"]["why"]): yield f"{d['_id']}: 끊김"
        if any(said[t["user"]] > 1 for t in d["turns"]): yield f"{d['_id']}: 같은 말"

def shown(name, seen, wanted): print(f"{'' if seen >= wanted else '모자람 '}{name}: {seen} (목표 {wanted})")

def main(folder):
    book, needs, dialogues = (rows(folder/f"{n}.jsonl") for n in ("corpus", "needs", "dialogues"))
    faults = [*book_faults(book), *need_faults(needs, book), *dialogue_faults(dialogues, {d["_id"] for d in book})]
    articles = [d for d in book if d["metadata"]["article"].startswith("제")]; told = [n for n in needs if not n.get("unanswerable")]
    shown("규정", len({d["metadata"]["code"] for d in book}), 40); shown("조 (삭제된 것 빼고)", sum(not d["metadata"].get("deleted") for d in articles), 600)
    shown("답이 있는 필요", len(told), 340); shown("답이 없는 필요, near", sum(n.get("unanswerable") == "near" for n in needs), 30); shown("답이 없는 필요, far", sum(n.get("unanswerable") == "far" for n in needs), 30)
    shown("거짓이 하나 든 답", sum(len(n["lies"]) for n in told), 3*len(told)); shown("대화", len(dialogues), 40); shown("심은 끊김", sum(bool(d["break"]) for d in dialogues), len(dialogues)//2)
    print("나눔:", dict(Counter(n["split"] for n in told)), "거짓의 갈래:", dict(Counter(x["kind"] for n in told for x in n["lies"])), "유형(표현마다):", dict(Counter(t for n in needs for t in n["query_types"].values())))
    index = {d["_id"]: words(d["title"] + " " + d["text"]) for d in book}
    apart = [not words(n[k]) & set().union(*(index[d] for d, g in n["relevant"].items() if g == 2)) for n in told for k in ("colloquial", "colloquial2")]
    shown("등급 2의 조문과 내용어를 나누지 않는 구어 질의", round(sum(apart)/len(apart), 3), .333)
    with (folder/"judgings.tsv").open(encoding="utf8", newline="") as f: judged = [(int(r["first"]), int(r["second"])) for r in csv.DictReader(f, delimiter="\t")]
    shown(f"두 판정의 Cohen κ, 세 등급 ({len(judged):,}쌍, 어긋남 {sum(a != b for a, b in judged)})", round(kappa(judged), 3), .75)
    print(f"κ, 관련 있음/없음: {kappa([(a > 0, b > 0) for a, b in judged]):.3f}")
    for f in faults: print("잘못:", f)
    print(f"꼴의 잘못 {len(faults)}")
    return bool(faults)

if __name__ == "__main__": kept.run(lambda: main(Path(sys.argv[1]) if len(sys.argv) > 1 else bundle_path("hanbit")))
