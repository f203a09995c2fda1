"""The spec's figures of phase 1 on the bundled collection, from labels given by reading (benchmarks/transformation_labels.jsonl).

A label holds for the exact text that was read: where today's transformer writes something else, the query counts as not labelled and is told.
With queries.jsonl of another collection (metadata.register) only handling and false positives are counted: nothing there is labelled.
usage: python benchmarks/transformation.py [QUERIES.jsonl] [--write-unlabelled FILE]
"""
import argparse, json, sys
from pathlib import Path

from rag_quality.colloquial import ColloquialTransformer
from rag_quality.core import Query
from rag_quality.data import bundled

import kept

LABELS = Path(__file__).with_name("transformation_labels.jsonl")

def main():
    ap = argparse.ArgumentParser(); ap.add_argument("queries", nargs="?", type=Path); ap.add_argument("--write-unlabelled", metavar="FILE"); args = ap.parse_args()
    if args.queries and not args.queries.is_file(): print(f"파일이 없습니다: {args.queries}", file=sys.stderr); return 2
    rows = [json.loads(l) for l in args.queries.read_text(encoding="utf8").splitlines() if l.strip()] if args.queries else []
    queries = [Query(r["_id"], r["text"], r["metadata"]) for r in rows] if args.queries else bundled().queries
    transformer, labels = ColloquialTransformer(), {}
    if LABELS.is_file():
        for line in LABELS.read_text(encoding="utf8").splitlines():
            row = json.loads(line); labels[row["query_id"], row["transformed"]] = row
    colloquial, formal, read, unread = 0, 0, [], []
    handled, touched = 0, []
    for q in queries:
        r = transformer.transform(q.text)
        if q.metadata["register"] == "formal":
            formal += 1
            if r.transformed_query != q.text: touched.append((q.text, r.transformed_query))
            continue
        colloquial += 1; handled += r.was_transformed
        if not r.was_transformed: continue
        row = None if args.queries else labels.get((q.query_id, r.transformed_query))
        if row: read.append(row)
        else: unread.append({"query_id": q.query_id, "query": q.text, "transformed": r.transformed_query})
    print(f"colloquial handling (recognised and transformed): {handled}/{colloquial} = {handled/colloquial:.3f} (target >= 0.85)")
    print(f"false positives (formal queries touched): {len(touched)}/{formal} = {len(touched)/formal:.3f} (target < 0.05; changed in meaning: < 0.01)")
    for before, after in touched: print(f"    {before} -> {after}")
    if args.queries: return 0
    if read:
        good = [r for r in read if r["meaning_kept"] and r["formal"]]
        kept = sum(r["meaning_kept"] for r in read)
        print(f"transformation accuracy (meaning kept and formal), n_labelled/n = {len(read)}/{len(read)+len(unread)}: {len(good)/len(read):.3f} (target >= 0.95, at least 200 read)")
        print(f"    meaning kept {kept/len(read):.3f}, formal {sum(r['formal'] for r in read)/len(read):.3f}")
    else: print("transformation accuracy: nothing labelled")
    if args.write_unlabelled:
        Path(args.write_unlabelled).write_text("".join(json.dumps(u, ensure_ascii=False) + "\n" for u in unread), encoding="utf8")

    return 0

if __name__ == "__main__": kept.run(main, split="test")
