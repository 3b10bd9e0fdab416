/** CSS of the pages. */
export function styleOf(accentColor: string): string {
  return `
:root { --accent: ${accentColor}; --ink: #172033; --soft: #55607a; --line: #d9deea; --page: #f3f5fa; }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; background: var(--page); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  overflow-wrap: anywhere; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: 1rem; padding: .5rem 1rem; background: #fff; z-index: 1; }
.notice { background: #fff4d6; color: #5b4300; padding: .6rem 1rem; text-align: center; font-size: .9rem;
  border-bottom: 1px solid #f0dca3; }
.notice p { margin: 0; }
.card { max-width: 33rem; margin: 2.5rem auto; background: #fff; border: 1px solid var(--line); border-radius: 18px;
  box-shadow: 0 12px 40px rgb(23 32 51 / 8%); overflow: hidden; }
header { display: flex; align-items: center; gap: .75rem; padding: 1.25rem 1.75rem; border-bottom: 1px solid var(--line); }
header img { width: 40px; height: 40px; object-fit: contain; }
header p { margin: 0; font-weight: 650; }
main { padding: 1.5rem 1.75rem 2rem; }
footer { max-width: 33rem; margin: 1.5rem auto 2rem; padding: 0 1rem; text-align: center; color: var(--soft); font-size: .85rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .5rem; letter-spacing: -.01em; }
h2 { font-size: .8rem; text-transform: uppercase; letter-spacing: .06em; color: var(--soft); margin: 1.5rem 0 .5rem; }
p { margin: .25rem 0 1rem; }
.lead { color: var(--soft); }
.steps { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: .4rem; list-style: none; margin: 0 0 1.5rem; padding: 0; font-size: .8rem; color: var(--soft); }
.steps li { border-top: 4px solid var(--line); padding-top: .4rem; }
.steps .past, .steps [aria-current] { border-color: var(--accent); }
.steps [aria-current] { color: var(--ink); font-weight: 600; }
label { display: block; font-weight: 600; margin: 1rem 0 .35rem; }
input { width: 100%; font: inherit; padding: .7rem .85rem; border: 1px solid #8590a8; border-radius: 10px; background: #fff; color: inherit; }
input[aria-invalid=true] { border-color: #b3261e; }
.button { display: inline-block; width: 100%; margin-top: 1.5rem; padding: .8rem 1rem; border: 0; border-radius: 10px;
  background: var(--accent); color: #fff; font: inherit; font-weight: 650; text-align: center; text-decoration: none; cursor: pointer; }
.button:hover { filter: brightness(.92); }
.quiet { color: var(--ink); background: #fff; border: 1px solid #8590a8; margin-top: .75rem; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.search { display: flex; gap: .75rem; align-items: end; }
.search div { flex: 1; }
.search .button { width: auto; margin: 0; }
#count { margin: .6rem 0 0; font-size: .9rem; }
.tiles { list-style: none; margin: 0; padding: 0; display: grid; grid-template-columns: minmax(0, 1fr); gap: .5rem; }
.tile { display: flex; align-items: center; gap: .85rem; padding: .7rem .85rem; border: 1px solid var(--line);
  border-radius: 12px; color: inherit; text-decoration: none; font-weight: 600; }
.tile:hover { border-color: var(--accent); background: #f8f9fd; }
.initial { flex: none; width: 2.25rem; height: 2.25rem; border-radius: 10px; display: grid; place-items: center;
  background: #e8ecf6; color: var(--ink); font-weight: 700; }
.tag { flex: none; margin-left: auto; font-size: .8rem; font-weight: 600; padding: .1rem .6rem; border-radius: 999px; background: #e3f4e8; color: #14532d; }
.tag.off { background: #eceff5; color: #3d475c; }
.alert { border: 1px solid #e5b4b1; background: #fdf0ef; color: #8c1d18; border-radius: 12px; padding: .8rem 1rem; margin: 0 0 1rem; }
.hint { border: 1px dashed #8590a8; border-radius: 12px; padding: .75rem 1rem; font-size: .92rem; }
.hint p { margin: 0; }
.hint strong { white-space: nowrap; }
.progress { list-style: none; margin: 1.25rem 0; padding: 0; display: grid; gap: .9rem; }
.progress li { display: flex; gap: .8rem; align-items: center; font-weight: 600; }
.mark { flex: none; width: 1.9rem; height: 1.9rem; border-radius: 50%; display: grid; place-items: center; color: #fff;
  background: #1a7f43; font-weight: 700; }
.mark.bad { background: #b3261e; }
.mark.busy { background: none; border: 3px solid var(--line); border-top-color: var(--accent); animation: turn 1s linear infinite; }
@keyframes turn { to { transform: rotate(1turn); } }
@media (prefers-reduced-motion: reduce) { .mark.busy { animation: none; } }
@media (max-width: 36rem) { .card { margin: 0 auto; border-radius: 0; border-width: 0 0 1px; box-shadow: none; }
  header { padding: 1rem 1.25rem; } main { padding: 1.25rem 1.25rem 1.75rem; } .steps { font-size: .72rem; }
  .tile { gap: .6rem; padding: .7rem; } .tag { font-size: .75rem; padding: .1rem .5rem; } }
`;
}
