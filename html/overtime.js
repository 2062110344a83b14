// ---- overtime.js: memory at each snapshot of a series, as a picture and as numbers. ----

const SVG = "http://www.w3.org/2000/svg", CHART = { height: 300, left: 64, right: 44, top: 12, bottom: 28 };

function svg(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// Seconds from the first snapshot to each; where they are not known, its number.
function momentsOf(diff) {
  const steps = diff.malloc.steps, timed = steps.every(step => step.seconds !== null);
  const moments = [0];
  for (const step of steps) moments.push(moments[moments.length - 1] + (timed ? step.seconds : 1));
  return { moments, timed };
}

function duration(seconds) {
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]], [name, size] = units.find(unit => seconds >= 2 * unit[1]) || units[3];
  return Number((seconds / size).toPrecision(2)) + " " + name;
}

// What there is of all memory, a line for each.
function linesOf(page) {
  const diff = page.answer.diff, explained = page.answer.parts;
  const lines = [{ name: "live malloc memory", values: diff.malloc.values }], now = line => line.values[line.values.length - 1];
  for (const row of diff.rows) if (row.part !== "live") lines.push({ name: explained[row.part] || row.name, values: row.values });
  return [{ name: diff.processes[1] > 1 ? "all memory (Pss)" : "all memory (RSS)", values: diff.memory, whole: true },
    ...lines.sort((a, b) => now(b) - now(a))].filter(line => line.values.some(value => value !== null));
}

// A round step, so that an axis has three to six of them.
function stepOf(most) {
  const size = 10 ** Math.floor(Math.log10(most / 3 || 1));
  return [1, 2, 5, 10].map(factor => factor * size).find(step => most / step <= 6);
}

// Parts lie on each other, the largest at the bottom; a line says what all memory is. What is less than nothing has no height.
function chart(lines, { moments, timed }, names, measure, width) {
  const { height, left, right, top, bottom } = CHART, last = moments[moments.length - 1] || 1;
  const sums = [moments.map(() => 0)];
  for (const line of lines.filter(one => !one.whole)) sums.push(sums[sums.length - 1].map((sum, k) => sum + Math.max(line.values[k], 0)));
  const most = Math.max(...sums[sums.length - 1], ...lines.flatMap(line => line.values)) / measure.size, step = stepOf(most);
  const x = moment => left + moment / last * (width - left - right), y = value => height - bottom - value / (Math.ceil(most / step) * step) * (height - top - bottom);
  const picture = svg("svg", { width, height, viewBox: "0 0 " + width + " " + height, role: "img", "aria-label": "Memory at each snapshot; the table below has its numbers" });
  for (let value = 0; value <= Math.ceil(most / step) * step; value += step) {
    picture.append(svg("line", { x1: left, x2: width - right, y1: y(value), y2: y(value), class: "grid" }),
      svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, String(Number(value.toPrecision(4))) + " " + measure.name));
  }
  const points = values => values.map((value, k) => (value === null ? null : [x(moments[k]), y(value / measure.size)])).filter(point => point);
  for (let i = 1; i < sums.length; i++)
    picture.append(svg("polygon", { points: [...points(sums[i - 1]), ...points(sums[i]).reverse()].join(" "), class: "area m" + Math.min(i - 1, 6) }));
  for (const line of lines.filter(one => one.whole))
    picture.append(svg("polyline", { points: points(line.values).join(" "), class: "line sum" }),
      ...points(line.values).map(([cx, cy]) => svg("circle", { cx, cy, r: 3, class: "dot sum" })));
  moments.forEach((moment, k) => {
    if (moments.length < 8 || k % Math.ceil(moments.length / 7) === 0)
      picture.append(svg("text", { x: x(moment), y: height - 8, "text-anchor": "middle" }, timed ? (k ? "+" + duration(moment) : "start") : names[k].replace(/[.](jprof|heap)$/, "")));
  });
  return picture;
}

// What the line and the areas of the picture are.
function chartKey(lines) {
  const areas = lines.filter(line => !line.whole);
  return el("ul", { class: "memory-key" }, ...lines.map(line => el("li", null, line.whole
    ? svg("svg", { width: 30, height: 10, "aria-hidden": "true" }, svg("line", { x1: 0, x2: 26, y1: 5, y2: 5, class: "line sum" }))
    : el("span", { class: "swatch m" + Math.min(areas.indexOf(line), 6), "aria-hidden": "true" }), line.name)));
}

class TimePanel {
  constructor(profile, choose) {
    this.profile = profile;
    this.choose = choose;
    this.names = profile.snapshots.map(path => path.replace(/^.*\//, ""));
  }

  // The first cell is a button where a row of the profile can be chosen.
  table(head, rows, measure) {
    return el("div", { class: "wide" }, el("table", null,
      el("thead", null, el("tr", null, el("th", { scope: "col", class: "rowname" }, head + " (" + measure.name + ")"), ...this.names.map(name => el("th", { scope: "col" }, name)))),
      el("tbody", null, ...rows.map(row => el("tr", null,
        el("td", { class: "rowname" }, row.button ? el("button", { type: "button", onclick: () => this.choose(row.name) }, row.name) : row.name),
        ...row.values.map(value => el("td", null, value === null ? "" : amount(value, measure))))))));
  }

  // Rows of the table at each snapshot: those that change most from one to another.
  rowsAt(look) {
    const p = this.profile, rows = new Map();
    this.names.forEach((name, k) => {
      const values = p.at(k);
      for (let i = 0; i < look.kept.length; i++) {
        if (!look.kept[i] || !values[i]) continue;
        const id = rowOfStackBy(p, look.variant, i, look.by);
        if (!rows.has(id)) rows.set(id, { name: p.strings[id], values: this.names.map(() => 0), button: true });
        rows.get(id).values[k] += values[i];
      }
    });
    const spread = row => Math.max(...row.values) - Math.min(...row.values);
    return [...rows.values()].sort((a, b) => spread(b) - spread(a)).slice(0, 30);
  }

  show(look) {
    const page = this.profile.page, lines = linesOf(page), measure = measureFor(Math.max(...lines.flatMap(line => line.values)), true);
    fill(byId("time-panel"),
      chart(lines, momentsOf(page.answer.diff), this.names, measure, Math.max(Math.min(byId("time-panel").clientWidth || 680, 1000), 300)),
      chartKey(lines),
      this.table("all memory", lines, measure),
      this.table("rows that changed most", this.rowsAt(look), measureFor(Math.max(...page.answer.diff.malloc.values), true)));
  }
}
