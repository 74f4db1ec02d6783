"use strict";

// The terminal makes addresses in its text clickable; here text stays text, whoever wrote it.
window.open = () => null;

const FONTS = ["16px 'Roboto Mono'", "bold 16px 'Roboto Mono'", "italic 16px 'Roboto Mono'"];

// By this a page that is loaded again finds its console; a copy of the page doesn't have it while this one is open.
const seat = sessionStorage.getItem("seat") ?? crypto.randomUUID();
sessionStorage.removeItem("seat");
window.addEventListener("pagehide", () => sessionStorage.setItem("seat", seat));
document.querySelector("#terminal").dataset.sessionWebsocketUrl += `/${seat}`;

function focusTerminal() {
  document.querySelector(".xterm-helper-textarea")?.focus();
}

// The cells are measured when the terminal is made: the fonts have to be there by then.
async function begin() {
  await Promise.allSettled(FONTS.map((font) => document.fonts.load(font, "a가中")));
  const script = document.createElement("script");
  script.src = "static/js/textual.js";
  script.addEventListener("load", () => {
    window.onload();
    document.querySelector(".xterm-helper-textarea")?.setAttribute("aria-label", document.title);
  });
  document.head.append(script);
}

new MutationObserver(() => {
  if (document.body.classList.contains("-closed")) {
    document.querySelector("#again").focus();
  } else if (document.body.classList.contains("-loaded")) {
    focusTerminal();
  }
}).observe(document.body, { attributes: true, attributeFilter: ["class"] });

document.querySelector("#again").addEventListener("click", () => window.location.reload());
document.querySelector("#terminal").addEventListener("mouseup", focusTerminal);

if (document.readyState === "complete") {
  begin();
} else {
  window.addEventListener("load", begin);
}
