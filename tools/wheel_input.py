"""What tools/wheel_check.py feeds to the commands: the rules of an invented company (no campus), questions, answers, labels, a batch."""
import csv, json, zipfile
from pathlib import Path

RULES = {
    "휴가 규정": [
        ("목적", "이 규정은 물결교통공사 직원의 휴가에 관한 사항을 정함을 목적으로 한다."),
        ("연차휴가", "① 1년간 80퍼센트 이상 출근한 직원에게 15일의 연차휴가를 준다.\n② 계속하여 근로한 기간이 1년 미만인 직원에게는 1개월 개근할 때마다 1일의 연차휴가를 준다."),
        ("병가", "① 질병이나 부상으로 직무를 수행할 수 없는 직원은 연 60일의 범위에서 병가를 받을 수 있다.\n② 병가가 연속하여 7일을 넘으면 의사의 진단서를 제출하여야 한다."),
        ("경조휴가", "직원 본인이 결혼하면 5일, 자녀가 결혼하면 1일의 경조휴가를 준다."),
        ("육아휴직", "만 8세 이하의 자녀를 둔 직원은 1년의 범위에서 육아휴직을 신청할 수 있다. 육아휴직 기간은 근속기간에 산입한다."),
        ("휴가의 신청", "휴가를 받으려는 직원은 3일 전까지 소속 부서의 장에게 휴가신청서를 제출하여 승인을 받아야 한다. 급한 사정이 있으면 사후에 제출할 수 있다."),
    ],
    "주차장 운영 규정": [
        ("적용범위", "이 규정은 공사가 운영하는 모든 공영주차장에 적용한다."),
        ("주차요금", "주차요금은 최초 30분까지 600원으로 하고, 이후 10분마다 200원을 더한다. 1일 주차요금의 상한은 9,000원으로 한다."),
        ("요금의 감면", "① 장애인이 탄 자동차와 국가유공자의 자동차는 주차요금의 80퍼센트를 감면한다.\n② 경형자동차와 저공해자동차는 주차요금의 50퍼센트를 감면한다."),
        ("정기권", "월 정기권의 요금은 10만원으로 한다. 정기권을 해지하면 남은 기간의 요금을 날짜로 계산하여 반환한다."),
        ("견인", "주차구획 밖에 주차하거나 30일을 넘겨 방치한 자동차는 견인할 수 있으며, 견인에 든 비용은 자동차의 소유자가 부담한다."),
        ("손해배상", "주차장에서 자동차가 훼손되거나 도난된 때에는 공사의 과실이 있는 경우에 한하여 배상한다."),
    ],
    "출장 여비 규정": [
        ("여비의 종류", "여비는 교통비, 숙박비, 식비와 일비로 나눈다."),
        ("숙박비", "숙박비는 1박에 8만원을 상한으로 실비를 지급한다. 서울특별시로 출장한 경우의 상한은 10만원으로 한다."),
        ("여비의 정산", "출장한 직원은 출장을 마친 날부터 7일 이내에 영수증을 갖추어 여비를 정산하여야 한다."),
        ("여비의 반납", "출장이 취소되면 미리 받은 여비를 지체 없이 반납하여야 한다."),
    ],
}

# (colloquial, formal, article that answers)
ASKED = [
    ("몸이 아파서 며칠 못 나가는데 진단서 내야 돼요?", "병가 시 진단서의 제출", ("휴가 규정", 3)), ("나 결혼하는데 며칠 쉴 수 있어?", "본인 결혼에 따른 경조휴가의 일수", ("휴가 규정", 4)),
    ("입사한 지 반년인데 연차 나오나요", "근로기간 1년 미만인 직원의 연차휴가", ("휴가 규정", 2)), ("애 키우느라 쉬고 싶은데 얼마나 돼요", "육아휴직의 기간", ("휴가 규정", 5)),
    ("휴가 쓰려면 누구한테 언제까지 말해야 돼?", "휴가의 신청 절차", ("휴가 규정", 6)), ("주차비 하루 종일 세우면 얼마예요", "1일 주차요금의 상한", ("주차장 운영 규정", 2)),
    ("경차는 깎아 주나요?", "경형자동차의 주차요금 감면", ("주차장 운영 규정", 3)), ("정기권 끊었다가 관두면 돈 돌려줘요?", "정기권 해지 시 요금의 반환", ("주차장 운영 규정", 4)),
    ("차 끌려갔는데 돈은 누가 내?", "견인에 든 비용의 부담", ("주차장 운영 규정", 5)), ("주차장에서 차 긁혔는데 물어주나요", "주차장에서 훼손된 자동차의 손해배상", ("주차장 운영 규정", 6)),
    ("서울 출장 가면 방값 얼마까지 나와요", "서울특별시 출장의 숙박비 상한", ("출장 여비 규정", 2)), ("출장 갔다 와서 영수증 언제까지 내?", "출장 여비의 정산 기한", ("출장 여비 규정", 3)),
    ("출장 취소됐는데 받은 돈 어떡해", "출장 취소 시 여비의 반납", ("출장 여비 규정", 4)), ("장애인 차는 주차비 얼마나 빼 줘요", "장애인이 탄 자동차의 주차요금 감면", ("주차장 운영 규정", 3)),
]

def title(rule, n): return f"{rule} 제{n}조({RULES[rule][n-1][0]})"
def text(rule, n): return RULES[rule][n-1][1]
def doc_id(rule, n): return f"{list(RULES).index(rule)}-{n}"

def lines(path, rows): path.parent.mkdir(parents=True, exist_ok=True); path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), encoding="utf8"); return path

ANSWERS = [      # (id, question, answer, article given as context, right?)
    ("a1", "연속 10일 병가에 진단서가 필요한가요?", "병가가 연속하여 7일을 넘으면 의사의 진단서를 제출하여야 합니다.", ("휴가 규정", 3), 1.),
    ("a2", "1일 주차요금의 상한은 얼마인가요?", "1일 주차요금의 상한은 50,000원입니다.", ("주차장 운영 규정", 2), 0.),
    ("a3", "정기권을 해지하면 요금을 돌려받나요?", "정기권을 해지하면 남은 기간의 요금을 날짜로 계산하여 반환합니다.", ("주차장 운영 규정", 4), 1.),
    ("a4", "여비는 언제까지 정산하나요?", "출장을 마친 날부터 90일 이내에 정산하면 됩니다.", ("출장 여비 규정", 3), 0.),
    ("a5", "자녀가 결혼하면 휴가가 며칠인가요?", "자녀가 결혼하면 1일의 경조휴가를 줍니다.", ("휴가 규정", 4), 1.),
    ("a6", "주차장에서 차를 도난당하면 배상하나요?", "공사의 과실이 없어도 언제나 전액을 배상합니다.", ("주차장 운영 규정", 6), 0.),
]

HWPX = 'xmlns:hp="http://www.hancom.co.kr/hwpml/2011/paragraph" xmlns:hs="http://www.hancom.co.kr/hwpml/2011/section"'

def book(path:Path, change=lambda line: line) -> Path:
    "All the rules in one HWPX, each line through `change`."
    lines = [line for rule, articles in RULES.items() for line in (rule, *(x for n, (head, body) in enumerate(articles, 1) for x in f"제{n}조({head}) {body}".split("\n")))]
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("mimetype", "application/hwp+zip")
        z.writestr("Contents/section0.xml", f"<hs:sec {HWPX}>" + "".join(f"<hp:p><hp:run><hp:t>{change(line)}</hp:t></hp:run></hp:p>" for line in lines) + "</hs:sec>")
    return path

def write(folder:Path) -> None:
    "Every input, below a folder."
    (folder/"rules").mkdir(parents=True)
    book(folder/"book.hwpx")
    book(folder/"amended.hwpx", lambda line: line.replace("9,000원", "12,000원").replace("제5조(견인)", "제6조(견인)").replace("제6조(손해배상)", "제7조(손해배상)"))
    (folder/"mixed").mkdir()
    (folder/"mixed"/"규정집.hwpx").write_bytes((folder/"book.hwpx").read_bytes())
    (folder/"mixed"/"옛것.hwp").write_bytes(b"HWP Document File V3.00 \x1a" + bytes(200))      # too old: told, and the rest is read
    for rule, articles in RULES.items(): (folder/"rules"/f"{rule}.txt").write_text(rule + "\n\n" + "\n\n".join(f"제{n}조({head}) {body}" for n, (head, body) in enumerate(articles, 1)) + "\n", encoding="utf8")
    beir = folder/"beir"; beir.mkdir()
    lines(beir/"corpus.jsonl", [{"_id": doc_id(rule, n), "title": title(rule, n), "text": text(rule, n), "metadata": {"regulation": rule, "article": f"제{n}조"}} for rule in RULES for n in range(1, len(RULES[rule]) + 1)])
    asked = [(f"q{i}-{k}", said, right, register, f"q{i}", "dev" if i % 2 else "test") for i, (c, f, right) in enumerate(ASKED) for k, said, register in (("c", c, "colloquial"), ("f", f, "formal"))]
    lines(beir/"queries.jsonl", [{"_id": i, "text": said, "metadata": {"register": register, "pair": pair, "split": split, "persona": "직원"}} for i, said, _, register, pair, split in asked])
    (beir/"qrels").mkdir()
    for split in ("dev", "test"): (beir/"qrels"/f"{split}.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(f"{i}\t{doc_id(*right)}\t2\n" for i, _, right, _, _, s in asked if s == split), encoding="utf8")
    rows = [{"_id": i, "query": q, "answer": a, "contexts": [f"{title(*c)}\n{text(*c)}"], "reference": text(*c)} for i, q, a, c, _ in ANSWERS]
    lines(folder/"answers.jsonl", rows)
    with (folder/"answers.csv").open("w", encoding="utf8", newline="") as f:
        w = csv.writer(f); w.writerow(["_id", "query", "answer", "contexts"]); w.writerows([r["_id"], r["query"], r["answer"], json.dumps(r["contexts"], ensure_ascii=False)] for r in rows)
    lines(folder/"judgments.jsonl", [{"id": i, "method": "rules", "correctness": right} for i, *_, right in ANSWERS])
    lines(folder/"questions.jsonl", [{"_id": "1", "text": ASKED[0][0]}, {"_id": "2", "text": "정기권 해지하면 요금을 돌려받을 수 있나요?"}, {"_id": "3"}])      # the third has no text
    (folder/"broken.jsonl").write_bytes(b"\xff\xfe\x00not text\n")
    bench = folder/"bench"; bench.mkdir()
    for name in ("corpus.jsonl",): (bench/name).write_bytes((beir/name).read_bytes())
    needs = [(f"N{i}", c, f, right, "dev" if i % 2 else "test") for i, (c, f, right) in enumerate(ASKED)]
    lines(bench/"queries.jsonl", [{"_id": f"{n}-{k}", "text": said, "metadata": {"register": register, "pair": n, "split": split}} for n, c, f, _, split in needs for k, said, register in (("c", c, "colloquial"), ("f", f, "formal"))])
    (bench/"qrels").mkdir()
    for split in ("dev", "test"): (bench/"qrels"/f"{split}.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(f"{n}-{k}\t{doc_id(*right)}\t2\n" for n, _, _, right, s in needs if s == split for k in "cf"), encoding="utf8")
    lines(bench/"needs.jsonl", [{"need": n, "split": split, "family": right[0], "persona": "직원", "colloquial": c, "colloquial2": c, "formal": f, "relevant": {doc_id(*right): 2}, "answer": f"{text(*right).splitlines()[0]} [{right[0]} 제{right[1]}조]", "key_facts": []} for n, c, f, right, split in needs])
    with (folder/"run.trec").open("w", encoding="utf8") as f: f.writelines(f"{n}-{k} Q0 {doc_id(*right)} 1 9.0 other\n" for n, _, _, right, s in needs if s == "test" for k in "cf")
    lines(folder/"said.jsonl", [{"_id": f"{n}-f", "answer": text(*right)} for n, _, _, right, s in needs if s == "test"])
