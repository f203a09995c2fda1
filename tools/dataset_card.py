"""What tells of data/hanbit and is counted from its files: the tables of its card, its Croissant metadata, its judgments as JSON lines.

usage: python tools/dataset_card.py [--check]
Hugging Face `datasets` reads all configurations of a folder with one reader, so that the judgments must be JSON lines beside the .tsv of BEIR and TREC:
data/hanbit/qrels/*.jsonl. data/hanbit/croissant.json holds each file's size and SHA-256 and the fields of its rows (Croissant 1.0). In README.md the part
between the two marks is written anew. `--check` says what is not today's (1 where anything is: run it without, then commit).
"""
import hashlib
import json
import re
import sys
from collections import Counter
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent/"data"/"hanbit"
SPLITS = ("train", "dev", "test")
ROWS = ("corpus", "queries", "needs", "dialogues")
MARKS = "<!-- 세어 적은 것: python tools/dataset_card.py -->", "<!-- 여기까지 -->"
USES = {"train": "지식, 사전, 무게를 배움", "dev": "고치고 고름", "test": "재기만 함"}
DATES = {"1.0.0": "2026-11-23"}        # a version's first day
SITE = "https://github.com/rag-quality/rag_quality"

# Croissant: the fields of a row, by configuration: name -> (type, what it holds); 'a/b' is b inside of a, 'a[]' a list
TEXT, WHOLE, TRUE = "sc:Text", "sc:Integer", "sc:Boolean"
FIELDS = {
    "corpus": {
        "_id": (TEXT, "Id of the article: code of the regulation, colon, article"), "title": (TEXT, "Regulation, article and its heading"),
        "text": (TEXT, "The article's text"), "metadata/code": (TEXT, "Code of the regulation"), "metadata/regulation": (TEXT, "Name of the regulation"),
        "metadata/family": (TEXT, "Topic; the splits are cut along it"), "metadata/part": (TEXT, "Part of the rule book"),
        "metadata/chapter": (TEXT, "Chapter"), "metadata/article": (TEXT, "Article or addendum")},
    "queries": {
        "_id": (TEXT, "Id of the wording: need, then -c and -d (colloquial) or -f (formal)"), "text": (TEXT, "The question"),
        "metadata/pair": (TEXT, "The need; its wordings ask the same"), "metadata/register": (TEXT, "colloquial or formal"),
        "metadata/persona": (TEXT, "Who asks"), "metadata/difficulty": (TEXT, "easy, medium, hard"), "metadata/query_type": (TEXT, "Kind of the question"),
        "metadata/family": (TEXT, "Topic"), "metadata/split": (TEXT, "train, dev, test"), "metadata/answerable": (TRUE, "Does the rule book answer it?")},
    "needs": {
        "need": (TEXT, "Id"), "split": (TEXT, "train, dev, test"), "family": (TEXT, "Topic"), "persona": (TEXT, "Who asks"),
        "colloquial": (TEXT, "First wording in people's words"), "colloquial2": (TEXT, "Second wording in people's words"),
        "formal": (TEXT, "The wording of the rule book"), "topics[]": (TEXT, "Topics"), "key_facts[]/fact": (TEXT, "What an answer has to say"), "key_facts[]/doc": (TEXT, "The article that says it"), "answer": (TEXT, "Reference answer with citations; absent where the book gives none"),
        "paraphrase": (TEXT, "The same answer in other words"), "lies[]/kind": (TEXT, "Kind of the one wrong sentence"),
        "lies[]/answer": (TEXT, "The answer with the wrong sentence"), "unanswerable": (TEXT, "near (the topic is ruled, not this) or far"),
        "why": (TEXT, "Why the book does not answer")},
    "dialogues": {"_id": (TEXT, "Id"), "split": (TEXT, "dev, test, train"), "family": (TEXT, "Topic"), "turns[]/user": (TEXT, "What the person says"),
                  "turns[]/assistant": (TEXT, "What the assistant answers"), "break/kind": (TEXT, "Kind of the planted break; absent where there is none"),
                  "break/turn": (WHOLE, "Turn of the break, from 1"), "break/why": (TEXT, "What is broken")},
    "qrels": {"query-id": (TEXT, "A query"), "corpus-id": (TEXT, "An article"), "score": (WHOLE, "2 answers, 1 helps; what is absent is 0")}}
ABOUT = {"corpus": "The rule book, one row an article or addendum.", "queries": "Each need in three wordings.", "dialogues": "Dialogues of five turns; half hold one planted break.",
         "needs": "Needs with reference answers and answers with one wrong sentence.", "qrels": "Graded judgments of {}."}


def rows(name:str) -> list[dict]:
    "The rows of a file of JSON lines."
    return [json.loads(line) for line in (FOLDER/name).read_text(encoding="utf8").splitlines() if line.strip()]


def judgments(split:str) -> list[dict]:
    "The rows of a .tsv of judgments."
    lines = (FOLDER/"qrels"/f"{split}.tsv").read_text(encoding="utf8").splitlines()[1:]
    return [{"query-id": q, "corpus-id": d, "score": int(g)} for q, d, g in (line.split("\t") for line in lines if line)]


def as_lines(split:str) -> str:
    "The same as JSON lines."
    return "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in judgments(split))


def counted() -> str:
    "The part of the card that is counted."
    corpus, queries, needs, dialogues = (rows(f"{n}.jsonl") for n in ROWS)
    told = [n for n in needs if not n.get("unanswerable")]
    why, kinds = Counter(n.get("unanswerable") for n in needs), Counter(x["kind"] for n in told for x in n["lies"])
    articles = [d for d in corpus if d["metadata"]["article"].startswith("제")]
    books = len({d["metadata"]["code"] for d in corpus})
    gone = sum(bool(d["metadata"].get("deleted")) for d in articles)
    broken = sum(bool(d["break"]) for d in dialogues)
    out = [
        f"규정 {books}개, 조 {len(articles)}개(삭제된 것 {gone}), 부칙 {len(corpus) - len(articles)}개 · 필요 {len(needs)}가지(답이 있는 것 {len(told)}, 주제는 맞으나 정하지 않은 것 {why['near']},"
        f" 규정의 일이 아닌 것 {why['far']}) · 질의 {len(queries):,}개 · 한 문장만 거짓인 답 {sum(kinds.values()):,}개 · 다섯 차례의 대화 {len(dialogues)}개({broken}개에 끊김 하나).", "",
        "| 나눔 | 갈래 | 답이 있는 필요 | 질의 | 판정(qrels) | 대화 | 쓰임 |", "|---|---|---|---|---|---|---|"]
    for s in SPLITS:
        families = " ".join(dict.fromkeys(n["family"] for n in told if n["split"] == s))
        asked = sum(q["metadata"]["split"] == s for q in queries)
        out.append(f"| {s} | {families} | {sum(n['split'] == s for n in told)} | {asked} | {len(judgments(s)):,} | {sum(d['split'] == s for d in dialogues)} | {USES[s]} |")
    out += ["", f"거짓의 갈래: {', '.join(f'{k} {kinds[k]}' for k in ('number', 'negation', 'entity', 'condition', 'generalisation', 'article', 'unsupported'))}."]
    return "\n".join(out)


def card() -> str:
    "README.md with the counted part of today. Exits where its marks are gone."
    text = (FOLDER/"README.md").read_text(encoding="utf8")
    before, first, rest = text.partition(MARKS[0])
    _, last, after = rest.partition(MARKS[1])
    if not (first and last):
        sys.exit(f"data/hanbit/README.md: no part between {MARKS[0]!r} and {MARKS[1]!r}")
    return f"{before}{first}\n{counted()}\n{last}{after}"


def file_object(name:str, kind:str, data:bytes) -> dict:
    "A file of the collection."
    return {"@type": "cr:FileObject", "@id": name, "name": name, "contentUrl": name, "encodingFormat": kind,
            "contentSize": f"{len(data)} B", "sha256": hashlib.sha256(data).hexdigest()}


def record_set(name:str, file:str, fields:dict, about:str) -> dict:
    "The rows of a file with their fields."
    made = []
    for key, (kind, what) in fields.items():
        bare = key.replace("[]", "")
        column, _, inside = bare.partition("/")
        source = {"fileObject": {"@id": file}, "extract": {"column": column}}
        if inside:
            source["transform"] = {"jsonPath": f"$.{inside}"}
        made.append({"@type": "cr:Field", "@id": f"{name}/{bare}", "name": bare, "description": what, "dataType": kind,
                     **({"repeated": True} if "[]" in key else {}), "source": source})
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "description": about, "field": made}


CONTEXT = {
    "@language": "en", "@vocab": "https://schema.org/", "citeAs": "cr:citeAs", "column": "cr:column", "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/", "rai": "http://mlcommons.org/croissant/RAI/", "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"}, "dct": "http://purl.org/dc/terms/", "equivalentProperty": "cr:equivalentProperty", "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract", "field": "cr:field", "fileProperty": "cr:fileProperty", "fileObject": "cr:fileObject", "fileSet": "cr:fileSet",
    "format": "cr:format", "includes": "cr:includes", "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath", "key": "cr:key", "md5": "cr:md5",
    "parentField": "cr:parentField", "path": "cr:path", "recordSet": "cr:recordSet", "references": "cr:references", "regex": "cr:regex",
    "repeated": "cr:repeated", "replace": "cr:replace", "samplingRate": "cr:samplingRate", "sc": "https://schema.org/", "separator": "cr:separator", "source": "cr:source",
    "subField": "cr:subField", "transform": "cr:transform"}


def croissant(written:dict[str, str]) -> str:
    "The metadata, by the texts that are to be `written` and the files that are there."
    about = json.loads((FOLDER/"dataset.json").read_text(encoding="utf8"))
    def data(name):
        return written[name].encode() if name in written else (FOLDER/name).read_bytes()
    names = [*(f"{n}.jsonl" for n in ROWS), *(f"qrels/{s}.{end}" for s in SPLITS for end in ("jsonl", "tsv"))]
    kinds = {"jsonl": "application/jsonlines", "tsv": "text/tab-separated-values"}
    sets = [record_set(n, f"{n}.jsonl", FIELDS[n], ABOUT[n]) for n in ROWS]
    sets += [record_set(f"qrels-{s}", f"qrels/{s}.jsonl", FIELDS["qrels"], ABOUT["qrels"].format(s)) for s in SPLITS]
    found = {
        "@context": CONTEXT, "@type": "sc:Dataset", "name": about["name"], "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "description": "The same needs in people's words and in the book's words: a fictional Korean university's regulations, graded judgments, reference answers, answers"
                       " with one wrong sentence, and dialogues with planted breaks. Written and judged by language models; no person wrote, corrected or judged any of it.",
        "version": about["version"], "license": "https://creativecommons.org/licenses/by/4.0/", "url": f"{SITE}/tree/main/data/hanbit", "inLanguage": "ko",
        "creator": {"@type": "sc:Organization", "name": "rag_quality contributors", "url": SITE}, "datePublished": DATES[about["version"]],
        "citeAs": f"hanbit {about['version']}: a benchmark of Korean questions to a rule book, in people's words and in the book's. {SITE}",
        "keywords": ["korean", "regulations", "retrieval", "rag", "colloquial", "faithfulness", "synthetic"],
        "rai:dataCollection": "Language models wrote everything, divided by topic; no text of a real university or of an existing set of questions was used.",
        "rai:dataAnnotationProtocol": "The writer of a topic judged it; a second language model, which had not written it, judged the pooled candidates of four systems without seeing those"
                                      " grades; a third decided the disagreements. Both grades stand in judgings.tsv.",
        "rai:dataLimitations": "Not what people really asked: it says nothing about how often what is asked, nor about typing errors. Writers and judges are models of one kind; agreement with people"
                               " was not measured. One fictional institution. Articles that only quite different systems find may be unjudged.",
        "rai:dataUseCases": "Comparing Korean retrieval and answer checking on colloquial against formal wordings. Not for training what is then measured on it, not for advice about real regulations.",
        "rai:personalSensitiveInformation": "None: people, institutions and rules are invented.",
        "distribution": [file_object(n, kinds[n.rpartition(".")[2]], data(n)) for n in names], "recordSet": sets}
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"


def configured(text:str) -> list[str]:
    "The files that the head of the card names."
    head = text.partition("\n---\n")[0]
    return re.findall(r"(?:path|data_files): ([\w./-]+)", head)


def main(check:bool) -> int:
    written = {f"qrels/{s}.jsonl": as_lines(s) for s in SPLITS}
    written["README.md"] = card()
    written["croissant.json"] = croissant(written)
    lost = [n for n in configured(written["README.md"]) if n not in written and not (FOLDER/n).is_file()]
    for n in lost:
        print(f"data/hanbit/README.md names {n}, which is not there")
    old = [n for n, text in written.items() if not (FOLDER/n).is_file() or (FOLDER/n).read_text(encoding="utf8") != text]
    for n in old:
        print(f"data/hanbit/{n} is not today's: python tools/dataset_card.py" if check else f"data/hanbit/{n}")
        if not check:
            (FOLDER/n).write_text(written[n], encoding="utf8")
    return bool(lost or check and old)


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv))
