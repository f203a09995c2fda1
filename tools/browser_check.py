"""The pages a person sees, in a real browser: the chat page is used, each page is looked at wide, as a phone and dark.

usage: python tools/browser_check.py [--pictures FOLDER]      needs Chrome or Chromium with its driver, selenium and axe-core-python

Of each page: nothing wider than the window, no request to elsewhere, no error of its script, no serious finding of axe.
The last line is 'N passed, N failed'. Where there is no browser the check says so and ends with 2.
"""
import argparse, json, os, re, shutil, subprocess, sys, tempfile, time
from importlib import resources
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent
CLI = Path(os.environ.get("RAG_QUALITY_CLI") or shutil.which("rag-quality") or "rag-quality")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync")
VIEWS = {"wide": (1400, 900, "light"), "phone": (400, 800, "light"), "dark": (1400, 900, "dark")}


def browser():
    "A driver of the browser that is here; None where there is none."
    from selenium import webdriver
    found = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chromium-browser", "chrome"))), None)
    if not found:
        return None
    options = webdriver.ChromeOptions()
    options.binary_location = found
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = shutil.which("chromedriver")
    return webdriver.Chrome(options, webdriver.ChromeService(driver) if driver else None)


class Looked:
    "What was found wrong, page by page."
    def __init__(self, driver, pictures=None):
        self.driver, self.pictures, self.passed, self.failed = driver, pictures, 0, 0
        self.axe = resources.files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf8")

    def that(self, name, holds, told=""):
        "One expectation: printed, counted."
        self.passed, self.failed = self.passed + bool(holds), self.failed + (not holds)
        print(f"{'ok  ' if holds else 'FAIL'} {name}{': ' + told if told and not holds else ''}", flush=True)

    def view(self, kind):
        "Take the shape of a window."
        width, height, scheme = VIEWS[kind]
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def outside(self, address):
        "The addresses elsewhere that were asked for since the last look."
        asked = []
        for line in self.driver.get_log("performance"):
            message = json.loads(line["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                asked.append(message["params"]["request"]["url"])
        home = re.match(r"https?://[^/]+|file:", address)[0]
        return [u for u in asked if not u.startswith((home, "data:", "blob:", "about:", "chrome"))]

    def page(self, name, address, ready=lambda: True):
        "Look at a page in every view."
        for kind in VIEWS:
            self.view(kind)
            self.driver.get_log("performance")
            self.driver.get(address)
            ready()
            time.sleep(.3)
            self.look(f"{name}, {kind}", address)

    def look(self, name, address):
        "What must hold of the page that stands there now."
        d = self.driver
        inner, width = d.execute_script("return [window.innerWidth, document.documentElement.scrollWidth]")
        self.that(f"{name}: fits", width <= inner, f"{width} of {inner} pixels")
        away = self.outside(address)
        self.that(f"{name}: asks nobody else", not away, ", ".join(away[:3]))
        errors = [x["message"] for x in d.get_log("browser") if x["level"] == "SEVERE"]
        self.that(f"{name}: no error", not errors, "; ".join(errors[:3]))
        if self.pictures:
            d.save_screenshot(str(Path(self.pictures)/(re.sub(r"\W+", "_", name) + ".png")))
        d.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})
        d.execute_cdp_cmd("Runtime.evaluate", {"expression": self.axe})
        found = d.execute_async_script("const done = arguments[0]; axe.run(document).then(r => done(r.violations))")
        bad = [v for v in found if v["impact"] in ("serious", "critical")]
        told = "; ".join(f"{v['id']} {v['nodes'][0]['html'][:100]}" for v in bad)
        self.that(f"{name}: no serious finding of axe", not bad, told)


def talk(looked, address):
    "A person asks, follows up, opens the evidence, checks a foreign answer, starts anew."
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait
    d = looked.driver
    every = lambda css: d.find_elements(By.CSS_SELECTOR, css)
    idle = lambda: WebDriverWait(d, 120).until(lambda _: every("#send:not([hidden])") and every("#stop[hidden]"))
    def say(text):
        d.find_element(By.ID, "text").send_keys(text + Keys.ENTER)
        idle()
        return every("#log article")[-1]
    looked.view("wide")
    d.get(address)
    WebDriverWait(d, 20).until(lambda _: every("#first button"))
    begun = [b.text for b in every("#first button")]
    looked.that("chat: begins with questions of the book", begun and all(q.endswith("?") for q in begun))
    every("#first button")[0].click()
    idle()
    answer = every("#log article")[-1]
    looked.that("chat: the first of them is answered", answer.find_elements(By.CSS_SELECTOR, "mark.supported"), answer.text[:200])
    looked.that("chat: what was offered is gone", not every("#first"))
    mark = answer.find_elements(By.CSS_SELECTOR, "mark")[0]
    mark.send_keys(Keys.ENTER)
    looked.that("chat: a sentence tells why", answer.find_element(By.CSS_SELECTOR, ".why").text.startswith("조문"))
    looked.that("chat: and shows its article", every("pre.carries") and every("details[open]"))
    d.execute_script("window.alert = () => { window.hit = true }")
    say("<img src=x onerror=alert(1)> 기한이 언제까지예요?")
    looked.that("chat: what is typed is text", not d.execute_script("return window.hit || document.querySelector('#log img')"))
    every("input[name=mode][value=check]")[0].click()
    checked = say("수강신청은 총장이 정한 기간에 하여야 합니다. 위반하면 벌금 300만원을 냅니다.")
    looked.that("chat: a foreign answer is painted", len(checked.find_elements(By.CSS_SELECTOR, "mark")) >= 2, checked.text[:200])
    looked.look("chat, with answers", address)
    every("#anew")[0].click()
    looked.that("chat: anew is empty", not every("#log article"))
    d.get(f"{address}?q={quote(begun[-1])}")
    WebDriverWait(d, 60).until(lambda _: every("mark") or every(".by"))
    looked.that("chat: a link asks at once", begun[-1] in every("#log article.me")[0].text)


def served(work):
    "The bundled book served at a free port: (process, address)."
    p = subprocess.Popen([CLI, "serve", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=work)
    line = p.stdout.readline()
    return p, re.search(r"http://\S+", line)[0] + "/"


RULES = """# 별빛물산 취업규칙

제1조(연차휴가) ① 1년간 80퍼센트 이상 출근한 직원에게 15일의 연차휴가를 준다.
② 연차휴가는 쓰려는 날의 3일 전까지 팀장에게 신청하여야 한다.

제2조(경조휴가) 직원이 결혼하는 때에는 5일의 경조휴가를 준다.

제3조(출장비) 국내 출장의 숙박비는 1박에 8만원까지 지급한다.
"""
ANSWERS = (
    ("연차 며칠이에요?", "15일의 연차휴가를 받습니다. <script>window.hit=1</script><img src=x onerror='window.hit=1'>"),
    ("언제까지 신청해요?", "쓰려는 날의 7일 전까지 팀장에게 신청하여야 합니다."),
    ("주차비 줘요?", "죄송하지만 제공된 자료에서 답을 찾을 수 없습니다."),
    ("결혼하면 며칠 쉬어요?", "직원이 결혼하는 때에는 5일의 경조휴가를 줍니다. 축의금 100만원도 나옵니다."))


def written(work):
    "The pages that commands write, each as (what it is, its file)."
    work = Path(work)
    (work/"rules.md").write_text(RULES, encoding="utf8")
    rows = [{"_id": str(i), "query": q, "answer": a, "contexts": [RULES]} for i, (q, a) in enumerate(ANSWERS)]
    for name, told in (("new", rows), ("old", [{**r, "answer": r["answer"].replace("7일", "3일")} for r in rows])):
        (work/f"{name}.jsonl").write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in told), encoding="utf8")
    commands = {
        "check": "check --answers new.jsonl --html check.html",
        "check against": "check --answers new.jsonl --against old.jsonl --html against.html",
        "judge": "judge --answers new.jsonl --html judge.html",
        "import": "import rules.md --out book --report import.html",
        "dashboard": "test --data rules.md --queries 3 --turns 3 --seed 7 --fast --out session"}
    for what, command in commands.items():
        done = subprocess.run([CLI, *command.split()], cwd=work, capture_output=True, text=True)
        page = work/("session/dashboard.html" if what == "dashboard" else command.split()[-1])
        if not page.is_file():
            raise SystemExit(f"rag-quality {command}: no page (exit {done.returncode})\n{done.stderr[-800:]}")
        yield what, page


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--pictures", metavar="FOLDER")
    args = ap.parse_args()
    driver = browser()
    if driver is None:
        print("no Chrome or Chromium on PATH: nothing was looked at")
        return 2
    if args.pictures:
        Path(args.pictures).mkdir(parents=True, exist_ok=True)
    looked = Looked(driver, args.pictures)
    with tempfile.TemporaryDirectory() as work:
        server, address = served(work)
        try:
            looked.page("chat", address)
            talk(looked, address)
            for what, page in written(work):
                looked.page(what, page.as_uri())
                looked.that(f"{what}: an answer's markup is text", not driver.execute_script("return window.hit"))
        finally:
            server.terminate()
            driver.quit()
    print(f"{looked.passed} passed, {looked.failed} failed")
    return 1 if looked.failed else 0


if __name__ == "__main__":
    sys.exit(main())
