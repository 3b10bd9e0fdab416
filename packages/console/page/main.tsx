import { render } from "preact";
import { enter } from "./api.ts";
import { App } from "./app.tsx";
import { startLive } from "./live.ts";
import "./style/base.css";
import "./style/parts.css";
import "./style/data.css";
import "./style/rows.css";
import "./style/picture.css";
import "./style/narrow.css";

// A new address of the same console differs in its fragment alone, which loads nothing by itself.
addEventListener("hashchange", () => location.reload());
await enter();
const root = document.getElementById("page");
if (root !== null) {
  root.replaceChildren();
  render(<App />, root);
  void startLive();
}
