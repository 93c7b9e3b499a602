// Written without signs that XML reserves, since the page is well-formed XML.
"use strict";

/** Adds a search to a report: only findings that contain each word stay visible. */
function addSearch(report) {
  const field = report.getElementById("search");
  if (field === null) return;
  const findings = [...report.querySelectorAll("article")].map((article) => [article, article.textContent.toLowerCase()]);
  const count = field.parentElement.querySelector("output");
  field.parentElement.hidden = false;
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/);
    let found = 0;
    for (const [article, text] of findings) {
      article.hidden = !words.every((word) => text.includes(word));
      if (!article.hidden) found += 1;
    }
    for (const section of report.querySelectorAll("section.file")) {
      section.hidden = field.value !== "" ? section.querySelector("article:not([hidden])") === null : false;
    }
    count.textContent = field.value === "" ? "" : `${found} of ${findings.length}`;
  });
}
