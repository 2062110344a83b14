// ---- sure.js: how sure all of it is, and what would make it surer. ----

const NAMELESS = ["none", "fde"];

// Of each file with code how much of its bytes has a name.
function coverageTable(page, measure) {
  const rows = page.report.coverage.map(file => {
    const all = Object.values(file.values).reduce((a, b) => a + Math.abs(b), 0);
    const without = NAMELESS.reduce((a, source) => a + Math.abs(file.values[source] || 0), 0);
    return { file, all, without };
  }).filter(row => row.all > 0).sort((a, b) => b.all - a.all).slice(0, 30);
  return el("table", null,
    el("thead", null, el("tr", null, ...[measure.name, "named", "file", "what is missing"].map(t => el("th", { scope: "col" }, t)))),
    el("tbody", null, ...rows.map(row => el("tr", null, el("td", null, amount(row.all, measure)),
      el("td", null, percent(row.all - row.without, row.all)), el("td", null, row.file.path || "(no file)"),
      el("td", null, [row.file.reason, row.file.advice].filter(text => text).join("; "))))));
}

function commandLine(install) {
  return el("div", { class: "command" }, el("span", null, install.what), el("code", null, install.command),
    copyButton("Copy", install.command));
}

// What a number is, for who does not know yet.
const DEFINITIONS = [
  ["itself", "What was allocated right there, by a call of malloc or by what is folded into the row."],
  ["with calls", "That, and what was allocated in all that the row called. Recursion counts once."],
  ["\u00b195 %", "Half of the 95 % interval: in 19 of 20 profiles the true value is no further off. A profile is a sample."],
  ["samples", "How many sampled objects a number rests on. With fewer than ten it may be far off."],
  ["growth", "What is there now, less what was there before."],
  ["width", "How much a row holds with all that it calls; in a difference how much changed in it, up or down; with Total the larger side."],
];

// What the page has in it, for who wants to pass it on.
function holdings(profile) {
  const page = profile.page, names = numbers => [...new Set(numbers)].map(id => profile.strings[id]).filter(name => name).sort();
  const files = names(profile.frames.file), tags = names(profile.tags).filter(name => name !== "(no tag)"), source = new Map();
  for (const excerpt of page.source.filter(one => one.lines))
    source.set(profile.strings[excerpt.file], (source.get(profile.strings[excerpt.file]) || 0) + excerpt.lines.length);
  const processes = (page.answer && page.answer.processes || []).map(one => one[1]);
  const list = items => (items.length ? items.join(", ") : "none");
  return [
    ["lines of source", source.size ? [...source].map(([file, count]) => count + " of " + file).join(", ") : "none"],
    ["tags", list(tags)],
    ["functions", grouped(names(profile.frames.name).length) + " names"],
    ["paths of source files", grouped(files.length) + (files.length ? ": " + files.slice(0, 20).join(", ") + (files.length > 20 ? " ..." : "") : "")],
    ["files with code", list(names(profile.frames.object))],
    ["processes", list(processes)],
  ];
}

// Notes that differ in the process and in numbers alone are one.
function oneOfEach(notes) {
  const kinds = new Map();
  for (const text of notes) {
    const [, name, rest] = /^([^:]*): (.*)$/s.exec(text) || ["", "", text], kind = rest.replace(/[\d.,]+/g, "#");
    if (!kinds.has(kind)) kinds.set(kind, { text, others: [] });
    else kinds.get(kind).others.push(...(name ? [name] : []));
  }
  return [...kinds.values()].map(one => one.text + (one.others.length ? " (likewise of " + one.others.join(", ") + ")" : ""));
}

function putSure(profile, answer, measure) {
  const page = profile.page, report = page.report, sentences = [];
  if (report.named !== null) sentences.push((report.named * 100).toFixed(0) + " % of the bytes have a function's name.");
  if (report.profile.rate) sentences.push("One sample for " + amount(report.profile.rate, measureFor(report.profile.rate, true)) +
    " " + measureFor(report.profile.rate, true).name + " that were allocated.");
  if (report.bound) sentences.push(report.bound[0].toUpperCase() + report.bound.slice(1) + ".");
  const section = byId("sure");
  section.append(
    el("p", null, sentences.join(" ")),
    ...(answer.sure || []).map(text => el("p", null, text)),
    ...oneOfEach(report.notes).map(text => el("p", { class: "doubt" }, plusMinus(text))),
    ...(answer.install || []).map(commandLine),
    el("details", null, el("summary", null, "Names, file by file"), el("div", { class: "wide" }, coverageTable(page, measure))),
    el("details", { id: "definitions" }, el("summary", null, "What the words and numbers mean"),
      el("dl", null, ...[...DEFINITIONS, ...page.verdicts.map(words => [(SIGNS[words[0]] || ".") + " " + words[1], words[2]])]
        .flatMap(([term, means]) => [el("dt", null, term), el("dd", null, means)]))),
    el("details", { id: "holds" }, el("summary", null, "What this page has in it, before you pass it on"),
      el("dl", null, ...holdings(profile).flatMap(([term, what]) => [el("dt", null, term), el("dd", null, what)]))),
    el("p", { class: "doubt" }, "Made by jprof " + report.version + " from " + report.inputs.join(", ") +
      (report.base ? " and " + report.base : "") + ". This file loads nothing and sends nothing."));
}
