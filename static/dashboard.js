// The dashboard: history from the API, then one snapshot a second over a WebSocket that reconnects by itself.
const $ = (id) => document.getElementById(id);
const STEP = { "5m": "10s", "15m": "10s", "1h": "30s", "6h": "5m", "24h": "15m", "7d": "2h" };
const OUTCOMES = [["static_hit", "static hit", "--gold-fill"], ["dynamic_hit", "dynamic hit", "--blue"], ["miss", "miss", "--grey"], ["bypass", "bypass", "--line"]];
const state = { range: "15m", subject: "", last: 0, plots: {}, retry: 500, inflight: 0 };

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const percent = (value) => (value === null || value === undefined ? "–" : `${(100 * value).toFixed(1)}%`);
const number = (value) => (value === null || value === undefined ? "–" : Number(value).toLocaleString());
const milliseconds = (value) => (value === null || value === undefined ? "–" : `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`);

function facts(list, rows) {
  list.replaceChildren(...rows.flatMap(([name, value, key]) => {
    const dt = document.createElement("dt"), dd = document.createElement("dd");
    if (key) { const mark = document.createElement("span"); mark.className = "key"; mark.style.background = `var(${key})`; dt.append(mark); }
    dt.append(name); dd.textContent = value;
    return [dt, dd];
  }));
}

function say(kind, text) { const pill = $("state"); if (pill.dataset.state !== kind) { pill.dataset.state = kind; pill.textContent = text; } }

function show(snapshot) {
  state.last = Date.now();
  say("live", "live");
  const all = snapshot.answers, one = state.subject ? all.subjects[state.subject] || { outcomes: {}, latency_ms: {}, requests: 0 } : all;
  $("golden").textContent = percent(one.golden_share);
  $("hits").textContent = percent(one.hit_share);
  $("p50").textContent = milliseconds(one.latency_ms.p50);
  facts($("latency"), [["p95", milliseconds(one.latency_ms.p95)], ["p99", milliseconds(one.latency_ms.p99)], ["questions a second", number(all.per_s)]]);
  facts($("outcomes"), OUTCOMES.map(([key, name, mark]) => [name, number(one.outcomes[key] || 0), mark]));
  const total = Math.max(1, OUTCOMES.reduce((sum, [key]) => sum + (one.outcomes[key] || 0), 0));
  $("split").replaceChildren(...OUTCOMES.map(([key, , mark]) => { const part = document.createElement("span"); part.style.background = `var(${mark})`; part.style.width = `${(100 * (one.outcomes[key] || 0)) / total}%`; return part; }));
  judge(all);
  subjects(all.subjects);
  alarms(snapshot.alarms);
  other("inference", snapshot.inference);
  other("segments", snapshot.segments);
}

function judge(answers) {
  const counts = answers.counts || {}, queue = answers.judge || {};
  const verdicts = ["APPROVE", "REJECT", "UNSURE"].map((name) => counts[`verdict:${name}`] || 0);
  const decided = verdicts.reduce((a, b) => a + b, 0);
  facts($("judge"), [
    ["waiting in the queue", number(queue.depth)], ["oldest", queue.oldest_s ? `${Math.round(queue.oldest_s)} s` : "–"],
    ["waiting for a person", number(queue.review)], ["verdicts", number(decided)],
    ["approved", decided ? percent(verdicts[0] / decided) : "–"], ["promoted", number(counts["promotion:promoted"] || 0)],
    ["near misses", number(counts.grey || 0)], ["fell open", number(counts.fail_open || 0)],
  ]);
}

function subjects(rows) {
  const names = Object.keys(rows), select = $("subject");
  for (const name of names) if (![...select.options].some((option) => option.value === name)) select.add(new Option(name, name));
  $("subjects").tBodies[0].replaceChildren(...names.map((name) => {
    const row = document.createElement("tr"), part = rows[name];
    for (const text of [name, number(part.requests), percent(part.golden_share), percent(part.hit_share), number(part.latency_ms.p95)]) row.insertCell().textContent = text;
    return row;
  }));
}

function alarms(list) {
  const items = list.length ? list : [{ title: "All is quiet.", calm: true }];
  $("alarms").replaceChildren(...items.map((alarm) => {
    const item = document.createElement("li");
    if (alarm.calm) item.className = "calm";
    if (alarm.link) { const link = document.createElement("a"); link.href = alarm.link; link.textContent = alarm.title; item.append(link); } else item.textContent = alarm.title;
    if (alarm.detail) { const note = document.createElement("p"); note.className = "note"; note.textContent = alarm.detail; item.append(note); }
    return item;
  }));
}

function other(cache, part) {
  const section = $(cache);
  section.hidden = !part || !part.requests;
  if (!section.hidden) facts(section.querySelector("dl"), [["requests", number(part.requests)], ["reused", percent(part.hit_share)], ...Object.entries(part.outcomes).map(([name, n]) => [name, number(n)]), ["p50", milliseconds(part.latency_ms.p50)], ["p95", milliseconds(part.latency_ms.p95)]]);
}

function plot(id, series, format) {
  const box = $(id), axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line") }, font: "12px system-ui" };
  state.plots[id]?.destroy();
  box.replaceChildren();
  state.plots[id] = new uPlot({
    width: Math.max(280, box.clientWidth), height: 230, cursor: { points: { size: 6 } }, legend: { live: true },
    scales: { y: { range: (_, low, high) => [0, high > 0 ? high * 1.08 : 1] } },
    axes: [axis, { ...axis, size: 54, values: (_, ticks) => ticks.map(format) }],
    series: [{}, ...series.map(([label, stroke, fill]) => ({ label, stroke: colour(stroke), width: 2, fill: fill ? `${colour(stroke)}2e` : undefined, spanGaps: true, value: (_, value) => (value === null ? "–" : format(value)), points: { show: false } }))],
  }, [[], ...series.map(() => [])], box);
}

function plots() {
  plot("plot-share", [["golden", "--gold-fill", true], ["all hits", "--blue", false]], (value) => `${Math.round(100 * value)}%`);
  plot("plot-outcomes", OUTCOMES.slice(0, 3).map(([, name, mark]) => [name, mark, true]), (value) => number(Math.round(value)));
  plot("plot-latency", [["p50", "--blue", false], ["p95", "--gold-fill", false], ["p99", "--red", false]], (value) => number(value));
}

async function history() {
  const turn = ++state.inflight;
  const query = new URLSearchParams({ cache: "answers", window: state.range, step: STEP[state.range], subject: state.subject });
  if ($("main").dataset.workspace) query.set("workspace", $("main").dataset.workspace);
  const reply = await fetch(`/api/v1/metrics/?${query}`, { headers: { Accept: "application/json" } }).catch(() => null);
  if (!reply?.ok || turn !== state.inflight) return;
  const { points } = await reply.json();
  const at = points.map((point) => Date.parse(point.at) / 1000), of = (pick) => points.map(pick);
  state.plots["plot-share"].setData([at, of((p) => p.golden_share), of((p) => p.hit_share)]);
  state.plots["plot-outcomes"].setData([at, ...OUTCOMES.slice(0, 3).map(([key]) => of((p) => p.counts[key] || 0))]);
  state.plots["plot-latency"].setData([at, of((p) => p.p50), of((p) => p.p95), of((p) => p.p99)]);
}

function connect() {
  const query = $("main").dataset.workspace ? `?workspace=${encodeURIComponent($("main").dataset.workspace)}` : "";
  const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/metrics/${query}`);
  socket.onopen = () => { state.retry = 500; };
  socket.onmessage = (message) => show(JSON.parse(message.data));
  socket.onclose = () => { say("stale", "not connected; trying again"); setTimeout(connect, state.retry); state.retry = Math.min(state.retry * 2, 15000); };
}

document.querySelectorAll("[data-range]").forEach((button) => button.addEventListener("click", () => {
  state.range = button.dataset.range;
  document.querySelectorAll("[data-range]").forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
  history();
}));
$("subject").addEventListener("change", (event) => { state.subject = event.target.value; history(); });
document.querySelector("[data-submit]")?.addEventListener("change", (event) => event.target.form.submit());
document.querySelector("[data-theme-toggle]").addEventListener("click", () => {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("theme", document.documentElement.dataset.theme);
  plots(); history();
});
if (localStorage.getItem("theme")) document.documentElement.dataset.theme = localStorage.getItem("theme");
addEventListener("resize", () => { clearTimeout(state.resizing); state.resizing = setTimeout(() => { plots(); history(); }, 200); });
setInterval(() => { if (state.last && Date.now() - state.last > 5000) say("stale", `stale for ${Math.round((Date.now() - state.last) / 1000)} s`); }, 1000);
setInterval(history, 5000);
plots();
history();
connect();
