// ---- answer.js: what stands over the pictures: the answer, suspects, chips, and where all memory is. ----

// What the page says where the command gave no answer: the total, and the row that has most of it.
function plainAnswer(profile, rows, measure) {
  const report = profile.page.report, largest = rows.reduce((a, b) => (Math.abs(b.flat) > Math.abs(a.flat) ? b : a), { flat: 0 });
  const total = amount(report.total, measure) + " " + measure.name;
  const sentence = profile.difference
    ? "The difference is " + change(report.total, measure) + " " + measure.name + "."
    : "The profile holds " + total + ".";
  return {
    title: [...report.inputs, ...(report.base ? ["since " + report.base] : [])].join(", "),
    sentences: [sentence],
    suspects: largest.name === undefined ? [] : [{
      name: largest.name, verdict: null,
      amount: change(largest.flat, measure).replace(/^\+/, profile.difference ? "+" : "") + " " + measure.name, details: [],
    }],
  };
}

function verdictWords(page, key) {
  const found = page.verdicts.find(words => words[0] === key);
  return found ? { key, shown: found[1], means: found[2], sign: SIGNS[key] || "." } : null;
}

// A card; all but the first are one line, until they are opened, and one of which no more is known stays one.
function suspectCard(page, suspect, open, show) {
  const verdict = suspect.verdict && verdictWords(page, suspect.verdict);
  const hot = suspect.verdict === "leak_suspect" || suspect.verdict === "growing";
  const head = [
    el("span", { class: "verdict" }, verdict ? verdict.sign + " " + verdict.shown : "largest"), " ",
    el("span", { class: "amount" }, plusMinus(suspect.amount)), " ",
    el("span", { class: "name" }, suspect.name), suspect.place ? el("span", { class: "place" }, " " + suspect.place) : null];
  return el("div", { class: "suspect" + (hot ? "" : " plain") },
    suspect.details.length
      ? el("details", { open }, el("summary", null, ...head),
        el("dl", null, ...suspect.details.flatMap(([term, text]) => [el("dt", null, term), el("dd", null, text)])))
      : el("div", null, ...head),
    suspect.shown === false || !show ? null
      : el("button", { type: "button", class: "show", onclick: () => show(suspect.name) }, "Show it"));
}

// has: whether the page has a row of that name, which show() shows.
function putAnswer(page, answer, has, show) {
  byId("title").textContent = answer.title;
  byId("answer").replaceChildren(
    ...answer.sentences.map(text => el("p", null, plusMinus(text))),
    ...answer.suspects.map((suspect, i) => suspectCard(page, suspect, i === 0, has(suspect.name) && show)));
}

// counts: how many rows each verdict has.
function putChips(page, counts, toggle) {
  const on = listOf("verdicts");
  byId("chips").hidden = !counts.size;
  byId("chips").replaceChildren(...page.verdicts.filter(words => counts.has(words[0])).map(([key]) => {
    const words = verdictWords(page, key);
    return el("button", { type: "button", "aria-pressed": on.has(key) ? "true" : "false", title: words.means,
      onclick: () => toggle(key) }, el("span", { class: "sign" }, words.sign), " " + words.shown + " " + counts.get(key));
  }));
}

// ---- where all memory is: the parts of `jprof explain`, to scale ----

function partName(answer, row) {
  const words = answer.parts[row.part] || row.part;
  return row.object_size ? "objects of " + row.object_size + " bytes" : row.name || words;
}

function memoryTable(answer, rows, measure) {
  const growth = rows.some(row => row.growth !== null && row.growth !== undefined), whole = rows.find(row => row.part === "total");
  const head = [measure.name, "share", ...(growth ? ["growth"] : []), "where"].map(text => el("th", { scope: "col", class: text === "where" ? "where" : null }, text));
  return el("table", null, el("thead", null, el("tr", null, ...head)), el("tbody", null, ...rows.map(row => {
    const name = el("td", { class: "where" }, partName(answer, row));
    name.style.paddingLeft = 8 + row.depth * 18 + "px";
    return el("tr", null, el("td", null, amount(row.bytes, measure)),
      el("td", null, whole && row.depth === 0 ? percent(row.bytes, whole.bytes) : ""),
      growth ? el("td", null, row.growth === null ? "" : change(row.growth, measure)) : null, name);
  })));
}

function putMemory(answer) {
  const explain = answer.explain, section = byId("memory");
  const parts = explain ? explain.rows.filter(row => row.depth === 0 && row.bytes > 0 && row.part !== "total") : [];
  section.hidden = parts.length < 2;
  if (section.hidden) return;
  const sum = parts.reduce((all, row) => all + row.bytes, 0), measure = measureFor(sum, true);
  const shown = [...parts].sort((a, b) => b.bytes - a.bytes);
  const bar = el("div", { class: "memory-bar", "aria-hidden": "true" }, ...shown.map((row, i) => {
    const share = row.bytes / sum, part = el("div", { class: "m" + Math.min(i, 6), title: partName(answer, row) + " " + amount(row.bytes, measure) });
    part.style.flexGrow = row.bytes;
    part.style.flexBasis = "0";
    if (share > 0.07) part.textContent = amount(row.bytes, measure);
    return part;
  }));
  const key = el("ul", { class: "memory-key" }, ...shown.map((row, i) => el("li", null,
    el("span", { class: "swatch m" + Math.min(i, 6), "aria-hidden": "true" }), partName(answer, row) + " " + amount(row.bytes, measure))));
  section.replaceChildren(bar, key,
    el("details", null, el("summary", null, "All parts of " + amount(explain.total, measure) + " " + measure.name +
      (explain.processes > 1 ? " in " + explain.processes + " processes" : "")),
    el("div", { class: "wide" }, memoryTable(answer, explain.rows, measure)), memoryHelps(explain, measure)));
}

function memoryHelps(explain, measure) {
  if (!explain.helps || !explain.helps.length) return null;
  return el("div", null, el("p", null, "What would help, in this order:"), el("ol", null, ...explain.helps.map(help =>
    el("li", null, help.do + " (saves " + (help.part ? "part of " : "about ") + amount(help.saves, measure) + " " + measure.name + ")",
      el("div", { class: "doubt" }, help.why)))));
}
