"use strict";
// Shows where else a document stands while one of its places is pointed at; "/" goes to the query.
const places = [...document.querySelectorAll("[data-document]")];
const show = (document_) => {
  for (const place of places) {
    place.classList.toggle("same-document", place.dataset.document === document_);
  }
};
for (const place of places) {
  place.addEventListener("mouseenter", () => show(place.dataset.document));
  place.addEventListener("mouseleave", () => show(null));
}
const query = document.getElementById("q");
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== query) {
    event.preventDefault();
    query.select();
  }
});
