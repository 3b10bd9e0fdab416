import type { Page } from "playwright-core";

/** Seconds. */
export type Frames = { readonly medianFrame: number; readonly longestFrame: number };

const framesOfScrolling = 300;

/** Scrolls the first list of a page from its first row to its last. */
export async function scrollList(page: Page): Promise<Frames> {
  const frames = await page.evaluate<readonly number[]>(`(async () => {
    const list = document.querySelector(".virtual");
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    let last = await frame();
    const lengths = [];
    for (let step = 1; step <= ${framesOfScrolling}; step += 1) {
      list.scrollTop = (list.scrollHeight * step) / ${framesOfScrolling};
      const now = await frame();
      lengths.push((now - last) / 1000);
      last = now;
    }
    return lengths.sort((one, other) => one - other);
  })()`);
  const medianFrame = frames[Math.floor(frames.length / 2)] ?? Number.NaN;
  return { medianFrame, longestFrame: frames.at(-1) ?? Number.NaN };
}
