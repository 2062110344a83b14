// ---- text.js: numbers in words, and elements of the page. Names come in as text alone, never as markup. ----

const UNITS = [["B", 1], ["KB", 1024], ["MB", 1048576], ["GB", 1073741824]];

// The unit in which the largest number has two to four digits before the point.
function measureFor(largest, bytes) {
  let unit = 0;
  while (bytes && unit < UNITS.length - 1 && Math.abs(largest) / UNITS[unit][1] >= 10000) unit++;
  return bytes ? { name: UNITS[unit][0], size: UNITS[unit][1] } : { name: "objects", size: 1 };
}

function grouped(number) {
  return String(Math.trunc(number)).replace(/\B(?=(\d{3})+$)/g, ",");
}

// Without the unit: "318.0", "12,345".
function amount(value, measure) {
  if (value === null || !Number.isFinite(value)) return "?";
  return measure.size > 1 ? (value / measure.size).toFixed(1).replace(/^-0\.0$/, "0.0") : grouped(value);
}

function change(value, measure) {
  return (value > 0 ? "+" : "") + amount(value, measure);
}

// "(+-17)" as a page may have it.
function plusMinus(text) {
  return text.replace(/\(\+-(?=[\d.,]+\))/g, "(\u00b1");
}

function percent(part, whole) {
  return whole ? (part * 100 / whole).toFixed(1) + " %" : "";
}

// el("p", { class: "name", onclick: f }, "text", child...): children that are null are left out.
function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {}))
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(key, value === true ? "" : value);
  element.append(...children.filter(child => child !== null && child !== undefined && child !== ""));
  return element;
}

// Puts these in the place of what an element has; those that are null are left out.
function fill(element, ...children) {
  element.replaceChildren(...children.filter(child => child !== null));
}

// The pieces of a name whose lines may end behind each of its separators, and so need not end in mid-word.
function breakable(name) {
  return name.split(/(?<=[/_]|::)/).flatMap((part, i) => i ? [el("wbr"), part] : [part]);
}

function byId(id) {
  return document.getElementById(id);
}

// A button that copies a text, and says so.
function copyButton(label, text) {
  const button = el("button", { type: "button" }, label);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Cannot copy here";
    }
    setTimeout(() => { button.textContent = label; }, 1500);
  });
  return button;
}

// As a pattern that finds the text itself.
function literally(text) {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

// A pattern as people type it, for the lines of frameText; a part of a pattern that is none yet is taken as plain text.
// Upper and lower case differ, as for --focus and --ignore, unless `anyCase`.
function patternOf(text, anyCase) {
  const flags = anyCase ? "im" : "m";
  if (!text) return null;
  try {
    return new RegExp(text, flags);
  } catch {
    return new RegExp(literally(text), flags);
  }
}
