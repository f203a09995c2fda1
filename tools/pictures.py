"""The pictures of the home page and of the phases, drawn from benchmarks/results in one style: nbs/images/*.png.

usage: python tools/pictures.py [--check] [NAME ...]       (part of `make results`)

Every picture keeps a fingerprint of the figures that it shows; `--check` draws nothing and fails where a picture is missing or
shows other figures than those kept today. `dashboard` is a photograph of nbs/samples/dashboard.html and needs Chromium or Chrome;
without one it stays as it is.
"""
import hashlib
import io
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from rag_quality.report import korean_font
from rag_quality.report.results import load_result

ROOT = Path(__file__).resolve().parent.parent
IMAGES, SAMPLES = ROOT/"nbs"/"images", ROOT/"nbs"/"samples"
# the colours of the dashboard (data/dashboard/style.css)
BLUE, GREY, INK, SOFT, LINE = "#2a5f8f", "#c9ced6", "#24272c", "#565c66", "#e3e0d6"
GREEN, AMBER, RED = "#287655", "#8f5b0b", "#b0402f"
PAINT = {"supported": ("#dff0e6", GREEN, "근거 있음"), "contradicted": ("#fae1da", RED, "어긋남"), "unsupported": ("#f9ebcd", AMBER, "근거 없음")}
SHOWN = {"before": "띄어쓰기 BM25", "+ stop morphemes": "+ 형태소 (Kiwi)", "+ colloquial": "+ 구어를 문어로", "+ KiwiEncoder hybrid": "+ 벡터",
         "+ neighbours": "+ 이웃한 낱말", "+ campus knowledge": "+ 사람들의 말 (은행)", "+ regulation": "+ 규정 단위의 근거"}


def kept(name):
    "The figures of a result, without a word on how old they are."
    return load_result(name, warn=False).figures


def canvas(width, height, columns=1, **options):
    "A figure and its axes, in the style of all."
    fig = Figure(figsize=(width, height), layout="constrained")
    axes = fig.subplots(1, columns, squeeze=False, **options)[0]
    for ax in axes:
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.spines["bottom"].set_color(GREY)
        ax.tick_params(length=0, colors=SOFT, labelsize=10)
        ax.set_axisbelow(True)
    return fig, list(axes)


def titled(ax, title, below=""):
    "What an axis shows, and its unit."
    ax.set_title(title, loc="left", fontsize=11.5, color=INK)
    if below:
        ax.set_xlabel(below, fontsize=9.5, color=SOFT)


def told(row):
    "'+0.021 [+0.009, +0.041]', and whether the difference is sure: the interval leaves 0 out and p, corrected over its table, is under .05."
    low, high = (round(v, 9) + 0. for v in row["95 %"])
    apart, sure = not low <= 0 <= high, row["p"] < .05
    doubt = "  0과 구별되지 않음" if not apart else "" if sure else f"  뚜렷하지 않음 (p {row['p']:.2f})"
    return f"{row['차이']:+.3f} [{low:+.3f}, {high:+.3f}]{doubt}", apart and sure


def pairs(ax, rows, most=1., names=("전", "후")):
    "Two bars a row, before and after; blue where it got better, red where worse, pale where nobody can tell."
    for i, (label, r) in enumerate(rows.items()):
        text, sure = told(r)
        colour = "#8ba3b8" if not sure else BLUE if r["차이"] > 0 else RED
        ax.barh(i - .2, r["전"], .36, color=GREY)
        ax.barh(i + .2, r["후"], .36, color=colour)
        ax.text(r["전"] + .01*most, i - .2, f"{r['전']:.3f}", va="center", fontsize=9, color=SOFT)
        ax.text(r["후"] + .01*most, i + .2, f"{r['후']:.3f}   {text}", va="center", fontsize=9, color=INK)
    ax.set_yticks(range(len(rows)), [f"{k}\n(n {r['n']})" for k, r in rows.items()], fontsize=10)
    ax.set_ylim(len(rows) - .5, -.5)
    ax.set_xlim(0, 1.75*most)
    ax.set_xticks([t for t in (0, .25, .5, .75, 1) if t <= most])


def dots(ax, rows, label="값"):
    "Points with their intervals by row: {row: {series: (value, low, high)}}."
    colours = [SOFT, BLUE, GREEN]
    series = list(dict.fromkeys(s for r in rows.values() for s in r))
    for i, r in enumerate(rows.values()):
        for j, s in enumerate(series):
            if s not in r or r[s][0] is None:
                continue
            value, low, high = r[s]
            y = i + (j - (len(series) - 1)/2)*.3
            if low is not None:
                ax.plot([low, high], [y, y], color=colours[j], lw=2.2, alpha=.55)
            ax.plot(value, y, "o", color=colours[j], ms=6.5, label=s if not i else None)
            ax.annotate(f"{value:.2f}", (high if high is not None else value, y), xytext=(6, 0), textcoords="offset points",
                        va="center", fontsize=9, color=colours[j])
    ax.set_yticks(range(len(rows)), list(rows), fontsize=10)
    ax.set_ylim(len(rows) - .4, -.6)
    ax.grid(axis="x", color=LINE)


IN_ENGLISH = ("whitespace BM25", "+ morphemes (Kiwi)", "+ colloquial to formal", "+ vectors", "+ neighbouring words", "+ how people say it (bank)", "+ regulation as evidence")


def ladder(names=tuple(SHOWN.values()), titles=("구어로 물을 때 (질의 {}건)", "규정의 말로 물을 때 (질의 {}건)"),
           below="nDCG@10: 맞는 조문이 맨 위에 모이면 1, 열 건 안에 없으면 0. 가는 선은 95 % 구간. LLM 없이, 튜닝에 쓰지 않은 test\n"
                 "+는 바로 위 줄보다 번 것, 파랑은 그 차이가 뚜렷한 줄 (p < 0.05, 표 전체에서 고친 값)"):
    "nDCG@10 of each step by register, with 95 % intervals; what a step bought, blue where that is sure."
    figures = kept("ladder")["ladder"]
    fig, axes = canvas(9, 4, 2, sharey=True)
    for ax, register, title in zip(axes, ("구어", "문어"), titles):
        rows = figures[register]
        above, every = 0, list(rows)
        for i, name in enumerate(SHOWN):
            mean, low, high = rows[name]["nDCG@10"]
            last = i == len(SHOWN) - 1
            since = every[every.index(list(SHOWN)[i - 1]) + 1:every.index(name) + 1] if i else []       # a bar may stand for two rows
            sure = any(rows[s]["step"] > 0 and rows[s]["p"] < .05 for s in since)
            ax.barh(i, mean, color=BLUE if sure else GREY, height=.68)
            ax.errorbar(mean, i, xerr=[[mean - low], [high - mean]], color=INK, lw=1, capsize=2)
            ax.text(high + .015, i, f"{mean:.2f}", va="center", color=INK, fontweight="bold" if last or not i else "normal")
            if i:
                ax.text(1.38, i, f"{mean - above:+.3f}", va="center", ha="right", fontsize=12 if mean - above > .2 else 10, color=BLUE if sure else SOFT)
            above = mean
        ax.set_xlim(0, 1.4)
        ax.set_xticks([0, .25, .5, .75, 1])
        ax.set_yticks(range(len(SHOWN)), names)
        titled(ax, title.format(rows["before"]["n"]))
    axes[0].invert_yaxis()
    fig.supxlabel(below, fontsize=9.5, color=SOFT, linespacing=1.5)
    return fig, figures


def ladder_en():
    "The same in English."
    return ladder(IN_ENGLISH, ("Asked in everyday Korean (n {})", "Asked in the words of the rules (n {})"),
                  "nDCG@10: 1 where the right articles lead, 0 where the first ten miss them. Thin lines: 95 % intervals. No LLM; nothing tuned on this test split\n"
                  "+ is what a step adds to the bar above; blue where that is sure (p < 0.05, corrected over the table)")


def colloquial():
    "Phase 1: nDCG@10 by register, with the step and without it."
    rows = kept("phase_colloquial")["colloquial"]
    fig, [ax] = canvas(9, 3.3)
    pairs(ax, {k.replace(", ", "로 물음, ").replace("사다리에서", "낱말 검색에서"): r for k, r in rows.items()})
    titled(ax, "고쳐 쓰지 않고(회색)와 고쳐 쓰고(진하면 차이가 뚜렷함)", "nDCG@10, 한빛 test. 오른쪽은 차이와 95 % 구간")
    return fig, rows


def morphology():
    "Phase 2: what the forms buy in an index of words, and the null in an index of morphemes."
    rows = kept("phase_morphology")["morphology"]
    shown = {f"{r}, {w}": rows[f"{r}, {w} 색인: 그대로 → full"] for w in ("띄어쓰기", "형태소") for r in ("구어", "문어")}
    fig, [ax] = canvas(9, 3.3)
    pairs(ax, {k + " 색인": r for k, r in shown.items()})
    titled(ax, "넓히지 않고(회색)와 넓혀서(진하면 차이가 뚜렷함)", "nDCG@10, 한빛 test. 오른쪽은 차이와 95 % 구간. 형태소 색인에서는 얻는 것이 없습니다")
    return fig, shown


def semantic_eval():
    "Phase 3: right verdicts by kind, and how far the probability holds."
    rows, sure = kept("phase_semantic_eval")["kinds"], kept("contrast")["reliability"]
    fig, (left, right) = canvas(9, 5.2, 2, width_ratios=(1.75, 1))
    for i, (k, r) in enumerate(rows.items()):
        left.plot([r["전"], r["후"]], [i, i], color=LINE, lw=3, zorder=1)
        left.plot(r["전"], i, "o", color=SOFT, mfc="white", ms=7)
        left.plot(r["후"], i, "o", color=BLUE if r["차이"] > 0 else RED, ms=7)
    left.set_yticks(range(len(rows)), [f"{k} (n {r['n']})" for k, r in rows.items()], fontsize=9.5)
    left.set_ylim(len(rows) - .4, -.6)
    left.set_xlim(-.03, 1.03)
    titled(left, "두 답이 같은가 다른가: 갈래마다 맞힌 몫", "○ 낱말의 겹침   ● 의미 평가 (붉으면 잃은 것)   data/contrast test")
    right.plot([0, 1], [0, 1], color=GREY, lw=1)
    right.plot(sure["말한 확률"], sure["본 비율"], "o-", color=BLUE)
    right.set_aspect("equal", anchor="N")
    right.set_xlim(-.03, 1.03)
    right.set_ylim(-.03, 1.03)
    right.set_ylabel("정말 같은 말인 비율", fontsize=9.5, color=SOFT)
    titled(right, f"확률대로 맞나 (어긋남 ECE {sure['ECE']:.3f})", f"말한 확률. 빗금에 붙을수록 좋음 (n {sum(sure['칸의 n'])})")
    return fig, [rows, sure]


def judge():
    "Phase 4: agreement with which labels, beside overlap."
    of = kept("phase_judge")["agreement"]
    rows = {f"{k}\n(n {v['n']})": {"낱말의 겹침": (v["겹침"]["kappa"], *v["겹침"]["95 %"]), "규칙 심판": (v["심판"]["kappa"], *v["심판"]["95 %"])} for k, v in of.items()}
    fig, [ax] = canvas(9, 4.2)
    dots(ax, rows)
    for i, v in enumerate(of.values()):
        if v["겹침"]["kappa"] is None:
            ax.text(.02, i, "겹침은 모두에 같은 답을 해 κ가 없음", va="center", fontsize=9, color=SOFT)
    ax.axvline(0, color=GREY, lw=1)
    ax.set_xlim(-.15, 1)
    ax.legend(frameon=False, loc="upper right", fontsize=10)
    titled(ax, "정답 표지와 맞는 정도 (κ): 규칙 심판과 낱말의 겹침", "0은 우연만큼, 1은 모두 맞음. 선은 95 % 구간. LLM 심판은 모델이 없어 재지 않았습니다")
    return fig, of


def weights():
    "Phase 5: nDCG@10 by the weight of the vectors."
    curves, rows = kept("phase_weights")["curves"], kept("phase_weights")["weights"]
    fixed = {register: rows[f"{register}, 0.5/0.5 → 결정"] for register in curves}
    fig, axes = canvas(9, 3.6, 2)
    for ax, (register, of), colour in zip(axes, curves.items(), (BLUE, GREEN)):
        x, y = [float(k) for k in of], list(of.values())
        best = max(range(len(y)), key=y.__getitem__)
        ax.plot(x, y, color=colour, lw=2.2)
        ax.plot(x[best], y[best], "o", color=colour, ms=8)
        ax.annotate(f"가장 좋은 곳 {x[best]:.2f}: {y[best]:.3f}", (x[best], y[best]), xytext=(0, 9), textcoords="offset points", ha="center", fontsize=10, color=colour)
        span = max(y) - min(y)
        ax.plot(.5, fixed[register]["전"], "o", color=colour, mfc="white", ms=8, ls="none", label=f"늘 반반: {fixed[register]['전']:.3f}")
        ax.axhline(fixed[register]["후"], color=INK, lw=1.2, ls=(0, (4, 3)), label=f"질의마다 정한 무게: {fixed[register]['후']:.3f}")
        ax.legend(frameon=False, fontsize=9.5, loc="upper left" if best > len(y)/2 else "lower left")
        ax.set_ylim(min(y) - .08*span, max(y) + .25*span)
        ax.set_xlim(-.05, 1.05)
        ax.spines["left"].set_visible(True)
        ax.spines["left"].set_color(GREY)
        ax.grid(color=LINE)
        titled(ax, f"{register}로 물을 때", "벡터의 무게 (나머지는 낱말). 세로는 nDCG@10, 한빛 test")
    return fig, [curves, fixed]


def faithfulness():
    "Phase 6: AUROC against overlap, and the share of faults found by kind."
    figures = kept("phase_faithfulness")
    kinds = {k: v for k, v in sorted(figures["bank_kinds"].items(), key=lambda x: -x[1]["후"]) if v["n"] >= 20}
    rank = {k: {s: (v[s]["AUROC"], *v[s]["95 %"]) for s in ("낱말 겹침", "검증기")} for k, v in figures["auroc"].items()}
    fig, (left, right) = canvas(9.4, 4.3, 2)
    for i, (k, r) in enumerate(kinds.items()):
        left.barh(i - .2, r["전"], .36, color=GREY)
        left.barh(i + .2, r["후"], .36, color=BLUE)
        left.text(r["후"] + .015, i + .2, f"{r['후']:.2f}", va="center", fontsize=9, color=INK)
    left.set_yticks(range(len(kinds)), [f"{k} ({r['n']})" for k, r in kinds.items()], fontsize=9.5)
    left.set_ylim(len(kinds) - .5, -.5)
    left.set_xlim(0, 1)
    titled(left, "찾은 거짓의 몫, 갈래마다 (n)", "회색: 낱말 겹침   파랑: 검증기   (남이 쓴 주장)")
    dots(right, {k.replace(", ", ",\n"): v for k, v in rank.items()})
    right.axvline(.5, color=GREY, lw=1)
    right.set_xlim(.35, 1)
    right.legend(frameon=False, fontsize=9.5, loc="upper right")
    titled(right, "참과 거짓을 줄 세우는 힘 (AUROC)", "0.5는 우연. 선은 95 % 구간")
    return fig, [kinds, rank]


NAMED = {"BM25": "BM25", "+ names of what is asked": "동의어: 묻는 것의 이름", "+ variants": "여러 질의", "+ RM3": "되먹임 (RM3)", "+ neighbours": "이웃한 낱말",
         "HyDE, composed": "지은 조문 (HyDE)", "+ knowledge": "은행의 말", "multi-query, knowledge": "여러 질의, 은행의 말", "hybrid + knowledge": "벡터와 은행의 말"}
AS_NAMED = {"묻는 것의 이름": "동의어: 묻는 것의 이름", "RM3": "되먹임 (RM3)", "가상의 조문": "지은 조문 (HyDE) *", "이웃한 형태소": "이웃한 낱말", "혼합에 은행의 말": "벡터와 은행의 말 **", "다시 줄 세움": "여러 질의, 다시 줄 세움", "규정의 증거": "같은 규정의 증거 **"}


def query_expansion():
    "Phase 7: recall by strategy, and what the test says of each."
    printed, rows = kept("expansion-dev")["printed"], kept("phase_query_expansion")["query_expansion"]
    found = {name: printed[next(k for k in printed if k.startswith(f"hanbit, colloquial, n = # > {of} nDCG"))][3] for of, name in NAMED.items()}
    test = {k.removeprefix("구어, "): r for k, r in rows.items() if k.startswith("구어, ")}
    fig, (left, right) = canvas(9.8, 4.5, 2)
    for i, (k, v) in enumerate(found.items()):
        left.barh(i, v, .66, color=BLUE if "은행" in k else GREY)
        left.text(v + .012, i, f"{v:.2f}", va="center", fontsize=9.5, color=INK)
    left.set_yticks(range(len(found)), list(found), fontsize=9.5)
    left.set_ylim(len(found) - .5, -.5)
    left.set_xlim(0, 1)
    titled(left, f"맞는 조문이 열 건에 든 몫 (R@10), 구어 dev {printed['hanbit, colloquial, n = #']}건", "파랑은 은행을 쓴 것. 모두 LLM 없이. LLM의 확장은 모델이 없어 재지 않았습니다")
    for i, (k, r) in enumerate(test.items()):
        low, high = r["95 %"]
        colour = SOFT if not told(r)[1] else BLUE if low > 0 else RED
        right.plot([low, high], [i, i], color=colour, lw=2.2, alpha=.6)
        right.plot(r["차이"], i, "o", color=colour, ms=6.5)
        right.annotate(f"{r['차이']:+.3f}", (high, i), xytext=(6, 0), textcoords="offset points", va="center", fontsize=9, color=colour)
    right.axvline(0, color=GREY, lw=1)
    right.set_yticks(range(len(test)), [AS_NAMED.get(k, k) for k in test], fontsize=9.5)
    right.set_ylim(len(test) - .5, -.5)
    right.set_xlim(-.08, .47)
    titled(right, f"얻은 nDCG@10, 구어 test {next(iter(test.values()))['n']}건", "형태소 BM25에 견줌 (* 벡터에, ** 낱말과 벡터의 혼합에)\n선은 95 % 구간. 회색은 뚜렷하지 않음 (고친 p ≥ 0.05)")
    return fig, [found, test]


def grading():
    "Grading: what is found again, and right decisions."
    rows = kept("phase_grading")["grading"]
    fig, [ax] = canvas(9, 5.4)
    pairs(ax, rows)
    titled(ax, "채점하지 않고(회색)와 채점하고(진하면 차이가 뚜렷함)", "위 넷은 nDCG@10, 아래 넷은 답할지 말지를 옳게 정한 몫. 한빛 test")
    return fig, rows


def answering():
    "Answering: facts held, refusals, answers given."
    rows = kept("phase_answering")["answering"]
    shown = {k: rows[k] for r in ("문어", "구어") for k in (f"{r}, 핵심 사실", f"{r}, 없는 것을 거절", f"{r}, 있는 것에 답함")}
    fig, [ax] = canvas(9, 4.3)
    pairs(ax, shown)
    titled(ax, "첫 세 문장을 늘 내놓기(회색)와 가려서 확인하고 답하기(파랑은 얻음, 빨강은 잃음)", "질문마다의 몫, 한빛 test. 없는 것은 거절하고, 그 값으로 있는 것에도 덜 답합니다")
    return fig, shown


def persona():
    "Phase 8: the heat map of the sample session, and what is found of what was made wrong."
    sample, rows = json.loads((SAMPLES/"session.json").read_text(encoding="utf8")), kept("phase_persona")["persona"]
    fig, (left, right) = canvas(9.6, 5.2, 2, width_ratios=(1, 1.15))
    names, columns = list(sample["heat"]), list(next(iter(sample["heat"].values())))
    for i, name in enumerate(names):
        for j, c in enumerate(columns):
            k, n = sample["heat"][name][c]
            share = k/n if n else None
            colour = "#eae8e1" if share is None else "#86c7a9" if share >= .75 else "#f6ecd2" if share >= .4 else "#eeaa97"
            left.add_patch(Rectangle((j - .47, i - .44), .94, .88, color=colour))
            left.text(j, i, f"{k}/{n}", ha="center", va="center", fontsize=9.5, color=INK)
    left.set_xlim(-.5, len(columns) - .5)
    left.set_ylim(len(names) - .5, -.5)
    left.set_yticks(range(len(names)), names, fontsize=9.5)
    left.set_xticks(range(len(columns)), columns)
    left.spines["bottom"].set_visible(False)
    titled(left, "표본 세션: 누가 물으면 맞나 (바르게 답함/물음)", "물음의 어려움. 칸마다 둘뿐이니 구간은 대시보드에서")
    shown = {k: r for k, r in rows.items() if r["n"] >= 20}
    for i, (k, r) in enumerate(shown.items()):
        right.plot([r["전"], r["후"]], [i, i], color=LINE, lw=3, zorder=1)
        right.plot(r["전"], i, "o", color=SOFT, mfc="white", ms=7)
        right.plot(r["후"], i, "o", color="#8ba3b8" if not told(r)[1] else BLUE if r["차이"] > 0 else RED, ms=7)
    right.set_yticks(range(len(shown)), [k.replace(": ", ":\n") + f" (n {r['n']})" for k, r in shown.items()], fontsize=9)
    right.set_ylim(len(shown) - .4, -.6)
    right.set_xlim(-.03, 1.03)
    titled(right, "어디가 틀렸는지 아는 답에서 맞힌 몫", "○ 흔한 방법   ● 이 단계 (옅으면 차이가 뚜렷하지 않음)")
    return fig, [sample["heat"], shown]


def board():
    "The benchmark's board: systems in order of the colloquial score, with intervals."
    of = kept("ladder")["ladder"]
    systems = {"before": "띄어쓰기 BM25", "+ stop morphemes": "형태소 BM25", "+ KiwiEncoder hybrid": "BM25 + 벡터", "+ regulation": "기본 구성"}
    fig, [ax] = canvas(6.4, 4)
    dots(ax, {name: {r: (of[r][s]["nDCG@10"]) for r in ("구어", "문어")} for s, name in reversed(systems.items())})
    ax.set_xlim(0, 1.08)
    ax.tick_params(axis="y", labelsize=14)
    ax.legend(frameon=False, loc="upper left", fontsize=13)
    ax.set_title("한빛 벤치마크, 찾기 (test)", loc="left", fontsize=15, color=INK)
    ax.set_xlabel("nDCG@10, 선은 95 % 구간", fontsize=12, color=SOFT)
    for t in ax.texts:
        t.set_fontsize(13)
    return fig, systems | {r: {s: of[r][s]["nDCG@10"] for s in systems} for r in of}


def painted():
    "An answer, sentence by sentence, as the validator finds it."
    sample = json.loads((SAMPLES/"painted.json").read_text(encoding="utf8"))
    fig, [ax] = canvas(6.4, 4)
    ax.axis("off")
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.text(0, 1, sample["query"], fontsize=14, color=SOFT, va="top")
    y = .86
    for claim in sample["claims"]:
        fill, ink, name = PAINT[claim["verdict"]]
        lines = wrapped(claim["text"], 33)
        ax.text(.015, y, "\n".join(lines), fontsize=14.5, color=INK, va="top", linespacing=1.3, bbox={"fc": fill, "ec": fill, "boxstyle": "round,pad=.3"})
        y -= .088*len(lines) + .025
        for line in wrapped(f"{name} · {claim['reason']}", 42)[:1]:
            ax.text(.015, y, line, fontsize=11.5, color=ink, va="top")
            y -= .058
        y -= .04
    return fig, sample


def wrapped(text, width):
    "Lines of about `width` letters, cut at spaces."
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def dashboard():
    "A photograph of the sample dashboard; None where no browser is here."
    page = SAMPLES/"dashboard.html"
    program = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chromium-browser", "chrome"))), None)
    if program is None:
        return None, page.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        shot = Path(folder)/"shot.png"
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-quic", "--no-first-run", "--disable-background-networking",
                 "--disable-component-update", "--disable-sync", "--window-size=1200,750", f"--user-data-dir={folder}/profile", "--virtual-time-budget=3000"]
        subprocess.run([program, *flags, f"--screenshot={shot}", page.as_uri()], check=True, capture_output=True, timeout=90)
        with Image.open(shot) as seen:
            return seen.convert("RGB").resize((800, 500), Image.Resampling.LANCZOS), page.read_bytes()


PICTURES = {"ladder": ladder, "ladder_en": ladder_en, "phase1": colloquial, "phase2": morphology, "phase3": semantic_eval, "phase4": judge, "phase5": weights, "phase6": faithfulness,
            "phase7": query_expansion, "phase8": persona, "grading": grading, "answering": answering, "board": board, "painted": painted, "dashboard": dashboard}


def drawn(name):
    "(picture or None, the fingerprint of what it shows)"
    font = korean_font()
    with rc_context({"axes.unicode_minus": False, "font.size": 11, **({"font.family": font} if font else {})}):
        picture, shows = PICTURES[name]()
        if isinstance(picture, Figure):
            buffer = io.BytesIO()
            picture.savefig(buffer, dpi=110, metadata={"Software": None})
            picture = Image.open(buffer).convert("RGB")
    raw = shows if isinstance(shows, bytes) else json.dumps(shows, ensure_ascii=False, sort_keys=True).encode()
    return picture, hashlib.sha256(raw).hexdigest()[:16]


def main(argv):
    check, wrong = "--check" in argv, []
    IMAGES.mkdir(exist_ok=True)
    for name in [a for a in argv if not a.startswith("-")] or PICTURES:
        target = IMAGES/f"{name}.png"
        if check:
            with rc_context():
                shows = PICTURES[name]()[1] if name != "dashboard" else (SAMPLES/"dashboard.html").read_bytes()
            raw = shows if isinstance(shows, bytes) else json.dumps(shows, ensure_ascii=False, sort_keys=True).encode()
            has = Image.open(target).text.get("shows") if target.is_file() else None
            if has != hashlib.sha256(raw).hexdigest()[:16]:
                wrong.append(name)
            continue
        picture, shows = drawn(name)
        if picture is None:
            print(f"{name}: Chromium이나 Chrome이 없어 그대로 둡니다")
            continue
        info = PngInfo()
        info.add_text("shows", shows)
        picture.quantize(96, dither=Image.Dither.NONE).save(target, optimize=True, pnginfo=info)
        print(target.relative_to(ROOT), f"{target.stat().st_size:,} bytes")
    total = sum(p.stat().st_size for p in IMAGES.iterdir())
    print(f"{total:,} bytes in all")
    if wrong:
        print(f"pictures that show other figures than those kept: {', '.join(wrong)}: python tools/pictures.py")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
