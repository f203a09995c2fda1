"""What `diff_editions` says of amendments that were planted, and of two real editions: python benchmarks/editions.py [DATA] [--seed 0] [--misses]

Planted: in the bundled book (and in DATA/rulebook.hwpx) about one article in seven are amended in one of eight ways, of which the right answer is known: a number
changed, a sentence added, deleted, repealed ('삭제'), a new article put before (the numbers that follow move), moved to another regulation, a regulation renamed, white
space and marks of amendment only. Right: the kind that was planted (and for what was renumbered or moved, the article where it is now); false: an article that
nobody touched and that is told as changed. DATA: a folder with rulebook.hwp and rulebook.hwpx, two editions of a book: counts, seconds, memory. No text is kept.
"""
import argparse, random, re, resource, sys, time
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

from rag_quality.core import Passage
from rag_quality.data import bundled
from rag_quality.data.editions import KINDS, diff_editions, editions_text

import kept

WAYS = ("number", "sentence", "deleted", "repealed", "inserted", "moved", "space")


def numbered(p, n):
    "The same article under another number."
    label = f"제{n}조" + (m[1] if (m := re.fullmatch(r"제\d+조(의\d+)", p.metadata.get("article", ""))) else "")
    return replace(p, doc_id=p.doc_id.rpartition(":")[0] + ":" + label, title=re.sub(r"제\d+조(?:의\d+)?", label, p.title, count=1), metadata={**p.metadata, "article": label})

def number_of(p): return int(m[1]) if (m := re.fullmatch(r"제(\d+)조(?:의\d+)?", p.metadata.get("article", ""))) else None

def plant(passages, seed):
    "(the amended passages, {old id: (kind, new id or None)}, ids that are new)."
    rng, books = random.Random(seed), defaultdict(list)
    for p in passages: books[p.metadata.get("regulation", ""), p.metadata.get("code", "")].append(p)
    names, truth, new, moved, out = list(books), {}, set(), [], []
    for key in names:
        ps = books[key]
        rename = rng.random() < .04 and len(ps) >= 4
        label = f"{key[0]} 운영 규칙" if rename else key[0]
        shift, kept_book = 0, []
        for p in ps:
            way = rng.choice(WAYS) if number_of(p) and len(p.text) >= 60 and rng.random() < .15 else None
            kind, q = "renamed" if rename else "same", p
            if way == "number" and (m := re.search(r"\d+(?=일|년|명|원|회|학점|점)", p.text)):
                q, kind = replace(p, text=p.text[:m.start()] + str(int(m[0]) + 3) + p.text[m.end():]), "changed"
            elif way == "sentence": q, kind = replace(p, text=p.text + "\n이 경우 담당 부서는 처리한 결과를 열흘 안에 신청한 사람에게 알려야 한다."), "changed"
            elif way == "space": q = replace(p, text=p.text.replace(" ", "  ", 3) + " <개정 2026. 1. 2.>")
            elif way == "repealed": q, kind = replace(p, text="삭제 <2026. 1. 2.>", metadata={**p.metadata, "deleted": True}), "repealed"
            elif way in ("deleted", "moved"):
                if way == "moved": moved.append((p, key))
                truth[p.doc_id] = "deleted", None
                continue
            elif way == "inserted" and "조의" not in p.metadata["article"]:
                n = number_of(p) + shift
                fresh = numbered(Passage(p.doc_id, f"{label}에 따른 업무를 전자 문서로 처리할 때의 절차는 {n}월 {shift + 3}일까지 따로 정하여 알린다.", f"{label} 제{n}조(전자 문서 {n})",
                                         {**p.metadata, "article_title": f"전자 문서 {n}", "deleted": False}), n)
                kept_book.append(fresh); new.add(fresh.doc_id); shift += 1
            if shift and number_of(p): q = numbered(q, number_of(p) + shift); kind = kind if kind == "repealed" else "renumbered"
            kept_book.append(q); truth[p.doc_id] = kind, q.doc_id
        out.append([replace(p, metadata={**p.metadata, "regulation": label}) for p in kept_book])
    for p, key in moved:
        home = rng.choice([b for b in out if b and b[0].metadata.get("code") != key[1] and max((number_of(q) or 0 for q in b), default=0)])
        n = max(number_of(q) or 0 for q in home) + 1
        q = numbered(replace(p, doc_id=home[0].doc_id, metadata={**p.metadata, **{k: home[0].metadata[k] for k in ("regulation", "code") if k in home[0].metadata}}), n)
        home.append(q); truth[p.doc_id] = "moved", q.doc_id
    return [p for b in out for p in b], truth, new

def planted(name, passages, seed, misses):
    amended, truth, new = plant(passages, seed)
    t = time.process_time()
    found = diff_editions(passages, amended)
    spent = time.process_time() - t
    got = {c.old.doc_id: (c.kind, c.new.doc_id if c.new and c.kind != "merged" else None) for c in found.changes if c.old}
    right, n, wrong = Counter(), Counter(), 0
    for d, (kind, to) in truth.items():
        n[kind] += 1
        ok = got.get(d) == (kind, to)
        right[kind] += ok
        wrong += kind in ("same", "renamed") and not ok
        if misses and not ok: print(f"   {d}: planted {kind} {to}, told {got.get(d)}", file=sys.stderr)
    added = {c.new.doc_id for c in found.of("added", "split")}
    print(f"{name}: {len(passages):,} passages, {spent:.2f} s")
    for k in KINDS:
        if n[k]: print(f"  {k}: {right[k]:,} of {n[k]:,} right")
    print(f"  added: {len(added & new)} of {len(new)} right; told as added without being: {len(added - new)}")
    changed = sum(v for k, v in n.items() if k not in ("same", "renamed"))
    print(f"  amended: {sum(v for k, v in right.items() if k not in ('same', 'renamed'))} of {changed} right; untouched articles told as changed: {wrong}")

def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("data", nargs="?", type=Path)
    ap.add_argument("--seed", type=int, default=0)
    ap.add_argument("--misses", action="store_true")
    ap.add_argument("--slice", action="store_true", help="the bundled book only")
    args = ap.parse_args()
    planted("bundled", bundled().passages, args.seed, args.misses)
    if args.data:
        from rag_quality.data.imports import import_documents
        t = time.process_time()
        old, new = (import_documents(args.data/f"rulebook.{k}", checked=False).passages for k in ("hwpx", "hwp"))
        read = time.process_time() - t
        planted("rulebook.hwpx", old, args.seed, args.misses)
        t = time.process_time()
        found = diff_editions(old, new)
        print(f"rulebook.hwpx -> rulebook.hwp: read {read:.1f} s, compared {time.process_time() - t:.1f} s, {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")
        print("  " + ", ".join(f"{k} {v:,}" for k, v in found.counts.items()))
        print(f"  regulations: {found.regulations[0]} and {found.regulations[1]}, added {len(found.added)}, deleted {len(found.deleted)}, renamed {len(found.renamed)}")
        if args.misses: print(editions_text(found, shown=8), file=sys.stderr)
    kept.note(seed=args.seed)


if __name__ == "__main__": kept.run(main)
