"use strict";
const byId = (id) => document.getElementById(id);
const form = byId("filters");
const pairs = Array.from(document.querySelectorAll("article"), (node) => ({
  node,
  text: Array.from(node.querySelectorAll(".question, .sql"), (part) => part.textContent).join("\n").toLowerCase(),
}));
const value = (id) => (byId(id) ? byId(id).value : "");

function passes({ node, text }) {
  const words = value("text").toLowerCase().split(/\s+/).filter(Boolean);
  const data = node.dataset;
  const most = value("confidence");
  return (
    words.every((word) => text.includes(word) || data.db.toLowerCase().includes(word)) &&
    (!value("db") || data.db === value("db")) &&
    (!value("pattern") || data.pattern === value("pattern")) &&
    (!value("number") || data.number === value("number")) &&
    (most === "" || !("confidence" in data) || Number(data.confidence) <= Number(most)) &&
    (!byId("differs") || !byId("differs").checked || "differs" in data)
  );
}

function filter() {
  let shown = 0;
  for (const pair of pairs) {
    pair.node.hidden = !passes(pair);
    shown += pair.node.hidden ? 0 : 1;
  }
  byId("count").value = `${shown.toLocaleString("en")} of ${pairs.length.toLocaleString("en")} pairs`;
  byId("none").hidden = shown > 0;
}

function step(direction) {
  const shown = pairs.map((pair) => pair.node).filter((node) => !node.hidden);
  const at = shown.indexOf(document.activeElement.closest("article"));
  const next = shown[at < 0 && direction < 0 ? shown.length - 1 : at + direction];
  if (next) {
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "start" });
  }
}

form.hidden = false;
let waiting;
form.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(filter, pairs.length > 1000 ? 250 : 0); // while a word is typed into a large page
});
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(filter));
byId("unfold").addEventListener("click", (event) => {
  const open = event.target.textContent === "Unfold all";
  for (const { node } of pairs) for (const details of node.querySelectorAll("details")) details.open = open;
  event.target.textContent = open ? "Fold all" : "Unfold all";
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select")) return;
  if (event.key === "/") {
    event.preventDefault();
    byId("text").focus();
  } else if (event.key === "j") step(1);
  else if (event.key === "k") step(-1);
});
filter();
