// Keys of the review queue; every act is also a button or a link of the page.
const keys = document.getElementById("keys");
keys.checked = localStorage.getItem("review-keys") !== "off";
keys.addEventListener("change", () => localStorage.setItem("review-keys", keys.checked ? "on" : "off"));

let busy = false;
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && event.target.id === "reason") event.target.blur();
  const typing = event.target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");
  if (!keys.checked || typing || busy || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  const wanted = document.querySelector(`#pair [data-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (!wanted) return;
  event.preventDefault();
  wanted.click();
});
document.body.addEventListener("htmx:beforeRequest", () => { busy = true; });
document.body.addEventListener("htmx:afterRequest", (event) => {
  busy = false;
  if (!event.detail.successful) document.getElementById("said").textContent = "This did not work. Reload the page and try again.";
});
document.body.addEventListener("htmx:afterSwap", () => document.querySelector("#pair h2")?.focus({ preventScroll: true }));
