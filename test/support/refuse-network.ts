import { Socket as DatagramSocket } from "node:dgram";
import { appendFileSync } from "node:fs";
import { Socket } from "node:net";

// Loaded before a program with `--import`: refuses each connection, and adds a line to the file that NETWORK_ASKED names.
const refuse = () => {
  appendFileSync(process.env.NETWORK_ASKED ?? "", `${process.argv.join(" ")}\n`);
  throw new Error("there is no network");
};
Socket.prototype.connect = refuse;
DatagramSocket.prototype.send = refuse;
