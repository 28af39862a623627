// The key `/` goes to the search of any page.
"use strict";

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  const input = document.querySelector("#question, .sidebar-search");
  if (!input || event.target.matches("input, textarea")) return;
  event.preventDefault();
  input.focus();
});
