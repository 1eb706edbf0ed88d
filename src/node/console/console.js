// The script of the console. Every page works without it, as tables and forms.
"use strict";

/**
 * Sends a change to the node with the page's CSRF token.
 *
 * Resolves to the JSON of the response. Rejects with the message of an error response. Loads the
 * login page if the session has ended.
 */
async function sendChange(method, path, body) {
  const headers = { accept: "application/json" };
  const token = document.querySelector('meta[name="csrf-token"]');
  if (token) headers["x-csrf-token"] = token.content;
  if (body !== undefined) headers["content-type"] = "application/json";
  const response = await fetch(path, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (response.status === 401) {
    location.assign("/login");
    throw new Error("the session has ended");
  }
  const content = await response.json();
  if (!response.ok) throw new Error(content.message);
  return content;
}

// Figures, in the forms of figure.rs.

const NONE = "–";

function short(value) {
  const tenths = Math.round(value * 10) / 10;
  if (Math.abs(tenths) < 10 && !Number.isInteger(tenths)) return tenths.toFixed(1);
  return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Writes a value in the largest unit in which it is at least 1; each is 1,000 of the one before. */
function scaled(value, units) {
  let unit = 0;
  while (value >= 1000 && unit + 1 < units.length) {
    value /= 1000;
    unit += 1;
  }
  return `${short(value)} ${units[unit]}`;
}

const FORMS = {
  permille: (value) => `${short(value / 10)} %`,
  per_s: (value) => `${short(value)}/s`,
  count: (value) => short(Math.round(value)),
  us: (value) => scaled(value, ["µs", "ms", "s"]),
  ms: (value) => scaled(value, ["ms", "s"]),
  bytes: (value) => scaled(value, ["B", "KB", "MB", "GB", "TB"]),
};

function formatted(form, value) {
  return value == null ? NONE : (FORMS[form] ?? FORMS.count)(value);
}

/** Returns a snapshot whose lists are maps by name. */
function byName(snapshot) {
  for (const { queue } of snapshot.stages) {
    if (queue?.capacity) queue.fill_permille = (1000 * queue.waiting) / queue.capacity;
  }
  const named = (list) => new Map(list.map((item) => [item.name, item]));
  const edges = snapshot.edges.map((edge) => [`${edge.from}>${edge.to}`, edge]);
  return {
    ...snapshot,
    stages: named(snapshot.stages),
    series: named(snapshot.series),
    edges: new Map(edges),
  };
}

/** Returns the value at a path such as `stages.mempool.queue.waiting`. */
function valueAt(snapshot, path) {
  let value = snapshot;
  for (const part of path.split(".")) {
    value = value instanceof Map ? value.get(part) : value?.[part];
  }
  return value;
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function refreshFigures(snapshot) {
  for (const element of document.querySelectorAll("[data-value]")) {
    const { value, form } = element.dataset;
    setText(element, formatted(form, valueAt(snapshot, value)));
  }
  for (const bar of document.querySelectorAll("[data-bar]")) {
    const permille = Math.min(valueAt(snapshot, bar.dataset.bar) ?? 0, 1000);
    bar.setAttribute("width", permille);
    bar.dataset.level = permille >= 900 ? "high" : permille >= 600 ? "medium" : "low";
  }
  for (const line of document.querySelectorAll("[data-if]")) {
    line.hidden = !valueAt(snapshot, line.dataset.if);
  }
}

// The keys of settings are between backticks.
function refreshRemedy(remedy) {
  const line = document.getElementById("remedy");
  if (line.textContent === `What helps: ${remedy.replaceAll("`", "")}`) return;
  line.hidden = !remedy;
  const parts = remedy.split("`").map((part, index) => {
    if (index % 2 === 0) return part;
    const link = document.createElement("a");
    link.href = `/console/settings#${part}`;
    link.append(document.createElement("code"));
    link.firstChild.append(part);
    return link;
  });
  line.replaceChildren("What helps: ", ...parts);
}

function refreshLimit({ limit }) {
  const sentence = document.getElementById("sentence");
  if (!sentence) return;
  setText(sentence, limit.sentence);
  refreshRemedy(limit.remedy);
  sentence.closest(".limit").toggleAttribute("data-limited", limit.kind !== "clients");
  for (const stage of document.querySelectorAll("[data-stage]")) {
    const isLimit = stage.dataset.stage === limit.stage;
    stage.toggleAttribute("data-limit", isLimit);
    const badge = stage.querySelector(".badge");
    if (badge) badge.hidden = !isLimit;
  }
  // The figures of the sentence change every second. A screen reader hears of another limit only.
  const announcement = document.getElementById("announcement");
  const name = `${limit.kind} ${limit.stage}`;
  if (announcement.dataset.name !== name) {
    announcement.dataset.name = name;
    setText(announcement, limit.sentence);
  }
}

// Charts of the newest 15 minutes.

const SVG = "http://www.w3.org/2000/svg";
const CHART_WIDTH = 600;
const CHART_HEIGHT = 120;
const HISTORY_MS = 15 * 60 * 1000;
const AXIS_MS_MIN = 60 * 1000;

/** Number of points of the history that are loaded: one for every sixth pixel of a chart. */
const POINTS = 100;

/** Distance within which the cursor shows a changed setting. */
const MARK_NEAR_MS = 5000;

/** The changed settings. */
const MARKS = [...document.querySelectorAll("[data-mark]")].map((item) => ({
  unixMs: Number(item.dataset.mark),
  text: item.textContent.trim(),
}));

/** The points of all series: times, and values by the name of the series. */
const points = { unixMs: [], values: new Map() };

function setHistory(history) {
  points.unixMs = history.unix_ms;
  points.values = new Map(history.series.map(({ name, mean, max }) => [name, { mean, max }]));
}

function addPoint(snapshot) {
  points.unixMs.push(snapshot.unix_ms);
  for (const [name, { mean, max }] of points.values) {
    const value = snapshot.series.get(name)?.value ?? null;
    mean.push(value);
    max.push(value);
  }
  while (points.unixMs[0] < snapshot.unix_ms - HISTORY_MS) {
    points.unixMs.shift();
    for (const { mean, max } of points.values.values()) {
      mean.shift();
      max.shift();
    }
  }
}

function svg(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

/** The drawing of one chart, above the table of its series. */
class Chart {
  constructor(section) {
    this.form = section.dataset.unit;
    this.rows = [...section.querySelectorAll("[data-series]")];
    this.scale = document.createElement("p");
    this.scale.className = "scale";
    this.drawing = svg("svg", {
      viewBox: `0 0 ${CHART_WIDTH} ${CHART_HEIGHT}`,
      preserveAspectRatio: "none",
      class: "drawing",
      role: "img",
      tabindex: 0,
      "aria-label": `${section.querySelector("h3").textContent}: the arrow keys show values`,
    });
    this.lines = this.rows.map((row) => svg("path", { "data-color": row.dataset.color }));
    this.marks = svg("path", { class: "mark" });
    this.cursor = svg("path", { class: "cursor" });
    this.drawing.append(this.marks, ...this.lines, this.cursor);
    this.reading = document.createElement("p");
    this.reading.className = "reading";
    section.querySelector("table").before(this.scale, this.drawing, this.reading);
    this.index = null;
    this.drawing.addEventListener("pointermove", (event) => this.point(event));
    this.drawing.addEventListener("pointerleave", () => this.show(null));
    this.drawing.addEventListener("blur", () => this.show(null));
    this.drawing.addEventListener("keydown", (event) => this.step(event));
  }

  /** The times of the left and the right edge. A young node has a short axis. */
  edges() {
    const end = points.unixMs.at(-1) ?? 0;
    const start = Math.min(points.unixMs[0] ?? end, end - AXIS_MS_MIN);
    return [start, end];
  }

  xOf(unixMs) {
    const [start, end] = this.edges();
    return ((unixMs - start) / (end - start)) * CHART_WIDTH;
  }

  x(index) {
    return this.xOf(points.unixMs[index]);
  }

  draw() {
    const series = this.rows.map((row) => points.values.get(row.dataset.series));
    let top = 0;
    series.forEach((one, row) => {
      const max = Math.max(0, ...(one?.max ?? []).filter((value) => value !== null));
      setText(this.rows[row].querySelector("[data-max]"), formatted(this.form, max));
      top = Math.max(top, max);
    });
    const [start, end] = this.edges();
    const axis = FORMS.ms(end - start);
    setText(this.scale, `0 to ${formatted(this.form, top)}, the last ${axis}`);
    series.forEach((one, row) => {
      this.lines[row].setAttribute("d", this.path(one?.mean ?? [], top));
    });
    const marks = MARKS.map(({ unixMs }) => this.xOf(unixMs)).filter((x) => x >= 0);
    this.marks.setAttribute("d", marks.map((x) => `M${x.toFixed(1)} 0V${CHART_HEIGHT}`).join(""));
    this.show(this.index);
  }

  path(values, top) {
    let path = "";
    let isDrawn = false;
    values.forEach((value, index) => {
      if (value === null) {
        isDrawn = false;
        return;
      }
      const y = CHART_HEIGHT - (top > 0 ? value / top : 0) * (CHART_HEIGHT - 4) - 2;
      path += `${isDrawn ? "L" : "M"}${this.x(index).toFixed(1)} ${y.toFixed(1)}`;
      isDrawn = true;
    });
    return path;
  }

  point(event) {
    const box = this.drawing.getBoundingClientRect();
    const [start, end] = this.edges();
    const time = start + ((event.clientX - box.left) / box.width) * (end - start);
    const index = points.unixMs.findIndex((unixMs) => unixMs >= time);
    this.show(index < 0 ? null : index);
  }

  step(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const last = points.unixMs.length - 1;
    this.show(Math.min(Math.max((this.index ?? last) + step, 0), last));
  }

  /** Shows the values of a point, or none. */
  show(index) {
    this.index = index;
    const isShown = index !== null && index < points.unixMs.length;
    this.cursor.setAttribute("d", isShown ? `M${this.x(index)} 0V${CHART_HEIGHT}` : "");
    if (!isShown) {
      setText(this.reading, "");
      return;
    }
    const values = this.rows.map((row) => {
      const value = points.values.get(row.dataset.series)?.mean[index];
      return `${row.querySelector("th").textContent} ${formatted(this.form, value)}`;
    });
    const unixMs = points.unixMs[index];
    const near = MARKS.filter((mark) => Math.abs(mark.unixMs - unixMs) < MARK_NEAR_MS);
    values.push(...near.map((mark) => mark.text));
    setText(this.reading, `${new Date(unixMs).toLocaleTimeString()}: ${values.join(", ")}`);
  }
}

// The stream of snapshots.

async function follow() {
  const charts = [...document.querySelectorAll("[data-chart]")].map((chart) => new Chart(chart));
  if (charts.length > 0) {
    const response = await fetch(`/history?points=${POINTS}&stages=false`);
    if (response.ok) setHistory(await response.json());
  }
  const connection = document.getElementById("connection");
  const events = new EventSource("/events");
  events.addEventListener("snapshot", ({ data }) => {
    connection.hidden = true;
    const snapshot = byName(JSON.parse(data));
    refreshFigures(snapshot);
    refreshLimit(snapshot);
    addPoint(snapshot);
    if (!document.hidden) charts.forEach((chart) => chart.draw());
  });
  events.addEventListener("error", () => {
    connection.hidden = false;
  });
}

if (document.querySelector("[data-value]")) follow();

// Changes of settings.

/** Shows an error of a change, or none. */
function showError(error) {
  const element = document.getElementById("change-error");
  setText(element, error?.message ?? "");
  if (error) element.scrollIntoView({ block: "center" });
}

/** Sends a change and loads the page again, so that it shows what the node has. */
async function change(method, path, body) {
  try {
    await sendChange(method, path, body);
    location.reload();
  } catch (error) {
    showError(error);
  }
}

/** Returns the value of a form in the type of its setting. */
function valueOf(setting) {
  const text = setting.querySelector('[name="value"]').value;
  switch (setting.dataset.kind) {
    case "integer":
      return Number(text);
    case "boolean":
      return text === "true";
    default:
      return text;
  }
}

/** Shows what keeping or forgetting a setting changes in the file, and asks. */
async function keep(request) {
  const dialog = document.getElementById("keep");
  try {
    const { diff } = await sendChange("POST", "/settings/keep", { ...request, preview: true });
    setText(document.getElementById("keep-diff"), diff.join("\n"));
  } catch (error) {
    showError(error);
    return;
  }
  dialog.querySelector("[data-keep-cancel]").onclick = () => dialog.close();
  dialog.querySelector("[data-keep-write]").onclick = () => {
    dialog.close();
    change("POST", "/settings/keep", { ...request, preview: false });
  };
  dialog.showModal();
}

for (const setting of document.querySelectorAll("[data-setting]")) {
  const key = setting.dataset.setting;
  const form = setting.querySelector("[data-change]");
  if (!form) continue;
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const body = { set: { [key]: valueOf(setting) } };
    const seconds = event.submitter?.dataset.revertAfterSecs;
    if (seconds) body.revert_after_secs = Number(seconds);
    change("PATCH", "/settings", body);
  });
  const fill = setting.querySelector("[data-fill]");
  if (fill) {
    fill.hidden = false;
    fill.addEventListener("click", () => {
      const field = setting.querySelector('[name="value"]');
      field.value = fill.dataset.fill;
      field.focus();
    });
  }
  for (const button of form.querySelectorAll("[data-keep]")) {
    const request = { keys: [], forget: [] };
    request[button.dataset.keep].push(key);
    button.addEventListener("click", () => keep(request));
  }
}

for (const button of document.querySelectorAll("[data-post]")) {
  button.hidden = false;
  button.addEventListener("click", () => change("POST", button.dataset.post));
}

// Questions before a change, and the figures of the traffic.

document.documentElement.classList.add("script");

const ask = document.getElementById("ask");

/** Asks the question of a button, and sends its change. */
function question(button) {
  const { title, text, method, path, body, needsReason } = JSON.parse(button.dataset.ask);
  const reason = document.getElementById("ask-reason");
  setText(document.getElementById("ask-title"), title);
  setText(document.getElementById("ask-text"), text);
  reason.value = "";
  reason.required = needsReason;
  ask.querySelector("[data-ask-cancel]").onclick = () => ask.close();
  document.getElementById("ask-form").onsubmit = (event) => {
    event.preventDefault();
    ask.close();
    const seconds = event.submitter?.dataset.revertAfterSecs;
    if (seconds) body.revert_after_secs = Number(seconds);
    if (reason.value) body.reason = reason.value;
    change(method, path, body);
  };
  ask.showModal();
}

/** Returns whether the operator does not see the traffic, or is about to use a button of it. */
function isInUse(shown) {
  const used = "button:hover, button:active, :focus";
  return document.hidden || ask.open || shown.querySelector(used) !== null;
}

/** Shows the newest traffic. */
async function refreshTraffic() {
  const shown = document.getElementById("traffic");
  if (!isInUse(shown)) {
    const connection = document.getElementById("connection");
    try {
      const page = await (await fetch(location.pathname)).text();
      const newest = new DOMParser().parseFromString(page, "text/html").getElementById("traffic");
      // Without it, the session has ended.
      if (!newest) location.reload();
      else if (!isInUse(shown)) shown.replaceWith(newest);
      connection.hidden = true;
    } catch {
      connection.hidden = false;
    }
  }
  setTimeout(refreshTraffic, 1000);
}

if (ask) {
  document.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-ask]");
    if (button) question(button);
  });
  setTimeout(refreshTraffic, 1000);
}

for (const time of document.querySelectorAll("[data-unix-ms]")) {
  setText(time, new Date(Number(time.dataset.unixMs)).toLocaleTimeString());
}
