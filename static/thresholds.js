// Reads shares, errors and the judge's work off the measured grid while a person drags the two thresholds.
const read = (id) => JSON.parse(document.getElementById(id).textContent);
const words = read("words"), explored = read("explored");
const form = document.getElementById("thresholds");
const language = document.documentElement.lang || undefined;
const percent = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 });
const number = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const place = (value) => Math.min(explored.grid.length - 1, Math.max(0, Math.round((value - explored.grid[0]) * 100)));

function drawBars(box) {
  const counts = explored.near.map((n, i) => n - (explored.near[i + 1] ?? 0));
  const top = Math.max(1, ...counts);
  box.replaceChildren(...counts.map((count, i) => {
    const bar = document.createElement("i");
    bar.style.height = `${Math.max(count ? 1.5 : 0, (count / top) * 100)}%`;
    const low = explored.grid[i], high = explored.grid[i + 1] ?? low;
    bar.title = fill(words.bar, { low: low.toFixed(2), high: high.toFixed(2), count: number.format(count) });
    return bar;
  }));
}

function tell() {
  const tau = Number(form.tau_static.value), sigma = Math.min(Number(form.sigma_min.value), tau);
  if (Number(form.sigma_min.value) > tau) form.sigma_min.value = tau;
  const [at, from] = [place(tau), place(sigma)];
  for (const name of ["tau_static", "sigma_min"]) form.querySelector(`output[for=${name}]`).textContent = Number(form[name].value).toFixed(2);
  [...document.getElementById("bars").children].forEach((bar, i) => { bar.className = i >= at ? "served" : i >= from ? "judged" : ""; });
  const served = (explored.exact + explored.near[at]) / explored.requests;
  const judged = (explored.near[from] - explored.near[at]) / explored.requests;
  const labelled = explored.labelled[at];
  const say = (id, text) => { document.getElementById(id).textContent = text; };
  say("served", fill(words.served, { share: percent.format(served) }));
  say("judged", fill(words.judged, { share: percent.format(judged), calls: number.format(judged * 1000), tokens: number.format(judged * 1000 * explored.tokens_per_verdict) }));
  say("wrong", labelled ? fill(words.wrong, { wrong: explored.wrong[at], labelled, upper: percent.format(explored.wrong_upper[at]) }) : words.unlabelled);
}

if (form) {
  drawBars(document.getElementById("bars"));
  form.addEventListener("input", tell);
  form.addEventListener("reset", () => setTimeout(tell));
  tell();
}
