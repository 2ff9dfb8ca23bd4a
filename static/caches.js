// The dashboard's sections for the caches beside answers: outcomes, tiles, what each model or edge did, hits over time.
import { Plot } from "./plots.js";

const COLOURS = ["--gold-fill", "--blue", "--pale", "--grey"];
// What only a cache itself can tell: name in the snapshot, how it is written.
const TILES = {
  inference: [["speedup", "times"], ["agreement", "share"], ["running", "number"], ["queued", "number"], ["streams", "number"]],
  segments: [["byte_hit", "share"], ["origin_bytes", "bytes"], ["prewarm_bytes", "bytes"], ["viewers", "number"], ["edges", "number"], ["startup_p95_s", "seconds"]],
};

export class CacheSection {
  constructor(name, box, words, write) {
    Object.assign(this, { name, box, words, write, plot: null });
  }

  // part: this cache's piece of the snapshot; nothing is shown before its first number.
  show(part) {
    const tiles = this.tiles(part ?? {});
    this.box.hidden = !part || !(part.requests || tiles.some(([, , value]) => value));
    if (this.box.hidden) return;
    this.box.querySelector(".big").textContent = this.write.share(part.hit_share);
    const names = Object.keys(part.outcomes), counts = names.map((name) => part.outcomes[name] || 0);
    const total = counts.reduce((sum, n) => sum + n, 0);
    this.write.split(this.box.querySelector(".split"), counts.map((n, i) => [n, COLOURS[i]]));
    this.write.rows(this.box.querySelector(".rows"), names.map((name, i) => [this.words[name] || name, this.write.number(counts[i]), total ? this.write.share(counts[i] / total) : "", COLOURS[i]]));
    this.write.tiles(this.box.querySelector(".tiles"), tiles.map(([label, text]) => [label, text]));
    this.table(part.subjects ?? {});
  }

  // Gives [label, text, raw value] of every tile whose number is known.
  tiles(part) {
    const found = { ...part, ...(part.jobs ?? {}) };
    return TILES[this.name].filter(([key]) => found[key] !== undefined && found[key] !== null && typeof found[key] !== "object")
      .map(([key, kind]) => [this.words[key] || key, this.write[kind](found[key]), found[key]]);
  }

  table(subjects) {
    const body = this.box.querySelector("tbody");
    body.replaceChildren(...Object.entries(subjects).map(([name, part]) => {
      const row = document.createElement("tr"), head = document.createElement("th");
      head.scope = "row";
      head.textContent = name;
      const cells = [this.write.number(part.requests), this.write.share(part.hit_share), this.write.milliseconds(part.latency_ms.p50), this.write.milliseconds(part.latency_ms.p95)];
      row.append(head, ...cells.map((text) => Object.assign(document.createElement("td"), { textContent: text })));
      return row;
    }));
    this.box.querySelector("table").hidden = !Object.keys(subjects).length;
  }

  // points: the series of the API, oldest first.
  past(points, label) {
    if (this.box.hidden) return;
    const done = points.slice(0, -1);
    this.plot ??= new Plot(this.name, "", [{ name: this.words.hits, colour: "--blue", fill: true }], { format: (value) => this.write.share(value, 0), top: 1 });
    this.plot.show(done.map((point) => Date.parse(point.at) / 1000), [done.map((point) => point.hit_share)], label);
  }
}
