"""Damaged and random files: is each refused in one line, quickly, within bounds? python benchmarks/import_fuzz.py [--n 5000] [--kinds hwpx ...] [--slice] [--show]

`--n` files of each kind (hwpx, hwp, pdf, docx, html, md, txt, zip), made from the small documents of import_made.py: cut short, bits turned, bytes of
another file put in, members swapped, dropped or filled with noise, text that closes and opens at random, and plain noise under the kind's first bytes.
Each is read in a process whose memory is bounded. Counted: read, refused (`DataError`), not installed (`MissingExtra`); anything else raised is a
failure, as are a file that takes more than BOUND_S of CPU, a process that dies, and a file that appears in the working folder.
"""
import argparse, io, multiprocessing, os, random, resource, sys, tempfile, time, traceback, zipfile
from collections import Counter
from pathlib import Path

import import_made as made
import kept
from rag_quality.core import DataError, MissingExtra
from rag_quality.data.documents import read_document, read_documents
from rag_quality.data.files import Problems

BOUND_S, MEMORY = 10.0, 4 << 30
MAGIC = {"hwpx": b"PK\x03\x04", "docx": b"PK\x03\x04", "zip": b"PK\x03\x04", "hwp": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "pdf": b"%PDF-1.7\n", "html": b"<html>", "md": b"---\n", "txt": b""}
TAGS = {"hwpx": ("hp:tbl", "hp:tr", "hp:tc", "hp:p", "hp:run", "hp:t", "hp:subList"), "docx": ("w:tbl", "w:tr", "w:tc", "w:p", "w:r", "w:t"),
        "html": ("table", "tr", "td", "p", "div", "b", "script", "title", "h1", "!--")}

def html(blocks):
    def table(rows): return "<table>" + "".join("<tr>" + "".join(f"<td>{c}</td>" for c in row) + "</tr>" for row in rows) + "</table>"
    return ("<html><body>" + "".join(f"<p>{b}</p>" if isinstance(b, str) else table(b) for b in blocks) + "</body></html>").encode()

def text(blocks): return "\n".join(b if isinstance(b, str) else "\n".join("| " + " | ".join(r) + " |" for r in b) for b in blocks)

def whole(kind, seed):
    "The bytes of an undamaged file."
    rng = random.Random(seed)
    blocks = made.book(rng.randint(1, 2), rng.randint(1, 6), seed)
    if kind == "txt": return text(blocks).encode(rng.choice(("utf-8", "utf-8-sig", "cp949", "utf-16")))
    if kind == "md": return ("---\n제목: 가온 규정\n---\n# 가온 규정\n" + text(blocks).replace("①", "**①**")).encode()
    if kind == "html": return html(blocks)
    if kind == "zip": return made.zipped([(f"{i}.{k}", whole(k, seed + i)) for i, k in enumerate(("txt", "hwpx", "md"))])
    if kind == "pdf": return made.pdf(blocks, by=rng.choice(("word", "letter")), header="가온 규정집")
    return getattr(made, kind)(blocks)

def members(raw):
    with zipfile.ZipFile(io.BytesIO(raw)) as z: return [(n, z.read(n)) for n in z.namelist()]

def noisy(raw, rng, n=None):
    "Bytes with some of them changed."
    out = bytearray(raw)
    for _ in range(n or rng.choice((1, 3, 10, 100))):
        if out: out[rng.randrange(len(out))] = rng.randrange(256)
    return bytes(out)

def tangled(raw, kind, rng):
    "Markup with tags put in and taken out, and numbers made huge."
    parts = raw.decode("utf8", "replace")
    for _ in range(rng.choice((1, 4, 30))):
        at, tag = rng.randrange(len(parts) + 1), rng.choice(TAGS[kind])
        piece = rng.choice((f"<{tag}>", f"</{tag}>", f"<{tag}>"*rng.choice((1, 50, 1500)), f"<{tag} rowSpan='99999999' w:val='99999999' colspan=99999999 rowspan='-1'>"))
        parts = parts[:at] + piece + parts[at:] if rng.random() < .7 else parts[:at] + parts[at + rng.randrange(40):]
    return parts.encode()

def larger(raw, rng):
    "Numbers in the markup as numbers of any size."
    out = raw.decode("utf8", "replace")
    for _ in range(6):
        at = [i for i, c in enumerate(out) if c.isdigit()]
        if at:
            i = rng.choice(at)
            out = out[:i] + rng.choice(("0", "-1", "99999", "999999999", "9"*30)) + out[i + 1:]
    return out.encode()

def damaged(kind, seed):
    "(how, bytes) of a file of the kind."
    rng = random.Random(seed)
    how = rng.choice(("cut", "bits", "bits", "other", "noise", "inside", "inside", "inside"))
    raw = whole(kind, seed % 40)
    if how == "cut": return how, raw[:rng.randrange(len(raw))]
    if how == "bits": return how, noisy(raw, rng)
    if how == "noise": return how, MAGIC[kind] + rng.randbytes(rng.randrange(1, 3000))
    if how == "other":
        other = whole(rng.choice(list(MAGIC)), seed % 17)
        at = rng.randrange(len(raw))
        return how, raw[:at] + other[rng.randrange(len(other)):] + (raw[at:] if rng.random() < .5 else b"")
    if kind in ("hwpx", "docx", "zip"):
        inside = members(raw)
        k = rng.randrange(len(inside))
        what = rng.choice(("swap", "drop", "noise", "names", "larger", "tangle", "twice"))
        if what == "swap" and len(inside) > 1:
            j = rng.randrange(len(inside))
            inside[k], inside[j] = (inside[k][0], inside[j][1]), (inside[j][0], inside[k][1])
        elif what == "drop": inside.pop(k)
        elif what == "names": inside[k] = (rng.choice(("../../x.txt", "/tmp/x.hwpx", "C:\\x.md", "a"*300, "..")), inside[k][1])
        elif what == "twice": inside += [(n + "x", b) for n, b in inside]
        elif what == "noise": inside[k] = (inside[k][0], noisy(inside[k][1], rng))
        else:
            k = max(range(len(inside)), key=lambda i: len(inside[i][1]))
            inside[k] = (inside[k][0], larger(inside[k][1], rng) if what == "larger" or kind not in TAGS else tangled(inside[k][1], kind, rng))
        return f"inside: {what}", made.zipped(inside)
    if kind == "html": return "inside: tangle", tangled(raw, kind, rng)
    if kind == "hwp":
        records = bytearray(b"".join(made._hwp_paragraph(b) if isinstance(b, str) else made._hwp_table(b) for b in made.book(1, 3, seed % 40)))
        for _ in range(rng.choice((1, 5, 50))): records[rng.randrange(len(records))] = rng.choice((0, 255, rng.randrange(256)))
        head = b"HWP Document File".ljust(32, b"\0") + bytes((rng.randrange(4), 3, 0, rng.choice((5, 5, 5, 4)))) + bytes((rng.choice((0, 0, 0, 1, 2, 4)), 0, 0, 0))
        return "inside: records", made.ole({"FileHeader": head.ljust(256, b"\0"), "DocInfo": b"\0"*8, "BodyText/Section0": bytes(records)})
    if kind == "pdf": return "inside: larger", larger(raw, rng) if rng.random() < .5 else raw.replace(rng.choice((b"/Length", b"/Kids", b"/Count", b"endobj", b"/Type")), rng.randbytes(5), rng.choice((1, -1)))
    pieces = ("|", "\t", "```", "---\n", "┌─┬", "│", "<!--", "**", "\\", "\f", "제1조(", "\0", "\u200b", "[[[(", "| a |\n", "    ", "다.\n", "- 1 -\n", "#", "\ud7a3"*200, "\n"*50)
    out = raw.decode("utf8", "replace")
    for _ in range(rng.choice((3, 30, 300))):
        at = rng.randrange(len(out) + 1)
        out = out[:at] + rng.choice(pieces)*rng.choice((1, 1, 20)) + out[at:]
    return "inside: marks", out.encode("utf8", "replace")

def run(job):
    "(kind, counts, failures, slowest, peak MB) of a chunk."
    kind, seeds, folder = job
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.chdir(folder)
    before = {p for p in Path(folder).rglob("*")}
    counts, failures, slowest = Counter(), [], (0.0, None)
    path = Path(folder)/f"{os.getpid()}.{kind}"
    for seed in seeds:
        how, raw = damaged(kind, seed)
        path.write_bytes(raw)
        start = time.process_time()
        try:
            if kind == "zip":
                problems = Problems()
                said = list(read_documents(path, problems))
                counts["read" if said else "refused"] += 1
                if any("\n" in p or not p.strip() for p in problems): failures.append((seed, how, "more than a line", str(problems)[:200]))
            else:
                read_document(path)
                counts["read"] += 1
        except DataError as e:
            counts["refused"] += 1
            if "\n" in str(e) or not str(e).strip(): failures.append((seed, how, "more than a line", str(e)[:200]))
        except MissingExtra: counts["not installed"] += 1
        except BaseException as e: failures.append((seed, how, type(e).__name__, "".join(traceback.format_exception(e)[-3:])[-400:]))
        took = time.process_time() - start
        slowest = max(slowest, (took, seed), key=lambda x: x[0])
        if took > BOUND_S: failures.append((seed, how, "slow", f"{took:.1f} s"))
    path.unlink()
    if new := {p for p in Path(folder).rglob("*")} - before - {path}: failures.append((seeds[0], "-", "file written", str(sorted(new))[:200]))
    return kind, counts, failures, slowest, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss/1024

def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--n", type=int, default=5000); ap.add_argument("--kinds", nargs="+", default=list(MAGIC), choices=list(MAGIC)); ap.add_argument("--seed", type=int, default=22)
    ap.add_argument("--slice", action="store_true"); ap.add_argument("--show", action="store_true"); ap.add_argument("--jobs", type=int, default=1)
    args = ap.parse_args()
    n = 60 if args.slice else args.n
    table, bad = [], 0
    for kind in args.kinds:
        seeds = [args.seed*1_000_003 + i for i in range(n)]
        counts, failures, slow, peak = Counter(), [], (0.0, None), 0.0
        with tempfile.TemporaryDirectory() as folder, multiprocessing.get_context("spawn").Pool(args.jobs, maxtasksperchild=1) as pool:
            for _, c, f, s, mb in pool.imap_unordered(run, [(kind, seeds[i:i + 500], folder) for i in range(0, n, 500)]):
                counts += c; failures += f; slow = max(slow, s, key=lambda x: x[0]); peak = max(peak, mb)
        bad += len(failures)
        table.append({"kind": kind, "files": n, "read": counts["read"], "refused": counts["refused"], "not installed": counts["not installed"], "failures": len(failures)})
        print(f"{kind}: {n} files: {counts['read']} read, {counts['refused']} refused, {counts['not installed']} not installed, {len(failures)} failures (target 0)", flush=True)
        print(f"{kind}: slowest {slow[0]:.2f} s of CPU (seed {slow[1]}; bound {BOUND_S:g} s), peak {peak:.0f} MB", file=sys.stderr if args.slice else sys.stdout, flush=True)
        for what, many in Counter((f[1], f[2]) for f in failures).most_common(8): print(f"FAILURE {kind} {many}x {what[1]} ({what[0]}): {next(f for f in failures if f[1:3] == what)[0]}", flush=True)
        if args.show:
            for f in failures[:5]: print(*f, sep=" | ")
    kept.note(n=sum(r["files"] for r in table), seed=args.seed, table=table)
    return 1 if bad else 0

if __name__ == "__main__": kept.run(main)
