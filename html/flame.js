// ---- flame.js: the tree on a canvas, which draws only what can be seen. ----

const ROW = 20, INSET = 5, NARROWEST = 0.4, TALLEST = 1400, MOST_SEEN = 522, SHADES = [0, 0.44, 0.22, 0.58, 0.33];

class FlameGraph {
  constructor(profile, on) {
    this.profile = profile;
    this.on = on; // { zoom(node), select(node), point(node, event) }
    this.canvas = byId("canvas");
    this.canvas.flame = this; // for tests and the console
    this.area = byId("graph");
    this.context = this.canvas.getContext("2d");
    this.tree = null;
    this.zoomed = 0;
    this.at = 0;
    this.pointed = -1;
    this.readColours();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.readColours(); this.draw(); });
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
    this.area.addEventListener("scroll", () => this.drawSoon());
    new ResizeObserver(() => this.drawSoon()).observe(this.area);
    this.canvas.addEventListener("mousemove", event => this.point(event));
    this.canvas.addEventListener("mouseleave", () => this.point(null));
    this.canvas.addEventListener("click", event => this.click(event));
    this.canvas.addEventListener("keydown", event => this.key(event));
  }

  readColours() {
    const style = getComputedStyle(document.documentElement);
    this.colour = name => style.getPropertyValue("--" + name).trim();
    const names = this.profile.page.whose.map(words => words[0]);
    this.fills = names.map(name => this.shades(this.colour(name), this.colour("paper")));
    this.other = {};
    for (const name of ["all", "grew", "shrank", "match", "paper", "box-ink", "ink", "accent"]) this.other[name] = this.colour(name);
  }

  // Of an owner's colour shades towards that of the page, on which its text is as easy to read.
  shades(colour, paper) {
    const parts = hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16)), ends = parts(paper);
    return SHADES.map(share => "rgb(" + parts(colour).map((part, i) => Math.round(part + (ends[i] - part) * share)).join() + ")");
  }

  // Frames of a file, else of a namespace, else of an object file have one shade.
  shadeOf(frame) {
    const p = this.profile, f = p.frames, s = p.strings;
    this.shade = this.shade || new Uint8Array(f.name.length);
    if (!this.shade[frame]) {
      const space = s[f.name[frame]].replace(/[<(].*/, "").match(/^(.*)(::|#)/);
      let sum = 0;
      for (const letter of f.file[frame] ? s[f.file[frame]] : space ? space[1] : s[f.object[frame]]) sum = (sum * 31 + letter.charCodeAt(0)) % 65521;
      this.shade[frame] = 1 + sum % SHADES.length;
    }
    return this.shade[frame] - 1;
  }

  // Paper is white, and cannot be scrolled: all levels are drawn that fit a page.
  print(on) {
    this.printing = on;
    document.documentElement.classList.toggle("paper", on);
    this.readColours();
    this.draw();
  }

  // look: { marked: rows that the search found or null, row: the chosen row, up: roots at the bottom }
  show(tree, look) {
    this.tree = tree;
    this.look = look;
    if (this.zoomed >= tree.count) this.zoomed = 0;
    this.levels = tree.levels;
    this.canvas.dataset.boxes = tree.count;
    this.area.style.height = Math.min(Math.max(tree.depth + 1, 8) * ROW + 2, MOST_SEEN) + "px";
    byId("tall").style.height = Math.max((tree.depth + 1) * ROW, this.area.clientHeight) + "px";
    this.drawSoon();
  }

  zoomTo(node) {
    this.zoomed = node;
    this.at = node;
    this.drawSoon();
  }

  drawSoon() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }

  size() {
    const ratio = this.printing ? 2 : devicePixelRatio || 1, width = this.area.clientWidth;
    const height = this.printing ? Math.min((this.tree.depth + 1) * ROW, TALLEST) : this.area.clientHeight;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.width = width + "px";
      this.canvas.style.height = height + "px";
    }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return { width, height };
  }

  top(level) {
    if (this.printing) return this.look.up ? Math.min((this.tree.depth + 1) * ROW, TALLEST) - (level + 1) * ROW : level * ROW;
    const all = Math.max((this.tree.depth + 1) * ROW, this.area.clientHeight);
    return (this.look.up ? all - (level + 1) * ROW : level * ROW) - this.area.scrollTop;
  }

  // Where a node is: those that the zoomed one lies below are as wide as the whole.
  span(node, width) {
    const t = this.tree, from = t.x[this.zoomed], scale = t.width[this.zoomed] ? width / t.width[this.zoomed] : 0;
    if (!scale && node === this.zoomed) return [0, width];
    const left = (t.x[node] - from) * scale, right = left + t.width[node] * scale;
    return [Math.max(left, 0), Math.min(right, width)];
  }

  draw() {
    if (!this.tree) return;
    const { width, height } = this.size(), c = this.context, began = performance.now();
    c.fillStyle = this.other.paper;
    c.fillRect(0, 0, width, height);
    c.font = '12px "DejaVu Sans Mono", ui-monospace, monospace';
    c.textBaseline = "middle";
    this.letter = this.letter || c.measureText("m").width;
    let drawn = 0;
    for (let level = 0; level < this.levels.length; level++) {
      const y = this.top(level);
      if (y + ROW < 0 || y > height) continue;
      drawn += this.drawLevel(c, level, y, width);
    }
    this.outline(c, this.at, width, this.other.accent, 2);
    if (this.pointed >= 0) this.outline(c, this.pointed, width, this.other.ink, 1.5);
    this.lastDraw = { boxes: drawn, milliseconds: performance.now() - began };
  }

  // What is narrower than a pixel stands for all that begins in that pixel.
  drawLevel(c, level, y, width) {
    const t = this.tree, nodes = this.levels[level], from = t.x[this.zoomed], end = from + t.width[this.zoomed];
    const pixel = t.width[this.zoomed] / width;
    let drawn = 0, i = this.firstAt(level, from);
    while (i < nodes.length && t.x[nodes[i]] < end) {
      const node = nodes[i], [left, right] = this.span(node, width);
      if (right - left >= NARROWEST) {
        this.drawBox(c, node, left, y, right - left);
        drawn++;
      }
      i = right - left >= 1 ? i + 1 : Math.max(i + 1, this.firstAt(level, t.x[node] + pixel, i));
    }
    return drawn;
  }

  // The first node of a level, from the place `low` on, that reaches beyond `from`.
  firstAt(level, from, low = 0) {
    const nodes = this.levels[level], t = this.tree;
    let high = nodes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (t.x[nodes[middle]] + t.width[nodes[middle]] <= from) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  fill(node) {
    const t = this.tree;
    if (this.profile.difference) {
      const share = t.width[node] ? (t.now[node] - t.before[node]) / t.width[node] : 0;
      return [share > 0 ? this.other.grew : this.other.shrank, Math.min(Math.ceil(Math.abs(share) * 4 - 0.05), 4) / 4];
    }
    return node ? [this.fills[this.profile.frames.whose[t.frame[node]]][this.shadeOf(t.frame[node])], 1] : [this.other.all, 1];
  }

  drawBox(c, node, left, y, wide) {
    const [colour, strength] = this.fill(node), t = this.tree;
    const faint = this.look.marked && node && !this.look.marked(t.row[node], node);
    c.globalAlpha = faint ? 0.3 : 1;
    c.fillStyle = this.other.all;
    if (strength < 1) c.fillRect(left, y, Math.max(wide - 1, 0.4), ROW - 1);
    c.globalAlpha = (faint ? 0.3 : 1) * strength;
    c.fillStyle = colour;
    c.fillRect(left, y, Math.max(wide - 1, 0.4), ROW - 1);
    c.globalAlpha = faint ? 0.6 : 1;
    if (this.look.marked && !faint && node) this.frameBox(c, left, y, wide, this.other.match, 2);
    else if (node && t.row[node] === this.look.row) this.frameBox(c, left, y, wide, this.other.ink, 2);
    const room = Math.floor((wide - 2 * INSET) / this.letter);
    if (room >= 3) {
      c.fillStyle = this.other["box-ink"];
      c.fillText(this.label(node, room), left + INSET, y + ROW / 2);
    }
    c.globalAlpha = 1;
  }

  frameBox(c, left, y, wide, colour, thick) {
    if (wide < 3) return;
    c.strokeStyle = colour;
    c.lineWidth = thick;
    c.strokeRect(left + thick / 2, y + thick / 2, wide - 1 - thick, ROW - 1 - thick);
  }

  outline(c, node, width, colour, thick) {
    const [left, right] = this.span(node, width);
    if (right - left >= 3) this.frameBox(c, left, this.top(this.tree.level[node]), right - left, colour, thick);
  }

  name(node) {
    return node ? this.profile.strings[this.tree.row[node]] : "all";
  }

  // In a difference the change stands before the name; of a path the directories go first.
  label(node, room) {
    const change = this.profile.difference ? this.on.change(this.tree.now[node] - this.tree.before[node]) + " " : "";
    let text = this.name(node), left = room - change.length;
    if (left < 4) return change.trim().length <= room ? change.trim() : "";
    if (text.length > left) text = text.replace(/^\S*\/(?=\S)/, "");
    if (text.length > left) text = text.slice(0, Math.max(left - 2, 1)) + "..";
    return change + text;
  }

  // What there is to see, the outermost first.
  boxes() {
    const t = this.tree;
    return t.levels.flatMap(level => [...level]).filter(node => t.width[node]).map(node => ({ name: this.name(node), level: t.level[node], change: t.now[node] - t.before[node], width: t.width[node] }));
  }

  nodeAt(event) {
    const box = this.canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    for (let level = 0; level < this.levels.length; level++) {
      const top = this.top(level);
      if (y < top || y >= top + ROW) continue;
      const from = this.tree.x[this.zoomed] + x * this.tree.width[this.zoomed] / box.width;
      const node = this.levels[level][this.firstAt(level, from)];
      if (node === undefined) return -1;
      const [left, right] = this.span(node, box.width);
      return left <= x && right - left >= NARROWEST ? node : -1;
    }
    return -1;
  }

  point(event) {
    const node = event && this.tree ? this.nodeAt(event) : -1;
    if (node !== this.pointed) {
      this.pointed = node;
      this.drawSoon();
    }
    this.on.point(node, event);
  }

  click(event) {
    const node = this.nodeAt(event);
    if (node < 0) return;
    this.at = node;
    this.on.zoom(node);
  }

  key(event) {
    const t = this.tree, siblings = this.at ? t.childrenOf(t.parent[this.at]) : [0], here = siblings.indexOf(this.at);
    const down = this.look.up ? "ArrowUp" : "ArrowDown", up = this.look.up ? "ArrowDown" : "ArrowUp";
    const moves = {
      [down]: () => t.childrenOf(this.at)[0],
      [up]: () => t.parent[this.at],
      ArrowRight: () => siblings[here + 1],
      ArrowLeft: () => siblings[here - 1],
      Home: () => 0,
    };
    if (event.key === "Enter") this.on.zoom(this.at);
    else if (event.key === "Escape") this.on.zoom(this.zoomed ? t.parent[this.zoomed] : 0);
    else if (moves[event.key]) this.goTo(moves[event.key]());
    else return;
    event.preventDefault();
  }

  goTo(node) {
    if (node === undefined) return;
    this.at = node;
    this.bringIntoSight(node);
    this.on.select(node);
    this.drawSoon();
  }

  bringIntoSight(node) {
    const y = this.top(this.tree.level[node]);
    if (y < 0) this.area.scrollTop += y - ROW;
    else if (y + ROW > this.area.clientHeight) this.area.scrollTop += y + 2 * ROW - this.area.clientHeight;
  }
}
