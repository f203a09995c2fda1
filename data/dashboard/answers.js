(() => {
  "use strict";
  const root = document.documentElement, all = (s, e = document) => [...e.querySelectorAll(s)], one = (s, e = document) => e.querySelector(s);
  root.classList.add("js");

  // light and dark
  const dark = matchMedia("(prefers-color-scheme: dark)"), button = one("#theme");
  const theme = () => root.dataset.theme || (dark.matches ? "dark" : "light");
  const told = () => { button.textContent = theme() === "dark" ? "밝게" : "어둡게"; };
  button.addEventListener("click", () => { root.dataset.theme = theme() === "dark" ? "light" : "dark"; told(); });
  dark.addEventListener("change", told); told();

  // what is shown: group, kind, words, order; it stands in the address after '#', so that it can be sent and kept
  const box = one("#filters"), list = one("#items"), items = list ? all(".item", list) : [], start = { g: "", k: "", q: "", s: "w" };
  const state = { ...start };
  const words = new Map(items.map(i => [i, all(".q,.said", i).map(e => e.textContent).join(" ").toLowerCase()]));
  let order = "w";
  const show = () => {
    const asked = state.q.trim().toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    items.forEach(i => {
      const ok = (!state.g || i.dataset.group === state.g) && (!state.k || i.dataset.kinds.split(" ").includes(state.k)) && asked.every(w => words.get(i).includes(w));
      i.hidden = !ok; n += ok;
    });
    if (order !== state.s) { order = state.s; [...items].sort((a, b) => a.dataset[order] - b.dataset[order]).forEach(i => list.append(i)); }
    all("[data-group]", box).forEach(b => b.setAttribute("aria-pressed", b.dataset.group === state.g));
    all("button[data-kind]").forEach(b => b.setAttribute("aria-pressed", b.dataset.kind === state.k));
    for (const name of ["k", "q", "s"]) { const e = one(`[name=${name}]`, box); if (e && e.value !== state[name]) e.value = state[name]; }
    one("#shown").textContent = n === items.length ? `${n}개 모두 보임` : `${items.length}개 가운데 ${n}개 보임`;
  };
  const keep = () => {
    const p = new URLSearchParams(Object.entries(state).filter(([k, v]) => v !== start[k]));
    try { history.replaceState(null, "", "#" + p); } catch { /* a page that may not: the filter works all the same */ }
  };
  const set = more => { Object.assign(state, more); show(); keep(); };
  const read = () => {
    const hash = location.hash.slice(1);
    if (hash && !hash.includes("=")) return;                       // a place on the page, no state
    const p = new URLSearchParams(hash);
    for (const k in start) state[k] = p.get(k) ?? start[k];
    if (!["w", "n"].includes(state.s)) state.s = start.s;
    show();
  };
  if (box) {
    box.addEventListener("input", e => { if (e.target.name) set({ [e.target.name]: e.target.value }); });
    box.addEventListener("click", e => {
      const b = e.target.closest("button"); if (!b) return;
      if (b.id === "clear") set({ ...start }); else if ("group" in b.dataset) set({ g: b.dataset.group });
    });
    all("button[data-kind]").forEach(b => b.addEventListener("click", () => {
      set({ k: state.k === b.dataset.kind ? "" : b.dataset.kind });
      if (state.k) one("#answers").scrollIntoView();
    }));
    addEventListener("hashchange", read);
    show(); read();
  }

  // a place on the page: gone to without losing the state
  const go = (e, block = "start") => { e.scrollIntoView({ block }); const t = e.matches("[tabindex]") ? e : one("[tabindex]", e); if (t) t.focus({ preventScroll: true }); };
  document.addEventListener("click", e => {
    const a = e.target.closest("a[href^='#']"); if (!a) return;
    if (a.matches(".claim")) { e.preventDefault(); pick(a); return; }
    const to = document.getElementById(decodeURIComponent(a.hash.slice(1))); if (!to) return;
    if (a.matches("[data-open]")) { e.preventDefault(); reveal(to, a.closest(".proof").dataset.claim); const m = one("mark.lit", to) || to; go(to, "nearest"); m.scrollIntoView({ block: "center" }); return; }
    if (!a.matches(".mine")) { e.preventDefault(); go(to); }
  });

  // a sentence: its reason is shown, its article opens at the sentence that it was held against
  const side = e => e.closest(".side, .item");
  const clear = e => { all(".lit", e).forEach(x => x.classList.remove("lit")); all(".shown", e).forEach(x => x.classList.remove("shown")); all("a.claim[aria-expanded=true]", e).forEach(x => x.setAttribute("aria-expanded", "false")); };
  const reveal = (article, id) => {
    for (let d = article; d; d = d.parentElement.closest("details")) d.open = true;
    const marks = all("mark", article).filter(m => m.dataset.for.split(" ").includes(id)), body = one(".body", article);
    marks.forEach(m => m.classList.add("lit"));
    if (marks[0] && body) body.scrollTop = Math.max(0, marks[0].offsetTop - body.clientHeight / 3);
    const column = article.closest(".texts");
    if (column && column.scrollHeight > column.clientHeight) column.scrollTop += article.getBoundingClientRect().top - column.getBoundingClientRect().top - 8;
  };
  const pick = a => {
    const here = side(a), was = a.getAttribute("aria-expanded") === "true";
    clear(here); if (was) return;
    a.classList.add("lit"); a.setAttribute("aria-expanded", "true");
    const proof = document.getElementById(a.hash.slice(1)); if (!proof) return;
    proof.classList.add("shown", "lit");
    const article = proof.dataset.article && document.getElementById(proof.dataset.article);
    if (article) reveal(article, proof.dataset.claim);
    proof.scrollIntoView({ block: "nearest" });
  };
  all("a.claim").forEach(a => a.setAttribute("aria-expanded", "false"));
  all("[data-unfold]").forEach(b => b.addEventListener("click", () => {
    const hidden = all(".proofs>.calm", side(b)), open = hidden.some(x => !x.classList.contains("shown"));
    hidden.forEach(x => x.classList.toggle("shown", open)); b.textContent = open ? "나쁜 문장의 까닭만" : "모든 문장의 까닭";
  }));

  // keys: j and k go from answer to answer, Esc lets go of a sentence
  addEventListener("keydown", e => {
    if (e.altKey || e.ctrlKey || e.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
    if (e.key === "Escape") { const i = document.activeElement.closest?.(".item"); if (i) clear(i); return; }
    if (e.key !== "j" && e.key !== "k") return;
    const seen = all(".item:not([hidden])", list || document), at = seen.indexOf(document.activeElement.closest?.(".item")), to = seen[at + (e.key === "j" ? 1 : -1)];
    if (to) go(to);
  });
})();
