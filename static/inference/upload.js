// Shows how much of a video has been sent; without it the form is sent all the same.
const form = document.getElementById("upload"), bar = document.getElementById("sent");
form.addEventListener("submit", (event) => {
  const file = form.elements.file.files[0];
  if (!file || file.size < 4_000_000) return;
  event.preventDefault();
  const request = new XMLHttpRequest();
  request.upload.onprogress = (progress) => { bar.hidden = false; bar.value = progress.loaded / progress.total; };
  request.onload = () => {
    if (request.responseURL && request.responseURL !== location.href) { location.href = request.responseURL; return; }
    document.open(); document.write(request.responseText); document.close();
  };
  request.onerror = () => form.submit();
  request.open("POST", form.action || location.href);
  request.send(new FormData(form));
});
