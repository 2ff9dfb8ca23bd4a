// The dashboard: history from the API, then one snapshot a second over a WebSocket that reconnects by itself.
import { CacheSection } from "./caches.js";
import { Plot } from "./plots.js";

const $ = (id) => document.getElementById(id);
const main = $("main"), words = JSON.parse($("words").textContent), language = document.documentElement.lang || undefined;
const STEP = { "5m": [10, "10s"], "15m": [10, "10s"], "1h": [30, "30s"], "6h": [300, "5m"], "24h": [900, "15m"], "7d": [7200, "2h"] };
const COLOURS = ["--gold-fill", "--blue", "--grey", "--pale"];
const VERDICTS = [["approve", "--green"], ["reject", "--red"], ["unsure", "--grey"]];
const STALE_MS = 5000, SIGNED_OUT = 4401;
const asked = new URLSearchParams(location.search);
const state = { range: STEP[asked.get("range")] ? asked.get("range") : "15m", subject: asked.get("namespace") || "", heard: 0, retry: 500, turn: 0, kind: "connecting", timer: 0 };

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const whole = new Intl.NumberFormat(language), short = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });
const known = (value) => value !== null && value !== undefined;
const number = (value) => (known(value) ? whole.format(value) : "–");
const compact = (value) => (value < 10_000 ? number(value) : short.format(value));
const digits = (value, places) => value.toLocaleString(language, { minimumFractionDigits: places, maximumFractionDigits: places });
const percent = (value, places = 1) => (known(value) ? `${digits(100 * value, places)}%` : "–");
const milliseconds = (value) => (known(value) ? `${digits(value, value < 10 ? 1 : 0)} ms` : "–");
const seconds = (value) => (value < 120 ? `${Math.round(value)} s` : value < 7200 ? `${Math.round(value / 60)} min` : `${Math.round(value / 3600)} h`);
const sum = (values) => values.reduce((total, value) => total + (value || 0), 0);

function element(tag, text = "", name = "") {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  if (name) made.className = name;
  return made;
}

// rows: [label, value, second value?, colour?]
function rows(list, items) {
  list.replaceChildren(...items.map(([label, value, more, colour]) => {
    const row = element("div"), term = element("dt");
    if (colour) { const key = element("span", "", "key"); key.style.background = `var(${colour})`; term.append(key); }
    term.append(label);
    row.append(term, element("dd", value), element("dd", more ?? ""));
    return row;
  }));
}

function tiles(list, items) {
  list.replaceChildren(...items.map(([label, value]) => { const tile = element("div"); tile.append(element("dt", label), element("dd", value)); return tile; }));
}

function split(box, parts) {
  const total = Math.max(1, sum(parts.map(([n]) => n)));
  while (box.children.length < parts.length) box.append(element("span"));
  parts.forEach(([n, colour], i) => { const part = box.children[i]; part.style.background = `var(${colour})`; part.style.width = `${(100 * n) / total}%`; part.hidden = !n; });
}

// Says whether the page is live; screen readers hear of it only when it changes.
function say(kind, text) {
  $("state-text").textContent = text;
  if (state.kind === kind) return;
  state.kind = $("state").dataset.state = main.dataset.state = kind;
  $("announce").textContent = kind === "stale" ? words.stale_short : text;
}

function show(snapshot) {
  state.heard = Date.now();
  say("live", words.live);
  const all = snapshot.answers, nothing = { outcomes: {}, latency_ms: {}, requests: 0, per_s: 0 };
  const one = state.subject ? all.subjects[state.subject] || nothing : all;
  $("golden").textContent = percent(one.golden_share);
  $("golden-note").textContent = one.requests ? fill(words.share_note, { number: number(one.requests) }) : words.idle;
  $("hits").textContent = percent(one.hit_share);
  $("rate").textContent = fill(words.per_s, { number: digits(one.per_s, one.per_s < 10 ? 1 : 0) });
  $("quantiles").textContent = ["p50", "p95", "p99"].map((name) => `${name} ${milliseconds(one.latency_ms[name])}`).join(" · ");
  outcomes($("split"), $("outcomes"), one, ["static_hit", "dynamic_hit", "miss", "bypass"]);
  queue(all.judge);
  table(all.subjects);
  alarms(snapshot.alarms);
  for (const section of others) {
    const shown = !section.box.hidden;
    section.show(snapshot[section.name]);
    if (!shown && !section.box.hidden) history();
  }
}

function outcomes(bar, list, part, names) {
  const counts = names.map((name) => part.outcomes[name] || 0), total = sum(counts);
  split(bar, counts.map((n, i) => [n, COLOURS[i]]));
  rows(list, names.map((name, i) => [words[name] || name, compact(counts[i]), total ? percent(counts[i] / total, 0) : "", COLOURS[i]]));
}

function queue(judge = {}) {
  state.queue = [[words.depth, number(judge.depth)], [words.oldest, judge.oldest_s ? seconds(judge.oldest_s) : "–"], [words.review, number(judge.review)]];
  tiles($("queue"), [...state.queue, [words.rate, percent(state.approved, 0)]]);
}

function table(subjects) {
  const select = $("subject"), names = Object.keys(subjects);
  for (const name of names) if (![...select.options].some((option) => option.value === name)) select.add(new Option(name, name));
  const body = $("subjects").tBodies[0];
  if (body.contains(document.activeElement)) return; // never pull a row from under somebody's keyboard
  body.replaceChildren(...names.map((name) => {
    const row = element("tr"), head = element("th"), button = element("button", name), part = subjects[name];
    head.scope = "row";
    button.type = "button";
    button.addEventListener("click", () => { select.value = name; choose(); });
    head.append(button);
    row.append(head);
    const cells = [compact(part.requests), percent(part.golden_share), percent(part.hit_share), milliseconds(part.latency_ms.p50), milliseconds(part.latency_ms.p95)];
    cells.forEach((text, i) => row.append(element("td", text, i === 3 ? "spare" : "")));
    return row;
  }));
}

function alarms(list) {
  const told = JSON.stringify(list), box = $("alarms");
  if (state.alarms === told) return;
  state.alarms = told;
  box.hidden = !list.length;
  box.querySelector("ul").replaceChildren(...list.map((alarm) => {
    const item = element("li"), title = element("strong", alarm.link ? "" : alarm.title);
    if (alarm.link) { const link = element("a", alarm.title); link.href = alarm.link; title.append(link); }
    item.append(title);
    if (alarm.detail) item.append(element("p", alarm.detail, "note"));
    if (alarm.runbook) { const link = element("a", words.runbook); link.href = alarm.runbook; item.append(link); }
    return item;
  }));
  if (list.length) $("announce").textContent = list.map((alarm) => alarm.title).join(". ");
}

const bytes = (value) => `${new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 }).format(value)}B`;
const write = { split, rows, tiles, number: compact, share: percent, milliseconds, bytes, seconds: (value) => `${digits(value, 1)} s`, times: (value) => `${digits(value, 2)}×` };
const others = ["inference", "segments"].map((name) => new CacheSection(name, $(name), words, write));

const plots = {
  share: new Plot("share", $("golden").previousElementSibling.textContent, [{ name: words.golden, colour: "--gold-fill", fill: true }, { name: words.hits, colour: "--blue" }], { format: (value) => percent(value, 0), top: 1 }),
  outcomes: new Plot("outcomes", "", ["static_hit", "dynamic_hit", "miss", "bypass"].map((name, i) => ({ name: words[name], colour: COLOURS[i] })), { format: (value) => digits(value, value < 10 && value % 1 ? 1 : 0), stacked: true }),
  latency: new Plot("latency", "", [["p50", "--blue", "solid"], ["p95", "--gold-fill", "dashed"], ["p99", "--grey", "dotted"]].map(([name, colour, dash]) => ({ name, colour, dash })), { format: (value) => digits(value, value < 10 && value % 1 ? 1 : 0) }),
};

async function history() {
  clearTimeout(state.timer);
  const turn = ++state.turn, [step, spelt] = STEP[state.range];
  const series = async (cache, subject) => {
    const query = new URLSearchParams({ cache, window: state.range, step: spelt, subject });
    if (main.dataset.workspace) query.set("workspace", main.dataset.workspace);
    const reply = await fetch(`/api/v1/metrics/?${query}`, { headers: { Accept: "application/json" } }).catch(() => null);
    return turn === state.turn && reply?.ok ? (await reply.json()).points : null;
  };
  const points = await series("answers", state.subject);
  if (points) past(points, step);
  for (const section of others.filter(({ box }) => !box.hidden)) {
    const told = await series(section.name, "");
    if (told) section.past(told, fill(words.plot, { title: section.box.getAttribute("aria-label"), range: state.range }));
  }
  if (turn !== state.turn) return;
  state.timer = setTimeout(history, Math.max(5000, 250 * step));
}

function past(points, step) {
  const done = points.slice(0, -1), at = done.map((point) => Date.parse(point.at) / 1000), of = (pick) => done.map(pick);
  const label = (id) => fill(words.plot, { title: $(`plot-${id}`).closest(".card").querySelector("h2").textContent, range: state.range });
  plots.share.show(at, [of((p) => p.golden_share), of((p) => p.hit_share)], label("share"));
  plots.outcomes.show(at, ["static_hit", "dynamic_hit", "miss", "bypass"].map((name) => of((p) => (p.counts[name] || 0) / step)), label("outcomes"));
  plots.latency.show(at, ["p50", "p95", "p99"].map((name) => of((p) => p[name])), label("latency"));
  change(done);
  totals(points);
}

// Compares the newest quarter of the range with the oldest, in points of the share.
function change(points) {
  const quarter = Math.ceil(points.length / 4), share = (part) => sum(part.map((p) => p.counts["origin:golden"])) / sum(part.map((p) => p.requests));
  const points_ = 100 * (share(points.slice(-quarter)) - share(points.slice(0, quarter)));
  const sign = points_ > 0 ? "▲" : "▼";
  $("change").textContent = Math.abs(points_) >= 0.1 ? `${sign} ${fill(words.change, { points: digits(Math.abs(points_), 1), range: state.range })}` : "";
}

function totals(points) {
  const count = (name) => sum(points.map((point) => point.counts[name])), verdicts = VERDICTS.map(([name]) => count(`verdict:${name.toUpperCase()}`)), decided = sum(verdicts);
  state.approved = decided ? verdicts[0] / decided : null;
  if (state.queue) tiles($("queue"), [...state.queue, [words.rate, percent(state.approved, 0)]]);
  split($("verdicts-split"), VERDICTS.map(([, colour], i) => [verdicts[i], colour]));
  const tokens = count("judge_tokens"), more = [["refused", count("promotion:refused")], ["dropped", count("verification:dropped")], ["fail_open", count("fail_open")]].filter(([, n]) => n);
  rows($("verdicts"), [
    ...VERDICTS.map(([name, colour], i) => [words[name], compact(verdicts[i]), decided ? percent(verdicts[i] / decided, 0) : "", colour]),
    [words.promoted, compact(count("promotion:promoted"))], [words.grey, compact(count("grey"))],
    ...(tokens ? [[words.tokens, compact(tokens)]] : []),
    ...(decided ? [[words.judge_ms, milliseconds(count("judge_ms") / decided)]] : []),
    ...more.map(([name, n]) => [words[name], compact(n)]),
  ]);
  for (const id of ["judge-span", "guards-span"]) $(id).textContent = fill(words.span, { range: state.range });
  guards(points, count);
}

function guards(points, count) {
  const names = [...new Set(points.flatMap((point) => Object.keys(point.counts)))].filter((name) => name.startsWith("guard:"));
  const found = names.map((name) => [name.slice(6), count(name)]).sort((a, b) => b[1] - a[1]).slice(0, 8), most = Math.max(1, ...found.map(([, n]) => n));
  $("guards").replaceChildren(...(found.length ? found.map(([name, n]) => {
    const item = element("li"), bar = element("i");
    bar.style.width = `${(100 * n) / most}%`;
    item.append(element("span", name.replaceAll("_", " ")), element("b", compact(n)), bar);
    return item;
  }) : [element("li", words.no_guards, "empty")]));
}

function connect() {
  const query = main.dataset.workspace ? `?workspace=${encodeURIComponent(main.dataset.workspace)}` : "";
  const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/metrics/${query}`);
  socket.onmessage = (message) => { state.retry = 500; show(JSON.parse(message.data)); };
  socket.onclose = (event) => {
    if (event.code === SIGNED_OUT) { say("out", words.out); return; }
    setTimeout(connect, state.retry * (0.75 + Math.random() / 2)); // a restart must not meet every browser at once
    state.retry = Math.min(state.retry * 2, 15000);
  };
}

function age() {
  const old = Date.now() - state.heard;
  if (state.kind !== "out" && state.heard && old > STALE_MS) say("stale", fill(words.stale, { age: seconds(old / 1000) }));
}

function choose() {
  state.subject = $("subject").value;
  document.querySelectorAll("[data-range]").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.range === state.range)));
  const query = new URLSearchParams({ ...(state.range === "15m" ? {} : { range: state.range }), ...(state.subject ? { namespace: state.subject } : {}) });
  window.history.replaceState(null, "", query.size ? `?${query}` : location.pathname);
  history();
}

function redraw() { for (const plot of [...Object.values(plots), ...others.map((section) => section.plot).filter(Boolean)]) plot.draw(); }

document.querySelectorAll("[data-range]").forEach((button) => button.addEventListener("click", () => { state.range = button.dataset.range; choose(); }));
if (state.subject && ![...$("subject").options].some((option) => option.value === state.subject)) $("subject").add(new Option(state.subject, state.subject));
$("subject").value = state.subject;
$("subject").addEventListener("change", choose);
$("workspace")?.addEventListener("change", (event) => event.target.form.submit());
$("theme").addEventListener("click", () => {
  const root = document.documentElement, dark = (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
  redraw();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
new ResizeObserver(() => { clearTimeout(state.resizing); state.resizing = setTimeout(redraw, 150); }).observe(main);
document.addEventListener("visibilitychange", () => { if (!document.hidden) history(); });
setInterval(age, 1000);
choose();
connect();
