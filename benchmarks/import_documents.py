"""How much of real rule books comes in as regulations, articles, 부칙 and annexes, by a count that shares no code with the reader.

usage: python benchmarks/import_documents.py DATA [--misses]      DATA: a folder with rulebook.hwpx, rulebook.hwp, plan.hwp, form.hwpx, statutes/*.md (those that are there)
For each book: regulations against its table of contents; articles, annexes and 부칙 against a count over the paragraphs (a paragraph that begins '제N조(', and where the
numbers start again); characters in a passage, in the told remainder, in neither; seconds and memory (of a process of its own). Statutes: every '##### 제N조' and '부칙 <' line.
Then round trips: the book read from its file, written as .txt, PDF (lines broken, page numbers), DOCX and HWPX, read back: articles whose text is the same, white space
aside; and cut once more without its table of contents. --misses: shows what was missed, on standard error; nothing of a text is kept.
"""
import argparse, re, resource, subprocess, sys, tempfile, time
from collections import Counter
from pathlib import Path

from rag_quality.data.book import cut_book
from rag_quality.data.documents import Block, Document, read_document

import import_made, kept

BOOKS = ("rulebook.hwpx", "rulebook.hwp", "plan.hwp", "form.hwpx")
ARTICLE = re.compile(r"제 ?(\d+) ?조(?: ?의 ?(\d+)| ?(\d))? ?([(（【\[<].*)")
ADDENDUM = re.compile(r"부 *칙(?:[ <(].*)?")
ANNEX = re.compile(r"[\[<〈【(]\s*(?:별\s*표|별\s*지|별\s*첨|부\s*표|서\s*식)[^\])>〉】]{0,20}[\])>〉】]")

def squash(text): return re.sub(r"[\W_ㆍ]", "", text)

def lines_of(document):
    "(line, number of its block, whether it is a table's row), spaces made one."
    for i, b in enumerate(document.blocks):
        for line in b.text.split("\n"):
            if line.strip(): yield re.sub(r"\s+", " ", line).strip(), i, bool(b.rows) or line.lstrip().startswith("|")

def contents(document):
    "name -> repealed, as the table of contents says: lines that are a name and 'N-N-N' alone."
    found = {}
    for line, _, table in lines_of(document):
        if not table and (m := re.fullmatch(r"(\D.*?)(【폐지】)?\s*(\d+-\d+-\d+)", line)): found.setdefault(m[3], (squash(m[1]), bool(m[2])))
    return found

def articles(document):
    """What begins an article, counted by another principle than the cutter's: paragraphs that begin with '제N조(' outside of 부칙. A 부칙 ends where a 제1조 follows that is not
    of the kind that 부칙 have; in an annex a number that starts again is its own."""
    out, closed, annex, last, above = [], False, False, 0, []
    for line, i, table in lines_of(document):
        if table: continue
        above = [*above[-4:], line]
        if ADDENDUM.fullmatch(line) and len(line) < 40: closed = True; continue
        if ANNEX.match(line) and len(line) < 60: annex = True; continue
        if not (m := ARTICLE.match(line)): continue
        n, rest = int(m[1]), m[4]
        restart = n == 1 and not m[2] and not re.match(r"\W*(?:시행|경과|적용|다른|유효|폐지)", rest) and (not annex or any(re.search(r"(?:규정|규칙|학칙|세칙|지침|내규|기준|정관|법|령)$", a) for a in above[:-1]))
        if (closed or annex) and not restart and not (annex and not closed and n > last): continue
        if re.match(r"[(（][^()（）]*[)）](?:에|의|을|를|및|에서|와|과)(?:\s|$)", rest): continue
        closed, annex, last = False, False, n
        out.append((n, int(m[2] or m[3] or 0), squash(rest), i))
    return out

def measure(path, misses=False):
    "The figures of one book."
    begun = time.process_time(); document = read_document(path); read = time.process_time() - begun
    book = cut_book(document); took = time.process_time() - begun
    named, passages = contents(document), book.passages
    got = {squash(r.name) for r in book.regulations}; living = {n for n, gone in named.values() if not gone}; repealed = {n for n, gone in named.values() if gone}
    kinds = Counter(re.sub(r"[\d\W].*", "", p.metadata.get("article", "#")) for p in passages)
    print(f"{path.name}: 규정 {len(book.regulations)} (폐지된 이름만 {sum(r.repealed for r in book.regulations)}), 차례의 이름 {len(living | repealed)}, 그 가운데 찾은 것 {len((living | repealed) & got)}")
    print(f"  단위 {len(passages)}: 조 {kinds['제']}, 부칙 {kinds['부칙']}, 별표·별지·서식 {sum(kinds[k] for k in ('별표', '별지', '별첨', '서식', '부표', '양식', '부록'))}, 머리 없는 붙임 {kinds['붙임']}, 같은 번호 {sum(k == '같은 번호' for k, *_ in book.odd)}")
    texts = Counter(squash((p.metadata.get("article_title") or "") + p.text)[:40] for p in passages if p.metadata.get("article", "").startswith("제"))
    counted = articles(document); lost = []
    for n, sub, rest, i in counted:
        if any(k.startswith(rest[:40]) or rest.startswith(k) for k in ([rest[:40]] if rest[:40] in texts else texts)) : continue
        lost.append(document.blocks[i].text[:60])
    print(f"  조를 따로 세니 {len(counted)}, 그 가운데 조로 들어온 것 {len(counted) - len(lost)} ({(len(counted) - len(lost))/max(len(counted), 1):.2%})")
    heads = []
    for line, i, table in lines_of(document):
        first = line.strip("| ").split("|")[0].strip() if table else line
        if (m := ANNEX.match(first)) and len(first) < 80 and not re.match(r"\s*(?:[에의을를은는과와이가로]|에서)(?=\s|$)|.*다\.?$", first[m.end():]): heads.append((first, document.blocks[i].place))
    own = Counter(p.metadata.get("place", "") for p in passages if re.match(r"별|서식|부표|양식|붙임", p.metadata.get("article", "")))
    missed = [h for h in heads if not own.get(h[1])]
    print(f"  별표·별지를 따로 세니 {len(heads)}, 그 가운데 저마다 한 단위인 것 {len(heads) - len(missed)} ({(len(heads) - len(missed))/max(len(heads), 1):.2%})")
    swallowed = [p for p in passages if p.metadata.get("article", "").startswith("부칙") and re.search(r"^제 ?1 ?조 ?[(（](?:목적|명칭|설치|정의)", p.text, re.M)]
    swallowed += [p for p in passages if p.metadata.get("article", "").startswith("부칙") and sum(bool(re.match(r"제 ?1 ?조 ?[(（]", l)) for l in p.text.split("\n")) > 1]
    print(f"  남의 조를 삼킨 부칙 {len(swallowed)}")
    # characters: every line of the document is in a passage, or told, or lost
    within = "".join(squash(p.title) + squash(p.text) + "\0" for p in passages); lines = {squash(l) for p in passages for l in p.text.split("\n")} | {squash(p.title) for p in passages}
    told = Counter(squash(t) for _, _, t in book.left); n_in = n_told = 0; nowhere = []
    for line, i, table in lines_of(document):
        s = squash(line)
        if not s: continue
        if s in lines or s in within: n_in += len(s)
        elif told.get(s): n_told += len(s); told[s] -= 1
        elif (m := ARTICLE.match(line)) and squash(m[4]) in within: n_in += len(s)
        else:
            # a head whose title and text are apart, or a row whose cells were joined
            parts = [p for p in (squash(x) for x in re.split(r"[|\s()（）\[\]<>【】]", line)) if p]
            inside = sum(len(p) for p in parts if p in within); n_in += inside
            if inside < len(s): nowhere.append((len(s) - inside, line[:80]))
    whole = n_in + n_told + sum(k for k, _ in nowhere)
    print(f"  글자 {whole}: 단위 안 {n_in/max(whole, 1):.3%}, 말한 나머지 {n_told/max(whole, 1):.3%}, 어디에도 없음 {sum(k for k, _ in nowhere)} ({sum(k for k, _ in nowhere)/max(whole, 1):.4%})")
    print(f"  5,000자를 넘는 단위 {sum(len(p.text) > 5000 for p in passages)}, 부서를 아는 규정 {sum(bool(r.office) for r in book.regulations)}, 날짜를 아는 규정 {sum(bool(r.dates) for r in book.regulations)}, 조가 하나도 없다는 말 {sum(k == '조 없음' for k, *_ in book.odd)}")
    print(f"  읽기 {read:.1f} s, 읽고 나누기 {took:.1f} s, 메모리 {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss/1024:.0f} MB")
    if misses:
        for title, found in (("차례에만", sorted((living | repealed) - got)), ("조", lost), ("별표", missed), ("부칙", [p.doc_id for p in swallowed]), ("없음", sorted(nowhere, reverse=True))):
            for x in found[:25]: print(title, x, file=sys.stderr)

def texts_of(book):
    "(regulation, article) -> text, of the articles."
    return {(squash(r.name), p.metadata["article"]): squash(p.text) for r in book.regulations for p in r.passages if p.metadata.get("article", "").startswith("제")}

def same(name, want, book):
    got = texts_of(book)
    print(f"{name}: 규정 {len(book.regulations)}, 글이 같은 조 {sum(got.get(k) == t for k, t in want.items())}/{len(want)} ({sum(got.get(k) == t for k, t in want.items())/max(len(want), 1):.2%})")

def round_trips(path):
    "The book written in other forms and read back."
    document = read_document(path); want = texts_of(cut_book(document)); text = "\n".join(b.text for b in document.blocks)
    named = {n: c for c, (n, _) in contents(document).items()}
    bare = Document(document.name, document.kind, tuple(b for b in document.blocks if not re.fullmatch(r"(\D.*?)(【폐지】)?\s*(\d+-\d+-\d+)", re.sub(r"\s+", " ", b.text).strip())))
    same(f"{path.name}에서 차례의 줄을 뺀 것 (차례의 이름 {len(named)})", want, cut_book(bare))
    with tempfile.TemporaryDirectory() as folder:
        txt = Path(folder)/"book.txt"; txt.write_text(text, encoding="utf8")
        same(f"{path.name} -> .txt", want, cut_book(read_document(txt)))
        blocks = [list(b.rows) if b.rows else b.text for b in document.blocks]
        for kind, write in (("pdf", import_made.pdf), ("docx", import_made.docx), ("hwpx", import_made.hwpx)):
            other = Path(folder)/f"book.{kind}"; other.write_bytes(write(blocks)); begun = time.process_time(); book = cut_book(read_document(other))
            same(f"{path.name} -> .{kind}", want, book); print(f"  다시 읽고 나누기 {time.process_time() - begun:.1f} s")

def statutes(folder):
    "Every 조 and every 부칙 of statutes kept as Markdown."
    n = good = m = well = named = files = 0
    for f in sorted(folder.glob("*.md")):
        text = f.read_text(encoding="utf8"); body = text.split("\n## 부칙")[0]; files += 1
        heads = [a[1] + (a[2] or "") for a in re.finditer(r"^#{2,6} 제(\d+)조(의\d+)?", body, re.M)]; addenda = re.findall(r"^부칙\s*[(<].*$", text, re.M)
        regulations = cut_book(read_document(f)).regulations; passages = [p for r in regulations for p in r.passages]
        got = Counter(re.sub(r"^제(\d+)조(의\d+)?(-\d+)?$", r"\1\2", p.metadata["article"]) for p in passages if p.metadata["article"].startswith("제"))
        n += len(heads); good += sum(min(got[k], c) for k, c in Counter(heads).items()); extra = sum(got.values()) - len(heads)
        own = sum(p.metadata["article"].startswith("부칙") for p in passages); m += len(addenda); well += min(own, len(addenda))
        title = re.search(r"^제목: *['\"]?(.*?)['\"]?$", text, re.M); named += len(regulations) == 1 and title is not None and squash(regulations[0].name) == squash(title[1])
        marks = sum(bool(re.search(r"\*\*|\\[.]|^#", p.text, re.M)) for p in passages)
        print(f"  {files}: 조 {len(heads)} 남는 것 {extra}, 부칙 {len(addenda)} 들어온 것 {own}, Markdown 표시가 든 단위 {marks}")
    print(f"법령 {files}: 이름이 맞는 것 {named}, 조 {good}/{n}, 부칙 {well}/{m}")

def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0]); ap.add_argument("data", type=Path); ap.add_argument("--misses", action="store_true"); ap.add_argument("--one", help=argparse.SUPPRESS)
    args = ap.parse_args()
    if args.one: measure(args.data/args.one, args.misses); return
    there = [b for b in BOOKS if (args.data/b).is_file()]
    if not there and not (args.data/"statutes").is_dir(): sys.exit(f"{args.data}: {', '.join(BOOKS)}도 statutes 폴더도 없습니다")
    for b in there:
        # a process of its own: the peak of memory is that book's
        out = subprocess.run([sys.executable, *([] if sys.argv[0].endswith(Path(__file__).name) else [sys.argv[0]]), __file__, str(args.data), "--one", b, *(["--misses"] if args.misses else [])], stdout=subprocess.PIPE, text=True)
        print(out.stdout, end="")
        if out.returncode: print(f"{b}: 읽지 못했습니다 (종료 코드 {out.returncode})")
    if (args.data/"statutes").is_dir(): statutes(args.data/"statutes")
    for b in there[:1]: round_trips(args.data/b)

if __name__ == "__main__":
    if "--one" in sys.argv: main()
    else: kept.run(main)
