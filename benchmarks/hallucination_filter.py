"""The hallucination filter: true answers left byte for byte as they were, and what is planted in them found.

usage: python benchmarks/hallucination_filter.py [DATA] [--slice] [--show N]
       DATA has needs.jsonl (answer, faithful, relevant) and corpus.jsonl; without one, the bundled collection
       --slice: every tenth need and plant; --show N: print N answers after each mode
Planted: each kind in several forms, each form at a place that turns with the need (front, middle, end, a list item). A form counts as found
where a finding of its kind overlaps it.
"""
import argparse, json, re, sys
from collections import defaultdict
from pathlib import Path

from rag_quality.core import bundle_path
from rag_quality.faithfulness.filter import HallucinationFilter
from rag_quality.claims.splitting import split_sentences

import kept

PLANTS = {
    "phone": ["051-771-2093", "051) 771-2093", "(051)771-2093", "02 771 2093", "051.771.2093", "010-3391-2093", "010 3391 2093", "01033912093", "070-8812-2093", "1588-2093", "1599 2093", "+82-51-771-2093", "내선 2093번", "내선번호 2093",
              "교내 2093", "☎ 771-2093", "Tel. 051-771-2093", "０５１－７７１－２０９３", "051–771–2093", "전화번호 7712093", "051-771-2093~5", "대표번호 771-2093", "팩스 051-771-2094", "공오일-칠칠일-이공구삼", "051-XXX-XXXX", "0507-1391-2093"],
    "email": ["haksa@hanuri.ac.kr", "help.desk@hanuri.edu", "haksa (at) hanuri.ac.kr", "haksa[at]hanuri.ac.kr", "Student_Office@hanuri.ac.kr", "hanuri2093@gmail.com", "info@mail.hanuri.ac.kr", "hanuri골뱅이naver.com".replace("골뱅이", "@"), "haksa＠hanuri.ac.kr"],
    "url": ["https://www.hanuri.ac.kr/haksa", "http://hanuri.ac.kr", "www.hanuri.ac.kr", "portal.hanuri.ac.kr", "hanuri.ac.kr/notice?id=2093", "https://forms.gle/aB12cD", "bit.ly/3hanuri", "pf.kakao.com/_hanuri", "https://open.kakao.com/o/sAbCd", "m.hanuri.kr", "sugang.hanuri.com", "hanuri.io", "카카오톡 채널 @한누리학사"],
    "department": ["장학복지팀", "국제교류처", "교무과", "학사관리팀", "입학관리처", "취업지원본부", "글로벌서비스센터", "통합민원실", "장학 복지팀", "외국인지원센터", "교육혁신단", "대외협력실", "학생경력개발원", "미래인재위원회", "국제처", "학적과", "장학심의위원회", "원스톱 서비스센터", "전산운영팀", "성적관리실"],
    "person": ["김민수 팀장", "이서연 주임", "박지훈 교수", "담당자 최유진", "정하은 조교", "강도윤 선생님"],
}
FRAMES = {"phone": ["문의는 {}로 하시면 됩니다.", "궁금한 점은 담당 창구({})에 물어보세요.", "- 연락처: {}", "{}로 전화하면 바로 안내해 드립니다."], "email": ["서류는 {}로 보내 주세요.", "담당자 이메일은 {}입니다.", "- 이메일: {}", "접수처({})에 보내면 됩니다."],
          "url": ["신청은 {} 에서 할 수 있습니다.", "자세한 절차는 안내 페이지({})에 있습니다.", "- 누리집: {}", "양식은 {} 에서 받으세요."], "department": ["서류는 {}에 제출하면 됩니다.", "이 업무는 {}에서 맡고 있습니다.", "- 담당: {}", "{}의 승인도 받아야 합니다."],
          "person": ["{}에게 연락하면 됩니다.", "담당은 {}입니다.", "- 문의: {}", "{}님이 처리합니다."]}
EVASIVE = [  # (phrase, where: a sentence of its own 's', before a sentence 'w')
    ("대학마다 다를 수 있습니다.", "s"), ("학교마다 다르므로 확인이 필요합니다.", "s"), ("이는 대학별로 상이할 수 있습니다.", "s"), ("각 대학의 규정에 따라 차이가 있을 수 있습니다.", "s"), ("학교에 따라 기준이 조금씩 달라요.", "s"), ("구체적인 절차는 학교마다 다를 수 있으니 유의하세요.", "s"), ("학교별로 운영 방식이 다릅니다.", "s"),
    ("개인의 상황에 따라 달라질 수 있습니다.", "s"), ("학과마다 조금씩 차이가 있을 수 있어요.", "s"), ("상황에 따라 다를 수 있습니다.", "s"), ("경우에 따라 변동될 수 있습니다.", "s"), ("담당자의 판단에 따라 달라질 수도 있어요.", "s"), ("기관마다 천차만별입니다.", "s"), ("케이스 바이 케이스예요.", "s"), ("일률적으로 말씀드리기 어렵습니다.", "s"),
    ("일반적으로", "w"), ("일반적으로는", "w"), ("통상적으로", "w"), ("대체로", "w"), ("대개", "w"), ("관례상", "w"), ("일반적인 경우", "w"), ("대부분의 대학에서는", "w"), ("다른 대학의 경우", "w"), ("타 대학에서는", "w"), ("아마", "w"), ("제가 알기로는", "w"), ("흔히", "w"), ("상식적으로", "w"), ("많은 대학에서", "w"), ("보편적으로", "w"), ("관행적으로", "w"),
    ("보통 일주일 정도 걸립니다.", "s"), ("통상 3~5일이 소요됩니다.", "s"), ("보통은 방학 중에 처리해요.", "s"), ("일반적으로 다음 학기에 반영되는 것으로 알려져 있습니다.", "s"), ("결과는 곧 나올 것으로 보입니다.", "s"), ("큰 문제는 없을 것 같아요.", "s"), ("아마 가능할 것으로 예상됩니다.", "s"), ("추가 서류를 요구할 가능성이 높습니다.", "s"), ("정확하지는 않지만 비용은 들지 않습니다.", "s"),
    ("자세한 사항은 학교 홈페이지를 참고하시기 바랍니다.", "s"), ("정확한 내용은 해당 부서에 문의하시기 바랍니다.", "s"), ("보다 구체적인 내용은 관련 부서에 확인해 주세요.", "s"), ("더 자세한 정보는 공식 누리집에서 확인하세요.", "s"), ("정확한 정보는 담당자에게 문의하는 것이 좋습니다.", "s"), ("구체적인 사항은 공지사항을 확인해 보세요.", "s"),
]

def read(path): return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines() if line.strip()]

def planted(answer, kind, form, turn):
    "The answer with one thing in it, and where that stands."
    cuts = [0] + [s.end for s in split_sentences(answer)]; sentences = [s.start for s in split_sentences(answer)]
    if kind == "evasive" and form[1] == "w": at = sentences[turn % len(sentences)]; text = f"{form[0]} "; k = 0
    elif kind == "evasive": at = cuts[turn % len(cuts)]; text = f" {form[0]} "; k = 1
    else:
        frame = FRAMES[kind][turn % 4]; at = len(answer) if frame[0] == "-" else cuts[turn % len(cuts)]; text = ("\n" if frame[0] == "-" else " ") + frame.format(form) + " "; k = text.index(form)
    return answer[:at] + text + answer[at:], at + k, at + k + len(form if kind != "evasive" else form[0].rstrip("."))

def main(argv):
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("data", nargs="?", type=Path); ap.add_argument("--slice", action="store_true"); ap.add_argument("--show", type=int, default=0); ap.add_argument("--errors", action="store_true")
    args = ap.parse_args(argv); data = args.data or bundle_path("hanbit")
    if (data/"regs").is_dir(): data = data/"regs"     # the folder that holds it will do, too
    if not (data / "needs.jsonl").is_file(): print(f"파일이 없습니다: {data / 'needs.jsonl'}", file=sys.stderr); return 2
    needs = [n for n in read(data / "needs.jsonl") if n.get("answer") and n.get("relevant")][::10 if args.slice else 1]
    corpus = {d["_id"]: f"{d['title']}\n{d['text']}" for d in read(data / "corpus.jsonl")}
    mark, remove = HallucinationFilter(), HallucinationFilter("remove")
    contexts = [[corpus[d] for d in n["relevant"] if d in corpus] for n in needs]
    same = total = 0
    for n, c in zip(needs, contexts):
        for key in ("answer", "faithful"):
            if not n.get(key): continue
            r = mark.filter(n[key], c); total += 1; same += r.content == n[key] and remove.filter(n[key], c).content == n[key]
            if args.errors and r.findings: print("   오경보", n["need"], key, [(f.kind, f.text) for f in r.findings])
    print(f"참인 답이 그대로인 수 {same}/{total}  (목표: 모두)")
    found, shown, turn = defaultdict(list), 0, 0
    for kind, forms in {**PLANTS, "evasive": EVASIVE}.items():
        for nth, form in enumerate(forms):
            for k in range(1 if args.slice else 4):
                turn += 7; i = turn % len(needs)
                if kind != "evasive" and re.sub(r"\s", "", form) in re.sub(r"\s", "", "".join(contexts[i])): continue      # the passage does have it
                text, s, e = planted(needs[i]["answer"], kind, form, k)
                r = mark.filter(text, contexts[i]); hit = any(f.kind == kind and f.start < e and s < f.end for f in r.findings); found[kind].append(hit)
                if args.errors and not hit: print("   놓침", kind, form, "|", text[max(0, s-20):e+25].replace("\n", "/"))
                if shown < args.show and hit and k == nth % 4 and (args.show > 60 or nth % 3 == 0): shown += 1; print(f"--- {kind}: {text}\n표시: {r.content}\n빼기: {remove.filter(text, contexts[i]).content}")
    for kind, hits in found.items(): print(f"심은 것을 찾음  {kind:10} {sum(hits)}/{len(hits)} = {sum(hits)/len(hits):.3f}  (목표 1.000)")
    return 0

if __name__ == "__main__": kept.run(lambda: main(sys.argv[1:]), split="test")
