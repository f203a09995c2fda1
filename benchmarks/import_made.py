"""Small documents of each kind made in code, for measuring the import: nothing is needed but the standard library.

`hwpx`, `hwp`, `docx`, `pdf` take the same thing, a list of paragraphs and tables, and give the bytes of a file; `book` makes such a list of invented
regulations. The PDF names a Korean font without carrying it, as old office programs do; its text has a layer all the same."""
import io, random, struct, zipfile, zlib
from html import escape

HP = ('xmlns:hp="http://www.hancom.co.kr/hwpml/2011/paragraph" xmlns:hs="http://www.hancom.co.kr/hwpml/2011/section" '
      'xmlns:hh="http://www.hancom.co.kr/hwpml/2011/head"')
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'

WORDS = "위원회 위원장 심의 의결 사항 기준 절차 신청 승인 교직원 예산 집행 결과 보고 시설 사용 허가 관리 책임 부서 담당 기간 연장 취소 통지 서류 제출 비용 지급 한도 평가 계획 수립 변경 운영".split()
ENDS = "정한다. 할 수 있다. 하여야 한다. 제출한다. 받아야 한다. 따른다. 아니한다.".split(". ")

def sentence(rng):
    "A sentence of made-up rules."
    n = rng.randint(3, 22)
    joined = " ".join(rng.choice(WORDS) + rng.choice(("", "을", "의", "에", "은", "과", "에서", "으로")) for _ in range(n))
    return f"{joined} {rng.choice(ENDS).rstrip('.')}."

def book(regulations=3, articles=8, seed=1):
    "Invented regulations: strings (paragraphs) and lists of rows (tables); a table of one cell is a box."
    rng, out = random.Random(seed), []
    for r in range(1, regulations + 1):
        out.append(f"가온재단 {rng.choice(WORDS)} {r}호 운영 규정")
        for a in range(1, articles + 1):
            out.append(f"제{a}조({rng.choice(WORDS)} {rng.choice(WORDS)}) " + (f"① {sentence(rng)}" if a % 3 == 0 else sentence(rng)))
            if a % 3 == 0:
                out += [f"② {sentence(rng)}", "1. " + rng.choice(WORDS), "2. " + rng.choice(WORDS)]
        out += ["부칙 <2024. 3. 1.>", "이 규정은 공포한 날부터 시행한다.", [["[별표 1]"]], "여비 지급 기준",
                [["구분", "일비", "숙박비"], *([w, f"{rng.randint(1, 9)}만원", f"{rng.randint(5, 15)}만원"] for w in ("임원", "부장", "직원"))]]
    return out

def zipped(members) -> bytes:
    "A ZIP of (name, text or bytes)."
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, text in members:
            z.writestr(name, text)
    return out.getvalue()

# ---- HWPX

def _hp(text): return f'<hp:p paraPrIDRef="0"><hp:run><hp:t>{escape(text)}</hp:t></hp:run></hp:p>'

def _hp_table(rows):
    def cell(i, j, text): return (f'<hp:tc><hp:subList>{_hp(text)}</hp:subList><hp:cellAddr colAddr="{j}" rowAddr="{i}"/>'
                                  '<hp:cellSpan colSpan="1" rowSpan="1"/></hp:tc>')
    inside = "".join("<hp:tr>" + "".join(cell(i, j, c) for j, c in enumerate(row)) + "</hp:tr>" for i, row in enumerate(rows))
    return f'<hp:p paraPrIDRef="0"><hp:run><hp:tbl>{inside}</hp:tbl></hp:run></hp:p>'

def hwpx(blocks) -> bytes:
    "A HWPX."
    body = "".join(_hp(b) if isinstance(b, str) else _hp_table(b) for b in blocks)
    return zipped([("mimetype", "application/hwp+zip"), ("META-INF/manifest.xml", "<manifest/>"), ("Contents/header.xml", f"<hh:head {HP}/>"),
                   ("Contents/content.hpf", "<package/>"), ("Contents/section0.xml", f"<hs:sec {HP}>{body}</hs:sec>")])

# ---- DOCX

def _wp(text): return f'<w:p><w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'

def docx(blocks) -> bytes:
    "A DOCX."
    def table(rows): return "<w:tbl>" + "".join("<w:tr>" + "".join(f"<w:tc>{_wp(c)}</w:tc>" for c in row) + "</w:tr>" for row in rows) + "</w:tbl>"
    body = "".join(_wp(b) if isinstance(b, str) else table(b) for b in blocks)
    return zipped([("[Content_Types].xml", "<Types/>"), ("word/document.xml", f"<w:document {W}><w:body>{body}</w:body></w:document>")])

# ---- HWP 5: records in an OLE container

def _record(tag, level, payload):
    size = len(payload)
    head = tag | level << 10 | min(size, 0xFFF) << 20
    return struct.pack("<I", head) + (struct.pack("<I", size) if size >= 0xFFF else b"") + payload

def _hwp_paragraph(text, level=0, control=b""):
    raw = (text + "\r").encode("utf-16-le")
    if control: raw = struct.pack("<H", 11) + control + struct.pack("<IIH", 0, 0, 11)[2:] + raw     # eight places: code, kind, filling, code
    head = struct.pack("<IIHBBHHHI", len(raw)//2, 0, 0, 0, 0, 1, 0, 0, 0)
    return _record(66, level, head) + _record(67, level + 1, raw)

def _hwp_table(rows):
    out = _hwp_paragraph("", 0, b"tbl "[::-1]) + _record(71, 1, b"tbl "[::-1] + bytes(42))
    out += _record(77, 2, struct.pack("<IHH", 0, len(rows), len(rows[0])) + bytes(14 + 2*len(rows)))
    for i, row in enumerate(rows):
        for j, c in enumerate(row):
            out += _record(72, 2, struct.pack("<IIHHHH", 1, 0, j, i, 1, 1) + bytes(26)) + _hwp_paragraph(c, 2)
    return out

def ole(streams:dict) -> bytes:
    "An OLE file (version 3) of name -> bytes; 'Storage/Name' stands in a storage."
    names = ["Root Entry"] + sorted({n.split("/")[0] for n in streams if "/" in n}) + sorted(streams)
    fat, mini, mini_fat, sectors = [], bytearray(), [], []
    def put(raw):
        first = len(sectors)
        for i in range(0, len(raw), 512): sectors.append(raw[i:i + 512].ljust(512, b"\0")); fat.append(len(sectors))
        if len(sectors) > first: fat[-1] = 0xFFFFFFFE
        return first if len(sectors) > first else 0xFFFFFFFE
    starts = {}
    for name, raw in streams.items():
        if len(raw) >= 4096: starts[name] = put(raw); continue
        starts[name] = len(mini)//64
        for i in range(0, max(len(raw), 1), 64): mini += raw[i:i + 64].ljust(64, b"\0"); mini_fat.append(len(mini)//64)
        mini_fat[-1] = 0xFFFFFFFE
    root, minis = put(bytes(mini)), put(b"".join(struct.pack("<I", x) for x in mini_fat).ljust(-(-len(mini_fat)//128)*512, b"\xff"))
    storages = [n for n in names[1:] if n not in streams]
    top = storages + [n for n in streams if "/" not in n]
    def chain(of):         # siblings as a list to the right
        return {n: names.index(m) for n, m in zip(of, of[1:])}
    right = chain(top) | {k: v for s in storages for k, v in chain([n for n in streams if n.startswith(s + "/")]).items()}
    def entry(n):
        kind = 5 if n == "Root Entry" else 1 if n in storages else 2
        child = names.index(top[0]) if kind == 5 else names.index(next(m for m in streams if m.startswith(n + "/"))) if kind == 1 else 0xFFFFFFFF
        wide = n.split("/")[-1].encode("utf-16-le")
        start, size = (root, len(mini)) if kind == 5 else (0, 0) if kind == 1 else (starts[n], len(streams[n]))
        return (wide.ljust(64, b"\0") + struct.pack("<HBBIII", len(wide) + 2, kind, 1, 0xFFFFFFFF, right.get(n, 0xFFFFFFFF), child) + bytes(36)
                + struct.pack("<IQ", start, size))
    entries = b"".join(entry(n) for n in names)
    entries += (bytes(64) + struct.pack("<HBBIII", 0, 0, 0, *[0xFFFFFFFF]*3) + bytes(48))*(-len(names) % 4)
    directory = put(entries)
    n = 1
    while n*128 < len(fat) + n: n += 1
    table = fat + [0xFFFFFFFD]*n
    head = (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH6sIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, bytes(6), 0, n, directory, 0, 4096, minis,
            -(-len(mini_fat)//128), 0xFFFFFFFE, 0) + struct.pack("<109I", *(range(len(fat), len(fat) + n)), *[0xFFFFFFFF]*(109 - n)))
    return head + b"".join(sectors) + struct.pack(f"<{n*128}I", *(table + [0xFFFFFFFF]*(n*128 - len(table))))

def hwp(blocks) -> bytes:
    "A HWP 5."
    body = b"".join(_hwp_paragraph(b) if isinstance(b, str) else _hwp_table(b) for b in blocks)
    squeezed = zlib.compressobj(9, zlib.DEFLATED, -15)
    section = squeezed.compress(body) + squeezed.flush()
    head = b"HWP Document File".ljust(32, b"\0") + struct.pack("<II", 0x05000300, 1)
    return ole({"FileHeader": head.ljust(256, b"\0"), "DocInfo": zlib.compress(b"")[2:-4], "BodyText/Section0": section})

# ---- PDF

def _wide(c): return 5 if c.isascii() else 10          # the font of `pdf` has no other widths

def wrapped(text, most=480, by="word"):
    "The lines of a paragraph: broken between words ('word') or anywhere ('letter'; the blank at a break goes)."
    lines, line, width = [], "", 0
    for piece in (text.replace(" ", " \0").split("\0") if by == "word" else text):
        w = sum(map(_wide, piece))
        if width + sum(map(_wide, piece.rstrip())) > most and line:
            lines.append(line.rstrip())
            line, width = "", 0
            if piece == " ": continue
        while by == "word" and w > most:
            cut = max(int(most//10), 1)
            lines.append(piece[:cut])
            piece = piece[cut:]
            w = sum(map(_wide, piece))
        line, width = line + piece, width + w
    return [*lines, line.rstrip()] if line.strip() or not lines else lines

def pdf(blocks, by="word", header="", numbers=True, per_page=46, ruled=True, most=480) -> bytes:
    "A PDF: paragraphs broken into lines of `most` points, tables with ruling lines, a header and a page number on each page."
    rows = []           # (text, the wrapped cells of a table's row or None)
    for b in blocks:
        if isinstance(b, str): rows += [(l, None) for l in wrapped(b, most, by)]
        else: rows += [("", [wrapped(c, max(most/len(row) - 6, 10), by) if c else [""] for c in row]) for row in b]
    pages, high = [[]], 0
    for text_, row in rows:
        lines = max(map(len, row)) if row else 1
        if high + lines > per_page and pages[-1]:
            pages.append([])
            high = 0
        pages[-1].append((text_, row))
        high += lines
    # one letter alone has no extent in a font that is not there, and readers drop what has none
    def text(x, y, s): return f"BT /F1 10 Tf {x} {y} Td <{(s if len(s) > 1 else s + ' ').encode('utf-16-be').hex()}> Tj ET\n"
    objects = [b"", b"", b"<< /Type /Font /Subtype /Type0 /BaseFont /HYSMyeongJo-Medium /Encoding /UniKS-UCS2-H /DescendantFonts [4 0 R] >>",
               b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /HYSMyeongJo-Medium /CIDSystemInfo << /Registry (Adobe) /Ordering (Korea1) /Supplement 1 >>"
               b" /DW 1000 /W [1 95 500] /FontDescriptor 5 0 R >>",
               b"<< /Type /FontDescriptor /FontName /HYSMyeongJo-Medium /Flags 6 /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 800 /Descent -200"
               b" /CapHeight 700 /StemV 80 >>"]
    kids = []
    for number, page in enumerate(pages, 1):
        said = text(57, 800, header) if header else ""
        y = 770
        for line, row in page:
            if row is None:
                said += text(57, y, line) if line else ""
                y -= 15
                continue
            w, lines = most/len(row), max(map(len, row))
            for j, cell in enumerate(row):
                for k, c in enumerate(cell): said += text(round(60 + j*w), y - 15*k, c) if c else ""
                if ruled: said += f"{57 + j*w:.1f} {y + 11 - 15*lines} {w:.1f} {15*lines} re S\n"
            y -= 15*lines
        if numbers: said += text(285, 40, f"- {number} -")
        raw = zlib.compress(said.encode())
        kids.append(len(objects) + 1)
        objects.append(b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>" % (len(objects) + 2))
        objects.append(b"<< /Filter /FlateDecode /Length %d >>\nstream\n" % len(raw) + raw + b"\nendstream")
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R >>"
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(b"%d 0 R" % k for k in kids))
    out, at = bytearray(b"%PDF-1.5\n"), []
    for i, o in enumerate(objects, 1):
        at.append(len(out))
        out += b"%d 0 obj\n" % i + o + b"\nendobj\n"
    where = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(at) + 1) + b"".join(b"%010d 00000 n \n" % a for a in at)
    return bytes(out) + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(at) + 1, where)

# ---- run by itself: what is made is read again

if __name__ == "__main__":
    import sys, tempfile
    from pathlib import Path
    from rag_quality.data import import_documents
    made, wrong = book(2, 4), []
    want = [b.partition("(")[0] for b in made if isinstance(b, str) and b.startswith("제")]
    with tempfile.TemporaryDirectory() as d:
        for write in (hwpx, hwp, docx, pdf):
            file = Path(d)/f"book.{write.__name__}"
            file.write_bytes(write(made))
            found = [p.title.rpartition("제")[2].partition("(")[0] for p in import_documents(file).passages]
            got = [f"제{t}" for t in found if t[:1].isdigit()]
            print(f"{write.__name__:5} 조문 {len(got)}/{len(want)}")
            wrong += [write.__name__] if got != want else []
    sys.exit(f"읽은 조문이 만든 것과 다릅니다: {', '.join(wrong)}" if wrong else 0)
