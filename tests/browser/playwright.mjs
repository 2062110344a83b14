// Walks through pages of --html with Playwright in Debian's Chromium: each view is opened, clicked and searched, and its numbers are those
// of --json. Complaints of the console and requests for anything else are failures.
// usage: node playwright.mjs PLAYWRIGHT_CORE CHROMIUM PAGES.json, which has {url, rows, unit, difference, suspect, named} of each page
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

const [core, chromium, list] = process.argv.slice(2);
const playwright = createRequire(import.meta.url)(path.resolve(core));
const UNITS = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 };
let failures = 0, checks = 0;

function check(good, text) {
  checks++;
  if (good) return;
  failures++;
  console.log("FAIL: " + text);
}

const number = text => Number(text.replace(/[,+]/g, ""));

async function rowsShown(page) {
  return page.locator("#rows tr").evaluateAll(rows => rows.map(tr => ({ name: tr.querySelector("button").textContent, value: tr.cells[0].textContent })));
}

async function sameRows(page, what, wanted) {
  const size = UNITS[(await page.locator("#unit").textContent()).replace(/[()]/g, "")], shown = new Map((await rowsShown(page)).map(row => [row.name, row.value]));
  let compared = 0;
  for (const row of wanted.filter(one => Math.abs(one.flat) >= 0.1 * size).slice(0, 40)) {
    check(shown.has(row.name), `${what}: no row ${row.name}`);
    if (!shown.has(row.name)) continue;
    check(Math.abs(number(shown.get(row.name)) * size - row.flat) <= 0.051 * size + 60, `${what}: ${row.name} has ${shown.get(row.name)}, not ${row.flat / size}`);
    compared++;
  }
  check(compared > 0, `${what}: no row was compared`);
}

async function walkTabs(page, what) {
  for (const [tab, panel] of [["Callers and callees", "#calls-panel"], ["Source", "#source-panel"], ["Sizes", "#sizes-panel"], ["Over time", "#time-panel"], ["Flame graph", "#graph-panel"]]) {
    const button = page.getByRole("button", { name: tab, exact: true });
    if (!(await button.isVisible())) continue;
    await button.click();
    check(await page.locator(panel).isVisible(), `${what}: ${tab} does not open`);
    check((await page.locator(panel).innerText()).trim().length > 20, `${what}: ${tab} is empty`);
    check(await button.getAttribute("aria-pressed") === "true", `${what}: ${tab} is not marked`);
  }
}

async function walk(browser, given) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } }), complaints = [], asked = [];
  page.on("console", message => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", error => complaints.push(String(error)));
  page.on("request", request => request.url() !== given.url && asked.push(request.url()));
  const began = Date.now();
  await page.goto(given.url);
  await page.locator("html[data-ready=yes]").waitFor({ state: "attached", timeout: 300000 });
  const ready = Date.now() - began, what = given.what;
  await sameRows(page, what, given.rows);
  if (given.answer) check((await page.locator("#answer").innerText()).includes(given.answer), `${what}: the answer is not ${given.answer}`);
  if (given.source) await hasSource(page, what, given.source);
  await walkTabs(page, what);
  const first = (await rowsShown(page))[0].name;
  await page.getByLabel("Search").fill(first.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  await page.waitForFunction(() => document.getElementById("found").textContent !== "");
  check(/\d/.test(await page.locator("#found").innerText()), `${what}: the search finds nothing`);
  await page.getByLabel("Search").fill("");
  await page.locator("#canvas").click({ position: { x: 30, y: 30 } });
  check(new URL(page.url()).hash.includes("zoom="), `${what}: a click does not zoom: ${page.url()}`);
  for (let n = 0; n < 64 && new URL(page.url()).hash.includes("zoom="); n++) await page.keyboard.press("Escape");
  check(!new URL(page.url()).hash.includes("zoom="), `${what}: Escape does not zoom out`);
  await page.getByRole("button", { name: "Reset" }).click();
  await page.locator("#canvas").hover({ position: { x: 60, y: 10 } });
  await page.locator("#tip").waitFor({ state: "visible" });
  check(/[\d.]+/.test(await page.locator("#tip").innerText()), `${what}: the tip is empty`);
  check(!complaints.length, `${what}: the console says ${complaints}`);
  check(!asked.length, `${what}: asks for ${asked}`);
  console.log(`${what}: ${await page.locator("#canvas").getAttribute("data-boxes")} boxes, shown after ${ready} ms`);
  await page.close();
}

async function hasSource(page, what, line) {
  await page.getByRole("button", { name: "Source", exact: true }).click();
  const hot = await page.locator("#source-panel tr.hot").allInnerTexts();
  check(hot.some(text => text.includes(line)), `${what}: no hot line has ${line}: ${hot}`);
}

const browser = await playwright.chromium.launch({ executablePath: chromium, args: ["--disable-gpu", "--disable-dev-shm-usage"], chromiumSandbox: false });
try {
  for (const given of JSON.parse(fs.readFileSync(list, "utf8"))) await walk(browser, given);
} finally {
  await browser.close();
}
console.log(checks + " checks, failed: " + failures);
process.exit(failures ? 1 : 0);
