"""Lies planted into true answers by a script, and a stand-in for a model that says them: a demonstration, no model's score."""
import re

from rag_quality.answering import ExtractiveAnswerer

KINDS = ("수", "부정", "연락처", "없는 의무")
_FLIPS = (("할 수 있습니다", "할 수 없습니다"), ("하여야 합니다", "하지 않아도 됩니다"), ("할 수 없습니다", "할 수 있습니다"),
          ("합니다", "하지 않습니다"))
_NUMBER = re.compile(r"(?<![제\d])(\d{1,3})(?=일|회|학점|학기|년|명|시간|만원|개월|주)")
_ADDED = {"연락처": " 자세한 것은 학생지원과(055-000-1234)에서 안내합니다.", "없는 의무": " 신청자는 보증금 5만원을 미리 내야 합니다."}


def plant(text, kind):
    "(the text with one fault of a kind, whether there was a place for it)."
    if kind == "수":
        new = _NUMBER.sub(lambda m: str(int(m[1])*2 + 1), text, count=1)
    elif kind == "부정":
        new = next((text.replace(a, b, 1) for a, b in _FLIPS if a in text), text)
    else:
        new = text + _ADDED[kind]
    return new, new != text


class StandIn:
    "Extracts an answer and plants a fault of its kind; asked again more strictly, it leaves the fault out if it `heals`."
    method = "demo"

    def __init__(self, kind, heals):
        self.kind, self.heals, self.inner, self.planted = kind, heals, ExtractiveAnswerer(), []

    def answer(self, query, context, *, strict=None):
        a = self.inner.answer(query, context)
        if a.abstained or strict is not None and self.heals:
            text, could = a.content, False
        else:
            text, could = plant(a.content, self.kind)
        self.planted.append(could)
        return a.with_(content=text, method="demo", planted=could)
