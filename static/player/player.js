// Plays a video through an edge with hls.js, tells the platform what the viewer does, and shows what the edge holds.
import { Platform } from "./platform.js";
import { Strip } from "./strip.js";

const $ = (id) => document.getElementById(id);
const main = $("main"), video = $("video"), seek = $("seek"), panel = document.querySelector(".panel");
const words = JSON.parse($("words").textContent);
const platform = new Platform(main), strip = new Strip($("strip"));
const figures = { hit: 0, miss: 0, stalls: 0 };
const HEARTBEAT_MS = 5000, HELD = new Set(["HIT", "STALE", "UPDATING", "REVALIDATED"]);
let hls, edge = "", opened = performance.now(), pictured = false, fragments = [], held = {};

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const clock = (s) => `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, "0")}`;
const rendition = () => hls?.levels?.[Math.max(0, hls.currentLevel)]?.height || null;
const tell = (event) => platform.view(event, video.currentTime, rendition());

function trouble(text) {
  $("trouble").textContent = text;
  $("trouble").hidden = !text;
  if (text) main.dataset.state = "trouble";
}

// An address from the page's own address may only be an edge that is known, or one on this machine.
async function chooseEdge() {
  const wanted = new URLSearchParams(location.search).get("edge");
  if (wanted === "none") return "";
  const known = [main.dataset.edge, ...(await platform.edges())].filter(Boolean).map((url) => url.replace(/\/$/, ""));
  if (!wanted) return known[0] || "";
  const url = new URL(wanted, location.href);
  const here = ["127.0.0.1", "localhost", "[::1]", location.hostname].includes(url.hostname);
  if (/^https?:$/.test(url.protocol) && (here || known.includes(url.origin))) return url.origin;
  throw new Error(fill(words.unknown_edge, { edge: url.origin }));
}

// A segment that lies at the edge is answered without asking the origin, whether this page has loaded it or not.
async function lookFor(indices) {
  await Promise.all(indices.map(async (index) => {
    const fragment = fragments[index];
    if (!edge || !fragment) return;
    try {
      const reply = await fetch(`${edge}/edge/held${new URL(fragment.url).pathname}`, { method: "HEAD" });
      strip.held[reply.status === 200 ? "add" : "delete"](index);
    } catch { /* the edge is away: what was known stays */ }
  }));
}

async function expect() {
  const told = await platform.predict(video.currentTime).catch(() => null);
  if (!told?.segments) return;
  $("model").textContent = told.model || "–";
  strip.likely = new Map(told.segments.map(({ index, probability }) => [index, probability]));
  const likeliest = [...told.segments].sort((a, b) => b.probability - a.probability).slice(0, 12);
  await lookFor(likeliest.map(({ index }) => index));
  summarise();
}

function summarise() {
  const ready = [...strip.likely.keys()].filter((index) => strip.held.has(index)).length;
  const values = { held: strip.held.size, all: fragments.length, likely: strip.likely.size, ready };
  $("summary").textContent = fragments.length ? fill(words.summary, values) : "";
  $("hits").textContent = String(figures.hit);
  $("misses").textContent = String(figures.miss);
  $("stalls").textContent = String(figures.stalls);
  strip.draw();
}

// What lies at the edge is known for each rendition apart.
const heldOf = (level) => (held[level] ??= new Set());

function loaded(_, { frag, networkDetails }) {
  const cache = networkDetails?.getResponseHeader?.("X-Cache");
  if (cache) figures[HELD.has(cache) ? "hit" : "miss"] += 1;
  if (cache && typeof frag.sn === "number") heldOf(frag.level).add(frag.sn - (fragments[0]?.sn || 0));
  summarise();
}

function levelLoaded(_, { details, level }) {
  fragments = details.fragments;
  if (pictured === false) strip.held = heldOf(level);
  strip.segments(fragments.map((one) => one.start), details.totalduration);
  seek.max = String(Math.floor(details.totalduration));
  if (main.dataset.state === "loading") main.dataset.state = "ready";
  expect();
}

function start(manifest) {
  if (!window.Hls?.isSupported()) {
    video.src = manifest; // Safari plays HLS by itself
    return;
  }
  hls = new Hls({ cmcd: { sessionId: platform.session, contentId: platform.name, useHeaders: false }, maxBufferLength: 18, maxMaxBufferLength: 18 });
  hls.on(Hls.Events.LEVEL_LOADED, levelLoaded);
  hls.on(Hls.Events.FRAG_LOADED, loaded);
  hls.on(Hls.Events.LEVEL_SWITCHED, (_, { level }) => (strip.held = heldOf(level), expect()));
  hls.on(Hls.Events.MANIFEST_PARSED, (_, { levels }) => levels.forEach((level, place) => {
    $("rendition").add(new Option(level.height ? `${level.height}p` : `${Math.round(level.bitrate / 1000)} kb/s`, place));
  }));
  hls.on(Hls.Events.ERROR, (_, problem) => {
    if (!problem.fatal) return;
    if (problem.type === Hls.ErrorTypes.MEDIA_ERROR) return hls.recoverMediaError();
    trouble(fill(words.broken, { detail: problem.details }));
    setTimeout(() => (trouble(""), hls.startLoad()), 3000);
  });
  hls.loadSource(manifest);
  hls.attachMedia(video);
}

async function open() {
  try {
    const about = await platform.about();
    platform.name = about.id ?? platform.video;
    $("title").textContent = about.title || words.player;
    document.title = `${about.title || words.player} · Touchstone`;
    const manifest = about.manifest_url || about.manifest;
    if (!manifest) return trouble(words.not_ready);
    edge = await chooseEdge();
    const url = new URL(manifest, location.href);
    $("route").dataset.state = edge ? "live" : "connecting";
    $("route").textContent = edge ? fill(words.through, { edge: new URL(edge).host }) : words.direct;
    platform.view("intent", 0, null);
    start(edge ? `${edge}${url.pathname}${url.search}` : url.href);
  } catch (problem) {
    trouble(problem.message);
  }
}

const toggle = () => (video.paused ? video.play().catch(() => {}) : video.pause());
const jump = (by) => (video.currentTime = Math.min(video.duration || 0, Math.max(0, video.currentTime + by)));
const mute = () => {
  video.muted = !video.muted;
  $("mute").setAttribute("aria-pressed", String(video.muted));
};
const fillScreen = () => (document.fullscreenElement ? document.exitFullscreen() : video.requestFullscreen?.());
const KEYS = { " ": toggle, k: toggle, ArrowLeft: () => jump(-5), ArrowRight: () => jump(5), j: () => jump(-10), l: () => jump(10), m: mute, f: fillScreen };

video.addEventListener("play", () => (panel.classList.add("playing"), $("play").setAttribute("aria-label", words.pause), tell("play")));
video.addEventListener("pause", () => (panel.classList.remove("playing"), $("play").setAttribute("aria-label", words.play), tell("pause")));
video.addEventListener("seeked", () => (tell("seek"), expect()));
video.addEventListener("ended", () => tell("end"));
video.addEventListener("waiting", () => { if (pictured && !video.seeking) figures.stalls += 1; });
video.addEventListener("click", toggle);
video.addEventListener("play", () => { if (!pictured) opened = performance.now(); });
video.addEventListener("playing", () => {
  if (!pictured) $("startup").textContent = `${((performance.now() - opened) / 1000).toFixed(2)} s`;
  pictured = true;
});
video.addEventListener("timeupdate", () => {
  $("clock").textContent = `${clock(video.currentTime)} / ${clock(video.duration || 0)}`;
  if (document.activeElement !== seek || !seek.matches(":active")) seek.value = String(Math.floor(video.currentTime));
  seek.setAttribute("aria-valuetext", $("clock").textContent);
  strip.buffered = Array.from({ length: video.buffered.length }, (_, n) => [video.buffered.start(n), video.buffered.end(n)]);
  strip.draw();
});
seek.addEventListener("change", () => (video.currentTime = Number(seek.value)));
$("play").addEventListener("click", toggle);
$("mute").addEventListener("click", mute);
$("full").addEventListener("click", fillScreen);
$("rendition").addEventListener("change", (event) => { if (hls) hls.nextLevel = Number(event.target.value); });
$("theme").addEventListener("click", () => {
  const dark = getComputedStyle(document.documentElement).colorScheme.includes("dark");
  localStorage.setItem("theme", (document.documentElement.dataset.theme = dark ? "light" : "dark"));
});
addEventListener("keydown", (event) => {
  const taken = event.target.matches("input, select, button, a") && event.key !== "m" && event.key !== "f";
  if (taken || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});
addEventListener("pagehide", () => {
  if (pictured && !video.ended) platform.waiting.push({ viewer: platform.viewer, video: platform.name, session: platform.session, event: "end", position_s: video.currentTime, rendition: rendition(), at: new Date().toISOString() });
  platform.send(true);
});
setInterval(() => {
  if (!video.paused) tell("heartbeat");
  platform.send();
  if (main.dataset.state !== "loading") expect();
}, HEARTBEAT_MS);

await open();
