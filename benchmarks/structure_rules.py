"""Which rules of structure earn their place: fired, decisive, right. python benchmarks/structure_rules.py [DATA/docs DATA/law] [--slice]

A rule of `data.heads`, `contents`, `titles` and `lines` (a pattern or a function) is switched off, and the documents are cut again. Fired: how
often it matched. Decisive: units (regulation, article, text) that are there with the rule and not without, or the other way round. Right: of
these the ones that the truth of the document has and the false ones that the rule kept away. Documents: spellings of invented regulations made
here after the rules were written (their units are known as they are made); DATA/docs: the Markdown statutes (heads counted by their marks);
DATA/law: articles printed as one TXT and one PDF without contents. `--slice`: the made ones only.
"""
import argparse
import random
import re
import tempfile
from collections import Counter
from pathlib import Path

from rag_quality.data import articles, book, contents, heads, lines, load_collection, titles
from rag_quality.data.documents import _document, read_document

import import_made
import kept
from import_search import article_of, blocks

PATTERNS = {
    heads: "_HANJA_HEAD _RANGE _REFERS _REFERS_BARE _CHAPTER _AMENDED _ADDENDUM _HISTORY _CODE _BULLET _QUOTED_AFTER _ORDINAL _ANNEX _ANNEX_FORM _ANNEX_OF _INSIDE",
    contents: "_ANNEX_HEADING _TOC_ENTRY _TOC_HEAD _INDEX _PART _ROMAN _REPEALED",
    titles: "_NUMBERED _NUMBERED_AFTER _ABOUT _BRACKETED _DATED _OFFICE_LINE _NOTE_REPEALED _FORM _ASIDE _CHARTER _ITEM",
    lines: "_HEAD _ON _STOPS _JOSA _OPENING"}
FUNCTIONS = {"_unglued": lambda found, *_: found, "_charters": lambda *_: [], "_level_titled": lambda *_: (0, False), "_unlisted": lambda found: found,
             "_codes": lambda found, entries: ([None]*len(found), [])}
ROOMS = (articles, book, contents, heads, lines, titles)


class Pattern:
    "A compiled pattern that counts its matches, or (`off`) never matches."
    def __init__(self, real, off=False): self.real, self.off, self.fired, self.pattern = real, off, 0, real.pattern
    def _seen(self, m):
        self.fired += m is not None
        return m
    def match(self, *a): return None if self.off else self._seen(self.real.match(*a))
    def search(self, *a): return None if self.off else self._seen(self.real.search(*a))
    def fullmatch(self, *a): return None if self.off else self._seen(self.real.fullmatch(*a))
    def finditer(self, *a): return iter(()) if self.off else (self._seen(m) for m in self.real.finditer(*a))
    def findall(self, *a): return [] if self.off else self.real.findall(*a)
    def split(self, *a, **k): return [a[0]] if self.off else self.real.split(*a, **k)
    def sub(self, to, text, count=0):
        if self.off: return text
        said, n = self.real.subn(to, text, count=count)
        self.fired += n
        return said


class Function:
    "A function that counts the calls whose result is another than that of its neutral stand-in."
    def __init__(self, real, neutral): self.real, self.neutral, self.fired = real, neutral, 0
    def __call__(self, *a):
        out = self.real(*a)
        self.fired += out != self.neutral(*a)
        return out


def put(name, value):
    "The rule `name` in every room that has it."
    for room in ROOMS:
        if hasattr(room, name): setattr(room, name, value)


def squash(text): return re.sub(r"[\W_]|(?<=[|\s])-+(?=[|\s])", "", text)


# ---- documents with their truth: (name, units() -> Counter, truth Counter)

def sentences(rng, n): return [import_made.sentence(rng) for _ in range(n)]

def spellings():
    "(name, ending, text, the units as (regulation, article)) of invented regulations, each in a way of writing that books have."
    rng = random.Random(22)
    names = ("물품관리규정", "당직 근무 규칙", "기숙사 운영 지침")
    heads_ = ("목적", "적용 범위", "담당", "보고")
    def body(head, addendum="부칙", between=lambda n: ()):
        out = []
        for n, h in enumerate(heads_, 1): out += [*between(n), head(n, h) + " " + sentences(rng, 1)[0]]
        return [*out, addendum, "이 규정은 2024년 3월 1일부터 시행한다."]
    def plain(n, h): return f"제{n}조({h})"
    def units(labels=("제1조", "제2조", "제3조", "제4조", "부칙"), named=names): return [(name, l) for name in named for l in labels]
    def whole(above=lambda name, k: (), **how): return "\n".join(l for k, name in enumerate(names) for l in [*above(name, k), name, *body(**how)])
    def titled(title, above=(), below=lambda k: (), after=()): return "\n".join([*above, *(l for k, name in enumerate(names) for l in [title(k, name), *below(k), *body(plain), *after])])
    yield "그대로", "txt", whole(head=plain), units()
    yield "한자", "txt", "\n".join(l for name in names for l in [name, *body(lambda n, h: f"第{'一二三四'[n-1]}條({h})", "附則")]), units()
    yield "꺾쇠", "txt", whole(head=lambda n, h: f"제 {n} 조 【{h}】", addendum="부  칙 <2024. 3. 1.>"), units(("제1조", "제2조", "제3조", "제4조", "부칙 2024. 3. 1."))
    yield "장과 절", "txt", whole(head=plain, between=lambda n: ("제1장 총칙", "제1절 뜻") if n == 1 else ("제2장 운영 <개정 2020. 3. 1.>",) if n == 3 else ()), units()
    toc = ["목 차", "제1편 총무", *(f"{name} ········ {k + 3}" for k, name in enumerate((*names, "주차 관리 규정", "청사 방호 규칙")))]
    rest = [l for name in ("주차 관리 규정", "청사 방호 규칙") for l in [name, *body(plain)]]
    five = (*names, "주차 관리 규정", "청사 방호 규칙")
    yield "점선 차례", "txt", "\n".join([*toc, whole(head=plain), *rest]), units(named=five)
    codes = ["차 례", *(f"{name}{'【폐지】' if k == 4 else ''}\t2-1-{k + 1}" for k, name in enumerate((*names, "주차 관리 규정", "청사 방호 규칙")))]
    gone = ["청사 방호 규칙【폐지】", "2019. 5. 1. 폐지"]
    yield "번호 차례와 폐지", "txt", "\n".join([*codes, whole(head=plain), *rest[:len(rest)//2], *gone]), [*units(named=five[:4]), ("청사 방호 규칙", "폐지")]
    yield "앞 번호", "txt", titled(lambda k, name: f"3-1-{k + 1} {name}"), units()
    yield "뒤 번호", "txt", titled(lambda k, name: f"{name} (제{k + 11}호)"), units()
    yield "차례수", "txt", titled(lambda k, name: f"{k + 1}. {name}"), units()
    yield "따옴표", "txt", titled(lambda k, name: f"가온재단 「{name}」"), units(named=tuple(f"가온재단 {name}" for name in names))
    yield "소관과 날짜", "txt", titled(lambda k, name: name, below=lambda k: (f"소관부서: 총무{k + 1}과", "2018. 3. 1. 제정", "[시행 2024. 3. 1.] [훈령 제12호, 2024. 2. 1., 일부개정]")), units()
    yield "부서 전화", "txt", titled(lambda k, name: name, below=lambda k: ("총무과(재무팀), 02-123-4567", "(재무팀 / 2019. 3. 1. 개정)")), units()
    yield "부의 머리", "txt", titled(lambda k, name: f"{'Ⅰ Ⅱ Ⅲ'.split()[k]}. {'총무 재무 시설'.split()[k]}\n{name}"), units()
    yield "별표와 서식", "txt", titled(lambda k, name: name, after=("[별표 1] <개정 2024. 3. 1.> 수량표(제2조 관련)", "수량은 열 개로 한다", "[제1호 서식]", "성명")), units(("제1조", "제2조", "제3조", "제4조", "부칙", "별표 1", "서식 1"))
    yield "규정 이름이 붙은 별표", "txt", "\n".join(l for name in names for l in [name, *body(plain), f"■ {name} [별표 1]", "수량표", "열 개"]), units(("제1조", "제2조", "제3조", "제4조", "부칙", "별표 1"))
    yield "삭제와 범위", "txt", "\n".join(l for name in names for l in [name, "제1조(목적) 목적을 정한다.", "제2조 삭제 <2020. 3. 1.>", "제3조 내지 제5조 <삭제 2010. 3. 1.>", "제6조(끝) 보고한다."]), units(("제1조", "제2조", "제3조", "제6조"))
    yield "가리키는 말로 시작하는 줄", "txt", "\n".join(l for name in names for l in [name, "제1조(목적) 목적을 정한다.", "제2조(담당) 담당은 다음과 같다.", "제1조(목적)에 따른 담당자는 과장으로 한다.", "제1조 및 제2조의 담당은 겸한다.", "제3조(보고) 보고한다."]), units(("제1조", "제2조", "제3조"))
    yield "줄 가운데의 조", "txt", "\n".join(l for name in names for l in [name, "제1조(목적) 목적을 정한다. 제2조(담당) 담당은 과장으로 한다. 제3조(보고) 다만, 제2조에 따른 담당이 보고한다."]), units(("제1조", "제2조", "제3조"))
    yield "목록 표시", "md", "\n".join(l for name in names for l in [f"# {name}", *(f"- 제{n}조({h}) {sentences(rng, 1)[0]}" for n, h in enumerate(heads_, 1))]), units(("제1조", "제2조", "제3조", "제4조"))
    yield "Markdown의 머리", "md", "\n\n".join(l for name in names for l in [f"# {name}", "## 총칙", *(f"### 제{n}조 ({h})\n{sentences(rng, 1)[0]}" for n, h in enumerate(heads_, 1)), "## 부칙", "공포한 날부터 시행한다.", "## 별표 1. 수량", "열 개"]), units(("제1조", "제2조", "제3조", "제4조", "부칙", "별표 1"))
    yield "사이의 헌장", "txt", "\n\n".join([names[0], *body(plain), "가온재단 윤리헌장", "우리는 다음을 지킨다.", "하나, 정직하게 일한다.", names[1], *body(plain)]), [*units(named=names[:2]), ("가온재단 윤리헌장", "본문")]
    yield "코드", "txt", titled(lambda k, name: name, below=lambda k: (f"코드: GA-{k + 1}",)), units()
    yield "찾아보기", "txt", "\n".join([whole(head=plain), *rest, "찾아보기", "총무과", *(f"{name}\t{k + 3}" for k, name in enumerate(five))]), units(named=five)

def sources(folders, room):
    "Every document: (name, units(), the true units)."
    def labelled(passages): return Counter((squash(p.metadata.get("regulation", p.title)), squash(p.metadata.get("article", ""))) for p in passages)
    for name, kind, text, true in spellings():
        d = _document(text.encode(), f"made.{kind}", f"made.{kind}")
        yield f"만든 글: {name}", lambda d=d: labelled(book.cut_book(d).passages), Counter((squash(r), squash(l)) for r, l in true)
    for folder in folders:
        if (folder/"statutes").is_dir():
            for n, f in enumerate(sorted((folder/"statutes").glob("*.md")), 1):
                text = f.read_text(encoding="utf8")
                main = text.split("\n## 부칙")[0]
                if len(text) > 400_000: continue           # the longest one says nothing that the others do not
                true = Counter("제" + a[1] + "조" + (a[2] or "") for a in re.finditer(r"^#{2,6} 제(\d+)조(의\d+)?", main, re.M))
                true["부칙"] = len(re.findall(r"^부칙\s*[(<].*$", text, re.M))
                d = read_document(f)
                def units(d=d): return Counter(re.sub(r"^부칙.*", "부칙", re.sub(r"^(제\d+조(?:의\d+)?)-\d+$", r"\1", p.metadata.get("article", ""))) for p in book.cut_book(d).passages)
                yield f"법령 {n}", units, true
        elif (folder/"corpus.jsonl").is_file():
            passages = list(article_of(load_collection(folder).passages))
            some = set(list(dict.fromkeys(p.metadata["regulation"] for p in passages))[::4])
            passages = [p for p in passages if p.metadata["regulation"] in some]
            written = list(blocks(passages))
            (room/"book.txt").write_text("\n".join(b if isinstance(b, str) else "\n".join("| " + " | ".join(r) + " |" for r in b) for b in written), encoding="utf8")
            (room/"book.pdf").write_bytes(import_made.pdf(written))
            def whole(found): return Counter((squash(p.title), squash(p.text)) for p in found)
            for kind in ("txt", "pdf"):
                yield f"법령 묶음 {kind}", lambda f=room/f"book.{kind}": whole(book.cut_book(read_document(f)).passages), whole(passages)


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("data", nargs="*", type=Path)
    ap.add_argument("--slice", action="store_true")
    args = ap.parse_args()
    rules = {n: getattr(room, n) for room, names in PATTERNS.items() for n in names.split()}
    works = {n: next(getattr(r, n) for r in (titles, heads) if hasattr(r, n)) for n in FUNCTIONS}
    fired, right, wrong, n, good = Counter(), Counter(), Counter(), 0, 0
    with tempfile.TemporaryDirectory() as room:
        for name, units, true in sources([] if args.slice else args.data, Path(room)):
            watched = {r: Pattern(real) for r, real in rules.items()} | {f: Function(real, FUNCTIONS[f]) for f, real in works.items()}
            for r, w in watched.items(): put(r, w)
            found = units()
            for r, real in (rules | works).items(): put(r, real)
            n, good = n + sum(true.values()), good + sum((found & true).values())
            if found != true: print(f"{name}: 단위 {sum(true.values())}개 가운데 {sum((found & true).values())}개, 아닌 것 {sum((found - true).values())}개")
            for r, w in watched.items():
                if not w.fired: continue
                fired[r] += w.fired
                put(r, Pattern(rules[r], off=True) if r in rules else FUNCTIONS[r])
                try: off = units()
                finally: put(r, (rules | works)[r])
                right[r] += sum(((found & true) - off).values()) + sum(((off - true) - found).values())
                wrong[r] += sum(((off & true) - found).values()) + sum(((found - true) - off).values())
    print(f"단위 {n}개 가운데 그대로 들어온 것 {good}개 ({good/n:.2%})")
    table = {r: {"걸림": fired[r], "가름": right[r] + wrong[r], "맞음": right[r]} for r in [*rules, *works]}
    for r, t in table.items(): print(f"{r:16} 걸림 {t['걸림']:6}, 가름 {t['가름']:5}, 맞음 {t['맞음']:5}")
    kept.note(n=n, structure=table)


if __name__ == "__main__":
    kept.run(main)
