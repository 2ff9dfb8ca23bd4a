// Lets people take away what they see: every plot as PNG, every table as CSV.
const plain = (text) => text.trim().replace(/\s+/g, " ");

// Names a plot or table by its card's heading.
function titleOf(box) {
  const card = box.closest(".card, .desk-card, section, figure");
  return plain((card?.querySelector("h2") ?? document.querySelector("h1, h2"))?.textContent || document.title);
}

function keep(name, kind, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "")}-${new Date().toISOString().slice(0, 10)}.${kind}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// A spreadsheet must not run a cell that looks like a formula.
const cell = (text) => { const safe = /^'*[=+\-@]/.test(text) && !/^[+-]?[\d.,]+%?$/.test(text) ? `'${text}` : text; return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe; };
const csv = (table) => [...table.rows].map((row) => [...row.cells].map((one) => cell(plain(one.textContent))).join(",")).join("\r\n");

// Copies a drawing with the styles that the page gives it, since a picture of its own has none.
async function drawn(svg, scale) {
  const copy = svg.cloneNode(true), originals = [svg, ...svg.querySelectorAll("*")], copies = [copy, ...copy.querySelectorAll("*")];
  originals.forEach((one, i) => { const style = getComputedStyle(one); for (const name of ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-family"]) copies[i].style.setProperty(name, style.getPropertyValue(name)); });
  const { width, height } = svg.getBoundingClientRect();
  Object.entries({ xmlns: "http://www.w3.org/2000/svg", width: width * scale, height: height * scale }).forEach(([name, value]) => copy.setAttribute(name, value));
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  await picture.decode();
  return picture;
}

// Paints bars that are boxes of the page.
function barsOf(box, scale) {
  const frame = box.getBoundingClientRect(), canvas = Object.assign(document.createElement("canvas"), { width: frame.width * scale, height: frame.height * scale }), brush = canvas.getContext("2d");
  for (const bar of box.children) {
    const { left, top, width, height } = bar.getBoundingClientRect();
    brush.fillStyle = getComputedStyle(bar).backgroundColor;
    brush.fillRect((left - frame.left) * scale, (top - frame.top) * scale, width * scale, height * scale);
  }
  return canvas;
}

// Puts a title, the legend and the picture on the card's background.
async function png(box) {
  const scale = devicePixelRatio > 1 ? devicePixelRatio : 2, card = box.closest(".card, .desk-card, figure") ?? document.body, style = getComputedStyle(card);
  const picture = box.querySelector("canvas") ?? (box.matches("svg") ? await drawn(box, scale) : barsOf(box, scale));
  const unit = picture.width / box.getBoundingClientRect().width, head = 46 * unit, pad = 12 * unit;
  const canvas = Object.assign(document.createElement("canvas"), { width: picture.width + 2 * pad, height: picture.height + head + pad }), brush = canvas.getContext("2d");
  brush.fillStyle = style.backgroundColor;
  brush.fillRect(0, 0, canvas.width, canvas.height);
  brush.fillStyle = style.color;
  brush.font = `600 ${15 * unit}px system-ui`;
  brush.fillText(titleOf(box), pad, 20 * unit);
  brush.font = `${12 * unit}px system-ui`;
  let x = pad;
  for (const item of card.querySelectorAll(".legend > span, figcaption > .key")) {
    const key = item.querySelector(".key"), colour = key ? getComputedStyle(key).backgroundColor : getComputedStyle(item, "::before").backgroundColor, text = plain(item.textContent);
    brush.fillStyle = colour;
    brush.fillRect(x, 33 * unit, 10 * unit, 4 * unit);
    brush.fillStyle = style.color;
    brush.fillText(text, x + 14 * unit, 39 * unit);
    x += 30 * unit + brush.measureText(text).width;
  }
  brush.drawImage(picture, pad, head);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function offer(box, kind, made) {
  const button = document.createElement("button"), row = document.createElement("div");
  Object.assign(button, { type: "button", textContent: kind.toUpperCase(), className: "save" });
  button.setAttribute("aria-label", `${kind.toUpperCase()}: ${titleOf(box)}`);
  button.addEventListener("click", async () => keep(titleOf(box), kind, await made()));
  row.className = "save-row";
  row.append(button);
  (box.closest("figure") ?? box).after(row);
}

for (const box of document.querySelectorAll(".plot, .desk-plot svg, #bars")) offer(box, "png", () => png(box));
for (const table of document.querySelectorAll("table.desk-table, main > .cards table")) offer(table, "csv", async () => new Blob(["\ufeff", csv(table)], { type: "text/csv;charset=utf-8" }));
