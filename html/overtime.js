// ---- overtime.js: memory at each snapshot of a series, as a picture and as numbers. ----

const SVG = "http://www.w3.org/2000/svg", CHART = { height: 240, left: 64, right: 44, top: 12, bottom: 28 };

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
  const lines = [{ name: diff.processes[1] > 1 ? "all memory (Pss)" : "all memory (RSS)", values: diff.memory }, { name: "live malloc memory", values: diff.malloc.values }];
  for (const row of diff.rows) if (row.part !== "live") lines.push({ name: explained[row.part] || row.name, values: row.values });
  return lines.filter(line => line.values.some(value => value !== null));
}

// A round step, so that an axis has three to six of them.
function stepOf(most) {
  const size = 10 ** Math.floor(Math.log10(most / 3 || 1));
  return [1, 2, 5, 10].map(factor => factor * size).find(step => most / step <= 6);
}

function chart(lines, { moments, timed }, names, measure, width) {
  const { height, left, right, top, bottom } = CHART, last = moments[moments.length - 1] || 1;
  const most = Math.max(...lines.flatMap(line => line.values)) / measure.size, step = stepOf(most);
  const x = moment => left + moment / last * (width - left - right), y = value => height - bottom - value / (Math.ceil(most / step) * step) * (height - top - bottom);
  const picture = svg("svg", { width, height, viewBox: "0 0 " + width + " " + height, role: "img", "aria-label": "Memory at each snapshot; the table below has its numbers" });
  for (let value = 0; value <= Math.ceil(most / step) * step; value += step) {
    picture.append(svg("line", { x1: left, x2: width - right, y1: y(value), y2: y(value), class: "grid" }),
      svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, String(Number(value.toPrecision(4))) + " " + measure.name));
  }
  lines.forEach((line, i) => {
    const points = line.values.map((value, k) => [x(moments[k]), y(value / measure.size), value]).filter(point => point[2] !== null);
    picture.append(svg("polyline", { points: points.map(point => point.slice(0, 2).join()).join(" "), class: "line line" + i }),
      ...points.map(point => svg("circle", { cx: point[0], cy: point[1], r: 3, class: "dot line" + i })));
  });
  moments.forEach((moment, k) => {
    if (moments.length < 8 || k % Math.ceil(moments.length / 7) === 0)
      picture.append(svg("text", { x: x(moment), y: height - 8, "text-anchor": "middle" }, timed ? (k ? "+" + duration(moment) : "start") : names[k].replace(/[.](jprof|heap)$/, "")));
  });
  return picture;
}

// What the lines of the picture are.
function chartKey(lines) {
  return el("ul", { class: "memory-key" }, ...lines.map((line, i) => el("li", null,
    svg("svg", { width: 34, height: 10, "aria-hidden": "true", class: "sample" }, svg("line", { x1: 0, x2: 30, y1: 5, y2: 5, class: "line line" + i })), line.name)));
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
    const drawn = lines.filter(line => line.values === page.answer.diff.memory || line.values === page.answer.diff.malloc.values);
    fill(byId("time-panel"),
      chart(drawn, momentsOf(page.answer.diff), this.names, measure, Math.max(Math.min(byId("time-panel").clientWidth || 680, 760), 300)),
      chartKey(drawn),
      this.table("all memory", lines, measure),
      this.table("rows that changed most", this.rowsAt(look), measureFor(Math.max(...page.answer.diff.malloc.values), true)));
  }
}
