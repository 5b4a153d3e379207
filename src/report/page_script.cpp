#include "report/page_assets.hpp"

namespace ngf::report {

const std::string_view page_script = R"js(
"use strict";

// A click on an entry of a legend, or Enter or space where it has the focus, hides and shows its line.
function makeSwitch(key) {
  const number = [...key.classList].find(name => /^key-\d+$/.test(name)).slice(4);
  const line = key.closest(".chart").querySelector(".series-" + number);
  key.setAttribute("role", "button");
  key.setAttribute("tabindex", "0");
  key.setAttribute("aria-pressed", "true");
  const flip = () => {
    const off = line.classList.toggle("off");
    key.classList.toggle("off", off);
    key.setAttribute("aria-pressed", String(!off));
  };
  key.addEventListener("click", flip);
  key.addEventListener("keydown", event => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    flip();
  });
}

for (const chart of document.querySelectorAll("svg.ngf-chart")) chart.setAttribute("role", "group");
document.querySelectorAll(".key").forEach(makeSwitch);

// The titles of points, shown at once, and under a finger too.
const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
document.body.append(tip);

for (const title of document.querySelectorAll(".series title")) {
  title.parentNode.dataset.tip = title.textContent;
  title.parentNode.setAttribute("aria-label", title.textContent);
  title.remove();
}

function showTip(event) {
  const text = event.target.dataset && event.target.dataset.tip;
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const right = scrollX + document.documentElement.clientWidth - tip.offsetWidth - 8;
  tip.style.left = Math.max(8, Math.min(event.pageX + 12, right)) + "px";
  tip.style.top = event.pageY - tip.offsetHeight - 12 + "px";
}
document.addEventListener("pointermove", showTip);
document.addEventListener("pointerdown", showTip);
)js";

}  // namespace ngf::report
