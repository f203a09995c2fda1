(() => {
  "use strict";
  const root = document.documentElement, all = (s, e = document) => [...e.querySelectorAll(s)], one = (s, e = document) => e.querySelector(s);
  root.classList.add("js");

  // light and dark
  const dark = matchMedia("(prefers-color-scheme: dark)"), button = one("#theme");
  const theme = () => root.dataset.theme || (dark.matches ? "dark" : "light");
  const told = () => { if (button) { button.textContent = theme() === "dark" ? "밝게" : "어둡게"; } };
  if (button) button.addEventListener("click", () => { root.dataset.theme = theme() === "dark" ? "light" : "dark"; told(); });
  dark.addEventListener("change", told); told();

  // tables: sort by a column, filter by words and by choices
  all("table.list").forEach(table => {
    const body = table.tBodies[0], heads = all("th", table), value = (tr, i) => { const c = tr.cells[i]; return c ? c.dataset.sort ?? c.textContent.trim() : ""; };
    heads.forEach((th, i) => {
      const b = one("button", th); if (!b) return;
      b.addEventListener("click", () => {
        const up = th.getAttribute("aria-sort") !== "ascending";
        heads.forEach(h => h.hasAttribute("aria-sort") && h.setAttribute("aria-sort", "none"));
        th.setAttribute("aria-sort", up ? "ascending" : "descending");
        const rows = [...body.rows].map((r, n) => [value(r, i), n, r]);
        rows.sort(([a, n], [b, m]) => {
          if ((a === "") !== (b === "")) return a === "" ? 1 : -1;                  // what has no value stands last
          const x = parseFloat(a), y = parseFloat(b), d = !isNaN(x) && !isNaN(y) ? x - y : a.localeCompare(b, "ko");
          return (up ? d : -d) || n - m;
        });
        rows.forEach(r => body.append(r[2]));
      });
    });
  });
  const box = one("#filters"), list = one("table.queries");
  const filter = () => {
    const words = one("[name=words]", box).value.trim().toLowerCase().split(/\s+/), picks = all("select", box).filter(s => s.value);
    let shown = 0;
    all("tbody tr", list).forEach(tr => {
      const has = s => s.name === "why" ? (tr.dataset.why || "").split(" ").includes(s.value) : tr.dataset[s.name] === s.value;
      const ok = picks.every(has) && words.every(w => !w || tr.dataset.words.includes(w));
      tr.hidden = !ok; shown += ok;
    });
    one("#shown").textContent = `${shown}개`; one("#nothing").hidden = shown > 0;
  };
  if (box && list) {
    box.addEventListener("input", filter);
    one("#clear").addEventListener("click", () => { one("[name=words]", box).value = ""; all("select", box).forEach(s => s.value = ""); filter(); });
    all("a[data-pick]").forEach(a => a.addEventListener("click", () => {
      const want = JSON.parse(a.dataset.pick);
      one("[name=words]", box).value = ""; all("select", box).forEach(s => s.value = want[s.name] ?? ""); filter();
    }));
    filter();
  }

  // pages: the place in the board is kept, Esc goes back, arrows go on
  const page = () => { const t = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1))); return t ? t.closest(".page") : null; };
  let last = page(), y = 0;
  const title = document.title;
  if (last && last.matches(":target")) addEventListener("load", () => scrollTo({ top: 0, behavior: "instant" }));
  document.addEventListener("click", e => { if (!page() && e.target.closest("a[href^='#']")) y = scrollY; }, true);
  addEventListener("hashchange", () => {
    const now = page();
    if (now && now !== last) { if (!now.matches(":has(:target)")) scrollTo({ top: 0, behavior: "instant" }); document.title = (one("h2", now)?.textContent || "") + " · " + title; one("h2", now)?.focus({ preventScroll: true }); }
    if (!now) { document.title = title; if (last && ["", "#queries", "#talks", "#top"].includes(location.hash)) scrollTo({ top: y, behavior: "instant" }); }
    last = now;
  });
  addEventListener("keydown", e => {
    const now = page();
    if (!now || e.altKey || e.ctrlKey || e.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
    const go = { Escape: ".back", ArrowLeft: ".prev", ArrowRight: ".next" }[e.key], a = go && one(go, now);
    if (a) { e.preventDefault(); a.click(); }
  });

  // a fold that is linked to opens; a command is copied
  const opened = () => { const t = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1))); if (t && t.matches("details")) t.open = true; };
  addEventListener("hashchange", opened); opened();
  all("[data-copy]").forEach(b => b.addEventListener("click", async () => {
    const code = one("code", b.parentElement);
    try { await navigator.clipboard.writeText(code.textContent); b.textContent = "베꼈습니다"; }
    catch { getSelection().selectAllChildren(code); b.textContent = "골랐습니다: Ctrl+C"; }
  }));

  // a person's marks: kept in the page, in the browser where it lets us, and saved to a file
  const keep = one("#save-marks");
  if (keep) {
    const key = "rag-quality-marks:" + keep.dataset.session, marks = {}, boxes = all("[data-mark]");
    let stored = {};
    try { stored = JSON.parse(localStorage.getItem(key)) || {}; } catch { stored = {}; }
    const value = b => { const on = one("[aria-pressed=true]", b); return on ? +on.dataset.value : null; };
    const count = () => {
      const given = Object.values(marks).filter(m => m.value !== null);
      one("#marked").textContent = `사람의 판정 ${given.length}개 (맞음 ${given.filter(m => m.value === 1).length}, 틀림 ${given.filter(m => m.value === 0).length})`;
      keep.disabled = !Object.keys(marks).length;
      try { localStorage.setItem(key, JSON.stringify(marks)); } catch { /* the page itself keeps them */ }
    };
    boxes.forEach(b => {
      const id = b.dataset.mark, digest = b.dataset.digest, note = one("input", b), old = stored[id];
      const press = v => all("button", b).forEach(x => x.setAttribute("aria-pressed", String(v !== null && +x.dataset.value === v)));
      const put = () => { marks[id] = { value: value(b), note: note.value, digest }; };
      if (old && old.digest === digest) { press(old.value); note.value = old.note || ""; put(); }
      else if (value(b) !== null || note.value) put();
      all("button", b).forEach(x => x.addEventListener("click", () => { press(x.getAttribute("aria-pressed") === "true" ? null : +x.dataset.value); put(); count(); }));
      note.addEventListener("input", () => { put(); count(); });
    });
    keep.addEventListener("click", () => {
      const rater = one("#rater").value.trim() || "r1";
      const lines = Object.entries(marks).map(([id, m]) => JSON.stringify({ id, rater, field: "correctness", value: m.value, digest: m.digest, note: m.note }) + "\n");
      const a = document.createElement("a");
      a.href = URL.createObjectURL(new Blob(lines, { type: "application/x-ndjson" })); a.download = "marks.jsonl";
      document.body.append(a); a.click(); a.remove(); setTimeout(() => URL.revokeObjectURL(a.href), 1000);
    });
    count();
  }

  // a claim and its proof light up together
  const pair = id => all(`[data-claim="${CSS.escape(id)}"]`);
  for (const [on, way] of [["mouseover", true], ["mouseout", false], ["focusin", true], ["focusout", false]])
    document.addEventListener(on, e => { const c = e.target.closest?.("[data-claim]"); if (c) pair(c.dataset.claim).forEach(x => x.classList.toggle("lit", way)); });
  all("[data-unfold]").forEach(b => b.addEventListener("click", () => {
    const ds = all("details", b.closest(".page, section")), open = ds.some(d => !d.open);
    ds.forEach(d => d.open = open); b.textContent = open ? "모두 접기" : "모두 펴기";
  }));
  addEventListener("beforeprint", () => { const p = page(); if (p) all("details", p).forEach(d => d.open = true); });
})();
