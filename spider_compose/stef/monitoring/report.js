"use strict";
// The figures of the chosen cells, written in the places of those that are there. What is counted and how it is
// written is that of cube.py, report_page.py and report_plots.py: with nothing chosen, nothing changes.
const byId = (id) => document.getElementById(id);
const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
const data = JSON.parse(byId("counts").textContent);
const { frame, geometry } = data;
const form = byId("filters");
const value = (id) => (byId(id) ? byId(id).value : "");
const dayOf = (text) => (text ? Math.round(Date.parse(`${text}T00:00:00Z`) / 86400000) : null);
const iso = (day) => new Date(day * 86400000).toISOString().slice(0, 10);
const NONE = "\u2013";
const PAGE = 20;

function chosen() {
  return { agent: value("agent"), database: value("database"), from: dayOf(value("from")), to: dayOf(value("to")) };
}

function passes(choice, agent, database, day) {
  return (
    (choice.agent === "" || Number(choice.agent) === agent) &&
    (choice.database === "" || Number(choice.database) === database) &&
    (choice.from === null || (day !== null && day >= choice.from)) &&
    (choice.to === null || (day !== null && day <= choice.to))
  );
}

function figures(cells) {
  const found = { rows: 0, scored: 0, total: 0, scores: new Map(), counts: new Map(), enriched: 0, quality: 0, lost: 0,
    withP: 0, p: 0, points: new Map() };
  const add = (map, key, count) => map.set(key, (map.get(key) || 0) + count);
  for (const [, , , enriched, quality, lost, withP, p, outcomes, rules] of cells) {
    for (let i = 0; i < outcomes.length; i += 2) {
      const [score, band, filter, verdict, unscored] = data.outcomes[outcomes[i]];
      const count = outcomes[i + 1];
      found.rows += count;
      if (score !== null) {
        found.scored += count;
        found.total += score * count;
        add(found.scores, score, count);
      }
      const parts = { band, filter_status: filter, verdict, unscored };
      for (const [name, part] of Object.entries(parts)) if (part !== null) add(found.counts, `${name}:${part}`, count);
    }
    found.enriched += enriched;
    found.quality += quality;
    found.lost += lost;
    found.withP += withP;
    found.p += p;
    for (let i = 0; i < rules.length; i += 2) add(found.points, data.rules[rules[i]], rules[i + 1]);
  }
  found.counts.set("scored", found.scored);
  found.counts.set("kept", found.enriched - found.lost);
  found.counts.set("lost", found.lost);
  found.counts.set("plain", found.rows - found.enriched);
  return found;
}

function percentile(found, percent) {
  if (!found.scored) return null;
  const at = ((found.scored - 1) * percent) / 100;
  const below = Math.floor(at);
  let passed = 0;
  let low = null;
  for (const score of Array.from(found.scores.keys()).sort((a, b) => a - b)) {
    passed += found.scores.get(score);
    if (low === null && passed > below) low = score;
    if (low !== null && passed > Math.min(below + 1, found.scored - 1)) return low + (score - low) * (at - below);
  }
  return low;
}

function squaredError(found) {
  if (found.scored < 2) return 0;
  const mean = found.total / found.scored;
  let spread = 0;
  for (const [score, count] of found.scores) spread += count * (score - mean) ** 2;
  return spread / (found.scored - 1) / found.scored;
}

const share = (part, whole) => (whole ? part / whole : null);
const fixed = (number, digits = 1) => (number === null ? NONE : number.toFixed(digits).replace("-", "\u2212"));
const percent = (part, whole) => (whole ? `${fixed((100 * part) / whole)} %` : NONE);

function texts(cells, found, choice) {
  const last = choice.to !== null ? Math.min(choice.to, frame ? frame.last : 0) : frame && frame.last;
  const dated = frame ? cells.filter((cell) => cell[2] !== null) : [];
  const late = figures(dated.filter((cell) => cell[2] >= last - data.recent + 1));
  const early = figures(dated.filter((cell) => cell[2] < last - data.recent + 1));
  const mean = share(late.total, late.scored);
  const before = share(early.total, early.scored);
  const change = mean === null || before === null ? null : mean - before;
  const error = Math.sqrt(squaredError(late) + squaredError(early));
  return {
    rows: found.rows.toLocaleString("en"),
    mean: fixed(share(found.total, found.scored)),
    p50: fixed(percentile(found, 50)),
    p90: fixed(percentile(found, 90)),
    coverage: percent(found.scored, found.rows),
    mean_unscored_as_0: fixed(share(found.total, found.rows)),
    recent: fixed(mean),
    change: (change !== null && change > 0 ? "+" : "") + fixed(change),
    falls: change !== null && error > 0 && -change > data.clear * error,
    p_correct: fixed(share(found.p, found.withP), 2),
    quality: fixed(share(found.quality, found.enriched), 3),
  };
}

function writeTables(groups, choice) {
  for (const [agent, { cells, found }] of groups) {
    const told = texts(cells, found, choice);
    for (const cell of all(`td[data-agent="${agent}"]`)) {
      const { figure, share: part, whole, rule } = cell.dataset;
      if (figure) {
        cell.textContent = told[figure];
        cell.classList.toggle("falls", figure === "change" && told.falls);
      }
      if (part) cell.textContent = percent(found.counts.get(part) || 0, found[whole]);
      else if (rule) cell.textContent = fixed(share(found.points.get(rule) || 0, found.scored), 2);
    }
    for (const picture of all(`svg[data-agent="${agent}"]`)) {
      if (picture.dataset.cost) drawCost(picture, found);
      else drawShares(picture, found);
    }
  }
}

function drawShares(picture, found) {
  let at = 0;
  for (const part of picture.children) {
    const whole = found[picture.dataset.whole];
    const width = whole ? (100 * (found.counts.get(part.dataset.part) || 0)) / whole : 0;
    part.setAttribute("x", at.toFixed(2));
    part.setAttribute("width", width.toFixed(2));
    at += width;
  }
}

function drawCost(picture, found) {
  const points = share(found.points.get(picture.dataset.cost) || 0, found.scored) || 0;
  picture.lastElementChild.setAttribute("width", Math.min(100, (100 * points) / Number(picture.dataset.top)).toFixed(2));
}

const x = (day) =>
  geometry.left + ((geometry.width - geometry.left - geometry.right) * (day - frame.first)) / Math.max(1, frame.last - frame.first);
const y = (score) => geometry.above + (geometry.height - geometry.above - geometry.below) * (1 - score / 100);

function steps(cells) {
  const days = new Map();
  for (const cell of cells) {
    if (cell[2] !== null) days.set(cell[2], [...(days.get(cell[2]) || []), cell]);
  }
  return Array.from(days.keys()).sort((a, b) => a - b).map((day) => {
    const window = [];
    for (let back = frame.window - 1; back >= 0; back -= 1) window.push(...(days.get(day - back) || []));
    const own = figures(days.get(day));
    const pooled = figures(window);
    return {
      day,
      rows: own.rows,
      scored: own.scored,
      mean: share(own.total, own.scored),
      pooled: share(pooled.total, pooled.scored),
      unscored: share(pooled.rows - pooled.scored, pooled.rows),
      lost: share(pooled.lost, pooled.enriched) || 0,
    };
  });
}

function drawOverTime(agent, cells, found) {
  const own = `[data-agent="${agent}"]`;
  const line = document.querySelector(`polyline${own}`);
  if (!line) return;
  const known = steps(cells);
  const points = (pairs) => pairs.map(([a, b]) => `${a.toFixed(1)},${b.toFixed(1)}`).join(" ");
  line.setAttribute("points", points(known.filter((s) => s.pooled !== null).map((s) => [x(s.day), y(s.pooled)])));
  document.querySelector(`g${own}`).replaceChildren(
    ...known.filter((s) => s.mean !== null).map((s) => {
      const dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
      const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
      title.textContent = `${iso(s.day)}: mean ${s.mean.toFixed(1)}, ${s.scored} of ${s.rows} scored`;
      dot.append(title);
      for (const [name, number] of [["cx", x(s.day).toFixed(1)], ["cy", y(s.mean).toFixed(1)], ["r", "1.8"]]) dot.setAttribute(name, number);
      return dot;
    }),
  );
  const level = document.querySelector(`line${own}`);
  level.setAttribute("visibility", found.scored ? "visible" : "hidden");
  if (found.scored) for (const end of ["y1", "y2"]) level.setAttribute(end, y(found.total / found.scored).toFixed(1));
  const floor = geometry.strip - 2;
  for (const name of ["unscored", "lost"]) {
    const area = known.map((s) => [x(s.day), floor - (floor - 6) * Math.min(1, s[name] / frame[name])]);
    const closed = area.length ? [[area[0][0], floor], ...area, [area[area.length - 1][0], floor]] : [];
    document.querySelector(`polygon.${name}${own}`).setAttribute("points", points(closed));
  }
}

function writeWeeks(groups) {
  const weeks = new Map();
  for (const [agent, { cells }] of groups) {
    for (const cell of cells) {
      if (cell[2] === null) continue;
      const start = data.every === "day" ? cell[2] - ((cell[2] + 3) % 7) : cell[2];
      const key = `${agent} ${start}`;
      weeks.set(key, [...(weeks.get(key) || []), cell]);
    }
  }
  for (const cell of all("td[data-week]")) {
    const found = figures(weeks.get(`${cell.dataset.agent} ${cell.dataset.week}`) || []);
    cell.textContent = fixed(share(found.total, found.scored));
  }
}

const shown = { worst: PAGE, unscored: PAGE };

function listQueries(name, choice) {
  const place = byId(name);
  if (!place) return;
  let count = 0;
  for (const node of place.children) {
    const { agent, database, day } = node.dataset;
    const fits = passes(choice, Number(agent), Number(database), day === undefined ? null : Number(day));
    count += fits ? 1 : 0;
    node.hidden = !fits || count > shown[name];
  }
  byId(`${name}-count`).value = `${Math.min(count, shown[name])} of ${count} shown.`;
  byId(`${name}-more`).hidden = count <= shown[name];
}

function update() {
  const choice = chosen();
  const cells = data.cells.filter(([agent, database, day]) => passes(choice, agent, database, day));
  const groups = new Map();
  data.agents.forEach((_, agent) => {
    const own = cells.filter((cell) => cell[0] === agent);
    groups.set(String(agent), { cells: own, found: figures(own) });
  });
  if (data.agents.length > 1) groups.set("all", { cells, found: figures(cells) });
  writeTables(groups, choice);
  writeWeeks(groups);
  for (const [agent, { cells: own, found }] of groups) if (agent !== "all") drawOverTime(agent, own, found);
  for (const node of all("[data-row]")) node.hidden = choice.agent !== "" && node.dataset.row !== choice.agent;
  for (const node of all("[data-column]")) node.hidden = choice.agent !== "" && node.dataset.column !== choice.agent;
  for (const name of ["worst", "unscored"]) listQueries(name, choice);
  const total = figures(data.cells).rows;
  byId("count").value = `${figures(cells).rows.toLocaleString("en")} of ${total.toLocaleString("en")} queries`;
}

form.hidden = false;
form.addEventListener("input", () => {
  shown.worst = shown.unscored = PAGE;
  update();
});
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(() => form.dispatchEvent(new Event("input"))));
for (const name of ["worst", "unscored"]) {
  if (!byId(name)) continue;
  byId(`${name}-more`).addEventListener("click", () => {
    const next = all("article", byId(name)).find((node, place) => node.hidden && place >= shown[name]);
    shown[name] += PAGE;
    update();
    if (next) {
      next.tabIndex = -1;
      next.focus({ preventScroll: true });
    }
  });
}
update();
