// Follows a job over its WebSocket while it runs, and leafs through its reuse maps when it is done.
const box = document.getElementById("job");
const language = document.documentElement.lang || undefined;
const whole = new Intl.NumberFormat(language), share = new Intl.NumberFormat(language, { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 });
const fine = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const OPEN = ["waiting", "queued", "running"];
let pause = 500;

function written(name, value) {
  if (value === null || value === undefined) return "–";
  if (name === "speedup") return `${value.toFixed(2)}×`;
  if (name === "agreement" || name === "work_share") return share.format(value);
  return name.endsWith("_ms") ? fine.format(value) : whole.format(value);
}

function show(told) {
  const { done, total } = told.progress, bar = document.getElementById("bar");
  if (bar && total) { bar.max = total; bar.value = done; }
  const said = document.getElementById("done");
  if (said) said.textContent = total ? `${whole.format(done)} / ${whole.format(total)}` : whole.format(done);
  for (const place of box.querySelectorAll("[data-stat]")) if (told.stats) place.textContent = written(place.dataset.stat, told.stats[place.dataset.stat]);
  if (!OPEN.includes(told.status)) location.reload();
}

function follow() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const socket = new WebSocket(`${scheme}://${location.host}/ws/jobs/${box.dataset.job}/?workspace=${encodeURIComponent(box.dataset.workspace)}`);
  socket.onmessage = (event) => { pause = 500; show(JSON.parse(event.data)); };
  socket.onclose = (event) => { if (event.code < 4400) setTimeout(follow, pause = Math.min(pause * 2, 10_000)); };
}

function leaf(input) {
  const picture = document.getElementById("picture");
  let wanted = null, busy = false;
  const load = () => {
    if (wanted === null || busy) return;
    busy = true;
    picture.src = input.dataset.base.replace(/0\.png$/, `${wanted}.png`);
    wanted = null;
  };
  picture.onload = picture.onerror = () => { busy = false; load(); };
  input.addEventListener("input", () => {
    document.querySelector("output[for=frame]").textContent = whole.format(input.value);
    wanted = input.value;
    load();
  });
}

if (box.dataset.waits) follow();
const slide = document.getElementById("frame");
if (slide) leaf(slide);
