// Plots: uPlot with our colours, a legend that reads values under the pointer, and arrow keys for those without one.
const HEIGHT = 230;
const DASHES = { solid: [], dashed: [6, 4], dotted: [2, 4] };
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const language = document.documentElement.lang || undefined;
const clocks = {
  second: new Intl.DateTimeFormat(language, { hour: "numeric", minute: "2-digit", second: "2-digit" }),
  minute: new Intl.DateTimeFormat(language, { hour: "numeric", minute: "2-digit" }),
  day: new Intl.DateTimeFormat(language, { weekday: "short", day: "numeric" }),
  full: new Intl.DateTimeFormat(language, { weekday: "short", hour: "numeric", minute: "2-digit" }),
};

// Writes times on the axis: days where the ticks are days apart, else the viewer's clock.
function ticks(plot, splits, axis, space, step) {
  const clock = step >= 86400 ? clocks.day : step >= 60 ? clocks.minute : clocks.second;
  return splits.map((at) => clock.format(at * 1000));
}

export class Plot {
  // series: [{name, colour, dash?, fill?}], drawn in order; stacked ones are summed from the last to the first.
  constructor(id, title, series, { format, stacked = false, top = null }) {
    Object.assign(this, { title, series, format, stacked, top, data: [[], ...series.map(() => [])], chart: null });
    this.box = document.getElementById(`plot-${id}`);
    this.legend = document.getElementById(`legend-${id}`);
    Object.assign(this.box, { tabIndex: 0 });
    this.box.setAttribute("role", "img");
    this.box.addEventListener("keydown", (event) => this.step(event));
    this.box.addEventListener("blur", () => this.read(null));
  }

  show(at, values, label) {
    this.data = [at, ...values];
    this.box.setAttribute("aria-label", label);
    if (this.chart) this.chart.setData(this.drawn());
    else this.draw();
    this.read(null);
  }

  drawn() {
    if (!this.stacked) return this.data;
    const [at, ...values] = this.data;
    return [at, ...values.map((_, place) => at.map((_, i) => values.slice(0, place + 1).reduce((sum, row) => sum + (row[i] || 0), 0))).reverse()];
  }

  draw() {
    this.chart?.destroy();
    this.box.replaceChildren();
    const axis = { stroke: colour("--soft"), font: "12px system-ui", ticks: { show: false }, grid: { stroke: colour("--line"), width: 1 } };
    const lines = this.series.map((one) => this.line(one));
    this.chart = new uPlot({
      width: this.box.clientWidth || 300, height: this.box.clientHeight || HEIGHT, padding: [8, 8, 0, 0],
      legend: { show: false }, cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
      scales: { y: { range: (_, low, high) => [0, this.top ?? (high > 0 ? high * 1.1 : 1)] } },
      axes: [{ ...axis, grid: { show: false }, values: ticks, space: 70, size: 26 }, { ...axis, size: 44, values: (_, splits) => splits.map(this.format) }],
      series: [{}, ...(this.stacked ? lines.reverse() : lines)],
      hooks: { setCursor: [(chart) => this.read(chart.cursor.idx ?? null)] },
    }, this.drawn(), this.box);
  }

  line({ colour: name, dash = "solid", fill }) {
    const stroke = colour(name);
    const wash = this.stacked ? stroke : fill ? `color-mix(in srgb, ${stroke} 16%, transparent)` : undefined;
    return { stroke, fill: wash, width: this.stacked ? 0 : 2, dash: DASHES[dash], spanGaps: true, points: { show: false } };
  }

  // Writes what the lines mean, and their values at the step that is pointed at.
  read(place) {
    const [at, ...values] = this.data;
    const items = this.series.map(({ name, colour: key }, i) => {
      const item = document.createElement("span"), mark = document.createElement("span"), value = document.createElement("b");
      mark.className = "key";
      mark.style.background = `var(${key})`;
      const number = values[i]?.[place];
      if (place !== null) value.textContent = number === null || number === undefined ? "–" : this.format(number);
      item.append(mark, name, value);
      return item;
    });
    if (place !== null && at[place]) items.unshift(document.createTextNode(clocks.full.format(at[place] * 1000)));
    this.legend.replaceChildren(...items);
  }

  // Arrow keys walk over the steps; the legend is read out while they do.
  step(event) {
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!move || !this.data[0].length) return;
    event.preventDefault();
    this.legend.setAttribute("aria-live", "polite");
    const last = this.data[0].length - 1;
    const place = Math.min(last, Math.max(0, (this.chart.cursor.idx ?? last + (move < 0 ? 1 : 0)) + move));
    this.chart.setCursor({ left: this.chart.valToPos(this.data[0][place], "x"), top: 10 });
  }
}
