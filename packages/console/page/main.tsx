import { render } from "preact";
import { App } from "./app.tsx";
import { startLive } from "./live.ts";
import "./style/base.css";
import "./style/parts.css";
import "./style/data.css";
import "./style/picture.css";
import "./style/document.css";
import "./style/narrow.css";

const root = document.getElementById("page");
if (root !== null) {
  root.replaceChildren();
  render(<App />, root);
  startLive();
}
