// Small conveniences of the console; without them every page still works by its buttons.
document.addEventListener("change", (event) => {
  if (event.target.matches("select[data-submit]")) event.target.form.submit();
});
document.addEventListener("focusin", (event) => {
  if (event.target.matches("input[data-select]")) event.target.select();
});
