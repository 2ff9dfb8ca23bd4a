// Small conveniences of the console; without them every page still works by its buttons.
document.addEventListener("change", (event) => {
  if (event.target.matches("select[data-submit]")) event.target.form.submit();
});
document.addEventListener("focusin", (event) => {
  if (event.target.matches("input[data-select]")) event.target.select();
});

// Light or dark is chosen once for the console and the site's own pages.
const kept = localStorage.getItem("theme");
if (kept) localStorage.setItem("adminTheme", JSON.stringify(kept));
addEventListener("pagehide", () => {
  const chosen = JSON.parse(localStorage.getItem("adminTheme") ?? "null");
  if (chosen === "light" || chosen === "dark") localStorage.setItem("theme", chosen);
  else localStorage.removeItem("theme");
});

// Times are written in the viewer's zone, from the next page on.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone && !document.cookie.split("; ").includes(`zone=${zone}`)) document.cookie = `zone=${zone}; path=/; max-age=31536000; samesite=lax`;

// Plots and tables offer themselves as files.
const saving = new URL("save.js", document.currentScript.src);
addEventListener("DOMContentLoaded", () => import(saving));

// A browser may pass over `autofocus` while a page still loads.
addEventListener("DOMContentLoaded", () => { if (document.activeElement === document.body) document.querySelector("[autofocus]")?.focus(); });
