import { describe, expect, it } from "vitest";
import { writeBarrier } from "../../../functions/fetch/write-barrier.ts";

const hour = 3_600_000;

/** Seats, and who of them may write, in order. */
function seated(count: number) {
  const gone: number[] = [];
  const seats = Array.from({ length: count }, writeBarrier(count));
  const arrive = (seat: number, holdInMillis = hour) =>
    (seats[seat]?.arrive(holdInMillis) ?? Promise.reject(new Error("no seat"))).then(() => gone.push(seat));
  return { gone, arrive, leave: (seat: number) => seats[seat]?.leave() };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("those who write together", () => {
  it("wait until the last of them is here", async () => {
    const { gone, arrive } = seated(3);
    const quick = [arrive(2), arrive(0)];
    await turn();
    expect(gone).toEqual([]);
    await Promise.all([...quick, arrive(1)]);
    expect(gone).toEqual([2, 0, 1]);
  });

  it("don't wait for who will not come", async () => {
    const { gone, arrive, leave } = seated(2);
    const held = arrive(0);
    leave(1);
    await held;
    expect(gone).toEqual([0]);
  });

  it("write alone where nobody else is expected", async () => {
    const { gone, arrive } = seated(1);
    await arrive(0);
    expect(gone).toEqual([0]);
  });

  it("are held no longer than their time for one who is slow, who then waits for nobody", async () => {
    const { gone, arrive } = seated(3);
    await Promise.all([arrive(0, 0), arrive(1, 0)]);
    expect(gone).toEqual([0, 1]);
    await arrive(2);
    expect(gone).toEqual([0, 1, 2]);
  });
});
