"""The pictures of the home page, drawn from benchmarks/results: nbs/images/ladder.png.

usage: python tools/pictures.py        (part of `make results`)
"""
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from rag_quality.report import korean_font
from rag_quality.report.results import load_result

ROOT = Path(__file__).resolve().parent.parent
BLUE, GREY, INK = "#2a5f8f", "#c9ced6", "#24272c"
SHOWN = {"before": "띄어쓰기 BM25", "+ stop morphemes": "+ 형태소 (Kiwi)", "+ colloquial": "+ 구어를 문어로", "+ KiwiEncoder hybrid": "+ 벡터",
         "+ neighbours": "+ 이웃한 낱말", "+ campus knowledge": "+ 사람들의 말 (은행)", "+ regulation": "+ 규정 단위의 근거"}


def ladder() -> Figure:
    "nDCG@10 of each step by register, with 95 % intervals."
    result = load_result("ladder")
    font = korean_font()
    with rc_context({"axes.unicode_minus": False, "font.size": 11, **({"font.family": font} if font else {})}):
        fig = Figure(figsize=(9, 3.6), layout="constrained")
        for ax, register, title in zip(fig.subplots(1, 2, sharey=True), ("구어", "문어"), ("구어로 물을 때", "규정의 말로 물을 때")):
            rows = result.figures["ladder"][register]
            for i, name in enumerate(SHOWN):
                mean, low, high = rows[name]["nDCG@10"]
                last = i == len(SHOWN) - 1
                ax.barh(i, mean, color=BLUE if last or i == 5 else GREY, height=.68)
                ax.errorbar(mean, i, xerr=[[mean - low], [high - mean]], color=INK, lw=1, capsize=2)
                ax.text(high + .015, i, f"{mean:.2f}", va="center", color=INK, fontweight="bold" if last or not i else "normal")
            ax.set_title(f"{title} (질의 {rows['before']['n']}건)", loc="left", fontsize=11)
            ax.set_xlim(0, 1.08)
            ax.set_yticks(range(len(SHOWN)), list(SHOWN.values()))
            ax.tick_params(axis="y", length=0)
            ax.spines[["top", "right", "left"]].set_visible(False)
            ax.set_xlabel("nDCG@10, 선은 95 % 구간", fontsize=9)
        fig.axes[0].invert_yaxis()
    return fig


if __name__ == "__main__":
    target = ROOT/"nbs"/"images"/"ladder.png"
    target.parent.mkdir(exist_ok=True)
    ladder().savefig(target, dpi=110, metadata={"Software": None})
    print(target.relative_to(ROOT), f"{target.stat().st_size:,} bytes")
