#include "report/page_assets.hpp"

namespace ngf::report {

const std::string_view page_style = R"css(
:root {
  color-scheme: light dark;
  --text: #1d2127; --quiet: #5b6470; --paper: #ffffff; --panel: #f6f7f9; --rule: #dfe3e8;
  --link: #0b62a8; --good: #1a7f4b; --fair: #8f5f00; --poor: #b3372b; --wrong: #fdecea;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e4e7eb; --quiet: #9aa4b0; --paper: #16181c; --panel: #1e2126; --rule: #343a42;
    --link: #79b8f3; --good: #56c98d; --fair: #e0b04f; --poor: #f28b7d; --wrong: #43221f;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--text);
  font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
  overflow-wrap: break-word;
}
header, main { max-width: 1320px; margin: 0 auto; padding: 0 clamp(1rem, 3vw, 2.5rem); }
header { padding-top: clamp(1.5rem, 4vw, 3.5rem); }
h1 { font-size: clamp(1.6rem, 4vw, 2.3rem); line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.4rem; line-height: 1.3; margin: 0 0 .75rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .5rem; }
p { margin: 0 0 1rem; max-width: 48rem; }
a { color: var(--link); text-underline-offset: .15em; }
code { font: .9em ui-monospace, "DejaVu Sans Mono", monospace; }
.quiet { color: var(--quiet); }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--paper); padding: .5rem; }

.counts { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.5rem 0; padding: 0; list-style: none; }
.counts li { padding: .5rem 1.1rem; border: 1px solid var(--rule); border-radius: .5rem; background: var(--panel); }
.counts b { font-size: 1.5rem; margin-right: .35rem; }
.reproduced { color: var(--good); }
.partly { color: var(--fair); }
.not { color: var(--poor); }
.untested { color: var(--quiet); }
.notice { border-left: 4px solid var(--fair); background: var(--panel); padding: .9rem 1.2rem; margin: 1rem 0 1.5rem; max-width: 60rem; }
.notice > :last-child { margin-bottom: 0; }
.notice pre { margin: 0 0 1rem; overflow-x: auto; }

nav ol { list-style: none; padding: 0; margin: 0 0 1rem; max-width: 52rem; border-top: 1px solid var(--rule); }
nav li { display: flex; justify-content: space-between; gap: 1rem; padding: .4rem 0; border-bottom: 1px solid var(--rule); }
nav .tally { white-space: nowrap; letter-spacing: .1em; }

section { padding: 2.5rem 0 1rem; border-top: 1px solid var(--rule); margin-top: 2rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 360px), 1fr)); gap: 1rem; }
figure { margin: 0; max-width: 560px; }
figure svg { display: block; width: 100%; height: auto; border: 1px solid var(--rule); border-radius: .5rem; }
.key[role=button] { cursor: pointer; }
.key[role=button]:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.key.off { opacity: .35; }
.key.off text { text-decoration: line-through; }
.series.off { display: none; }
.tip {
  position: absolute; z-index: 2; pointer-events: none; max-width: 18rem; padding: .3rem .6rem;
  background: var(--text); color: var(--paper); border-radius: .3rem; font-size: .85rem; line-height: 1.4;
}
.tip[hidden] { display: none; }

.verdicts {
  list-style: none; margin: 1.25rem 0 0; padding: 0; display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 340px), 1fr));
}
.verdicts > li { border: 1px solid var(--rule); border-radius: .5rem; background: var(--panel); padding: .9rem 1.1rem; }
.verdicts p { margin: 0 0 .5rem; }
.measured { font-size: .9rem; line-height: 1.5; }
.measured ul { list-style: none; margin: 0; padding: 0; }
.measured li { padding-left: 1.4em; text-indent: -1.4em; }
.measured li::before { display: inline-block; width: 1.4em; text-indent: 0; }
.measured .holds::before { content: "✓" / "holds: "; color: var(--good); }
.measured .fails::before { content: "✗" / "does not hold: "; color: var(--poor); }
.measured ul + p { margin: .5rem 0 0; }
.badge { font-size: .8rem; font-weight: 700; letter-spacing: .03em; text-transform: uppercase; }
.badge::before { content: "●"; margin-right: .4em; }
.badge.partly::before { content: "◐"; }
.badge.not::before { content: "○"; }
.badge.untested::before { content: "–"; }

.scroll { overflow-x: auto; margin: 0 0 1.5rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .4rem .9rem; text-align: right; border-bottom: 1px solid var(--rule); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
thead th { font-weight: 600; color: var(--quiet); }
td small { display: block; color: var(--quiet); }
td.differs { background: var(--wrong); }
.facts td { text-align: left; white-space: normal; }
.sources { font-size: .9rem; margin-top: 1.25rem; }
.sources a, .sources span { margin-right: 1.25rem; }

@media print {
  :root { color-scheme: light; }
  body { font-size: 10.5pt; }
  header, main { max-width: none; padding: 0; }
  section { break-before: page; border: 0; margin: 0; padding: 0; }
  figure, .verdicts > li, tr { break-inside: avoid; }
  .charts, .verdicts { grid-template-columns: 1fr 1fr; }
  .tip, .hint, .skip { display: none; }
}
)css";

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
