"use strict";
const byId = (id) => document.getElementById(id);
const sheet = byId("items").dataset.sheet;
const items = Array.from(document.querySelectorAll("article"));
const codes = items.map((item) => item.dataset.item);
const buttons = Array.from(document.querySelectorAll("#scale button"));
const place = `spider-compose rating ${sheet}`;

let ratings = {}; // by item code
let undone = []; // what to go back to: [code, rating before or null]
let at = 0; // items.length is the end of the sheet
let kept = true; // whether the browser keeps the ratings
let unsaved = false;
let started = false; // the guidelines come first

/* Keeping: nothing is lost when the page is closed, where the browser lets it. */
function keep() {
  try {
    localStorage.setItem(place, JSON.stringify({ ratings, undone, at }));
    kept = true;
  } catch {
    kept = false;
  }
}

function resume() {
  try {
    const found = JSON.parse(localStorage.getItem(place)) || {};
    ratings = onlyKnown(found.ratings);
    undone = (found.undone || []).filter(([code]) => codes.includes(code));
    at = Math.min(Math.max(Number(found.at) || 0, 0), items.length);
  } catch {
    kept = false;
  }
}

const isRating = (value) => Number.isInteger(value) && buttons.some((button) => button.dataset.rating === String(value));
function onlyKnown(given) {
  return Object.fromEntries(Object.entries(given || {}).filter(([code, value]) => codes.includes(code) && isRating(value)));
}

/* What is seen. */
function show(focus = true) {
  for (const id of ["bar", "items"]) byId(id).hidden = !started;
  byId("load").parentElement.hidden = started && kept;
  byId("start").hidden = started;
  const rated = codes.filter((code) => code in ratings).length;
  items.forEach((item, index) => (item.hidden = index !== at));
  byId("finish").hidden = at < items.length;
  byId("scale").hidden = !started || at === items.length;
  for (const button of buttons) button.setAttribute("aria-pressed", String(ratings[codes[at]] === Number(button.dataset.rating)));
  byId("progress").max = items.length;
  byId("progress").value = rated;
  byId("count").value = `${rated} of ${items.length} rated`;
  byId("kept").textContent = kept ? "kept in this browser" : "";
  byId("back").disabled = at === 0;
  byId("next").disabled = at === items.length;
  byId("undo").disabled = undone.length === 0;
  const left = items.length - rated;
  byId("left").textContent = left ? `${left} not rated yet: N goes to the next of them.` : "All sentences are rated. Thank you!";
  if (!kept) tell("This browser does not keep your ratings. Save the CSV before you close the page; “How to rate” can continue from it.");
  if (focus) {
    const node = items[at] || byId("finish");
    node.focus({ preventScroll: true });
    if (byId("bar").getBoundingClientRect().top < 0 || node.getBoundingClientRect().bottom > innerHeight) {
      byId("bar").scrollIntoView({ block: "start" });
    }
  }
}

function tell(text) {
  byId("notice").textContent = text;
  byId("notice").hidden = false;
}

/* What is done. */
function rate(value) {
  if (at === items.length || !isRating(value)) return;
  undone.push([codes[at], codes[at] in ratings ? ratings[codes[at]] : null]);
  ratings[codes[at]] = value;
  unsaved = true;
  go(notRated());
}

function start() {
  started = true;
  byId("guidelines").open = false;
}

function notRated() {
  const from = Array.from(items.keys(), (step) => (at + 1 + step) % items.length);
  const found = from.find((index) => !(codes[index] in ratings));
  return found === undefined ? items.length : found;
}

function go(index) {
  at = Math.min(Math.max(index, 0), items.length);
  keep();
  show();
}

function undo() {
  const last = undone.pop();
  if (!last) return;
  const [code, before] = last;
  if (before === null) delete ratings[code];
  else ratings[code] = before;
  unsaved = true;
  go(codes.indexOf(code));
}

/* The sheet as CSV, as `rate export` writes it. */
const protect = (text) => (/^\s*[=+\-@＝＋－＠']/.test(text) ? `'${text}` : text); // no formulas
function csv() {
  const rows = items.map((item) => [
    sheet,
    item.dataset.item,
    String(ratings[item.dataset.item] || ""),
    ...[".db", ".query", ".sentence"].map((part) => item.querySelector(part).textContent),
  ]);
  const header = ["sheet", "item", "rating", "database", "sql", "sentence"];
  const lines = [header, ...rows].map((row) => row.map((cell) => `"${protect(cell).replaceAll('"', '""')}"`).join(","));
  return `\ufeff${lines.join("\r\n")}\r\n`;
}

function save() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
  link.download = `${sheet}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  unsaved = false;
}

function rowsOf(text) {
  const delimiter = /[,;\t]/.exec(text)?.[0] || ",";
  const rows = [[""]];
  let quoted = false;
  for (let i = 0; i < text.length; i += 1) {
    const row = rows[rows.length - 1];
    const sign = text[i];
    if (quoted && sign === '"' && text[i + 1] === '"') row[row.length - 1] += text[(i += 1)];
    else if (sign === '"') quoted = !quoted;
    else if (!quoted && sign === delimiter) row.push("");
    else if (!quoted && sign === "\n") rows.push([""]);
    else if (quoted || sign !== "\r") row[row.length - 1] += sign;
  }
  return rows;
}

async function load(file) {
  const [header, ...rows] = rowsOf((await file.text()).replace(/^\ufeff/, ""));
  const [sheetAt, itemAt, ratingAt] = ["sheet", "item", "rating"].map((name) => header.indexOf(name));
  const own = rows.filter((row) => sheetAt >= 0 && row[sheetAt] === sheet);
  if (!own.length) return tell(`${file.name} holds no rows of the sheet ${sheet}.`);
  const given = onlyKnown(Object.fromEntries(own.map((row) => [row[itemAt], Number(row[ratingAt])])));
  ratings = { ...ratings, ...given };
  undone = [];
  start();
  tell(`${Object.keys(given).length} ratings taken from ${file.name}.`);
  go(notRated());
}

/* Keys, buttons, other windows. */
const keys = {
  ArrowLeft: () => go(at - 1),
  ArrowRight: () => go(at + 1),
  Backspace: undo,
  u: undo,
  n: () => go(notRated()),
};
document.addEventListener("keydown", (event) => {
  if (event.target.closest("input")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const control = event.ctrlKey || event.metaKey;
  if (!started || event.altKey || event.repeat || (control && key !== "z")) return;
  const action = control ? undo : keys[key] || (isRating(Number(key)) ? () => rate(Number(key)) : null);
  if (!action) return;
  event.preventDefault();
  action();
});
for (const button of buttons) button.addEventListener("click", () => rate(Number(button.dataset.rating)));
for (const button of document.querySelectorAll(".save")) button.addEventListener("click", save);
byId("start").addEventListener("click", () => {
  start();
  go(at);
});
byId("back").addEventListener("click", keys.ArrowLeft);
byId("next").addEventListener("click", keys.ArrowRight);
byId("undo").addEventListener("click", undo);
byId("load").addEventListener("change", (event) => event.target.files[0] && load(event.target.files[0]));
addEventListener("storage", (event) => {
  if (event.key !== place) return;
  const here = at;
  resume();
  at = here;
  show(false);
});
addEventListener("beforeunload", (event) => {
  if (!kept && unsaved) event.preventDefault();
});

resume();
keep();
byId("begin").hidden = false;
if (Object.keys(ratings).length) start();
show(false);
if (!started) byId("start").focus({ preventScroll: true });
