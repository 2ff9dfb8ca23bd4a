// The seek bar's picture: one cell a segment, green at the edge, gold where predicted, a grey line where buffered.
export class Strip {
  constructor(canvas) {
    this.canvas = canvas;
    this.starts = [];
    this.seconds = 0;
    this.held = new Set();
    this.likely = new Map();
    this.buffered = [];
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    new MutationObserver(() => this.draw()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  segments(starts, seconds) {
    this.starts = starts;
    this.seconds = seconds;
    this.draw();
  }

  at(seconds) {
    let low = 0, high = this.starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle] <= seconds + 0.01) low = middle; else high = middle - 1;
    }
    return low;
  }

  draw() {
    const { canvas } = this;
    const ratio = devicePixelRatio || 1;
    const width = canvas.width = Math.max(1, Math.round(canvas.clientWidth * ratio));
    const height = canvas.height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    if (!this.seconds) return;
    const pen = canvas.getContext("2d");
    const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const [green, gold, grey] = [colour("--green"), colour("--gold-fill"), colour("--grey")];
    const x = (seconds) => (seconds / this.seconds) * width;
    this.starts.forEach((start, index) => {
      const end = this.starts[index + 1] ?? this.seconds;
      const [left, wide] = [x(start), Math.max(1, x(end) - x(start) - (this.starts.length < width / 6 ? ratio : 0))];
      if (this.held.has(index)) {
        pen.fillStyle = green;
        pen.fillRect(left, 0, wide, height);
      }
      const probability = this.likely.get(index);
      if (probability) {
        pen.globalAlpha = 0.35 + 0.65 * probability;
        pen.fillStyle = gold;
        pen.fillRect(left, 0, wide, this.held.has(index) ? height * 0.5 : height);
        pen.globalAlpha = 1;
      }
    });
    pen.fillStyle = grey;
    for (const [start, end] of this.buffered) pen.fillRect(x(start), height - 3 * ratio, x(end) - x(start), 3 * ratio);
  }
}
