import { ChildProcess } from "node:child_process";
import { Server } from "node:net";

const remedy = "in a unit test: name its file *.int.test.ts";

/** Node's own signature is internal; only the call matters here. */
Object.defineProperty(ChildProcess.prototype, "spawn", {
  value: () => {
    throw new Error(`a process is started ${remedy}`);
  },
});

Server.prototype.listen = () => {
  throw new Error(`a port is opened ${remedy}`);
};
